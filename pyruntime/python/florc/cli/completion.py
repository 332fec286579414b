"""What a shell completes besides commands, options and files: runs, names of values, loops, lines. Called by the native half at
each Tab, in a process of its own; what cannot be read completes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..runs import catalog, joint
from ..runs.run import Run, store_path

if TYPE_CHECKING:
    Candidates = Iterable[tuple[str, str]]

_FIRST = 3
"""Words of `florc logs` and the one that is typed, where that is the first after it."""
_NEWEST = 5
"""So many runs are asked for their settings."""
_LONGEST = 60
"""Characters of an explanation."""


def candidates(kind: str, words: list[str]) -> list[tuple[str, str]]:
    """What may stand where the cursor is, each with its explanation. `words`: the command line, the last one unfinished."""
    try:
        return [(value, why[:_LONGEST]) for value, why in _KINDS[kind](words)]
    except Exception:  # a shell in the middle of a line has no place for an error
        return []


def _runs(words: list[str]) -> Candidates:
    found = [run for run in catalog.all_runs(store_path()) if not _script(words) or catalog.is_of(run, _script(words))]
    for run in reversed(found):
        yield run.id, f"{run.status}  {os.path.basename(run.info['script'])} {' '.join(run.info['argv'][1:])}"
    for run in found:
        if run.info.get("name"):
            yield run.info["name"], run.id
    if found:
        yield "latest", found[-1].id


def _names(words: list[str]) -> Candidates:
    from ..answers import asked, memory, rows

    history = joint.seen(_run(words))
    found = dict.fromkeys(row.name for row in (*rows.recorded(history), *asked.kept(history), *memory.measured(history)))
    yield from ((name, "") for name in found)


def _names_and_runs(words: list[str]) -> Candidates:
    """Runs stand before names."""
    yield from _names(words)
    if len(words) <= _FIRST:
        yield from _runs([])


def _loops(words: list[str]) -> Candidates:
    yield "all", "every loop"
    for plan in joint.seen(_run(words)).plans.values():
        for loop in plan.loops:
            yield loop.id, f"{os.path.basename(loop.file)}:{loop.line}  {loop.header}"


def _variables(words: list[str]) -> Candidates:
    history = joint.seen(_run(words))
    found = dict.fromkeys(name for names in history.variables.values() for name in names)
    return ((name, "") for name in found)


def _iterations(words: list[str]) -> Candidates:
    history = joint.seen(_run(words))
    loop = history.timeline.main_loop(history.seconds)
    name = next(iter(history.variables.get(loop.base, ())), loop.loop)
    return ((f"{name}={loop.number_of(index)}", "") for index in range(loop.count))


def _lines(words: list[str]) -> Candidates:
    text = _text(words)
    width = len(str(text.count("\n") + 1))
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield str(number), f"{number:{width}}  {line}"


def _expressions(words: list[str]) -> Candidates:
    import keyword
    import re

    found = dict.fromkeys(re.findall(r"\b[^\W\d]\w*(?:\.[^\W\d]\w*)*", _text(words)))
    return ((name, "") for name in found if not keyword.iskeyword(name.partition(".")[0]))


def _columns(words: list[str]) -> Candidates:
    from ..answers.listing import COLUMNS

    yield from ((name, "") for name in COLUMNS)
    for run in reversed(catalog.all_runs(store_path())[-_NEWEST:]):
        yield from ((name, "florc.arg") for name in joint.seen(run).arguments)
    yield from _names([])


def _script(words: list[str]) -> str:
    """The script that the command line names already."""
    return next((word for word in words[2:-1] if word.endswith((".py", ".ipynb")) and os.path.isfile(word)), "")


def _run(words: list[str]) -> Run:
    """The run that the command line names, or whose script it names; else the newest one. Raises Unusable."""
    store, script = store_path(), _script(words) or None
    for word in words[2:-1]:
        if not word.startswith("-") and word != script:
            try:
                return catalog.find(store, word, script)
            except Exception:  # it names something else: a value, an option's
                continue
    return catalog.find(store, None, script)


def _text(words: list[str]) -> str:
    script = _script(words) or _run(words).info["script"]
    with open(script, encoding="utf-8") as file:
        return file.read()


_KINDS: dict[str, Callable[[list[str]], Candidates]] = {
    "runs": _runs,
    "names": _names_and_runs,
    "values": _names,
    "loops": _loops,
    "variables": _variables,
    "iterations": _iterations,
    "lines": _lines,
    "expressions": _expressions,
    "columns": _columns,
}
