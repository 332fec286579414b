"""What every other room may use: it knows nothing of runs."""
