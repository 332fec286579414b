"""Ranks that the script starts itself, in a replay: where it calls `torch.multiprocessing.spawn`, the recorded ranks of that call
are replayed together, and what they find is part of what this replay finds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from ... import _native
from ...process.spawned import FOLDER, Ended, Places
from ...project.script import Unusable
from ...runs.catalog import all_runs, of_rank
from ...runs.found_files import Noted
from ...runs.journal import History
from ..session.others import Others
from ..session.result import ReplayResult
from ..session.started import STARTED
from . import ranks

if TYPE_CHECKING:
    from ...runs.run import Run

_HANDED_ON = ("--allow-drift", "--json", "--trust", "--quiet", "-q")
"""Options of a replay that are for its ranks, too."""


class Calls:
    """The calls of one replay. `folder`: for the files of the ranks; `others`: what the script starts besides; `answering`: the
    context in which answers reach the user, None where nothing is asked; `captures`: whether they are kept as values instead;
    `show`: told the folder of the view of ranks, and the paths that they wrote when they were recorded."""

    def __init__(
        self,
        run: Run,
        folder: str,
        others: Others,
        answering: Callable[[], AbstractContextManager[Any] | None],
        captures: bool,
        show: Callable[[str, Iterable[str]], set[str]],
    ):
        self._run, self._folder, self._others, self._answering, self._captures = run, folder, others, answering, captures
        self._show = show
        self.written: set[str] = set()
        """What ranks wrote in this replay, as they did in the recorded run."""
        self._places, self._calls = Places(), set[str]()
        self._plain: list[str] = []
        """Calls whose processes ran as they do without florc."""
        self._damaged: list[str] = []
        """What of the record of others cannot be read."""
        self.found = ReplayResult()

    def call(
        self, itself: Callable[..., Any], fn: Any, args: Any, nprocs: int, join: bool, daemon: bool, start_method: str
    ) -> Any:
        """Stands in the place of `start_processes`. A call that florc has no ranks of runs as it does without florc: the verdict
        tells of what is not answered there."""
        store = self._places.store(self._run.own(FOLDER))
        self._calls.add(os.path.basename(store))
        nested = self._recorded(store, nprocs) if start_method == "spawn" else None
        if nested is None:
            self._plain.append(_said(os.path.basename(store)))
            return itself(fn, args, nprocs, join, daemon, start_method)
        folder = os.path.join(self._folder, f"{FOLDER}-{len(self._calls)}")
        os.mkdir(folder, 0o700)
        words = ["replay", *(word for word in STARTED.words if word in _HANDED_ON)]
        if self._captures and "--json" not in words:
            words.append("--json")
        answering = self._answering()
        with answering or nullcontext(), self._others.florcs():
            paths = {path for number in range(nprocs) for path in History(of_rank(nested, number)).noted_files()}
            words += [nested.id, nested.info["script"]]
            found = ranks.replay(
                nested, None, folder, words=words, take=lambda view: self.written.update(self._show(view, paths))
            )
        if answering is None:
            found = found._replace(values=[])
        self.found = self.found.followed_by(_of_script(found, nested))
        return None if join else Ended(nprocs)

    def missing(self) -> list[str]:
        """Sentences about calls of the recorded run that this replay did not come to."""
        with suppress(OSError):
            gone = sorted({*os.listdir(self._run.own(FOLDER))} - self._calls)
            return [f"{_said(name)}: did not start the processes that the recorded run started there" for name in gone]
        return []

    def unanswered(self) -> list[str]:
        """Sentences about calls whose processes ran without florc: where added statements ran in those of others, and where what
        was recorded of them is damaged."""
        if self._damaged:
            return [f"{why}; the processes started there ran without florc" for why in dict.fromkeys(self._damaged)]
        if not any(ran.answered for ran in self.found.statements.values()):
            return []
        why = "the processes started there ran without florc: nothing is recorded of what added statements print there"
        return [f"{name}: {why}" for name in dict.fromkeys(self._plain)]

    def _recorded(self, store: str, nprocs: int) -> Run | None:
        """The ranks of a call that can be replayed, if there were so many."""
        ranks = _ranks(self._run, store, self._damaged)
        return ranks[0] if len(ranks) == nprocs else None


def noted_files(run: Run) -> dict[str, Noted]:
    """What is known of the files that ranks of the script's calls changed: for the script, they change where it calls. Only of
    calls whose ranks are replayed."""
    found: dict[str, Noted] = {}
    with suppress(OSError):
        for name in sorted(os.listdir(run.own(FOLDER)), key=_order):
            for rank in _ranks(run, os.path.join(run.own(FOLDER), name)):
                for path, noted in History(rank).noted_files().items():
                    noted.places, noted.removed, noted.brief = [_path(name)], [], []
                    known = found.get(path)
                    found[path] = noted if known is None else known.followed_by(noted)
    return found


def _ranks(run: Run, store: str, damaged: list[str] | None = None) -> list[Run]:
    """The ranks of a call, if they came to their end, can be started again, and are as much the user's own as the run of the
    script. `damaged` gets what cannot be read."""
    damaged = [] if damaged is None else damaged
    try:
        runs = all_runs(store)
        each = [of_rank(runs[0], number) for number in range(runs[0].ranks or 0)] if len(runs) == 1 else []
        for rank in each:
            reader = rank.load().reader
            if reader.damaged or rank.status == "cut off":
                damaged.append(f"{rank.journal} is damaged at {reader.damaged or reader.torn or 'its end'}")
        if all(History(rank).sent is not None and rank.status == "ok" and (rank.is_own or not run.is_own) for rank in each):
            return each
    except (Unusable, _native.StoreError) as error:
        damaged.append(str(error))
    return []


def _order(name: str) -> int:
    """The calls of one place, in their order."""
    return int(name.rpartition("-")[2])


def _path(name: str) -> str:
    """The place of a call in the loop nest, by the name of its store (`Places`)."""
    return "" if _said(name) == "top" else _said(name)


def _said(name: str) -> str:
    """The same, as a word."""
    return name.rpartition("-")[0].replace(",", "/")


def _of_script(found: ReplayResult, nested: Run) -> ReplayResult:
    """What ranks found, which have the script as a module: its statements go by the names that they have in the script."""
    nested.load()
    own = str(nested.info["sources"][nested.info["script"]]["module"]) + "."
    statements = {name[len(own) :] if name.startswith(own) else name: ran for name, ran in found.statements.items()}
    return found._replace(statements=statements)
