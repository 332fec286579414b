"""Processes that the script starts anew, and that begin with its own code: those of `multiprocessing` and loky. What added
statements print there is an answer, though nothing is recorded that it could be compared with."""

from __future__ import annotations

import functools
import marshal
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any

from ... import _native
from ...project.positions import compile_user_file
from ...runs.versions import Versions
from ..session.statements import Statements

_STARTS = re.compile(r"\b(?:multiprocessing\.(?:spawn|forkserver)|popen_loky_posix)\b")
"""In what Python is given as `-c` or `-m`."""


def _starts_ranks() -> bool:
    """Whether `torch.multiprocessing.spawn` starts a process: ranks are replayed, or run without florc (`spawned`)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != "torch.multiprocessing.spawn":
        frame = frame.f_back
    return frame is not None


def _same(emitted: _native.Instrumented | None) -> Any:
    return emitted


class Elsewhere:
    """Those of one replay. `folder`: for its files."""

    def __init__(self, folder: str, versions: Versions, statements: Statements):
        self._codes, self._versions, self._statements = os.path.join(folder, "codes"), versions, statements
        self._process, self._written = os.getpid(), 0

    def watch(self) -> None:
        """From now on they are started with the marks of added statements."""
        import _posixsubprocess as starter

        itself: Callable[..., Any] = starter.fork_exec

        def fork_exec(words: Sequence[str | bytes], *rest: Any) -> Any:
            if os.getpid() == self._process and self._versions.marked() and not _starts_ranks():
                with suppress(OSError, ValueError):  # no room for the code
                    words = self._answering(list(words))
            return itself(words, *rest)

        starter.fork_exec = fork_exec  # type: ignore[assignment]  # it hands all else on

    def _answering(self, words: list[str | bytes]) -> list[str | bytes]:
        at = next((n for n, word in enumerate(words[:-1]) if os.fsdecode(word) in ("-c", "-m")), None)
        if at is None or not _STARTS.search(what := os.fsdecode(words[at + 1])):
            return words
        _native.took_elsewhere()
        if os.fsdecode(words[at]) == "-m":
            what = f"import runpy; runpy._run_module_as_main({what!r})"
        self._write()
        given = self._statements.folder, self._statements.elsewhere(), _native.loop_path(), self._codes
        begin = f"try:\n    from florc.process.answering import begin\nexcept ImportError:\n    pass\nelse:\n    begin{given!r}"
        code = f"exec({begin!r}, {{}})\n{what}"
        first, text = words[at], words[at + 1]
        return [
            *words[:at],
            b"-c" if isinstance(first, bytes) else "-c",
            code.encode() if isinstance(text, bytes) else code,
            *words[at + 2 :],
        ]

    def _write(self) -> None:
        """The code of the files that are known by now."""
        files = self._versions.emitted()
        if len(files) == self._written:
            return
        codes: dict[str, CodeType] = {}
        for file, (text, emitted) in files.items():
            with suppress(SyntaxError):
                compiled = compile_user_file(text, file, functools.partial(_same, emitted))
                codes[os.path.realpath(file)] = compiled.code
        with open(self._codes + ".new", "wb") as out:
            marshal.dump(codes, out)
        os.replace(self._codes + ".new", self._codes)
        self._written = len(files)
