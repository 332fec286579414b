"""A line that a log statement printed, taken apart into its values."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from itertools import pairwise

from .templates import Template, Value

_NUMBER = r"[-+]?(?:[0-9][0-9_]*\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|inf|nan)"
_OTHERS = re.compile(r"[-+]?0[0-9]|.*_|.*[eE][0-9]")
"""How Python itself writes no number: `007`, `2026_11` and `1e5` are texts."""
_WORD, _ANY = r"\S+", r".*"
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
"""A text in quotes, as Python and logfmt write it."""
_LEVELS = 3
"""Containers in containers that are told apart from what stands beside them."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_EVENTS = ("event", "message", "msg")
"""Under which a line of JSON has the message."""
_TENSOR = re.compile(rf"(?:tensor|(?:np|numpy)\.(?:float|u?int)\d+)\(\s*({_NUMBER})\s*(?:,[^()]*)?\)")
"""How torch shows a tensor of one number, and numpy a number in a container."""

_FRAME = re.compile(r"(?:\[[^\]]*\]\s|\s*)(.*?)\s*(?:\S+:\d+\s*)?", re.DOTALL)
"""What `Console.log` of rich puts around: a time, or blanks where it is the same as above, and the place of the statement."""

Typed = bool | int | float | str | None
"""What a value can be: what is no number, truth value or None stays the text that was printed."""


def taken_apart(template: Template, printed: str, whole: str = "", number: int = 0) -> dict[str, Typed] | None:
    """The values in a printed line, by their names; None if the statement did not print that. Of a statement that writes several
    lines, each may be taken apart. `whole`: the line, where `printed` is what a logger was told in it; `number`: the so many-th
    line that the statement wrote, from 0, which tells lines of the same form from each other."""
    if template.is_framed:
        return _framed(template.pieces, printed)
    if template.keys:
        found = _by_keys(template, _COLOURS.sub("", whole or printed))
        if found is not None:
            return found
    lines = _lines(template)
    expected = number % len(lines)
    if lines[expected] == ((printed,) if printed else ()) or lines[expected] == ("",) and not printed:  # a line without values
        return None
    for pieces in (lines[expected], *lines[:expected], *lines[expected + 1 :]):
        if not any(isinstance(piece, Value) for piece in pieces) or _is_unclear(pieces):
            continue
        found = _split(pieces, printed)
        if found is not None:
            return found
    return None


def _split(pieces: tuple[str | Value, ...], printed: str) -> dict[str, Typed] | None:
    """The values of a line, by their names. Those that may begin or end elsewhere, since a value holds what stands between two of
    them, are left out."""
    for shortest, longest in _patterns(pieces):
        match = shortest.fullmatch(printed)
        if match is not None:
            found = _named(pieces, match)
            other = None if longest is shortest else longest.fullmatch(printed)
            others = found if other is None else _named(pieces, other)
            return {name: value for name, value in found.items() if repr(value) == repr(others[name])} or None
    return None


def _is_unclear(pieces: tuple[str | Value, ...]) -> bool:
    """Whether nothing stands between two values: `print(epoch, loss, sep="")`."""
    filled = [piece for piece in pieces if piece]
    return any(isinstance(one, Value) and isinstance(other, Value) for one, other in pairwise(filled))


def as_number(value: bool | int | float) -> float:
    """A number as a float; a whole number that is too large is infinite."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _named(pieces: tuple[str | Value, ...], found: re.Match[str]) -> dict[str, Typed]:
    values = [piece for piece in pieces if isinstance(piece, Value)]
    return {value.name: typed(text, value.is_formatted) for value, text in zip(values, found.groups())}


def _framed(pieces: tuple[str | Value, ...], line: str) -> dict[str, Typed] | None:
    """What stands between a time and a place (`Template.is_framed`)."""
    framed = _FRAME.fullmatch(_COLOURS.sub("", line))
    return None if framed is None else _split(pieces, framed[1])


def _by_keys(template: Template, line: str) -> dict[str, Typed] | None:
    """What a logger wrote by keywords, as JSON or as `key=value`, beside a message that it was told."""
    try:
        written = json.loads(line) if line.startswith("{") else None
    except ValueError:
        written = None
    if isinstance(written, dict):
        event = next((written[name] for name in _EVENTS if isinstance(written.get(name), str)), "")
        values = {key: _plain(written[key]) for key in template.keys if key in written}
    else:
        event, values = line, {}
        for key in template.keys:
            match = re.search(rf"(?:^|(?<=\s)){re.escape(key)}=({_QUOTED}|.*?)(?=\s+[A-Za-z_][\w.]*=|\s*$)", line)
            if match is not None:
                values[key] = _unquoted(match[1])
    if not values:
        return None
    for pattern in _inside(template.pieces):
        match = pattern.search(event)
        if match is not None:
            return {**_named(template.pieces, match), **values}
    return None


def _plain(value: object) -> Typed:
    return value if value is None or isinstance(value, (bool, int, float, str)) else json.dumps(value)


def _unquoted(text: str) -> Typed:
    """A text in quotes is what is in them; as it was printed where something in it is escaped."""
    return text[1:-1] if re.fullmatch(_QUOTED, text) and "\\" not in text else typed(text, is_formatted=False)


def typed(text: str, is_formatted: bool = True) -> Typed:
    """A number, a truth value or None, as Python writes them; else the text. `is_formatted`: a format may fill it up with
    zeros."""
    stripped = text.strip()
    tensor = _TENSOR.fullmatch(stripped)
    if tensor is not None:
        stripped = tensor[1]
    if stripped in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[stripped]
    if re.fullmatch(_NUMBER, stripped) and (is_formatted or not _OTHERS.match(stripped)):
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


def _container() -> str:
    """What stands in brackets, with brackets in it."""
    inner = r"[^\[\](){}]"
    for _ in range(_LEVELS):
        inner = rf"(?:[^\[\](){{}}]|[\[({{]{inner}*[\])}}])"
    return rf"[\w.]*[\[({{]{inner}*[\])}}]"


_CONTAINER = _container()


@lru_cache(maxsize=10_000)
def _patterns(pieces: tuple[str | Value, ...]) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """From the strictest to the loosest: numbers, words and containers, words, anything; each with as little as can be in each
    value, and with as much."""

    def pattern(value: str) -> re.Pattern[str]:
        # a format may fill a value up with blanks
        parts = [rf" *({value}) *" if isinstance(piece, Value) else re.escape(piece) for piece in pieces]
        return re.compile("".join(parts) + r"\s*", re.DOTALL)

    item = rf"{_NUMBER}|{_QUOTED}|{_CONTAINER}|[^\s\[\](){{}}]+"
    number = pattern(_NUMBER)
    return (number, number), *((pattern(f"{loose}?"), pattern(loose)) for loose in (item, _WORD, _ANY))


@lru_cache(maxsize=10_000)
def _inside(pieces: tuple[str | Value, ...]) -> tuple[re.Pattern[str], ...]:
    """The same for a message that has something around it."""

    def pattern(value: str) -> re.Pattern[str]:
        parts = [rf"({value})" if isinstance(piece, Value) else re.escape(piece) for piece in pieces]
        return re.compile(r"(?<![\w.])" * (not pieces or isinstance(pieces[0], Value)) + "".join(parts) + r"(?![\w.])", re.DOTALL)

    return pattern(_NUMBER), pattern(f"{_WORD}?")
