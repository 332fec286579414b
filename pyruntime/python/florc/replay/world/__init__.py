"""A world of its own for a replay: its processes change nothing of the user's files."""
