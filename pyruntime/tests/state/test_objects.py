"""Objects: identity, sharing, what is taken by reference, what cannot be restored."""

import collections
import logging
import random
import sys
import threading

import pytest
from florc.state import CannotRestore, Unsupported, restore
from test_plain import AverageMeter, Inner, Outer, Slotted


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

    with pytest.raises(CannotRestore):
        restore(before.graph, broken, {"v": live})


def generator():
    yield 1


@pytest.mark.parametrize(
    "make",
    [generator, lambda: iter("a"), lambda: enumerate([1]), lambda: zip([1]), threading.Lock, lambda: open("/dev/null", "w")],
)
def test_roots_that_cannot_be_restored(freeze, make):
    with pytest.raises(Unsupported) as caught:
        freeze({"ok": 1, "it": make()})
    assert caught.value.place_path == "it"


def test_output_roots(freeze):
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


class PerThread(threading.local):
    count = 0


class MadeWith(threading.local):
    def __init__(self, count):
        self.count = count


def _elsewhere(run):
    found = []
    thread = threading.Thread(target=lambda: found.append(run()))
    thread.start()
    thread.join()
    return found[0]


def test_what_this_thread_has_of_its_own(round_trip):
    recorded, live, there = PerThread(), PerThread(), PerThread()
    recorded.count, recorded.rows, live.other = 3, [1], 2
    out = round_trip({"v": recorded, "same": recorded, "plain": threading.local()}, {"v": live, "plain": threading.local()})
    assert out["v"] is out["same"] and vars(out["v"]) == {"count": 3, "rows": [1]}
    round_trip({"v": recorded}, {"v": there}, nothing=False)
    assert vars(there) == vars(recorded) and there.rows is not recorded.rows


def test_what_other_threads_have_stays(freeze):
    live = PerThread()
    before = freeze({"v": live})
    live.count = 1
    ready, done, found = threading.Event(), threading.Event(), []

    def other():
        live.count = 7
        ready.set()
        done.wait(30)
        found.append(live.count)

    thread = threading.Thread(target=other)
    thread.start()
    ready.wait(30)
    before.restore({"v": live})
    done.set()
    thread.join()
    assert live.count == 0 and not vars(live) and found == [7]


def test_what_each_thread_makes_cannot_be_made_anew(freeze):
    recorded, live = MadeWith(2), MadeWith(5)
    before = freeze({"v": recorded})
    before.restore({"v": live})
    assert live.count == 2 and _elsewhere(lambda: live.count) == 5
    with pytest.raises(CannotRestore, match="other threads"):
        before.restore({})
