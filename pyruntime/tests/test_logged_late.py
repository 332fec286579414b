"""Loggers that write late, in another thread or with a later record, and lines in which a logger writes the number of a line. What a
replay answers is compared with a plain run of the script with the statement."""

from __future__ import annotations

import importlib.util
import json
import re

import pytest
from florc.runs.lines import recorded_numbers, with_recorded_numbers
from workshop import Done, Workshop

LOOP = """
w = 0.0
for epoch in range(3):
    for step in range(4):
        w += step
        time.sleep(0.01)
{added}    log.info("loss %s" % w)
    print("epoch", epoch)
{end}
"""
QUEUE = """
import logging, logging.handlers, queue, sys, time
lines = queue.Queue()
log = logging.getLogger("train")
log.setLevel(logging.INFO)
log.addHandler(logging.handlers.QueueHandler(lines))
listener = logging.handlers.QueueListener(lines, {to})
listener.start()
"""
MEMORY = """
import logging, logging.handlers, sys, time
log = logging.getLogger("train")
log.setLevel(logging.INFO)
log.addHandler(logging.handlers.MemoryHandler(3, target=logging.StreamHandler(sys.stdout)))
"""
LOGURU = """
import sys, time
from loguru import logger as log
log.remove()
log.add({to}, enqueue=True, format="{{level}} {{line}}: {{message}}")
"""
ADDED = '    log.info("norm %s of %s" % (w * 2, epoch))\n    log.error("third %s" % (w / 3))\n'

LATE = {
    "a queue": (QUEUE.format(to="logging.StreamHandler(sys.stdout)"), "listener.stop()"),
    "a queue, standard error": (QUEUE.format(to="logging.StreamHandler()"), "listener.stop()"),
    "a queue, a file": (QUEUE.format(to='logging.FileHandler("train.log")'), "listener.stop()"),
    "a queue that is emptied at the exit": (
        QUEUE.format(to="logging.StreamHandler(sys.stdout)") + "import atexit\natexit.register(listener.stop)\n",
        "",
    ),
    "memory": (MEMORY, ""),
    "loguru": (LOGURU.format(to="sys.stdout"), ""),
    "loguru, standard error": (LOGURU.format(to="sys.stderr"), ""),
    "loguru, a file": (LOGURU.format(to='"train.log"'), ""),
}


def _replayed(workshop: Workshop, head: str, end: str, added: str) -> Done:
    """Record it, and replay it with the added lines."""
    workshop.write("train.py", head + LOOP.format(added="", end=end))
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", head + LOOP.format(added=added, end=end))
    return workshop.florc("replay", "--json", "train.py")


def _truth(workshop: Workshop, done: Done) -> list[str]:
    """The added lines of a plain run, wherever it writes them."""
    kept = [path.read_text() for path in workshop.path.glob("train.log")]
    return re.findall(r"(?:(?:INFO|ERROR) \d+: )?(?:norm|third) .*", "".join([done.out, done.err, *kept]))


@pytest.mark.parametrize("kind", LATE)
def test_a_line_that_is_written_late_is_part_of_the_answer(workshop: Workshop, kind: str) -> None:
    if "loguru" in kind and importlib.util.find_spec("loguru") is None:
        pytest.skip("loguru is not installed")
    done = _replayed(workshop, *LATE[kind], ADDED)
    answered = [json.loads(line) for line in done.out.splitlines()[:-1]]
    truth = _truth(workshop, workshop.plain("train.py"))
    assert "florc: exact" in done.said, done
    assert [line["text"] for line in answered if line["values"]] == truth and len(truth) == 6, (done, truth)
    assert [line["context"]["epoch"] for line in answered] == [0, 0, 1, 1, 2, 2]
    assert answered[2]["values"] == {"norm": 24.0, "epoch": 1} and answered[3]["values"] == {"third": 4.0}
    printed = workshop.florc("replay", "train.py")
    if "file" not in kind:
        assert _truth(workshop, printed) == truth


def test_a_queue_that_nothing_known_reads_leaves_the_answer_unverified(workshop: Workshop) -> None:
    reads = "import threading\nthreading.Thread(target=lambda: print(lines.get().getMessage()), daemon=True).start()\n"
    head = "import multiprocessing" + QUEUE.format(to="logging.StreamHandler(sys.stdout)").replace(
        "listener.start()\n", reads
    ).replace("queue.Queue", "multiprocessing.Queue")
    done = _replayed(workshop, head, "", ADDED)
    assert "unverified" in done.said and ": what it tells a logger goes to a queue" in done.said, done


