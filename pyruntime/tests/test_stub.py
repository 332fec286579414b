"""`_native.pyi` says of the native module what is there: every name, every signature, and a sentence for each."""

from __future__ import annotations

import ast
import importlib.metadata
import inspect
from pathlib import Path
from typing import Any

import florc
import pytest
from florc import _native

STUB = Path(florc.__file__).with_name("_native.pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))
INHERITED = {"__doc__", "__module__", "__weakref__", "__dict__"}


def said(body: list[ast.stmt]) -> dict[str, ast.stmt]:
    """The definitions of a module or a class by name; of a property the getter. Names with one underscore are the stub's own."""
    found: dict[str, ast.stmt] = {}
    for node in body:
        name = getattr(node, "name", None) or (ast.unparse(node.target) if isinstance(node, ast.AnnAssign) else None)
        if name is not None and (name.startswith("__") or not name.startswith("_")):
            found.setdefault(name, node)
    return found


def names_of(kind: type) -> set[str]:
    """The names that a native class defines itself, as a stub spells them."""
    spelled = {"__new__": "__init__", "__getattribute__": "__getattr__"}
    return {spelled.get(name, name) for name in vars(kind)} - INHERITED


def signature_of(function: ast.FunctionDef) -> inspect.Signature:
    """Names, kinds and defaults, without types."""
    plain = ast.parse(ast.unparse(function)).body[0]
    assert isinstance(plain, ast.FunctionDef)
    for node in ast.walk(plain):
        if isinstance(node, ast.arg):
            node.annotation = None
    names: dict[str, Any] = {}
    plain.returns, plain.decorator_list, plain.body = None, [], [ast.Pass()]
    exec(compile(ast.fix_missing_locations(ast.Module([plain], [])), "stub", "exec"), names)
    return inspect.signature(names[function.name])


def agree(stub: ast.stmt, native: Any, where: str, is_method: bool = False) -> None:
    assert isinstance(stub, ast.FunctionDef), where
    if not getattr(native, "__text_signature__", None):  # made without pyo3, or with no arguments that Python knows of
        return
    expected = list(inspect.signature(native, follow_wrapped=False).parameters.values())
    found = list(signature_of(stub).parameters.values())
    assert [p.name for p in found][is_method:] == [p.name for p in expected if p.name != "self"], where
    own = [p for p in expected if p.name != "self"]
    for one, other in zip(found[is_method:], own):
        assert one.kind == other.kind, f"{where}({one.name})"
        assert (one.default is one.empty) == (other.default is other.empty), f"{where}({one.name})"
        assert ... in (one.default, other.default) or one.default == other.default, f"{where}({one.name})"


def test_every_name_of_the_module_is_there() -> None:
    """Also those that it makes when they are asked for."""
    assert {name for name in dir(_native) if not name.startswith("__")} <= set(said(TREE.body))
    assert all(hasattr(_native, name) for name in said(TREE.body)) and not hasattr(_native, "Late")


@pytest.mark.parametrize("name", sorted(said(TREE.body)))
def test_what_is_said_of_a_name_is_so(name: str) -> None:
    stub, native = said(TREE.body)[name], getattr(_native, name)
    if isinstance(stub, ast.AnnAssign):
        assert not callable(native)
        return
    assert ast.get_docstring(stub), f"{name} has no docstring"
    if not isinstance(stub, ast.ClassDef):
        return agree(stub, native, name)
    assert isinstance(native, type)
    bases = [ast.unparse(base) for base in stub.bases] or ["object"]
    assert bases == [base.__name__ for base in native.__bases__]
    members = said(stub.body)
    assert set(members) == names_of(native), name
    if "__init__" in members:
        agree(members["__init__"], native, name, is_method=True)
    for member, node in members.items():
        assert isinstance(node, ast.FunctionDef)
        where, decorators = f"{name}.{member}", [ast.unparse(decorator) for decorator in node.decorator_list]
        found = inspect.getattr_static(native, "__getattribute__" if member == "__getattr__" else member, None)
        assert ("property" in decorators) == (inspect.isgetsetdescriptor(found) or inspect.ismemberdescriptor(found)), where
        assert member.startswith("__") or ast.get_docstring(node), f"{where} has no docstring"
        if not member.startswith("__"):
            agree(node, found, where, is_method=True)


def test_the_wheel_has_both_files() -> None:
    files = {str(file) for file in importlib.metadata.files("florc") or ()}
    assert {"florc/_native.pyi", "florc/py.typed"} <= files
