"""Files that are open to be read, and to nothing else: the live one goes on where the recorded one was.

Node: `["file", module, class, name, position]`, the position as `seek` takes it. A text file between two lines that `next` gives
out cannot tell where it is: it is recorded by reference, as files that are written to are."""

from __future__ import annotations

import _io

from ..support import files_read
from ..support.files_read import is_read, position
from .kind import Kind
from .kinds import Refused, type_name
from .references import encode_opaque

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .encode import Encoder
    from .kinds import Encode, Node
    from .match import Matcher
    from .restore import Restorer


def _name(file: Any) -> str:
    """What it was opened by; nothing of a descriptor, which has another number in another process."""
    raw: Any = file.buffer if type(file) is _io.TextIOWrapper else file
    name = raw.name
    return repr(name) if type(name) in (str, bytes) else ""


def encode_file(enc: Encoder, file: Any) -> Node:
    if files_read.is_looked_below or not is_read(file, or_written=False):
        return encode_opaque(enc, file)
    enc.copy()  # a forked child shares the position with its parent, which reads on
    at = position(file)
    return encode_opaque(enc, file) if at is None else ["file", *type_name(type(file)), _name(file), at]


class Read(Kind):
    """A file that is read, moved when everything else is filled."""

    order = 3

    def match(self, m: Matcher, node: Node, live: Any) -> bool:
        is_it = type_name(type(live)) == (node[1], node[2]) and is_read(live, or_written=False)
        return is_it and _name(live) == node[3]

    def check(self, m: Matcher, node: Node, index: int) -> None:
        if type(node[4]) is not int or node[4] < 0:
            raise Refused("the checkpoint is damaged: a file is read at no place")
        if files_read.is_asked_below:
            raise Refused("an added statement looks at what lies below a file, which no checkpoint holds")

    def check_new(self, m: Matcher, node: Node, index: int) -> None:
        raise Refused("a file that was open to be read is not open here")

    def fill(self, r: Restorer, node: Node, obj: Any, index: int) -> None:
        r.last(lambda: obj.seek(node[4]))


ENCODERS: dict[type, Encode] = dict.fromkeys((_io.TextIOWrapper, _io.BufferedReader, _io.FileIO), encode_file)
KINDS = {"file": Read()}
