"""Record a PyTorch training run, replay it later with new log statements."""
