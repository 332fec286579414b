"""Where added statements may hold objects of the script's."""

from __future__ import annotations

from typing import NamedTuple


class Holding(NamedTuple):
    """Where added statements may hold objects: names that they bind, those of them that nobody else mentions, and whether they
    may hold some otherwise, in attributes and lambdas."""

    names: frozenset[str] | set[str] = frozenset()
    own: frozenset[str] | set[str] = frozenset()
    otherwise: bool = False
