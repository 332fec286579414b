"""Each added statement has a verdict of its own: what ran where no answer could be given is told, and is not called exact."""

from __future__ import annotations

import json
import sys

import pytest
from workshop import Workshop

NET = """
    import os, sys, time
    import multiprocessing as mp
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Data(Dataset):
        def __len__(self):
            return 6
        def __getitem__(self, index):
            x = torch.full((2,), float(index))
            return x

    def square(x):
        y = x * x
        return y

    def main():
        total = 0.0
        for epoch in range(2):
            for batch in DataLoader(Data(), batch_size=3, num_workers=WORKERS):
                total += float(batch.sum())
            with mp.get_context("CONTEXT").Pool(1) as pool:
                total += sum(pool.map(square, range(3)))
            print(epoch, total)

    if __name__ == "__main__":
        main()
"""


OTHERS = """
    import os, subprocess, sys

    def square(x):
        y = x * x
        return y

    if __name__ == "__main__":
        total = 0
        for epoch in range(2):
            START
            total += epoch
            print(epoch, total)
"""
ELSEWHERE = "import train; train.square(3)"


def _added(workshop: Workshop, text: str, before: str, statement: str) -> None:
    indent = next(line for line in text.splitlines() if line.strip().startswith(before))
    blanks = indent[: len(indent) - len(indent.lstrip())]
    workshop.write("train.py", text.replace(indent, f"{blanks}{statement}\n{indent}"))


@pytest.mark.parametrize(
    ("workers", "context", "before", "statement"),
    [(2, "spawn", "return y", "print('SQUARE', x)"), (0, "forkserver", "return y", "print('SQUARE', x)")],
)
def test_what_runs_in_a_process_that_is_not_forked_is_not_called_answered(
    workshop: Workshop, workers: int, context: str, before: str, statement: str
) -> None:
    """Of forked ones, see test_children.py."""
    text = NET.replace("WORKERS", str(workers)).replace("CONTEXT", context)
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    _added(workshop, text, before, statement)
    replayed = workshop.florc("replay", "train.py")
    assert "exact" not in replayed.said and "unverified" in replayed.said, replayed.said
    assert "process" in replayed.said.split("unverified")[1]


def test_a_statement_that_never_ran_is_no_answer(workshop: Workshop) -> None:
    workshop.write(
        "train.py",
        """
        def unused(x):
            y = x
            return y
        for epoch in range(3):
            for step in map(float, range(3)):
                pass
            print(epoch)
    """,
    )
    text = (workshop.path / "train.py").read_text()
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", text.replace("    return y", "    print(y)\n    return y"))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "" and "unverified" in replayed.said and "there is no answer" in replayed.said, replayed.said
    assert "exact" not in replayed.said


def test_how_often_each_statement_ran(workshop: Workshop) -> None:
    text = """
        import time
        for epoch in range(3):
            for step in map(float, range(4)):
                time.sleep(0.01)
            print(epoch)
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write(
        "train.py",
        text.replace("sleep(0.01)", "sleep(0.01)\n                print('S', step)").replace(
            "            print(epoch)", "            print('E', epoch)\n            print(epoch)"
        ),
    )
    told = json.loads(workshop.florc("replay", "--json", "--iterations", "1:", "train.py").out.splitlines()[-1])
    assert sorted(found["answered"] for found in told["statements"]) == [2, 8], told
    assert {found["statement"] for found in told["statements"]} == {"train.py:5", "train.py:6"}, told


@pytest.mark.parametrize("opened", ['open("log.csv", "w", newline="")', 'open("log.csv", "a", buffering=1, newline="")'])
def test_rows_that_added_statements_write_through_the_scripts_file_are_kept(workshop: Workshop, opened: str) -> None:
    text = f"""
        import csv
        file = {opened}
        writer, w = csv.writer(file), 0
        for epoch in range(3):
            for step in map(float, range(4)):
                w += step
            writer.writerow([epoch, w])
            print(epoch)
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    left = (workshop.path / "log.csv").read_bytes()
    workshop.write(
        "train.py",
        text.replace("            print(epoch)", '            writer.writerow(["ADDED", w])\n            print(epoch)'),
    )
    replayed = workshop.florc("replay", "train.py")
    assert (workshop.path / "log.csv").read_bytes() == left
    rows = (workshop.path / "log.csv.florc-replay").read_text().split()
    assert [row for row in rows if row.startswith("ADDED")] == ["ADDED,6.0", "ADDED,12.0", "ADDED,18.0"]
    assert "log.csv.florc-replay" in replayed.said and replayed.code == 0


QUIET = """
    import time
    w = 0.0
    for epoch in range(4):
        for step in map(float, range(3)):
            time.sleep(EACH)
            w += step
    weights = [w]
"""


@pytest.mark.parametrize(("each", "verdict"), [("0.01", "exact"), ("0.4", "unverified")])
def test_where_nothing_else_is_compared_a_cheap_block_is(workshop: Workshop, each: str, verdict: str) -> None:
    text = QUIET.replace("EACH", each)
    workshop.write("train.py", text)
    assert workshop.florc("record", "--overhead", "0.9", "train.py").code == 0
    workshop.write("train.py", text.replace("    weights", "    print('PROBE', w)\n    weights"))
    replayed = workshop.florc("replay", "train.py")
    assert (replayed.out, replayed.code) == ("PROBE 12.0\n", 0) and verdict in replayed.said, replayed.said
    strict = workshop.florc("replay", "--strict", "train.py")
    assert strict.out == "PROBE 12.0\n" and strict.code == (verdict != "exact"), strict.said
    if verdict == "exact":
        assert "the state of 1 block reappeared" in replayed.said and "once more" in replayed.said


