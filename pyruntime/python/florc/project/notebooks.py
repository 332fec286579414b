"""A notebook as one program: its code cells, in the order in which they stand, and what they know without importing it.

A cell that is Python is taken as it is. What only IPython understands (`%matplotlib inline`, `!ls`, `%%capture`) is rewritten by
IPython's own transformer. No line of a cell moves. The value of an expression that a cell ends with is shown, as Jupyter shows
it: that is decided when the program is compiled (`tree_positions.compile_shown`), so that a statement is the same one wherever
it stands in its cell.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, NamedTuple

from .. import _native
from ..support import console
from .script import Script, Unusable

_HEAD = re.compile(r"# %% cell \d+, (\d+) lines$")
"""The line before each cell: its number among the code cells, from 1, and how many lines it has. A cell may hold such a line."""
_TIMED = re.compile(r"%%time[ \t]*(\n|$)")
_OF_IPYTHON = re.compile(r"=\s*[!%]\s*\w|\?\s*$", re.M)
"""`found = !ls`, `name?`."""
_AUTOMAGIC = ("pip", "conda", "ls", "cd", "cat", "mkdir", "rm", "cp", "mv", "pwd", "time", "timeit", "run")
"""Words that a kernel takes for a magic where a line that begins with one is no Python."""
_FRAME = re.compile(r'(\s*File "([^"\n]+)", )line (\d+)')
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
        lines = code.rstrip().split("\n")
        out += [f"# %% cell {number}, {len(lines)} lines", *lines, ""]
    text = "\n".join(out)  # ends with a newline: an empty line stands between two cells
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
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    if _TIMED.match(source):  # what it prints is a time; its code is code like any other
        source = f"# {source}"
    error = _error(source)
    if error is not None:
        source = _transformed(name, number, source)
        error = _error(source)
    if error is not None:
        word = (error.text or "").split(maxsplit=1)[:1]
        hint = f"; write %{word[0]} for IPython's" if word and word[0] in _AUTOMAGIC else ""
        if "await" in str(error):
            hint = "; no cell of a recorded notebook awaits: asyncio.run(…) does, in a script"
        raise Unusable("F302", f"{name}, cell {number}, line {error.lineno}: {error.msg}{hint}")
    return source


def _error(source: str) -> SyntaxError | None:
    try:
        compile(source, "cell", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error
    return None


def _transformed(name: str, number: int, source: str) -> str:
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        own = next((line.strip() for line in source.splitlines() if line.lstrip()[:1] in ("%", "!", "?")), None)
        if own is None and not _OF_IPYTHON.search(source):
            return source
        held = own or source.strip()
        raise Unusable("F302", f"{name}, cell {number} has `{held}`, which is IPython's: pip install ipython") from None
    return str(TransformerManager().transform_cell(source))


class Shown(NamedTuple):
    """An expression that a cell ends with: the line before its cell, its own first line and column (in bytes), its text."""

    head: int
    line: int
    column: int
    text: str


HOOK = "__florc_displayhook__"
"""The builtin that shows what a cell ends with."""
shown: dict[str, dict[tuple[int, int], int]] = {}
"""By the path of a notebook: where what is shown stands, line and column, and the line before the cell, on which it is said to be
printed."""


def _lines(text: str) -> list[str]:
    """The lines of a program, as Python counts them: a form feed ends none."""
    return [f"{line}\n" for line in text.split("\n")]


def heads(text: str) -> list[int]:
    """The line before each cell of a program."""
    lines, at, found = text.split("\n"), 0, []
    while at < len(lines):
        head = _HEAD.match(lines[at])
        if head is None:
            break
        found.append(at + 1)
        at += int(head[1]) + 2  # itself, and the empty line between two cells
    return found


def sizes(text: str) -> list[int]:
    """How many lines each cell of a program has."""
    lines = text.split("\n")
    return [int(found[1]) for head in heads(text) if (found := _HEAD.match(lines[head - 1])) is not None]


def counted(was: str, text: str) -> str:
    """A program with statements that were added to `was`: the line before each cell has how many lines there are now."""
    lines, new, at_heads = was.split("\n"), text.split("\n"), heads(was)
    places: dict[str, list[int]] = {}
    for at, line in enumerate(new):
        places.setdefault(line, []).append(at)
    # a cell may hold such a line, too: no line of `was` is gone, and none that was added is one
    found = [places[lines[head - 1]][lines[: head - 1].count(lines[head - 1])] for head in at_heads]
    for number, (begin, end) in enumerate(zip(found, [*found[1:], len(new)]), 1):
        size = len("\n".join(new[begin + 1 : end]).rstrip().split("\n"))
        new[begin] = f"# %% cell {number}, {size} lines"
    return "\n".join(new)


def shown_at_ends(text: str) -> list[Shown]:
    """What the cells of a program end with and show."""
    lines, at_heads, found = _lines(text), heads(text), []
    for head, after in zip(at_heads, [*(line - 1 for line in at_heads[1:]), len(lines)]):
        cell = "".join(lines[head:after])
        try:
            place = _native.shown_at_end(cell)
        except SyntaxError:  # for the compiler
            place = None
        if place is not None:
            before, held = (cell.encode()[slice(*part)].decode() for part in ((0, place[0]), place))
            column = len(before[before.rfind("\n") + 1 :].encode())
            found.append(Shown(head, head + before.count("\n") + 1, column, held))
    return found


def no_longer_shown(was: str, text: str) -> set[int]:
    """The lines of a recorded program on which values were printed that are not shown any more: something was added below."""
    left = [one.text for one in shown_at_ends(text)]
    gone: set[int] = set()
    for one in shown_at_ends(was):
        if one.text in left:
            left.remove(one.text)
        else:
            gone.add(one.head)
    return gone


def mark(path: str, text: str) -> None:
    """From now on, this is the program of the notebook: messages name places in it by cell, and what is shown is known."""
    console.cells[path] = heads(text)
    shown[path] = {(one.line, one.column): one.head for one in shown_at_ends(text)}


def mark_recorded(path: str, text: str) -> None:
    """This was its program when it was recorded."""
    console.recorded_cells[path] = heads(text)


def prepare(script: Script, names: dict[str, Any]) -> None:
    """Give the program what a notebook knows: its folder, `display`, `get_ipython`, and tracebacks that show its lines."""
    import builtins
    import linecache
    import traceback

    names.pop("__file__", None)
    linecache.cache[script.path] = (len(script.text), None, _lines(script.text), script.path)
    # Before 3.13 Python itself reads the lines of the file, which is JSON.
    sys.excepthook = lambda kind, error, trace: sys.stderr.write(
        "".join(_told(line) for line in traceback.format_exception(kind, error, trace))
    )
    for name, function in ((HOOK, _show), ("display", display), ("get_ipython", get_ipython)):
        setattr(builtins, name, function)


def _told(line: str) -> str:
    """A line of a traceback that names places in a notebook by cell."""
    found = _FRAME.match(line)
    number, within = (None, 0) if found is None else console.cell_of(found[2], int(found[3]))
    if found is None or number is None:
        return line
    return f"{found[1]}cell {number}, line {within}{line[found.end() :]}"


def _show(value: Any) -> None:
    """Shows what a cell ends with."""
    if value is not None:
        display(value)


class _Handle:
    """What `display(…, display_id=…)` returns. There is no output to go back to: what is new is shown again."""

    def display(self, shown: Any, **_: Any) -> None:
        display(shown)

    update = display


def display(*objects: Any, display_id: Any = None, **_: Any) -> Any:
    """Shows objects as text, as a terminal of IPython does."""
    for one in objects:
        text = _as_text(one)
        if text is not None:
            print(text)
    return None if display_id is None else _Handle()


_AS_REPR = {("builtins", name) for name in ("int", "float", "complex", "bool", "str", "bytes", "NoneType")}
_AS_REPR |= {
    ("torch", "Tensor"),
    ("torch.nn.parameter", "Parameter"),
    ("numpy", "ndarray"),
    ("numpy", "float64"),
    ("numpy", "int64"),
}
"""Classes that IPython shows as `repr` does, which needs no import of half a second."""


def _as_text(one: Any) -> str | None:
    """None where the object has shown itself."""
    if (type(one).__module__, type(one).__qualname__) in _AS_REPR:
        return repr(one)
    try:
        from IPython.core.formatters import DisplayFormatter
    except ImportError:
        return repr(one)
    data, _ = DisplayFormatter().format(one, include={"text/plain"})
    text: str | None = data.get("text/plain")
    return text


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
