"""Which checkpoints hold gradients: all but those of blocks that clear each of them before anything reads it.

What a loop looks like says so to the compiler (`plan/gradients.rs`); whether all gradients that are there belong to the optimizer
that clears them is seen in each checkpoint only.
"""

from __future__ import annotations

import sys

from .. import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_kept: set[str] = set()
"""Blocks whose checkpoints hold gradients although their loops clear some."""


def kept_of(block: str, loop: _native.Loop) -> bool:
    """Whether the checkpoints of a block hold gradients, as far as is known before one is made."""
    return loop.gradients or block in _kept


def are_missing(block: str, walk: _native.Walk) -> bool:
    """Whether a checkpoint without gradients lacks one that may be read: of a tensor that its only optimizer does not train, or
    where there are several. Those of the block hold gradients from now on."""
    left = walk.left_gradients
    if not left:
        return False
    from ..state.owners import subclasses  # takes long to import

    base: Any = sys.modules["torch"].optim.Optimizer
    optimizers = _native.instances_of(walk.objects(), subclasses(base))
    if len(optimizers) == 1:
        trained = {id(tensor) for group in optimizers[0].param_groups for tensor in group["params"]}
        if all(id(walk.object(number)) in trained for number in left):
            return False
    _kept.add(block)
    return True
