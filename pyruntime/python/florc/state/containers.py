"""All builtin containers in one table each way."""

from __future__ import annotations

from . import mappings, sequences

ENCODERS = {**sequences.ENCODERS, **mappings.ENCODERS}
"""Exact class -> encoder(enc, object) -> node."""
KINDS = {**sequences.KINDS, **mappings.KINDS}
"""Kind of node -> Kind."""
