"""Native code of florc that panics, in any of its calls while a script is recorded: the script runs on as in a plain run, florc
says so, and a replay is right or says that it cannot tell."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from leftovers import tree

SCRIPT = """
import sys, time
class Net:
    w = 0
net, count = Net(), 0
log = open("log.txt", "w")
for epoch in range(3):
    for step in range(4):
        net.w += step + epoch
        time.sleep(0.002)
    log.write(f"{epoch} {net.w}\\n")
    print(epoch, net.w)
    #PROBE
while count < 4:
    count += 1
    time.sleep(0.002)
for number in (value for value in range(3)):
    print(number, count)
sys.exit(3)
"""
SITE = """
import os
if "_FLORC_STARTED" in os.environ and "PANIC_AT" in os.environ:
    import atexit
    from florc import _native
    _native.panic_at(int(os.environ["PANIC_AT"]))
    def tell():
        with open(os.environ["PANIC_TOLD"], "w") as file:
            file.write(str(_native.panic_at(-1)))
    atexit.register(tell)
"""
MANY = 10**9


WAITED_S = 30
"""Far more than the end of a run of 0.1 s has to wait for."""


def _run(command: list[str], folder: Path, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=WAITED_S, stdin=subprocess.DEVNULL
    )


def _probes(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("PROBE")]


def test_a_native_call_panics(tmp_path: Path) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    site.mkdir(), work.mkdir()
    script = work / "train.py"
    (site / "sitecustomize.py").write_text(SITE)
    probed = SCRIPT.replace("#PROBE", "print('PROBE', epoch, net.w)")
    env = {**os.environ, "PYTHONPATH": str(site), "PANIC_TOLD": str(tmp_path / "told")}
    env.pop("FLORC_DIR", None)
    script.write_text(probed)
    truth = _probes(_run([sys.executable, "train.py"], work, env).stdout)
    script.write_text(SCRIPT)
    plain = _run([sys.executable, "train.py"], work, env)
    left = tree(work)
    florc = [sys.executable, "-m", "florc"]
    _run([*florc, "record", "--checkpoint", "every", "train.py"], work, {**env, "PANIC_AT": str(MANY)})
    count = MANY - int((tmp_path / "told").read_text())
    assert count > 100 and len(truth) == 3
    every = int(os.environ.get("FLORC_TORTURE") or 29)
    bad = []
    for at in range(count % every, count, every):
        (work / "log.txt").unlink()
        script.write_text(SCRIPT)
        done = _run([*florc, "record", "--checkpoint", "every", "train.py"], work, {**env, "PANIC_AT": str(at)})
        own = "".join(line for line in done.stderr.splitlines(keepends=True) if not line.startswith("florc: "))
        found = tree(work)
        if (done.stdout, done.returncode, own) != (plain.stdout, 3, plain.stderr) or found != left:
            bad.append(f"panic {at}: exit {done.returncode}, {done.stdout!r}, {done.stderr!r}, {found}")
            continue
        script.write_text(probed)
        again = _run([*florc, "replay", "train.py"], work, env)
        is_exact = "florc: exact" in again.stderr and again.returncode == 0
        if "Traceback" in again.stderr or is_exact and _probes(again.stdout) != truth:
            bad.append(f"panic {at}, replay: exit {again.returncode}, {again.stdout!r}, {again.stderr!r}")
    assert not bad, "\n\n".join(bad)


def test_a_panic_is_an_exception() -> None:
    """Of a call with no guard of its own, too."""
    program = (
        "from florc import _native\n_native.panic_at(0)\ntry: _native.loop_path()\n"
        "except Exception as error: print(type(error).__name__, error)\nprint(_native.loop_path() == '')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == ["PanicException a test has florc panic here", "True"] and done.stderr == "", done


LOST = """
import os
if "_FLORC_STARTED" in os.environ:
    from florc.record import forking
    real = forking.Forking.start
    def start(self, *given):
        if real(self, *given) is not None:
            raise RuntimeError("after the child was started")
    forking.Forking.start = start
"""


def test_a_forked_checkpoint_that_an_error_made_nobodys(tmp_path: Path) -> None:
    """Its block is not known any more; the end of the run waits no longer than for any other."""
    (tmp_path / "site").mkdir(), (tmp_path / "site/sitecustomize.py").write_text(LOST)
    (tmp_path / "train.py").write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "florc", "record", "--checkpoint", "every", "--engine", "fork", "train.py"]
    done = _run(command, tmp_path, env)
    assert done.returncode == 3 and "after the child was started" in done.stderr, done
