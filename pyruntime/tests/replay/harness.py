"""Runs a small script plain, recorded, and replayed with statements added, and compares what each printed.

A script is written as a patch: lines that begin with `+` are the statements added in hindsight, and `-` lines that a `+` line
takes the place of: a statement was added to it, before or behind what it has. Lines `=== helper.py`
begin further files of the same folder; the first file is `train.py`.

What a replay must print is what the added statements print in a plain run of the edited script: by convention the lines
that begin with `PROBE`. A script whose values differ from run to run prints them itself, in lines that begin with
`TRUTH`: these are then compared with the recorded run.
"""

from __future__ import annotations

import atexit
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import leftovers
import warm

MAIN = "train.py"
KINDS = ("outer", "inner", "callback", "after")
"""Of the questions that the programs of testdata/programs ask."""
LOST = re.compile(r"EADDRINUSE|Connection (closed|reset) by peer|Broken pipe|Socket Timeout")
"""Ranks that did not meet, or lost each other when they ended: a port that was free when the script asked may be another
process's a moment later. A plain run does so once in a hundred on a busy machine; such a run is made again, once."""
OTHER_DAY = Path(__file__).resolve().with_name("other_day.c")
EVERY_NUMBER = Path(__file__).resolve().parent / "every_number"
"""What looks, at the end of a replay, whether a line that differs in one number would be seen."""


@functools.cache
def other_day() -> dict[str, str]:
    """Environment variables with which `florc replay` sees other clocks than the recorded run (`other_day.c`)."""
    if sys.platform != "linux":
        return {}
    shared = os.environ.get(warm.FOLDER)
    there = Path(shared or tempfile.mkdtemp(prefix="florc-clocks-"))
    if shared is None:
        atexit.register(shutil.rmtree, there, True)
    clocks, own = there / "clocks.so", there / f"clocks-{os.getpid()}-{threading.get_ident()}.so"
    if not clocks.exists():  # one file for all processes of the tests: they share parents that have it loaded
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(own), str(OTHER_DAY), "-ldl"], check=True)
        own.rename(clocks)
    return {"LD_PRELOAD": str(clocks)}


class Ran(NamedTuple):
    """How a process ended."""

    code: int
    out: str
    err: str
    left: dict[str, str] = {}
    """What it left in its folder (`leftovers.tree`)."""

    @property
    def own_err(self) -> str:
        """Standard error without what florc says, and without how long sacred says that something took."""
        lines = (line for line in self.err.splitlines(keepends=True) if not line.startswith("florc:"))
        return re.sub(r"(Completed after) \d+:\d\d:\d\d$", r"\1 TIME", "".join(lines), flags=re.M)

    @property
    def said(self) -> str:
        """What florc says on standard error."""
        return "".join(line for line in self.err.splitlines(keepends=True) if line.startswith("florc:"))


class Outcome(NamedTuple):
    """All four runs of a script."""

    plain: Ran
    recorded: Ran
    expected: list[str]
    replayed: Ran
    truth: str = ""
    """Standard error of the plain run with the added statements, if it failed."""

    @property
    def printed(self) -> list[str]:
        """What the replay printed."""
        return self.replayed.out.splitlines()

    @property
    def restored(self) -> int:
        """How many blocks the replay restored."""
        found = re.search(r"(\d+) blocks? restored", self.replayed.err)
        return int(found.group(1)) if found else 0

    @property
    def kept(self) -> int:
        """How many checkpoints were recorded."""
        found = re.search(r"(\d+) checkpoints?", self.recorded.err)
        return int(found.group(1)) if found else 0

    def failures(self) -> list[str]:
        """What is wrong, in words; nothing when the recorded run was the plain run and the replay printed the truth."""
        out = []
        if "TRUTH" not in self.plain.out:
            out += _differences("record", self.plain, self.recorded)
        # Errors inside florc, one or more, are told at the end of the run; FLORC_DEBUG tells each where it happens.
        out += [f"record: {line}" for line in self.recorded.said.splitlines() if " inside florc" in line or "Unforeseen:" in line]
        if self.printed != self.expected:
            out.append(f"replay printed\n{self.printed}\ninstead of\n{self.expected}\n{self.truth}")
        if self.replayed.code != 0:
            out.append(f"replay ended with {self.replayed.code}")
        out += [line for line in self.replayed.said.splitlines() if line.startswith("florc: sweep: ")]
        return out


def _differences(what: str, plain: Ran, other: Ran) -> list[str]:
    out = []
    for name, ours, theirs in (
        ("exit code", plain.code, other.code),
        ("standard output", plain.out, other.out),
        ("standard error", plain.own_err, other.own_err),
        ("what it leaves on disk", plain.left, other.left),
    ):
        if ours != theirs:
            out.append(f"{what}: {name} is\n{theirs}\ninstead of\n{ours}")
    return out


