"""What `florc record` imports of the standard library before and while a short script runs: nothing that takes long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from florc.project.territory import decode
from florc.support import light

DEAR = (
    "argparse",
    "array",
    "ast",
    "collections",
    "contextlib",
    "ctypes",
    "dataclasses",
    "enum",
    "functools",
    "hashlib",
    "heapq",
    "importlib",
    "importlib.util",
    "inspect",
    "json",
    "operator",
    "pathlib",
    "pickle",
    "queue",
    "random",
    "re",
    "shutil",
    "struct",
    "subprocess",
    "threading",
    "tokenize",
    "traceback",
    "typing",
    "warnings",
    "weakref",
    "zipfile",
)
SCRIPT = """
import sys
class Net:
    weights = 0.0
    def step(self, x):
        self.weights += x
net = Net()
batches = [1.0, 2.0]
for epoch in range(2):
    for batch in batches:
        net.step(batch)
    print(epoch, net.weights)
open("out.txt", "w").close()
print(*sorted(sys.modules.keys() & set(sys.argv[1:])))
"""


def test_a_short_recording_imports_nothing_that_takes_long(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)

    def imported(*command: str) -> list[str]:
        words = [sys.executable, *command, "train.py", *DEAR]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    assert imported("-m", "florc", "record") == imported()


VALUES = [
    None,
    True,
    0,
    -5,
    1 << 80,
    1.0,
    0.1,
    1e300,
    5e-324,
    float("inf"),
    float("-inf"),
    "",
    'é\n"\\\x7f\u2028😀',
    [],
    {},
    (1, "a"),
    {"a": [1, {"b": None}], "c": {}},
    [[], [[1.5]], {"k": []}],
    "\udcff lone",
    {1: 2},
    {"deep": [[[[[]]]]]},
    type("I", (int,), {})(3),
]


@pytest.mark.parametrize("indent", [0, 1, 3])
def test_json_is_written_as_the_module_does(indent: int) -> None:
    for value in VALUES:
        assert light.dumps(value, indent) == json.dumps(value, indent=indent or None), value
    assert light.dumps(float("nan")) == "NaN"
    deep: list = []
    for _ in range(300):
        deep = [deep]
    assert light.dumps(deep) == json.dumps(deep)
    with pytest.raises(TypeError):
        light.dumps(object())


def test_named_tuples_are_made_in_every_way() -> None:
    class Point(light.NamedTuple):
        x: int
        y: int = 2

    assert Point(1) == (1, 2) and Point(1, y=3).y == 3
    assert Point(x=4)._replace(y=5) == (4, 5) and Point(1)._asdict() == {"x": 1, "y": 2}
    for wrong in ((), (1, 2, 3)):
        with pytest.raises((TypeError, KeyError)):
            Point(*wrong)
    with pytest.raises(TypeError):
        Point(1, z=3)
    with pytest.raises(TypeError):
        Point(1, x=3)


TEXTS = [
    b"a = 1\r\nb = 2\r",
    b"",
    b"\xef\xbb\xbfx = 1\n",
    b"# coding: latin-1\nx = '\xe9'\n",
    b"#!x\n# -*- coding: cp1252 -*-\n\x80",
    "x = 'é'\n# coding: latin-1 in the third line\n".encode(),
    b"\n\n# coding: latin-1\n\xc3\xa9",
]


@pytest.mark.parametrize("data", TEXTS)
def test_text_is_what_python_reads(data: bytes) -> None:
    from importlib.util import decode_source

    assert decode(data) == decode_source(data)


@pytest.mark.parametrize("data", [b"x = '\xe9'\n", b"# coding: nothing\n"])
def test_what_is_no_text_is_told_as_python_tells_it(data: bytes) -> None:
    from importlib.util import decode_source

    with pytest.raises((SyntaxError, UnicodeDecodeError)) as expected:
        decode_source(data)
    with pytest.raises(expected.type) as found:
        decode(data)
    assert str(found.value) == str(expected.value)
