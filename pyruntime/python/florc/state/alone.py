"""Objects that a block replaced, while somebody else still holds those that were there before: `best.append(trainer.net)`.

To restore means to put the recorded state into the live objects, since others may hold them. Where the recorded run had another
object at the same place, that would change what these others hold. Which objects a block replaced is not recorded: that would
take a walk over all of them when it begins. But two cases are told apart by counting references:

- Nothing but the graph referred to an object when the block ended (`alone`), and somebody else refers to the live one: it is
  another object, or whoever refers to it had let go of it by then. A new object is right in both cases.
- The same of memory that only one tensor had (`lone_memory`): the live tensor gets new memory.

An object that others held then, too, is taken to be the same one. So is one that only added statements hold: by a name that
nobody else has (`for p in net.parameters(): …` leaves one), or in a container to which only such a name leads. Where they may
hold it otherwise, nobody can tell, and the block runs.
"""

from __future__ import annotations

import gc
import sys

from ..support.light import NamedTuple
from ..support.static import module_of
from .deferred import deferred
from .kinds import Refused, torch_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from .match import Matcher

_DEPTH = 2
"""An instance leads to its dict, that of a module to the tables of its parameters: so deep lie dicts that have no node."""
_CONTAINERS = (dict, list, set, tuple)
_HELD = 3
"""How deep in containers of added names an object is looked for."""
_OWN = 2
"""References to a live object that the search itself has: the list of live objects, the argument of `getrefcount`."""
_OF_MEMORY = 2
"""Users of a tensor's memory: the tensor, and the object that stands for the memory while it is asked."""


_MOST_IN_VAIN = 3
"""So often in a row garbage is collected, which takes a tenth of a second, and did not turn out to be who held an object."""
_in_vain = 0


class Holders(NamedTuple):
    """Who held what. Numbers of nodes are runs: the first, how many."""

    alone: Sequence[tuple[int, int]] = ()
    """Nodes of objects that nothing but the graph referred to when they were recorded,"""
    lone_memory: Sequence[tuple[int, int]] = ()
    """and of tensors whose memory no other tensor had."""
    added: Sequence[Any] = ()
    """What names hold now that only added statements bind."""
    is_unsure: bool = False
    """Whether added statements may hold objects otherwise."""


NOBODY = Holders()


def part(m: Matcher, holders: Holders) -> None:
    """Take live objects out of the match that are not the recorded ones. Raises Refused where an added statement may hold such an
    object, so that nobody can tell."""
    global _in_vain
    alone = _numbers(holders.alone, len(m.nodes))
    # what waits to be read was proven to be alone when it began to wait
    candidates = [number for number in alone if m.live[number] is not None and not deferred.holds(m.live[number])]
    numbers = {id(m.live[number]): number for number in candidates}
    own, has_collected = {id(obj) for obj in m.live}, False
    inside = _references(m.live, own) if candidates else {}
    while candidates:
        others = [number for number in candidates if _holders(m.live, number) > inside.get(id(m.live[number]), 0)]
        if others and holders.added:
            held = _held(holders.added)
            others = [
                number
                for number in others
                if _holders(m.live, number) > sum(of.get(id(m.live[number]), 0) for of in (inside, held))
            ]
        if not others:
            _in_vain = 0 if has_collected else _in_vain
            break
        if not has_collected and _in_vain < _MOST_IN_VAIN:  # what is garbage, and not collected yet, holds nothing
            has_collected = True
            gc.collect()
            _in_vain += 1
            candidates, inside = list(numbers.values()), _references(m.live, own)
            continue
        if holders.is_unsure or not all(map(_is_plain, holders.added)):
            m.index = others[0]
            raise Refused("the recorded run may have had another object there, and what was added may hold this one")
        # what these refer to is held from outside now; of all others nothing has changed: a chain is followed once, link by link
        lost = _references([m.live[number] for number in others], own)
        for number in others:
            m.live[number] = None
        for address, times in lost.items():
            inside[address] = inside.get(address, 0) - times
        found = (numbers.get(address) for address in lost)
        candidates = [number for number in found if number is not None and m.live[number] is not None]
    count = None
    for number in _numbers(holders.lone_memory, len(m.nodes)):
        live = m.live[number]
        if live is None or number in m.needs_memory or m.nodes[number][0] != "tensor" or deferred.holds(live):
            continue
        count = count or torch_module()._C._storage_Use_Count
        if count(live.untyped_storage()._cdata) > _OF_MEMORY:
            m.needs_memory.add(number)


def _numbers(runs: Iterable[tuple[int, int]], count: int) -> list[int]:
    return [number for first, length in runs for number in range(first, min(first + length, count))]


def _holders(live: list[Any], number: int) -> int:
    """How many refer to a live object, besides florc."""
    return sys.getrefcount(live[number]) - _OWN


def _is_plain(value: Any) -> bool:
    """Whether an object holds others in no way that `_held` does not see: not an iterator, nor one of the user's."""
    return not gc.is_tracked(value) or type(value) in _CONTAINERS or module_of(type(value)).startswith(("torch", "numpy"))


def _held(added: Sequence[Any]) -> dict[int, int]:
    """How often added names, and containers that only they lead to, refer to objects, by address."""
    found: dict[int, int] = {}
    for address in map(id, added):
        found[address] = found.get(address, 0) + 2  # the name, and the list of these
    level = _each_once(added)
    for _ in range(_HELD):
        # in a container that somebody else refers to, objects are that one's; three references are those of this search
        own = [obj for obj in level if type(obj) in _CONTAINERS and sys.getrefcount(obj) - 3 <= found[id(obj)]]
        held = gc.get_referents(*own)
        for address in map(id, held):
            found[address] = found.get(address, 0) + 1
        level = _each_once(held)
        del held
    return found


def _each_once(objects: Iterable[Any]) -> list[Any]:
    return list({id(obj): obj for obj in objects}.values())


def _references(live: list[Any], own: set[int]) -> dict[int, int]:
    """How often live objects refer to others, by address. `own`: the addresses of all that are in the match."""
    found: dict[int, int] = {}
    holders = [obj for obj in live if obj is not None]  # a tuple of arrays holds them, though the collector has let go of it
    for _ in range(1 + _DEPTH):
        held = gc.get_referents(*holders)
        for address in map(id, held):
            found[address] = found.get(address, 0) + 1
        holders = _each_once(obj for obj in held if type(obj) is dict and id(obj) not in own)
        del held
    return found
