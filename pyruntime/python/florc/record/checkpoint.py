"""What a block's checkpoint holds, or why it has none. Changes nothing: a forked child asks, too."""

from __future__ import annotations

import sys
from types import FrameType

from .. import _native
from ..adapters import persistent
from ..plan import places
from ..plan.places import BOUNDARY
from ..support import mishaps
from ..support.console import cell_of, place
from ..support.light import NamedTuple, dumps
from ..support.static import is_users_code, name_of, static
from ..survey import classes, settings
from ..survey.survey import Again, Change, Survey
from ..survey.witness import Left, Witness, lost_names
from . import dead_values, gradients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from .. import state


_MOST_LINES = 5
_WORKERS_LIVE_ON = (
    "the workers of a DataLoader live on between passes (persistent_workers=True), and what they hold is out of sight"
)
_MOST_UNFORESEEN = 16
"""So many places that its plan does not foresee a block may have; more are a sign that florc reads it wrongly."""


class Open(NamedTuple):
    """A block that is running."""

    block: str
    key: str
    started: float
    charged: float
    before: places.Before
    survey: Survey | None
    settings: settings.Settings[str, Any]
    """Of the process, when it began."""
    walks: int
    """How often state had been encoded by then."""
    looking: float = 0.0
    """Seconds that florc took when it began."""


def walks() -> int:
    """How often state was encoded so far; no reason to import what encodes."""
    encoding: Any = sys.modules.get("florc.state.encode")
    return encoding.walks() if encoding is not None else 0


class NotKept(Exception):
    """There is no checkpoint. `final`: nor will there be one of another execution of the block."""

    def __init__(self, why: str, final: bool = False):
        super().__init__(why)
        self.why = why
        self.final = final


class Answer(NamedTuple):
    """A checkpoint, its leaves still in the script's memory or in a device's."""

    header: str
    encoded: state.Encoded
    once: float
    """Seconds of what was done for it and will not be done again."""
    replaces: bool
    """Whether only the survey could tell of an object that the block put in the place of another one."""

    @property
    def nbytes(self) -> int:
        """Bytes of the graph and the leaves."""
        return len(self.encoded.graph) + self.encoded.nbytes


class _Unforeseen(Exception):
    """A place has to be in the checkpoint that the plan does not foresee."""


def answer(
    current: Open,
    computed: float,
    objects: Sequence[Any],
    frame: FrameType,
    unforeseen: list[str],
    witness: Witness,
    may_copy: bool = True,
) -> Answer:
    """The checkpoint of a block that ran for `computed` seconds. `unforeseen`: names of places that executions of the block were
    seen to change, and that its plan does not know (`survey.Change.place`); those that this one changes are added. Raises
    NotKept, and NeedsCopy unless it `may_copy`."""
    while True:
        try:
            return _answer(current, computed, objects, frame, unforeseen, witness, may_copy)
        except _Unforeseen:  # it is in the list now
            continue
        except NotKept:
            if current.survey is None or not current.survey.gives_up(unforeseen):
                raise


