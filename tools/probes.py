"""The probes of testdata/scripts: log statements that tests, the demo and `make exactness` add in hindsight."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Dict, List, NamedTuple

try:
    import tomllib
except ImportError:  # Python 3.10
    import pip._vendor.tomli as tomllib  # type: ignore[no-redef]

SCRIPTS = Path(__file__).resolve().parent.parent / "testdata" / "scripts"


def environment() -> Dict[str, str]:
    """The environment of commands: this virtual environment's `florc` first.

    Threads that spin while they wait starve each other when cores are shared; how they wait changes no value.
    """
    known = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    known.pop("FLORC_DIR", None)
    known.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return known


class Probe(NamedTuple):
    """A statement and the line it comes after. `name` says where it stands: outer, inner, function, after."""

    name: str
    after: str
    insert: str


def scripts() -> List[str]:
    """The file names of all example scripts."""
    return sorted(path.name for path in SCRIPTS.glob("*.py"))


def load(script: str) -> List[Probe]:
    """The probes of a script."""
    table = tomllib.loads((SCRIPTS / "probes" / f"{Path(script).stem}.toml").read_text())
    return [Probe(entry["name"], entry["after"], entry["insert"]) for entry in table["probe"]]


def insert(source: str, probe: Probe) -> str:
    """The script with the probe in it. Raises ValueError unless its place is there exactly once."""
    lines = source.splitlines()
    if lines.count(probe.after) != 1:
        raise ValueError(f"{probe.after!r} is there {lines.count(probe.after)} times")
    at = lines.index(probe.after) + 1
    return "\n".join([*lines[:at], *probe.insert.splitlines(), *lines[at:]]) + "\n"
