"""What florc itself says: on standard error, one line at a time; what it answers, on standard output."""

from __future__ import annotations

import os
import sys

from .light import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""
exit_at_once = os._exit
"""What ends the process: in a replay, something else stands in its place for the script."""
quiet = False
color = "auto"
"""`--color`: `auto`, `always` or `never`."""
RED, GREEN, YELLOW = 31, 32, 33
"""Of ECMA-48, Select Graphic Rendition."""
_VERDICTS = {"exact": GREEN, "unverified": YELLOW, "ANOMALOUS": RED}
"""What these words begin is said in their color, of florc's lines."""
_OWN = "florc: "
_stream: TextIO | None = None
_COLUMNS = 80
"""Of a terminal that does not know its size."""
_has_line = False
"""Whether a line stands on the terminal that the next output replaces."""
_STEERING = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Separators of lines, and what turns the direction of writing around: not controls by category."""


def to_descriptor(descriptor: int) -> None:
    """From now on speak to this file descriptor (a replay diverts the script's own standard error)."""
    global _stream
    from .high import copied

    _stream = os.fdopen(copied(descriptor), "w", buffering=1, errors="backslashreplace")


def descriptor() -> int:
    """Where florc speaks, as the number of a file; -1 where that is no file."""
    with suppress(OSError, ValueError, AttributeError):
        return (_stream or sys.stderr).fileno()
    return -1


def plain(text: str, also: str = "\n\t") -> str:
    """The text with control characters spelled out, but for `also`: what comes from a store must not steer the terminal."""
    return "".join(_spelled(char) if char not in also and _steers(char) else char for char in text)


def _steers(char: str) -> bool:
    return char < " " or "\x7f" <= char <= "\x9f" or char in _STEERING


def _spelled(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def say(text: str, always: bool = False, code: str = "") -> None:
    """Print a line; with `--quiet` only what must `always` be said. `code` (docs/messages.md) ends the first line."""
    if quiet and not always:
        return
    if code:
        first, newline, rest = text.partition("\n")
        text = f"{first} [{code}]{newline}{rest}"
    said = f"{_OWN}{plain(text)}"
    clear_line()
    with suppress(OSError, ValueError):
        stream = _stream or sys.stderr
        if stream is None:  # it is closed: `print` would take standard output
            return
        tint = next((tint for word, tint in _VERDICTS.items() if text.startswith(word)), None)
        print(said if tint is None else tinted(said, tint, stream), file=stream, flush=True)


def tinted(text: str, tint: int, stream: TextIO) -> str:
    """The text in a color, if the stream is to have colors."""
    return f"\x1b[{tint}m{text}\x1b[0m" if has_color(stream) else text


def tinted_diff(line: str, stream: TextIO) -> str:
    """A line of a diff: what is gone in red, what is new in green."""
    tint = RED if line.startswith("-") else GREEN if line.startswith("+") else None
    text = line.rstrip("\n")
    return line if tint is None else tinted(text, tint, stream) + line[len(text) :]


def has_color(stream: TextIO) -> bool:
    """Whether a stream is to have colors: a terminal, unless NO_COLOR is set (no-color.org); `--color` decides otherwise."""
    return color == "always" or color == "auto" and _is_for_people(stream) and not os.environ.get("NO_COLOR")


def _is_for_people(stream: TextIO) -> bool:
    try:
        return os.environ.get("TERM") != "dumb" and bool(stream.isatty())
    except Exception:  # an object of the script's own, which is no stream, or a closed one
        return False


def has_lines() -> bool:
    """Whether a line that comes and goes would be seen: on a terminal, without `--quiet`."""
    with suppress(OSError, ValueError):
        return not quiet and _is_for_people(_stream or sys.stderr)
    return False


def show_line(text: str) -> None:
    """Show a line in the place of the one before, until something else is said (`clear_line`)."""
    global _has_line
    with suppress(OSError, ValueError):
        stream = _stream or sys.stderr
        width = os.get_terminal_size(stream.fileno()).columns or _COLUMNS
        line = f"{_OWN}{plain(text, '')}"[: width - 1]  # a full line would scroll
        stream.write(f"\r{line}\x1b[K")
        stream.flush()
        _has_line = True


def clear_line() -> None:
    """Take the line away, before anything else is written to the terminal."""
    global _has_line
    if _has_line:
        _has_line = False
        with suppress(OSError, ValueError):
            stream = _stream or sys.stderr
            stream.write("\r\x1b[K")
            stream.flush()


def answer(text: str) -> None:
    """Print to standard output at once. Where its reader went away (`florc runs | head -1`), nobody wants to know more."""
    clear_line()
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        exit_at_once(0)


def hand_on(line: str) -> None:
    """Print a line of another florc process: as its own what that one said, anything else as it is."""
    if line.startswith(_OWN):
        say(line[len(_OWN) :], always=True)
        return
    clear_line()
    with suppress(OSError, ValueError, AttributeError):
        (_stream or sys.stderr).write(f"{line}\n")
        (_stream or sys.stderr).flush()


def count(number: int, what: str) -> str:
    """`1 block`, `2 blocks`."""
    return f"{number} {what}{'s' * (number != 1)}"


def size(count: float) -> str:
    """Bytes for people: `4.3 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def duration(seconds: float) -> str:
    """Seconds for people: `0.8 s`, `2 min 5 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def _here() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it is gone
        return None


_HERE = _here()
"""Where the command was typed; a script may go elsewhere."""


def relative(path: str) -> str:
    """A path as people see it from where they typed the command; as it is where that folder is gone."""
    return path if _HERE is None else os.path.relpath(path, _HERE)


cells: dict[str, list[int]] = {}
"""By the path of a notebook: the line of its program before each of its code cells."""


recorded_cells: dict[str, list[int]] = {}
"""The same of the program that was recorded."""


def line_of(file: str, line: int) -> str:
    """A line of a file in words: `line 12`; of a notebook: `cell 3, line 2`."""
    number, within = cell_of(file, line)
    return f"line {within}" if number is None else f"cell {number}, line {within}"


def cell_of(file: str, line: int, is_recorded: bool = False) -> tuple[int | None, int]:
    """The code cell of a notebook, counted from 1, that a line of its program stands in, and the line of that cell. Of other
    files: None, and the line. `is_recorded`: of the recorded program."""
    heads = (recorded_cells if is_recorded else cells).get(file)
    if not heads or line <= heads[0]:
        return None, line
    number = sum(head < line for head in heads)
    return number, line - heads[number - 1]


def place(file: str, line: int, is_short: bool = False, is_recorded: bool = False) -> str:
    """A line of a file as people look it up: `train.py:12`, `train.ipynb, cell 3, line 2`. `is_short`: without its folder."""
    number, within = cell_of(file, line, is_recorded)
    name = os.path.basename(file) if is_short else relative(file)
    return spelled(name, number, within)


def spelled(name: str, cell: int | None, line: int) -> str:
    """A line of a file, or of a cell of a notebook."""
    return f"{name}:{line}" if cell is None else f"{name}, cell {cell}, line {line}"
