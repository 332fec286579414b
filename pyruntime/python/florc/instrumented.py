"""A file of the user to code: instrumented, with every position one of the user's file, and checked; or as it is."""

from __future__ import annotations

import ast
import warnings
from types import CodeType
from typing import Any, Callable, NamedTuple, Optional

from . import mishaps

ALIAS = "_florc"


class Original(NamedTuple):
    """The code of a file as it is."""

    code: CodeType
    warned: bool
    """Whether Python may have something to say about the file (`SyntaxWarning`) that it was kept from saying."""


class Compiled(NamedTuple):
    """What runs in the place of a file."""

    code: CodeType
    plan: Optional[str]
    """The plan of what was instrumented (JSON)."""
    left_alone: Optional[str]
    """Why the file runs as it is although there was something to instrument."""


def compile_original(text: str, file: str) -> Original:
    """Compile a file, without what Python warns of in it. Raises SyntaxError as Python does."""
    try:
        with _Quiet("error"):
            return Original(compile(text, file, "exec", dont_inherit=True), False)
    except SyntaxError:
        with _Quiet("ignore"):
            return Original(compile(text, file, "exec", dont_inherit=True), True)


class _Quiet:
    """No warning is shown; with "error" each is raised. The filter is put in place and is gone again: unlike
    `catch_warnings`, that makes no warning of the script appear a second time."""

    def __init__(self, action: str = "ignore"):
        self._entry = (action, None, Warning, None, 0)

    def __enter__(self) -> None:
        warnings.filters.insert(0, self._entry)  # type: ignore[attr-defined]

    def __exit__(self, *_: object) -> None:
        warnings.filters.remove(self._entry)  # type: ignore[attr-defined]


def compile_user_file(text: str, file: str, instrument: Callable[[], Any], original: Optional[Original] = None) -> Compiled:
    """Compile a file of the project, instrumented by `instrument()` (`_native.Instrumented`, or None). Only what Python itself
    says of the file is raised, and its warnings appear once."""
    original = original or compile_original(text, file)
    found = Compiled(original.code, None, None)
    try:
        emitted = instrument()
        if emitted is not None and emitted.changed:
            found = Compiled(compile_mapped(emitted, text, file), emitted.plan, None)
    except Altered:
        found = found._replace(left_alone="instrumenting it would change its syntax tree")
    except SyntaxError as error:
        found = found._replace(left_alone=str(error).strip())
    except Exception as error:
        mishaps.swallowed(f"instrumenting {file}", error)
        found = found._replace(left_alone=f"an error inside florc, {type(error).__name__}: {error}")
    if original.warned:
        compile(text, file, "exec", dont_inherit=True)
    return found



class Altered(Exception):
    """The emitted tree, stripped of florc's nodes, is not the user's tree."""


def compile_mapped(emitted: Any, original: str, filename: str) -> CodeType:
    """Compile what the compiler emitted (`_native.Instrumented`) under the user's file name.

    Tracebacks, `pdb`, warnings and `inspect.getsource` then see the user's file. Raises Altered when the two trees
    differ: the caller runs the original instead. `original` is text that Python accepts.
    """
    with _Quiet():
        tree = ast.parse(emitted.text, filename)
        _map_positions(tree, emitted)
        code = compile(tree, filename, "exec", dont_inherit=True)
        stripped = ast.dump(_Strip().visit(tree), include_attributes=True)
        if stripped != ast.dump(ast.parse(original, filename), include_attributes=True):
            raise Altered(filename)
    return code


def _map_positions(tree: ast.AST, emitted: Any) -> None:
    nodes = [node for node in ast.walk(tree) if hasattr(node, "lineno")]
    starts = emitted.map_positions([(node.lineno, node.col_offset) for node in nodes])
    ends = emitted.map_positions([(node.end_lineno, node.end_col_offset) for node in nodes])
    for node, (line, column), (end_line, end_column) in zip(nodes, starts, ends):
        node.lineno, node.col_offset = line, column
        node.end_lineno, node.end_col_offset = end_line, end_column


class _Strip(ast.NodeTransformer):
    """Takes florc's nodes out again, by their shape."""

    def visit_Import(self, node: ast.Import) -> Any:
        alias = node.names[0]
        is_ours = alias.name == "florc" and (alias.asname or "").startswith(ALIAS)
        return None if is_ours else node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if _runtime_call(node.test) == "step_into":
            return node.body[:-1]
        if _runtime_call(node.test) == "boundary":
            return None
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        return None if _runtime_call(node.value) == "begin" else self.generic_visit(node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if _runtime_call(node.iter) == "generator":
            node.iter = node.iter.args[1]
        return node

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        if isinstance(node.test, ast.BoolOp) and _runtime_call(node.test.values[0]) == "tick":
            node.test = node.test.values[1]
        return node

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        if _runtime_call(node.items[0].context_expr) == "probe":
            return node.body
        return node


def _runtime_call(node: ast.AST) -> str:
    """The last name of a call of the runtime, or an empty string."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return ""
    root = node.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return node.func.attr if isinstance(root, ast.Name) and root.id.startswith(ALIAS) else ""
