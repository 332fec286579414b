"""CUDA graphs that a script captures: what ran before warmed the device up, and runs again in a replay (`record/captured.py`)."""

from __future__ import annotations

import pytest
from workshop import Workshop

torch = pytest.importorskip("torch")

# Without a device the method of torch fails, after florc was told; `capture` is found in the frames as torch's own code is.
SCRIPT = """
    import sys, time, torch

    warm = set()
    weights = [0.0]

    def capture():
        if not warm:
            sys.exit("the device is cold")
        try:
            torch.cuda.CUDAGraph.capture_begin(object())
        except Exception:
            pass

    for step in range(3):
        warm.add(step)
        time.sleep(0.02)
    {capture}
    for epoch in range(4):
        for step in range(3):
            weights[0] += step
            time.sleep(0.02)
        print(epoch, weights)
        #ADDED
"""
BY_TORCH = "exec(compile('capture()', '/x/torch/_inductor/cudagraph_trees.py', 'exec'))"


@pytest.mark.parametrize(("capture", "again"), [("capture()", 1), (BY_TORCH, 0), ("None", 0)], ids=["own", "compiled", "none"])
def test_what_ran_before_a_capture_runs_again(workshop: Workshop, capture: str, again: int) -> None:
    text = SCRIPT.format(capture=capture)
    file = workshop.write("train.py", text)
    plain = workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert (recorded.out, recorded.err, recorded.code) == (plain.out, plain.err, 0), recorded.said
    file.write_text(file.read_text().replace("#ADDED", "print('PROBE', weights, len(warm))"))
    expected = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == expected and "exact: " in replayed.said, replayed.said
    assert f"{5 - again} blocks restored" in replayed.said and f"{again} run again" in replayed.said, replayed.said
    assert ("a CUDA graph was captured after it" in replayed.said) is bool(again), replayed.said


def test_a_capture_in_the_middle_drops_what_was_before_it(workshop: Workshop) -> None:
    text = SCRIPT.format(capture="None").replace(
        "print(epoch, weights)", "if epoch == 1: capture()\n        print(epoch, weights)"
    )
    file = workshop.write("train.py", text)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    file.write_text(file.read_text().replace("#ADDED", "print('PROBE', weights, len(warm))"))
    expected = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == expected and "exact: " in replayed.said, replayed.said
    assert "2 blocks restored" in replayed.said and "3 run again" in replayed.said, replayed.said
