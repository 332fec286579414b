"""Seeded bugs that the tests must catch: `make mutants`.

Copies the working tree into target/mutants/tree, applies one small change of text at a time (tools/seeded),
builds where it is Rust, and runs the few tests that should see it. Without a change all of them must pass; with one, at
least one must fail.

    tools/mutants.py [PART OF A NAME ...]    only those mutations
    tools/mutants.py --list
    tools/mutants.py --check                 only whether every text is found exactly once

Prints a table: mutation, caught by, seconds of its tests. Exits with 1 when a mutation survives, with 2 when one does
not apply, does not build, or tests fail without it. Needs an environment with torch, pytest and maturin: run it with
its Python.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn

from seeded import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "target" / "mutants"
TREE = TARGET / "tree"
PACKAGE = TREE / "pyruntime" / "python"
LIMIT_S = 300
"""Tests that take longer have noticed: a change that makes a program hang is caught."""
CARGO = "cargo:"


class Outcome(NamedTuple):
    """`caught_by`: the test that failed first; None when all passed."""

    caught_by: str | None
    seconds: float


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("names", nargs="*", help="parts of the names of mutations; default: all")
    options.add_argument("--list", action="store_true", help="print the mutations and end")
    options.add_argument("--check", action="store_true", help="only look whether every text is found exactly once")
    options.add_argument("--native", type=Path, help="a built module of this tree, used where Rust is as it was")
    args = options.parse_args()
    chosen = [one for one in MUTATIONS if not args.names or any(part in one.name for part in args.names)]
    if args.list:
        print("\n".join(f"{one.name}  ({one.file})" for one in chosen))
        return 0
    for one in chosen:
        one.applied((ROOT / one.file).read_text(), fail)
    if args.check:
        print(f"{len(chosen)} mutations, each text is found exactly once")
        return 0
    copy_tree()
    builds = Builds(args.native)
    # Python first: one build serves all of it.
    chosen.sort(key=lambda one: (one.is_rust, one.tests[0].startswith(CARGO)))
    base(builds, list(dict.fromkeys(test for one in chosen for test in one.tests)))
    print(f"{'mutation':<64} {'caught by':<72} seconds", flush=True)
    survivors = []
    for one in chosen:
        outcome = attempt(one, builds)
        print(f"{one.name:<64} {outcome.caught_by or 'NOTHING':<72} {outcome.seconds:7.1f}", flush=True)
        survivors += [] if outcome.caught_by else [one.name]
    builds.restore()
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} caught")
    for name in survivors:
        print(f"survives: {name}")
    return 1 if survivors else 0


def fail(why: str) -> NoReturn:
    """An error of the tool, not of a test."""
    print(f"mutants: {why}", file=sys.stderr)
    sys.exit(2)


def copy_tree() -> None:
    """The working tree in TREE. Files that are the same stay as they are, so that nothing is built again for them."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for path in [path for path in TREE.rglob("*") if path.is_file()] if TREE.exists() else []:
        name = path.relative_to(TREE).as_posix()
        if name not in wanted and path.suffix not in (".so", ".pyc"):
            path.unlink()
    for name in wanted:
        source, target = ROOT / name, TREE / name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
            os.utime(target)


