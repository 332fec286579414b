"""Processes that have done the imports of a script, from which replays of it are forked."""
