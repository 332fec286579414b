"""`make exactness`: for every example script and every probe position, is the replayed value bit for bit what a full
re-run prints, and how much faster did it come? With two workers, is every byte the same, and how near is their time to
half of what must run by the recorded times?

    python tools/exactness.py [--one] [--probe NAME] [SCRIPT …]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

from probes import environment, files, insert, insert_all, load, scripts, tagged, write


class Ran(NamedTuple):
    """A finished process. `seconds`: wall time, start-up included; `cpu_s`: of the processor, of all its processes."""

    out: str
    err: str
    code: int
    seconds: float
    cpu_s: float


class Row(NamedTuple):
    """One script and one probe position."""

    script: str
    probe: str
    exact: bool
    verdict: str
    """What the replay calls its answer."""
    draws: bool
    """Whether the probe draws random numbers itself: had it been there, what came after would have drawn others."""
    values: int
    replay_s: float
    replay_cpu_s: float
    replay_imports_s: float
    """Of the replay's wall time, what the script's own imports took."""
    rerun_s: float
    rerun_cpu_s: float
    rerun_imports_s: float
    """As the recorded run measured it."""
    parallel: bool
    """Whether two workers print the same bytes and end with the same exit code."""
    parallel_s: float
    ideal_s: float
    """Half of the recorded seconds of what must run again."""
    why: str

    @property
    def is_called_right(self) -> bool:
        """Whether the values are those of a full re-run, and the verdict says so."""
        return self.exact and (self.verdict == "exact" or self.draws and self.verdict == "unverified")

    @property
    def speed_up(self) -> float:
        """How much faster than running again, the imports taken out on both sides."""
        return (self.rerun_s - self.rerun_imports_s) / max(self.replay_s - self.replay_imports_s, 1e-3)


def run(folder: Path, *command: str) -> Ran:
    """Run a command in a folder with this environment's `florc`."""
    begun, before = time.perf_counter(), os.times()
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    seconds, after = time.perf_counter() - begun, os.times()
    return Ran(done.stdout, done.stderr, done.returncode, seconds, sum(after[2:4]) - sum(before[2:4]))


def recorded_imports(folder: Path) -> float:
    """Seconds that the imports of the newest recorded run took."""
    newest = max(folder.glob(".florc/runs/*/run.json"), key=lambda path: path.stat().st_mtime)
    return sum(seconds for _, seconds in json.loads(newest.read_text())["report"]["imports"])


def replayed_imports(err: str) -> float:
    """And those of a replay, as it says."""
    found = re.search(r"of which (?:(\d+) min )?([\d.]+) (m?s) importing", err)
    return 60 * float(found.group(1) or 0) + float(found.group(2)) / (1000 if found.group(3) == "ms" else 1) if found else 0.0


def wanted_lines(script: str, folder: Path) -> tuple[dict[str, list[str]], Ran]:
    """What each probe prints in a full re-run that holds all of them, and that run.

    The probes' prints are tagged there, so that one re-run answers for all of them.
    """
    probes = load(script)
    write(folder, insert_all(files(script), [*map(tagged, probes)]))
    again = run(folder, sys.executable, script)
    if again.code != 0:
        raise SystemExit(f"{script} with its probes: {again.err}")
    lines = again.out.splitlines()
    tags = {probe.name: f"@{probe.name}@ " for probe in probes}
    return {name: [line[len(tag) :] for line in lines if line.startswith(tag)] for name, tag in tags.items()}, again


