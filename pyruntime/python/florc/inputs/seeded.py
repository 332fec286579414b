"""Generators that are seeded from the kernel's entropy: `random.seed()`, `numpy.random.RandomState()`, `torch.seed()`. What is
kept is the state that the generator had then; a replay gives it that state."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

_WORD = 8
"""Digits of one of a Mersenne twister's 32-bit words."""


def _text(words: Any) -> str:
    return "".join(f"{int(word):0{_WORD}x}" for word in words)


def _words(text: str) -> list[int]:
    return [int(text[at : at + _WORD], 16) for at in range(0, len(text), _WORD)]


def _of_python(generator: Any) -> str:
    return _text(generator.getstate()[1])


def _to_python(generator: Any, kept: str) -> Any:
    generator.setstate((3, tuple(_words(kept)), None))
    return generator


def _of_numpy(generator: Any) -> str:
    _, words, position, *_ = generator.get_state()
    return _text([*words, position])


def _to_numpy(generator: Any, kept: str) -> Any:
    *words, position = _words(kept)
    generator.set_state(("MT19937", words, position))
    return generator


def _module(name: str) -> Any:
    return sys.modules[name]


_HOW: dict[str, tuple[Callable[[Any], str], Callable[[Any, str], Any]]] = {
    "random.seed": (lambda _: _of_python(_module("random")), lambda _, kept: _to_python(_module("random"), kept) and None),
    "random.Random": (_of_python, lambda own, kept: _to_python(own(0), kept)),
    "numpy.random.seed": (
        lambda _: _of_numpy(_module("numpy.random")),
        lambda _, kept: _to_numpy(_module("numpy.random"), kept) and None,
    ),
    "numpy.random.RandomState": (_of_numpy, lambda own, kept: _to_numpy(own(0), kept)),
    "torch.random.seed": (str, lambda _, kept: _module("torch.random").manual_seed(int(kept)).initial_seed()),
}
"""Of what a call returned, what is kept; what the function, and what was kept, make of it."""


def encode(name: str, value: Any) -> str:
    """What is kept after a call that returned `value`; nothing of one that raised."""
    return "" if isinstance(value, BaseException) else _HOW[name][0](value)


def again(name: str, function: Callable[..., Any], kept: str) -> tuple[Callable[..., Any], bool, Callable[[Any], None]]:
    """What is called in the place of the function (`again.Again`)."""
    if not kept:
        return function, True, lambda value: None
    return lambda: _HOW[name][1](function, kept), False, lambda value: None
