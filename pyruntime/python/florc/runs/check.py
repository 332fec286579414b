"""`florc check`: what is damaged of the recorded runs, and what can still be answered. Runs nothing of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _native
from ..project.script import Unusable
from ..support.console import answer, count, plain
from . import catalog, foreign
from .run import SEALED, Run, store_path

if TYPE_CHECKING:
    from ..support.arguments import Check

WHOLE, DAMAGED = 0, 1
_NEEDED_BY_NONE = "no run needs that (florc gc removes packs of which no run needs anything)"
_SPAWNED = "spawned"
"""The folder of a run in which its own processes are recorded (`process.spawned`)."""


class Found(NamedTuple):
    """What was found out about one run."""

    run: Run
    is_own: bool
    damage: list[str]
    """What of it is damaged, a sentence each."""
    restorable: int
    """Checkpoints of which every part is there."""
    checkpoints: int
    left: str
    """What can still be answered, where something is damaged."""


def check(arguments: Check) -> int:
    """Check the runs and say what was found; 0 when nothing is damaged, 1 when something is."""
    store, wanted = store_path(), arguments["run"]
    lost = [f"{path} is damaged: {why}" for path, why in catalog.damaged(store)]
    if wanted is None:
        runs = catalog.all_runs(store)
        if not runs and not lost:
            raise Unusable("F201", f"there are no recorded runs in {store}")
    else:
        script = wanted if wanted.endswith(".py") else None
        runs = [catalog.find(store, None if script else wanted, script)]
        lost.clear()
    bad_packs, unneeded = _bad_packs(store, runs, arguments["read_data"])
    found = [_check(one, bad_packs) for run in runs for one in _ranks(run, lost)]
    for run in runs:
        found += _of_spawned(run, lost)
    for one in found:
        answer((json.dumps(_described(one)) if arguments["json"] else _lines(one)) + "\n")
    others = [] if wanted is not None else [why for name, why in bad_packs.items() if not any(_is_of(name, run) for run in runs)]
    said = [("damage", "damaged", why) for why in [*lost, *others]]
    said += [("note", "note", f"{why}; {_NEEDED_BY_NONE}") for why in unneeded if wanted is None]
    for key, word, why in said:
        answer(json.dumps({key: why}) + "\n" if arguments["json"] else plain(f"{word:7}  {why}", "") + "\n")
    return DAMAGED if lost or others or any(one.damage for one in found) else WHOLE


def _of_spawned(run: Run, lost: list[str]) -> Iterator[Found]:
    """What is damaged of the processes that the script started itself, each call of which has a store of its own in the run."""
    with suppress(OSError):
        for name in sorted(os.listdir(run.own(_SPAWNED))):
            store = os.path.join(run.own(_SPAWNED), name)
            lost += [f"{path} is damaged: {why}" for path, why in catalog.damaged(store)]
            for inner in catalog.all_runs(store):
                yield from (one for one in (_check(rank, {}) for rank in _ranks(inner, lost)) if one.damage)


def _bad_packs(store: str, runs: list[Run], reads_data: bool) -> tuple[dict[str, str], list[str]]:
    """Packs of which a run needs what cannot be read, and why that is; and why what no run needs cannot be read."""
    for run in runs:
        try:
            reader = _native.RunReader(store, run.id, 0)
        except (_native.StoreError, ValueError):
            continue
        found = reader.check_packs(reads_data)
        bad = {name: why for name, why, is_needed in reversed(found) if is_needed}
        return bad, [why for _, why, is_needed in found if not is_needed]
    return {}, []


def _is_of(pack: str, run: Run) -> bool:
    return pack.startswith(f"{run.id}-{run.rank}-" if run.ranks else f"{run.id}-")


def _ranks(run: Run, lost: list[str]) -> list[Run]:
    """What each rank recorded of a run; `lost` gets what is wrong with those of which nothing can be read."""
    found = [run]
    for number in range(1, run.ranks):
        try:
            found.append(catalog.of_rank(run, number))
        except Unusable as error:
            lost.append(str(error))
    return found


def _check(run: Run, bad_packs: dict[str, str]) -> Found:
    damage = [why for name, why in sorted(bad_packs.items()) if _is_of(name, run)]
    if run.disagreeing:
        damage.append(f"{run.own('run.json')} does not agree with the journal ({', '.join(run.disagreeing)}); the journal counts")
    try:
        foreign.refuse_links(run)
        recorded = run.load()
    except Unusable as error:
        return Found(run, False, [*damage, str(error)], 0, 0, "nothing: it cannot be replayed")
    where = recorded.reader.damaged or (recorded.reader.torn if run.status != "killed" else None)
    if where:
        damage.append(f"{run.journal} is damaged at {where}; what the run recorded after that is lost")
    elif run.status == "cut off":
        damage.append(f"{run.journal} is cut off before the end of the run; what it recorded after that is lost")
    unwritten = max((record.records for _, record in recorded.records if isinstance(record, _native.Lost)), default=0)
    if unwritten:
        damage.append(
            f"{count(unwritten, 'record')} of {run.journal} could not be written when it was recorded: answers are unverified"
        )
    lost_sources = [*_lost_sources(run)]
    checkpoints = dict(_checkpoints(recorded.records))
    present: dict[str, bool] = {}
    lost = sum(not all(_has(recorded.reader, chunk, present) for chunk in chunks) for chunks in checkpoints.values())
    if lost:
        damage.append(f"{count(lost, 'checkpoint')} of {len(checkpoints)} cannot be read: their blocks run again")
    return Found(
        run,
        run.is_own,
        [*damage, *lost_sources],
        len(checkpoints) - lost,
        len(checkpoints),
        _left(run, bool(lost_sources), bool(where) or run.status == "cut off"),
    )


def _left(run: Run, has_lost_sources: bool, is_cut: bool) -> str:
    if has_lost_sources or run.info["script"] not in run.info.get("sources", {}):
        return "nothing: the text of the script as it was run is gone"
    return "up to the last whole iteration that the journal holds" if is_cut else "everything"


def _lost_sources(run: Run) -> Iterator[str]:
    for file in run.info.get("sources", {}):
        try:
            run.source(file)
        except Unusable as error:
            yield str(error)


def _checkpoints(records: list[tuple[str, _native._Record | None]]) -> Iterator[tuple[int, list[str]]]:
    """The chunks of each checkpoint that was not dropped, by its number."""
    dropped = {seq for _, record in records if isinstance(record, _native.Dropped) for seq in record.seqs}
    for _, record in records:
        if isinstance(record, _native.Checkpoint) and record.seq not in dropped:
            yield record.seq, record.chunks


def _has(reader: _native.RunReader, chunk: str, known: dict[str, bool]) -> bool:
    if chunk not in known:
        try:
            known[chunk] = reader.has_chunk(chunk)
        except (_native.StoreError, ValueError):
            known[chunk] = False
    return known[chunk]


def _described(found: Found) -> dict[str, Any]:
    return {
        "run": found.run.id,
        **({"rank": found.run.rank} if found.run.ranks > 1 else {}),
        "own": found.is_own,
        "status": found.run.status,
        "checkpoints": found.checkpoints,
        "restorable": found.restorable,
        "damage": found.damage,
        "answers": found.left if found.damage else "everything",
    }


def _lines(found: Found) -> str:
    run = found.run
    script = os.path.basename(run.info["script"])
    state = "damaged" if found.damage else "whole"
    whose = "" if found.is_own else ", not known to be yours" if found.damage or run.load().version >= SEALED else ", not sealed"
    which = f", rank {run.rank} of {run.ranks}" if run.ranks > 1 else ""
    out = [f"{state:7}  {run.id}{which}  {script}, {run.status}, {count(found.checkpoints, 'checkpoint')}{whose}"]
    out += [f"         {why}" for why in found.damage]
    if found.damage:
        out.append(f"         can still be answered: {found.left}")
    return "\n".join(plain(line, "") for line in out)
