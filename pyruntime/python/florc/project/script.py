"""Runs a script as the real `__main__`."""

from __future__ import annotations

import os
import stat
import sys
from types import CodeType, TracebackType

from ..support.light import OWN, NamedTuple, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_OF_MAIN = (
    "__name__",
    "__doc__",
    "__package__",
    "__loader__",
    "__spec__",
    "__annotations__",
    "__builtins__",
    "__file__",
    "__cached__",
)
"""What `__main__` holds before its first line; versions of Python differ in which of them there are."""


NOTEBOOK = ".ipynb"
"""The files of Jupyter."""


SPAWNED = "multiprocessing.spawn"
"""In the place of a module: a process that the script started (`process.spawned`)."""


class Script(NamedTuple):
    """What is to be run: a file, a module as `python -m` runs it, or the cells of a notebook."""

    path: str
    text: str
    argv: list[str]
    module: str | None

    @property
    def is_notebook(self) -> bool:
        """Whether it was made of the cells of one."""
        return self.path.endswith(NOTEBOOK)


class Prepared(NamedTuple):
    """A script that is ready to run, for `_native.run_main`."""

    code: CodeType
    names: dict[str, Any]
    """The globals of `__main__`."""
    ended: Callable[[BaseException | None], None]
    """Called when it is over, with what it raised."""


class Raised(NamedTuple):
    """The process ends as Python does for an exception that nobody catches."""

    error: BaseException


class Unusable(Exception):
    """The command cannot be carried out; the message says why and what to do. `code`: see docs/messages.md."""

    def __init__(self, code: str, message: str):
        super().__init__(message)
        self.code = code


class NotRecordable(Exception):
    """Python can run this, florc cannot record it; the message says why."""


def load(script: list[str], module: str | None) -> Script:
    """Read the script. Raises Unusable for a file that is not there, NotRecordable for what is no file of source code,
    SyntaxError or UnicodeDecodeError for one that is not text."""
    from .territory import decode

    if module is not None:
        return _load_module(module, script)
    given = script[0]
    if given == "-":
        raise NotRecordable("it is read from standard input")
    path = os.path.abspath(given)
    if os.path.isdir(path):
        path = os.path.join(path, "__main__.py")
        if not os.path.exists(path):
            raise Unusable("F301", f"{given} is a folder without a __main__.py: which script in it?")
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise NotRecordable("it is not a file, so a replay could not read it again")
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise Unusable("F301", f"cannot read {given}: {(error.strerror or str(error)).lower()}") from None
    except OSError as error:  # Python may have more luck
        raise NotRecordable(f"it cannot be read: {(error.strerror or str(error)).lower()}") from None
    if path.endswith(".pyc") or data[:4] == b"PK\x03\x04" or data[2:4] == b"\r\n" and b"\0" in data[:16]:
        raise NotRecordable("it is not source code")
    _refuse_names([path, os.getcwd()])
    if path.endswith(NOTEBOOK):
        from .notebooks import load as load_notebook

        return load_notebook(path, data, list(script))
    return Script(path, decode(data), list(script), None)


def _load_module(name: str, arguments: list[str]) -> Script:
    import importlib.machinery
    import importlib.util

    from .territory import decode

    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.origin or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
        raise Unusable("F301", f"no module named {name} that can be run")
    _refuse_names([spec.origin, os.getcwd()])
    with open(spec.origin, "rb") as file:
        return Script(spec.origin, decode(file.read()), [spec.origin, *arguments], spec.name)


def _refuse_names(paths: list[str]) -> None:
    """The compiler and the journal name files in UTF-8."""
    for path in paths:
        try:
            path.encode()
        except UnicodeEncodeError:
            raise NotRecordable(f"its path is not UTF-8: {path!r}") from None


def compiled_alone(script: Script) -> CodeType:
    """The code of a text that stands in no file."""
    return compile(script.text, f"<{script.module}>", "exec", dont_inherit=True)


