"""`make demo`: record a real training run, ask a question afterwards, get the exact answer.

Records testdata/scripts/digits_cnn.py, adds one log statement, replays, and checks every value against a full re-run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".demo"
SCRIPT = "digits_cnn.py"
sys.path.insert(0, str(ROOT / "tools"))

from probes import environment, insert, load  # noqa: E402


def main() -> int:
    """Run the demo; 0 when every value is exact."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    source = (ROOT / "testdata" / "scripts" / SCRIPT).read_text()
    (FOLDER / SCRIPT).write_text(source)
    probe = next(probe for probe in load(SCRIPT) if probe.name == "outer")

    heading("1. Record: the script is unchanged, and so is what it prints.")
    recorded = run("florc", "record", SCRIPT)
    heading("2. The question comes afterwards: add a log statement.")
    (FOLDER / SCRIPT).write_text(insert(source, probe))
    print(f"   + {probe.insert.strip()}\n")
    heading("3. Replay: the values as if the statement had been there.")
    begun = time.perf_counter()
    answer = run("florc", "replay", SCRIPT)
    replayed = time.perf_counter() - begun
    heading("4. Is it true? Run everything again with the statement in it.")
    begun = time.perf_counter()
    again = run(sys.executable, SCRIPT, show=False)
    rerun = time.perf_counter() - begun

    wanted = added_lines(recorded, again)
    exact = answer.splitlines() == wanted
    print(f"   replay {replayed:.1f} s, re-running {rerun:.1f} s: {rerun / replayed:.1f} times as fast")
    print(f"   {len(wanted)} values, bit for bit {'equal' if exact else 'DIFFERENT'}")
    return 0 if exact else 1


def heading(text: str) -> None:
    """Print a heading before what follows on either stream."""
    print(f"\n{text}", flush=True)


def run(*command: str, show: bool = True) -> str:
    """Run a command in the demo's folder; what it printed on standard output."""
    if show:
        print(f"   $ {' '.join(command)}", flush=True)
    with subprocess.Popen(command, cwd=FOLDER, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if show:
                print(f"   {line}", end="", flush=True)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    return "".join(lines)


def added_lines(before: str, after: str) -> list[str]:
    """The lines of `after` that `before` does not have; `before`'s lines are all there, in order."""
    old = before.splitlines()
    added = []
    for line in after.splitlines():
        if old and line == old[0]:
            old.pop(0)
        else:
            added.append(line)
    if old:
        raise SystemExit(f"the re-run did not print {old[0]!r}: the script itself is not deterministic")
    return added


if __name__ == "__main__":
    sys.exit(main())
