"""What a script pickles by value carries the code that the user wrote.

Some libraries (cloudpickle, and with it mlflow, ray and joblib) write the code of functions and classes that cannot be
imported, such as those of `__main__`, into the pickle. A model that was saved with florc's statements in it could not
be loaded where florc is not installed.
"""

from __future__ import annotations

import sys
from types import CodeType

from ..adapters.libraries import PICKLERS
from ..support import mishaps
from .start import AfterImport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Key = tuple[Any, ...]


class Picklers:
    """Gives picklers the original code, those that are imported later when they are."""

    def __init__(self, text_of: Callable[[str], str | None]):
        """`text_of(file)`: what a file of the user held when it was compiled, or None."""
        self._originals = _Originals(text_of)
        for name in sys.modules.keys() & PICKLERS:
            _give(name, self._originals)
        self._awaited = set(PICKLERS).difference(sys.modules)
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The module's own spec, as the other finders have it."""
        if name not in self._awaited:
            return None
        self._awaited.discard(name)
        found = AfterImport(name, lambda: _give(name, self._originals))
        sys.meta_path.insert(0, found)
        return found.find_spec(name, path, target)

    def leave(self) -> None:
        """Wait for no more of them."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def _give(name: str, originals: _Originals) -> None:
    with mishaps.Swallow(f"giving {name} the code that was written"):
        module: Any = sys.modules[name]
        reduce, names = module._code_reduce, module._extract_code_globals
        module._extract_code_globals = lambda code: names(originals.of(code))
        module._code_reduce = module.Pickler._dispatch_table[CodeType] = lambda code: reduce(originals.of(code))


class _Originals:
    """From code that runs to what the user's file alone compiles to, by where it begins."""

    def __init__(self, text_of: Callable[[str], str | None]):
        self._text_of = text_of
        self._files: dict[str, dict[Key, list[CodeType]]] = {}

    def of(self, code: CodeType) -> CodeType:
        """The original of a piece of code; itself where there is none, or more than one."""
        file = code.co_filename
        if file not in self._files:
            self._files[file] = {}
            with mishaps.Swallow(f"compiling {file} as it is"):
                self._add(file)
        found = self._files[file].get(_key(code), ())
        return found[0] if len(found) == 1 and found[0].co_freevars == code.co_freevars else code

    def _add(self, file: str) -> None:
        text = self._text_of(file)
        if text is None:
            return
        from ..project.positions import original

        todo = [original(text, file)]
        while todo:
            code = todo.pop()
            self._files[file].setdefault(_key(code), []).append(code)
            todo += [const for const in code.co_consts if type(const) is CodeType]


def _key(code: CodeType) -> Key:
    """Where it begins, and what it is called."""
    first: tuple[int | None, ...] | None = None
    if sys.version_info >= (3, 11):
        first = next((span for span in code.co_positions() if span[2] is not None), None)
    return code.co_name, code.co_firstlineno, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount], first
