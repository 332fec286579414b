"""The memory that a run held, iteration by iteration: measured seldom, shown where it is asked for."""

from __future__ import annotations

import csv
import io
import json

from florc.record.memory import BETWEEN_S, Memory
from florc.runs.memory import Measured
from florc.ui.curves import MEMORY
from florc.ui.facts import Facts
from workshop import Workshop

LEAK = 8 << 20
SCRIPT = f"""
    import os, time
    kept = []
    for epoch in range(10, 15):
        kept.append(b"x" * {LEAK})
        for step in range(3):
            time.sleep(0.02)
        print("loss", 1 / epoch, os.open(os.devnull, os.O_RDONLY))
"""
NAMES = ("memory.resident", "memory.peak")


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_what_leaks_is_seen_in_logs_show_and_the_page(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    plain = workshop.plain("train.py").out
    assert workshop.florc("record", "train.py").out == plain, "its descriptors have the numbers that they have without florc"
    rows = _rows(workshop.florc("logs", "--format", "csv", *NAMES).out)
    held = {name: [int(row["value"]) for row in rows if row["name"] == name] for name in NAMES}
    assert [row["epoch"] for row in rows if row["name"] == NAMES[0]] == [str(epoch) for epoch in range(10, 15)]
    assert {(row["at"], row["verdict"]) for row in rows} == {("train.py:3", "recorded")}
    for number, resident in enumerate(held["memory.resident"]):
        grown = resident - held["memory.resident"][0]
        assert abs(grown - number * LEAK) < LEAK / 2, held
    assert all(peak >= resident for peak, resident in zip(held["memory.peak"], held["memory.resident"]))
    asked = workshop.florc("query", "--format", "csv", "SELECT number, resident, peak, device FROM memory").out
    columns = [[row["number"], row["resident"], row["device"]] for row in _rows(asked)]
    assert columns == [[str(at), str(value), ""] for at, value in zip(range(10, 15), held["memory.resident"])]
    found = json.loads(workshop.florc("show", "--json").out)["memory"]
    ends = [(one["iteration"], one["resident"]) for one in found["iterations"]]
    assert (found["loop"], ends) == ("epoch", [(10, held["memory.resident"][0]), (14, held["memory.resident"][-1])])
    assert found["peak"] >= held["memory.peak"][-1] and found["device_peak"] is None
    shown = workshop.florc("show").out
    assert f"memory: {ends[0][1] / 1e6:.1f} MB after epoch 10, {ends[1][1] / 1e6:.1f} MB after epoch 14, peak " in shown, shown
    panels = Facts(str(workshop.path / ".florc")).answers["curves"]({})["panels"]
    (panel,) = [panel for panel in panels if panel["name"] == MEMORY]
    curves = {curve["label"]: (curve["x"], curve["y"]) for curve in panel["curves"]}
    assert panel["axis"] == "epoch"
    assert curves == {name: ([*range(10, 15)], [value / 1e6 for value in held[name]]) for name in NAMES}
    (listed,) = json.loads(f"[{workshop.florc('runs', '--columns', NAMES[0], '--json').out}]")
    assert listed == {NAMES[0]: held[NAMES[0]]}


def test_it_is_no_printed_value_unless_it_is_named(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "train.py")
    assert NAMES[0] not in workshop.florc("logs").out
    (entries,) = _rows(
        workshop.florc("query", "--format", "csv", "SELECT count(*) AS n FROM entries WHERE name LIKE 'memory%'").out
    )
    assert entries == {"n": "0"}
    assert "there are: loss, os.open(os.devnull, os.O_RDONLY), memory.resident, memory.peak" in workshop.florc("logs", "x").said
    beyond = _rows(workshop.florc("logs", "--format", "csv", "loss", NAMES[0], "--where", "value > 1000 AND epoch > 12").out)
    assert [(row["name"], row["epoch"]) for row in beyond] == [(NAMES[0], "13"), (NAMES[0], "14")]


def test_fast_iterations_are_looked_at_now_and_then_and_the_last_one_is(workshop: Workshop) -> None:
    text = """
        import sys
        sys.addaudithook(lambda event, given: print("seen", given) if "status" in str(given) else None)
        n = 0
        for step in range(100_000):
            n += step
            if n < 0:
                print("never")
        print(n)
        for batch in range(100_000):
            n += 1
            if batch == 70_000:
                print("left", batch)
                break
        print(n)
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").out == workshop.plain("train.py").out
    seconds = json.loads(workshop.florc("show", "--json").out)["seconds"]
    rows = _rows(workshop.florc("query", "--format", "csv", "SELECT variable, number FROM memory").out)
    assert len(rows) <= seconds / BETWEEN_S + 2, rows
    last = {row["variable"]: int(row["number"]) for row in rows}
    assert last == {"step": 99_999, "batch": 70_000}, "also of the loop that was left in the middle"


def test_a_device_that_the_script_uses_is_looked_at(workshop: Workshop) -> None:
    text = """
        import sys, time, types
        class Cuda(types.ModuleType):
            ready = False
            def is_initialized(self):
                return self.ready
            def memory_stats_as_nested_dict(self):
                assert self.ready, "florc would begin to use it"
                return {"allocated_bytes": {"all": {"current": 1000 * epoch, "peak": 1_000_000 + epoch}}}
        sys.modules["torch.cuda"] = cuda = Cuda("torch.cuda")
        for epoch in range(4):
            time.sleep(0.06)
            cuda.ready = epoch > 0
            print("epoch", epoch)
    """
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "train.py")
    assert recorded.out == workshop.plain("train.py").out and "error" not in recorded.said, recorded
    rows = _rows(workshop.florc("logs", "--format", "csv", "memory.device", "memory.device_peak", "--pivot").out)
    assert [tuple(map(int, row.values())) for row in rows] == [(n, 1000 * n, 1_000_000 + n) for n in (1, 2, 3)]
    assert "; memory of the device: 3.0 kB after epoch 3, peak 1.0 MB" in workshop.florc("show").out


def test_a_run_without_loops_has_a_peak(workshop: Workshop) -> None:
    workshop.write("train.py", "print('loss', 1)\n")
    workshop.florc("record", "train.py")
    assert "  memory: peak " in workshop.florc("show").out
    assert workshop.florc("logs", "memory.peak").code == 2
    empty = "for epoch in []:\n    print('never')\n"
    workshop.write("train.py", empty)
    workshop.florc("record", "train.py")
    assert _rows(workshop.florc("query", "--format", "csv", "SELECT number FROM memory").out) == []


def test_what_is_measured_belongs_to_the_iteration_before() -> None:
    found = Measured()
    # an inner loop, a loop that was left in the middle, an empty one, one whose beginning was lost
    found.begins("L1=0", [1, 1])
    found.begins("L1=0/L2=0", [])
    found.begins("L1=1", [2, 2])
    found.begins("L1=1/L2=5", [])
    found.begins("L3=0", [3, 3])
    found.ends("L3=0", [4, 4])
    found.ends("L4=7", [5, 5])
    found.begins("C1#0/L5=0", [])
    found.begins("C1#0/L5=1", [])
    found.ends("", [6, 7])
    known = {place: {index: held.resident for index, held in after.items()} for place, after in found.after.items()}
    assert known == {"L1": {0: 2, 1: 3}, "L4": {6: 5}, "C1#0/L5": {1: 6}}
    assert found.last is not None and found.last.peak == 7


def test_looks_are_apart() -> None:
    memory, every_s = Memory(), BETWEEN_S / 10
    looked = [step for step in range(101) if memory.noted(f"L1={step}", step * every_s * 1.001)]
    assert looked == [*range(0, 101, 10)]
    assert not memory.noted("L1=200/L2=0", 1e9), "of a loop inside another one"
    assert memory.noted("L1=101") and memory.noted("L2=0", 0.0) and memory.noted(""), "where a loop or the run is over"
