"""A run that this user did not record: why it is refused, what would run of it, which paths in it may be followed."""

from __future__ import annotations

import os
from collections.abc import Iterator

from ..project.script import Unusable
from ..support.console import plain, say
from . import trust
from .run import SEALED, Run

_MOST_LINES = 200


def refusal(run: Run) -> str:
    """Why a foreign run is not replayed, and the way out; one sentence."""
    if run.load().version < SEALED:
        why = "an earlier version of florc recorded it, which does not say who did"
    elif trust.key() is None:
        why = "there is no key here that says what you recorded"
    else:
        why = "it is not sealed with your key"
    return (
        f"{run.id} is not known to be yours ({why}), and a replay may run code that it holds: look at it "
        f"(florc check {run.id}), then replay it with --trust if you trust where it comes from"
    )


def refuse_links(run: Run) -> None:
    """Raises Unusable where a link in the store would lead out of it."""
    for path in (os.path.dirname(run.path), run.path, *(os.path.join(run.path, name) for name in ("source", "replays", "files"))):
        if os.path.islink(path):
            raise Unusable("F207", f"{path} is a link, and florc reads and writes nothing through links in a store: remove it")


def refuse_elsewhere(run: Run, script: str | None) -> None:
    """Raises Unusable where a foreign run names files outside the project: what lies beside the store, or the named script."""
    roots = [os.path.dirname(run.store), os.getcwd()]
    if script is not None:
        roots.append(os.path.dirname(os.path.abspath(script)))
    for path in (run.info["script"], run.info["cwd"], *run.info.get("sources", {})):
        if not any(_is_below(path, root) for root in roots):
            raise Unusable(
                "F207",
                f"{run.id} names {path}, which is not in the project of its store ({roots[0]}), or is behind a link: "
                "florc does not use it",
            )


def _is_below(path: str, root: str) -> bool:
    """Whether a path is the folder `root` or below it, with no link on the way from there."""
    real = os.path.realpath(root)
    for base in {root, real}:
        below = os.path.relpath(path, base)
        if os.path.normpath(path) == path and not below.startswith(".."):
            return os.path.realpath(path) == os.path.normpath(os.path.join(real, below))
    return False


def show(run: Run) -> None:
    """Tell what of a foreign run would run: how its recorded sources differ from the present ones."""
    say(f"{run.id} is not known to be yours; because you trust it, florc restores its checkpoints into your script")
    differing: list[str] = []
    for file in run.info.get("sources", {}):
        differing += _difference(run, file)
    if not differing:
        say("its sources are equal to the files here")
    for line in differing[:_MOST_LINES]:
        say(f"  {plain(line, chr(9))}")
    if len(differing) > _MOST_LINES:
        say(f"  … and {len(differing) - _MOST_LINES} more lines")


def _difference(run: Run, file: str) -> Iterator[str]:
    recorded = (run.source(file) or "").splitlines()
    try:
        with open(file, encoding="utf-8", errors="replace") as present:
            now = present.read().splitlines()
    except OSError:
        now = []
    shown = os.path.relpath(file)
    import difflib

    return difflib.unified_diff(recorded, now, f"{shown} (recorded)", f"{shown} (present)", lineterm="", n=1)
