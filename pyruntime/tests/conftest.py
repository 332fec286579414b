"""Fixtures of the tests of commands."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import warm
from workshop import CONFIG, Workshop

gc.disable()  # until all is collected: thousands of tests, and modules that stay
# A shell that starts the tests in the background may have it ignored, and children inherit that: Ctrl-C would do nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

# the key of whoever runs the tests stays out of it
os.environ.setdefault("XDG_CONFIG_HOME", CONFIG)
# threads that spin while they wait starve each other where processes share cores; how they wait changes no value
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """A folder of its own for each test."""
    return Workshop(tmp_path)


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main() -> Iterator[None]:
    """Processes of one run share those that have imported torch."""
    with ExitStack() as stack:
        if warm.FOLDER not in os.environ:  # else: one of several processes
            stack.enter_context(warm.house())
        return (yield)


def pytest_collection_finish() -> None:
    """What was collected stays: the garbage collections of each test need not look at it."""
    gc.freeze()
    gc.enable()
