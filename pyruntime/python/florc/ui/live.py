"""From what a replay tells while it runs to what the page shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..answers.rows import Names, Printed, context
from ..project.script import Unusable
from .places import Places, first_difference

if TYPE_CHECKING:
    from ..runs.journal import History
    from .facts import Facts


class Live:
    """What one question has told so far."""

    def __init__(self, facts: Facts, run: str):
        self._facts, self._run = facts, run
        self._history: History | None = None
        self._names: Names | None = None
        self._texts: dict[str, str] = {}
        self._places = Places({})
        self._seen: dict[tuple[str, int, str], int] = {}

    def told(self, batch: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The events of the page: the values of a batch are one of them."""
        values: list[dict[str, Any]] = []
        for event in batch:
            if "value" in event:
                values += self._value(*event["value"])
                continue
            if values:
                yield {"values": values}
                values = []
            if "asked" in event:
                self._texts, self._names = event["asked"], None
            elif "restarted" in event:
                self._seen.clear()
                yield event
            elif "verdict" in event and "run" in event:
                yield {"end": {**event, "first_difference": first_difference(self._facts.sources(self._run), event["anomalies"])}}
            elif "said" in event or "block" in event or "ready" in event:
                yield event
        if values:
            yield {"values": values}
        elif not batch:
            yield {"waiting": True}

    def _value(self, file: str, line: int, path: str, text: str, message: str | None, is_error: bool) -> Iterator[dict[str, Any]]:
        """The values in a line that a statement printed. Those of a replay are told again at its end, with their verdict."""
        seen = self._seen[file, line, path] = self._seen.get((file, line, path), -1) + 1
        if self._names is None:
            texts = {**self._facts.present(self._run), **self._texts}
            self._names, self._places = Names(texts), Places(texts)
        with suppress(Unusable):
            self._history = self._history or self._facts.history(self._run)
            around = context(self._history, path)
            printed = Printed(file, line, path, text, "", None, message, is_error)
            for name, value in self._names.values(printed, seen).items():
                place = {"file": file, "line": line, "at": self._places.said(file, line)}
                yield {"name": name, "value": value, "context": around, "occurrence": seen, **place}
