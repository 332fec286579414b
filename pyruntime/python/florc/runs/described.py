"""What describes a run: `run.json`, a cache that anyone may have changed, and the first record of its journal, which counts.

Everything is checked before it is used: a field of another type is a sentence, never a traceback.
"""

from __future__ import annotations

import os

from ..process.launcher import is_told
from ..support import regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeGuard

FORMAT = 3
"""Of `run.json` and of the first record of a journal."""
_LOOPS_END = 3
"""The first format of runs in whose places no loop stands that was left by `break`, `return` or an exception."""
HEAD = (
    *("id", "name", "script", "module", "argv", "cwd", "store", "hash_seed", "started", "python", "platform", "executable"),
    *("ranks", "commit"),
)
"""What the first record of a journal says of the run; in `run.json` it is a copy."""
_LARGEST_SEED = (1 << 32) - 1
_LATEST = 1e11
"""Seconds since 1970 that every C library can turn into a date."""


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and "\0" not in value


def is_path(value: Any) -> bool:
    """Whether it is a path that does not depend on the working directory."""
    return _is_text(value) and os.path.isabs(value)


def _is_seed(value: Any) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdigit() and int(value) <= _LARGEST_SEED


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf")


def _is_time(value: Any) -> bool:
    return _is_number(value) and value < _LATEST


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_text, value))


def _is_report(value: Any) -> bool:
    numbers = ("seconds", "checkpoints", "bytes")
    return isinstance(value, dict) and all(_is_number(value[name]) for name in numbers if name in value)


def is_source(entry: Any) -> bool:
    """Whether this describes a kept text: the file in `source`, its module and package, its hash."""
    kept = entry.get("kept") if isinstance(entry, dict) else None
    return (
        _is_text(kept)
        and kept not in ("", ".", "..")
        and os.path.basename(kept) == kept
        and all(_is_text(entry.get(name)) for name in ("module", "package", "hash"))
        and _are_modules(entry.get("also", []))
    )


def add_source(sources: dict[str, Any], file: str, entry: dict[str, Any]) -> None:
    """Add a kept text to those of a run, by path. A file may be several modules: the script, which another file imports."""
    known = sources.get(file)
    if known is None or known["hash"] != entry["hash"]:
        sources[file] = entry
    elif (entry["module"], entry["package"]) not in modules_of(known):
        known["also"] = [*known.get("also", ()), [entry["module"], entry["package"]]]


def modules_of(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Name and package of each module that a kept text was."""
    return [(entry["module"], entry["package"]), *((module, package) for module, package in entry.get("also", ()))]


def _are_modules(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list) and len(pair) == 2 and all(map(_is_text, pair)) for pair in value
    )


def _are_sources(value: Any) -> bool:
    return isinstance(value, dict) and all(is_path(file) and is_source(entry) for file, entry in value.items())


def _or_none(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


_NEEDED: dict[str, Callable[[Any], bool]] = {
    "script": is_path,
    "argv": _is_words,
    "cwd": is_path,
    "hash_seed": _is_seed,
    "started": _is_time,
}
_POSSIBLE: dict[str, Callable[[Any], bool]] = {
    "format": lambda value: isinstance(value, int),
    "id": _is_text,
    "name": _or_none(_is_text),
    "module": _or_none(_is_text),
    "store": is_path,
    "ended": _is_time,
    "status": _is_text,
    "raised": _is_text,
    "sources": _are_sources,
    "report": _is_report,
    "python": _is_text,
    "platform": _is_text,
    "executable": _is_text,
    "ranks": _or_none(is_told),
    "commit": _or_none(_is_text),
}


def amiss(found: Any) -> str:
    """Why this does not describe a run; empty when it does."""
    if not isinstance(found, dict):
        return "it does not describe a run"
    wrong = [name for name, fits in _NEEDED.items() if name not in found or not fits(found[name])]
    wrong += [name for name, fits in _POSSIBLE.items() if name in found and not fits(found[name])]
    form = found.get("format", 1)
    if "format" not in wrong and form > FORMAT:
        return f"it has format {form}, and this florc reads up to {FORMAT}: upgrade florc to use it"
    return f"it does not describe a run ({', '.join(wrong)})" if wrong else ""


def keeps_left(info: dict[str, Any]) -> bool:
    """Whether loops that were left stand in the places of what followed, as nothing told that they were left."""
    return bool(info.get("format", 1) < _LOOPS_END)


def read(path: str) -> tuple[dict[str, Any] | None, str]:
    """What a `run.json` holds, or why it cannot be used."""
    try:
        import json

        found = json.loads(regular.read(path))
    except OSError as error:
        return None, (error.strerror or str(error)).lower()
    except (ValueError, RecursionError) as error:
        return None, str(error)
    why = amiss(found)
    return (None, why) if why else (found, "")


def agreed(info: dict[str, Any], head: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """What describes a run when its journal counts, and the fields of `run.json` that say something else."""
    told = {name: head.get(name) for name in HEAD}
    return {**info, **told, "format": head.get("format", 1)}, [name for name in HEAD if info.get(name) != told[name]]
