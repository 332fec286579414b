"""Which environment variables the user's files name, and whether they are what they were. Their values are secrets: only a
hash, keyed with the user's key, is kept."""

from __future__ import annotations

import os
from _blake2 import blake2b

from ..process.launcher import OF_THE_MEETING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OWN = {"PYTHONHASHSEED", "FLORC_DIR", *OF_THE_MEETING}
"""Those that florc sets, or that name the store."""


def present(names: Iterable[str], key: bytes, environment: Mapping[str, str]) -> dict[str, str | None]:
    """Hash of the value of each; None where it is not set."""
    return {name: None if name not in environment else _hash(environment[name], key) for name in sorted(names)}


def changed(recorded: dict[str, str | None], key: bytes, environment: Mapping[str, str]) -> list[str]:
    """In words, which are not what they were."""
    now = present(recorded, key, environment)
    return [
        f"{name} is set" if recorded[name] is None else f"{name} is not set" if now[name] is None else f"{name} is another"
        for name in recorded
        if recorded[name] != now[name]
    ]


def _hash(value: str, key: bytes) -> str:
    return blake2b(os.fsencode(value), digest_size=16, key=key).hexdigest()
