"""Every message that asks for attention has a code, and docs/messages.md explains each code that is used, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FLORC = ROOT / "pyruntime" / "python" / "florc"
PLAIN = ("interrupted", "  ", "a block that is restored may")
"""What Ctrl-C leads to, and lines that belong to one with a code."""

APART = ("support/console.py", "support/mishaps.py", "replay/parallel/workers.py", "replay/parallel/ranks.py")
"""What hands on lines that have their code already."""


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Where something is said or refused: the place, the name of the function, the call."""
    for path in sorted(FLORC.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func).rpartition(".")[2]
                if name in ("say", "Unusable"):
                    yield f"{path.relative_to(FLORC)}:{node.lineno}", name, node


def begins(argument: ast.expr) -> str:
    """The text that a message begins with, as far as it is written down."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def code_of(name: str, call: ast.Call) -> str | None:
    found = call.args[0] if name == "Unusable" else next((word.value for word in call.keywords if word.arg == "code"), None)
    if isinstance(found, ast.Constant):
        return str(found.value)
    return "" if found is not None else None  # `error.code`: of another message


def test_each_message_has_a_code_that_is_explained() -> None:
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (F\d{3}) \|", page, re.MULTILINE)
    explained = set(rows)
    assert len(rows) == len(explained), "a code has one meaning"
    used, without = set(), []
    for place, name, call in calls():
        code = code_of(name, call)
        must = name == "Unusable" or any(word.arg == "always" for word in call.keywords)
        if must and code is None and not begins(call.args[0]).startswith(PLAIN) and place.split(":")[0] not in APART:
            without.append(place)
        used |= {code} if code else set()
    assert not without, f"these messages have no code: {without}"
    assert used == explained


def test_the_codes_of_the_compiler_are_explained() -> None:
    rust = (ROOT / "compiler" / "src" / "diagnostics" / "mod.rs").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    assert set(re.findall(r'"(E\d{3})"', rust)) == set(re.findall(r"^\| (E\d{3}) \|", page, re.MULTILINE))
