"""Ask a question of a training run after it has ended."""
