"""What florc costs and gains where a library trains: `make bench-programs`.

Every program of testdata/programs whose packages are installed runs alone, under `florc record` with the default overhead, again
with its added statements, and as a replay: once for each kind of question (outer: once an epoch; inner: in a training step;
callback: in what the library calls; after: behind the training).
Processor seconds are those of all processes. Imports, which vary most and are the same in all runs, are measured in each run and
taken out of its time.

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
from harness import KINDS, after, before, of_kind
from probes import environment
from tables import put

ROOT = Path(__file__).resolve().parent.parent
FOLDER, DOCS = ROOT / "testdata" / "programs", ROOT / "docs" / "benchmarks.md"
TIMER = Path(__file__).resolve().parent / "import_times"
BEGIN, END = "<!-- bench-programs -->", "<!-- /bench-programs -->"
_SUBREAPER = 36
"""`PR_SET_CHILD_SUBREAPER`: a writer that outlives its run is waited for here."""


class Program(NamedTuple):
    """A program as it was recorded, with its added statements of each kind, and with all of them."""

    name: str
    plain: str
    asked: dict[str, str]
    whole: str

    @property
    def missing(self) -> list[str]:
        """Packages that are not installed."""
        packages = re.findall(r"^(?:import|from) (\w+)", self.plain, re.MULTILINE)
        return [package for package in packages if importlib.util.find_spec(package) is None]


class Timed(NamedTuple):
    """A run, and how long its process imported (seconds of the clock)."""

    run: Run
    imports: float

    @property
    def own(self) -> float:
        """Seconds without the imports."""
        return self.run.wall - self.imports

    @property
    def own_cpu(self) -> float:
        """Processor seconds without the imports."""
        return self.run.cpu - self.imports


def read(path: Path) -> Program:
    """Read a patch: lines that begin with `+` are added. `# florc: longer = OLD -> NEW` makes the training take some seconds."""
    whole = path.read_text(encoding="utf-8")
    old, new = re.findall(r"^# florc: longer = (.+) -> (.+)$", whole, re.MULTILINE)[0]
    text = re.sub(r"^# florc:.*\n", "", whole, flags=re.MULTILINE)
    if text.count(old) != 1:
        raise ValueError(f"{path.name}: {old!r} stands there {text.count(old)} times")
    lines = text.replace(old, new).splitlines()
    return Program(path.name.partition(".")[0], before(lines), {kind: of_kind(kind)(lines) for kind in KINDS}, after(lines))


def plain_run(text: str) -> Timed:
    """A run without florc."""
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as times:
        (Path(name) / "train.py").write_text(text)
        run = ran(Path(name), sys.executable, "train.py", PYTHONPATH=str(TIMER), IMPORT_TIMES=times)
        # the script's own process took longest; those that it spawned import beside it
        return Timed(run, max(float(file.read_text()) for file in Path(times).iterdir()))


def recorded(program: Program, folder: Path) -> Timed:
    """A run under `florc record`."""
    (folder / "train.py").write_text(program.plain)
    run = ran(folder, "florc", "record", "train.py")
    report = json.loads(max(folder.glob(".florc/runs/*/run.json")).read_text())["report"]
    return Timed(run, sum(seconds for _, seconds in report["imports"]))


def replayed(program: Program, which: str, folder: Path) -> tuple[Timed, dict[str, Any]]:
    """A replay with statements of a kind, and what it says."""
    (folder / "train.py").write_text(program.asked[which])
    begun = time.perf_counter()
    done = subprocess.run(
        ["florc", "replay", "--json", "train.py"], cwd=folder, env=environment(), capture_output=True, text=True, check=True
    )
    wall = time.perf_counter() - begun
    told = json.loads(done.stdout.splitlines()[-1])
    return Timed(Run(0.0, wall), told["import_seconds"]), told


def rows(program: Program, rounds: int) -> list[str]:
    """The rows of a program. It runs alone and recorded by turns, `rounds` times; the last recorded run is asked."""
    plain: list[Timed] = []
    record: list[Timed] = []
    for number in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            plain.append(plain_run(program.plain))
            record.append(recorded(program, Path(name)))
            if number == rounds - 1:
                anew = plain_run(program.whole)
                found = {which: replayed(program, which, Path(name)) for which in program.asked}
    more = statistics.median(with_florc.own_cpu / alone.own_cpu for with_florc, alone in zip(record, plain)) - 1
    return [_row(program.name, which, plain, more, anew, *known) for which, known in found.items()]


def _row(name: str, which: str, plain: list[Timed], more: float, anew: Timed, replay: Timed, told: dict[str, Any]) -> str:
    cpu, own = (statistics.median(values) for values in zip(*((one.run.cpu, one.own_cpu) for one in plain)))
    gain = anew.own / max(replay.own, 0.05)
    ran_again = ", ".join(f"{block} {times} ×" for block, times in told["ran"].items()) or "nothing"
    return (
        f"| {name} | {which} | {cpu:.1f} s | {own:.1f} s | {more:+.0%} | {anew.own:.1f} s | {replay.own:.1f} s | {gain:.1f} × | "
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
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores, Python {platform.python_version()}, {arguments.rounds} runs alone "
        "and recorded, by turns: medians. *processor*: of a plain run; *training*: of that without imports, which no column "
        "behind it has either, each run's own taken out; *more*: of the processor, with `florc record`; *anew*: run again with "
        "all added statements; *replay*: with those of one kind.\n"
    )
    lines = [
        "| program | asked | processor | training | more | anew | replay | speed-up | verdict | restored | ran again |",
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
