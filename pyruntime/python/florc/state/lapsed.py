"""Iterators that no checkpoint can put back where they were, in a block whose checkpoint is kept all the same: they *lapse*.

Node: `["lapsed", module, qualname, whether it does something when it is dropped]`. Mostly nobody takes from such an iterator
after the block (the training is over), or only blocks do that are restored, too. So a replay puts a `Lapsed` in its place.
Whoever does anything with that but hold it starts the replay again, with every block running that such an iterator came out of: a
wrong item is never given out.

Not noticed are `type(it) is …` and `id(it)`, and that Python drops it. A generator inside a `with`, `try` or `finally` does
something then (`ends.py`), so to drop one in the middle of the script counts as using it.

Only an iterator that nothing but the graph refers to may lapse: others would go on with the one that is there."""

from __future__ import annotations

import _weakref
import enum
import functools
import gc
import itertools
import os
import sys
import types

from .. import _native
from ..adapters import persistent, torch_data
from ..support.light import NamedTuple
from ..support.static import defines, module_of
from . import ends
from .atoms import ATOMS
from .kind import Kind
from .kinds import dotted, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer

_OWN = 2
"""References that asking for them makes: a name, and the argument."""
_MOST = 10_000
"""So many objects that lapse with an iterator are looked for; of all others, a change counts."""
_SHARED_BY_TEES = type(next(iter(gc.get_referents(itertools.tee(())[0]))))
_CONTAINERS = (dict, frozenset, list, set, tuple)


class Lapsing(enum.Enum):
    """Which iterators may lapse."""

    NONE = "none"
    ALONE = "alone"
    """Those that nothing but the graph refers to."""
    ANY = "any"
    """All: it is only to be compared with what was recorded."""


class Held(NamedTuple):
    """What holds objects of the state while it is encoded, and is florc's."""

    objects: Sequence[Any] = ()
    """What emitted code passed (`skipblock.end`),"""
    copies: Callable[[], Sequence[dict[str, Any]]] = tuple
    """and dicts of names; asked for only where an iterator lapsed."""


def may_lapse(obj: Any) -> bool:
    """Whether an iterator that is under way is one that may: not a file, nor what reads one."""
    kind = type(obj)
    if issubclass(kind, types.GeneratorType):
        return not obj.gi_running and obj.gi_frame is not None
    return module_of(kind) in ("builtins", "itertools") or torch_data.is_iterator_class(kind)


def encode(enc: Encoder, obj: Any) -> Node:
    name = type_name(type(obj))
    enc.lapsed[enc.current] = dotted(type(obj)).removeprefix("builtins.")
    return ["lapsed", *name, issubclass(type(obj), types.GeneratorType) and ends.runs_code(obj)]


def first_held(enc: Encoder, places: Sequence[dict[str, Any]], held: Held) -> int | None:
    """The node of a lapsed iterator to which something else refers, too; None where that makes no difference."""
    if not enc.lapsed or enc.lapsing is not Lapsing.ALONE:
        return None
    alone = {number for first, count in enc.holders()[0] for number in range(first, first + count)}
    return next((number for number in enc.lapsed if number not in alone and not _is_of_place(enc, number, places, held)), None)


def _is_of_place(enc: Encoder, number: int, places: Sequence[dict[str, Any]], held: Held) -> bool:
    """Whether nothing but one place and the graph refers to the object of a node."""
    obj = enc.object(number)
    of_places, passed = _count(obj, *(found.values() for found in places)), _count(obj, held.objects)
    if of_places != 1 or passed > 1:
        return False
    of_script = _references_in_call() if passed else 1
    of_script += persistent.is_iterator(obj) and persistent.is_held(obj)
    of_florc = of_places + _count(obj, *(names.values() for names in held.copies())) + enc.known_references(number)
    return sys.getrefcount(obj) - _OWN <= of_script + of_florc


def gone_with(enc: Encoder, references: Callable[[list[int]], list[int]], bound: Sequence[Any]) -> list[Any]:
    """The iterators that lapsed, or that others take the place of (`rebuilt`), and what only they lead to: the loader that a
    generator took from, and its order. `references`: how many florc has to the objects at some addresses; `bound`: what names
    hold now that the block binds: a checkpoint has it, or nobody reads it."""
    found = {id(obj): obj for obj in map(enc.object, (*enc.lapsed, *enc.rebuilt))}
    known: dict[int, int] = {}
    for obj in bound:
        known[id(obj)] = known.get(id(obj), 0) + 2  # the name, and `bound`
    others: dict[int, Any] = {}
    new = list(found.values())
    while new and len(found) < _MOST:
        for obj in gc.get_referents(*new):
            known[id(obj)] = known.get(id(obj), 0) + 1
            # a frame refers to what its generator refers to, by the same references
            if id(obj) not in found and type(obj) not in ATOMS and type(obj) is not types.FrameType:
                others[id(obj)] = obj
        obj = None
        own = dict(zip(others, references(list(others))))
        new.clear()
        for address in list(others):
            if sys.getrefcount(others[address]) - _OWN <= known[address] + own[address]:
                obj = found[address] = others.pop(address)
                if type(obj) not in _CONTAINERS or len(obj) < _MOST:
                    new.append(obj)
    return list(found.values())


