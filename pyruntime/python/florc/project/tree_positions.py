"""Instrumented text to a code object by way of its tree: for CPython 3.10, whose code objects know no columns, and as the
independent check of `Instrumented.map_code` that the tests make."""

from __future__ import annotations

import ast
from types import CodeType
from typing import TYPE_CHECKING, Any

from .nameless import text_to_run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .. import _native

ALIAS = "_florc"


class Altered(Exception):
    """The emitted tree, stripped of florc's nodes, is not the user's tree."""


def compile_mapped(emitted: _native.Instrumented, filename: str) -> CodeType:
    """Compile what the compiler emitted (`_native.Instrumented`) under the user's file name.

    Tracebacks, `pdb`, warnings and `inspect.getsource` then see the user's file.
    """
    return compile_changed(emitted, filename, lambda _: None)


def compile_changed(emitted: _native.Instrumented | str, filename: str, change: Callable[[ast.Module], None]) -> CodeType:
    """Compile a file, instrumented or as it is, after `change` changed its tree in place, where every position is one of the
    user's file."""
    if isinstance(emitted, str):
        tree = ast.parse(emitted, filename)
    else:
        tree = ast.parse(text_to_run(emitted), filename)
        _map_positions(tree, emitted)
    change(tree)
    return compile(tree, filename, "exec", dont_inherit=True)


def compile_shown(
    emitted: _native.Instrumented | str, filename: str, shown: Mapping[tuple[int, int], int], hook: str
) -> CodeType:
    """Compile a notebook's program, instrumented or as it is: the value of each expression statement at one of these positions
    (line and column of the user's text) is handed to `hook`, as the prompt of Python hands it to `sys.displayhook`. That call
    stands on another line, which is given: what it prints is not what the statement itself prints."""

    def show(tree: ast.Module) -> None:
        for node in ast.walk(tree):
            head = shown.get((node.lineno, node.col_offset)) if isinstance(node, ast.Expr) else None
            if isinstance(node, ast.Expr) and head is not None:
                there = {"lineno": head, "end_lineno": head, "col_offset": 0, "end_col_offset": 1}
                node.value = ast.Call(ast.Name(hook, ast.Load(), **there), [node.value], [], **there)

    return compile_changed(emitted, filename, show)


def check(emitted: _native.Instrumented, original: str) -> None:
    """Raise Altered when the emitted tree, stripped of florc's nodes, is not that of `original`, as CPython's own parser has
    both."""
    tree = ast.parse(emitted.text)
    _map_positions(tree, emitted)
    stripped = ast.dump(_Strip().visit(tree), include_attributes=True)
    if stripped != ast.dump(ast.parse(original), include_attributes=True):
        raise Altered


def _map_positions(tree: ast.AST, emitted: _native.Instrumented) -> None:
    nodes: list[Any] = [node for node in ast.walk(tree) if hasattr(node, "lineno")]
    starts = emitted.map_positions([(node.lineno, node.col_offset) for node in nodes])
    ends = emitted.map_positions([(node.end_lineno, node.end_col_offset) for node in nodes])
    for node, (line, column), (end_line, end_column) in zip(nodes, starts, ends):
        node.lineno, node.col_offset = line, column
        node.end_lineno, node.end_col_offset = end_line, end_column


class _Strip(ast.NodeTransformer):
    """Takes florc's nodes out again, by their shape."""

    def visit_Import(self, node: ast.Import) -> ast.AST | None:
        alias = node.names[0]
        is_ours = alias.name == "florc" and (alias.asname or "").startswith(ALIAS)
        return None if is_ours else node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt] | None:
        self.generic_visit(node)
        if _runtime_call(node.test) == "step_into":
            return node.body[:-1]
        if _runtime_call(node.test) == "boundary":
            return None
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _runtime_call(node) == "probed" and isinstance(node.args[1], ast.Lambda):
            return node.args[1].body
        return node.args[0] if _runtime_call(node) == "observed" else node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if _runtime_call(node.value) in ("begin", "entered", "left") else self.generic_visit(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if _runtime_call(node.iter) == "loop":
            return node.body
        if isinstance(node.iter, ast.Call) and _runtime_call(node.iter) == "generator":
            node.iter = node.iter.args[1]
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.test, ast.BoolOp) and _runtime_call(node.test.values[-1]) == "over":
            ticked = node.test.values[0]
            node.test = ticked.values[1] if isinstance(ticked, ast.BoolOp) else ticked
        return node

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
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