def _answer(
    current: Open,
    computed: float,
    objects: Sequence[Any],
    frame: FrameType,
    unforeseen: list[str],
    witness: Witness,
    may_copy: bool,
) -> Answer:
    from .. import state  # takes long to import, and most runs of few seconds keep nothing
    from ..state import once

    is_start = current.block.endswith(BOUNDARY)  # of an iteration, which goes on with what there is
    if is_start and persistent.begun_since(0.0):
        raise NotKept(_WORKERS_LIVE_ON, final=True)
    before, learned = once.seconds, classes.once[0]
    loop = places.loops[current.block]
    again = None if current.survey is None else current.survey.again(frame)
    try:
        found = places.gather(loop, objects, frame)
        found.update(places.named(frame, unforeseen))
        deleted = [name for name in unforeseen if name not in found and name in current.before.places]
        if deleted:
            name = deleted[0].removeprefix(places.OF_FUNCTION).lstrip(":")
            raise NotKept(f"it deletes {name}, which its plan does not foresee{_where(loop)}")
        outside = places.outside(loop, frame)
        names = {name: value for name, value in outside.items() if current.before.names.get(name) == id(value)}
        seen = set(names)
        paths = None if again is None else lambda walk: again.paths(walk, seen)
        names = {name: value for name, value in names.items() if name not in found}
        dead, forms = ({}, {}) if is_start else dead_values.of_block(loop, frame)
        lapsing = state.Lapsing.NONE if is_start else state.Lapsing.ALONE
        held_by = state.Held(objects) if again is None else state.Held(objects, again.copies)

        def encode(*held: dict[str, Any]) -> state.Encoded:
            since = current.walks
            return state.encode(
                *held,
                gradients=gradients.kept_of(current.block, loop),
                names=names,
                paths=paths,
                may_copy=may_copy,
                since=since,
                lapsing=lapsing,
                held=held_by,
            )

        try:
            encoded = encode(found, dead)
        except state.Unsupported:
            if not dead:
                raise
            dead = {}
            encoded = encode(found)
        if gradients.are_missing(current.block, encoded.encoder):
            encoded = encode(found, dead)
    except places.Consumed as error:
        raise NotKept(f"{error} is an iterator made outside the loop", final=True) from None
    except state.Unsupported as error:
        raise NotKept(str(error)) from None
    _check(current, loop, again, encoded.encoder, frame, found, unforeseen)
    walked = encoded.encoder
    _refuse_fixed(walked, loop, found, frame)
    origins = places.origins(loop, current.before, found)
    _refuse_moved(again, walked, found, origins, unforeseen)
    replaces = again is not None and again.tell_new(walked)
    alone, lone_memory = walked.holders()
    header = dumps(
        {
            "block": current.block,
            "key": current.key,
            "places": [*found, *dead],
            "names": walked.names,
            "dead": [*dead, *dead_values.known_by_place(loop, found)],
            "forms": forms,
            "gradients": gradients.kept_of(current.block, loop),
            "leaves_gradients": bool(walked.left_gradients),
            "alone": alone,
            "lone_memory": lone_memory,
            "lapsed": sorted({*walked.lapsed.values(), *persistent.begun_since(current.started)}),
            "seconds": computed,
            "origins": origins,
            "witness": _witnessed(witness, current.block, loop, found, frame),
        }
    )
    return Answer(header, encoded, once.seconds - before + classes.once[0] - learned, replaces)


def _witnessed(witness: Witness, block: str, loop: _native.Loop, held: Collection[str], frame: FrameType) -> dict[str, str]:
    """Digests of what the program's names lead to, but for what the block leaves in names that nobody reads."""
    with mishaps.Swallow(f"taking the witness of {block}"):
        whole = places.loops.get(block.removesuffix(BOUNDARY), loop)
        binds = {*loop.binds, *whole.binds}

        def lost(file: str, function: str) -> set[str]:
            return lost_names((held for held in places.loops.values() if held.file == file), function)

        cells = binds.union(place.name for place in loop.places if place.bound and place.name in held)
        left = Left(lost, binds.difference(held), cells)
        return witness.take(frame, left, gradients.kept_of(block, loop))
    return {}


def _where(loop: _native.Loop) -> str:
    """Where an unforeseen change may have happened: most likely where florc cannot see into what is called."""
    lines = [line for line in loop.unseen if loop.line <= line <= loop.end_line][:_MOST_LINES]
    where = f" ({place(loop.file, loop.line, is_short=True)}"
    called = ", ".join(str(cell_of(loop.file, line)[1]) for line in lines)
    return where + (f"; what florc cannot see into is called in line {called})" if lines else ")")


def _refuse_fixed(walked: Any, loop: _native.Loop, found: dict[str, Any], frame: FrameType) -> None:
    """A lapsed iterator needs a place where another object can be put. Raises NotKept."""
    for number, kind in walked.lapsed.items():
        for held in loop.places:
            is_fixed = not held.bound and not places.is_global(frame, held.name)
            if is_fixed and found.get(held.name) is walked.object(number):
                raise NotKept(f"{held.name}: an iterator ({kind}) cannot be restored in place")


