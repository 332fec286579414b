"""What the compiler decided, and reading it off a frame."""
