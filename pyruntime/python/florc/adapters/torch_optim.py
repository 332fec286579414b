"""Gradient scalers of torch, which it has had in three places."""

from __future__ import annotations

from ..support.static import module_of, mro_of, name_of


def is_grad_scaler(cls: type) -> bool:
    """Whether a class is, or derives from, torch's own `GradScaler`."""
    return any(name_of(base) == "GradScaler" and module_of(base).startswith("torch.") for base in mro_of(cls))
