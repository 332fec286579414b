"""Tells when somebody asks an optimizer for its state, by whatever way Python has.

While it is up, `torch.optim.Optimizer` has two descriptors: one named `state`, which comes before the attribute of the instance,
and one in place of its own `__dict__`, so that `vars`, `getattr`, pickling, copies, `step` and `state_dict` all pass here. It is
taken down when they have nothing to tell.
"""

from __future__ import annotations

import contextlib
import gc
import sys
from _thread import get_ident
from _weakref import ref

from ..support.static import dict_of, mro_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_UNSEEN = frozenset(
    [
        *("state", "__dict__", "__getattribute__", "__getstate__", "__reduce__", "__reduce_ex__"),
        *("__copy__", "__deepcopy__", "__del__"),
    ]
)
"""What a class may define that comes before the guard, or that reads an object past its attributes."""


class Guard:
    """Watches some optimizers. `asked` is called before anybody gets the state of one of them, and takes the guard down."""

    def __init__(self, asked: Callable[[], None]):
        self._asked = asked
        self._watched: dict[int, ref[Any]] = {}
        self._base: Any = None
        """The class that has the descriptors now."""
        self._names: dict[str, Any] = {}
        """The dict of that class, which Python shows as a read-only view."""
        self._own: Any = None
        """How an instance's attributes are read past the guard."""
        self._looking = 0
        """The thread in which florc itself looks, and sees nothing of what waits."""
        self._works: bool | None = None

    def watch(self, optimizer: Any) -> bool:
        """Whether from now on nobody gets the state of this optimizer unnoticed."""
        if not self.can_watch(type(optimizer)):
            return False
        self._watched[id(optimizer)] = ref(optimizer)
        self._put_up(sys.modules["torch"].optim.Optimizer)
        return True

    def can_watch(self, cls: type) -> bool:
        """Whether the objects of a class are optimizers that can be watched."""
        base = getattr(getattr(sys.modules.get("torch"), "optim", None), "Optimizer", None)
        mro = mro_of(cls)
        own = next((at for at, other in enumerate(mro) if other is base), None)
        if own is None or any(not _UNSEEN.isdisjoint(dict_of(other)) for other in mro[:own]):
            return False
        if self._works is None:
            self._works = self._is_heard(base)
        return self._works

    def take_down(self) -> None:
        """Watch nothing."""
        self._watched.clear()
        if self._base is not None:
            base, self._base = self._base, None
            self._names["__dict__"] = self._own
            del base.state  # this also makes Python look attributes of the class up again

    def attributes(self, optimizer: Any) -> dict[str, Any]:
        """The attributes of an optimizer, past the guard."""
        own: dict[str, Any] = self._own.__get__(optimizer) if self._base is not None else optimizer.__dict__
        return own

    @contextlib.contextmanager
    def lowered(self) -> Iterator[None]:
        """Around what florc does in this thread that runs no code of the user's, and asks no tensor what it holds."""
        before = self.lower()
        try:
            yield
        finally:
            self.raise_again(before)

    def lower(self) -> int:
        """`lowered` without a context: returns what `raise_again` is told."""
        before, self._looking = self._looking, get_ident()
        return before

    def raise_again(self, before: int) -> None:
        """What went on since `lower` is over."""
        self._looking = before

    def pass_by(self, obj: Any) -> None:
        """Somebody is about to get the attributes of an object, or its state."""
        if self._looking == get_ident():
            return
        held = self._watched.get(id(obj))
        if held is not None and held() is obj:
            self._asked()

    def _put_up(self, base: Any) -> None:
        if self._base is not None:
            return
        self._names = gc.get_referents(vars(base))[0]
        self._own = self._names["__dict__"]
        self._names["__dict__"] = _Attributes(self, self._own)
        base.state = _State(self, self._own)
        self._base = base

    def _is_heard(self, base: Any) -> bool:
        """Whether this Python asks the descriptors, in each way: it is not promised anywhere."""
        names = gc.get_referents(vars(base))
        if len(names) != 1 or type(names[0]) is not dict or "state" in names[0] or "__dict__" not in names[0]:
            return False
        if type(base) is not type or base.__mro__ != (base, object) or not getattr(sys, "_is_gil_enabled", lambda: True)():
            return False
        heard: list[str] = []
        trial: Any = object.__new__(base)
        object.__setattr__(trial, "state", 1)
        guard = Guard(lambda: heard.append(""))
        guard._works = True
        guard.watch(trial)
        ways: list[Callable[[], Any]] = [
            lambda: trial.state,
            lambda: trial.__dict__["state"],
            lambda: vars(trial)["state"],
            lambda: object.__getattribute__(trial, "__dict__")["state"],
            lambda: object.__getattribute__(trial, "state"),
        ]
        found = [way() for way in ways]
        with guard.lowered():
            silent = trial.state
        guard.take_down()
        return found == [1] * len(ways) and len(heard) == len(ways) and silent == 1 == trial.state and len(heard) == len(ways)


class _Attributes:
    """In place of the descriptor of `__dict__`."""

    def __init__(self, guard: Guard, own: Any):
        self._guard, self._own = guard, own

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        if obj is None:
            return self
        self._guard.pass_by(obj)
        return self._own.__get__(obj, cls)

    def __set__(self, obj: Any, value: Any) -> None:
        self._guard.pass_by(obj)
        self._own.__set__(obj, value)

    def __delete__(self, obj: Any) -> None:
        self._guard.pass_by(obj)
        self._own.__delete__(obj)


class _State:
    """The attribute `state` of instances, as if there were no descriptor of this name."""

    def __init__(self, guard: Guard, own: Any):
        self._guard, self._own = guard, own

    def __get__(self, obj: Any, cls: Any = None) -> Any:
        if obj is None:
            raise AttributeError(f"type object {cls.__name__!r} has no attribute 'state'")
        self._guard.pass_by(obj)
        try:
            return self._own.__get__(obj, cls)["state"]
        except KeyError:
            raise AttributeError(f"{type(obj).__name__!r} object has no attribute 'state'", name="state", obj=obj) from None

    def __set__(self, obj: Any, value: Any) -> None:
        self._guard.pass_by(obj)
        self._own.__get__(obj)["state"] = value

    def __delete__(self, obj: Any) -> None:
        self._guard.pass_by(obj)
        try:
            del self._own.__get__(obj)["state"]
        except KeyError:
            raise AttributeError("state") from None
