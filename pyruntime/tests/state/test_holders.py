"""Objects that others hold: those that the recorded run replaced are not written to."""

from __future__ import annotations

import array
import collections
import gc
import random
import types
from typing import Any

import pytest
from florc.record.checkpoint import walks
from florc.state import CannotRestore, Holders, alone, encode, leaf_bytes, restore

torch = pytest.importorskip("torch")
np = pytest.importorskip("numpy")


class Node:
    def __init__(self, value: float):
        self.value, self.items = value, [value]


class Recorded:
    """A state with what the record says of who held it."""

    def __init__(self, **places: Any):
        encoded = encode(places)
        self._graph, self._leaves = encoded.graph, [bytes(leaf_bytes(leaf)) for leaf in encoded.leaves]
        self._holders = encoded.encoder.holders()

    def into(self, *, added: list[Any] | None = None, is_unsure: bool = False, **live: Any) -> dict[str, Any]:
        holders = Holders(*self._holders, added or [], is_unsure)
        return restore(self._graph, self._leaves.__getitem__, live, holders=holders)


def test_what_somebody_else_holds_stays() -> None:
    held = [Node(1.0)]
    recorded = Recorded(holder={"node": Node(2.0)})
    live = {"node": held[0]}
    recorded.into(holder=live)
    assert live["node"].value == 2.0 and live["node"] is not held[0]
    assert (held[0].value, held[0].items) == (1.0, [1.0])


def test_garbage_that_is_not_collected_yet_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alone, "_in_vain", 0)
    recorded = Recorded(holder={"node": Node(2.0)})
    live = {"node": Node(1.0)}
    node, cycle = live["node"], [live["node"]]
    cycle.append(cycle)
    address = id(node)
    gc.disable()
    try:
        del cycle, node
        recorded.into(holder=live)
    finally:
        gc.enable()
    assert id(live["node"]) == address and live["node"].value == 2.0


def test_garbage_is_not_looked_for_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a tenth of a second, and mostly somebody does hold the object."""
    monkeypatch.setattr(alone, "_in_vain", 0)
    times = []
    monkeypatch.setattr(alone.gc, "collect", lambda: times.append(1))
    recorded = Recorded(holder={"node": Node(2.0)})
    for _ in range(6):
        live = {"node": Node(1.0)}
        held = live["node"]
        recorded.into(holder=live)
        assert live["node"] is not held
    assert len(times) == alone._MOST_IN_VAIN


class Slots:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 1


class OwnList(list):
    """A list of the script's own class."""


MUTABLE: dict[str, Any] = {
    "list": lambda: [1, 2],
    "long list": lambda: list(range(100)),
    "floats": lambda: [0.5] * 50,
    "dict": lambda: {"a": 1},
    "ordered": lambda: collections.OrderedDict(a=1),
    "defaultdict": lambda: collections.defaultdict(list, a=[1]),
    "counter": lambda: collections.Counter("abca"),
    "deque": lambda: collections.deque([1, 2]),
    "set": lambda: {1, 2},
    "bytearray": lambda: bytearray(b"abc"),
    "array": lambda: array.array("d", [1.0, 2.0]),
    "object": lambda: Node(1.0),
    "slots": Slots,
    "own list": lambda: OwnList([1]),
    "namespace": lambda: types.SimpleNamespace(a=1),
    "tensor": lambda: torch.ones(3),
    "parameter": lambda: torch.nn.Parameter(torch.ones(3)),
    "module": lambda: torch.nn.Linear(2, 2),
    "ndarray": lambda: np.ones(3),
    "Fortran": lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "strided": lambda: np.arange(12.0)[::2].copy()[::3],
    "objects": lambda: np.array([1, "a", None], object),
    "records": lambda: np.zeros(2, [("a", "i4"), ("b", "f8")]),
    "empty": lambda: np.zeros((0, 3)),
    "random": lambda: random.Random(3),
    "RandomState": lambda: np.random.RandomState(3),
    "Generator": lambda: np.random.default_rng(3),
    "torch.Generator": lambda: torch.Generator().manual_seed(3),
}


@pytest.mark.parametrize("name", MUTABLE)
def test_each_kind_of_object_is_seen_to_be_alone(name: str) -> None:
    encoded = encode({"holder": [MUTABLE[name]()]})
    alone, _ = encoded.encoder.holders()
    numbers = {number for first, count in alone for number in range(first, first + count)}
    assert 1 in numbers
    kept = MUTABLE[name]()
    encoded = encode({"holder": [kept]})
    assert all(not first <= 1 < first + count for first, count in encoded.encoder.holders()[0])


