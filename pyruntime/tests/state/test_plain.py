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
import threading
import types
import uuid

import pytest

from florc.state import CannotRestore, Unsupported


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
    __slots__ = ("a", "__hidden", "unset")

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
    None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**64, 10**5000, 1.5, -0.0, math.inf, -math.inf, math.nan, 5e-324,
    0.1, 1e308, "", "é\n", "\ud800\udc00", "\ud800", b"", b"\x00\xff", b"x" * 1000, 1 + 2j, complex(-0.0, math.nan), ...,
    NotImplemented, (), (1, "a", None), (1, (2, (3,))), Color.RED, Mode.A, Mode.A | Mode.B, range(3, 9, 2),
    slice(1, None, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 6), datetime.date(2020, 1, 2), datetime.time(1, 2),
    datetime.timedelta(1, 2, 3), datetime.datetime(2020, 1, 2, tzinfo=datetime.timezone.utc), decimal.Decimal("1.10"),
    fractions.Fraction(1, 3), pathlib.PurePosixPath("a/b"), pathlib.Path("x"), uuid.UUID(int=5), re.compile("a.b", re.I),
    frozenset({"b", "a"}), Point(1, [2]), functools.partial(int, "10", base=2), len, int, collections, Inner, math.sin,
    {}.get and "bound", my_int(), tuple(range(200)), tuple(x / 7 for x in range(200)),
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
    "big ints": (lambda: [2**70] * 100, lambda: []),
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
    "type hints": (lambda: [list[int], int | None], lambda: []),
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


def test_attributes_that_were_not_there_are_deleted(freeze):
    live = Inner(1.0)
    before = freeze({"v": live})
    live.extra, live.items = 1, None
    before.restore({"v": live})
    assert live.__dict__ == {"value": 1.0, "items": []}


def test_unset_slot_is_unset_again(freeze):
    live = Slotted()
    before = freeze({"v": live})
    live.unset = 3
    del live.a
    before.restore({"v": live})
    assert live.a == 1 and not hasattr(live, "unset") and live.hidden() == [2]


def test_sharing_and_cycles(round_trip):
    shared, loop = [1], []
    loop.append((loop, shared))
    places = {"a": shared, "b": {"x": shared, "t": (shared, [shared])}, "c": loop}
    out = round_trip(places, {"a": [2], "b": {}, "c": []}, {"b": {"x": [5]}, "a": [6]})
    assert out["b"]["x"] is out["a"] is out["b"]["t"][0] is out["b"]["t"][1][0] is out["c"][0][1]
    assert out["c"][0][0] is out["c"]


def test_two_recorded_objects_never_become_one(round_trip):
    one = [1]
    out = round_trip({"a": [1], "b": [2]}, {"a": one, "b": one})
    assert out["a"] is not out["b"]


def test_deep_structures(round_trip):
    deep = None
    for i in range(10_000):
        deep = [i, deep] if i % 2 else (i, [deep], deep)
    before = round_trip({"v": Holder(deep)}, {"v": Holder(None)})
    depth, at = 0, before["v"].value
    while at is not None:
        at, depth = at[-1], depth + 1
    assert depth == 10_000


class Holder:
    def __init__(self, value):
        self.value = value


def test_classes_without_a_global_name(freeze):
    class Local:
        pass

    live = Local()
    live.x = [1]
    before = freeze({"v": live, "w": [live]})
    live.x = [2]
    assert before.restore({"v": live})["v"] is live and live.x == [1]
    with pytest.raises(CannotRestore) as caught:
        before.restore({})
    assert caught.value.place_path == "v"


def test_opaque_objects_stay(freeze, tmp_path):
    class Trainer(Holder):
        pass

    with open(tmp_path / "log", "w") as file:
        live = Holder({"file": file, "lock": threading.Lock(), "f": lambda x: x, "n": 1, "it": iter([1])})
        before = freeze({"self": live})
        kept = dict(live.value)
        live.value["n"] = 2
        before.restore({"self": live})
        assert live.value == kept
        with pytest.raises(CannotRestore) as caught:
            before.restore({"self": Holder({"n": 5})})
        assert caught.value.place_path.startswith("self.value['")


def test_cannot_restore_leaves_everything_untouched(freeze):
    live = {"a": [1], "f": lambda: 1}
    before = freeze({"v": live, "r": random.Random(1)})
    rng = random.Random(2)
    state = rng.getstate(), random.getstate()
    other = {"a": [2]}
    with pytest.raises(CannotRestore):
        before.restore({"v": other, "r": rng})
    assert other == {"a": [2]} and (rng.getstate(), random.getstate()) == state

    def broken(index):
        raise OSError("gone")

    from florc.state import restore
    with pytest.raises(CannotRestore):
        restore(before.graph, broken, {"v": live})


def generator():
    yield 1


@pytest.mark.parametrize("make", [generator, lambda: iter([1]), lambda: enumerate([1]), lambda: zip([1]), threading.Lock,
                                  lambda: open("/dev/null", "w")])
def test_roots_that_cannot_be_restored(freeze, make):
    with pytest.raises(Unsupported) as caught:
        freeze({"ok": 1, "it": make()})
    assert caught.value.place_path == "it"


def test_output_roots(freeze):
    import logging
    import sys
    live = {"log": logging.getLogger("x"), "out": sys.stdout, "n": 1}
    out = freeze(live).restore(live)
    assert out["log"] is live["log"]
    with open("/dev/null", "w") as file:
        assert freeze({"f": file}, outputs=["f"]).restore({"f": file})["f"] is file


def test_generators_draw_the_same_next(freeze):
    own = random.Random(3)
    random.gauss(0, 1)
    before = freeze({"own": own})
    first = random.random(), random.gauss(0, 1), own.random()
    before.restore({"own": own})
    assert (random.random(), random.gauss(0, 1), own.random()) == first


def test_bound_methods(round_trip, freeze):
    meter = AverageMeter()
    places = {"m": meter, "update": meter.update, "append": [1].append}
    out = round_trip(places, {"m": AverageMeter()})
    assert out["update"].__self__ is out["m"]


def test_equal_states_have_equal_bytes(freeze):
    def build():
        noise = [object() for _ in range(10)]
        state = {"s": {"x", "y", "zebra"}, "o": Outer(Inner(1.0)), "d": collections.deque([1])}
        return state, noise
    assert freeze(build()[0]) == freeze(build()[0])


def test_keyed_by_live_objects(freeze):
    a, b = Holder(1), Holder(2)
    live = {"table": {a: [1], (b, 0): [2]}, "all": [a, b]}
    first, second = live["table"][a], live["table"][b, 0]
    before = freeze(live)
    live["table"][a].append(5)
    del live["table"][b, 0]
    before.restore(live)
    assert list(live["table"]) == [a, (b, 0)] and live["table"][a] is first and first == [1]
    assert live["table"][b, 0] == second
