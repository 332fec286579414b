"""What an added statement hands to an object that the script's own code writes to a file later is kept beside that file."""

from __future__ import annotations

from pathlib import Path

import pytest
from workshop import Workshop

HEAD = """
    import csv, json, os, pathlib, shutil, sys, time
    total = 0.0
"""
LOOP = """
    for epoch in range(4):
        for step in range(5):
            total += step * 0.37
        {there}
        #ASK
        {then}
    {end}
"""
SUMMARY = """
    class Live:
        def __init__(self):
            self.summary, self.step = {}, 0
        def log(self, name, value):
            self.summary[name] = value
        def next(self):
            self.step += 1
            with open("summary.json", "w") as file:
                json.dump({"step": self.step, **self.summary}, file)
    live = Live()
"""
SERIES = """
    series = {}
    def log(name, value):
        series.setdefault(name, []).append(value)
    def save():
        os.makedirs("out", exist_ok=True)
        [pathlib.Path(f"out/{name}.tsv").write_text(f"{values}\\n") for name, values in series.items()]
"""
ROWS = """
    rows = []
    def save():
        with open("rows.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
"""
NOTES = """
    notes = []
    def save():
        with open("new.txt", "w") as file:
            file.write("begun " + time.ctime() + "\\n" + "\\n".join(notes))
        os.replace("new.txt", "notes.txt")
"""


def _script(kind: str, there: str, then: str, end: str) -> str:
    return HEAD + kind + LOOP.format(there=there, then=then, end=end)


PROGRAMS = {
    "summary": (_script(SUMMARY, "live.log('loss', total)", "live.next()", ""), "live.log('norm', total ** 2)", "summary.json"),
    "series": (_script(SERIES, "log('loss', total)", "pass", "save()"), "log('norm', total ** 2)", "out/norm.tsv"),
    "rows": (_script(ROWS, "row = {'loss': total}", "rows.append(row)", "save()"), "row['norm'] = total ** 2", "rows.csv"),
    "notes": (_script(NOTES, "notes.append('loss')", "save()", ""), "notes.append('norm')", "notes.txt"),
}


def _found(folder: Path) -> dict[str, str]:
    names = (path for path in folder.rglob("*") if path.is_file() and ".florc/" not in str(path) and path.suffix != ".py")
    return {str(path.relative_to(folder)): path.read_text() for path in names}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_in_a_copy(workshop: Workshop, name: str) -> None:
    script, added, file = PROGRAMS[name]
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    before = _found(workshop.path)
    workshop.write("train.py", script.replace("#ASK", added))
    replayed = workshop.florc("replay", "train.py")
    after = _found(workshop.path)
    copy = after.pop(f"{file}.florc-replay")
    assert after == before
    told = f"wrote more to {file} than in the recorded run", f"made {file}, which the recorded run did not"
    assert any(f"with what was added, the script {words}: it is in" in replayed.said for words in told), replayed.said
    workshop.plain("train.py")
    truth = _found(workshop.path)[file]
    assert "loss" in truth or file not in before
    assert copy.splitlines()[1:] == truth.splitlines()[1:] if name == "notes" else copy == truth


SAME = {
    "only looks": (_script(SUMMARY, "live.log('loss', total)", "live.next()", ""), "print('P', live.summary)"),
    "a copy of the script": (
        _script("", "pass", "pass", "shutil.copy(sys.argv[0], 'copy.txt'); print(total)"),
        "print('P', total)",
    ),
    "times": (
        _script("", "open('at.txt', 'a').write(f'{time.perf_counter_ns()} {os.getpid()}\\n')", "pass", "print(total)"),
        "print('P', epoch)",
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_a_file_with_no_more_in_it_has_none(workshop: Workshop, name: str) -> None:
    script, added = SAME[name]
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", script.replace("#ASK", added))
    replayed = workshop.florc("replay", "train.py")
    assert len(replayed.out.splitlines()) == 4, replayed.said
    assert not list(workshop.path.rglob("*.florc-replay"))
    assert "wrote more" not in replayed.said


def test_some_iterations_alone_have_none(workshop: Workshop) -> None:
    script, _, _ = PROGRAMS["summary"]
    workshop.write("train.py", script)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", script.replace("#ASK", "print('P', epoch)"))
    replayed = workshop.florc("replay", "--iterations", "1:3", "train.py")
    assert replayed.out == "P 1\nP 2\n", replayed.said
    assert not list(workshop.path.rglob("*.florc-replay"))