def _refuse_moved(
    again: Again | None, walked: Any, found: dict[str, Any], origins: dict[str, str | None], unforeseen: list[str]
) -> None:
    """Objects that were elsewhere when the block began are not found by their places: `queue.append(queue.pop(0))`. That matters
    where something else refers to them, too, and no way leads from a name to that. Raises NotKept."""
    moved = set() if again is None else again.moved(walked) - walked.located
    if not moved:
        return
    # a place of the plan may have the object of another one: that is told by `origins`
    located = [
        value for name, value in found.items() if name not in origins or name not in unforeseen and origins[name] is not None
    ]
    moved -= {walked.number(value) for value in located}
    for first, count in walked.holders()[0]:
        moved.difference_update(range(first, first + count))
    if moved:
        kind = name_of(type(walked.object(min(moved))))
        raise NotKept(f"it moves objects ({kind}) that something else refers to, too")


def _runs_code(loop: _native.Loop, frame: FrameType) -> bool:
    """Whether to bind what the plan binds runs code of the user's, which may change once more what is restored beside it."""
    paths = [(held.name.rpartition(".")[0], held.in_globals) for held in loop.places if held.bound and "." in held.name]
    kinds = [type(places.read(frame, path, in_globals)) for path, in_globals in paths]
    return any(is_users_code(static(kind, "__setattr__")) for kind in kinds)


def _leads_there(changed: Change, frame: FrameType) -> bool:
    """Whether the names lead to what changed still: they may have been bound to another object since the block began."""
    if changed.around is None:
        return True
    place, obj = changed.around
    return places.named(frame, [place]).get(place) is obj


def _none(addresses: list[int]) -> list[int]:
    """Without a survey, nothing of florc's refers to them."""
    return [0] * len(addresses)


def _check(
    current: Open,
    loop: _native.Loop,
    again: Again | None,
    encoder: Any,
    frame: FrameType,
    found: dict[str, Any],
    unforeseen: list[str],
) -> None:
    """Whether a checkpoint of what was encoded, at the places in `found`, would be all that the block changes. Raises NotKept,
    and _Unforeseen."""
    from .. import state

    gone: list[Any] = []
    if encoder.lapsed or encoder.rebuilt:
        own = _native.names_of(frame)
        bound = [places.read(frame, name, False, own) for name in loop.binds]
        del own  # references are counted
        gone = state.gone_with_lapsed(encoder, again.references if again else _none, bound)
        del bound
        why = state.why_lapsed_are_missed(encoder, gone, again.is_ours if again else bool)
        if why:
            raise NotKept(f"an iterator cannot be restored, and would be missed: {why}")
    held = [name for name in unforeseen if name in found]
    changed = again and again.change(loop, encoder, set(map(id, gone)), held)
    if changed:
        is_new = changed.place is not None and changed.place not in unforeseen and len(unforeseen) < _MOST_UNFORESEEN
        if changed.place is not None and is_new and not _runs_code(loop, frame) and _leads_there(changed, frame):
            unforeseen.append(changed.place)
            if changed.is_of_library and current.survey is not None:
                current.survey.tries(changed.place)
            if not changed.is_rebound:  # the survey found the same object again
                current.before.places.update((name, id(value)) for name, value in places.named(frame, [changed.place]).items())
            raise _Unforeseen
        if changed.is_of_library and changed.place is not None and current.survey is not None:
            current.survey.tries(changed.place)
            current.survey.gives_up(unforeseen)
            raise _Unforeseen
        raise NotKept(f"it changes {changed.words}, which its plan does not foresee{_where(loop)}")
    exchanged = state.exchanged(current.before.data, encoder)
    if exchanged:
        raise NotKept(f"it exchanges data that a {exchanged} of a dataset holds")
    if loop.differentiated and encoder.histories:
        raise NotKept(state.NO_HISTORY, final=True)
