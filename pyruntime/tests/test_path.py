"""A place in the loop nest as a value."""

from __future__ import annotations

import itertools

import pytest
from florc._native import Path

TEXTS = ["", "L1", "L1=3", "L1=-1", "L1.1=0", "L1#0/L1=2", "L1=3/L2#0/L2=70", "L1=3/L2#0/L2=70@", "L1@", "pkg.mod.L2.1=4/L3#1/L4"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_place_is_its_text(text: str) -> None:
    place = Path(text)
    assert str(place) == text and place == Path(text) and hash(place) == hash(Path(text)) and eval(repr(place)) == place
    assert bool(place) == bool(text)


@pytest.mark.parametrize("text", ["@", "L1=", "L1=x", "L1=03", "L1=3/", "=3", "L1=3@/L2=0", "L1=3#0", "L1=99999999999999999999"])
def test_another_text_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="is no place in the loop nest") as found:
        Path(text)
    assert text in str(found.value)
    with pytest.raises(ValueError):
        text in Path("L1")  # noqa: B015


def test_parts() -> None:
    place = Path("L1=3/m.L2#1/m.L2.4=70@")
    assert (place.loop, place.name, place.index, place.run, place.between) == ("m.L2", "m.L2.4", 70, None, True)
    assert str(place.place) == "L1=3/m.L2#1/m.L2.4" and str(place.parent) == "L1=3/m.L2#1" and str(place.head) == "L1=3"
    assert (place.parent.loop, place.parent.run, place.parent.index, place.parent.between) == ("m.L2", 1, None, False)
    assert list(map(str, place.lineage)) == ["L1=3", "L1=3/m.L2#1", "L1=3/m.L2#1/m.L2.4=70"]
    assert place.iterations == [("L1", 3), ("L1=3/m.L2#1/m.L2.4", 70)] and place.blocks == ["m.L2"]
    assert place.shape == "L1=/m.L2#/m.L2.4=" and Path("L1=-1").shape == "L1="
    assert str(place.outermost) == "L1" and str(Path("L1#0/L1=2/L2=0").outermost) == "L1#0/L1"
    assert place.place.at(70).start() == place
    program = Path("")
    assert (program.parent, program.name, program.index, program.lineage) == (None, "", None, []) and program.head == program
    for name in ("at", "start"):
        with pytest.raises(ValueError):
            getattr(program, name)(*[0] * (name == "at"))


def test_what_holds_what() -> None:
    held = {("L1", "L1=3"), ("L1=3", "L1=3/L2#0"), ("L1=3", "L1=3@"), ("", "L1=3"), ("L1=3/L2#0", "L1=3/L2#0/L2=7")}
    apart = {("L1=1", "L1=10"), ("L1", "L11=0"), ("L1", "L1.1=0"), ("L2", "L2#0"), ("L1=3@", "L1=3"), ("L1=3/L2#0", "L1=3")}
    for outer, inner in held | apart:
        assert (inner in Path(outer)) == (Path(inner) in Path(outer)) == ((outer, inner) in held), (outer, inner)
    assert all(text in Path(text) for text in TEXTS)
    assert str(Path("L1").below("L1=3/L2#0")) == "L1=3" and str(Path("L1=3").below(Path("L1=3/L2#0/L2=7"))) == "L1=3/L2#0"
    assert Path("L1").below("L1") is None and Path("L1=3").below("L1=30/L2#0") is None


def test_order_is_the_program_s() -> None:
    texts = ["L1", "L1=2", "L1=2/L2#0", "L1=2/L2#0/L2=9", "L1=2/L2#0/L2=10", "L1=2/L2#1", "L1=3@", "L1=3", "L1=3/L2#0", "L1=10"]
    for (a, one), (b, other) in itertools.product(enumerate(map(Path, texts)), repeat=2):
        assert ((one < other), (one <= other), (one > other)) == ((a < b), (a <= b), (a > b))
    one, other = Path("L1=2/L2#0"), Path("L1=2/L3#0")
    assert not one < other and not other < one and one != other
    sides = {"L1=1/L3#0": -1, "L1=2": 0, "L1=2/L2#0": 0, "L1=3": 1, "L1": None, "L2=0": None, "": None}
    assert {text: Path("L1=2").side(text) for text in sides} == sides