def split(text: str) -> dict[str, list[str]]:
    """The files of a patch, as lines."""
    files: dict[str, list[str]] = {MAIN: []}
    name = MAIN
    for line in text.lstrip("\n").splitlines():
        if line.startswith("=== "):
            name = line[4:].strip()
            files[name] = []
        else:
            files[name].append(line)
    return files


def before(lines: Sequence[str]) -> str:
    """The recorded text of a file."""
    return "".join(line[line.startswith("-") :] + "\n" for line in lines if not line.startswith("+"))


def after(lines: Sequence[str]) -> str:
    """The text of a file with the added statements."""
    return "".join(line[line.startswith("+") :] + "\n" for line in lines if not line.startswith("-"))


def of_kind(kind: str) -> Callable[[Sequence[str]], str]:
    """A version with the added statements of one kind: those up to a line that prints `PROBE KIND`."""

    def version(lines: Sequence[str]) -> str:
        shown: list[str] = []
        statement: list[str] = []
        for line in lines:
            (statement if line.startswith("+") else shown).append(line)
            if found := re.search(r"^\+.*PROBE (\w+)", line):
                shown += statement if found.group(1) == kind else []
                statement = []
        return after(shown)

    return version


class Trial:
    """One script in one folder."""

    def __init__(
        self,
        folder: Path,
        text: str,
        arguments: Sequence[str] = (),
        hash_seed: str | None = "1",
        record: Sequence[str] = (),
        replay: Sequence[str] = (),
        keep: bool = False,
        unordered: bool = False,
    ):
        self.folder, self.files = folder, split(text)
        self.arguments, self.record, self.replay = list(arguments), list(record), list(replay)
        self.work = folder / "work"
        self.keep = keep
        """Whether the replay finds the files that the recorded run left."""
        self.unordered = unordered
        """Whether answers come from several processes, in another order than a plain run prints them."""
        self.env = {**os.environ, "FLORC_DIR": str(folder / "store")}
        self.env.update(other_day())  # whatever a clock shows, a replay is not ANOMALOUS for it
        self.env["FLORC_DEBUG"] = "1"  # where a block enters a function that the call graph says it cannot, that is told
        self.env.pop("PYTHONHASHSEED", None)
        if hash_seed is not None:
            self.env["PYTHONHASHSEED"] = hash_seed

    def run(self) -> Outcome:
        """Plain, recorded, edited, replayed."""
        plain = self._run(before, [MAIN, *self.arguments])
        recorded = self._run(before, [*self._florc("record"), "--checkpoint", "every", *self.record, MAIN, *self.arguments])
        left = self.folder / "left"
        if self.keep:
            shutil.move(str(self.work), str(left))
        truth = ""
        if "TRUTH" in plain.out:
            expected = [line.replace("TRUTH", "PROBE") for line in recorded.out.splitlines() if line.startswith("TRUTH")]
        else:
            edited = self._run(after, [MAIN, *self.arguments])
            expected = [line for line in edited.out.splitlines() if line.startswith("PROBE")]
            truth = edited.err if edited.code else ""
        if self.keep:
            shutil.rmtree(self.work)
            shutil.move(str(left), str(self.work))
        self.env["PYTHONPATH"] = os.pathsep.join([str(EVERY_NUMBER), *filter(None, [self.env.get("PYTHONPATH")])])
        replayed = self._run(after, [*self._florc("replay"), *self.replay, MAIN], is_fresh=not self.keep)
        if self.unordered:
            expected = sorted(expected)
            replayed = replayed._replace(out="\n".join(sorted(replayed.out.splitlines())))
        return Outcome(plain, recorded, expected, replayed, truth)

    def ask(self, version: object) -> Ran:
        """A further replay of a run that was recorded, of this version of the script: one JSON object per value, and the report."""
        return self._run(version, [*self._florc("replay"), "--json", *self.replay, MAIN])

    def _florc(self, command: str) -> list[str]:
        return ["-m", "florc", command]

    def _run(self, version: object, command: Sequence[str], is_fresh: bool = True) -> Ran:
        if self.work.exists() and is_fresh:
            shutil.rmtree(self.work)
        self.work.mkdir(parents=True, exist_ok=True)
        for name, lines in self.files.items():
            path = self.work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(version(lines))  # type: ignore[operator]
        text = "\n".join(line for lines in self.files.values() for line in lines)
        done = warm.run(command, text, self.work, self.env, self.folder.name)
        if done.returncode and "torch.distributed" in text and LOST.search(done.stderr):
            done = warm.run(command, text, self.work, self.env, self.folder.name)
        return Ran(done.returncode, done.stdout, done.stderr, leftovers.tree(self.work))
