"""A restore that takes longer than the block is not taken for ever, and lost attempts are part of the time that is told."""

from __future__ import annotations

import json

from workshop import Workshop


def test_a_deque_of_many_small_tensors_is_run_again_when_that_is_faster(workshop: Workshop) -> None:
    script = """
    import collections
    import torch
    torch.manual_seed(0)
    memory = collections.deque(maxlen=6000)
    for _ in range(6000):
        memory.append(torch.rand(2))
    seen = 0.0
    for epoch in range(8):
        for step in range(2):
            memory.append(torch.rand(2))
            seen += float(memory[-1].sum())
        print("epoch", epoch, seen)
    """
    workshop.write("train.py", script)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    probe = 'print("epoch", epoch, seen)\n        print("PROBE", epoch, float(torch.stack(list(memory)).sum()))'
    workshop.write("train.py", script.replace('print("epoch", epoch, seen)', probe))
    expected = [line for line in workshop.plain("train.py").out.splitlines() if "PROBE" in line]
    *values, told = map(json.loads, workshop.florc("replay", "--json", "train.py").out.splitlines())
    assert [value["text"] for value in values] == expected and told["verdict"] == "exact", told
    why = [reason for reasons in told["reasons"].values() for reason in reasons]
    assert "restoring it takes longer" in why, told
    assert 2 <= told["skipped"] < 8, told
