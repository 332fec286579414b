"""Objects whose state is behind a handle of a native library that pickles all of it: boosters of XGBoost and LightGBM.

Node: `["handle", leaf, module, qualname]`. The live object takes over the attributes of an unpickled one, its handle among
them, so that whoever holds it sees the recorded state; the handle that it had goes with the other one.
"""

from __future__ import annotations

from .data import Pickled, pickled
from .kinds import Refused, dotted, type_name
from .objects import instance_dict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Node
    from .restore import Restorer

_NOT_KEPT = ("train_set", "_train_set")
"""What a booster of LightGBM trains on, which its pickle lacks: `lightgbm.train` has let go of it when it returns."""


def encode_booster(enc: Encoder, obj: Any) -> Node:
    attributes = instance_dict(obj) or {}
    if any(attributes.get(name) is not None for name in _NOT_KEPT):
        raise Refused(f"an object of {dotted(type(obj))} that holds what it trains on cannot be restored")
    enc.copy()  # the library may have threads, which a forked child has not
    try:
        return ["handle", enc.leaf(pickled(obj)), *type_name(type(obj))]
    except Exception as error:  # as the library likes
        raise Refused(f"an object of {dotted(type(obj))} cannot be restored: {type(error).__name__}") from None


class Booster(Pickled):
    """The live object, with the attributes and the handle of an unpickled one."""

    immutable = False

    def make(self, r: Restorer, node: Node, index: int) -> Any:
        import pickle

        return pickle.loads(bytes(r.leaf(node[1])))

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        if r.live_of(index) is None:
            return  # it was made of them
        data = bytes(r.leaf(node[1]))
        if pickled(obj) == data:
            return
        import pickle

        other = pickle.loads(data)  # it frees its handle when it goes
        mine, theirs = instance_dict(obj), instance_dict(other)
        before = dict(mine)
        mine.clear()
        mine.update(theirs)
        theirs.clear()
        theirs.update(before)


KINDS = {"handle": Booster()}
