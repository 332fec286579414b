"""The states of the global generators, read from memory, are those that the generators tell."""

from __future__ import annotations

import array
import random
from typing import Any

import pytest
from florc import _native
from florc.adapters import twisters


def _told() -> tuple[Any, ...]:
    version, words, gauss = random.getstate()
    return version, array.array("I", words).tobytes(), gauss


@pytest.mark.parametrize("draw", [random.random, lambda: random.gauss(0, 1), lambda: random.shuffle(list(range(700)))])
def test_of_python(draw: Any) -> None:
    random.seed(3)
    for _ in range(5):
        assert tuple(twisters.of_python()) == _told()
        before = twisters.of_python()
        draw()
        assert twisters.of_python() != before
    assert twisters._python is not None and twisters._python > 0  # read from memory, not asked for


@pytest.mark.parametrize("draw", ["rand", "standard_normal", "binomial", "permutation"])
def test_of_numpy(draw: str) -> None:
    numpy = pytest.importorskip("numpy")
    numpy.random.seed(3)
    generator = numpy.random.mtrand._rand
    arguments = {"binomial": (10, 0.5), "permutation": (9,)}.get(draw, ())
    for _ in range(5):
        found = twisters.of_numpy(generator)
        said = numpy.random.get_state(legacy=False)
        assert found == (said["state"]["key"].tobytes(), said["state"]["pos"], said["has_gauss"], said["gauss"])
        getattr(numpy.random, draw)(*arguments)
        assert twisters.of_numpy(generator) != found
    assert twisters._numpy is not None and twisters._numpy.words > 0


def test_of_others_is_asked_for() -> None:
    numpy = pytest.importorskip("numpy")

    class Own(numpy.random.RandomState):  # type: ignore[misc, name-defined]
        pass

    assert twisters.of_numpy(Own(1)) is None
    assert twisters.of_numpy(numpy.random.RandomState(numpy.random.PCG64(1))) is None


@pytest.mark.parametrize(("start", "length"), [(0, 8), (15, 1), (16, 1 << 20), (1 << 62, 1 << 62)])
def test_only_what_an_object_has_is_read(start: int, length: int) -> None:
    with pytest.raises(ValueError, match="bytes"):
        _native.inline_bytes(random.Random(1), start, length)
