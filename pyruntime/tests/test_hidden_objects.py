"""Objects of C with a state that no attribute shows, where only a default, a closure, a bound method, a table or an attribute leads
to them: what a block changes there is restored, or the block runs again."""

from __future__ import annotations

import array
import bz2
import codecs
import collections
import contextvars
import csv
import decimal
import functools
import io
import itertools
import lzma
import mmap
import operator
import pickle
import re
import sqlite3
import struct
import sys
import types
import xml.etree.ElementTree as ElementTree
import xml.parsers.expat
import zlib
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from florc.survey.files import Still
from florc.survey.scopes import Reader
from florc.survey.survey import Survey
from test_survey_limits import OneFile
from workshop import Workshop


def change(held: Any, alter: Callable[[], object]) -> str | None:
    """What a survey says of `held` after `alter`, where `held` is the only name of the program."""

    def of_program(held: Any) -> FrameType:
        return sys._getframe()

    frame = of_program(held)
    survey = Survey(frame, None, OneFile({__file__}))
    alter()
    return survey.change(frame, None, None)


LINES = "".join(f"line {n}\n" for n in range(500))


def _opened(*arguments: Any, **named: Any) -> Callable[[Path], Any]:
    def make(folder: Path) -> Any:
        (folder / "lines.txt").write_text(LINES)
        return open(folder / "lines.txt", *arguments, **named)

    return make


def _begun(folder: Path) -> Any:
    """A text file between two lines that `next` gave out."""
    file = _opened()(folder)
    next(file)
    return file


def _rows(folder: Path) -> Any:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a)")
    connection.executemany("insert into t values (?)", [(n,) for n in range(9)])
    connection.commit()
    return connection.execute("select a from t")


def _mapped(access: int) -> Callable[[Path], Any]:
    def make(folder: Path) -> Any:
        with _opened("r+b")(folder) as file:
            return mmap.mmap(file.fileno(), 0, access=access)

    return make


def _tree(folder: Path) -> Any:
    return ElementTree.fromstring("<a><b/><b/><b/></a>")


async def _numbers() -> Any:
    for number in range(9):
        yield number


async def _twice() -> None:
    await _once()
    await _once()


class _Once:
    def __await__(self) -> Any:
        yield


def _once() -> Any:
    return _Once()


def _step(numbers: Any) -> None:
    with pytest.raises(StopIteration):
        numbers.__anext__().send(None)


def _of(made: Callable[[], Any]) -> Callable[[Path], Any]:
    return lambda folder: made()


def _set_prec(context: Any) -> None:
    context.prec = 3


def _set_text(element: Any) -> None:
    element[1].text = "text"


