"""Every class of objects that a state can hold: how its objects are encoded, and how the nodes are put back.

A file that is not named here is not used; `classify` decides for classes that are recognised by their bases.
"""

from __future__ import annotations

from . import (
    arrays,
    boosters,
    by_name,
    containers,
    counting,
    data,
    ddp,
    dtensor,
    files,
    fsdp,
    generators,
    lapsed,
    loading,
    modules,
    objects,
    partials,
    positions,
    progress,
    references,
    sparse,
    tensors,
    thread_local,
    tracked,
)
from .kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .kinds import Encode

ENCODERS: dict[type, Encode] = {
    **containers.ENCODERS,
    **references.ENCODERS,
    **partials.ENCODERS,
    **generators.ENCODERS,
    **positions.ENCODERS,
    **counting.ENCODERS,
    **lapsed.ENCODERS,
    **files.ENCODERS,
}
"""Exact class -> encoder(enc, object) -> node."""
KINDS: dict[str, Kind] = {
    **containers.KINDS,
    **objects.KINDS,
    **tracked.KINDS,
    **thread_local.KINDS,
    **by_name.KINDS,
    **loading.KINDS,
    **positions.KINDS,
    **counting.KINDS,
    **lapsed.KINDS,
    **files.KINDS,
    **modules.KINDS,
    **ddp.KINDS,
    **fsdp.KINDS,
    **references.KINDS,
    **partials.KINDS,
    **data.KINDS,
    **boosters.KINDS,
    **tensors.KINDS,
    **sparse.KINDS,
    **dtensor.KINDS,
    **arrays.KINDS,
    **progress.KINDS,
    **generators.KINDS,
}
"""Kind of node -> how it is matched, made and filled."""
