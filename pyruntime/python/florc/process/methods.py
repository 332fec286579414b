"""Methods of a library's class that florc is called around."""

from __future__ import annotations

import sys

from .. import _native
from ..support import mishaps
from ..support.light import OWN
from .start import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def around(module: str, owner: str, name: str, call: Callable[..., Any], what: str) -> None:
    """From now on, or when the module has been imported, a method of its class `owner` is `call(original, …)`. `what`: what
    florc does so, in words. Where it cannot, in another version of the library, the script's import goes on."""
    after_import(module, lambda: _put(module, owner, name, call, what))


def _put(module: str, owner: str, name: str, call: Callable[..., Any], what: str) -> None:
    with mishaps.Swallow(what):
        of = getattr(sys.modules[module], owner)
        original = getattr(of, name)

        def instead(*args: Any, **options: Any) -> Any:
            return call(original, *args, **options)

        setattr(of, name, _native.Redirect(original, instead, f"{owner}.{name}", module, OWN, True))
