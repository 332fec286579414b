"""Which executions of blocks may have written to a file that was open, by what they entered.

The plan of a block says what its statements may write to (`Plan.writes`), as far as it sees what they call. A hook of a module, a
method behind an operator, a function that `sorted` calls it does not see; but the journal has which functions each execution
entered. If the text of one of them names what reads or writes files, a replay that restores the block takes every file that is
open for one that lacks something: it is unverified, if the script or an added statement asks for such a file later.

Limit: a lambda tells nobody that it is entered, and a function may write by another name (`put = log.write`). Test:
tests/test_hidden.py."""

from __future__ import annotations

import re

from .. import _native
from .journal import History

_WORDS = re.compile(
    r"\b(?:write\w*|read\w*|dump|save\w*|truncate|seek|flush|to_csv|to_json|commit|execute\w*)\s*\(|\bfile\s*=|>>"
)


class Writers:
    """Of one run."""

    def __init__(self, history: History):
        self._history = history
        self._texts: dict[str, list[str]] | None = None
        self._known: dict[_native.Function, bool] = {}

    def may_write(self, key: str) -> bool:
        """Whether the execution of a block with this key entered a function that may write."""
        return any(map(self._writes, self._history.entered.get(key) or ()))

    def _writes(self, function: _native.Function) -> bool:
        if function not in self._known:
            if self._texts is None:
                self._texts = {path: text.splitlines() for _, _, path, text in self._history.run.files()}
            self._known[function] = _WORDS.search(_body(self._texts.get(function.file, []), function.line)) is not None
        return self._known[function]


def _body(lines: list[str], line: int) -> str:
    """The text of the function that begins at a line (1-based): down to the next line that is not indented further."""
    found: list[str] = []
    margin: int | None = None
    for text in lines[line - 1 :]:
        indent = len(text) - len(text.lstrip())
        is_head = text.lstrip().startswith(("def ", "async def ", "@"))
        if margin is not None and text.strip() and indent <= margin and not text.lstrip().startswith((")", "#")):
            break
        if margin is None and text.lstrip().startswith(("def ", "async def ")):
            margin = indent
        elif margin is None and not is_head:
            continue
        found.append(text)
    return "\n".join(found)
