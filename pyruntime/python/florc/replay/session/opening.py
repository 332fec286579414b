"""The run of a replay: florc finds it, opens it, and reports what is wrong with it."""

from __future__ import annotations

import json
import os

from ...process import start
from ...project.script import Unusable
from ...runs import foreign
from ...runs.catalog import damaged, find, is_of, of_rank
from ...runs.kept import tell_kept
from ...runs.run import Run, store_path
from ...support import console as messages
from ...support.console import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...runs.journal import History

WORKER = "_FLORC_REPLAY_WORKER"
"""The task of a worker (JSON): its window, and the file for its result."""
RANK = "_FLORC_REPLAY_RANK"
"""The task of one of several ranks (JSON): which rank, its window, and where its files go."""
AGAIN = "_FLORC_REPLAY_AGAIN"
"""What an earlier attempt of the same replay passes to this one (JSON): the blocks that it could not restore, with the reasons,
and how many bytes its probes wrote."""


def recorded_run(wanted: str | None, path: str | None, is_trusted: bool) -> Run:
    """The run to replay, in a process with its hash seed. If this process has another seed, the command starts again.

    Raises Unusable if no such run can be replayed, or if the run is foreign and not trusted.
    """
    run = _found(wanted, path, is_trusted)
    if RANK in os.environ:
        run = of_rank(run, json.loads(os.environ[RANK])["rank"])
        run.load()
    start.with_hash_seed(run.info["hash_seed"])
    return run


def _found(wanted: str | None, path: str | None, is_trusted: bool) -> Run:
    run = find(store_path(), wanted, path)
    if run.is_running():
        raise Unusable("F203", f"{run.id} is still being recorded")
    foreign.refuse_links(run)
    run.load()
    # a worker is started by a replay that was allowed to go on
    if not run.is_own and not _is_started():
        if not is_trusted:
            raise Unusable("F204", foreign.refusal(run))
        foreign.refuse_elsewhere(run, path)
    if run.source(run.info["script"]) is None:
        broken = run.load().reader.damaged or run.load().reader.torn
        if broken:
            raise Unusable(
                "F205",
                f"{run.journal} is damaged at {broken}, before it names the text of the script: record it "
                "again, or choose another run (`florc runs`)",
            )
        raise Unusable("F205", f"the text of the script is not in {run.id} (it could not be written); record it again")
    return run


def _is_started() -> bool:
    """Whether a replay that was allowed to go on started this process."""
    return WORKER in os.environ or RANK in os.environ


def opened(run: Run) -> History:
    """The history of a run. Prints messages about what cannot be read of it."""
    from ...runs.journal import History

    if run.ranks > 1:
        from ...runs import joint

        history = joint.of_one(run)
    else:
        history = History(run)
    if AGAIN not in os.environ:  # else it was said
        if not run.is_own and not _is_started():
            foreign.show(run)
        if history.damage is not None:
            say(history.damage, always=True, code="F205")
        packs = history.damaged_packs()
        if packs:
            more = f" (and {messages.count(len(packs) - 1, 'other pack')})" if len(packs) > 1 else ""
            say(f"{packs[0]}{more}; the checkpoints in it are not used", always=True, code="F205")
        if run.disagreeing:
            say(
                f"{run.own('run.json')} does not agree with the journal ({', '.join(run.disagreeing)}): florc uses the journal",
                always=True,
                code="F205",
            )
        tell_kept(run.store)
        for path, why in damaged(run.store):
            say(f"{path} is damaged: {why}; florc ignores its run", always=True, code="F205")
    return history


def tell_where(run: Run, path: str | None) -> None:
    """Say where the replay runs, if that is not where the run was recorded."""
    if AGAIN in os.environ:  # it was said
        return
    if run.moved is not None:
        say(f"what was recorded in {run.moved.old} is replayed in {run.moved.new}")
    elif path is not None and not is_of(run, path):
        say(f"{path} runs in the place of {run.info['script']}, with the files there")
