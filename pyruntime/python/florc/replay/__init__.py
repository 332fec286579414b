"""Replay: from the command to the verdict."""

from ..called import make_callable

make_callable(__name__)