@pytest.mark.parametrize("command", ["record", "replay"])
def test_ranks_of_which_nothing_is_known_are_refused(workshop: Workshop, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    workshop.write("train.py", "for epoch in range(3):\n    print(epoch)\n")
    assert workshop.florc("record", "train.py").code == 0
    monkeypatch.setenv("WORLD_SIZE", "2")
    done = workshop.florc(command, "train.py")
    assert ("no RANK tells which" if command == "record" else "a launcher started this") in done.said
    assert (done.code, done.out) == ((0, "0\n1\n2\n") if command == "record" else (2, ""))
    assert len(workshop.florc("runs").out.splitlines()) == 1


def test_what_comes_after_the_end_of_the_record_is_unverified_from_there_on(workshop: Workshop) -> None:
    text = """
        import time
        w = 0.0
        for epoch in range(3):
            for step in range(10):
                w += step
                time.sleep(0.002)
            print("epoch", epoch, w, flush=True)
        print("testing", flush=True)
        time.sleep(SECONDS)
        print("tested", w)
    """
    workshop.write("train.py", text.replace("SECONDS", "60"))
    assert workshop.florc("record", "--overhead", "0.9", "train.py", kill_after="testing").code == -9
    asked = text.replace('            print("epoch"', '            print("HIND", w)\n            print("epoch"')
    workshop.write(
        "train.py", asked.replace("SECONDS", "60").replace("time.sleep(60)", "print('AFTER', w)\n        time.sleep(0)")
    )
    replayed = workshop.florc("replay", "--allow-drift", "--json", "train.py")
    *values, outcome = map(json.loads, replayed.out.splitlines())
    assert [(value["text"], value["verdict"]) for value in values] == [
        ("HIND 45.0", "exact"),
        ("HIND 90.0", "exact"),
        ("HIND 135.0", "exact"),
        ("AFTER 135.0", "unverified"),
    ], replayed
    assert outcome["verdict"] == "unverified" and replayed.code == 0
    assert "unverified from here on: the record was cut off after epoch=2; before that, exact: " in replayed.said
    assert workshop.florc("replay", "--allow-drift", "--strict", "train.py").code == 1


def test_what_runs_when_the_interpreter_ends_is_not_called_answered(workshop: Workshop) -> None:
    text = """
        import time
        class Held:
            def __del__(self):
                pass
        class Holder:
            held = Held()
        for epoch in range(2):
            for step in range(5):
                other = Held()
                time.sleep(0.003)
            print("epoch", epoch)
    """
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", text.replace("        pass", "        print('GONE')"))
    replayed, plain = workshop.florc("replay", "train.py"), workshop.plain("train.py")
    assert 0 < replayed.out.count("GONE") < plain.out.count("GONE")
    assert "exact: " not in replayed.said and "objects that the interpreter deletes at its end" in replayed.said, replayed.said


@pytest.mark.parametrize(
    ("start", "is_python"),
    [
        ("from joblib import Parallel, delayed; total += sum(Parallel(n_jobs=2)(delayed(square)(i) for i in range(3)))", True),
        (f"subprocess.run([sys.executable, '-c', {ELSEWHERE!r}], check=True)", True),
        (f"os.system(f'{{sys.executable}} -c \"{ELSEWHERE}\"')", True),
        ("os.posix_spawn('./helper', ['helper'], os.environ)", True),
        ("subprocess.run('./helper')", True),
        ("subprocess.run(['true'], check=True)", False),
        ("os.system('true')", False),
    ],
)
def test_a_python_that_knows_nothing_of_the_replay_is_told(workshop: Workshop, start: str, is_python: bool) -> None:
    """One statement is answered; the other runs in the other process, or nowhere."""
    text = OTHERS.replace("START", start)
    workshop.write("train.py", text)
    workshop.write("helper", f"#!{sys.executable}\n{ELSEWHERE}\n")
    (workshop.path / "helper").chmod(0o755)
    assert workshop.florc("record", "train.py").code == 0
    _added(workshop, text, "return y", "print('SQUARE', x)")
    _added(workshop, (workshop.path / "train.py").read_text(), "print(epoch", "print('TOTAL', total)")
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.count("TOTAL") == 2 and replayed.code == 0, replayed.said
    assert ("the script started" in replayed.said) is is_python, replayed.said
    assert ("florc: exact" in replayed.said) is not is_python, replayed.said


DUPLICATED = """
    import os, sys

    w = 1.0
    for epoch in range(3):
        for step in range(300):
            w -= w * 0.001
        print("w", w, flush=True)
    sys.stdout = os.fdopen(os.dup(1), "w"BUFFERED)
    print("end", w)
"""


@pytest.mark.parametrize("buffered", ["", ", 1"])
def test_a_statement_answers_through_another_descriptor_of_standard_output(workshop: Workshop, buffered: str) -> None:
    text = DUPLICATED.replace("BUFFERED", buffered)
    _, done, truth = workshop.asked(text, text + '    print("P", w / 3)\n    print("P more", w)\n')
    assert done.out == truth and truth.count("P") == 2 and "exact" in done.said, done
    rows = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl").out.splitlines()]
    assert len([row for row in rows if row["verdict"] == "exact"]) == 2, rows
