"""What a replay makes of the form of a tensor or an array that no checkpoint holds (`record/dead_values.py`): an answer to
`outputs.shape`."""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import Any

_OF_FORM = frozenset({"shape", "dtype", "ndim", "size", "numel", "nelement", "dim", "itemsize", "element_size"})
"""Attributes and methods that the form of a tensor or array answers."""


def stand_in(form: tuple[str, list[int], str]) -> Any:
    """What answers for the form of a tensor or an array, and takes no memory. Raises where the library is not there."""
    library, shape, dtype = form
    if library == "torch":
        import torch

        return torch.empty(shape, dtype=getattr(torch, dtype), device="meta")
    import numpy

    return numpy.broadcast_to(numpy.zeros((), numpy.dtype(dtype)), shape)


def asks_for_form_only(tree: ast.Module, added: Container[int], name: str) -> bool:
    """Whether the statements that begin at these lines read nothing of `name` but its form (`x.shape`, `x.size(0)`, `len(x)`)."""
    fine, met = set(), []
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or statement.lineno not in added:
            continue
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and node.attr in _OF_FORM and isinstance(node.ctx, ast.Load):
                fine.add(id(node.value))
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in ("locals", "globals", "vars", "eval", "exec"):
                    return False
                fine.update(id(arg) for arg in node.args if node.func.id == "len")
            elif isinstance(node, ast.Name) and node.id == name:
                met.append(node)
    return all(id(node) in fine and isinstance(node.ctx, ast.Load) for node in met)
