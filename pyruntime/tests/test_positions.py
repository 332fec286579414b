"""P5 and P6: the emitted text compiles, and stripped of florc's nodes it is the original tree, positions included."""

from __future__ import annotations

import ast
import importlib.util
import sysconfig
from pathlib import Path

import florc
import pytest
from florc import _native, instrumented

TESTDATA = Path(__file__).resolve().parents[2] / "testdata"
STDLIB = Path(sysconfig.get_path("stdlib"))


def texts(root: Path, pattern: str) -> list:
    found = []
    for path in sorted(root.glob(pattern)):
        try:
            text = importlib.util.decode_source(path.read_bytes())
            ast.parse(text)
        except (SyntaxError, UnicodeDecodeError, ValueError):
            continue
        found.append((path, text))
    return found


def instrument(path: Path, text: str) -> bool:
    """Whether the file was changed; fails when the trees differ."""
    emitted = _native.instrument(text, str(path))
    if emitted.changed:
        instrumented.compile_mapped(emitted, text, str(path))
    return bool(emitted.changed)


def test_every_fixture_keeps_its_tree() -> None:
    files = texts(TESTDATA, "*/*.py")
    assert len(files) > 20
    assert sum(instrument(path, text) for path, text in files) > 15


def test_the_standard_library_keeps_its_trees() -> None:
    files = texts(STDLIB, "*.py") + texts(STDLIB, "asyncio/*.py") + texts(STDLIB, "email/*.py")
    assert sum(instrument(path, text) for path, text in files) > 80


@pytest.mark.parametrize("wrong", ["shifted line", "dropped statement"])
def test_an_altered_tree_is_noticed(wrong: str) -> None:
    text = "for epoch in range(3):\n    for batch in loader:\n        model.fit(batch)\n    print(epoch)\n"
    emitted = _native.instrument(text, "train.py")

    class Wrong:
        def __init__(self) -> None:
            self.text = emitted.text if wrong == "shifted line" else emitted.text.replace("model.fit(batch)", "pass")

        def map_positions(self, positions: list) -> list:
            moved = 1 if wrong == "shifted line" else 0
            return [(line + moved, column) for line, column in emitted.map_positions(positions)]

    with pytest.raises(instrumented.Altered):
        instrumented.compile_mapped(Wrong(), text, "train.py")


def test_the_package_has_every_name_that_emitted_code_uses() -> None:
    for name in _native.RUNTIME_NAMES:
        found = florc
        for part in name.split("."):
            found = getattr(found, part)


def test_without_a_session_instrumented_code_does_the_plain_thing(capsys: pytest.CaptureFixture) -> None:
    text = "total = 0\nfor epoch in range(2):\n    for step in map(int, '12'):\n        total += step\n    print(epoch, total)\n"
    exec(compile(_native.instrument(text, "plain.py").text, "plain.py", "exec"), {"__name__": "plain"})
    assert capsys.readouterr().out == "0 3\n1 6\n"
