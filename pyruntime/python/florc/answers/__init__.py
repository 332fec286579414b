"""What runs printed, then and in hindsight, as values with names."""
