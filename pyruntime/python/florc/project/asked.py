"""Texts that take the place of files in one replay (`florc ask`): with the statements that are asked for. No file changes."""

from __future__ import annotations

texts: dict[str, str] = {}
"""By absolute path."""


def text_of(file: str, present: str) -> str:
    """What is run for a file that holds `present`."""
    return texts.get(file, present)
