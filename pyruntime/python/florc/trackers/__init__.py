"""Experiment trackers: which runs of theirs a script begins, what added statements send to them, and how a replay sends that."""
