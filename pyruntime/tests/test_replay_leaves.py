"""How a replay leaves the script in the middle, so that nothing of the script can catch it."""

from __future__ import annotations

from workshop import Workshop

CANNOT_BE_RESTORED = """
    import time
    callbacks = []
    total = 0
    for epoch in range(4):
        try:
            for step in map(float, range(4)):
                time.sleep(0.05)
                total += step
                callbacks.append(lambda: step)
        except:
            print("swallowed")
        print(epoch, total, len(callbacks))
"""


def test_a_block_that_cannot_be_restored_runs_instead(workshop: Workshop) -> None:
    file = workshop.write("train.py", CANNOT_BE_RESTORED)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    file.write_text(file.read_text().replace("    print(epoch", "    print('PROBE', total, flush=True)\n    print(epoch"))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines() == [f"PROBE {6.0 * n}" for n in range(1, 5)]
    assert replayed.code == 0, replayed.said
    assert "cannot be" in replayed.said and "exact" in replayed.said


def test_the_end_of_a_cut_off_run_runs_nothing_of_the_script(workshop: Workshop) -> None:
    file = workshop.write(
        "train.py",
        """
        import time
        try:
            for epoch in range(100):
                print("epoch", epoch, flush=True)
                for step in map(float, range(4)):
                    time.sleep(0.01)
        finally:
            open("saved", "a").write("saved ")
    """,
    )
    workshop.florc("record", "--overhead", "0.9", "train.py", interrupt_after="epoch 3")
    assert (workshop.path / "saved").read_text() == "saved "
    file.write_text(file.read_text().replace("        for step", "        print('PROBE', epoch)\n        for step"))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.splitlines()[:3] == ["PROBE 0", "PROBE 1", "PROBE 2"]
    assert (workshop.path / "saved").read_text() == "saved "
    assert replayed.code == 0, replayed.said


def test_json_has_one_object_per_value(workshop: Workshop) -> None:
    import json

    file = workshop.write(
        "train.py",
        """
        import time
        total = 0
        for epoch in range(2):
            for step in map(float, range(4)):
                time.sleep(0.01)
                total += step
        print("done", total)
    """,
    )
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    file.write_text(file.read_text().replace("        total += step", "        total += step\n    print('total', total)"))
    *values, last = [json.loads(line) for line in workshop.florc("replay", "--json", "train.py").out.splitlines()]
    assert [(value["text"], value["path"], value["line"], value["verdict"]) for value in values] == [
        ("total 6.0", "L1=0", 7, "exact"),
        ("total 12.0", "L1=1", 7, "exact"),
    ]
    assert last["skipped"] == 2 and last["verdict"] == "exact" and last["anomalies"] == []