Made = tuple[Callable[[Path], Any], Callable[[Any], object]]
READS: Callable[[Any], object] = operator.methodcaller("read", 3)
OBJECTS: dict[str, Made] = {
    "a text file": (_opened(), operator.methodcaller("readline")),
    "a text file, by next": (_opened(), next),
    "a text file, by next again": (_begun, next),
    "a text file of another codec": (_opened(encoding="cp037"), operator.methodcaller("readline")),
    "a binary file": (_opened("rb"), READS),
    "a raw file": (_opened("rb", buffering=0), READS),
    "a file to read and write": (_opened("r+b"), READS),
    "a file in memory": (_of(lambda: io.BytesIO(b"bytes")), READS),
    "a connection": (lambda folder: _rows(folder).connection, lambda held: held.execute("insert into t values (1)")),
    "an element": (_tree, operator.methodcaller("set", "key", "value")),
    "a child of an element": (_tree, _set_text),
    "the children of an element": (_tree, lambda held: held.append(ElementTree.Element("c"))),
    "the elements of a tree": (lambda folder: _tree(folder).iter(), next),
    "a builder of a tree": (_of(ElementTree.TreeBuilder), operator.methodcaller("start", "a", {})),
    "a parser of XML": (_of(ElementTree.XMLPullParser), operator.methodcaller("feed", "<a><b/>")),
    "expat": (_of(xml.parsers.expat.ParserCreate), operator.methodcaller("Parse", "<a>")),
    "unpacked": (_of(lambda: struct.iter_unpack("b", bytes(9))), next),
    "csv.reader": (_of(lambda: csv.reader(["a", "b"])), next),
    "csv.DictReader": (_of(lambda: csv.DictReader(["a", "1", "2"])), next),
    "zlib": (_of(zlib.compressobj), operator.methodcaller("compress", b"x")),
    "zlib, of what is packed": (_of(zlib.decompressobj), operator.methodcaller("decompress", zlib.compress(b"x")[:4])),
    "bz2": (_of(bz2.BZ2Compressor), operator.methodcaller("compress", b"x")),
    "bz2, of what is packed": (_of(bz2.BZ2Decompressor), operator.methodcaller("decompress", bz2.compress(b"x")[:4])),
    "lzma": (_of(lzma.LZMACompressor), operator.methodcaller("compress", b"x")),
    "lzma, of what is packed": (_of(lzma.LZMADecompressor), operator.methodcaller("decompress", lzma.compress(b"x")[:4])),
    "a decimal context": (_of(decimal.Context), _set_prec),
    "a map that is read": (_mapped(mmap.ACCESS_READ), READS),
    "a map that is written to": (_mapped(mmap.ACCESS_WRITE), lambda held: held.__setitem__(5, 0)),
    "a scanner": (_of(lambda: re.compile("a").scanner("aaa")), operator.methodcaller("search")),
    "what a pattern finds": (_of(lambda: re.finditer("a", "aaa")), next),
    "a pickler": (_of(lambda: pickle.Pickler(io.BytesIO())), operator.methodcaller("dump", "text")),
    "an unpickler": (_of(lambda: pickle.Unpickler(io.BytesIO(pickle.dumps(1)))), operator.methodcaller("load")),
    "a decoder": (_of(codecs.getincrementaldecoder("utf-8")), operator.methodcaller("decode", b"\xc3")),
    "an encoder": (_of(codecs.getincrementalencoder("iso2022_jp")), operator.methodcaller("encode", "\u3042")),
    "a decoder of lines": (_of(lambda: io.IncrementalNewlineDecoder(None, True)), operator.methodcaller("decode", "a\r")),
    "a context": (_of(contextvars.Context), lambda held: held.run(contextvars.ContextVar("name").set, 1)),
    "a coroutine": (_of(_twice), operator.methodcaller("send", None)),
    "an asynchronous generator": (_of(_numbers), _step),
    "an array's iterator": (_of(lambda: iter(array.array("i", range(9)))), next),
    "a deque's iterator": (_of(lambda: iter(collections.deque(range(9)))), next),
    "a view's iterator": (_of(lambda: iter(memoryview(bytes(9)))), next),
    "a sequence's iterator": (_of(lambda: iter(ElementTree.fromstring("<a><b/><b/></a>"))), next),
    "tee": (_of(lambda: itertools.tee(range(9))[1]), next),
    "islice": (_of(lambda: itertools.islice("text" * 9, 9)), next),
    "pairwise": (_of(lambda: itertools.pairwise(range(9))), next),
    "a key of comparisons": (
        _of(lambda: functools.cmp_to_key(lambda one, other, seen=[]: seen.append(one) or 0)),
        lambda held: sorted([1, 2], key=held),
    ),
}


class Box:
    held: Any = None


def _boxed(held: Any) -> Box:
    box = Box()
    box.held = held
    return box


def _default(held: Any) -> Callable[..., Any]:
    def call(held: Any = held) -> Any:
        return held

    return call


def _closed_over(held: Any) -> Callable[..., Any]:
    def call() -> Any:
        return held

    return call


WAYS: dict[str, Callable[[Any], Any]] = {
    "a default": _default,
    "a lambda": lambda held: lambda: held,
    "a nested def": _closed_over,
    "a bound method": lambda held: held.__repr__,
    "a table": lambda held: {"held": [held]},
    "an attribute": _boxed,
}


@pytest.mark.parametrize("name", OBJECTS)
def test_what_changes_in_an_object_of_c_is_seen_and_nothing_else(name: str, tmp_path: Path) -> None:
    make, alter = OBJECTS[name]
    for way, hide in WAYS.items():
        one = make(tmp_path)
        held = hide(one)
        assert change(held, lambda: None) is None, way
        assert change(held, lambda: alter(one)) is not None, way
        assert change(held, lambda: None) is None, way
        if issubclass(type(one), (io.IOBase, types.CoroutineType)):
            one.close()


