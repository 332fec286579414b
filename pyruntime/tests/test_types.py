"""Types that no checker can compare with what is there: shapes of what the native half returns. And what is left unchecked."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import types
import typing
from pathlib import Path
from typing import Any, Literal

import florc
import pytest
from florc import _native
from florc.support import arguments

FLORC = Path(florc.__file__).parent
PLAN = """
import torch
total, lines = 0, []
for epoch in range(3):
    for i in range(4):
        total += helper(i)
        lines.append(total)
    while total < 5:
        total += 1
net = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in range(5):
    net(batch).sum().backward()
    optimizer.step()
"""


def fields(file: str, name: str) -> tuple[set[str], set[str]]:
    """The keys that a typed dict in a file may have, and those that it must have."""
    for node in ast.walk(ast.parse((FLORC / file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and node.name == name:
            own = {
                n.target.id: n.annotation for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
            }
            bases = [fields(file, base.id) for base in node.bases if isinstance(base, ast.Name) and base.id != "TypedDict"]
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name and isinstance(node.value, ast.Call):
            table = node.value.args[1]
            assert isinstance(table, ast.Dict)
            own, bases = {ast.literal_eval(k): v for k, v in zip(table.keys, table.values) if k is not None}, []
        else:
            continue
        must = {key for key, kind in own.items() if not ast.unparse(kind).startswith("NotRequired")}
        return set(own).union(*(every for every, _ in bases)), must.union(*(needed for _, needed in bases))
    raise LookupError(name)


def has_the_shape(found: dict[str, Any], file: str, name: str, may_have_more: bool = False) -> None:
    every, must = fields(file, name)
    assert must <= set(found), name
    assert may_have_more or set(found) <= every, name


RECORDED = """
import json, sys, time
from florc import _native
recorder = _native.Recorder(sys.argv[1], "run", max_staging=1 << 26)
staged = recorder.submit("{}", b"graph", [b"leaf"])
cloned = recorder.fork(1 << 10, lambda: ("now", "refused"))
totals = recorder.close()
done = [{name: getattr(one, name) for name in dir(one) if not name.startswith("_")} for one in recorder.poll()]
print(json.dumps([staged, cloned, totals, done]))
"""


def test_what_a_recorder_returns_is_as_the_stub_has_it(tmp_path: Path) -> None:
    """In a process of its own: one that has threads has no writer, and no child."""
    words = [sys.executable, "-c", RECORDED, str(tmp_path / ".florc")]
    staged, cloned, totals, done = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    has_the_shape(staged, "_native.pyi", "_Staged")
    has_the_shape(cloned, "_native.pyi", "_Cloned")
    has_the_shape(totals, "_native.pyi", "_Totals")
    assert [one["refusal"] for one in done] == [None, "now"]
    assert all(fits(one[name], kind) for one in done for name, kind in properties("Done").items())


def test_events_are_named_by_text() -> None:
    tree = ast.parse((FLORC / "_native.pyi").read_text(encoding="utf-8"))
    (listen,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "listen")
    said = ast.unparse(listen.args.args[0].annotation or ast.Constant(None))
    with pytest.raises(TypeError):
        _native.listen([b"open"], print)  # type: ignore[list-item]  # what it is not called with
    assert said == "list[str]"


@pytest.mark.parametrize(
    "words", ["record train.py", "replay train.py", "verify", "runs", "check", "rm one", "gc"], ids=lambda words: words.split()[0]
)
def test_a_command_is_given_what_its_type_says(words: str) -> None:
    code, text = _native.command_line(["florc", *words.split()])
    assert code is None and text is not None
    kind = getattr(arguments, words.split()[0].capitalize())
    assert set(json.loads(text)) == set(kind.__annotations__)


STUB = {node.name: node for node in ast.parse((FLORC / "_native.pyi").read_text()).body if isinstance(node, ast.ClassDef)}
KINDS: dict[str, Any] = {"Any": Any, "Literal": Literal, **{name: getattr(_native, name, None) for name in STUB}}


STORES = Path(__file__).resolve().parents[2] / "testdata" / "stores"
OTHERWISE = {
    "block": {"kept"},
    "checkpoint": {"chunks", "dead", "seconds"},
    "folder": {"names"},
    "inputs": {"taken"},
    "lines": {"lines"},
    "plan": {"plan", "loops"},
}
"""Fields that nothing reads, and those that are another type in Python than in JSON."""


def properties(name: str) -> dict[str, Any]:
    """What each property of a native class gives, as the stub has it."""
    nodes = [node for node in STUB[name].body if isinstance(node, ast.FunctionDef) and node.returns is not None]
    own = [node for node in nodes if "property" in map(ast.unparse, node.decorator_list)]
    return {node.name: eval(ast.unparse(node.returns), KINDS) for node in own if node.returns is not None}


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type, and all that it holds; of native classes also what each property gives."""
    inner = typing.get_args(kind)
    origin = typing.get_origin(kind) or kind
    if origin is Any:
        return True
    if origin in (types.UnionType, typing.Union):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if kind in (None, type(None)):
        return value is None
    if type(value) is not origin:
        return False
    if origin is dict:
        return all(fits(key, inner[0]) and fits(held, inner[1]) for key, held in value.items())
    if origin is tuple and inner[-1] is not ...:
        return len(value) == len(inner) and all(map(fits, value, inner))
    if inner:
        return all(fits(held, inner[0]) for held in value)
    if origin.__module__ == "florc._native":
        for name, held in properties(origin.__name__).items():
            assert fits(getattr(value, name), held), (origin, name)
    return True


