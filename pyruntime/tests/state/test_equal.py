"""Values that cannot change: an equal one that is here stays, and the least difference brings the recorded one."""

import collections
import datetime
import decimal
import functools
import pathlib
import uuid
import weakref

import pytest
from florc.state import same_value

Point = collections.namedtuple("Point", "x y")


class Derived(Point):
    """With a `__dict__`."""


class Slotted(Point):
    __slots__ = ()


class Name(str):
    """With a `__dict__`."""


class Number(int):
    __slots__ = ()


class Owner:
    def run(self):
        return 1


def local(number):
    return lambda: number


OWNER, FUNCTION, ITEMS = Owner(), local(1), [1]
# each makes another object whenever it is called, of numbers that are no shared objects
KINDS = {
    "tuple": lambda n: (n, "x", (0.5, n)),
    "tuple of objects": lambda n: (OWNER, ITEMS, n),
    "empty frozenset": lambda n: frozenset() if n == 10**6 else frozenset({n}),
    "frozenset": lambda n: frozenset({n, "x", (n, 1)}),
    "bytes": lambda n: bytes(str(n), "ascii") * 200,
    "partial": lambda n: functools.partial(int, str(n), base=n),
    "partial of objects": lambda n: functools.partial(OWNER.run, n, ITEMS, key=ITEMS),
    "partial of a function without a name": lambda n: functools.partial(FUNCTION, n),
    "named tuple": lambda n: Point(n, (n, ITEMS)),
    "derived from a named tuple": lambda n: Derived(FUNCTION, n),
    "derived, with slots": lambda n: Slotted(FUNCTION, n),
    "text": lambda n: Name(n),
    "number": lambda n: Number(n),
    "range": lambda n: range(n),
    "slice": lambda n: slice(n, 2 * n),
    "date": lambda n: datetime.datetime(2020, 1, 1) + datetime.timedelta(seconds=n),
    "decimal": lambda n: decimal.Decimal(n),
    "path": lambda n: pathlib.PurePosixPath("/data") / str(n),
    "uuid": lambda n: uuid.UUID(int=n),
    "method": lambda n: OWNER.run if n == 10**6 else Owner().run,
}
PLACES = {
    "place": (lambda value: value, lambda held: held),
    "element": (lambda value: [value], lambda held: held[0]),
    "value of a key": (lambda value: {"key": value}, lambda held: held["key"]),
    "in a tuple": (lambda value: [(1, value)], lambda held: held[0][1]),
    "attribute": (lambda value: _with(value), lambda held: held.attribute),
}


def _with(value):
    made = Owner()
    made.attribute = value
    return made


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_equal_value_stays(round_trip, kind, place):
    put, get = PLACES[place]
    recorded, live = KINDS[kind](10**6), KINDS[kind](10**6)
    parts = {"owner": OWNER, "items": ITEMS, "function": FUNCTION}
    found = round_trip({"v": put(recorded), **parts}, {"v": put(live), **parts}, nothing=False)
    assert get(found["v"]) is live


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_another_value_does_not_stay(round_trip, kind, place):
    put, get = PLACES[place]
    recorded, live = KINDS[kind](10**6), KINDS[kind](10**6 + 1)
    parts = {"owner": OWNER, "items": ITEMS, "function": FUNCTION}
    found = get(round_trip({"v": put(recorded), **parts}, {"v": put(live), **parts}, nothing=False)["v"])
    assert type(found) is type(recorded)
    assert repr(found) == repr(recorded)


def test_equal_is_equal_to_the_last_bit(round_trip):
    for recorded, live in [((0.0,), (-0.0,)), ((1,), (True,)), ((1,), (1.0,)), (range(0), range(5, 5))]:
        found = round_trip({"v": [recorded]}, {"v": [live]}, nothing=False)["v"][0]
        assert found is not live
        assert repr(found) == repr(recorded)


def test_attributes_of_a_value_count(round_trip):
    recorded, live = Derived(1, 2), Derived(1, 2)
    recorded.note = "then"
    assert round_trip({"v": recorded}, {"v": live}, nothing=False)["v"].note == "then"
    live.note = "then"
    assert round_trip({"v": recorded}, {"v": live}, nothing=False)["v"] is live


def test_long_tuples_are_equal_though_made_anew(round_trip):
    recorded, live = tuple(range(200)), tuple(range(200))
    assert same_value(round_trip({"v": recorded}, {"v": live})["v"], live)
    assert not same_value(recorded, (*live[:-1], 0))


def test_weak_references(round_trip):
    live, other = weakref.ref(OWNER), weakref.ref(Owner())
    places = {"v": [live], "o": OWNER}
    assert round_trip(places, places, nothing=False)["v"][0] is live
    assert round_trip({"v": [weakref.ref(OWNER)], "o": OWNER}, {"v": [other], "o": OWNER}, nothing=False)["v"][0]() is OWNER


def test_what_makes_a_value_runs_no_code_of_its_class(round_trip):
    class Loud(tuple):
        def __eq__(self, other):
            raise RuntimeError

        def __iter__(self):
            raise RuntimeError

        def __len__(self):
            raise RuntimeError

        __hash__ = None

    live = tuple.__new__(Loud, (1, 2))
    assert round_trip({"v": tuple.__new__(Loud, (1, 2))}, {"v": live}, nothing=False)["v"] is live
