"""`florc.record(…)`, `florc.replay(…)` and `florc.runs()` are functions of the public interface, and packages have these names,
too: called, such a package is the function of its name in `answers/api.py`. `__init__.pyi` has what type checkers read."""

import sys

from .apart import OWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_WHERE = "florc.answers.api"


class _Called(type(sys)):  # type: ignore[misc]  # the type of modules
    def __call__(self, *given: "Any", **named: "Any") -> "Any":
        OWN["__import__"](_WHERE)  # of all that is here, the interface is imported last
        return getattr(sys.modules[_WHERE], self.__name__.rpartition(".")[2])(*given, **named)


def make_callable(name: str) -> None:
    """Of a package of florc's that is being imported."""
    sys.modules[name].__class__ = _Called
