"""Replays of changed stores, each in a child of one warm process: `sweep.py FOLDER FIRST COUNT`.

FOLDER holds the project, its store in `.florc`, a copy of that in `good`, and `truth.json`: per run what its probes print.
Prints one JSON object per case that went wrong, and at last how many cases ended in which way.
"""

from __future__ import annotations

import collections
import json
import os
import re
import select
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

from altered import Mutation
from florc.cli import main as commands
from florc.replay import dry_run as forecast  # noqa: F401 (warm)
from florc.replay.session.started import STARTED

PATIENCE_S = 60


def commands_for(number: int, ids: list[str]) -> list[str]:
    """Mostly replays: of the newest run, of a named one, of a part."""
    run = ids[number % len(ids)]
    script = "other.py" if run.endswith("otherxy") else "train.py"
    every = [
        ["replay", "train.py"],
        ["replay", run, script],
        ["replay", run, script],
        ["replay", run, script],
        ["replay", "other.py"],
        ["verify", run],
        ["replay", "--last", run, script],
        ["replay", "--dry-run", run, script],
        ["runs"],
        ["runs", "--json"],
        ["check"],
        ["check", "--read-data", run],
        ["runs", "--disk"],
    ]
    return every[(number // 14) % len(every)]


def run(folder: Path, words: list[str]) -> tuple[int, str, str]:
    """The command in a child: exit code (negative for a signal, -1000 for a hang), what it printed, what it said."""
    out, err = folder / "out", folder / "err"
    pid = os.fork()
    if pid == 0:
        try:
            for path, descriptor in ((out, 1), (err, 2)):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), descriptor)
            sys.argv = ["florc", *words]
            STARTED.words, STARTED.folder, STARTED.environment = list(words), os.getcwd(), dict(os.environ)
            code = commands.run(sys.argv)
            sys.stdout.flush()
            os._exit(code)
        except SystemExit as error:
            os._exit(error.code if isinstance(error.code, int) else 1)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(99)
    watch = os.pidfd_open(pid)
    is_over = bool(select.select([watch], [], [], PATIENCE_S)[0])
    os.close(watch)
    if not is_over:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    code = os.waitstatus_to_exitcode(status) if is_over else -1000
    return code, out.read_text("utf-8", "replace"), err.read_text("utf-8", "replace")


def wrong(words: list[str], code: int, out: str, err: str, truth: dict[str, str]) -> str:
    """What must not happen; empty when it did not."""
    if code == -1000:
        return "hangs"
    if code not in (0, 1, 2):
        return f"ends with {code}"
    if "Traceback" in err or "panicked" in err:
        return "traceback"
    if any(char < " " and char not in "\n\t" for char in out + err):
        return "steers the terminal"
    if words[0] != "replay" or "--dry-run" in words:
        return ""
    if code == 2:
        return "answers and refuses" if out else ""
    name = re.search(r"replayed (\S+) in", err)
    if "florc: exact" not in err:
        return ""
    expected = truth.get(name.group(1) if name else "", "nothing")
    is_cut = "ends with its last whole iteration" in err
    if "--last" in words:  # of a run that was cut off: the last that is known
        lines = expected.splitlines(keepends=True)
        expected = out if is_cut and out in lines else "".join(lines[-1:])
    is_part = is_cut and expected.startswith(out)
    return "" if out == expected or is_part else f"WRONG VALUE called exact: {out!r}"


def main(folder: Path, first: int, count: int) -> int:
    """Run the cases; 1 when one went wrong."""
    os.chdir(folder / "project")
    store, good = folder / "project" / ".florc", folder / "good"
    truth: dict[str, str] = json.loads((folder / "truth.json").read_text())
    ids, ends, failures = sorted(truth), collections.Counter(), 0
    for number in range(first, first + count):
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(good, store)
        mutation, words = Mutation(store, number), commands_for(number, ids)
        code, out, err = run(folder, words)
        found = wrong(words, code, out, err, truth)
        verdict = re.search(r"florc: (exact|unverified|ANOMALOUS|DIFFERS)", err)
        ends[f"{words[0]} {code} {verdict.group(1) if verdict else ''}".strip()] += 1
        if found:
            failures += 1
            case: dict[str, Any] = {"number": number, "what": mutation.what, "words": words, "wrong": found, "err": err[-2000:]}
            print(json.dumps(case), flush=True)
    print(json.dumps({"cases": count, "failures": failures, "ends": dict(sorted(ends.items()))}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
