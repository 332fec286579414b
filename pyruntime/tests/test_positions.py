"""P5 and P6: the emitted text compiles, and stripped of florc's nodes it is the original tree, positions included."""

from __future__ import annotations

import ast
import contextlib
import datetime
import dis
import importlib.util
import inspect
import os
import re
import sys
import sysconfig
import types
from pathlib import Path

import florc
import pytest
from florc import _native
from florc.project import positions, tree_positions
from florc.project.nameless import text_to_run

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
    """Whether the file was changed; fails when the trees differ, or the instructions and their positions."""
    emitted = _native.instrument(text, str(path))
    assert emitted.left_alone is None, (path, emitted.left_alone)
    if emitted.changed:
        tree_positions.check(emitted, text)
        if sys.version_info >= (3, 11):
            mapped = emitted.map_code(compile(text_to_run(emitted), str(path), "exec", dont_inherit=True))
            same_code(mapped, tree_positions.compile_mapped(emitted, str(path)))
    return bool(emitted.changed)


def same_code(ours: types.CodeType, oracle: types.CodeType) -> None:
    """The code that `map_code` makes of a code object is what Python makes of the tree with every position mapped: but for
    padding, for the column of the instruction that begins a function, and for two instructions on one line that CPython 3.13
    makes one (`STORE_FAST_LOAD_FAST`): two lines of an insertion are one line of the user's."""
    facts = ("co_name", "co_names", "co_varnames", "co_firstlineno", "co_flags", "co_freevars", "co_cellvars")
    assert [getattr(ours, name) for name in facts] == [getattr(oracle, name) for name in facts]
    assert instructions(ours) == instructions(oracle), ours
    inner = [[part for part in code.co_consts if isinstance(part, types.CodeType)] for code in (ours, oracle)]
    for one, other in zip(*inner, strict=True):
        same_code(one, other)


def instructions(code: types.CodeType) -> list:
    found = []
    for one in dis.get_instructions(code):
        if one.opname in ("NOP", "EXTENDED_ARG", "CACHE"):
            continue
        place = one.positions if one.opname != "RESUME" else one.positions.lineno
        is_jump = "JUMP" in one.opname or one.opname in ("FOR_ITER", "SEND")
        said = sorted(map(repr, one.argval)) if isinstance(one.argval, frozenset) else one.argrepr
        pair = re.fullmatch("((?:LOAD|STORE)_FAST)_((?:LOAD|STORE)_FAST)", one.opname)
        if pair is not None:
            found += [(name, place, what) for name, what in zip(pair.groups(), said.split(", "), strict=True)]
            continue
        found.append((one.opname, place, None if is_jump or isinstance(one.argval, types.CodeType) else said))
    return found


def test_every_fixture_keeps_its_tree() -> None:
    files = texts(TESTDATA, "*/*.py")
    assert len(files) > 20
    assert sum(instrument(path, text) for path, text in files) > 15


def test_the_standard_library_keeps_its_trees() -> None:
    """An eighth of it, another one each day; with FLORC_FULL all."""
    files = texts(STDLIB, "*.py") + texts(STDLIB, "asyncio/*.py") + texts(STDLIB, "email/*.py")
    part = slice(None) if "FLORC_FULL" in os.environ else slice(datetime.date.today().toordinal() % 8, None, 8)
    chosen = files[part]
    assert sum(instrument(path, text) for path, text in chosen) > 80 * len(chosen) / len(files) / 2


@pytest.mark.parametrize("constants", [3, 300])
def test_a_class_is_found_by_its_first_line(constants: int, tmp_path: Path) -> None:
    """Since 3.13 `inspect` reads it from a constant of the class; the body uses the same number, and may use many others."""
    name = f"classes_of_{constants}"
    text = f"""\
from unittest.mock import Mock
model, loader = Mock(), []
for epoch in range(2):
    for batch in loader:
        model.fit(batch)
@staticmethod
class Table:
    rows, lines = 6, [{", ".join(f"{n}.5" for n in range(constants))}, [].append]
    class Inner:
        lines = 9
"""
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    compiled = positions.compile_user_file(text, str(path), lambda: _native.instrument(text, str(path)))
    assert compiled.left_alone is None and compiled.plan is not None
    module = sys.modules[name] = types.ModuleType(name)
    module.__file__ = str(path)
    exec(compiled.code, vars(module))
    table = module.Table.__func__
    assert inspect.getsource(table).splitlines() == text.splitlines()[5:]
    assert inspect.getsource(table.Inner).splitlines()[0].split() == ["class", "Inner:"]
    assert (table.rows, len(table.lines), table.Inner.lines) == (6, constants + 1, 9)
    if sys.version_info >= (3, 13):
        raw = compile(_native.instrument(text, str(path)).text, str(path), "exec")
        with pytest.raises(ValueError, match="too many") if constants > 255 else contextlib.nullcontext():
            _native.instrument(text, str(path)).map_code(raw)
        assert (table.__firstlineno__, table.Inner.__firstlineno__) == (6, 9)


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

    with pytest.raises(tree_positions.Altered):
        tree_positions.check(Wrong(), text)


def test_the_package_has_every_name_that_emitted_code_uses() -> None:
    for name in _native.RUNTIME_NAMES:
        found = florc
        for part in name.split("."):
            found = getattr(found, part)


def test_without_a_session_instrumented_code_does_the_plain_thing(capsys: pytest.CaptureFixture) -> None:
    text = """
import time
total = 0
for epoch in range(2):
    for step in map(int, "12"):
        time.sleep(0)
        total += step
    print(epoch, total)
"""
    emitted = _native.instrument(text, "plain.py")
    assert emitted.changed
    exec(compile(emitted.text, "plain.py", "exec"), {"__name__": "plain"})
    assert capsys.readouterr().out == "0 3\n1 6\n"
