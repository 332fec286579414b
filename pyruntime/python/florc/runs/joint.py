"""The journals of ranks that ran together. A replay runs all of them, and each must take the same turns: where one restores a
block and another runs it, the one that runs waits in a collective call for ever. So every decision rests on what all journals
say."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _native
from ..project.script import Unusable
from ..support.light import suppress
from .catalog import of_rank
from .journal import History
from .run import Run


def histories(run: Run) -> list[History]:
    """What each rank of a run recorded, joined. Raises Unusable where a rank left nothing, or is still being recorded."""
    runs = [of_rank(run, number) for number in range(run.ranks)]
    for one in runs:
        if one.is_running():
            raise Unusable("F203", f"{run.id} is still being recorded: rank {one.rank} goes on")
        one.load()
        if not one.is_own and run.is_own:
            raise Unusable("F204", f"rank {one.rank} of {run.id} is not known to be yours; record the script again")
    found = [History(one) for one in runs]
    _join(found)
    return found


def of_one(run: Run) -> History:
    """What one rank recorded, joined with what the others did."""
    found: History = next(history for history in histories(run) if history.run.rank == run.rank)
    return found


def seen(run: Run) -> History:
    """What a run recorded, to be looked at: the first rank, with the others. Of a run that goes on, or of which a rank cannot be
    read, the first rank alone. Raises Unusable where that cannot be read."""
    if run.ranks > 1:
        with suppress(Unusable, _native.StoreError):
            return of_one(run)
    return History(run)


def _join(together: Sequence[History]) -> None:
    begun = [{_native.Path(key).name for key in history.block_seconds} for history in together]
    every = {key: _native.Path(key).name for history in together for key in history.checkpoints}
    kept = {
        key
        for key, block in every.items()
        if all(key in history.checkpoints or block not in known for history, known in zip(together, begun))
    }
    entered = {
        key: frozenset[_native.Function]().union(*(history.entered.get(key, frozenset()) for history in together))
        for key in kept
        if all(key in history.entered for history in together if key in history.checkpoints)
    }
    for history in together:
        history.together = together
        history.checkpoints = {key: checkpoint for key, checkpoint in history.checkpoints.items() if key in kept}
        history.boundaries = {
            place: {index for index in indices if str(_native.Path(place).at(index).start()) in kept}
            for place, indices in history.boundaries.items()
        }
        history.entered = {**entered}
        history.one_sided = {every[key] for key in kept if not all(key in other.checkpoints for other in together)}
