"""What is derived from `functools.partial`, and members of enumerations of C++."""

import functools

import pytest

torch = pytest.importorskip("torch")


def named():
    """A function with a name."""


class Bound(functools.partial):
    """As pyro has it: an attribute of the name that its base has."""

    __slots__ = ("func",)

    def __init__(self, func):
        self.func = func


class Noted(functools.partial):
    """With a `__dict__`."""


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))
        self.call = Bound(functools.partial(max, self))


def test_what_is_derived_from_partial_is_its_parts(round_trip):
    items = [1]
    recorded, live = Noted(max, items, key=len), Noted(max, items, key=len)
    recorded.note = live.note = "note"
    assert round_trip({"v": recorded, "items": items}, {"v": live, "items": items}, nothing=False)["v"] is live
    found = round_trip({"v": recorded, "items": items}, {"v": functools.partial(max), "items": items})
    assert type(found["v"]) is Noted and found["v"].note == "note" and found["v"].keywords == {"key": len}
    assert found["v"].args[0] is found["items"]


def test_a_slot_may_have_the_name_of_a_part(round_trip):
    recorded, live = Net(), Net()
    with torch.no_grad():
        recorded.weight += 1
    found = round_trip({"net": recorded}, {"net": live}, nothing=False)["net"]
    assert found is live and found.call.func.args == (live,) and found.weight.tolist() == [2, 2]


def test_attributes_of_a_partial(round_trip):
    recorded = functools.update_wrapper(functools.partial(int, base=2), named)
    found = round_trip({"v": recorded}, {"v": functools.partial(int, base=2)})["v"]
    assert found.__wrapped__ is named and found.__name__ == "named" and found("10") == 2


def test_members_of_enumerations_of_c(round_trip):
    backends = torch.nn.attention.SDPBackend
    places = {"v": [backends.MATH, (backends.FLASH_ATTENTION, 1)], "op": {"op": torch.distributed.ReduceOp.RedOpType.SUM}}
    live = {"v": [backends.MATH, (backends.FLASH_ATTENTION, 1)], "op": {"op": torch.distributed.ReduceOp.RedOpType.SUM}}
    found = round_trip(places, live, nothing=False)
    assert found["v"][1] is live["v"][1] and found["op"] is live["op"]
    live = {"v": [backends.FLASH_ATTENTION, (backends.MATH, 1)], "op": {"op": torch.distributed.ReduceOp.RedOpType.MAX}}
    found = round_trip(places, live, nothing=False)
    assert found["v"] == places["v"] and found["op"] == places["op"]