def test_what_nobody_else_holds_is_written_to() -> None:
    recorded = Recorded(holder={"node": Node(2.0)})
    live = {"node": Node(1.0)}
    number = id(live["node"])
    recorded.into(holder=live)
    assert id(live["node"]) == number and live["node"].items == [2.0]


def test_what_others_held_then_is_written_to() -> None:
    node = Node(2.0)
    recorded = Recorded(holder={"node": node})
    other = Node(1.0)
    live = {"node": other}
    recorded.into(holder=live)
    assert live["node"] is other and other.items == [2.0] and node.value == 2.0


def test_two_places_of_the_graph_are_no_others() -> None:
    node = Node(2.0)
    recorded = Recorded(holder={"node": node, "again": [node]})
    del node
    live: dict[str, Any] = {"node": Node(1.0), "again": []}
    live["again"].append(live["node"])
    number = id(live["node"])
    recorded.into(holder=live)
    assert id(live["node"]) == number and live["again"][0] is live["node"]


@pytest.mark.parametrize("keep", [lambda t: t, lambda t: t.view(-1), lambda t: t[1:], lambda t: t.detach().numpy()])
def test_memory_that_somebody_else_sees_stays(keep: Any) -> None:
    recorded = Recorded(holder={"w": torch.full((3,), 2.0)})
    live = {"w": torch.full((3,), 1.0)}
    kept = keep(live["w"])
    recorded.into(holder=live)
    assert live["w"].tolist() == [2.0] * 3 and set(kept.tolist()) == {1.0}


def test_memory_counts_as_lone_unless_the_block_found_it() -> None:
    begun = walks()
    places = {"w": torch.full((3,), 2.0)}
    # an iteration within the block, then the block itself: it began before the tensor was there
    encode(places, since=walks())
    _, lone_memory = encode(places, since=begun).encoder.holders()
    assert lone_memory == [(0, 1)]
    # the next execution of the block finds it
    _, lone_memory = encode(places, since=walks()).encoder.holders()
    assert lone_memory == []


def test_memory_that_others_saw_then_is_written_to() -> None:
    tensor = torch.full((3,), 2.0)
    view = tensor.view(-1)
    recorded = Recorded(holder={"w": tensor})
    live = {"w": torch.full((3,), 1.0)}
    kept = live["w"].view(-1)
    recorded.into(holder=live)
    assert kept.tolist() == [2.0] * 3 and view.tolist() == [2.0] * 3


def test_names_of_added_statements_do_not_count() -> None:
    recorded = Recorded(holder={"node": Node(2.0), "other": Node(2.0)})
    live = {"node": Node(1.0), "other": Node(1.0)}
    head, inside = live["node"], {"deep": [(live["other"],)]}
    recorded.into(holder=live, added=[head, inside])
    assert live["node"] is head and head.value == 2.0
    assert inside["deep"][0][0] is live["other"] and live["other"].value == 2.0


def test_an_added_name_for_a_container_of_the_script_does_not_make_it_an_added_one() -> None:
    recorded = Recorded(holder={"node": Node(2.0)})
    live = {"node": Node(1.0)}
    history = [live["node"]]
    trainer = {"history": history}
    recorded.into(holder=live, added=[history])
    assert trainer["history"][0].value == 1.0 and live["node"].value == 2.0


@pytest.mark.parametrize("way", ["attribute", "iterator"])
def test_where_nobody_can_tell_the_block_runs(way: str) -> None:
    recorded = Recorded(holder={"node": Node(2.0)})
    live = {"node": Node(1.0)}
    kept: Any = [live["node"]]
    kept = iter(kept) if way == "iterator" else kept
    with pytest.raises(CannotRestore, match="what was added may hold this one"):
        recorded.into(holder=live, added=[kept] if way == "iterator" else [], is_unsure=way == "attribute")
    assert live["node"].value == 1.0


def test_runs_of_numbers_that_are_not_there() -> None:
    recorded = Recorded(holder={"node": Node(2.0)})
    recorded._holders = ([(0, 1 << 60), (5000, 3)], [(1 << 40, 2)])
    assert recorded.into(holder={"node": Node(1.0)})["holder"]["node"].value == 2.0