def test_rows_that_a_bound_method_may_fetch_are_taken_for_fetched(tmp_path: Path) -> None:
    rows = _rows(tmp_path)
    assert change([rows.fetchone], lambda: None) is not None, "nobody can tell"
    rows.fetchall()
    assert change([rows.fetchone], lambda: None) is None
    assert change([rows], lambda: rows.execute("select a from t")) is not None


def test_what_is_no_file_to_read_from_tells_nothing(tmp_path: Path) -> None:
    written = open(tmp_path / "log.txt", "w")
    appended = open(tmp_path / "more.txt", "a+b")
    closed = _opened()(tmp_path)
    closed.close()
    held = [written.write, appended, closed, closed.readline, sys.stdout.write, sys.__stderr__]

    def write() -> None:
        written.write("text")
        written.flush()
        appended.write(b"text")
        sys.stdout.write("text")

    assert change(held, write) is None
    written.close()
    appended.close()


def test_only_what_is_said_of_a_file_is_asked(tmp_path: Path) -> None:
    class Raw(io.RawIOBase):
        def __getattribute__(self, name: str) -> Any:
            asked.append(name)
            return super().__getattribute__(name)

        def readable(self) -> bool:
            return True

    asked: list[str] = []
    file = io.TextIOWrapper(io.BufferedReader(Raw()))
    del asked[:]
    assert change([file, file.readline, file.buffer], lambda: None) is None
    assert not asked
    file.detach().detach()


