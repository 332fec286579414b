# florc: exact
# florc: why = a call that florc cannot see into gets values that cannot change: equal is enough, where there is no same object
import collections
import datetime
import functools
import types

Plain = collections.namedtuple("Plain", "update scale")


class Derived(Plain):
    """With a `__dict__`, as a subclass without `__slots__` has one."""


def made(scale):
    def update(value):
        return value * scale

    return update


def weigh(values, by=1, kind=""):
    return sum(values) * by + len(kind)


number = 100_000
settings = types.SimpleNamespace(chunk=4096, ratio=0.1, pair=(1, (2.5, "x")), day=datetime.date(2020, 1, 2))
step = functools.partial(weigh, by=1000, kind="kind")
optimizer = Derived(made(3), 0.5)
values = [(number, 1), frozenset({1, 2}), b"bytes" * 100, range(number)]
calls = {"even": lambda state, *given: state + len(given), "odd": lambda state, *given: state - 0.5}

state = 0.25
for epoch in range(4):
    for i in range(6):
        call = calls["odd" if i % 2 else "even"]
        state = call(state, number, settings.chunk, settings.pair, settings.day, settings.ratio)
        state = call(state, step, optimizer, values[0], values[1], values[2], values[3]) * 1.01
    print("epoch", epoch, state)
+    print("PROBE", state, step([epoch]), optimizer.update(state), settings.chunk)
