"""Fixtures of the tests of commands."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from workshop import CONFIG, Workshop

# A shell that starts the tests in the background may have it ignored, and children inherit that: Ctrl-C would do nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

# the key of whoever runs the tests stays out of it
os.environ.setdefault("XDG_CONFIG_HOME", CONFIG)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A folder of its own for each test."""
    return Workshop(tmp_path)
