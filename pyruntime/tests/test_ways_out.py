"""By whatever way an added statement writes, the user gets it: as many lines as a plain run shows, or a word about it."""

from __future__ import annotations

import json

import pytest
from workshop import Workshop

SCRIPT = """
import ctypes, io, logging, os, subprocess, sys, threading, time, warnings
for epoch in range(3):
    for step in range(3):
        time.sleep(0.01)
    print("epoch", epoch)
"""
WAYS = {
    "print": 'print("MARK", epoch)',
    "without an end": 'print("MARK", epoch, end="")',
    "a generator": 'print(*("MARK" for _ in range(1)), epoch)',
    "a descriptor": 'os.write(1, b"MARK %d\\n" % epoch)',
    "a buffer": 'sys.stdout.buffer.write(b"MARK %d\\n" % epoch)',
    "lines": 'sys.stdout.writelines(["MARK ", str(epoch), "\\n"])',
    "the first standard output": 'sys.__stdout__.write(f"MARK {epoch}\\n")',
    "a file of its own": 'io.open(1, "w", closefd=False).write(f"MARK {epoch}\\n")',
    "another program": 'subprocess.run(["echo", "MARK", str(epoch)])',
    "a shell": 'os.system(f"echo MARK {epoch}")',
    "C": 'ctypes.CDLL(None).puts(b"MARK %d" % epoch)',
    "a thread": 't = threading.Thread(target=print, args=("MARK", epoch)); t.start(); t.join()',
    "standard error": 'print("MARK", epoch, file=sys.stderr)',
    "lines of standard error": 'sys.stderr.writelines(["MARK ", str(epoch), "\\n"])',
    "the first standard error": 'sys.__stderr__.write(f"MARK {epoch}\\n")',
    "the descriptor of errors": 'os.write(2, b"MARK %d\\n" % epoch)',
    "a warning": 'warnings.warn_explicit(f"MARK {epoch}", UserWarning, "x.py", epoch + 1)',
    "a logger": 'logging.lastResort.handle(logging.makeLogRecord({"msg": f"MARK {epoch}", "levelno": 40}))',
}


def _asked(workshop: Workshop, statement: str) -> tuple[int, int]:
    workshop.write("train.py", SCRIPT)
    workshop.florc("record", "--checkpoint", "every", "train.py")
    workshop.write("train.py", SCRIPT.replace('    print("epoch"', f'    {statement}\n    print("epoch"'))
    plain = workshop.plain("train.py")
    return plain.out.count("MARK"), plain.err.count("MARK")


@pytest.mark.parametrize("way", WAYS)
def test_what_is_written_by_any_way_arrives(way: str, workshop: Workshop) -> None:
    out, err = _asked(workshop, WAYS[way])
    assert out + err == 3
    replayed = workshop.florc("replay", "train.py")
    assert (replayed.out.count("MARK"), replayed.err.count("MARK")) == (out, err) and "exact: " in replayed.said
    as_json = workshop.florc("replay", "--json", "train.py")
    told = [json.loads(line) for line in as_json.out.splitlines()[:-1]]
    assert sum("MARK" in entry["text"] and "stream" not in entry for entry in told) == out, as_json.out
    assert as_json.err.count("MARK") == err, as_json.err
    table = workshop.florc("replay", "--format", "csv", "train.py")
    rows = len(table.out.splitlines()) - 1
    assert table.err.count("MARK") == err and (rows >= out or f"{out} lines of the answer have no names" in table.said), table


def test_what_a_thread_prints_after_its_statement_is_no_answer_and_florc_says_so(workshop: Workshop) -> None:
    _asked(workshop, 'threading.Timer(0.3, print, ("MARK", epoch)).start()')
    replayed = workshop.florc("replay", "train.py")
    assert "MARK" not in replayed.out and "unverified: " in replayed.said
    assert "train.py:5: started a thread that went on" in replayed.said, replayed.said


def test_what_a_program_prints_after_its_statement_arrives(workshop: Workshop) -> None:
    _asked(workshop, 'p = subprocess.Popen("sleep 0.05; echo MARK", shell=True)\n    epoch < 2 or time.sleep(0.5)')
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.count("MARK\n") == 3, replayed
