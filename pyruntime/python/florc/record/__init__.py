"""Recording: from the command to the checkpoints."""
