"""What the program holds before and after a block."""