def rows_of(script: str, folder: Path, with_workers: bool = True, only: str = "") -> list[Row]:
    """Record a script once, then ask every question of it, or those at one position; `with_workers`: also of two processes."""
    texts = files(script)
    write(folder, texts)
    plain = run(folder, sys.executable, script)
    recorded = run(folder, "florc", "record", script)
    if (recorded.out, recorded.code) != (plain.out, plain.code):
        raise SystemExit(f"{script}: recording changed what it prints\n{recorded.err}")
    imports = recorded_imports(folder)
    wanted, again = wanted_lines(script, folder)
    rows = []
    for probe in load(script):
        if only not in ("", probe.name):
            continue
        write(folder, {**texts, probe.file: insert(texts[probe.file], probe)})
        replayed = run(folder, "florc", "replay", script)
        parallel = run(folder, "florc", "replay", "--workers", "2", script) if with_workers else replayed
        ideal = seconds_of(run(folder, "florc", "replay", "--dry-run", script).out) / 2 if with_workers else 0.0
        exact = replayed.code == 0 and "florc: sweep: " not in replayed.err and replayed.out.splitlines() == wanted[probe.name]
        reasons = re.findall(r"^florc:   (\S*L\d+ ran .*)$", replayed.err, re.MULTILINE)
        is_same = (parallel.out, parallel.code, 0) == (replayed.out, replayed.code, replayed.code)
        why = "; ".join(reasons) if exact and is_same else replayed.err + parallel.err
        verdict = re.search(r"^florc: (exact|unverified|ANOMALOUS)", replayed.err, re.MULTILINE)
        rows.append(
            Row(
                script,
                probe.name,
                exact,
                verdict.group(1) if verdict else "none",
                "rand" in probe.insert,
                len(wanted[probe.name]),
                replayed.seconds,
                replayed.cpu_s,
                replayed_imports(replayed.err),
                again.seconds,
                again.cpu_s,
                imports,
                is_same,
                parallel.seconds,
                ideal,
                why,
            )
        )
    return rows


def seconds_of(dry_run: str) -> float:
    """The estimate at the end of `florc replay --dry-run`."""
    found = re.search(r"^about (?:(\d+) min )?([\d.]+) s", dry_run, re.MULTILINE)
    return 60 * float(found.group(1) or 0) + float(found.group(2)) if found else float("nan")


def said(holds: bool) -> str:
    """For a table."""
    return "yes" if holds else "NO"


def main(arguments: list[str]) -> int:
    """Print the table; 0 when every row is exact and equal with two workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--one", action="store_true", help="without the two workers")
    parser.add_argument("--probe", default="", help="only this position, such as outer")
    parser.add_argument("script", nargs="*")
    asked = parser.parse_args(arguments)
    with_workers, wanted = not asked.one, asked.script
    two = "| 2 workers equal | 2 workers | ideal " * with_workers
    print(
        "| script | probe | values | equal | verdict | replay | of the processor | imports | re-run | of the processor | imports "
        f"| speed-up | without imports {two}| why blocks ran again |"
    )
    print("|---" * (14 + 3 * with_workers) + "|", flush=True)
    exact, outer = True, []
    for script in wanted or scripts():
        with tempfile.TemporaryDirectory() as folder:
            for row in rows_of(script, Path(folder), with_workers, asked.probe):
                exact &= row.is_called_right and row.parallel
                outer += [row.speed_up] if row.probe == "outer" else []
                cells = (
                    row.script,
                    row.probe,
                    row.values,
                    said(row.exact),
                    row.verdict,
                    *(f"{s:.1f} s" for s in (row.replay_s, row.replay_cpu_s, row.replay_imports_s)),
                    *(f"{s:.1f} s" for s in (row.rerun_s, row.rerun_cpu_s, row.rerun_imports_s)),
                    f"{row.rerun_s / row.replay_s:.1f}",
                    f"{row.speed_up:.1f}",
                    *([said(row.parallel), f"{row.parallel_s:.1f} s", f"{row.ideal_s:.1f} s"] if with_workers else ()),
                    row.why,
                )
                print(f"| {' | '.join(map(str, cells))} |", flush=True)
    if outer:
        print(f"\nOuter probes, imports taken out on both sides: median {statistics.median(outer):.1f} times as fast")
    return 0 if exact else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
