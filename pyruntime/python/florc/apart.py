"""Florc has builtins and clocks of its own: a script may replace those that everybody shares (`builtins.open = counting_open`,
`time.perf_counter = frozen`).

Without that the script's replacement would be called by florc: it would count, print, or fail where it does not in a plain run.
Every module of the package gets a copy of the table of builtins, as it was when florc began, before its first line runs, and
imports a copy of `time`. The import system finds a module through what it knows of its folder (`sys.path_importer_cache`): there
the loader is put that does so.

What modules of the standard library call is not seen to: they are the script's, too.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

_machinery: "Any" = sys.modules["_frozen_importlib_external"]
OWN = dict(sys.modules["builtins"].__dict__)
"""The builtins of florc's modules."""
_import = OWN["__import__"]
_time = sys.modules.get("time") or _import("time")
_clocks = type(sys)("time")
_clocks.__dict__.update(_time.__dict__)


def _import_apart(name: str, *how: "Any") -> "ModuleType":
    """`__import__` of florc's modules."""
    return _clocks if name == "time" else _import(name, *how)


OWN["__import__"] = _import_apart


def put_back() -> None:
    """The script is over: what the standard library calls from now on, for florc, are Python's own builtins again."""
    sys.modules["builtins"].__dict__.update({**OWN, "__import__": _import})


class Loader(_machinery.SourceFileLoader):  # type: ignore[misc]  # a class that no stub names
    """Loads a module of florc."""

    def exec_module(self, module: "ModuleType") -> None:
        """Run the module, with builtins of its own."""
        module.__dict__["__builtins__"] = OWN
        set_apart(module.__dict__.get("__path__", ()))
        super().exec_module(module)


def set_apart(folders: "Any") -> None:
    """Modules in these folders are florc's."""
    for folder in folders:
        kinds = [
            (Loader if kind is _machinery.SourceFileLoader else kind, endings)
            for kind, endings in _machinery._get_supported_file_loaders()
        ]
        sys.path_importer_cache[folder] = _machinery.FileFinder(folder, *kinds)
