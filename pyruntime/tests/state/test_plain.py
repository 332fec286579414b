"""Plain Python values: atoms, containers, objects."""

import array
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import math
import pathlib
import random
import re
import struct
import types
import uuid

import pytest


class Color(enum.Enum):
    RED = 1


class Mode(enum.Flag):
    A = 1
    B = 2


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Inner:
    value: float
    items: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Outer:
    inner: Inner
    name: str = "a"


@dataclasses.dataclass(frozen=True)
class Key:
    a: int


class Slotted:
    __slots__ = ("__hidden", "a", "unset")

    def __init__(self):
        self.a, self.__hidden = 1, [2]

    def hidden(self):
        return self.__hidden


class SlottedChild(Slotted):
    def __init__(self):
        super().__init__()
        self.extra = {"k": self.a}


class MyList(list):
    def __iter__(self):
        raise AssertionError("user code must not run")


class MyDict(dict):
    def __setitem__(self, key, value):
        raise AssertionError("user code must not run")


class MyInt(int):
    pass


class AverageMeter:
    def __init__(self):
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, value, n=1):
        self.val, self.sum, self.count = value, self.sum + value * n, self.count + n
        self.avg = self.sum / self.count

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


class Guarded:
    """Restoring must never call this."""

    def __init__(self):
        self.__dict__["x"] = 1

    def __setattr__(self, name, value):
        raise AssertionError("user code must not run")


def my_list():
    made = MyList([1, [2]])
    made.note = "n"
    return made


def my_dict():
    return MyDict(a=[1])


def my_int():
    made = MyInt(7)
    made.tag = "t"
    return made


ATOMS = [
    None,
    True,
    False,
    0,
    -1,
    2**63 - 1,
    -(2**63),
    2**64,
    10**5000,
    1.5,
    -0.0,
    math.inf,
    -math.inf,
    math.nan,
    5e-324,
    0.1,
    1e308,
    "",
    "é\n",
    "\ud800\udc00",
    "\ud800",
    b"",
    b"\x00\xff",
    b"x" * 1000,
    1 + 2j,
    complex(-0.0, math.nan),
    ...,
    NotImplemented,
    (),
    (1, "a", None),
    (1, (2, (3,))),
    Color.RED,
    Mode.A,
    Mode.A | Mode.B,
    range(3, 9, 2),
    slice(1, None, 2),
    datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
    datetime.date(2020, 1, 2),
    datetime.time(1, 2),
    datetime.timedelta(1, 2, 3),
    datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc),
    decimal.Decimal("1.10"),
    fractions.Fraction(1, 3),
    pathlib.PurePosixPath("a/b"),
    pathlib.Path("x"),
    uuid.UUID(int=5),
    re.compile("a.b", re.I),
    frozenset({"b", "a"}),
    Point(1, [2]),
    functools.partial(int, "10", base=2),
    len,
    int,
    collections,
    Inner,
    math.sin,
    {}.get and "bound",
    my_int(),
    tuple(range(200)),
    tuple(x / 7 for x in range(200)),
]


def exact(a, b):
    assert type(a) is type(b)
    if isinstance(a, float):
        assert struct.pack("d", a) == struct.pack("d", b)
    elif isinstance(a, complex):
        exact(a.real, b.real), exact(a.imag, b.imag)
    elif isinstance(a, functools.partial):
        assert (a.func, a.args, a.keywords) == (b.func, b.args, b.keywords)
    else:
        assert a == b


@pytest.mark.parametrize("value", ATOMS, ids=lambda v: type(v).__name__)
def test_immutable_values(round_trip, value):
    for live in ({"v": 1}, {"v": None}, {"v": value}):
        exact(round_trip({"v": value}, live)["v"], value)
    held = round_trip({"v": [value]}, {"v": [5]}, {"v": []})["v"]
    exact(held[0], value)


CONTAINERS = {
    "list": (lambda: [1, [2], {"a": [3]}], lambda: [9, [8, 8], 7, 6]),
    "floats": (lambda: [x / 3 for x in range(100)] + [math.nan, -0.0], lambda: [1.0]),
    "ints": (lambda: list(range(1000)), lambda: list(range(99))),
    "big ints": (lambda: [2**70] * 100, list),
    "mixed numbers": (lambda: [1, 2.0] * 100, lambda: [1] * 200),
    "bools": (lambda: [True] * 100, lambda: [1] * 100),
    "dict": (lambda: {"b": 1, "a": [2], 3: None, (1, 2): "t", None: 1.0}, lambda: {"a": [9], "z": 1}),
    "ordered": (lambda: collections.OrderedDict(b=1, a=[2]), lambda: collections.OrderedDict(a=[5], b=2)),
    "defaultdict": (lambda: collections.defaultdict(list, a=[1]), lambda: collections.defaultdict(int, b=2)),
    "counter": (lambda: collections.Counter("hello"), lambda: collections.Counter("zz")),
    "set": (lambda: {"c", "a", 1, (1, 2)}, lambda: {"q"}),
    "deque": (lambda: collections.deque([[1], [2], [3]], maxlen=3), lambda: collections.deque([[0]], maxlen=3)),
    "bytearray": (lambda: bytearray(b"abc"), lambda: bytearray(b"q")),
    "array": (lambda: array.array("d", [1.5, 2]), lambda: array.array("d")),
    "dataclass": (lambda: Outer(Inner(0.5, [1, 2])), lambda: Outer(Inner(0.25, [3]), "z")),
    "slots": (Slotted, Slotted),
    "slots and dict": (SlottedChild, SlottedChild),
    "list subclass": (my_list, MyList),
    "dict subclass": (my_dict, MyDict),
    "guarded": (Guarded, Guarded),
    "namespace": (lambda: types.SimpleNamespace(a=[1]), types.SimpleNamespace),
    "user dict": (lambda: collections.UserDict(a=[1]), collections.UserDict),
    "type hints": (lambda: [list[int], int | None], list),
    "meter": (AverageMeter, AverageMeter),
    "random": (lambda: random.Random(5), lambda: random.Random(6)),
    "keyed by objects": (lambda: {Key(1): [1], Key(2): [2]}, lambda: {Key(2): [9]}),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_mutable_values_in_place_and_anew(round_trip, freeze, name):
    make, other = CONTAINERS[name]
    round_trip({"v": make(), "w": [make()]}, {"v": other(), "w": [other()]}, {"v": make(), "w": []}, {"v": 3})
    live = other()
    alias = [live]
    out = freeze({"v": make()}).restore({"v": live})
    assert out["v"] is live is alias[0]
