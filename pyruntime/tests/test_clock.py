"""What depends on the time of day differs in every run: a replay that differs only there is not anomalous."""

from __future__ import annotations

from workshop import Workshop

TIMED = """
    import logging, sys, time

    class Meter:
        def __init__(self):
            self.seconds = 0.0
        def add(self, seconds):
            self.seconds += seconds

    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(msecs)f %(message)s")
    meter = Meter()
    total = 0
    for epoch in range(3):
        begun = time.time()
        for step in map(float, range(4)):
            time.sleep(0.01)
            total += step
            meter.add(time.time() - begun)
        print(f"epoch {epoch} {open('word').read()} {time.time() - begun:.6f} s", meter.seconds)
        logging.info("total %s", total)
"""


def test_timed_lines_are_compared_without_their_numbers(workshop: Workshop) -> None:
    file = workshop.write("train.py", TIMED)
    workshop.write("word", "took")
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    file.write_text(file.read_text().replace("    logging.info", "    print('PROBE', total)\n    logging.info"))
    for extra in ((), ("--step-into", "all")):
        replayed = workshop.florc("replay", *extra, "train.py")
        assert replayed.out.splitlines() == ["PROBE 6.0", "PROBE 12.0", "PROBE 18.0"]
        assert replayed.code == 0, replayed.said
        assert "exact" in replayed.said


def test_other_differences_in_timed_lines_are_seen(workshop: Workshop) -> None:
    workshop.write("train.py", TIMED)
    workshop.write("word", "took")
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    workshop.write("word", "lasted")
    replayed = workshop.florc("replay", "train.py")
    assert replayed.code == 1
    assert "ANOMALOUS" in replayed.said and "'epoch 0 lasted" in replayed.said
