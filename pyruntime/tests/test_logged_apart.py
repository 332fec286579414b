"""Names of what is not one line on a standard stream: messages of several lines, keywords of structlog, messages that loggers write
to files only, lines of processes that the script forked. Each is compared with a plain run of the script with the statement."""

from __future__ import annotations

import importlib.util
import json
import re
from typing import Any

import pytest
from florc.replay.session.capture import _only_there
from workshop import Done, Workshop

LOOP = """
w = 0.0
for epoch in range(3):
    for step in range(4):
        w += step
        time.sleep(0.01)
{last}
"""


def _script(head: str, *last: str) -> str:
    return head + LOOP.format(last="".join(f"    {line}\n" for line in last))


def _asked(workshop: Workshop, head: str, recorded: list[str], added: list[str]) -> Done:
    """Record the one, and replay with the other added before it."""
    workshop.write("train.py", _script(head, *recorded))
    done = workshop.florc("record", "--checkpoint", "every", "train.py")
    assert done.code == 0, done
    workshop.write("train.py", _script(head, *added, *recorded))
    return workshop.florc("replay", "--json", "train.py")


def _told(done: Done) -> list[tuple[int, str, Any]]:
    assert "florc: exact" in done.said, done
    entries = [json.loads(line) for line in done.out.splitlines()[:-1]]
    return [(entry["context"]["epoch"], name, value) for entry in entries for name, value in entry["values"].items()]


def _logged(workshop: Workshop, verdict: str = "recorded") -> list[tuple[int, str, Any]]:
    rows = [json.loads(line) for line in workshop.florc("logs", "--format", "jsonl").out.splitlines()]
    return [(row["context"]["epoch"], row["name"], row["value"]) for row in rows if row["verdict"] == verdict]


EACH = [(epoch, (epoch + 1) * 6.0) for epoch in range(3)]


@pytest.mark.parametrize(
    "form",
    [
        "%(levelname)s:%(name)s:%(message)s",
        "%(asctime)s %(message)s",
        "%(message)s",
        "[%(message)s]",
        "%(asctime)s\\n%(message)s",
    ],
)
def test_messages_of_several_lines_have_names(workshop: Workshop, form: str) -> None:
    head = f'import logging, sys, time\nlogging.basicConfig(level=logging.INFO, format="{form}", stream=sys.stdout)\n'
    added = ['logging.info("w %s\\n  twice %s\\nin epoch %d", w, w * 2, epoch)', 'print("third", w / 3, "\\nfourth", w / 4)']
    replayed = _asked(workshop, head, ['logging.info("loss %s\\nhalf %s", w, w / 2)'], added)
    plain = workshop.plain("train.py").out
    twice = [float(found) for found in re.findall(r"twice (\S+)", plain)]
    assert twice == [2 * w for _, w in EACH]
    assert _told(replayed) == [
        (epoch, name, value)
        for epoch, w in EACH
        for name, value in (("w", w), ("twice", w * 2), ("epoch", epoch), ("third", w / 3), ("fourth", w / 4))
    ]
    assert _logged(workshop) == [(epoch, name, value) for epoch, w in EACH for name, value in (("w", w), ("half", w / 2))]


STRUCTLOG = {
    "the default": "",
    "JSON": "structlog.configure(processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer()])",
    "colours": "structlog.configure(processors=[structlog.processors.add_log_level, structlog.dev.ConsoleRenderer(colors=True)])",
    "key=value": "structlog.configure(processors=[structlog.processors.KeyValueRenderer()])",
    "logging": """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stdout)
structlog.configure(
    processors=[structlog.stdlib.add_log_level, structlog.dev.ConsoleRenderer(colors=False)],
    logger_factory=structlog.stdlib.LoggerFactory(),
)
""",
}