class Builds:
    """The extension module in the tree, built of what is there; that of the unchanged tree is kept."""

    def __init__(self, native: Path | None):
        self._module = PACKAGE / "florc" / "_native.abi3.so"
        self._clean = TARGET / "clean.so"
        if native is not None:
            shutil.copy(native, self._clean)
        else:
            self._build()
            shutil.copy(self._module, self._clean)
        self.restore()

    def restore(self) -> None:
        """The module of the unchanged tree."""
        self._module.unlink(missing_ok=True)
        shutil.copy(self._clean, self._module)

    def mutated(self) -> None:
        """The module of the tree as it is now."""
        self._build()

    def _build(self) -> None:
        wheels = TARGET / "wheels"
        shutil.rmtree(wheels, ignore_errors=True)
        quickly = [f"--config=profile.dev.package.florc-pyruntime.{setting}=0" for setting in ("opt-level", "debug")]
        command = [
            sys.executable,
            "-m",
            "maturin",
            "build",
            "--quiet",
            "--auditwheel",
            "skip",
            "--out",
            str(wheels),
            "--manifest-path",
            str(TREE / "pyruntime" / "Cargo.toml"),
            *quickly,
        ]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True)
        if done.returncode != 0:
            fail(f"it does not build:\n{done.stderr[-3000:]}")
        (wheel,) = wheels.glob("*.whl")
        self._module.unlink(missing_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            self._module.write_bytes(archive.read("florc/_native.abi3.so"))


def base(builds: Builds, tests: Sequence[str]) -> None:
    """Without a change every test passes, and is not skipped: a skipped test catches nothing."""
    builds.restore()
    where = subprocess.run(
        [sys.executable, "-c", "import florc; print(florc.__file__)"], env=environment(), cwd=TREE, capture_output=True, text=True
    )
    if not where.stdout.startswith(str(PACKAGE)):
        fail(f"the tests would run {where.stdout.strip() or where.stderr.strip()}")
    outcome = run(tests, may_skip=False)
    if outcome.caught_by:
        fail(f"without a change {outcome.caught_by} does not pass")
    print(f"without a change {len(tests)} named tests pass in {outcome.seconds:.1f} s\n", flush=True)


def attempt(mutation: Mutation, builds: Builds) -> Outcome:
    """Apply, build, test, take back."""
    path = TREE / mutation.file
    before = path.read_text()
    path.write_text(mutation.applied(before, fail))
    try:
        if mutation.is_rust:
            builds.mutated()
        return run(mutation.tests)
    finally:
        path.write_text(before)
        if mutation.is_rust:
            builds.restore()


def run(tests: Sequence[str], may_skip: bool = True) -> Outcome:
    """Tests by their ids; those that begin with `cargo:` are names of tests of the extension's crate."""
    begun = time.perf_counter()
    ids = [test for test in tests if not test.startswith(CARGO)]
    caught = _pytest(ids, may_skip) if ids else None
    for test in tests if caught is None else ():
        if test.startswith(CARGO) and caught is None:
            caught = _cargo(test[len(CARGO) :])
    return Outcome(caught, time.perf_counter() - begun)


def _pytest(ids: Sequence[str], may_skip: bool) -> str | None:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-rfEs", "-p", "no:cacheprovider", *ids]
    code, out = _limited(command, TREE / "pyruntime", LIMIT_S if may_skip else 10 * LIMIT_S)
    if code is None:
        return f"more than {LIMIT_S} s"
    if code == 0:
        skipped = re.search(r"^SKIPPED.*", out, re.MULTILINE)
        return skipped.group(0) if skipped and not may_skip else None
    failed = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", out, re.MULTILINE)
    if code != 1 or failed is None:
        fail(f"pytest ended with {code}:\n{out[-3000:]}")
    return failed.group(1)


def _cargo(test: str) -> str | None:
    command = ["cargo", "test", "--quiet", "--package", "florc-pyruntime", "--lib"]
    built = subprocess.run([*command, "--no-run"], cwd=TREE, env=environment(), capture_output=True, text=True)
    if built.returncode != 0:
        fail(f"it does not build:\n{built.stderr[-3000:]}")
    code, out = _limited([*command, test], TREE, LIMIT_S)
    if code is None:
        return f"more than {LIMIT_S} s"
    if code == 0:
        return None if " 0 passed" not in out else fail(f"no test is called {test}")
    failed = re.search(r"^test (.*) \.\.\. FAILED|^---- (.*) stdout ----$", out, re.MULTILINE)
    if failed is None:
        fail(f"cargo test ended with {code}:\n{out[-3000:]}")
    return CARGO + (failed.group(1) or failed.group(2))


def _limited(command: list[str], folder: Path, seconds: float) -> tuple[int | None, str]:
    """The exit code, None when it took too long, and what was said. What hangs is ended with all of its children."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(timeout=seconds)
        return process.returncode, out
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, ""


def environment() -> dict[str, str]:
    """Python imports the copy, and keeps no bytecode: a change within one second of another has the same time.

    What cargo has built of the dependencies is used again.
    """
    known = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", "CARGO_TARGET_DIR": str(ROOT / "target")}
    known.pop("FLORC_TORTURE", None)
    return known


if __name__ == "__main__":
    sys.exit(main())
