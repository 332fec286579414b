"""The parts of docs/answers.md that no other test does: curves, settings, Python, the form of a row."""

from __future__ import annotations

import json
import re
import sys

import pytest
from pages import steps, text_of
from workshop import Workshop

SCRIPT = """
    import florc

    def less(loss, lr):
        return loss - lr * loss

    lr = florc.arg("lr", 0.5)
    loss = 1.0
    for epoch in range(4):
        for step in range(5):
            loss = less(loss, lr)
        print("loss", loss)
        print("norm", loss * 2)
"""


def _part(title: str) -> str:
    """A section of the page."""
    return text_of("answers.md").split(f"\n## {title}\n")[1].split("\n## ")[0]


def _snippet(title: str) -> str:
    (text,) = re.findall(r"```python\n(.*?)```", _part(title), re.S)
    return str(text)


def test_the_python_of_the_page_runs(workshop: Workshop) -> None:
    pytest.importorskip("duckdb")
    workshop.write("train.py", SCRIPT)
    shown = "\nprint(run, answer.verdict, len(losses), best.fetchall()[0][0], florc.runs()['id'], losses['value'])"
    (workshop.path / "ask.py").write_text(_snippet("Python") + shown)
    done = workshop.run(sys.executable, "ask.py")
    assert done.code == 0, done
    plain = workshop.run(sys.executable, "train.py", "--lr", "0.1").out
    losses = [float(line.split()[1]) for line in plain.splitlines() if line.startswith("loss")]
    run, verdict, count, best, *_ = done.out.splitlines()[-1].split()
    assert (verdict, count, float(best)) == ("exact", "2", min(losses)) and done.out.endswith(f"['{run}'] {losses[2:]}\n"), done


def test_the_settings_of_the_page_are_read(workshop: Workshop) -> None:
    (workshop.path / "train.py").write_text(f"import florc\n{_snippet('Settings')}print(lr, amp)\n")
    for words, printed in (([], "0.1 False"), (["--lr", "0.05", "--amp"], "0.05 True"), (["--no-amp"], "0.1 False")):
        assert workshop.run(sys.executable, "train.py", *words).out == f"{printed}\n"


def test_the_curves_of_the_page_are_drawn(workshop: Workshop) -> None:
    pytest.importorskip("matplotlib")
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "train.py")
    (command,) = [step.text for step in steps(_part("Curves")) if step.kind == "command"]
    assert workshop.florc(*command.split()[1:]).code == 0 and b"<svg" in (workshop.path / "curves.svg").read_bytes()


def test_a_row_has_the_form_that_the_page_shows(workshop: Workshop) -> None:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "train.py")
    (shown,) = re.findall(r"`(\{\"run\".*?\})`", _part("Formats").replace("\n", " "))
    row = workshop.florc("logs", "loss", "--format", "jsonl").out.splitlines()[0]
    assert list(json.loads(row)) == list(json.loads(shown))
    for command in ("show", "diff"):
        if command == "diff":
            workshop.florc("record", "train.py")
        found = json.loads(workshop.florc(command, "--json").out)
        (said,) = re.findall(rf"- `florc {command}`: (.*?)\n- ", _part("JSON"), re.S)
        assert set(found) - set(re.findall(r"`(\w+)`", said)) == set(), command
