"""The probes of testdata/scripts: log statements that tests, the demo and `make exactness` add in hindsight."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

try:
    import tomllib
except ImportError:  # Python 3.10
    import pip._vendor.tomli as tomllib  # type: ignore[no-redef]

SCRIPTS = Path(__file__).resolve().parent.parent / "testdata" / "scripts"


def environment() -> dict[str, str]:
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
    file: str
    """The file that gets it: the script, or one of those it imports."""


def scripts() -> list[str]:
    """The file names of all example scripts."""
    return sorted(path.name for path in SCRIPTS.glob("*.py"))


def _table(script: str) -> dict[str, Any]:
    return tomllib.loads((SCRIPTS / "probes" / f"{Path(script).stem}.toml").read_text())


def shortened(script: str) -> dict[str, str]:
    """`files` with fewer epochs, for the tests of every change. Raises ValueError where a line is not there exactly once."""
    texts = files(script)
    for long, short in _table(script).get("short", ()):
        if texts[script].count(long) != 1:
            raise ValueError(f"{script} has {long!r} {texts[script].count(long)} times")
        texts[script] = texts[script].replace(long, short)
    return texts


def files(script: str) -> dict[str, str]:
    """The text of a script and of the project modules it imports, which lie in a folder of its name."""
    beside = SCRIPTS / Path(script).stem
    modules = {path.relative_to(beside).as_posix(): path.read_text() for path in sorted(beside.rglob("*.py"))}
    return {script: (SCRIPTS / script).read_text(), **modules}


def write(folder: Path, texts: dict[str, str]) -> None:
    """Lay files out in a folder, as a user would have them."""
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def load(script: str) -> list[Probe]:
    """The probes of a script."""
    entries = _table(script)["probe"]
    return [Probe(entry["name"], entry["after"], entry["insert"], entry.get("file", script)) for entry in entries]


def tagged(probe: Probe) -> Probe:
    """The probe; what it prints begins with its name, so that one run answers for all probes of a script."""
    return probe._replace(insert=probe.insert.replace("print(", f'print("@{probe.name}@", '))


def insert_all(texts: dict[str, str], probes: Sequence[Probe]) -> dict[str, str]:
    """The files with all these probes in them."""
    texts = dict(texts)
    for probe in probes:
        texts[probe.file] = insert(texts[probe.file], probe)
    return texts


def insert(source: str, probe: Probe) -> str:
    """The script with the probe in it. Raises ValueError unless its place is there exactly once."""
    lines = source.splitlines()
    if lines.count(probe.after) != 1:
        raise ValueError(f"{probe.after!r} is there {lines.count(probe.after)} times")
    at = lines.index(probe.after) + 1
    return "\n".join([*lines[:at], *probe.insert.splitlines(), *lines[at:]]) + "\n"
