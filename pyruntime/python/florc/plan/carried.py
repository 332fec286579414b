"""What added statements carry from one iteration to a later one.

A replay that answers only for some iterations restores the blocks of those before. That is right when what an added
statement reads was computed in its own iteration, or was there when the run was recorded. It is not when the statements
add something up themselves (`norms.append(…)`), or read what an earlier iteration left behind. Everything here errs on
one side: what is not seen to be fresh is carried, and then the earlier iterations run again, too.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

_SUITES = ("body", "orelse", "finalbody", "handlers", "cases")
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LOOK = {"print", "len", "sum", "max", "min", "sorted", "str", "repr", "float", "int", "abs", "round", "list", "tuple"}
"""Functions that change no argument (an iterator aside)."""


def accumulates(tree: ast.Module, is_added: Callable[[int], bool]) -> bool:
    """Whether added statements (by line) keep something of their own from one iteration for another."""
    added = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and is_added(node.lineno)]
    names = {name for statement in added for name in _bound_in(statement)}
    return bool(names) and _lives_on(tree.body, names, frozenset(), frozenset(), is_added)


def _lives_on(
    suite: Sequence[ast.stmt], names: set[str], around: frozenset[str], here: frozenset[str], is_added: Callable[[int], bool]
) -> bool:
    """`here`: names bound before in this iteration and function; `around`: those bound outside it."""
    for statement in suite:
        for node in _own_nodes(statement) if is_added(statement.lineno) else ():
            if any(name not in here and (name not in around or changes) for name, changes in _uses(node, names)):
                return True
        # a loop that was added itself runs within one iteration of those that were there
        is_loop, is_scope = isinstance(statement, _LOOPS), isinstance(statement, _OWN_SCOPE)
        inside = frozenset(_targets(statement) & names)
        apart = is_loop and not is_added(statement.lineno) or is_scope
        for inner in suites_of(statement):
            if apart:
                outside = (around | here) - _bound_in(statement)
                found = _lives_on(inner, names, outside, inside, is_added)
            else:
                found = _lives_on(inner, names, around, here | inside, is_added)
            if found:
                return True
        here |= frozenset() if is_loop else inside
    return False


def _uses(node: ast.AST, names: set[str]) -> Iterator[tuple[str, bool]]:
    """The names that an expression or statement head reads, and whether the object may be changed by that."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in names:
        yield node.target.id, True
    looked_at = {id(part) for part in ast.walk(node) if isinstance(part, ast.Name)}
    for part in ast.walk(node):
        changed: list[ast.AST] = []
        if isinstance(part, ast.Call):
            by_name = isinstance(part.func, ast.Name) and part.func.id in _LOOK
            changed = [] if by_name else [part.func, *part.args, *(word.value for word in part.keywords)]
        elif isinstance(part, (ast.Attribute, ast.Subscript)) and not isinstance(part.ctx, ast.Load):
            changed = [part]
        for root in changed:
            while isinstance(root, (ast.Attribute, ast.Subscript, ast.Starred)):
                root = root.value
            if isinstance(root, ast.Name):
                looked_at.discard(id(root))
                if root.id in names:
                    yield root.id, True
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and id(part) in looked_at and part.id in names:
            yield part.id, False


def is_fresh(tree: ast.Module, line: int, name: str) -> bool:
    """Whether every run of the loop at `line` binds a name anew, and only what follows it there reads the name."""
    found = _find(tree, line)
    if found is None or "." in name or ":" in name:
        return False
    loop, suite, scope = found
    inside = {id(node) for statement in suite[suite.index(loop) :] for node in ast.walk(statement)}
    if any(id(node) not in inside for node in _reads(scope, name)):
        return False
    if name in _targets(loop):
        return True
    first = next((inner for inner in getattr(loop, "body", ()) if any(_mentions(inner, name))), None)
    value = getattr(first, "value", None)
    return name in _targets(first) and (value is None or not any(_mentions(value, name)))


def _reads(scope: ast.AST, name: str) -> Iterator[ast.Name]:
    """Where a scope, and the functions in it that see its names, read or unbind a name."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Store):
            yield node
        if not isinstance(node, _OWN_SCOPE) or not _is_local(node, name):
            yield from _reads(node, name)


def _is_local(function: ast.AST, name: str) -> bool:
    found = False
    for node in ast.walk(function):
        if isinstance(node, (ast.Global, ast.Nonlocal)) and name in node.names:
            return False
        found |= isinstance(node, ast.arg) and node.arg == name
        found |= isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    return found


def _mentions(node: ast.AST, name: str) -> Iterator[bool]:
    return (True for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == name)


def _find(tree: ast.Module, line: int) -> tuple[ast.stmt, Sequence[ast.stmt], ast.AST] | None:
    """The loop at a line, the suite that it is in, and the function or module around it."""
    pending: list[tuple[Sequence[ast.stmt], ast.AST]] = [(tree.body, tree)]
    while pending:
        suite, scope = pending.pop()
        for statement in suite:
            if isinstance(statement, _LOOPS) and statement.lineno == line:
                return statement, suite, scope
            inner = statement if isinstance(statement, _OWN_SCOPE) else scope
            pending += [(body, inner) for body in suites_of(statement)]
    return None


def function_of(tree: ast.Module, line: int) -> ast.AST:
    """The innermost function or class that a line is in, or the module."""
    found: ast.AST = tree
    for node in ast.walk(tree):  # outer ones come first
        if isinstance(node, _OWN_SCOPE) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    return found


def suites_of(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """The suites inside a compound statement."""
    for field in _SUITES:
        inner = getattr(statement, field, None)
        if not isinstance(inner, list):
            continue
        for part in inner:
            if isinstance(part, (ast.ExceptHandler, ast.match_case)):
                yield part.body
        if inner and isinstance(inner[0], ast.stmt):
            yield inner


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """What a statement evaluates itself, without the suites inside it."""
    if not any(suites_of(statement)):
        yield statement
        return
    for field, value in ast.iter_fields(statement):
        if field in _SUITES:
            continue
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.AST):
                yield node


def _targets(statement: ast.AST | None) -> set[str]:
    """Names that a statement binds whenever it runs."""
    roots: list[ast.AST] = []
    if isinstance(statement, ast.Assign):
        roots = list(statement.targets)
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None or isinstance(statement, (ast.For, ast.AsyncFor)):
        roots = [statement.target]
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        roots = [item.optional_vars for item in statement.items if item.optional_vars is not None]
        return _stored(roots).union(*(_targets(inner) for inner in statement.body))
    return _stored(roots)


def _stored(roots: list[ast.AST]) -> set[str]:
    return {
        node.id for root in roots for node in ast.walk(root) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _bound_in(statement: ast.stmt) -> set[str]:
    """Names that hold a value of an added statement; those of a comprehension end with it."""
    short = {id(node) for part in ast.walk(statement) if isinstance(part, ast.comprehension) for node in ast.walk(part.target)}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in short
    }
