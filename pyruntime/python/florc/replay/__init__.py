"""Replay: from the command to the verdict."""
