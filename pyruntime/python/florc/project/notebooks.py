"""A notebook as one program: its code cells, in the order in which they stand, and what they know without importing it.

A cell that is Python is taken as it is. What only IPython understands (`%matplotlib inline`, `!ls`, `%%capture`) is rewritten by
IPython's own transformer. A last line that is an expression is shown, as Jupyter shows it, by `displayhook(…)`, which is on the
same line: no line of a cell moves.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

from .. import _native
from ..support import console
from .script import Script, Unusable

_HEAD = re.compile(r"# %% cell (\d+)$", re.M)
"""The line before each cell; its number counts code cells, from 1."""
_TIMED = re.compile(r"%%time[ \t]*(\n|$)")
_OF_IPYTHON = re.compile(r"=\s*[!%]\s*\w|\?\s*$", re.M)
"""`found = !ls`, `name?`."""
_SKIPPED = "skip-execution"
"""The tag of cells that no runner of notebooks runs."""


def load(path: str, data: bytes, argv: list[str]) -> Script:
    """The program of a notebook. Raises Unusable for what is no notebook, or has a cell that cannot be compiled."""
    text = program(path, data)
    mark(path, text)
    return Script(path, text, argv, None)


def cells(path: str, data: bytes) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A notebook, and those of its cells that run. Raises Unusable where there are none to be found."""
    name = os.path.basename(path)
    try:
        notebook = json.loads(data)
    except ValueError as error:
        raise Unusable("F301", f"{name} is no notebook: {error}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Unusable("F301", f"{name} is no notebook of format 4: jupyter nbconvert --to notebook {name} makes one")
    about = notebook.get("metadata") or {}
    language = (about.get("language_info") or about.get("kernelspec") or {}).get("name") or "python"
    language = (about.get("kernelspec") or {}).get("language") or language
    if not language.lower().startswith(("python", "ipython", "xpython")):
        raise Unusable("F301", f"{name} is a notebook of {language}: florc runs Python")
    found = [cell for cell in notebook["cells"] if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    return notebook, [cell for cell in found if _SKIPPED not in ((cell.get("metadata") or {}).get("tags") or [])]


def program(path: str, data: bytes) -> str:
    """The text that runs."""
    name, out = os.path.basename(path), []
    for number, cell in enumerate(cells(path, data)[1], 1):
        source = cell.get("source") or ""
        code = _python(name, number, source if isinstance(source, str) else "".join(source))
        out.append(f"# %% cell {number}\n{code.rstrip()}\n")
    text = "\n".join(out)
    try:
        compile(text, name, "exec", dont_inherit=True)
    except SyntaxError as error:  # of all together: `from __future__` in a later cell
        mark(name, text)
        raise Unusable(
            "F302", f"{console.place(name, error.lineno or 0, True)}: {error.msg}; the cells run as one program"
        ) from None
    return text


def _python(name: str, number: int, source: str) -> str:
    """A cell as Python, on the same lines."""
    source = source.replace("\r\n", "\n")
    if _TIMED.match(source):  # what it prints is a time; its code is code like any other
        source = f"# {source}"
    if _error(source) is not None:
        source = _transformed(name, number, source)
    error = _error(source)
    if error is not None:
        awaits = "; no cell of a recorded notebook awaits: asyncio.run(…) does, in a script" if "await" in str(error) else ""
        raise Unusable("F302", f"{name}, cell {number}, line {error.lineno}: {error.msg}{awaits}")
    try:
        shown = _native.shown_at_end(source)
    except SyntaxError:  # for the compiler: it runs as it is
        shown = None
    if shown is None:
        return source
    text, (begin, end) = source.encode(), shown
    return b"".join((text[:begin], b"displayhook(", text[begin:end], b")", text[end:])).decode()


def _error(source: str) -> SyntaxError | None:
    try:
        compile(source, "cell", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    return None


def _transformed(name: str, number: int, source: str) -> str:
    own = next((line.strip() for line in source.splitlines() if line.lstrip()[:1] in ("%", "!", "?")), None)
    if own is None and not _OF_IPYTHON.search(source):
        return source
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        raise Unusable(
            "F302", f"{name}, cell {number} has `{own or source.strip()}`, which is IPython's: pip install ipython"
        ) from None
    return str(TransformerManager().transform_cell(source))


def mark(path: str, text: str) -> None:
    """From now on, messages name places in this notebook by cell."""
    found = _HEAD.finditer(text)
    heads = [(int(head[1]), text.count("\n", 0, head.start()) + 1) for head in found]
    console.cells[path] = [line for at, (number, line) in enumerate(heads) if number == at + 1]


def prepare(script: Script, names: dict[str, Any]) -> None:
    """Give the program what a notebook knows: its folder, `display`, `get_ipython`, and tracebacks that show its lines."""
    import builtins
    import linecache
    import traceback

    mark(script.path, script.text)
    names.pop("__file__", None)
    linecache.cache[script.path] = (len(script.text), None, script.text.splitlines(keepends=True), script.path)
    # Before 3.13 Python itself reads the lines of the file, which is JSON.
    sys.excepthook = lambda kind, error, trace: traceback.print_exception(kind, error, trace)
    for function in (display, displayhook, get_ipython):
        setattr(builtins, function.__name__, function)


def displayhook(value: Any) -> None:
    """Shows what a cell ends with."""
    if value is not None:
        display(value)


def display(*objects: Any, **_: Any) -> None:
    """Shows objects as text, as a terminal of IPython does."""
    for shown in objects:
        print(_as_text(shown))


_AS_REPR = {int, float, complex, bool, str, bytes, type(None)}
"""IPython shows them as `repr` does, which needs no import of half a second."""


def _as_text(shown: Any) -> str:
    kind = type(shown)
    if kind in _AS_REPR or kind.__module__.partition(".")[0] in ("torch", "numpy"):
        return repr(shown)
    try:
        from IPython.core.formatters import DisplayFormatter
    except ImportError:
        return repr(shown)
    data, _ = DisplayFormatter().format(shown, include={"text/plain"})
    return str(data.get("text/plain", repr(shown)))


def get_ipython() -> Any:
    """IPython's shell for magics and shell lines, in the names of the program; it keeps no history."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):  # type: ignore[misc]  # it has no types where it is not installed
        def enable_gui(self, gui: str | None = None) -> None:
            """No loop of events runs here: `%matplotlib inline` needs none."""

    if InteractiveShell.initialized():
        return InteractiveShell.instance()
    config = Config()
    config.HistoryManager.enabled = False
    return Shell.instance(config=config, user_module=sys.modules["__main__"])
