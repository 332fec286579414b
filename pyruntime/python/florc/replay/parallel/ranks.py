"""The replay of a run of several ranks: one process for each, which meet on this machine. Their answers are put together in the
order of ranks.

Each process decides from the journals of all ranks what it restores (`runs.joint`), so all restore the same blocks. Where one
turns out to be unable to, all start again, with that block run by all."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ...plan.window import Window
from ...process import launcher, start
from ...project import asked
from ...project.script import SPAWNED
from ...runs.catalog import of_rank
from ...runs.found_files import FOLDER_NAME
from ...support.console import count, duration, exit_at_once, hand_on, say
from ..files.user_files import Shared
from ..session.opening import AGAIN, RANK
from ..session.result import ReplayResult
from ..session.started import STARTED
from . import served
from .workers import Local, end_all, end_with_parent, ending, errors_of, print_file, tail

if TYPE_CHECKING:
    from ...runs.run import Run

_LEAST_PATIENCE_S = 60.0
"""So long at least a rank may go on after another one has ended; else twice as long as that one took."""
_START_AGAIN = 75
"""The exit code of a rank for which all start again."""


class RankTask(NamedTuple):
    """What one of several ranks has to do. `base`: what the names of its files begin with."""

    rank: int
    window: Window | None
    base: str

    @property
    def result(self) -> str:
        """The file for what it found."""
        return self.base + ".json"

    @property
    def files(self) -> Shared:
        """What all ranks see of the user's files."""
        return Shared(os.path.join(os.path.dirname(self.base), FOLDER_NAME))

    def to_json(self) -> dict[str, Any]:
        """What the environment variable RANK says in a process which this one starts."""
        window = self.window and self.window.to_json()
        return {"rank": self.rank, "window": window, "base": self.base, "parent": os.getpid()}

    @classmethod
    def of_this_process(cls) -> RankTask | None:
        """The task of this process; None if it is no rank. Processes that the script starts are no ranks."""
        told = os.environ.pop(RANK, None)
        if told is None:
            return None
        read = json.loads(told)
        end_with_parent(read["parent"])
        return cls(read["rank"], read["window"] and Window(**read["window"]), read["base"])

    def start_again(self, blocks: dict[str, str], is_damaged: bool) -> NoReturn:
        """End this process: all ranks start again, and run these blocks. In the next attempt it may be another rank that finds a
        reason."""
        with open(self.base + ".again", "w", encoding="utf-8") as file:
            json.dump({"blocks": blocks, "damaged": is_damaged}, file)
        exit_at_once(_START_AGAIN)


class _Rank:
    """The process of a rank."""

    def __init__(self, run: Run, task: RankTask, port: int, again: dict[str, Any], words: list[str]):
        self.task, self._begun, self.took = task, time.perf_counter(), 0.0
        given = {**STARTED.environment, RANK: json.dumps(task.to_json()), **asked.hand_on(os.path.dirname(task.base))}
        if run.info["module"] == SPAWNED:  # the script itself tells its ranks where they meet
            given[start.SPAWNED] = json.dumps({"store": run.store, "script": run.info["script"]})
        else:
            given.update(launcher.again(run.info["ranks"], port))
        if again:
            given[AGAIN] = json.dumps(again)
        environment = start.environment(run.info["hash_seed"], given)
        forked = served.process(run, task.rank, words, environment, self.out, self.log, task.to_json())
        self.process = forked or Local(start.command(*words), environment, self.out, self.log)

    @property
    def out(self) -> str:
        """The file with what its probes printed."""
        return self.task.base + ".out"

    @property
    def log(self) -> str:
        """The file with its messages."""
        return self.task.base + ".log"

    @property
    def again(self) -> dict[str, Any] | None:
        """For which blocks all start again; None if this rank has no reason to."""
        if self.process.poll() != _START_AGAIN:
            return None
        with open(self.task.base + ".again", encoding="utf-8") as file:
            found: dict[str, Any] = json.load(file)
        return found

    def is_over(self) -> bool:
        """Whether it has ended."""
        if self.process.poll() is None:
            return False
        self.took = self.took or time.perf_counter() - self._begun
        return True


def be_the_only_one(run: Run) -> None:
    """Give this process the environment of a rank that a launcher had started alone."""
    given = launcher.again(run.info["ranks"], _free_port())
    os.environ.update(given)
    STARTED.environment.update(given)


