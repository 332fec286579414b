"""Generators of the user's that wait at a `yield`, and do nothing but take from others: `while True: yield from loader`.

Node: `["suspended", file, qualname, hash of its code, place in it, [name, value, …], [iterators]]`: its names, and the iterators
that it takes from, by name or in its `for` statements.

A generator cannot be put into the middle of its code, but the live one can be there already, or be brought there: one that has
not begun is begun, which takes the first item, and then what it holds is put back in place. That is right only where the code
calls nothing that could do more than that, and where an item depends on nothing that the loop changes (`fast_forward.why_not`
asks the same). All others are refused.
"""

from __future__ import annotations

import gc
import types
from _blake2 import blake2b

from .. import _native
from ..adapters import torch_data
from ..support.static import defines, is_begun
from .atoms import ATOMS, decode, same_atom
from .kind import Kind
from .kinds import Refused, is_ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .match import Matcher

_CALLED = frozenset(["StopIteration", "enumerate", "iter", "len", "next", "range"])
"""What such a generator may name besides its own variables."""
_MOST = 100
"""Instructions, in bytes / 2, of one that is looked at: `cycle` has 12."""


def _is_plain(generator: Any) -> bool:
    code = generator.gi_code
    return _CALLED.issuperset(code.co_names) and not (code.co_freevars or code.co_cellvars) and len(code.co_code) <= 2 * _MOST


def _parts(generator: Any) -> tuple[dict[str, Any], list[Any]]:
    """Its names, and the iterators that it takes from: by its names, or in its `for` statements."""
    held = {id(obj): obj for obj in gc.get_referents(generator) if defines(type(obj), "__next__")}
    return _native.names_of(generator.gi_frame), list(held.values())


def _is_harmless(source: Any) -> bool:
    """Whether taking an item from it changes nothing but its place."""
    if torch_data.is_iterator_class(type(source)):
        return torch_data.why_not_wound(source) is None and torch_data.loads_here(source)
    return type(source).__module__ == "builtins" and not issubclass(
        type(source), (types.GeneratorType, map, filter, zip, enumerate)
    )


def _code_of(generator: Any) -> list[Any]:
    code = generator.gi_code
    return [code.co_filename.rpartition("/")[2], code.co_qualname if hasattr(code, "co_qualname") else code.co_name, _hash(code)]


def _hash(code: types.CodeType) -> str:
    return blake2b(code.co_code + repr((code.co_names, code.co_varnames, code.co_consts)).encode(), digest_size=8).hexdigest()


def encode_suspended(enc: Encoder, obj: Any) -> Node | None:
    """None for a generator that is not of this kind."""
    if obj.gi_frame is None or obj.gi_running or not is_begun(obj) or not _is_plain(obj):
        return None
    own, held = _parts(obj)
    arguments = obj.gi_code.co_varnames[: obj.gi_code.co_argcount]
    is_counting = any(type(value) in ATOMS and name not in arguments for name, value in own.items())
    if not held or is_counting or not all(map(_is_harmless, held)):
        return None  # a number in a variable cannot be put back
    named = [part for name, value in own.items() for part in (name, enc.value(value))]
    return ["suspended", *_code_of(obj), obj.gi_frame.f_lasti, named, [enc.value(source) for source in held]]


class Suspended(Kind):
    """Only a live one, in the same place."""

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        if type(live) is not types.GeneratorType or live.gi_frame is None or live.gi_running or _code_of(live) != node[1:4]:
            return False
        own, held = _parts(live)
        if not is_begun(live):
            if not _begins_harmless(own):
                return False
            next(live)  # as the recorded run did; what it draws is put back
            own, held = _parts(live)
        if live.gi_frame.f_lasti != node[4] or len(held) != len(node[6]) or list(own) != node[5][0::2]:
            return False
        for value, encoded in zip(own.values(), node[5][1::2]):
            if is_ref(encoded):
                m.pair(encoded, value)
            elif not same_atom(value, decode(encoded)):
                return False
        for source, encoded in zip(held, node[6]):
            m.pair(encoded, source)
        return True

    def check(self, m: Matcher, node: Node, index: int) -> None:
        if any(m.live[encoded[0]] is None for encoded in node[6]):
            raise Refused("a generator cannot be restored: what it takes from is another one here")

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        raise Refused("a running generator cannot be restored: there is none in this place of its code")


def _begins_harmless(own: dict[str, Any]) -> bool:
    """Whether one that has not begun, with these arguments, will only take from data loaders that hold their data, or
    containers."""
    for value in own.values():
        if torch_data.is_loader(value):
            if torch_data.why_not_wound(value) is not None or value.num_workers:
                return False
        elif type(value) not in ATOMS and type(value) not in (list, tuple, range):
            return False
    return True


KINDS: dict[str, Kind] = {"suspended": Suspended()}
