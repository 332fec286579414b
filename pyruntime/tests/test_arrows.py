"""The rooms of the package import one another in one direction only. This is the whole of what keeps it so."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import Dict, Iterator, List, Set, Tuple

FLORC = Path(__file__).resolve().parents[1] / "python" / "florc"
Name = Tuple[str, ...]


def modules() -> Dict[Name, Path]:
    """Every module of the package by its name below `florc`."""
    found = {path.relative_to(FLORC).with_suffix("").parts: path for path in FLORC.rglob("*.py")}
    return {name[:-1] if name[-1] == "__init__" else name: path for name, path in found.items()}


MODULES = modules()


def room_of(module: Name) -> Name:
    """The folder that a module is in; a module beside the rooms is a room of its own."""
    folders = [module[:depth] for depth in range(1, len(module) + 1) if (FLORC.joinpath(*module[:depth])).is_dir()]
    return folders[-1] if folders else module


def imported(module: Name) -> Iterator[Tuple[Name, int]]:
    """What a module of the package imports of it, wherever in its text."""
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            source = (*package[:len(package) - node.level + 1], *(node.module or "").split("."))
            source = tuple(part for part in source if part)
            for alias in node.names:
                yield ((*source, alias.name) if (*source, alias.name) in MODULES else source), node.lineno


def arrows() -> Dict[Name, Dict[Name, List[str]]]:
    """Of each room the rooms that it imports from, and where."""
    found: Dict[Name, Dict[Name, List[str]]] = defaultdict(lambda: defaultdict(list))
    for module in MODULES:
        for other, line in imported(module):
            if other and room_of(other) != room_of(module):
                found[room_of(module)][room_of(other)].append(f"{'/'.join(module)}.py:{line}")
    return found


def test_no_rooms_import_one_another_in_a_circle() -> None:
    graph = arrows()

    def visit(room: Name, way: List[Name]) -> None:
        if room in way:
            circle = [*way[way.index(room):], room]
            steps = [f"{'.'.join(one)} imports from {'.'.join(other)} ({graph[one][other][0]})" for one, other in zip(circle, circle[1:])]
            raise AssertionError("a circle: " + ", ".join(steps))
        if room not in done:
            for other in list(graph[room]):
                visit(other, [*way, room])
            done.add(room)

    done: Set[Name] = set()
    for room in list(graph):
        visit(room, [])


def test_recording_and_replaying_do_not_know_one_another() -> None:
    for room, others in arrows().items():
        for other, where in others.items():
            assert {room[0], other[0]} != {"record", "replay"}, f"{'.'.join(room)} imports from {'.'.join(other)} at {where[0]}"


def test_every_room_says_what_it_is_for() -> None:
    for name, path in MODULES.items():
        assert path.name != "__init__.py" or ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), f"{'/'.join(name)} has no docstring"
