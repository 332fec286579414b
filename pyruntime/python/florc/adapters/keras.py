"""What Keras keeps for the whole process: the generator of seeds for layers and functions that are given none, and how many
objects of each name were made."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MODULE = "keras.src.backend.common.global_state"
_SEEDS, _NAMES = "global_seed_generator", "object_name_uids"


def global_state() -> Any:
    """The module that keeps it; None where Keras is not imported, or computes with another library than torch."""
    found = sys.modules.get(_MODULE)
    backend = getattr(sys.modules.get("keras.src.backend"), "backend", None)
    return found if found is not None and callable(backend) and backend() == "torch" else None


def read(module: Any) -> list[Any]:
    """The state of the generator of seeds (two whole numbers), or None where nobody asked for one, and the counts by name."""
    kept = module.GLOBAL_STATE_TRACKER.__dict__  # of this thread
    seeds = kept.get(_SEEDS)
    state = None if seeds is None else [int(number) for number in seeds.state.value.tolist()]
    return [state, {str(name): int(count) for name, count in (kept.get(_NAMES) or {}).items()}]


def put(module: Any, state: list[int] | None, names: dict[str, int]) -> None:
    """As if the generator of seeds had come so far, and so many objects had been made."""
    kept = module.GLOBAL_STATE_TRACKER.__dict__
    if state is None:
        kept.pop(_SEEDS, None)
    else:
        if kept.get(_SEEDS) is None:
            sys.modules["keras.src.random.seed_generator"].global_seed_generator()
        torch: Any = sys.modules["torch"]
        value = kept[_SEEDS].state.value
        with torch.no_grad():
            value.copy_(torch.tensor(state, dtype=value.dtype))
    if kept.get(_NAMES) is None and names:
        import collections

        kept[_NAMES] = collections.defaultdict(int)
    if kept.get(_NAMES) is not None:
        kept[_NAMES].clear()
        kept[_NAMES].update(names)
