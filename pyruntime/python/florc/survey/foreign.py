"""What the user's files put into modules that are not theirs: `builtins.seen = []`, `torch.my_cache = {}`.

Whatever a library keeps for itself is no state of the script. So of such modules only those attributes are looked at that the
text of a user's file assigns to. Test: tests/test_hidden.py."""

from __future__ import annotations

import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .scopes import Scope

_assigned: dict[str, set[str]] = {}
"""By what leads to the module, the attributes. Most lead to no module: `self`."""


def mention(text: str) -> None:
    """A file of the user's is part of the run."""
    for line in text.splitlines():
        for statement in line.split(";") if "=" in line and "." in line else ():
            target = statement.partition("=")[0].rstrip("+-*/%|&^@<> \t")
            for one in (*target.split(","), target.partition(":")[0]):  # `a.b, c.d = …`, `a.b: int = …`
                path, _, name = one.split()[-1].rpartition(".") if one.strip() else ("", "", "")
                if name.isidentifier() and path.replace(".", "").isidentifier():
                    _assigned.setdefault(path, set()).add(name)


def of_modules(scopes: Iterable[Scope]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The modules of libraries that a name of these scopes leads to and that a file assigns to, and what stands there."""
    found: dict[str, dict[str, Any]] = {}
    own = {id(scope.names) for scope in scopes}
    for path, assigned in _assigned.items():
        root, *steps = path.split(".")
        for scope in scopes:
            module: Any = scope.names.get(root)
            for step in steps:
                module = module.__dict__.get(step) if type(module) is types.ModuleType else None
            if type(module) is types.ModuleType and id(module.__dict__) not in own:
                called = module.__dict__.get("__name__", "")
                names = {name for name in assigned if (called, name) not in _SETTINGS}
                if names and sys.modules.get(called) is module:
                    there = found.setdefault(called, {})  # what is not there yet is seen to come
                    there.update((name, module.__dict__[name]) for name in names if name in module.__dict__)
    yield from sorted(found.items())


_SETTINGS = {("sys", "stdout"), ("sys", "stderr"), ("sys", "stdin")}
"""What is looked at elsewhere (`settings`, `scopes`)."""
