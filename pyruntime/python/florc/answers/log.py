"""`florc.log`: a log statement with a name."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def log(name: str, value: Any) -> None:
    """Print a value under a name: `loss 0.25`, on a line of its own. `florc.logs` and `florc logs` find it by that name.

    It is a log statement like `print`: it may be added in hindsight, and serves without florc's commands, too.
    """
    torch: Any = sys.modules.get("torch")
    if torch is not None and issubclass(type(value), torch.Tensor) and value.numel() == 1:
        value = value.item()  # printed as a tensor, it has four digits
    print(name, value)
