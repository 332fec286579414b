"""Places -> one object graph and raw byte leaves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from .. import _native
from ..support.light import Uncollected
from ..support.static import all_slots
from . import classify, generators, lapsed, mappings, modules, objects, once, owners, paths, sequences, tensors
from .atoms import atom_of
from .by_name import name_of_globals
from .kinds import CONTENT_BASES, FORMAT, OWNER, RANDOM, Encoded, NeedsCopy, Refused, Unsupported, is_ref, type_name
from .references import encode_named, encode_proxy, encode_weakref, found_under, refuse_opaque_root

LIGHT_NODES = 5000
"""A dataset may be a large tree of Python objects: beyond this many nodes the rest is kept as it is."""
LIGHT_ITEMS = 1000
NOBODY = lapsed.Held()


def encode(
    places: dict[str, Any],
    dead: dict[str, Any] | None = None,
    *,
    gradients: bool = False,
    outputs: Iterable[str] = (),
    names: dict[str, Any] | None = None,
    paths: Callable[[_native.Walk], list[tuple[str, int]]] | None = None,
    may_copy: bool = True,
    since: int = 0,
    lapsing: lapsed.Lapsing = lapsed.Lapsing.NONE,
    held: lapsed.Held = NOBODY,
) -> Encoded:
    """The state of `places` (name -> object) and of all random generators, at this instant.

    `dead`: further places that nothing of the script reads any more; it does not matter whether they have an autograd history.
    `gradients`: whether `.grad` of leaf tensors is stored, too. `outputs`: names of places that the loop only writes to
    (files); they are recorded by reference. `names`: further names whose objects belong to the state only if a place leads to
    them. `paths`: tells of further ways to what a place leads to, by number (`Again.paths`).

    `since`: how often state was encoded (`walks`) when what it belongs to began: nobody is asked who else uses memory
    that a tensor had then already.

    `lapsing`: whether iterators may be left out that cannot be restored. `held`: who holds what, for `lapsing`.

    Leaves refer to live memory where no copy is needed: read them before the training continues.

    Raises Unsupported, naming the place. Raises NeedsCopy where torch would have to copy although `may_copy` is false: a forked
    child does not have torch's threads.
    """
    encoder = Encoder(gradients, may_copy, since)
    encoder.lapsing = lapsing
    with Uncollected():
        return _encode(encoder, places, dead or {}, frozenset(outputs), names or {}, paths, held)


def _encode(
    encoder: Encoder,
    places: dict[str, Any],
    dead: dict[str, Any],
    outputs: frozenset[str],
    names: dict[str, Any],
    paths: Callable[[_native.Walk], list[tuple[str, int]]] | None,
    known: lapsed.Held,
) -> Encoded:
    try:
        roots = encoder.roots(places, outputs)
        histories = encoder.histories
        roots += encoder.roots(dead, outputs)
        encoder.histories = histories
        extra = encoder.owner_roots()
        encoder.run_light()
        roots += encoder.known(names, paths(encoder) if paths is not None else [])
        random_state = generators.capture(encoder)
        if encoder.holds_addresses():
            raise Refused("the address of an object (id, hash or data_ptr) is part of it, which is another in every process")
    except Refused as refused:
        raise Unsupported(encoder.path({**places, **dead}), str(refused)) from None
    head = {
        "format": FORMAT,
        "gradients": encoder.gradients,
        "places": [[name, value] for name, value in roots],
        "owners": extra,
        "hooks": encoder.hooked(),
        RANDOM: random_state,
    }
    text = json.dumps(head, separators=(",", ":"), check_circular=False, allow_nan=False)
    found = Encoded(*encoder.finish(text), encoder)  # type: ignore[arg-type]  # native leaves are a sequence
    held = lapsed.first_held(encoder, (places, dead), known)
    if held is not None:
        why = f"an iterator ({encoder.lapsed[held]}) cannot be restored, and something else holds it, too"
        encoder.current = held
        raise Unsupported(encoder.path({**places, **dead}), why)
    return found


_HOW: dict[Any, str] = {
    tensors.encode_tensor: "tensor",
    mappings.encode_defaultdict: "defaultdict",
    modules.encode_module: "module",
    encode_weakref: "weak",
    encode_proxy: "weak",
    sequences.encode_bytes: "bytes",
    **dict.fromkeys(classify.LIGHT, "light"),
}
"""What is encoded natively, and what waits."""


def _how(kind: type, obj: Any) -> tuple[str, Any, str, str]:
    """How objects of a class are encoded, by which function, and the names of the class; asked once per class."""
    with once.timed():
        return _learn(kind, obj)


def _learn(kind: type, obj: Any) -> tuple[str, Any, str, str]:
    atom = atom_of(kind)
    if atom is not None:
        return "atom", atom, "", ""
    handler = classify.HANDLERS.get(kind) or classify.learn(kind, obj)
    how = _HOW.get(handler, "node")
    if handler is objects.encode_object and not all_slots(kind):
        how = "object"
    module, qualname = type_name(kind)
    return how, handler, str(module), str(qualname)


_CLASSES = _native.Classes(_how)


def walks() -> int:
    """How often state was encoded in this process so far."""
    return _CLASSES.walks


def _length(obj: Any) -> int:
    """Of a container, or of an object derived from one, without its own `__len__`."""
    bases: tuple[Any, ...] = (*CONTENT_BASES, tuple, frozenset)
    return next((base.__len__(obj) for base in bases if issubclass(type(obj), base)), 0)


class Encoder(_native.Walk):
    """A walk that knows what PyTorch's objects are; encoders (`encode(enc, obj)` -> node) are called with it.

    They use `value` (the encoded form of a part), `leaf`, `memory` and `span`. `current` is the number of the node at hand.
    """

    def __new__(cls, gradients: bool = False, may_copy: bool = True, since: int = 0) -> Encoder:
        walk: Any = super()  # whose `__new__` the stub spells `__init__`
        made: Encoder = walk.__new__(cls, _CLASSES, objects.HOOKS, gradients, since)
        return made

    def __init__(self, gradients: bool = False, may_copy: bool = True, since: int = 0):
        self.may_copy = may_copy
        self.copied = 0
        """How many tensors torch had to copy."""
        self.device_leaves: dict[tuple[Any, ...], int] = {}
        """Leaf of the memory (device, address, bytes) of a device."""
        self.device_bytes = 0
        """Bytes that lie on devices, and are not read yet."""
        self.optimizers: list[int] = []
        self.histories = 0
        """How many tensors with an autograd history were met: it is not part of the state."""
        self.root = ""
        self.kept: list[tuple[Any, ...]] = []
        """What stays as it is: (number of the node that holds it, object)."""
        self.is_cut = False
        """Whether more stays as it is because there was too much of it."""
        self.lapsing = lapsed.Lapsing.NONE
        self.lapsed: dict[int, str] = {}
        """The classes of the iterators that lapsed, by the numbers of their nodes."""
        self.rebuilt: list[int] = []
        """The nodes of generators that others will take the place of."""
        self.names: list[str] = []
        self.located: set[int] = set()
        """The nodes that a name, or a way from one, leads to without the graph."""
        """Names that hold an object which a place leads to."""
        self._most: int | None = None

    def roots(self, places: dict[str, Any], outputs: frozenset[str]) -> list[Any]:
        found = []
        for name, value in places.items():
            self.root, self.current = name, -1
            found.append([name, self.value(value)])
        self.run()
        for (name, value), (_, encoded) in zip(places.items(), found):
            if is_ref(encoded) and name not in outputs and self.is_opaque(encoded[0]):
                self.root, self.current = name, -1
                refuse_opaque_root(value)
        return found

    def known(self, names: dict[str, Any], paths: list[tuple[str, int]]) -> list[Any]:
        """Roots for the names and the ways whose objects were met."""
        numbers = [*((name, self.number(value)) for name, value in names.items()), *paths]
        numbers = [(name, number) for name, number in numbers if number not in self.lapsed]  # they are not looked for
        found = [[name, [number]] for name, number in numbers if number is not None]
        self.names = [name for name, number in numbers if number is not None]
        self.located = {number for _, number in numbers if number is not None}
        return found

    def owner_roots(self) -> list[Any]:
        """[[place, optimizer's node, position, value]]: modules whose parameters an optimizer in the graph updates."""
        found: list[list[Any]] = []
        family = owners.Family()
        for index in list(self.optimizers):
            for position, module in enumerate(owners.owners_of(self.object(index), family)):
                if self.number(module) is None:
                    self.current = index
                    found.append([f"{OWNER}{len(found)}", index, position, self.value(module)])
                    self.run()
        return found

    def keeps(self, handler: Any, obj: Any) -> bool:
        """Whether an object that is first met in a dataset or the like is bulk data, which stays as it is."""
        met, light = self.counts()
        if self._most is None:
            self._most = met + LIGHT_NODES
        is_bulk = handler in classify.BULK and not (handler is encode_named and found_under(obj))
        if not is_bulk and met - light > self._most:
            self.is_cut = is_bulk = True
        if is_bulk or handler in classify.SIZED and _length(obj) > LIGHT_ITEMS:
            self.kept.append((self.current, obj))
            return True
        return False

    @staticmethod
    def module_of_globals(found: dict[str, Any]) -> str | None:
        """The module of a library whose globals these are."""
        return name_of_globals(found)

    def copy(self) -> None:
        """A library is about to copy: torch a tensor, or from a device; XGBoost a booster."""
        if not self.may_copy:
            raise NeedsCopy("it holds what a library with threads has to copy")
        self.copied += 1

    def path(self, places: dict[str, Any]) -> str:
        """Where the object being encoded is, in the user's words."""
        return paths.of_object(self, places)
