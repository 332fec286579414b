"""`make programs`: programs made at random, recorded, and replayed with statements added in hindsight. How many answers are
right, and what does florc call them?

    python tools/programs.py [FIRST:END]

Ends with 1 where an answer that is not what a plain run prints is called exact or nothing at all, or where more than 1 % of those
that are are not.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "pyruntime" / "tests" / "replay"))

from generated import program
from harness import Trial

WORKERS = 2
MOST_FLAGGED = 0.01


class Answered(NamedTuple):
    """What became of one program."""

    seed: int
    is_right: bool
    verdict: str
    """`exact`, `unverified`, `ANOMALOUS`, `refused`, `no answer` (nothing that was added ran), or `none`."""
    why: str


def answered(seed: int) -> Answered:
    """Record and replay the program of a seed."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = Trial(Path(folder), program(seed)).run()
    said = outcome.replayed.said
    found = re.search(r"^florc: (exact|unverified|ANOMALOUS)", said, re.MULTILINE)
    if (outcome.plain.code, outcome.plain.out) != (outcome.recorded.code, outcome.recorded.out):
        return Answered(seed, False, "exact", "the recorded run is not the plain one")
    verdict = found.group(1) if found else "refused" if outcome.replayed.code == 2 else "none"
    if not outcome.expected and not outcome.printed and verdict == "unverified":
        verdict = "no answer"  # it raised before any of the added statements ran: there is nothing to be right
    return Answered(seed, outcome.printed == outcome.expected, verdict, said)


def main(arguments: list[str]) -> int:
    """Print the table."""
    first, _, end = (arguments or ["0:2000"])[0].partition(":")
    counts: Counter = Counter()
    bad = 0
    with ThreadPoolExecutor(WORKERS) as pool:
        for found in pool.map(answered, range(int(first), int(end))):
            counts[found.is_right, found.verdict] += 1
            if found.verdict == "none" or found.verdict != "no answer" and found.is_right != (found.verdict == "exact"):
                is_wrong = not found.is_right and found.verdict in ("exact", "none")
                bad += is_wrong
                print(
                    f"program {found.seed}: {'WRONG' if is_wrong else 'right' if found.is_right else 'not right'}, "
                    f"{found.verdict}\n{found.why}",
                    flush=True,
                )
    print("| answer | verdict | programs |\n|---|---|---|")
    for (is_right, verdict), count in sorted(counts.items(), reverse=True):
        print(f"| {'right' if is_right else 'not right'} | {verdict} | {count} |")
    right = sum(count for (is_right, _), count in counts.items() if is_right)
    flagged = right - counts[True, "exact"] - counts[True, "no answer"]
    print(f"\n{bad} not right and called exact; {flagged} of {right} right and not called exact")
    return int(bool(bad) or flagged > MOST_FLAGGED * right)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
