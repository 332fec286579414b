"""A digest says what an object holds: the same for two that hold the same, another one for each change."""

from __future__ import annotations

import collections
import copy
import datetime
import functools
import os
import random
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from florc import _native
from florc.survey import classes

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
pd = pytest.importorskip("pandas")


class Held:
    """Of the script's."""

    count = 0

    def __init__(self) -> None:
        self.items: list[Any] = [1, 2]
        self.best = None


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self) -> None:
        self.left, self.right = 1, [2]


NATIVE = _native.Witness(classes.ask, {__name__}, 1 << 20)


def digest(value: Any) -> str:
    return all_of(value)["x"]


def all_of(value: Any) -> dict[str, str]:
    return dict(NATIVE.of([("x", value)], ([], []), True, set(), set(), set()))


def closure() -> Any:
    seen = [0]

    def inner(value: Any, known: dict[str, int] = {}) -> Any:  # noqa: B006
        return seen, known, value

    return inner


def ring() -> list[Any]:
    first: list[Any] = [1]
    first.append(first)
    return first


def linear() -> Any:
    torch.manual_seed(0)
    return torch.nn.Linear(2, 2)


def shared() -> list[Any]:
    whole = torch.zeros(4)
    return [whole[:2], whole[1:3]]


CHANGES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "list": (lambda: [1, "a", None], lambda x: x.append(1)),
    "order of a dict": (lambda: {"a": 1, "b": 2}, lambda x: x.update(a=x.pop("a"))),
    "bool for int": (lambda: [True], lambda x: x.__setitem__(0, 1)),
    "zero": (lambda: [0.0], lambda x: x.__setitem__(0, -0.0)),
    "nan": (lambda: [float("nan")], lambda x: x.__setitem__(0, float("inf"))),
    "great number": (lambda: [1 << 100], lambda x: x.__setitem__(0, -(1 << 100))),
    "set": (lambda: {1, 2, "a"}, lambda x: x.add(3)),
    "set of objects": (lambda: {(1, 2), frozenset([3])}, lambda x: x.add((1, 3))),
    "bytearray": (lambda: bytearray(b"abc"), lambda x: x.extend(b"d")),
    "deque": (lambda: collections.deque([1, 2, 3]), lambda x: x.rotate(1)),
    "ordered dict": (lambda: collections.OrderedDict(a=1, b=2), lambda x: x.move_to_end("a")),
    "counter": (lambda: collections.Counter("aab"), lambda x: x.update("b")),
    "simple namespace": (lambda: types.SimpleNamespace(a=1), lambda x: setattr(x, "b", 2)),
    "holds itself": (ring, lambda x: x.__setitem__(0, 2)),
    "deep": (lambda: functools.reduce(lambda held, _: [held], range(100_000), [1]), lambda x: x.append(1)),
    "slots": (Slotted, lambda x: x.right.append(1)),
    "closure": (closure, lambda x: x(0)[0].append(1)),
    "default": (closure, lambda x: x(0)[1].update(a=1)),
    "attribute of a function": (closure, lambda x: setattr(x, "calls", 1)),
    "bound method": (lambda: [].append, lambda x: x(1)),
    "partial": (lambda: functools.partial(print, [1]), lambda x: x.args[0].append(2)),
    "date": (lambda: [datetime.datetime(2020, 1, 1)], lambda x: x.__setitem__(0, datetime.datetime(2020, 1, 2))),
    "generator of random": (lambda: random.Random(1), lambda x: x.random()),
    "array": (lambda: np.arange(6.0).reshape(2, 3), lambda x: x.__setitem__((1, 2), 0)),
    "scattered array": (lambda: np.arange(12.0).reshape(3, 4)[::2, ::-2], lambda x: x.__setitem__((1, 1), 77)),
    "shape": (lambda: [np.zeros(6)], lambda x: x.__setitem__(0, x[0].reshape(2, 3))),
    "dtype": (lambda: [np.zeros(4, "i4")], lambda x: x.__setitem__(0, x[0].view("f4"))),
    "array of objects": (lambda: np.array([[1], {"a": 2}], dtype=object), lambda x: x[1].update(a=3)),
    "masked array": (lambda: np.ma.array([1, 2, 3], mask=[0, 1, 0]), lambda x: x.mask.__setitem__(0, True)),
    "great array": (lambda: np.zeros(100_000), lambda x: x.__setitem__(77_777, 1)),
    "generator of NumPy": (lambda: np.random.default_rng(1), lambda x: x.random()),
    "random state": (lambda: np.random.RandomState(1), lambda x: x.rand()),
    "number of NumPy": (lambda: [np.float32(1)], lambda x: x.__setitem__(0, np.float64(1))),
    "tensor": (lambda: torch.zeros(3), lambda x: x.add_(1)),
    "data of a tensor": (lambda: torch.zeros(3), lambda x: x.data.add_(1)),
    "memory of a tensor": (lambda: torch.zeros(3), lambda x: x.numpy().__setitem__(0, 1)),
    "transposed": (lambda: [torch.arange(4.0).reshape(2, 2)], lambda x: x.__setitem__(0, x[0].T.contiguous().T)),
    "requires grad": (lambda: torch.zeros(3), lambda x: x.requires_grad_()),
    "gradient": (linear, lambda x: x(torch.ones(1, 2)).sum().backward()),
    "module": (linear, lambda x: x.weight.data.add_(1)),
    "training": (linear, lambda x: x.eval()),
    "hook": (linear, lambda x: x.register_forward_hook(print)),
    "memory that is shared": (shared, lambda x: x.__setitem__(1, x[1].clone())),
    "generator of torch": (lambda: torch.Generator().manual_seed(1), lambda x: torch.rand(1, generator=x)),
    "frame": (lambda: pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), lambda x: x.loc.__setitem__(2, [3.0, "z"])),
    "cell of a frame": (lambda: pd.DataFrame({"a": [1.0], "b": ["x"]}), lambda x: x.iat.__setitem__((0, 0), 2.0)),
    "name of a column": (lambda: pd.DataFrame({"a": [1.0]}), lambda x: setattr(x, "columns", ["b"])),
    "series": (lambda: pd.Series([1.0, 2.0]), lambda x: x.array.__setitem__(1, 3.0)),
    "categories": (lambda: [pd.Series(["a", "b"], dtype="category")], lambda x: x.__setitem__(0, x[0].cat.add_categories("c"))),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_change_shows(name: str) -> None:
    make, change = CHANGES[name]
    one, two = make(), make()
    before = digest(one)
    assert before == digest(one) == digest(two)
    change(two)
    assert digest(two) != before and digest(one) == before


