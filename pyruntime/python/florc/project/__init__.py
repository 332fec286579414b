"""Whose files are the user's, and how they run."""