@pytest.mark.skipif(importlib.util.find_spec("structlog") is None, reason="structlog is not installed")
@pytest.mark.parametrize("setup", STRUCTLOG)
def test_keywords_of_structlog_are_names(workshop: Workshop, setup: str) -> None:
    head = f"import time\nimport structlog\n{STRUCTLOG[setup]}\nlog = structlog.get_logger()\n"
    added = [
        'log.info("norms", norm=w * 2, label="a b", epoch=epoch)',
        'log.bind(third=w / 3).warning(f"half {w / 2} here", flag=True)',
    ]
    replayed = _asked(workshop, head, ['log.info("epoch done", loss=w)'], added)
    plain = workshop.plain("train.py").out
    assert [plain.count(str(w * 2)) > 0 for _, w in EACH] == [True] * 3
    assert sorted(_told(replayed), key=str) == sorted(
        (
            (epoch, name, value)
            for epoch, w in EACH
            for name, value in (
                ("norm", w * 2),
                ("label", "a b"),
                ("epoch", epoch),
                ("half", w / 2),
                ("third", w / 3),
                ("flag", True),
            )
        ),
        key=str,
    )
    assert _logged(workshop) == [(epoch, "loss", w) for epoch, w in EACH]


FILES = {
    "a file": 'logging.basicConfig(filename="train.log", level=logging.INFO)',
    "two files": 'logging.basicConfig(handlers=[logging.FileHandler("train.log"), logging.FileHandler("b.log")], level=logging.INFO)',
    "a file that is opened late": 'logging.basicConfig(handlers=[logging.FileHandler("train.log", delay=True)], level=logging.INFO)',
    "files that rotate": "import logging.handlers\nlogging.basicConfig(handlers=["
    'logging.handlers.RotatingFileHandler("train.log", maxBytes=60, backupCount=100)], level=logging.INFO)',
    "a file, and the terminal": 'logging.basicConfig(handlers=[logging.FileHandler("train.log"), logging.StreamHandler()], level=logging.INFO)',
    "the terminal, and a file": 'logging.basicConfig(handlers=[logging.StreamHandler(), logging.FileHandler("train.log")], level=logging.INFO)',
}


@pytest.mark.parametrize("setup", FILES)
def test_what_a_logger_writes_to_a_file_only_is_not_lost(workshop: Workshop, setup: str) -> None:
    head = f"import logging, time\n{FILES[setup]}\nlog = logging.getLogger('train')\n"
    added = ['log.warning("norm %s of\\n %d", w * 2, epoch); print("out", w)', 'log.info("norm %s", w * 2)']
    workshop.write("train.py", _script(head, 'log.info("w %s", w)'))
    plain = workshop.plain("train.py")
    before = {path.name: path.read_bytes() for path in workshop.path.glob("*.log*")}
    for path in workshop.path.glob("*.log*"):
        path.unlink()
    replayed = _asked(workshop, head, ['log.info("w %s", w)'], added)
    assert {path.name: path.read_bytes() for path in workshop.path.glob("*.log*") if "florc" not in path.name} == before
    expected = [
        (epoch, name, value)
        for epoch, w in EACH
        for name, value in (("w", w), ("norm", w * 2), ("epoch", epoch), ("norm", w * 2))
    ]
    assert sorted(_told(replayed), key=str) == sorted(expected, key=str), replayed
    assert _logged(workshop) == [(epoch, "w", w) for epoch, w in EACH]
    streams = [json.loads(line).get("stream") for line in replayed.out.splitlines()[:-1]]
    assert streams.count("file") == (0 if "terminal" in setup else 9) and streams.count(None) == 3
    # nothing on standard output that a plain run would not print there; the values are kept all the same
    quiet = workshop.florc("replay", "train.py")
    assert quiet.out == "".join(f"out {w}\n" for _, w in EACH)
    assert plain.code == 0
    kept = [row for row in _logged(workshop, "exact") if row[1] == "norm"]
    assert [value for _, _, value in kept] == [w * 2 for _, w in EACH for _ in range(2)], kept


