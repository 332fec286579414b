"""What loggers and statements write to standard error has names, too, and reaches the user once, by whatever way a replay runs."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import os
from pathlib import Path

import pytest
from florc.answers.templates import templates
from florc.process.divert import Printed, Spool
from workshop import Workshop

FORMATS = {
    "the default": "logging.basicConfig(level=logging.INFO)",
    "a time": 'logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s (%(name)s)")',
    "standard output": 'logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(asctime)s %(message)s 1.0")',
    "an own handler": """
class Own(logging.StreamHandler):
    def emit(self, record):
        self.stream.write("[own] " + self.format(record) + "\\n")
logging.getLogger().addHandler(Own())
logging.getLogger().setLevel(logging.INFO)
""",
    "colours": 'logging.basicConfig(level=logging.INFO, format="\\033[32m%(levelname)s\\033[0m %(message)s")',
    "an adapter": 'logging.basicConfig(level=logging.INFO)\nlog = logging.LoggerAdapter(logging.getLogger("a"), {})',
}
SCRIPT = """
import logging
import sys
import time
{setup}
log = globals().get("log") or logging.getLogger("train")
w = 0.0
for epoch in range(3):
    for step in range(4):
        w += step
        time.sleep(0.01)
    log.info("w %s", w)
    print("step", step, file=sys.stderr)
    sys.stderr.write(f"half {{w / 2}}\\n")
    print("epoch", epoch)
"""
ADDED = """\
    log.warning("twice %s of %d", w * 2, epoch)
    print("third", w / 3, file=sys.stderr)
    print("out", w * 10)
"""
EACH = [(epoch, (epoch + 1) * 6.0) for epoch in range(3)]


def _added(script: str) -> str:
    return script.replace('    log.info("w', ADDED + '    log.info("w')


def _rows(out: str) -> list[tuple[str, str, str]]:
    return [(row["epoch"], row["name"], row["value"]) for row in csv.DictReader(io.StringIO(out))]


@pytest.mark.parametrize("setup", FORMATS)
def test_what_a_logger_is_told_has_names_whatever_is_put_around_it(setup: str, workshop: Workshop) -> None:
    script = SCRIPT.format(setup=FORMATS[setup])
    plain = workshop.write("train.py", script) and workshop.plain("train.py")
    recorded = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert recorded.code == 0 and len(recorded.err.splitlines()) == len(plain.err.splitlines())
    found = _rows(workshop.florc("logs", "--format", "csv").out)
    expected = [
        (str(epoch), name, str(value))
        for epoch, w in EACH
        for name, value in (("w", w), ("step", 3), ("half", w / 2), ("epoch", epoch))
    ]
    assert sorted(found) == sorted(expected)
    workshop.write("train.py", _added(script))
    replayed = workshop.florc("replay", "--format", "csv", "train.py")
    asked = [
        (str(epoch), name, str(value))
        for epoch, w in EACH
        for name, value in (("twice", w * 2), ("epoch", epoch), ("third", w / 3), ("out", w * 10))
    ]
    assert sorted(_rows(replayed.out)) == sorted(asked) and "florc: exact" in replayed.said


def test_answers_on_standard_error_are_those_of_a_plain_run(workshop: Workshop) -> None:
    script = SCRIPT.format(setup=FORMATS["the default"])
    workshop.write("train.py", script)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", _added(script))
    plain = [line for line in workshop.plain("train.py").err.splitlines() if line.startswith(("WARNING:train:twice", "third"))]
    assert len(plain) == 6
    for options in ((), ("--workers", "2"), ("--format", "csv"), ("--json",), ("--step-into", "all")):
        replayed = workshop.florc("replay", *options, "train.py")
        assert replayed.err.splitlines() == plain, (options, replayed.err)
    asked = workshop.florc("replay", "--iterations", "epoch=1", "--format", "csv", "train.py")
    assert asked.err.splitlines() == plain[2:4] and len(_rows(asked.out)) == 4
    told = [json.loads(line) for line in workshop.florc("replay", "--json", "train.py").out.splitlines()[:-1]]
    assert [entry["text"] for entry in told if entry.get("stream") == "stderr"] == plain
    assert [entry["text"] for entry in told if "stream" not in entry] == [f"out {w * 10}" for _, w in EACH]


def test_bars_warnings_and_other_programs_are_no_values(workshop: Workshop) -> None:
    script = """
