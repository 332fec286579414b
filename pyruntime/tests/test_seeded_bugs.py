"""Every seeded bug of `make mutants` still fits the file that it changes, and its tests are there."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
from seeded import MUTATIONS, Mutation  # noqa: E402


def names_in(file: Path) -> set[str]:
    """The names of a file's test functions."""
    return {node.name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=[mutation.name for mutation in MUTATIONS])
def test_a_seeded_bug_fits(mutation: Mutation) -> None:
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
    for test in mutation.tests:
        if test.startswith("cargo:"):
            name = test.rpartition("::")[2]
            sources = (ROOT / "pyruntime" / "src").rglob("*.rs")
            assert any(f"fn {name}(" in source.read_text(encoding="utf-8") for source in sources), test
            continue
        file, _, name = test.partition("::")
        path = ROOT / "pyruntime" / file
        assert path.exists() and (not name or name.partition("[")[0] in names_in(path)), test
