"""Fixtures of the tests of commands."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import warm
from workshop import CONFIG, Workshop

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
from seeded import MUTATIONS

gc.disable()  # until all is collected: thousands of tests, and modules that stay
# A shell that starts the tests in the background may have it ignored, and children inherit that: Ctrl-C would do nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

# the key of whoever runs the tests stays out of it
os.environ.setdefault("XDG_CONFIG_HOME", CONFIG)
# threads that spin while they wait starve each other where processes share cores; how they wait changes no value
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


PARTS = ("quick", "rest")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--part", choices=PARTS, help="quick: of each test its first case, and what catches a seeded bug; rest: the others"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make test` takes minutes: it runs a part."""
    part = config.getoption("--part")
    if part is None:
        return
    known = {test for bug in MUTATIONS for test in bug.tests}
    seen: set[str] = set()
    parts: dict[str, list[pytest.Item]] = {name: [] for name in PARTS}
    for item in items:
        function = item.nodeid.partition("[")[0]
        is_quick = function not in seen or item.nodeid in known
        seen.add(function)
        parts["quick" if is_quick else "rest"].append(item)
    items[:] = parts.pop(part)
    config.hook.pytest_deselected(items=[item for others in parts.values() for item in others])


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
