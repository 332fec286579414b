"""Whether a generator does something when it is dropped where it waits: Python then raises GeneratorExit there.

Since Python 3.11, the code object says which handler a place is in. Nothing runs where there is none, where the handler only goes
on raising (the end of an `except` block), and where it is an `except StopIteration`, which GeneratorExit is not. All else counts
as running code: a `with`, a `finally`, an `except` of another class; before 3.11, any handler in the function.
Test: tests/state/test_ends.py."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dis import Instruction
    from types import GeneratorType
    from typing import Any

_OF_HANDLERS = ("PUSH_EXC_INFO", "SETUP_FINALLY", "SETUP_WITH")
"""What code begins its handlers with, of `with`, `try` and `finally`: since Python 3.11, and before."""
_PASSES_ON = ("COPY", "POP_EXCEPT", "CALL_INTRINSIC_1", "NOP")
"""What stands between a handler that does nothing and its RERAISE: the exception that was handled before is put back, and a
StopIteration would become a RuntimeError."""
_DEEPEST = 20
"""Handlers around one another; more count as running code."""


def runs_code(generator: GeneratorType[Any, Any, Any]) -> bool:
    """Whether to drop a generator that waits runs code of its function."""
    import opcode

    code, frame = generator.gi_code, generator.gi_frame
    handlers = {opcode.opmap.get(name) for name in _OF_HANDLERS}
    if frame is None or not any(number in handlers for number in code.co_code[::2]):
        return False
    if sys.version_info < (3, 11):
        return True
    import dis

    listed = dis.Bytecode(code)
    entries: Any = getattr(listed, "exception_entries", None)
    if entries is None:
        return True
    instructions = list(listed)
    at: int | None = frame.f_lasti
    for _ in range(_DEEPEST):
        found = next((entry for entry in entries if entry.start <= at < entry.end), None)
        if found is None:
            return False
        start = next(n for n, instruction in enumerate(instructions) if instruction.offset == found.target)
        at = _raises_again(instructions, start, frame.f_globals, frame.f_builtins)
        if at is None:
            return True
    return True


def _raises_again(instructions: list[Instruction], number: int, own: dict[str, Any], builtins: dict[str, Any]) -> int | None:
    """Where a handler, from its so many-th instruction on, goes on raising; None if it does something before."""
    first, *others = instructions[number : number + 4]
    if first.opname == "PUSH_EXC_INFO" and [other.opname for other in others[:2]] == ["LOAD_GLOBAL", "CHECK_EXC_MATCH"]:
        is_known = "StopIteration" not in own and builtins.get("StopIteration") is StopIteration
        jump = others[2]
        if (
            others[0].argval != "StopIteration"
            or not is_known
            or not jump.opname.startswith("POP_JUMP")
            or "FALSE" not in jump.opname
        ):
            return None
        number = next((n for n, instruction in enumerate(instructions) if instruction.offset == jump.argval), len(instructions))
    for instruction in instructions[number:]:
        if instruction.opname == "RERAISE":
            return instruction.offset
        if instruction.opname not in _PASSES_ON:
            return None
    return None