import sys, time, warnings, os, subprocess
for epoch in range(2):
    for step in range(4):
        time.sleep(0.01)
    print("epoch", epoch)
"""
    added = """    print("norm", epoch * 1, file=sys.stderr); warnings.warn("nothing 1"); os.write(2, b"norm 7\\n")
"""
    workshop.write("train.py", script)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", script.replace('    print("epoch"', added + '    print("epoch"'))
    replayed = workshop.florc("replay", "--format", "csv", "train.py")
    assert _rows(replayed.out) == [("0", "norm", "0"), ("1", "norm", "1")]
    assert replayed.err.count("norm 7\n") == 2 and "UserWarning: nothing 1" in replayed.err


def test_answers_of_forked_processes_on_standard_error_are_printed(workshop: Workshop) -> None:
    script = """
import os, time, logging
logging.basicConfig()
for epoch in range(2):
    for step in range(3):
        time.sleep(0.01)
    child = os.fork()
    if child == 0:
        twice = epoch * 2
        os._exit(0)
    os.waitpid(child, 0)
    print("epoch", epoch)
"""
    workshop.write("train.py", script)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", script.replace("        os._exit", '        logging.warning("child %s", twice)\n        os._exit'))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.err == "WARNING:root:child 0\nWARNING:root:child 2\n", replayed.err


@pytest.mark.skipif(importlib.util.find_spec("loguru") is None, reason="loguru is not installed")
def test_loguru_has_names(workshop: Workshop) -> None:
    workshop.write("train.py", 'from loguru import logger\nfor epoch in range(2):\n    logger.info(f"loss {epoch / 2}")\n')
    workshop.florc("record", "train.py")
    found = list(csv.DictReader(io.StringIO(workshop.florc("logs", "--format", "csv").out)))
    assert [(row["name"], row["value"]) for row in found] == [("loss", "0.0"), ("loss", "0.5")]


def test_a_replay_that_starts_again_prints_what_it_has_printed_no_more(tmp_path: Path) -> None:
    flags, shown = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC, tmp_path / "shown"
    known = Printed()
    for text, is_otherwise, total in (
        (b"first\n", False, b"first\n"),
        (b"first\nmore\n", False, b"first\nmore\n"),
        (b"other\nmore\n", True, b""),
    ):
        stream = os.open(shown, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        spool = Spool(stream, str(tmp_path / "spool"), flags, known, is_kept=False)
        spool.into_file()
        os.write(stream, text)
        spool.hand_on()
        spool.outside()
        assert spool.is_otherwise == is_otherwise and (not total or shown.read_bytes() == total)
        known = spool.printed()
        os.close(stream)


def test_loguru_fills_in_as_format_does() -> None:
    (template,) = templates('logger.warning("norm {} of {name:.2f}", x, name=y)')
    assert template.names == ["x", "y"] and template.is_logged
    assert templates('log.error("nothing 3", exc_info=True)') == []


def test_a_statement_says_where_it_writes_to() -> None:
    said = {
        "print(x)": (False, False),
        "print(x, file=sys.stderr)": (True, False),
        "print(x, file=out)": (None, False),
        "print(x, file=sys.stdout)": (False, False),
        'sys.stderr.write(f"{x}")': (True, False),
        "click.echo(x, err=True)": (True, False),
        "tqdm.write(x)": (None, False),
        'log.info("%s", x)': (None, True),
    }
    for statement, expected in said.items():
        (template,) = templates(statement)
        assert (template.is_error, template.is_logged) == expected, statement