def why_missed(enc: Encoder, gone: Sequence[Any], is_ours: Callable[[type], bool]) -> str | None:
    """Why somebody would miss lapsed iterators, or what only they lead to, without using them; None where nobody would.

    A generator that one of them takes from, or an object with a `__del__` of the project's, runs code when it is dropped. Weak
    references, and finalizers, see that an object is gone. The iterators that `itertools.tee` made share what they took."""
    lapsed = {id(enc.object(number)) for number in enc.lapsed}
    for obj in gone:
        kind = type(obj)
        is_iterator = id(obj) in lapsed
        if not is_iterator and issubclass(kind, types.GeneratorType) and ends.runs_code(obj):
            return f"the generator {obj.gi_code.co_name}, which it holds, does something when it is dropped"
        if not is_iterator and defines(kind, "__del__") and is_ours(kind):
            return f"a {dotted(kind)}, which it holds, does something when it is dropped"
        if (is_iterator or is_ours(kind)) and _weakref.getweakrefcount(obj):
            return f"weak references lead to a {dotted(kind)}, which goes with it"
    known = set(map(id, gone))
    if any(type(obj) is _SHARED_BY_TEES and id(obj) not in known for obj in gc.get_referents(*gone)):
        return "another iterator of itertools.tee shares what it takes"
    return None


def _count(obj: Any, *held: Iterable[Any]) -> int:
    found = 0
    for objects in held:
        for other in objects:
            found += other is obj
    return found


@functools.cache
def _references_in_call() -> int:
    """How many references there are to what one name of a function holds, while emitted code passes it."""

    def call() -> int:
        held = object()
        return _native.references_in_call("", held)[0]

    return call()


_process = os.getpid()
_leave: Callable[[str], Any] | None = None


def watch(leave: Callable[[str], Any] | None) -> None:
    """Have this called when one is used, with its class; None: the script is over, and what happens now is nobody's use."""
    global _leave, _process
    _leave, _process = leave, os.getpid()


def _used(obj: Any) -> Any:
    own = object.__getattribute__(obj, "_of")
    if _leave is not None and os.getpid() == _process:
        _leave(own)
    raise RuntimeError(f"florc: a replay restored a block, and with it no {own}, which another process uses now")


class _Unnoticed(type):
    """Whoever asks the class for something asks what it stands for, once something does. A loop over all objects meets the class
    alone, and looks whether it is something else: that is no use."""

    def __getattribute__(cls, name: str) -> Any:
        _of_class(name)
        return type.__getattribute__(cls, name)

    def __repr__(cls) -> str:
        _of_class("__repr__")
        return type.__repr__(cls)

    def __eq__(cls, other: object) -> bool:
        if cls is not other:
            _of_class("__eq__")
        return cls is other

    def __hash__(cls) -> int:
        _of_class("__hash__")
        return type.__hash__(cls)


_is_made = False
"""Whether one stands anywhere."""


def _of_class(name: str) -> None:
    if _is_made and name != "__class__" and _leave is not None and os.getpid() == _process:
        _leave(f"iterator, of which the class was asked for {name},")


def _use(obj: Any, *_: Any, **__: Any) -> Any:
    return _used(obj)


def _drop(obj: Any) -> None:
    if object.__getattribute__(obj, "_ends") and _leave is not None and not sys.is_finalizing():
        _used(obj)


_ASKED = (
    "iter next len bool repr str format hash eq ne lt le gt ge contains getitem setitem delitem length_hint dir sizeof"
    " setattr delattr"
)
Lapsed: Any = _Unnoticed(
    "Lapsed",
    (),
    {
        "__slots__": ("_ends", "_instead", "_of", "__weakref__"),
        "__doc__": "Stands where an iterator was.",
        **{f"__{name}__": _use for name in _ASKED.split()},
        "__getattribute__": _use,
        "__del__": _drop,
    },
)


class _Workers:
    """Stands in a data loader for the iterator whose workers live on. To begin a pass, and to take an item, is to use them; to
    look what it is, and to end them, is not: libraries do so when a training is over."""

    def __init__(self, name: str, live: Any):
        self._of, self._instead = name, live

    def _shutdown_workers(self) -> None:
        if self._instead is not None:
            self._instead._shutdown_workers()

    def __getattr__(self, name: str) -> Any:
        return _used(self)

    __iter__ = __next__ = _use


def lapse_workers(loader: Any, name: str) -> None:
    """A block was restored in which the workers of a data loader (`adapters.persistent`) made a pass."""
    there = vars(loader).get("_iterator")
    if type(there) is not _Workers:
        vars(loader)["_iterator"] = _Workers(name, there)


def is_lapsed(obj: Any) -> bool:
    """Whether an object stands for an iterator that was not restored."""
    return type(obj) is Lapsed


class _Kind(Kind):
    """A new one, which holds the iterator that it takes the place of: whatever that does when it is dropped, it is not yet."""

    immutable = True

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        return type(live) is Lapsed or type_name(type(live)) == (node[1], node[2])

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        global _is_made
        made, _is_made = object.__new__(Lapsed), True
        object.__setattr__(made, "_of", f"{node[1]}.{node[2]}".removeprefix("builtins."))
        object.__setattr__(made, "_ends", bool(node[3]))
        object.__setattr__(made, "_instead", r.live_of(index))
        return made

    def same(self, made: Any, live: Any) -> bool:
        if type(live) is not Lapsed:
            return False
        object.__setattr__(made, "_ends", False)  # it goes, and nobody dropped it
        return True


def _encode_again(enc: Encoder, obj: Any) -> Node:
    module, _, name = object.__getattribute__(obj, "_of").rpartition(".")
    return ["lapsed", module or "builtins", name, object.__getattribute__(obj, "_ends")]


ENCODERS: dict[type, Encode] = {Lapsed: _encode_again}
KINDS: dict[str, Kind] = {"lapsed": _Kind()}
