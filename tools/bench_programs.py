"""What florc costs and gains where a library trains: `make bench-programs`.

Every program of testdata/programs whose packages are installed runs alone, under `florc record` with the default overhead, again
with its added statements, and as a replay: once for each kind of question (outer: once an epoch; inner: in a training step;
callback: in what the library calls; after: behind the training).
Processor seconds are those of all processes. What both ways spend on imports is taken out of the speed-up.

    python tools/bench_programs.py [--rounds N] [--write] [PROGRAM …]
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pyruntime" / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pyruntime" / "tests" / "replay"))

from bench_record import Run, ran
from harness import KINDS, before, of_kind
from probes import environment
from tables import put

ROOT = Path(__file__).resolve().parent.parent
FOLDER, DOCS = ROOT / "testdata" / "programs", ROOT / "docs" / "benchmarks.md"
BEGIN, END = "<!-- bench-programs -->", "<!-- /bench-programs -->"
_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER`: a writer that outlives its run is waited for here."""


class Program(NamedTuple):
    """A program as it was recorded, and with its added statements of each kind."""

    name: str
    plain: str
    asked: dict[str, str]

    @property
    def missing(self) -> list[str]:
        """Packages that are not installed."""
        packages = re.findall(r"^(?:import|from) (\w+)", self.plain, re.MULTILINE)
        return [package for package in packages if importlib.util.find_spec(package) is None]


def read(path: Path) -> Program:
    """Read a patch: lines that begin with `+` are added."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("# florc:")]
    return Program(path.name.partition(".")[0], before(lines), {kind: of_kind(kind)(lines) for kind in KINDS})


def asked(program: Program, which: str, folder: Path) -> tuple[Run, Run, dict[str, Any]]:
    """Run a recorded program again with statements, and replay it: both times, and what the replay says."""
    with tempfile.TemporaryDirectory() as other:
        (Path(other) / "train.py").write_text(program.asked[which])
        again = ran(Path(other), sys.executable, "train.py")
    (folder / "train.py").write_text(program.asked[which])
    begun = time.perf_counter()
    done = subprocess.run(
        ["florc", "replay", "--json", "train.py"], cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )
    wall = time.perf_counter() - begun
    return again, Run(0.0, wall), json.loads(done.stdout.splitlines()[-1])


def rows(program: Program, rounds: int) -> list[str]:
    """The rows of a program."""
    plain, record = [], []
    found: dict[str, list[tuple[Run, Run, dict[str, Any]]]] = {which: [] for which in program.asked}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "train.py").write_text(program.plain)
            record.append(ran(folder, "florc", "record", "train.py"))
            for which, known in found.items():
                known.append(asked(program, which, folder))
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "train.py").write_text(program.plain)
            plain.append(ran(Path(name), sys.executable, "train.py"))
    cpu = statistics.median(run.cpu for run in plain)
    more = statistics.median(run.cpu for run in record) / cpu - 1
    return [_row(program.name, which, cpu, more, known) for which, known in found.items()]


def _row(name: str, which: str, cpu: float, more: float, known: list[tuple[Run, Run, dict[str, Any]]]) -> str:
    again = statistics.median(again.wall for again, _, _ in known)
    replay = statistics.median(replay.wall for _, replay, _ in known)
    imports = statistics.median(told["import_seconds"] for *_, told in known)
    told = known[-1][2]
    gain = (again - imports) / max(replay - imports, 0.05)
    ran_again = ", ".join(f"{block} {times} ×" for block, times in told["ran"].items()) or "nothing"
    return (
        f"| {name} | {which} | {cpu:.1f} s | {more:+.1%} | {again:.1f} s | {replay:.1f} s | {imports:.1f} s | {gain:.1f} × | "
        f"{told['verdict']} | {told['skipped']} | {ran_again} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("program", nargs="*")
    arguments = parser.parse_args()
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    head = (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, Python {platform.python_version()}, medians of {arguments.rounds} "
        "rounds. *anew*: run again with the statements. "
        "*imports* are those of the replay, and count to neither side of the speed-up.\n"
    )
    lines = [
        "| program | asked | processor | more with florc | anew | replay | imports | speed-up | verdict | restored | ran again |",
        "|---|---|--:|--:|--:|--:|--:|--:|---|--:|---|",
    ]
    print("\n".join(lines))
    programs = [read(path) for path in sorted(FOLDER.glob("*.patch.py"))]
    for program in programs:
        if arguments.program and program.name not in arguments.program:
            continue
        if program.missing:
            print(f"{program.name}: {', '.join(program.missing)} is not installed (make test-trainers)", file=sys.stderr)
            continue
        found = rows(program, arguments.rounds)
        lines += found
        print("\n".join(found), flush=True)
    if arguments.write:
        put(DOCS, BEGIN, END, "\n".join([head, *lines, ""]))


if __name__ == "__main__":
    main()
