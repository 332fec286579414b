"""florc against CPython's own parser and printer, and against LibCST, on the same files: `make bench-compiler`.

All in one process and one run, best of three for each file, files in memory. Then the cold start of the release binary on
a script of a thousand lines. Needs `libcst` beside florc.
"""

from __future__ import annotations

import argparse
import ast
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from pathlib import Path

import libcst
from florc import _native


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("binary", nargs="?", help="the release binary, for the cold start")
    options.add_argument("--megabytes", type=float, default=4.0, help="how much of the standard library to read")
    args = options.parse_args()
    warnings.simplefilter("ignore")
    texts = corpus(args.megabytes)
    size = sum(len(text.encode()) for text in texts.values()) / 1e6
    print(f"{len(texts)} files of the standard library, {size:.1f} MB, Python {sys.version.split()[0]}")
    tools = {
        "florc: parse, plan, emit": lambda text: _native.instrument(text, "bench.py"),
        "ast.parse + ast.unparse": lambda text: ast.unparse(ast.parse(text)),
        "LibCST: parse, visit, print": lambda text: libcst.parse_module(text).visit(libcst.CSTTransformer()).code,
    }
    times = {name: total(work, texts.values(), 1 if "LibCST" in name else 3) for name, work in tools.items()}
    ours = next(iter(times.values()))
    print("| tool | MB/s | time / florc's |\n|---|---|---|")
    for name, seconds in times.items():
        print(f"| {name} | {size / seconds:.2f} | {seconds / ours:.1f} |")
    if args.binary:
        cold_start(args.binary, texts)
    return 0


def corpus(megabytes: float) -> dict[str, str]:
    """Files of the standard library spread over its alphabet, until there are enough."""
    root = Path(sysconfig.get_path("stdlib"))
    paths = sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts and "test" not in path.parts)
    texts, size = {}, 0
    for path in paths[::3] + paths[1::3] + paths[2::3]:
        try:
            text = path.read_text(encoding="utf-8")
            ast.parse(text)
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        texts[str(path)] = text
        size += len(text)
        if size > megabytes * 1e6:
            break
    return texts


def total(work, texts, rounds: int) -> float:
    """Seconds for all texts, the best round of each."""
    return sum(min(timed(work, text) for _ in range(rounds)) for text in texts)


def timed(work, text: str) -> float:
    begin = time.perf_counter()
    work(text)
    return time.perf_counter() - begin


def cold_start(binary: str, texts: dict[str, str]) -> None:
    lines = next(text for text in texts.values() if text.count("\n") > 1000).splitlines()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        whole = "\n".join(lines)
        script.write_text(whole if len(lines) < 1300 else block(lines))
        count = script.read_text().count("\n")
        for command in ("instrument", "plan"):
            argv = [binary, command, str(script)]
            times = [timed(lambda _: subprocess.run(argv, capture_output=True, check=True), "") for _ in range(20)]
            print(
                f"florc {command}, cold, {count} lines: {statistics.median(times) * 1000:.1f} ms (best {min(times) * 1000:.1f})"
            )


def block(lines: list[str]) -> str:
    """About a thousand lines from the start, up to where they parse."""
    for end in range(1000, 0, -1):
        text = "\n".join(lines[:end]) + "\n"
        try:
            ast.parse(text)
            return text
        except SyntaxError:
            continue
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