LOOP = """
for epoch in range(3):
    for step in range(20):
        time.sleep(0.001)
        if step % 5 == 0:
            H["f"](step)
    print("epoch", epoch)
"""
FILES = {
    "a default": ("def f(v, lines=open('lines.txt')):\n    lines.readline()\nH = {'f': f}", "f.__defaults__[0].tell()"),
    "a lambda": (
        "def made():\n    lines = open('lines.txt', 'rb')\n    return lambda v: lines.read(3)\nf = made()\nH = {'f': f}",
        "f.__closure__[0].cell_contents.tell()",
    ),
    "a nested def": (
        "def made():\n    lines = open('lines.txt')\n    def f(v):\n        return lines.readline()\n    return f\nf = made()\nH = {'f': f}",
        "f.__closure__[0].cell_contents.tell()",
    ),
    "a bound method": (
        "f = lambda v, more=open('lines.txt').readline: more()\nH = {'f': f}",
        "f.__defaults__[0].__self__.tell()",
    ),
    "a table": ("T = [open('lines.txt', 'rb', buffering=0)]\nH = {'f': lambda v: T[0].read(3)}", "T[0].tell()"),
    "an attribute": (
        "class Data:\n    def __init__(self):\n        self.file = open('lines.txt', 'rb')\n    def __getitem__(self, v):\n"
        "        self.file.seek(v)\n        return self.file.read(3)\ndata = Data()\nH = {'f': lambda v: data[v]}",
        "data.file.tell()",
    ),
    "a loop's own name": ("lines = open('lines.txt')\nH = {'f': lambda v: lines.readline()}", "lines.tell()"),
}
OTHERS = {
    "next": ("H = {'f': lambda v, lines=open('lines.txt'): next(lines)}", "H['f'].__defaults__[0].readline().strip()"),
    "csv.reader": (
        "import csv\nH = {'f': lambda v, r=csv.reader(open('lines.txt')): next(r)}",
        "H['f'].__defaults__[0].line_num",
    ),
    "a connection": (
        "import sqlite3\ndef made():\n    db = sqlite3.connect(':memory:')\n    db.execute('create table t (a)')\n"
        "    return lambda v: db.execute('insert into t values (1)')\nH = {'f': made()}",
        "H['f'].__closure__[0].cell_contents.total_changes",
    ),
    "an element": (
        "import xml.etree.ElementTree as E\ndef f(v, e=E.Element('a')):\n    e.set(str(len(e.attrib)), 'x')\nH = {'f': f}",
        "f.__defaults__[0].attrib",
    ),
    "compressed": (
        "import zlib\nH = {'f': lambda v, put=zlib.compressobj().compress: put(b'%d' % v)}",
        "H['f'].__defaults__[0].__self__.copy().flush()",
    ),
    "a scanner": (
        "import re\nH = {'f': lambda v, go=re.compile('a').scanner('a' * 99).search: go()}",
        "H['f'].__defaults__[0]().start() if epoch == 2 else 0",
    ),
    "a map": ("import mmap\nm = [mmap.mmap(-1, 99)]\nH = {'f': lambda v: m[0].__setitem__(v, m[0][v] + 1)}", "m[0][:30]"),
    "a decimal context": (
        "import decimal\ndef f(v, c=decimal.Context(prec=5)):\n    c.prec += 1\nH = {'f': f}",
        "f.__defaults__[0].prec",
    ),
    "a generator of NumPy": (
        "import numpy\nH = {'f': lambda v, draw=numpy.random.default_rng(1).random: draw()}",
        "H['f'].__defaults__[0].__self__.bit_generator.state['state']['state']",
    ),
    "a method of an object": (
        "class C: pass\nH = {'f': lambda v, put=C().__setattr__: put('n%d' % v, v)}",
        "vars(H['f'].__defaults__[0].__self__)",
    ),
    "singledispatchmethod": (
        "import functools\nclass C:\n    @functools.singledispatchmethod\n    def m(self, v): pass\n    @m.register\n"
        "    def _(self, v: int, seen=[]): seen.append(v)\nc = C()\nH = {'f': lambda v: c.m(v)}",
        "vars(C)['m'].dispatcher.registry[int].__defaults__[0]",
    ),
    "singledispatch": (
        "import functools\n@functools.singledispatch\ndef g(v): pass\ng.register(int, lambda v, seen=[]: seen.append(v))\n"
        "H = {'f': lambda v: g(v)}",
        "g.registry[int].__defaults__[0]",
    ),
    "a key of comparisons": (
        "import functools\ndef made():\n    seen = []\n    def order(a, b):\n        seen.append(a)\n        return 0\n"
        "    return functools.cmp_to_key(order), lambda: len(seen)\nK = made()\nH = {'f': lambda v: sorted([v, 1], key=K[0])}",
        "K[1]()",
    ),
    "an attribute of a cached function": (
        "import functools\nclass C: n = 0\n@functools.lru_cache(None)\ndef f(v): return v\nf.seen = []\nbox = C()\nbox.f = f\n"
        "H = {'f': lambda v: (setattr(box, 'n', box.n + 1), box.f.seen.append(v))}",
        "f.seen, box.n",
    ),
    "what a cached function closes over": (
        "import functools\nclass C: n = 0\ndef made():\n    @functools.lru_cache(1)\n    def f(v, seen=[]): seen.append(v)\n"
        "    return f\nbox = C()\nbox.f = made()\nH = {'f': lambda v: (setattr(box, 'n', box.n + 1), box.f(v))}",
        "box.f.__wrapped__.__defaults__, box.n",
    ),
}


def _compare(workshop: Workshop, made: str, seen: str) -> str:
    """What the replay said, whose answer is that of a plain run."""
    (workshop.path / "lines.txt").write_text(LINES)
    text = "import time\n" + made + LOOP
    line = '    print("epoch", epoch)\n'
    _, done, truth = workshop.asked(text, text.replace(line, f'{line}    print("P", epoch, {seen})\n'))
    assert truth.count("\n") == 3
    assert done.out == truth or "exact: " not in done.said, done.said
    return done.said


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_read_goes_on_where_it_was(workshop: Workshop, name: str) -> None:
    said = _compare(workshop, *FILES[name])
    assert "3 blocks restored" in said, said


@pytest.mark.parametrize("name", OTHERS)
def test_what_only_such_a_place_leads_to_is_right(workshop: Workshop, name: str) -> None:
    _compare(workshop, *OTHERS[name])


def test_a_forked_child_is_told_what_held_when_it_was_forked(tmp_path: Path) -> None:
    file = _opened("rb")(tmp_path)
    with Still():
        pass
    reader = Reader({__file__})
    before = reader.parts(file)
    with Still():
        file.read(3)  # as its parent does meanwhile
        assert reader.parts(file) == before
    assert reader.parts(file) != before
    file.close()
