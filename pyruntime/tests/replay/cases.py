"""The small scripts of testdata/replay, each with what its test says of it.

A file is a patch (see `harness`). Lines at its head that begin with `# florc:` say how it is run and what is known of it; they
are no part of the script:

    # florc: restores = no         the replay is to restore nothing, instead of something; any: that is not asked
    # florc: exact                 nothing may be said against its values
    # florc: flagged               the replay cannot know that its values are right, and must say so
    # florc: unsure                the replay may say that it does not know, instead of being right
    # florc: unordered             answers come from several processes: in another order than a plain run prints them
    # florc: keep                  the replay finds the files that the recorded run left
    # florc: xfail = REASON        known to be wrong
    # florc: arguments = ["2"]     the script's; so also `record` and `replay`: options of these commands
    # florc: hash_seed = none      PYTHONHASHSEED; 1 where nothing is said
    # florc: again outer = nothing what a replay of the statements of one kind runs again; A or B: where recorded times
                                   decide (testdata/programs)
    # florc: longer = OLD -> NEW   how the benchmark makes the training take some seconds (testdata/programs)
    # florc: why = SENTENCE        what the case is there for
"""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parents[3] / "testdata" / "replay"
MARK = "# florc:"
ENDING = ".patch.py"


class Case(NamedTuple):
    """One script, with how it is run and what is known of it."""

    text: str
    options: dict[str, Any]
    """Keyword arguments of `harness.Trial`."""
    restores: bool | None
    """Whether the replay is to restore something, so that the test tests it."""
    flagged: bool
    xfail: str | None
    unsure: bool
    exact: bool
    again: dict[str, str]
    """What runs again, by kind of question."""


def missing(text: str) -> str:
    """The first package that a program imports and this Python does not have; empty where it has all."""
    imported = re.findall(r"^(?:import|from) (\w+)", text, re.MULTILINE)
    return next((package for package in imported if importlib.util.find_spec(package) is None), "")


def read(path: Path) -> Case:
    """A file as a case. Raises ValueError for a word at its head that is not known."""
    lines = path.read_text(encoding="utf-8").split("\n")
    said: dict[str, str] = {}
    while lines[0].startswith(MARK):
        key, _, value = (part.strip() for part in lines.pop(0)[len(MARK) :].partition("="))
        said[key] = value
    options: dict[str, Any] = {key: json.loads(said.pop(key)) for key in ("arguments", "record", "replay") if key in said}
    options |= {key: said.pop(key) == "" for key in ("keep", "unordered") if key in said}
    if "hash_seed" in said:
        seed = said.pop("hash_seed")
        options["hash_seed"] = None if seed == "none" else seed
    said.pop("why", "")
    said.pop("longer", "")
    again = {key.split()[1]: said.pop(key) for key in list(said) if key.startswith("again ")}
    flags = {key: said.pop(key, None) is not None for key in ("flagged", "unsure", "exact")}
    restores = {"yes": True, "no": False, "any": None}[
        said.pop("restores", "any" if flags["flagged"] or flags["unsure"] else "yes")
    ]
    xfail = said.pop("xfail", None)
    if said:
        raise ValueError(f"{path}: what is {MARK} {', '.join(said)}?")
    return Case("\n".join(lines), options, restores, xfail=xfail, again=again, **flags)


def cases() -> dict[str, Case]:
    """All of them, by the names of their files, which are unique."""
    found: dict[str, Case] = {}
    for path in sorted(FOLDER.glob(f"*/*{ENDING}")):
        name = path.name[: -len(ENDING)]
        if name in found:
            raise ValueError(f"two small scripts are called {name}")
        found[name] = read(path)
    return found