def replay(
    run: Run,
    window: Window | None,
    folder: str,
    shown: int | None = None,
    words: list[str] | None = None,
    take: Callable[[str], None] = lambda view: None,
    renew: Callable[[], None] = lambda: None,
) -> ReplayResult:
    """Answer with all ranks of a run. `shown`: the rank whose lines are printed; None: those of all. The files of the processes
    are in `folder`. `words`: of the command of each, if it is not this process's own. `take`: told the folder of the view that
    they shared, before it is removed; `renew`: called before they start again."""
    again: dict[str, Any] = {}
    attempt = 0
    while True:
        attempt += 1
        base = os.path.join(folder, f"attempt-{attempt}-")
        files = Shared(os.path.join(folder, FOLDER_NAME))
        ranks = _start(run, window, base, files, again, STARTED.words if words is None else words)
        try:
            found = _wait(ranks)
            if found is None:
                take(files.folder)
        finally:
            end_all([rank.process for rank in ranks])
            files.end()
        if found is None:
            merged = _merged(ranks, shown)
            restarts = launcher.restarts(run.info["ranks"])
            if restarts:
                times = count(restarts, "time")
                merged.unrecorded.append(
                    f"the launcher had started these ranks {times} before: those are runs of their own (florc runs)"
                )
            return merged
        renew()
        again = found if not again else {**found, "blocks": {**again["blocks"], **found["blocks"]}}


def _start(run: Run, window: Window | None, base: str, files: Shared, again: dict[str, Any], words: list[str]) -> list[_Rank]:
    port = _free_port()
    started: list[_Rank] = []
    files.begin()
    try:
        for number in range(run.ranks):
            task = RankTask(number, window, f"{base}rank-{number}")
            started.append(_Rank(of_rank(run, number), task, port, again, words))
    except BaseException:
        end_all([rank.process for rank in started])
        files.end()
        raise
    return started


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _wait(ranks: list[_Rank]) -> dict[str, Any] | None:
    """Wait for the ranks; not for ever for one that another has left alone. What one says of starting again; None if none
    does."""
    while True:
        over = [rank for rank in ranks if rank.is_over()]
        for rank in over:
            if rank.again is not None:
                return rank.again
        if len(over) == len(ranks):
            return None
        if over:
            patience = max(_LEAST_PATIENCE_S, 2 * min(rank.took for rank in over))
            since = min(rank.took for rank in over)
            if max(time.perf_counter() - rank._begun for rank in ranks) - since > patience:
                return None
        time.sleep(0.01)


def _merged(ranks: list[_Rank], shown: int | None) -> ReplayResult:
    """Print what the probes printed, in the order of ranks, and merge what the ranks found."""
    results = [ReplayResult.load(rank.task.result) for rank in ranks]
    printed = [os.path.getsize(rank.out) > 0 or _has_errors(rank) for rank in ranks]
    several = sum(printed) > 1 and shown is None
    whole = ReplayResult()
    for rank, result, has_printed in zip(ranks, results, printed):
        number = rank.task.rank
        if several and has_printed:
            say(f"rank {number}:", always=True)
        if shown in (None, number):
            print_file(rank.out, errors_of(rank.task.result))
        if result is None:
            result = ReplayResult(
                anomalies=[f"rank {number} gave no answer: {ending(rank.process.poll())}; its log is {rank.log}"]
            )
            _show(rank)
        elif result.ended:
            _show(rank)
        whole = _beside(whole, result.of_rank(number))
    return whole


def _has_errors(rank: _Rank) -> bool:
    """Whether its probes wrote to standard error."""
    with contextlib.suppress(OSError):
        return os.path.getsize(errors_of(rank.task.result)) > 0
    return False


def _show(rank: _Rank) -> None:
    say(f"the last lines of rank {rank.task.rank}, after {duration(rank.took)}:", always=True)
    for line in tail(rank.log, errors_of(rank.task.result)):
        hand_on(line)


def _beside(one: ReplayResult, other: ReplayResult) -> ReplayResult:
    """Two ranks: what both did is what the replay did."""
    both = one.followed_by(other)
    entered = {block: max(one.entered.get(block, 0), other.entered.get(block, 0)) for block in both.entered}
    return both._replace(entered=entered, reasons={**other.reasons, **one.reasons})
