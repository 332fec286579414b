"""The run that a replay is of: found, opened, and what is amiss with it told."""

from __future__ import annotations

import os
from typing import Optional

from . import messages
from .history import History
from .launch import Unusable
from .messages import say
from .runs import Run, damaged, find, is_of, store_path, tell_kept

AGAIN = "_FLORC_REPLAY_AGAIN"
"""What an earlier attempt of the same replay leaves to this one (JSON): the blocks that it could not restore, with the
reasons, and how many bytes its probes wrote."""


def recorded_run(wanted: Optional[str], path: Optional[str]) -> Run:
    """The run to replay. Raises Unusable when there is none that can be."""
    run = find(store_path(), wanted, path)
    if run.is_running():
        raise Unusable(f"{run.id} is still being recorded")
    if run.source(str(run.info.get("script"))) is None:
        raise Unusable(f"the text of the script is not in {run.id} (it could not be written); record it again")
    return run


def opened(run: Run) -> History:
    """What a run recorded. What cannot be read of it is told."""
    history = History(run)
    if AGAIN not in os.environ:  # else it was said
        if history.damage is not None:
            say(history.damage, always=True)
        packs = history.damaged_packs()
        if packs:
            more = f" (and {messages.count(len(packs) - 1, 'other pack')})" if len(packs) > 1 else ""
            say(f"{packs[0]}{more}; the checkpoints in it are not used", always=True)
        tell_kept(run.store)
        for path, why in damaged(run.store):
            say(f"{path} is damaged: {why}; its run is passed over", always=True)
    return history


def tell_where(run: Run, path: Optional[str]) -> None:
    """Say where what is replayed lies, when it is not where it was recorded."""
    if AGAIN in os.environ:  # it was said
        return
    if run.moved is not None:
        say(f"what was recorded in {run.moved.old} is replayed in {run.moved.new}")
    elif path is not None and not is_of(run, path):
        say(f"{path} runs in the place of {run.info['script']}, with the files there")