def test_a_class_of_the_scripts_is_looked_into() -> None:
    before = digest(Held)
    Held.count += 1
    try:
        assert digest(Held) != before
    finally:
        Held.count = 0


def test_attributes_of_the_scripts_objects_have_digests_of_their_own() -> None:
    held = Held()
    held.best = Held()
    before = all_of(held)
    assert {*before} == {"x", "x/items", "x/best", "x/best/items", "x/best/best"}
    held.best.items.append(3)
    now = all_of(held)
    assert [key for key in before if before[key] != now[key]] == ["x/best/items"]
    held.best.best = held
    assert all_of(held)["x/best/best"] == "=x"


def test_a_copy_holds_the_same() -> None:
    frame = pd.DataFrame({"a": np.arange(5.0), "b": list("abcde")}).set_index("a")
    assert digest(frame) == digest(copy.deepcopy(frame))


def test_memory_that_was_not_read_may_hold_anything() -> None:
    one, two = torch.zeros(100_000), torch.ones(100_000)
    spans = {(two.data_ptr(), two.nbytes)}
    unread = dict(NATIVE.of([("x", [two])], ([], []), False, spans, set(), set()))["x"]
    assert digest([one]) != digest([two])
    assert _native.Witness.is_same(digest([one]), unread) and _native.Witness.is_same(unread, digest([two]))
    assert not _native.Witness.is_same(digest([torch.zeros(100_001)]), unread)


def test_times_and_addresses_are_masked() -> None:
    def of(value: Any, span: tuple[float, float]) -> str:
        return dict(NATIVE.of([("x", value)], ([span], [4711]), False, set(), set(), set()))["x"]

    assert of([1000.5, 4711], (1000.0, 1001.0)) == of([1000.7, 4711], (1000.0, 1001.0)) != of([1002.0, 4711], (1000.0, 1001.0))
    assert digest([id(object())]) == digest([id([])])


OTHER = """
import sys
sys.path.insert(0, {tests!r})
import test_witness_digests as own
for name, (make, _) in own.CHANGES.items():
    print(name, own.digest(make()), sep="=")
"""


def test_another_process_finds_the_same() -> None:
    """With another hash seed, and other addresses."""
    text = OTHER.format(tests=str(Path(__file__).parent))
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = dict(line.rsplit("=", 1) for line in done.stdout.splitlines())
    assert found == {name: digest(make()) for name, (make, _) in CHANGES.items()}
