"""A line that a log statement printed, taken apart into its values."""

from __future__ import annotations

import re
from functools import lru_cache

from .templates import Template, Value

_NUMBER = r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf|nan)"
_WORD, _ANY = r"\S+?", r".*?"
_TENSOR = re.compile(rf"tensor\(\s*({_NUMBER})\s*(?:,[^()]*)?\)")
"""How torch shows a tensor of one number."""

Typed = bool | int | float | str | None
"""What a value can be: what is no number, truth value or None stays the text that was printed."""


def taken_apart(template: Template, printed: str) -> dict[str, Typed] | None:
    """The values in a printed line, by their names; None if the statement did not print that. Of a statement that writes several
    lines, each may be taken apart."""
    for pieces in _lines(template):
        if not any(isinstance(piece, Value) for piece in pieces):
            continue
        for pattern in _patterns(pieces):
            found = pattern.fullmatch(printed)
            if found is not None:
                names = [piece.name for piece in pieces if isinstance(piece, Value)]
                return {name: typed(text) for name, text in zip(names, found.groups())}
    return None


def typed(text: str) -> Typed:
    """A number, a truth value or None, as Python writes them; else the text."""
    stripped = text.strip()
    tensor = _TENSOR.fullmatch(stripped)
    if tensor is not None:
        stripped = tensor[1]
    if stripped in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[stripped]
    if re.fullmatch(_NUMBER, stripped):
        try:
            return int(stripped)
        except ValueError:
            return float(stripped)
    return text


@lru_cache(maxsize=10_000)
def _lines(template: Template) -> tuple[tuple[str | Value, ...], ...]:
    """The pieces of each line that a statement writes."""
    lines: list[list[str | Value]] = [[]]
    for piece in template.pieces:
        if isinstance(piece, Value):
            lines[-1].append(piece)
            continue
        first, *others = piece.split("\n")
        lines[-1].append(first)
        lines += [[text] for text in others]
    return tuple(tuple(line) for line in lines)


@lru_cache(maxsize=10_000)
def _patterns(pieces: tuple[str | Value, ...]) -> tuple[re.Pattern[str], ...]:
    """From the strictest to the loosest: numbers, words, anything."""

    def pattern(value: str) -> re.Pattern[str]:
        # a format may fill a value up with blanks
        parts = [rf" *({value}) *" if isinstance(piece, Value) else re.escape(piece) for piece in pieces]
        return re.compile("".join(parts) + r"\s*", re.DOTALL)

    return pattern(_NUMBER), pattern(_WORD), pattern(_ANY)
