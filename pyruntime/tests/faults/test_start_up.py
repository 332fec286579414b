"""Whatever fails before the script's first line, the script runs as a plain run, once, and one line says why it is not recorded.

A profile function that the interpreter installs at its start (`sitecustomize`) makes the n-th call of florc's start-up raise.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
class Net:
    w = 0
net = Net()
log = open("log.txt", "w")
for epoch in range(2):
    for step in range(2):
        net.w += step
    log.write(f"{epoch} {net.w}\\n")
    print(epoch, net.w, sys.argv[1:], __name__)
sys.exit(3)
"""
FAULTS = {"oserror": "OSError(28, 'No space left on device')", "error": "RuntimeError('injected')", "memory": "MemoryError()"}
SITE = """
import os, sys
if "_FLORC_STARTED" in os.environ and "FAULT_AT" in os.environ:
    at, kind, told = int(os.environ["FAULT_AT"]), os.environ["FAULT_KIND"], os.environ["FAULT_TOLD"]
    here = os.sep + "florc" + os.sep
    calls = 0
    def count(frame, event, arg):
        global calls
        if frame.f_code.co_filename.endswith("train.py"):
            sys.setprofile(None)
            with open(told, "w") as file:
                file.write(str(calls))
            return
        if event == "c_call" and arg.__name__ == "run_main":
            return
        if event in ("call", "c_call") and here in frame.f_code.co_filename and "mishaps" not in frame.f_code.co_filename:
            calls += 1
            if calls == at:
                sys.setprofile(None)
                raise eval(kind)
    sys.setprofile(count)
"""


def _run(folder: Path, command: list[str], env: dict[str, str]) -> subprocess.CompletedProcess:
    (folder / "log.txt").unlink(missing_ok=True)
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)


def _sweep(folder: Path, kind: str, every: int) -> list[str]:
    (folder / "train.py").write_text(SCRIPT)
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text(SITE)
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "FAULT_TOLD": str(folder / "told"), "FAULT_KIND": FAULTS[kind]}
    env.pop("FLORC_DIR", None)
    plain = _run(folder, [sys.executable, "train.py", "a"], env)
    left = (folder / "log.txt").read_text()
    record = [sys.executable, "-m", "florc", "record", "train.py", "a"]
    _run(folder, record, {**env, "FAULT_AT": "0"})
    calls = int((folder / "told").read_text())
    assert calls > 200
    bad = []
    for at in range(2 + calls % every, calls + 1, every):  # the first is that of florc's own `__main__`
        done = _run(folder, record, {**env, "FAULT_AT": str(at)})
        own = "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("florc: "))
        said = done.stderr[len(own) :] if own else done.stderr
        log = (folder / "log.txt").read_text() if (folder / "log.txt").exists() else None
        if (done.stdout, done.returncode, own, log) != (plain.stdout, 3, plain.stderr, left):
            bad.append(f"{kind} at call {at}: exit {done.returncode}, {done.stdout!r}, {done.stderr!r}")
        elif "florc: " not in said:
            bad.append(f"{kind} at call {at}: nothing is said")
    return bad


@pytest.mark.parametrize("kind", FAULTS)
def test_a_call_of_start_up_fails(kind: str, tmp_path: Path) -> None:
    every = int(os.environ.get("FLORC_TORTURE") or 100)
    assert _sweep(tmp_path, kind, every) == []