NUMBERED = {
    "logging": 'import logging, sys, time\nlogging.basicConfig(level=20, format="%(lineno)d %(message)s", stream=sys.stdout)\n'
    "log = logging.getLogger()\n",
    "loguru": "import sys, time\nfrom loguru import logger as log\nlog.remove()\nlog.add(sys.stdout)\n",
}


@pytest.mark.parametrize("kind", NUMBERED)
def test_numbers_of_lines_that_an_edit_moved_are_the_recorded_ones(workshop: Workshop, kind: str) -> None:
    if kind == "loguru" and importlib.util.find_spec("loguru") is None:
        pytest.skip("loguru is not installed")
    added = '    log.info("norm %s" % w)  # twice the same\n    # a comment\n    log.info("loss %s" % w)\n'
    done = _replayed(workshop, NUMBERED[kind], "", added)
    assert "florc: exact" in done.said and "6 recorded lines" in done.said + " 6 recorded lines" * (kind == "loguru"), done
    answered = [re.findall(r"\d+(?: -)? (?:norm|loss) .*", line["text"]) for line in map(json.loads, done.out.splitlines()[:-1])]
    truth = re.findall(r"\d+(?: -)? (?:norm|loss) .*", workshop.plain("train.py").out)
    assert [line for (line,) in answered] == [line for at, line in enumerate(truth) if at % 3 < 2]


PLACES = """
import logging, sys, traceback, warnings
logging.basicConfig(stream=sys.stdout, format="%(message)s")
logging.captureWarnings(True)
warnings.simplefilter("always")

def fails(w):
    raise ValueError(w)

for epoch in range(2):
{added}    try:
        fails(epoch)
    except ValueError:
        traceback.print_exc(file=sys.stdout)
    warnings.warn(f"careful {{epoch}}")
"""


def test_places_in_tracebacks_and_warnings_are_the_recorded_ones(workshop: Workshop) -> None:
    workshop.write("train.py", PLACES.format(added=""))
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", PLACES.format(added='    print("P", epoch)\n'))
    done = workshop.florc("replay", "train.py")
    assert "florc: exact" in done.said and done.out == "P 0\nP 1\n", done


def test_only_lines_that_were_there_have_recorded_numbers() -> None:
    numbers = recorded_numbers("a\nb\nc\n", "a\n# why\nb\nd\nd\nc\n", [])
    assert numbers == {1: 1, 3: 2, 6: 3}
    moved = {("t.py", 3): 2}
    text = 'File "t.py", line 3, in f; File "u.py", line 3; (t.py:3: UserWarning: t.py, line 3 3)'
    expected = 'File "t.py", line 2, in f; File "u.py", line 3; (t.py:2: UserWarning: t.py, line 3 3)'
    assert with_recorded_numbers(text, lambda file, line: moved.get((file, line), line)) == expected


KEPT = """
import time, traceback

class Log:
    errors = []

log, w = Log(), 0.0
for epoch in range(2):
    for step in range(4):
        w += step
        time.sleep(0.01)
{added}        try:
            w + ""
        except TypeError:
            log.errors.append(traceback.format_exc())
    print("train.py:12: ok", epoch, f"by train.py:{{12}}")
"""


def test_a_traceback_that_the_script_keeps_is_the_recorded_one(workshop: Workshop) -> None:
    """What only looks like the number of a line, and is the same, is no difference either."""
    workshop.write("train.py", KEPT.format(added=""))
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", KEPT.format(added='        print("P", epoch, w)\n'))
    done = workshop.florc("replay", "train.py")
    assert "florc: exact" in done.said and len(done.out.splitlines()) == 8, done


def test_a_line_of_rich_names_the_recorded_place(workshop: Workshop) -> None:
    if importlib.util.find_spec("rich") is None:
        pytest.skip("rich is not installed")
    text = """
        import time
        from rich.console import Console
        console = Console(width=100)
        # nothing
        # nothing
        # nothing
        w = 0.0
        for epoch in range(2):
            for step in range(4):
                w += step
                time.sleep(0.01)
            #PROBE
            console.log("loss", w)
    """
    workshop.write("train.py", text.replace("            #PROBE\n", ""))
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", text.replace("#PROBE", 'print("P", epoch)'))
    done = workshop.florc("replay", "train.py")
    assert "florc: exact" in done.said and done.out == "P 0\nP 1\n", done