@pytest.mark.skipif(importlib.util.find_spec("loguru") is None, reason="loguru is not installed")
def test_files_of_loguru_have_names(workshop: Workshop) -> None:
    head = 'import time\nfrom loguru import logger\nlogger.remove()\nlogger.add("train.log")\n'
    replayed = _asked(workshop, head, ['logger.info("w {}", w)'], ['logger.info(f"norm {w * 2}")'])
    assert _told(replayed) == [(epoch, "norm", w * 2) for epoch, w in EACH]
    assert _logged(workshop) == [(epoch, "w", w) for epoch, w in EACH]


def test_a_file_that_cannot_be_opened_fails_as_without_florc(workshop: Workshop) -> None:
    workshop.write("train.py", 'import logging\nlogging.basicConfig(filename="missing/train.log")\n')
    plain, recorded = workshop.plain("train.py"), workshop.florc("record", "train.py")
    assert (recorded.err, recorded.code) == (plain.err, plain.code) and "FileNotFoundError" in plain.err


def test_a_message_that_stands_in_several_places_counts_once() -> None:
    line = ("INFO a", "a")
    assert _only_there([[line, line]], [("a", "a")]) == [line]
    assert _only_there([[line], [line]], []) == [line]
    assert _only_there([[line], [line, line, ("b", None)]], []) == [line, line]


FORKED = [
    "sys.stdout.flush()",
    "child = os.fork()",
    "if child == 0:",
    "    twice = w * 2",
    "    os._exit(0)",
    "os.waitpid(child, 0)",
]


def _forking(*added: str) -> str:
    """A script that forks a process in each epoch, with statements in that."""
    return _script("import os, sys, time\n", *FORKED[:4], *added, *FORKED[4:], 'print("epoch", epoch)')


def _record_forking(workshop: Workshop) -> None:
    workshop.write("train.py", _forking())
    workshop.florc("record", "--checkpoint", "every", "train.py")


def test_lines_of_forked_processes_have_names(workshop: Workshop) -> None:
    _record_forking(workshop)
    workshop.write("train.py", _forking('    print("twice", twice, "of", epoch, flush=True)'))
    truth = [float(line.split()[1]) for line in workshop.plain("train.py").out.splitlines() if line.startswith("twice")]
    done = workshop.florc("replay", "--json", "train.py")
    assert _told(done) == [
        (epoch, name, value) for (epoch, w), value in zip(EACH, truth) for name, value in (("twice", value), ("epoch", epoch))
    ]
    assert [json.loads(line)["child"] for line in done.out.splitlines()[:-1]] == ["1", "2", "3"] and len(truth) == 3
    printed = workshop.florc("replay", "train.py")
    assert [float(line.split()[1]) for line in printed.out.splitlines()] == truth and not printed.err, printed
    assert _logged(workshop, "exact") == _told(done)
    table = workshop.florc("logs", "twice").out.splitlines()
    assert table[0].split()[:2] == ["child", "epoch"] and len(table) == 4


def test_what_forked_processes_write_to_standard_error_has_names(workshop: Workshop) -> None:
    _record_forking(workshop)
    added = ['    print("twice", twice, file=sys.stderr)', '    print("half", twice / 4, flush=True)']
    workshop.write("train.py", _forking(*added))
    truth = workshop.plain("train.py")
    done = workshop.florc("replay", "--json", "train.py")
    assert done.err == truth.err and done.err.count("twice") == 3
    told = [(entry.get("stream"), entry["child"], entry["values"]) for entry in map(json.loads, done.out.splitlines()[:-1])]
    assert told == [
        found
        for child, (_, w) in enumerate(EACH, 1)
        for found in (("stderr", str(child), {"twice": w * 2}), (None, str(child), {"half": w / 2}))
    ]
    assert workshop.florc("replay", "train.py").err == truth.err
