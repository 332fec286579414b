"""Curves of values: which points they have, and that both ways to draw them show these."""

from __future__ import annotations

import re

import pytest
from florc.answers import plot
from florc.answers.rows import Row
from florc.project.script import Unusable
from workshop import Workshop


def _row(name: str, value: object, context: dict[str, int], verdict: str = "recorded", run: str = "a") -> Row:
    return Row(run, None, "/train.py", 1, context, 0, name, value, verdict)  # type: ignore[arg-type]


def test_recorded_and_asked_values_are_two_curves() -> None:
    rows = [_row("loss", 3 - epoch, {"epoch": epoch}) for epoch in range(3)]
    rows += [_row("norm", epoch * 0.5, {"epoch": epoch}, "exact") for epoch in (0, 2)]
    rows += [_row("word", "text", {"epoch": 0}), _row("loss", float("nan"), {"epoch": 3})]
    axis, (loss, norm) = plot.curves(rows, None)
    assert (axis, loss, norm) == (
        "epoch",
        plot.Curve("loss", False, [0.0, 1.0, 2.0], [3.0, 2.0, 1.0]),
        plot.Curve("norm, asked", True, [0.0, 2.0], [0.0, 1.0]),
    )


def test_values_without_a_loop_in_common_stand_in_their_order() -> None:
    rows = [_row("a", 5, {}), _row("a", 7, {"epoch": 0}), _row("a", 9, {"epoch": 0}, run="b")]
    axis, found = plot.curves(rows, None)
    assert axis == "value" and [(curve.label, curve.x) for curve in found] == [("a a", [0.0, 1.0]), ("a b", [0.0])]
    with pytest.raises(Unusable, match="not all values have that variable"):
        plot.curves(rows, "epoch")
    with pytest.raises(Unusable, match="no numbers"):
        plot.curves([_row("a", "x", {})], None)


SCRIPT = """
    import time
    class Model:
        total = 0
        def step(self):
            self.total += 1
            time.sleep(0.001)
    model = Model()
    for epoch in range(4):
        for step in range(3):
            model.step()
        print("loss", 1 / model.total)
"""


def test_curves_are_drawn_in_the_terminal_and_into_files(workshop: Workshop) -> None:
    pytest.importorskip("uniplot")
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.florc("ask", "train.py", "--inside", "9", "model.total")
    drawn = workshop.florc("plot", "train.py", "loss", "model.total")
    assert drawn.code == 0 and "loss" in drawn.out and "model.total, asked" in drawn.out and "\033" not in drawn.out, drawn
    assert workshop.florc("plot", "train.py", "nothing").code == 2
    assert "is drawn: .svg" in workshop.florc("plot", "loss", "-o", "curves.bmp").said
    pytest.importorskip("matplotlib")
    for name in ("curves.svg", "curves.html", "curves.png"):
        done = workshop.florc("plot", "loss", "model.total", "-o", name)
        assert (done.code, done.out) == (0, ""), done.said
    page = (workshop.path / "curves.html").read_text()
    assert page.startswith("<!doctype html>") and len(re.findall(r"<svg", page)) == 1
    assert (workshop.path / "curves.png").read_bytes().startswith(b"\x89PNG")
