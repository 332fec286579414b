"""What was recorded, read back."""
