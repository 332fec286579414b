"""Several processes for one replay."""