def enter_folder(script: Script) -> None:
    """Go to where the cells of a notebook run, which is its folder. A script runs where it was started."""
    if script.is_notebook:
        os.chdir(os.path.dirname(script.path))


def become_main(script: Script) -> dict[str, Any]:
    """Give `sys.argv`, `sys.path[0]` and `__main__` the values of a plain run of the script; returns the globals of
    `__main__`.

    It is the interpreter's own `__main__`, so Python takes it apart at the end as in a plain run.
    """
    import _frozen_importlib_external as machinery
    import gc

    names = sys.modules["__main__"].__dict__
    kept = {name: names[name] for name in _OF_MAIN if name in names}
    loader = machinery.SourceFileLoader("__main__", script.path)
    kept.update(
        __name__="__main__",
        __doc__=None,
        __package__=None,
        __spec__=None,
        __loader__=loader,
        __file__=script.path,
        __cached__=None,
    )
    if "__annotations__" in kept:
        kept["__annotations__"] = {}
    is_safe = getattr(sys.flags, "safe_path", False)
    if is_safe:
        del sys.path[0]  # the package's, see `__main__`
    if script.module == SPAWNED:
        script = script._replace(argv=["-c", "--multiprocessing-fork"])
        words = script.argv
        kept.pop("__file__")
    elif script.module is None:
        words = script.argv
        is_folder = os.path.isdir(script.argv[0])
        folder = os.path.join(os.getcwd(), script.argv[0])
        if not is_safe:
            sys.path[0] = folder if is_folder else os.path.dirname(os.path.realpath(script.path))
        if is_folder:  # which Python runs by way of `runpy`
            spec = machinery.PathFinder.find_spec("__main__", [folder])
            kept.update(__package__="", __spec__=spec)
    else:
        import importlib.util

        words = ["-m", script.module, *script.argv[1:]]
        if not is_safe:
            del sys.path[1]  # the package's: the folder of the module was put before it
        spec = importlib.util.find_spec(script.module)
        kept.update(__spec__=spec, __package__=script.module.rpartition(".")[0], __cached__=getattr(spec, "cached", None))
    sys.argv = list(script.argv)
    sys.orig_argv = [sys.orig_argv[0], *words]
    names.clear()
    names.update(kept)
    if script.is_notebook:
        from .notebooks import prepare

        prepare(script, names)
    gc.enable()
    return names


def take_apart(is_cut: bool) -> None:
    """What becomes of the names of `__main__` when Python ends: files that are still open are written out, and `__del__` runs.
    Of a script that was cut off in the middle (`is_cut`), the files only."""
    import gc
    import io

    names = sys.modules["__main__"].__dict__
    if not is_cut:
        private = [name for name in names if name.startswith("_") and not name.startswith("__")]
        for name in (*private, *(name for name in list(names) if name != "__builtins__")):
            names[name] = None
        gc.collect()
    for obj in gc.get_objects():
        if issubclass(type(obj), (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom)):
            with suppress(Exception):
                obj.flush()


def stripped(error: BaseException) -> BaseException:
    """What the script raised, with the traceback that a plain run gives it."""
    return error.with_traceback(without_own_frames(error.__traceback__))


def keep_last() -> None:
    """Python is about to print an exception a second time, on its way out with the exit code of Ctrl-C: let it print nothing,
    and let `sys.last_traceback` be what it is."""
    last = sys.last_traceback

    def nothing(*_: object) -> None:
        sys.last_traceback = last

    sys.excepthook = nothing


def without_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback as a plain run has it: neither what started the script, nor florc's work that Ctrl-C hit."""
    frames, at = [], traceback
    while at is not None:
        if not at.tb_frame.f_code.co_filename.startswith(OWN):
            frames.append(at)
        at = at.tb_next
    for frame, following in zip(frames, [*frames[1:], None]):
        frame.tb_next = following
    return frames[0] if frames else None
