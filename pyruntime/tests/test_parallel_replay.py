"""Replays in several processes: what they print together is what one process prints, byte for byte."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import time
from pathlib import Path

import pytest
from workshop import Done, Workshop

NESTED = """
    import time
    def look(total):
        size = total * 2
    +   print("PROBE function", size)
        return size
    history = []
    total = 0.0
    +print("PROBE before", total)
    for epoch in range(6):
        for step in map(float, range(4)):
            time.sleep(0.004)
            total += step + epoch
    +       if step == 2: print("PROBE inner", epoch, total)
        history.append(look(total))
        print("epoch", epoch, total)
    +   print("PROBE outer", epoch, total, history)
    print("done", total)
    +print("PROBE after", total, history)
    """

MODEL = """
    import time
    class Model:
        def __init__(self):
            self.weight = 0.0
        def step(self, size):
            self.weight += size
    models = {"model": Model}  # so that `step` may be an optimizer's: a training step
    """

FOLDS = (
    MODEL
    + """
    scores = {}
    for fold, size in enumerate([3, 5, 7]):
        model = models["model"]()
        for epoch in range(1, 5):
            for batch in map(float, range(3)):
                time.sleep(0.004)
                model.step(batch * size)
    +           print("PROBE inner", fold, epoch, batch, model.weight)
            print("epoch", epoch, model.weight)
    +       print("PROBE epoch", fold, epoch, model.weight)
        scores[fold] = model.weight
    +   print("PROBE fold", fold, scores)
    print(scores)
    +print("PROBE after", scores)
    """
)

EARLY = """
    import time
    best, patience = 0.0, 0
    for epoch in range(1, 100):
        loss = 0.0
        for step in map(float, range(3)):
            time.sleep(0.004)
            loss += step * epoch
        print("epoch", epoch, loss)
    +   print("PROBE", epoch, loss, best)
        if epoch == 7:
            break
        best = loss
    print("stopped at", epoch)
    +print("PROBE after", epoch, best)
    """

WHILE = """
    import time
    epoch, total = 0, 0.0
    while epoch < 6:
        for step in map(float, range(3)):
            time.sleep(0.004)
            total += step
    +       print("PROBE inner", step, total)
        epoch += 1
    +   print("PROBE", epoch, total)
    print("total", total)
    +print("PROBE after", total)
    """

FUNCTIONS = """
    import time
    class Meter:
        def __init__(self):
            self.sum = 0.0
        def update(self, value):
            self.sum += value
    +       print("PROBE meter", self.sum)
    def train(meter, epoch):
        for step in map(float, range(4)):
            time.sleep(0.004)
            meter.update(step * epoch)
        return meter.sum
    def main():
        meter = Meter()
        for epoch in range(5):
            found = train(meter, epoch)
            print("epoch", epoch, found)
    +       print("PROBE", epoch, meter.sum)
        return meter
    print("end", main().sum)
    """

ADDS_UP = """
    import time
    total = 0.0
    +norms = []
    for epoch in range(6):
        for step in map(float, range(3)):
            time.sleep(0.004)
            total += step
    +       norms.append(total)
        print("epoch", epoch)
    +   print("PROBE", len(norms), sum(norms))
    +print("PROBE after", max(norms))
    """

READS_EARLIER = """
    import time
    total, seen, last = 0.0, [], None
    for epoch in range(6):
    +   print("PROBE at the top", last, len(seen))
        for step in map(float, range(3)):
            time.sleep(0.004)
            total += step
            last = total * 2
            seen.append(total)
        print("epoch", epoch, total)
    +   print("PROBE", seen)
    print("done")
    """

DOTS = """
    import time
    total = 0.0
    print("start ", end="")
    for epoch in range(6):
        for step in map(float, range(3)):
            time.sleep(0.004)
            total += step
            print(".", end="")
        print("|", end="")
    +   print("PROBE", epoch, total)
    print(" end")
    """

FLAT = (
    MODEL
    + """
    model = models["model"]()
    for batch in map(float, range(12)):
        time.sleep(0.006)
        model.step(batch)
    +   print("PROBE", batch, model.weight)
    print("done", model.weight)
    +print("PROBE after", model.weight)
    """
)

SCRIPTS = {
    "nested": NESTED,
    "folds": FOLDS,
    "early": EARLY,
    "while": WHILE,
    "functions": FUNCTIONS,
    "adds up": ADDS_UP,
    "reads earlier": READS_EARLIER,
    "dots": DOTS,
    "flat": FLAT,
}


def probes_of(text: str) -> list[int]:
    return [n for n, line in enumerate(text.splitlines()) if line.lstrip().startswith("+")]


def version(text: str, kept: list[int]) -> str:
    """The script with some of its probes."""
    lines = [line for n, line in enumerate(text.splitlines()) if n in kept or not line.lstrip().startswith("+")]
    return (
        "\n".join(
            line.replace("+   ", "    ", 1).replace("+", "", 1) if line.lstrip().startswith("+") else line for line in lines
        )
        + "\n"
    )


def record(workshop: Workshop, text: str, *options: str) -> Path:
    file = workshop.write("train.py", version(text, []))
    done = workshop.florc("record", "--overhead", "0.9", *options, "train.py")
    assert done.code == 0, done
    return file


def replay(workshop: Workshop, *options: str) -> Done:
    return workshop.florc("replay", *options, "train.py")


@pytest.mark.parametrize("name", SCRIPTS)
def test_all_processes_together_print_what_one_prints(workshop: Workshop, name: str) -> None:
    text = SCRIPTS[name]
    record(workshop, text)
    choices = [probes_of(text)]
    if name == "nested":
        choices += [[probe] for probe in probes_of(text)[1:3]]
    for kept in choices:
        workshop.write("train.py", version(text, kept))
        wanted = "".join(f"{line}\n" for line in workshop.plain("train.py").out.splitlines() if "PROBE" in line)
        if name == "dots":
            wanted = "".join(f"PROBE{line.split('PROBE')[1]}\n" for line in wanted.splitlines())
        serial = replay(workshop)
        assert (serial.out, serial.code) == (wanted, 0), serial.said
        parallel = replay(workshop, "--workers", "2")
        assert (parallel.out, parallel.code) == (wanted, 0), parallel.said
        if kept != choices[0]:
            continue
        shards = [replay(workshop, "--shard", f"{n}/3") for n in (1, 2, 3)]
        assert "".join(shard.out for shard in shards) == wanted, "".join(shard.said for shard in shards)
        assert [shard.code for shard in shards] == [0, 0, 0], "".join(shard.said for shard in shards)


def test_more_workers_than_iterations(workshop: Workshop) -> None:
    record(workshop, EARLY)
    workshop.write("train.py", version(EARLY, probes_of(EARLY)))
    serial, parallel = replay(workshop), replay(workshop, "--workers", "50")
    assert parallel.out == serial.out and parallel.code == 0, parallel.said
    assert "nothing to do" in replay(workshop, "--shard", "50/50").said


def test_json_has_the_values_of_all_workers_in_order(workshop: Workshop) -> None:
    record(workshop, NESTED)
    workshop.write("train.py", version(NESTED, probes_of(NESTED)))
    serial, parallel = replay(workshop, "--json"), replay(workshop, "--json", "--workers", "3")
    *ours, report = [json.loads(line) for line in parallel.out.splitlines()]
    *theirs, other = [json.loads(line) for line in serial.out.splitlines()]
    assert ours == theirs and len(ours) > 12
    assert report["verdict"] == other["verdict"] == "exact"


def test_what_goes_to_standard_error_comes_from_all_workers_in_order(workshop: Workshop) -> None:
    record(workshop, NESTED)
    text = version(NESTED, probes_of(NESTED)).replace(
        'print("PROBE outer"', 'import sys; print("ERR", epoch, file=sys.stderr); print("PROBE outer"'
    )
    workshop.write("train.py", text)
    parallel = replay(workshop, "--workers", "2")
    assert "worker 2" in parallel.said, parallel.said
    assert parallel.err == "".join(f"ERR {epoch}\n" for epoch in range(6)) == workshop.plain("train.py").err
    as_json = replay(workshop, "--workers", "2", "--json")
    told = [json.loads(line) for line in as_json.out.splitlines()]
    assert [entry["text"] for entry in told if entry.get("stream") == "stderr"] == parallel.err.splitlines()
    assert as_json.err == parallel.err


def test_a_worker_that_dies_is_started_once_more_and_then_reported(workshop: Workshop) -> None:
    record(workshop, NESTED)
    file = workshop.write("train.py", version(NESTED, probes_of(NESTED)))
    text = file.read_text()
    once = text.replace(
        'print("PROBE outer"',
        'import os; os.path.exists("died") or epoch < 4 or (open("died", "w").close(), os._exit(7)); print("PROBE outer"',
    )
    wanted = replay(workshop).out
    file.write_text(once)
    parallel = replay(workshop, "--workers", "2")
    assert parallel.out == wanted and "exit code 7; florc starts it once more" in parallel.said, parallel.said
    file.write_text(
        text.replace(
            'print("PROBE outer"', 'import os, sys; epoch < 4 or (sys.stderr.write("GRIEF "), os._exit(7)); print("PROBE outer"'
        )
    )
    parallel = replay(workshop, "--workers", "2")
    assert parallel.code == 1 and "FAILED: ended with exit code 7" in parallel.said, parallel.said
    assert "gave no answer; its log is " in parallel.said and "GRIEF" in parallel.said + parallel.err
    log = parallel.said.split("its log is ")[1].splitlines()[0]
    assert os.path.getsize(log) > 0


def children_of(process: int) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == process:
                found.append(int(entry))
    return found


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_outlives_the_command(workshop: Workshop, number: signal.Signals) -> None:
    record(workshop, NESTED)
    workshop.write(
        "train.py",
        version(NESTED, probes_of(NESTED)).replace(
            'print("PROBE inner"', 'import subprocess; subprocess.call(["sleep", "60"]); print("PROBE inner"'
        ),
    )
    process = workshop.start("python", "-u", "-m", "florc", "replay", "--workers", "2", "train.py")
    try:
        deadline = time.monotonic() + 60
        workers: list[int] = []
        while time.monotonic() < deadline and not (len(workers) == 2 and all(children_of(worker) for worker in workers)):
            time.sleep(0.05)
            workers = children_of(process.pid)
        assert len(workers) == 2
        sleeping = [child for worker in workers for child in children_of(worker)]
        os.kill(process.pid, number)
        _, err = process.communicate(timeout=30)
        time.sleep(0.5)
        if number == signal.SIGINT:
            assert process.returncode == 130 and "Traceback" not in err, err
            assert not [child for child in (*workers, *sleeping) if is_alive(child)]
        else:  # nobody is left to end what the workers started
            assert not [child for child in workers if is_alive(child)]
    finally:
        for child in (process.pid, *workers, *sleeping):
            try:
                os.kill(child, signal.SIGKILL)
            except OSError:
                pass


def test_a_worker_killed_from_outside_is_started_once_more(workshop: Workshop) -> None:
    record(workshop, NESTED)
    workshop.write(
        "train.py", version(NESTED, probes_of(NESTED)).replace('print("PROBE inner"', 'time.sleep(0.3); print("PROBE inner"')
    )
    wanted = replay(workshop).out
    process = workshop.start("python", "-u", "-m", "florc", "replay", "--workers", "2", "train.py")
    deadline = time.monotonic() + 60
    workers: list[int] = []
    while time.monotonic() < deadline and len(workers) < 2:
        time.sleep(0.02)
        workers = children_of(process.pid)
    os.kill(workers[1], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert (out, process.returncode) == (wanted, 0), err
    assert "ended by SIGKILL; florc starts it once more" in err


def test_a_script_that_raised_is_replayed_to_there(workshop: Workshop) -> None:
    text = NESTED.replace('print("done", total)', 'raise ValueError("no more")')
    workshop.write("train.py", version(text, []))
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 1
    workshop.write("train.py", version(text, probes_of(text)[:-1]))
    serial, parallel = replay(workshop), replay(workshop, "--workers", "3")
    assert (parallel.out, parallel.code) == (serial.out, serial.code) and serial.code == 0, parallel.said


def test_a_probe_that_raises_ends_the_answer_there(workshop: Workshop) -> None:
    record(workshop, NESTED)
    workshop.write(
        "train.py",
        version(NESTED, []).replace('        print("epoch"', '        print("PROBE", 1 / (epoch - 1))\n        print("epoch"'),
    )
    serial, parallel = replay(workshop), replay(workshop, "--workers", "3")
    assert serial.out == parallel.out == "PROBE -1.0\n"
    assert serial.code == parallel.code == 1 and "ZeroDivisionError" in parallel.said + parallel.err


def test_a_killed_run_is_replayed_to_its_last_whole_iteration(workshop: Workshop) -> None:
    text = NESTED.replace("range(6)", "range(600)").replace(
        'print("epoch", epoch, total)', 'print("epoch", epoch, total, flush=True)'
    )
    workshop.write("train.py", version(text, []))
    workshop.florc("record", "--overhead", "0.9", "train.py", kill_after="epoch 8")
    (journal,) = workshop.path.glob(".florc/runs/*/journal.0")
    with open(journal, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_SH)  # the writer outlives the script, and ends what was begun
    workshop.write("train.py", version(text, probes_of(text)))
    serial, parallel = replay(workshop), replay(workshop, "--workers", "3")
    assert serial.code == 0 and serial.out.count("PROBE outer") >= 7
    assert (parallel.out, parallel.code) == (serial.out, 0), parallel.said


def test_the_reader_may_go_away(workshop: Workshop) -> None:
    record(workshop, NESTED)
    workshop.write("train.py", version(NESTED, probes_of(NESTED)))
    done = workshop.run("bash", "-c", "python -m florc replay -q --workers 2 train.py | head -1; exit ${PIPESTATUS[0]}")
    assert done.out == "PROBE before 0.0\n" and done.code == 0 and "Traceback" not in done.err
