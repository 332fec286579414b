"""Gradients where several models train: whose, in which loops, cleared where and how; a question at each place.

What a question prints is what it prints in a plain run, of the whole run and of its last iteration.
"""

from __future__ import annotations

import itertools
import sys
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from workshop import Workshop

pytest.importorskip("torch")

HEAD = """
import torch
from torch import nn
torch.manual_seed(0)
a, b, c = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)
oa, ob, oc = (torch.optim.SGD(m.parameters(), 0.01, momentum=0.5) for m in (a, b, c))
def grads():
    return [None if p.grad is None else round(p.grad.double().sum().item(), 9) for m in (a, b, c) for p in m.parameters()]
def data():
    return torch.randn(8, 4)
"""
LOSSES = {"a": "c(b(a(data()))).square().mean()", "b": "c(b(data())).mean()", "c": "c(data()).square().mean()"}
"""Of a model: the gradients of those behind it come along."""
CLEARED = ("before backward", "behind the step", "every other time", "never")


def _step(model: str, cleared: str, to_none: bool) -> str:
    clear = f"o{model}.zero_grad(set_to_none={to_none})"
    lines = [f"loss = {LOSSES[model]}"]
    if cleared == "before backward":
        lines.append(clear)
    lines += ["loss.backward()", f"#ASK in {model}", f"o{model}.step()"]
    if cleared == "behind the step":
        lines.append(clear)
    if cleared == "every other time":
        lines += ["if step % 2:", f"    {clear}"]
    return "\n".join(lines)


def _loop(name: str, count: int, body: str) -> str:
    return f"for {name} in range({count}):\n{textwrap.indent(body, '    ')}"


def program(shape: str, models: str, cleared: str, to_none: bool) -> str:
    """The script, with a comment at each place of a question."""
    steps = [_step(model, cleared, to_none) for model in models]
    end = "#ASK behind\nprint('epoch', epoch, loss.item())"
    if shape == "nested":
        inner = _loop("step", 3, steps[0])
        body = "\n".join(["step = 0", inner, "#ASK between", *steps[1:], end])
    elif shape == "sibling":
        body = "\n#ASK between\n".join([*(_loop("step", 3, step) for step in steps), end])
    elif shape == "alternating":
        body = "\n".join([_loop("step", 3, "\n".join(steps)), end])
    else:  # in functions
        defined = "\n".join(
            f"def train_{model}():\n    for step in range(3):\n{textwrap.indent(step, ' ' * 8)}\n    return loss"
            for model, step in zip(models, steps)
        )
        body = "\n#ASK between\n".join(f"loss = train_{model}()" for model in models)
        return f"{HEAD}{defined}\n{_loop('epoch', 4, body + chr(10) + end)}\n#ASK at the end\n"
    return f"{HEAD}{_loop('epoch', 4, body)}\n#ASK at the end\n"


PROGRAMS = list(
    itertools.product(("nested", "sibling", "alternating", "in functions"), ("ca", "ac", "abc"), CLEARED, (True, False))
)


def _with(text: str, places: list[str]) -> str:
    lines = []
    for line in text.splitlines(keepends=True):
        place = line.strip().removeprefix("#ASK ")
        if line.strip().startswith("#ASK ") and place in places:
            line = line.replace(f"#ASK {place}", f"print('P', {place!r}, grads())")
        if "#ASK" not in line:
            lines.append(line)
    return "".join(lines)


@pytest.mark.parametrize(("shape", "models", "cleared", "to_none"), PROGRAMS, ids=lambda value: str(value))
def test_a_question_for_gradients(workshop: Workshop, shape: str, models: str, cleared: str, to_none: bool) -> None:
    text = program(shape, models, cleared, to_none)
    places = sorted({line.strip()[5:] for line in text.splitlines() if line.strip().startswith("#ASK ")})
    outer = [place for place in places if not place.startswith("in ")]
    first = True
    for asked in (outer, places):
        if first:
            _, replayed, truth = workshop.asked(_with(text, []), _with(text, asked))
            first = False
        else:
            workshop.write("train.py", _with(text, asked))
            truth = "".join(line for line in workshop.plain("train.py").out.splitlines(True) if line.startswith("P "))
            replayed = workshop.florc("replay", "train.py")
        assert replayed.out == truth and "florc: exact" in replayed.said, replayed.said
        part = workshop.florc("replay", "--iterations", "3", "train.py")
        lines = truth.splitlines(keepends=True)
        last = "".join(lines[3 * (len(lines) - 1) // 4 : -1])
        assert part.out.startswith(last), part.said
