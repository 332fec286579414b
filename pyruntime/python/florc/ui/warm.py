"""The processes that answer the questions of the page: one for each run, with the imports of its script done
(`florc ask --interactive`)."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

from .child import Child
from .live import Live

if TYPE_CHECKING:
    from .facts import Facts

_CODE = re.compile(r" \[F\d+\]")
"""What docs/messages.md explains: a refusal."""
_NOTE = "The ranks that the script starts restore what they have checkpoints of."
_MOST = 3
"""So many are kept: each holds the libraries of a script in memory."""
_WAITING = 1.0
"""Seconds after which the page is told again that a question goes on: so it is known whether the page is still there."""


class Warm:
    """All of them. A new one begins with the first question about a run."""

    def __init__(self, store: str):
        self._store = store
        self._children: dict[str, Child] = {}
        self._lock = Lock()
        self._is_closed = False

    def ask(self, facts: Facts, run: str, question: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """What happens while a question is answered, event by event; docs/ui.md has them."""
        words = words_of(question)
        if isinstance(words, str):
            yield from _refused(words)
            return
        begun = time.perf_counter()
        live = Live(facts, run)
        try:
            child = self._child(run)
        except (OSError, RuntimeError) as error:
            yield from _refused(str(error))
            return
        events = child.ask(words, _WAITING)
        try:
            for batch in events:
                yield from live.told(batch)
        finally:
            events.close()
        yield {"done": child.code, "seconds": time.perf_counter() - begun}
        facts.forget(run)

    def forecast(self, facts: Facts, run: str, question: dict[str, Any]) -> dict[str, Any]:
        """What a question would cost (`florc replay --dry-run --json`); `error`: why it cannot be asked."""
        words = words_of(question)
        if isinstance(words, str):
            return {"error": words}
        try:
            child = self._child(run)
        except (OSError, RuntimeError) as error:
            return {"error": str(error)}
        if child.is_busy():
            return {"error": "another question is being answered"}
        said, found = [], dict[str, Any]()
        for batch in child.ask([*words, "--dry-run"], _WAITING):
            said += [event["said"] for event in batch if "said" in event]
            found = next((event for event in batch if "blocks" in event), found)
        if found:
            is_warm = child.is_warm and not facts.spawns(run)  # else each question imports what it needs
            found = found if is_warm else {**found, "import_seconds": 0.0}
            return {**found, "blocks": [], "note": _NOTE} if facts.spawns(run) else found
        own = [line.removeprefix("florc: ") for line in said if line.startswith("florc: ")]
        refused = [line for line in own if _CODE.search(line)]  # besides, what was imported
        return {"error": "\n".join(refused or own) or "no answer"}

    def stop(self, run: str) -> bool:
        """End the question that is being answered; whether there was one."""
        child = self._children.get(run)
        return child is not None and child.stop()

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            self._is_closed = True
            for child in self._children.values():
                child.close()

    def _child(self, run: str) -> Child:
        with self._lock:
            if self._is_closed:
                raise RuntimeError("florc ui has ended")
            found = self._children.pop(run, None)
            if found is None or not found.is_alive():
                idle = [name for name, child in self._children.items() if not child.is_busy()]
                for name in idle[: max(0, len(self._children) + 1 - _MOST)]:
                    self._children.pop(name).close()
                found = Child(self._store, run)
            self._children[run] = found
            return found


def _refused(why: str) -> list[dict[str, Any]]:
    return [{"said": why}, {"done": 2, "seconds": 0.0}]


def words_of(question: dict[str, Any]) -> list[str] | str:
    """The words of a question as `florc ask` takes them; why it is none. A question about the files as they are has none."""
    words: list[str] = []
    expression = _line(question.get("expression"))
    if question.get("present") is True:
        pass
    elif not expression:
        return "an expression is missing"
    elif question.get("kind") == "watch":
        words += [f"--watch={expression}"]
    elif question.get("kind") == "after-loop":
        words += ["--after-loop", _line(question.get("variable")), f" {expression}"]
    else:
        line, file = question.get("line"), _line(question.get("file"))
        if not isinstance(line, int) or line < 1:
            return "a line is missing: they are counted from 1"
        option = "--inside" if question.get("kind") == "inside" else "--at"
        words += [option, f"{file}:{line}" if file else str(line), f" {expression}"]  # `-loss` is no option
    iterations = _line(question.get("iterations"))
    return [*words, f"--iterations={iterations}"] if iterations else words


def _line(text: object) -> str:
    """A text of the page on one line."""
    return " ".join(text.replace("\0", "").split("\n")).strip() if isinstance(text, str) else ""
