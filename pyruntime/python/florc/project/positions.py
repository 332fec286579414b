"""A file of the user to code: instrumented, with every position one of the user's file; or as it is."""

from __future__ import annotations

import _warnings  # what `warnings` is made of, where nobody has imported that yet
import sys
from types import CodeType

from ..support import mishaps
from ..support.light import NamedTuple, suppress
from . import nameless
from .script import NOTEBOOK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .. import _native


rewritten: dict[str, Callable[[Any], None]] = {}
"""By file: what changes its tree in place before it is compiled, after the positions are those of the user's file
(`runners`)."""


class Compiled(NamedTuple):
    """What runs in the place of a file."""

    code: CodeType
    plan: _native.Plan | None
    """The plan of what was instrumented."""
    left_alone: str | None
    """Why the file runs as it is although there was something to instrument."""
    warned: bool
    """Whether Python may have something to say about the file (`SyntaxWarning`) that it was kept from saying: see `warn`."""
    idle_plan: _native.Plan | None = None
    """The plan of a file in which there was nothing to instrument: what stands against each loop."""


class _Quiet:
    """No warning is shown; with "error" each is raised. The filter is put in place and is gone again: unlike
    `catch_warnings`, that makes no warning of the script appear a second time."""

    def __init__(self, action: str = "ignore"):
        self._entry = (action, None, Warning, None, 0)
        self._filters: Any = getattr(sys.modules.get("warnings"), "filters", _warnings.filters)

    def __enter__(self) -> None:
        self._filters.insert(0, self._entry)

    def __exit__(self, *_: object) -> None:
        self._filters.remove(self._entry)

    @staticmethod
    def end() -> None:
        """After an error inside florc: no filter of these is left in place."""
        for action in ("ignore", "error"):
            quiet = _Quiet(action)
            while quiet._entry in quiet._filters:
                quiet._filters.remove(quiet._entry)


def compile_user_file(text: str, file: str, instrument: Callable[[], _native.Instrumented | None]) -> Compiled:
    """Compile a file of the project, instrumented by `instrument()` (`_native.Instrumented`, or None). Raises only what Python
    itself says of the file."""
    emitted, left_alone = None, None
    try:
        emitted = instrument()
        if emitted is not None:
            left_alone = emitted.left_alone
            if emitted.changed:
                # Mostly there is nothing to warn of: then this is the only time that the file is compiled.
                return Compiled(_mapped(emitted, file, "error"), emitted.plan, None, False)
    except SyntaxError as error:  # also a warning, or what Python has to say of the user's own file
        left_alone = str(error).strip()
    except Exception as error:
        emitted = None
        _Quiet.end()
        mishaps.swallowed(f"instrumenting {file}", error)
        left_alone = f"an error inside florc, {type(error).__name__}: {error}"
    original, warned = _original(text, file)
    if warned and emitted is not None and emitted.changed:
        try:
            return Compiled(_mapped(emitted, file, "ignore"), emitted.plan, None, True)
        except Exception as error:
            left_alone = f"its instrumented form is not Python: {error}"
    return Compiled(original, None, left_alone, warned, emitted.plan if emitted is not None and left_alone is None else None)


def undo() -> None:
    """As if nothing had been compiled."""
    _Quiet.end()


def warn(compiled: Compiled, text: str, file: str) -> None:
    """Let Python say what it was kept from saying, once; with `-W error` it raises that."""
    if compiled.warned:
        compile(text, file, "exec", dont_inherit=True)


def _mapped(emitted: _native.Instrumented, file: str, action: str) -> CodeType:
    with _Quiet(action):
        if file.endswith(NOTEBOOK):
            return _of_notebook(emitted, file)
        if file in rewritten:
            return _rewritten(emitted, file)
        if sys.version_info >= (3, 11):
            code = compile(nameless.text_to_run(emitted), file, "exec", dont_inherit=True)
            with suppress(ValueError):  # code in a form that `map_code` does not know
                return emitted.map_code(code)
        from .tree_positions import compile_mapped

        return compile_mapped(emitted, file)


def original(text: str, file: str) -> CodeType:
    """The code of a file as it is."""
    return _original(text, file)[0]


def _original(text: str, file: str) -> tuple[CodeType, bool]:
    """The code of a file as it is, and whether there is something to warn of. Raises SyntaxError as Python does."""
    with suppress(SyntaxError), _Quiet("error"):
        return _plain(text, file), False
    with _Quiet():
        return _plain(text, file), True


def _plain(text: str, file: str) -> CodeType:
    if file.endswith(NOTEBOOK):
        return _of_notebook(text, file)
    return _rewritten(text, file) if file in rewritten else compile(text, file, "exec", dont_inherit=True)


def _rewritten(emitted: _native.Instrumented | str, file: str) -> CodeType:
    from .tree_positions import compile_changed

    return compile_changed(emitted, file, rewritten[file])


def _of_notebook(emitted: _native.Instrumented | str, file: str) -> CodeType:
    from . import notebooks
    from .tree_positions import compile_shown

    return compile_shown(emitted, file, notebooks.shown.get(file, {}), notebooks.HOOK)
