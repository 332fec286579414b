"""The rooms of the package import one another in one direction only. This is the whole of what keeps it so."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

FLORC = Path(__file__).resolve().parents[1] / "python" / "florc"
Name = tuple[str, ...]


def modules() -> dict[Name, Path]:
    """Every module of the package by its name below `florc`."""
    found = {path.relative_to(FLORC).with_suffix("").parts: path for path in FLORC.rglob("*.py")}
    return {name[:-1] if name[-1] == "__init__" else name: path for name, path in found.items()}


MODULES = modules()


def room_of(module: Name) -> Name:
    """The folder that a module is in; a module beside the rooms is a room of its own."""
    folders = [module[:depth] for depth in range(1, len(module) + 1) if (FLORC.joinpath(*module[:depth])).is_dir()]
    return folders[-1] if folders else module or ("__init__",)


def imported(module: Name) -> Iterator[tuple[Name, int]]:
    """What a module of the package imports of it, wherever in its text."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            source = (*package[: len(package) - node.level + 1], *(node.module or "").split("."))
            source = tuple(part for part in source if part)
            for alias in node.names:
                yield ((*source, alias.name) if (*source, alias.name) in MODULES else source), node.lineno


def arrows() -> dict[Name, dict[Name, list[str]]]:
    """Of each room the rooms that it imports from, and where."""
    found: dict[Name, dict[Name, list[str]]] = defaultdict(lambda: defaultdict(list))
    for module in MODULES:
        for other, line in imported(module):
            if other and room_of(other) != room_of(module):
                found[room_of(module)][room_of(other)].append(f"{'/'.join(module)}.py:{line}")
    return found


ORDER = [
    "apart",
    "__init__",
    "support",
    "adapters",
    "inputs",
    "project",
    "session",
    "arguments",
    "process",
    "state",
    "staging",
    "plan",
    "survey",
    "runs",
    "trackers",
    "answers",
    "record",
    "replay.select",
    "replay.files",
    "replay.world",
    "replay.session",
    "replay.parallel",
    "replay.warm",
    "replay",
    "ui",
    "cli",
    "saving",
    "writing",
    "skipblock",
    "__main__",
]


def test_a_room_imports_only_from_rooms_before_it() -> None:
    at = {tuple(room.split(".")): index for index, room in enumerate(ORDER)}
    for room, others in arrows().items():
        for other, where in others.items():
            assert room in at and other in at, f"{'.'.join(room)} or {'.'.join(other)} has no place in ORDER ({where[0]})"
            assert at[other] < at[room], f"{'.'.join(room)} imports from {'.'.join(other)}, which comes after it, at {where[0]}"


def test_recording_and_replaying_do_not_know_one_another() -> None:
    for room, others in arrows().items():
        for other, where in others.items():
            assert {room[0], other[0]} != {"record", "replay"}, f"{'.'.join(room)} imports from {'.'.join(other)} at {where[0]}"


def test_every_room_says_what_it_is_for() -> None:
    for name, path in MODULES.items():
        assert path.name != "__init__.py" or ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), (
            f"{'/'.join(name)} has no docstring"
        )


def test_python_is_read_by_the_compiler_only() -> None:
    """But for the independent check of positions, whose tree must be CPython's own, and for what log statements print: the
    compiler's tree has no texts of f-strings."""
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            is_check = module in (("project", "tree_positions"), ("answers", "templates"), ("answers", "joint"))
            assert is_check or "ast" not in names, f"{'/'.join(module)}.py:{node.lineno} imports ast"
