"""Names that a loop binds and nothing reads: an added statement after the loop is answered from the checkpoint, and rightly."""

from __future__ import annotations

import json
import sys

import pytest
from workshop import Workshop

TORCH = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(20, 10)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def compute(i):
    return net(torch.randn(64, 20))
def learn(loss):
    opt.zero_grad(); loss.backward(); opt.step()
"""
NUMPY = """
import numpy as np
rng = np.random.default_rng(0)
w = np.ones((20, 10))
def compute(i):
    return rng.random((64, 20)) @ w
def learn(loss):
    w[:] *= 1 - loss / 100
"""
LOOP = """
    total, last = 0.0, None
    for i in range(4):
        outputs = compute(i)
        loss = (outputs ** 2).mean()
        learn(loss)
        total += loss.item()
        rate, tag, pair, none, big = np.float32(total), f"step {{i}}", (i, total), None, 1 << 80
        few = np.arange(3) * i
        alias = held
        view = held[:2]
        where = id(outputs)
        if i == epoch > 0: only = i
        time.sleep(0.02)
    np.add(held, 1, out=held)
    print("epoch", epoch)
"""
MODULE = "import time; import numpy as np\nheld = np.zeros(3)" + "{}" + "for epoch in range(3):" + LOOP
FUNCTION = (
    "import time; import numpy as np\nheld = np.zeros(3)"
    + "{}"
    + "def train(epoch):"
    + LOOP
    + "for epoch in range(3):\n    train(epoch)\n"
)
PROGRAMS = {"module, torch": MODULE.format(TORCH), "function, torch": FUNCTION.format(TORCH), "function": FUNCTION.format(NUMPY)}
KEPT = (
    "i, total, pair, tag, none, loss, loss.item(), rate, few, outputs.shape, len(outputs), outputs.dtype, outputs.ndim, "
    "f'{total:.5f} {i:03}'"
)
RUN_AGAIN = ["outputs.sum()", "big", "alias", "view", "where > 0", "outputs.shape, outputs.mean()", "len([outputs][0][0])"]


_WHY = "which its checkpoints do not hold"


def _asked(workshop: Workshop, text: str, asks: str) -> tuple:
    """What a plain run, and a replay, say to a statement after the loop; and the replay's own words."""
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    line = next(line for line in text.splitlines() if line.strip().startswith('print("epoch"'))
    blanks = line[: len(line) - len(line.lstrip())]
    workshop.write("train.py", text.replace(line, f"{blanks}print('HIND', {asks})\n{line}"))
    replayed, plain = workshop.florc("replay", "train.py"), workshop.plain("train.py")
    return [line for line in plain.out.splitlines() if "HIND" in line], replayed


@pytest.mark.parametrize("program", PROGRAMS)
def test_it_is_answered_from_the_checkpoint(workshop: Workshop, program: str) -> None:
    truth, replayed = _asked(workshop, PROGRAMS[program], KEPT)
    assert replayed.out.splitlines() == truth and len(truth) == 3, replayed
    assert replayed.code == 0 and "exact" in replayed.said and "florc: 0 blocks restored" not in replayed.said, replayed.said
    assert _WHY not in replayed.said, replayed.said


@pytest.mark.parametrize("asks", RUN_AGAIN)
def test_what_is_large_or_shared_is_computed_again(workshop: Workshop, asks: str) -> None:
    truth, replayed = _asked(workshop, PROGRAMS["function"], asks)
    assert replayed.out.splitlines() == truth and len(truth) == 3, replayed
    assert replayed.code == 0 and _WHY in replayed.said and "exact" in replayed.said, replayed.said


def test_a_name_that_some_executions_leave_unbound_is_computed_again(workshop: Workshop) -> None:
    truth, replayed = _asked(workshop, MODULE.format(NUMPY), "'only' in globals() and only")
    assert replayed.out.splitlines() == truth and len(truth) == 3, replayed


def test_an_edited_statement_may_ask_for_more_than_the_form(workshop: Workshop) -> None:
    text = MODULE.format(NUMPY)
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", text.replace('print("epoch", epoch)', 'print("epoch", epoch, outputs.shape, outputs[0, 0])'))
    replayed, plain = workshop.florc("replay", "train.py"), workshop.plain("train.py")
    assert replayed.out == plain.out, replayed


def test_what_differs_in_a_name_that_nobody_reads_is_no_difference(workshop: Workshop) -> None:
    """`took` comes from a clock that is not recorded."""
    text = """
        import time
        clock = time.perf_counter
        w = 0.0
        for epoch in range(3):
            for step in range(20):
                begun = clock()
                time.sleep(0.003)
                w += step
                took = clock() - begun
            print("epoch", epoch, w)
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write(
        "train.py", text.replace("                took", "                if step == 3: print('HIND', w)\n                took")
    )
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == [f"HIND {190.0 * epoch + 6}" for epoch in range(3)]
    assert replayed.code == 0 and "exact" in replayed.said, replayed.said


def test_a_checkpoint_keeps_at_most_a_thousand_bytes_of_them() -> None:
    from florc import _native
    from florc.record import dead_values

    names = [f"n{number}" for number in range(500)]
    scope = {"texts": "x" * 300, **{name: number for number, name in enumerate(names)}}
    text = "".join(f"    {name} = 1\n" for name in ("texts", *names))
    (loop,) = _native.instrument(f"for _ in range(3):\n{text}", "train.py").plan.loops
    assert set(names) < set(loop.binds)
    frame = eval("__import__('sys')._getframe()", scope)
    values, forms = dead_values.of_block(loop, frame)
    assert "texts" not in values and 0 < 8 * len(values) <= dead_values.MOST_BYTES and not forms
    assert all(sys.getsizeof(value) < 100 for value in values.values()) and json.dumps(values)
