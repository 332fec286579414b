"""Fixtures of the tests of commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from workshop import Workshop


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A folder of its own for each test."""
    return Workshop(tmp_path)
