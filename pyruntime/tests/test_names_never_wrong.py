"""No value under another's name: programs made at random print known values in every way; what florc names is what they hold."""

from __future__ import annotations

import io
import random
import sys
from types import CodeType

import pytest
from florc.answers.rows import RECORDED, Names, Printed

VALUES = {"a": 0.5, "b": 2.25, "c": "xy", "d": 17, "e": None, "f": 1e-7}
ENDS = ['end=" "', 'end=""', 'end=", "', 'end="\\n"', "end=e", 'end="; "', ""]


class Stream(io.TextIOBase):
    """Notes of each line which line of the program ended it."""

    def __init__(self, code: CodeType):
        self.code, self.begun, self.lines = code, "", list[tuple[int, int | None, str]]()
        self.begun_by: int | None = None

    def write(self, text: str) -> int:
        frame = sys._getframe(1)
        while frame.f_code.co_filename != self.code.co_filename:
            assert frame.f_back is not None
            frame = frame.f_back
        *whole, rest = (self.begun + text).split("\n")
        for line in whole:
            self.lines.append((frame.f_lineno, None if self.begun_by in (None, frame.f_lineno) else self.begun_by, line))
            self.begun_by = None
        if rest and self.begun_by is None:
            self.begun_by = frame.f_lineno
        self.begun = rest
        return len(text)


def statement(chance: random.Random) -> str:
    names = [chance.choice([*VALUES]) for _ in range(chance.randint(1, 2))]
    word = chance.choice(["w", "v ", "loss="])
    kind = chance.randrange(9)
    if kind < 4:
        texts = [repr(word)] * chance.randint(0, 1)
        return f"print({', '.join([*texts, *names, *filter(None, [chance.choice(ENDS)])])})"
    if kind == 4:
        return f"sys.stdout.write({word!r} + str({names[0]}){chance.choice(['', ' + ' + repr(chr(10))])})"
    if kind == 5:
        return f"sys.stdout.write(f'{word}{{{names[0]}}}{chance.choice([' ', chr(92) + 'n'])}')"
    if kind == 6:
        return f"[print({names[0]}, end=' ') for k in (1, 2)]"
    if kind == 7:
        return f"show({names[0]}{chance.choice(['', ', end=chr(32)'])})"
    return f"print(*[a, b], {names[0]})" if chance.random() < 0.5 else f"print({word!r}, *[{names[0]}])"


def program(chance: random.Random) -> str:
    lines = ["import sys", "def show(v, end=chr(10)): print(v, end=end)"]
    for _ in range(chance.randint(1, 5)):
        made = [statement(chance) for _ in range(chance.randint(1, 3))]
        shape = chance.randrange(4)
        if shape == 0:
            lines.append("; ".join(made))
        elif shape == 1:
            lines += [f"for q in range({chance.randint(1, 2)}):", *(f"    {one}" for one in made)]
        elif shape == 2:
            lines += ["if d:", *(f"    {one}" for one in made)]
        else:
            lines += made
    return "\n".join([*lines, "print()", ""])


@pytest.mark.parametrize("first", range(0, 3000, 500))
def test_a_name_has_the_value_of_its_expression(first: int) -> None:
    named = 0
    for seed in range(first, first + 500):
        text = program(random.Random(seed))
        code = compile(text, f"program-{seed}.py", "exec")
        stream, before = Stream(code), sys.stdout
        sys.stdout = stream  # type: ignore[assignment]  # what the program writes to
        try:
            exec(code, dict(VALUES))
        finally:
            sys.stdout = before
        names, seen = Names({code.co_filename: text}), dict[int, int]()
        for line, begun, printed in stream.lines:
            number = seen[line] = seen.get(line, -1) + 1
            found = names.values(Printed(code.co_filename, line, "", printed, RECORDED, begun_by=begun), number)
            for name, value in found.items():
                variable = name.partition("_")[0]
                if variable in VALUES:
                    named += 1
                    assert value == VALUES[variable], (seed, text, line, printed, found)
    assert named > 300
