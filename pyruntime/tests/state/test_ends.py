"""Which generators do something when they are dropped: compared with what Python does."""

import sys

import pytest
from florc.state import ends

DONE = []


def plain():
    yield 1
    yield 2


def beside():
    """Its handler is somewhere else."""
    try:
        DONE.count(0)
    except ValueError:
        DONE.append("handled")
    yield 1


def stops(source=(1, 2)):
    """As data loaders of accelerate are written: one item ahead."""
    it = iter(source)
    current = next(it)
    while True:
        try:
            ahead = next(it)
            yield current
            current = ahead
        except StopIteration:
            yield current
            break


def finally_():
    try:
        yield 1
    finally:
        DONE.append("finally")


def with_():
    with Says():
        yield 1


def catches():
    try:
        yield 1
    except BaseException:
        DONE.append("caught")
        raise


def catches_one_of():
    try:
        yield 1
    except (StopIteration, GeneratorExit):
        DONE.append("caught")


def in_handler_inside_finally():
    try:
        try:
            raise StopIteration
        except StopIteration:
            yield 1
    finally:
        DONE.append("outer")


def bare():
    try:
        yield 1
    except:
        DONE.append("bare")
        raise


def in_loop_inside_with():
    with Says():
        for n in range(3):
            try:
                yield n
            except StopIteration:
                return


class Says:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        DONE.append("left")


def delegates():
    yield from plain()


def delegates_inside_try():
    try:
        yield from plain()
    finally:
        DONE.append("over")


KINDS = [
    plain, beside, stops, finally_, with_, catches, catches_one_of, in_handler_inside_finally, bare, in_loop_inside_with, delegates,
    delegates_inside_try,
]  # fmt: skip


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_dropping_a_generator_runs_is_foreseen(kind, steps):
    generator = kind()
    for _ in range(steps):
        next(generator, None)
    foreseen = ends.runs_code(generator)
    DONE.clear()
    generator.close()
    if DONE:
        assert foreseen
    elif sys.version_info >= (3, 11):
        assert not foreseen


def test_a_name_that_hides_stop_iteration_is_not_taken_for_it():
    names = {"StopIteration": BaseException, "DONE": DONE}
    exec("def hides():\n    try:\n        yield 1\n    except StopIteration:\n        DONE.append(1)\n", names)
    generator = names["hides"]()
    next(generator)
    assert ends.runs_code(generator)
