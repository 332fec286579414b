"""`florc.log`: a log statement with a name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def log(name: str, value: Any) -> None:
    """Print a value under a name: `loss 0.25`, on a line of its own. `florc.logs` and `florc logs` find it by that name.

    It is a log statement like `print`: it may be added in hindsight, and serves without florc's commands, too.
    """
    print(name, value)
