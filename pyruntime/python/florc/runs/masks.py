"""Lines that are equal but for a time.

What the script itself takes from a clock is recorded and given back (`inputs/known.py`). A library that prints the time, how long
something took or how fast it goes asks its own clock: in the lines that it writes, numbers of these forms are left out of the
comparison,
on both sides, and such lines are counted apart. Every other number is compared. A library that prints a time in another form is
flagged.
"""

from __future__ import annotations

import re

_FORMS = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T _-]+\d{1,2}[:-]\d{2}(?:[:-]\d{2}(?:[.,]\d+)*)?)?",  # 2026-11-22 16:42:14,123
    r"\d{1,2}[/.-]\d{1,2}(?:[/.-]\d{2,4})? +\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)*)?(?: ?[AP]M)?",  # 11/22 16:42
    r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\w* +\d{1,2}(?:,? \d{4})?",
    r"(?:\d+ days?, )?\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[AP]M)?",  # 16:42:14.123, 00:07<00:12
    # 8.31it/s
    r"[\d.,?]+ ?(?:it|s|steps?|batch(?:es)?|samples?|examples?|tok(?:ens)?|epochs?|sent|words|ex|imgs?)/s(?:ec(?:ond)?)?\b",
    r"[\d.,?]+ ?(?:s|ms|us|µs|μs)/ ?\w+\b",  # 3ms/step
    r"'\w*_(?:runtime|per_second)': '?[\d.]+(?:e[-+]?\d+)?'?",  # 'train_runtime': '2.693', of transformers
    r"[\d.,]+ ?(?:seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|milliseconds?|ms|us|µs|μs|ns)\b",  # 12.3 s
)
_TIME = re.compile(rf"(?<![\w.])(?:{'|'.join(_FORMS)})")
_MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_DATE = re.compile(
    rf"(?:(?<!\d)\d{{4}}[-/.]\d{{2}}[-/.]\d{{2}}[T _-]|(?<![A-Za-z\d])(?:{_MONTHS})\d{{2}}_)"
    r"\d{2}[:-]\d{2}[:-]\d{2}(?:[-_.,]\d{6})?(?![\d.])"
)
"""To the second, or the microsecond; `Nov25_14-42-10` of TensorBoard's folders, too. In a shorter form, another number of the
script's could stand where a clock would."""
_BLANKS = re.compile(r"[ \t]+")
_BAR = re.compile(r"(?<=\|)[█▉▊▋▌▍▎▏#\d ]*(?=\|)|\x1b\[[\d;]*[A-Za-z]")
_RANDOM_NAME = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
"""A UUID of version 4, which says of itself that it is random: a library drew it from the kernel to name something (a study of
optuna). It is another one in every run, and nothing is computed from it. One of the script's own is recorded and given back."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*(?:e[-+]?\d+)?", re.IGNORECASE)


def without_times(text: str) -> str:
    """A line of a library with its times left out; their width moves the blanks around them."""
    return _BLANKS.sub(" ", _TIME.sub("<time>", _BAR.sub("", text)))


def without_dates(text: str) -> str:
    """A text with dates, and times of the day after them, left out: `/tmp/SB3-2026-11-25-11-22-57-083371`."""
    return _DATE.sub("<date>", text)


_ADDRESS = re.compile(r"(?<= at )0x[0-9a-f]{6,16}(?=>)")
"""In `<Model at 0x7f6f4c0d5e10>`, where Python says where an object lies: nothing is computed from it, and it is another place in
every run. A bare number in hexadecimal is compared."""


def without_addresses(text: str) -> str:
    """A text with the addresses in it left out."""
    return _ADDRESS.sub("0x", text)


def without_random_names(text: str) -> str:
    """A text with the random names in it left out."""
    return _RANDOM_NAME.sub("<uuid>", text)


def without_numbers(text: str) -> str:
    """A line of which any number may come from a clock."""
    return _BLANKS.sub(" ", NUMBER.sub("<number>", text))
