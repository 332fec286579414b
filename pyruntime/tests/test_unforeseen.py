"""What a block changes beside its places: other views of memory that is restored are no news, any other memory is."""

from __future__ import annotations

import re

import pytest
from workshop import Workshop

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from florc.survey.memory import lies_in, memory_of  # noqa: E402

FORESEEN = {
    "an array over a tensor": """
        import time, torch
        values = torch.zeros(2, 3)
        for epoch in range(4):
            for i in range(3):
                time.sleep(0.05)
                values[:, i] = epoch * i
            seen = values.reshape(-1).cpu().numpy()
            #PROBE
            print(epoch, seen.sum())
        """,
    "a tensor over a part of one": """
        import time, torch
        values = torch.zeros(6)
        for epoch in range(4):
            for i in range(6):
                time.sleep(0.03)
                values[i] = epoch * i
            seen = values.detach()[2:]
            #PROBE
            print(epoch, seen.sum().item())
        """,
}

HALF = """
    import time
    import numpy as np
    import torch
    class Kept:
        pass
    def halves(whole):
        kept = Kept()
        kept.rows = whole[4:]
        return whole[:4], kept
    def bump(rows):
        rows += 1
    half, kept = halves(MADE)
    todo = {"bump": lambda: bump(kept.rows)}
    for epoch in range(3):
        for i in range(3):
            time.sleep(0.03)
            half[:] = half + i
            todo["bump"]()
        #PROBE
        print(epoch, half.sum().item())
    """


@pytest.mark.parametrize("name", FORESEEN)
def test_a_view_of_what_is_restored_changes_with_it(name: str, workshop: Workshop) -> None:
    workshop.write("train.py", FORESEEN[name])
    recorded = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert recorded.code == 0 and "not foresee" not in recorded.said, recorded.said
    workshop.write("train.py", FORESEEN[name].replace("#PROBE", "print('PROBE', seen.tolist())"))
    wanted = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    done = workshop.florc("replay", "train.py")
    assert (done.out.splitlines(), done.code) == (wanted, 0) and "4 blocks restored" in done.said, done.said


@pytest.mark.parametrize("made", ["np.zeros(8)", "torch.zeros(8)"])
def test_the_other_half_of_what_is_restored_is_seen_to_change(made: str, workshop: Workshop) -> None:
    text = HALF.replace("MADE", made)
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert re.search(r"it changes kept\.rows\(data\), which its plan does not foresee \(train\.py:\d+", recorded.said), (
        recorded.said
    )
    workshop.write("train.py", text.replace("#PROBE", "print('PROBE', kept.rows.tolist())"))
    wanted = [line for line in workshop.plain("train.py").out.splitlines() if line.startswith("PROBE")]
    done = workshop.florc("replay", "train.py")
    assert (done.out.splitlines(), done.code) == (wanted, 0), done.said


def test_memory_that_is_written_when_an_object_is_restored() -> None:
    tensor = torch.zeros(4, 6)
    whole = memory_of([tensor])
    views = [tensor[1], tensor.t(), tensor[:, 0], tensor.numpy(), tensor.numpy()[::-1, ::2], torch.from_numpy(tensor.numpy()[2:])]
    assert all(lies_in(view, whole) for view in views)
    assert not lies_in(torch.zeros(4, 6), whole) and not lies_in(np.zeros(2), whole) and not lies_in([tensor], whole)
    assert lies_in(tensor[1].numpy(), memory_of([tensor[:2]])) and not lies_in(tensor[2], memory_of([tensor[:2]]))
    assert not lies_in(tensor[1:3], memory_of([tensor[:2]]))
    assert not lies_in(tensor[1], memory_of([tensor[:, 0]])), "what is between its elements is not written"
    array = np.zeros((4, 6))
    assert lies_in(torch.from_numpy(array)[1:], memory_of([array.T])) and lies_in(array[:, 1], memory_of([array]))
    assert not lies_in(array[1], memory_of([array[:, ::2]])) and not lies_in(array[:0], memory_of([array]))


def test_what_is_restored_with_new_memory_has_no_views() -> None:
    computed = torch.zeros(3, requires_grad=True) * 2
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    assert memory_of([computed, fixed, torch.zeros(0), torch.zeros(3, device="meta"), "text"]) == []
    assert not lies_in(computed.detach(), memory_of([computed])) and not lies_in(fixed[:1], memory_of([fixed]))


def test_what_was_seen_is_told_with_its_place(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        import time
        class Meter:
            count = 0
        meter = Meter()
        meter.count = 0
        class Counting(dict):
            def __missing__(self, key):
                meter.count += 1
                return key
        numbers, w = Counting(), 0.0
        for epoch in range(3):
            for step in range(20):
                w += numbers[step]
                time.sleep(0.003)
            print("epoch", epoch, w)
    """,
    )
    recorded = workshop.florc("record", "--overhead", "0.9", "train.py")
    assert re.search(r"it changes meter\.count \(now \d+\), which its plan does not foresee \(train\.py:12\)", recorded.said), (
        recorded.said
    )
