"""What a script takes from outside in a replay, and the record does not have."""

from __future__ import annotations

from collections.abc import Iterable

from ... import _native, state
from ...inputs import again, standard_input
from ...support.console import count


def inputs(unanswered: Iterable[str]) -> list[str]:
    """In words, one by one. `unanswered`: what other processes asked for."""
    missing = [
        f"{name} was called {times} more times than recorded: these got the present value"
        for name, times in sorted(_native.inputs_missing().items())
    ]
    missing += [
        f"an added statement called {name}, which gives the present value, not the recorded one"
        for name in _native.inputs_asked_now()
    ]
    if state.lost_orders[0]:
        missing.append(
            f"{count(state.lost_orders[0], 'set')} of objects that hash by their address: their order differs in each run"
        )
    return [*missing, *unanswered, *standard_input.noted, *dict.fromkeys(again.others)]
