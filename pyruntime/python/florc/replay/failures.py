"""What a replay reports when the script raises: where it raised, and whether an added statement did."""

from __future__ import annotations

import os
import sys

from .. import _native
from ..project import asked
from ..project import script as launch
from ..runs.versions import Versions
from ..support.console import place, say
from ..support.light import OWN
from .session.session import Replay


class NotRunAgain(BaseException):
    """The replay ends here, because the script would go on outside of what a replay sees. Its text says why."""


def describe(replay: Replay, failure: BaseException) -> tuple[str, bool]:
    """How and where the script ended, and whether an added statement raised. The text is empty if the recorded run ended in the
    same way."""
    if isinstance(failure, NotRunAgain):
        return f"the replay ends early: {failure}", False
    added = _added(replay.versions, failure)
    if added is None and ended_so(replay, failure):
        return "", False
    iteration = replay.history.iteration(_native.raised_at())
    where = f" in {iteration}" if iteration else ""
    if added is not None:
        line = place(added.file, added.line, is_short=True)
        return f"the replay ended early: the added statement ({line}) raised {type(failure).__name__}{where}", True
    way_out = "; blocks were restored, --step-into all runs them again" if replay.has_restored else ""
    if isinstance(failure, SystemExit):
        return f"the script exited with code {failure.code}{where}, and the recorded run did not{way_out}", False
    return f"the script raised {type(failure).__name__}{where}, and the recorded run did not{way_out}", False


def is_unforeseen(replay: Replay, failure: BaseException) -> bool:
    """Whether the script ended in another way than the recorded run, or an added statement did not find a file."""
    if _added(replay.versions, failure) is not None:
        return isinstance(failure, FileNotFoundError)
    return not isinstance(failure, KeyboardInterrupt) and not ended_so(replay, failure)


def ended_so(replay: Replay, failure: BaseException) -> bool:
    """Whether the recorded run ended in the same way."""
    if isinstance(failure, SystemExit):
        return replay.history.run.status == f"exit {failure.code}"
    return replay.history.run.status == "exception"


def where_interrupted(failure: BaseException) -> str:
    """Where Ctrl-C came (` at train.py:3 in step`): the innermost line of the script's, else of a library, else of florc."""
    at, where, rank = failure.__traceback__, "", 0
    while at is not None:
        file = at.tb_frame.f_code.co_filename
        of = 1 if file.startswith((OWN, "<")) else 2 if "/lib/python3" in file else 3
        if of >= rank:
            rank, where = of, f" at {place(file, at.tb_lineno)} in {at.tb_frame.f_code.co_name}"
        at = at.tb_next
    return where


def tell(failure: BaseException, folder: str, ended: str) -> None:
    """Print the traceback as Python does, and `ended`, which is how and where the script ended."""
    if not isinstance(failure, (SystemExit, NotRunAgain)):
        stripped = launch.without_own_frames(failure.__traceback__)
        _print(failure.with_traceback(stripped))
    elif not ended and isinstance(failure, SystemExit):
        ended = f"the script exited with code {failure.code}"
    say(
        f"{ended or 'the script raised'}; what the script printed is in {os.path.join(folder, 'output')}",
        always=True,
        code="F503",
    )


def _print(failure: BaseException) -> None:
    """As Python prints it; a file that is asked something is shown with the questions."""
    if not asked.texts or sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(failure), failure, failure.__traceback__)
        return
    import linecache
    import traceback

    for file, text in asked.texts.items():
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    traceback.print_exception(failure)


def _added(versions: Versions, failure: BaseException) -> _native.Change | None:
    """The added statement that raised, itself or in what it called."""
    found, at = None, failure.__traceback__
    while at is not None:
        file, line = at.tb_frame.f_code.co_filename, at.tb_lineno
        for change in versions.changes:
            if not change.removed and change.file == file and change.line <= line <= change.end_line:
                found = change
        at = at.tb_next
    return found
