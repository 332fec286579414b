"""Every Python file that is installed here, through the compiler: `make corpus`.

For each `.py` file of the running Python's standard library and of the site-packages folders given:

    accepted   what `compile` accepts, florc accepts; what `ast.parse` refuses, florc refuses
    undone     the insertions taken out give the same text back
    loops      florc finds as many `for` and `while` statements as CPython's parser (those of class bodies left out)
    compiled   the emitted text compiles
    mapped     its tree, stripped of florc's nodes and mapped back, is the original tree, positions included

Prints counts and every disagreement; exits with 1 if there is one. Run it with each Python that is supported:

    PYTHONPATH=pyruntime/python python3.13 tools/corpus.py [FOLDER ...]
"""

from __future__ import annotations

import argparse
import ast
import glob
import multiprocessing
import os
import shutil
import site
import subprocess
import sys
import sysconfig
import time
import tokenize
import warnings
from collections import Counter
from pathlib import Path

from florc import _native
from florc.project import tree_positions
from florc.project.tree_positions import Altered

LOOPS = (ast.For, ast.AsyncFor, ast.While)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folders", nargs="*", type=Path, help="default: the standard library and site-packages")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    args = options.parse_args()
    folders = args.folders or [Path(sysconfig.get_path("stdlib")), *map(Path, site.getsitepackages())]
    files = sorted({path.resolve() for folder in folders for path in folder.rglob("*.py") if path.is_file()})
    begin = time.perf_counter()
    counts: Counter[str] = Counter()
    size, problems = 0, 0
    with multiprocessing.Pool(args.jobs, initializer=quiet) as pool:
        for path, outcome, details, length in pool.imap_unordered(check, files, chunksize=32):
            counts[outcome] += 1
            size += length
            if outcome in DISAGREEMENTS:
                problems += 1
                print(f"{outcome}: {path}: {details}")
    took = time.perf_counter() - begin
    version = ".".join(map(str, sys.version_info[:3]))
    print(f"Python {version}: {len(files)} files, {size / 1e6:.0f} MB, {took:.0f} s")
    for outcome, count in sorted(counts.items()):
        print(f"  {count:6} {outcome}")
    print("no disagreement" if problems == 0 else f"{problems} disagreements")
    return 1 if problems else 0


DISAGREEMENTS = {"WRONGLY REFUSED", "WRONGLY ACCEPTED", "NOT UNDONE", "LOOPS", "NOT COMPILED", "NOT MAPPED", "PANIC"}


def quiet() -> None:
    """Other people's code has warnings of its own."""
    warnings.simplefilter("ignore")


def check(path: Path) -> tuple[str, str, str, int]:
    """One file: its path, the outcome, details for people, its length in bytes."""
    data = path.read_bytes()
    try:
        outcome, details = judge(path, data)
    except BaseException as error:  # a Rust panic is not an Exception
        outcome, details = "PANIC", repr(error)[:200]
    return str(path), outcome, details, len(data)


def judge(path: Path, data: bytes) -> tuple[str, str]:
    tree, refusal = parsed(data, str(path))
    text = decoded(data)
    if text is None:
        return ("refused by both", "") if tree is None else ("WRONGLY REFUSED", "encoding")
    try:
        emitted = _native.instrument(text, str(path))
    except SyntaxError as error:
        if tree is None:
            return "refused by both", ""
        # `ast.parse` lets pass what the compiler proper refuses; florc may do either.
        return ("refused by `compile` too", "") if not compiles(data, path) else ("WRONGLY REFUSED", first_line(error))
    if tree is None:
        newer = newer_syntax(refusal) or newer_python_takes(path)
        return ("newer syntax than this Python's", "") if newer else ("WRONGLY ACCEPTED", refusal)
    original = text.removeprefix("\ufeff")
    if emitted.undo() != original:
        return "NOT UNDONE", ""
    found = len(emitted.plan.loops)
    expected = loops(tree)
    if found != expected:
        return "LOOPS", f"{found}, CPython {expected}"
    if not emitted.changed:
        return "good, nothing to insert", ""
    try:
        tree_positions.check(emitted, original)
        emitted.map_code(compile(emitted.text, str(path), "exec", dont_inherit=True))
    except Altered:
        return "NOT MAPPED", ""
    except SyntaxError as error:
        return ("refused by `compile` too", "") if not compiles(data, path) else ("NOT COMPILED", str(error))
    return "good, instrumented", ""


def parsed(data: bytes, name: str) -> tuple[ast.Module | None, str]:
    try:
        return ast.parse(data, name), ""
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return None, f"{type(error).__name__}: {error}"


def decoded(data: bytes) -> str | None:
    """The text as `florc record` reads it, line ends as they are."""
    lines = iter(data.splitlines(keepends=True))
    try:
        encoding, _ = tokenize.detect_encoding(lambda: next(lines, b""))
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None


def compiles(data: bytes, path: Path) -> bool:
    try:
        compile(data, str(path), "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def newer_syntax(refusal: str) -> bool:
    """`except A, B:` is Python 3.14's (PEP 758); Python 2 files hold it too."""
    return sys.version_info < (3, 14) and "multiple exception types must be parenthesized" in refusal


def newer_python_takes(path: Path) -> bool:
    """Whether a newer Python of this machine compiles the file: florc reads what any from 3.10 to 3.14 does."""
    for minor in range(sys.version_info.minor + 1, 15):
        program = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')"
        installed = glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/bin/python"))
        for python in [*installed, shutil.which(f"python3.{minor}")]:
            if python and subprocess.run([python, "-W", "ignore", "-c", program, path], capture_output=True).returncode == 0:
                return True
    return False


def loops(tree: ast.Module) -> int:
    """The loops that are in a function or the module."""
    todo: list[tuple[ast.AST, bool]] = [(tree, False)]
    count = 0
    while todo:
        node, in_class = todo.pop()
        for child in ast.iter_child_nodes(node):
            count += isinstance(child, LOOPS) and not in_class
            inner = isinstance(child, ast.ClassDef) or (
                in_class and not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            )
            todo.append((child, inner))
    return count


def first_line(error: SyntaxError) -> str:
    lines = str(error).splitlines()
    return " | ".join(lines[:2] + lines[3:5])


if __name__ == "__main__":
    sys.exit(main())