def test_a_plan_and_what_changed_hold_what_their_types_say() -> None:
    plan = _native.instrument(PLAN, "train.py").plan
    assert len(plan.loops) == 4 and fits(plan, _native.Plan) and fits(plan.functions("train.py"), dict[int, _native.Function])
    assert any(loop.places for loop in plan.loops) and any(loop.note for loop in plan.loops)
    assert any(loop.start and loop.start.id == f"{loop.id}@" and loop.start.places for loop in plan.loops)
    project = _native.Project(lambda name: None)
    project.add("__main__", "", "train.py", PLAN.replace("total += 1", "total += 2; print(total)"))
    made = _native.Comparison([("__main__", "", "train.py", PLAN)], project, []).instrument("train.py")
    assert made is not None and fits(made.changes, _native.Changes) and made.changes is not None
    assert {change.kind for change in made.changes.changes} == {"probe", "outside"}


def test_every_entry_of_a_journal_is_what_its_type_says() -> None:
    """Of each kind, of runs of earlier versions and as this one writes it: no field is lost on the way."""
    seen: dict[str, int] = {}
    for run in sorted(STORES.glob("*/store/runs/*")):
        for kind, text in _native.RunReader(str(run.parents[1]), run.name).records():
            record, payload = _native.read_record(kind, text), json.loads(text)
            if kind == "run":
                assert record is None
                continue
            assert record is not None and fits(record, type(record)), (kind, text)
            same = [name for name in payload if getattr(record, name, None) == payload[name]]
            assert set(payload) - set(same) <= OTHERWISE.get(kind, set()), (kind, text)
            seen[kind] = seen.get(kind, 0) + 1
    assert len(seen) >= 15, seen


@pytest.mark.parametrize("text", ["[]", "{", '{"path": 3, "at": 0}', '{"path": "L1=0"}', '{"path": "L1=0", "at": "now"}'])
def test_an_entry_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        _native.read_record("iteration", text)


def test_what_no_checker_looks_at_has_a_reason() -> None:
    found = [
        line for path in FLORC.rglob("*.py") for line in path.read_text(encoding="utf-8").splitlines() if "type: ignore" in line
    ]
    assert found
    for line in found:
        assert re.search(r"# type: ignore\[[a-z, -]+\]  # (\S+ ){3,}\S+$", line), line
