"""What the log statements of a file write: texts and values in turn, each value by the name of its expression.

`print("lr", lr, norm.item())` writes a text and two values, `lr` and `norm`. The line that it printed is taken apart by that:
nothing is guessed from the line alone. Python's own `ast` reads the statements, as f-strings are more than the compiler's tree
holds of them."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

_LOGGERS = frozenset({"critical", "debug", "error", "exception", "info", "log", "warn", "warning"})
_OF_LOGGERS = frozenset({"exc_info", "extra", "stack_info", "stacklevel"})
"""Keywords that say how, and are no values."""
_BINDERS = frozenset({"bind", "new", "contextualize"})
"""Methods of loggers whose keywords are written with each message."""
_PRINTERS = frozenset({"echo", "print", "write"})
"""Methods that write what they are given, as `print` does or as one text: `accelerator.print`, `tqdm.write`."""
_LOOKS = frozenset({"cpu", "detach", "double", "float", "item", "numpy", "tolist"})
"""Methods that show the value of what they are called on: `norm.item()` is `norm`."""
_CONVERTERS = frozenset({"bool", "float", "int", "repr", "round", "str"})
"""Functions that do: `float(loss)` is `loss`."""
_CONVERSION = re.compile(r"%(?:\((\w+)\))?[-+ #0]*[\d*]*(?:\.[\d*]+)?[hlL]?([a-zA-Z%])")
"""A field of `"%s" % …`."""
_FIELD = re.compile(r"\{\{|\}\}|\{(\w*)[^{}]*\}")
"""A field of `str.format`."""
_MOST_NAME = 60
"""Characters of an expression that serves as a name."""


class Value(NamedTuple):
    """A value in a line, by its name."""

    name: str
    is_formatted: bool = False
    """Whether a format says how it is written: `{epoch:03d}`. Python itself writes no number `007`, nor `1_000`."""


Piece = str | Value
"""A text, or a value."""


class Template(NamedTuple):
    """What one statement writes, without the end of the line. `line`, `end_line`: of the file, 1-based."""

    line: int
    end_line: int
    pieces: tuple[Piece, ...]
    is_logged: bool = False
    """Whether a logger is told it, which puts more around it."""
    is_error: bool | None = None
    """Whether it goes to standard error; None where the statement does not say."""
    keys: tuple[str, ...] = ()
    """Values that a logger is told by keyword, which it writes beside the message: structlog's, those of `extra`."""
    is_framed: bool = False
    """Whether it stands between a time and a place: what `Console.log` of rich writes."""

    @property
    def names(self) -> list[str]:
        """The names of its values, in their order."""
        return [*(piece.name for piece in self.pieces if isinstance(piece, Value)), *self.keys]


def templates(text: str) -> list[Template]:
    """Those of the statements of a file that write values. A file that Python cannot read has none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            pieces, is_framed = pieces_of(node), _is_framed(node)
            is_logged = (
                not is_framed
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in _LOGGERS
                and ast.unparse(node.func) != "florc.log"
            )
            keys = _keys(node) if is_logged and pieces is not None else ()
            if pieces is not None and (keys or any(isinstance(piece, Value) for piece in pieces)):
                end = node.end_lineno or node.lineno
                errs = None if is_logged else is_error(node)
                found.append(Template(node.lineno, end, joined(pieces), is_logged, errs, keys, is_framed))
    return sorted(found, key=lambda template: (template.line, template.end_line))


def of_shown(line: int, expression: str) -> Template | None:
    """What a cell of a notebook shows that ends with an expression, as Python writes it; None where that has no values."""
    try:
        shown = ast.parse(expression, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    several = shown.elts if isinstance(shown, ast.Tuple) else None
    pieces: list[Piece] = ["("] if several is not None else []
    pieces += _of_objects([shown] if several is None else several, ", ")
    pieces += [] if several is None else [",)" if len(several) == 1 else ")"]
    return Template(line, line, joined(pieces)) if any(isinstance(piece, Value) for piece in pieces) else None


def _of_objects(shown: list[ast.expr], between: str) -> list[Piece]:
    """As Python writes them."""
    pieces: list[Piece] = []
    for number, one in enumerate(shown):
        pieces += [between] * (number > 0)
        pieces.append(repr(one.value) if isinstance(one, ast.Constant) else Value(_name(one, "")))
    return pieces


def pieces_of(call: ast.Call) -> list[Piece] | None:
    """The texts and values that a call writes, without the end of the line; None for a call that is no log statement."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else None
    function = call.func.id if isinstance(call.func, ast.Name) else None
    if method == "write" and (len(call.args) != 1 or _has_bytes(call.args[0])):  # `os.write(1, data)`
        return None
    if any(isinstance(argument, ast.Starred) for argument in call.args[:-1]):  # several values, nobody knows how many
        return None
    if function == "print" or method in _PRINTERS:
        end = _given(call, "end", "\n") if function == "print" else "\n"
        return [*_of_arguments(call.args, _given(call, "sep", " ")), *[end.removesuffix("\n")] * (end != "\n")]
    if function == "display":  # of notebooks: each object in a line of its own
        return _of_objects(call.args, "\n")
    if method == "log" and isinstance(call.func, ast.Attribute) and ast.unparse(call.func) == "florc.log":
        return _of_named(call)
    if _is_framed(call):
        return _of_arguments(call.args, " ")
    if method in _LOGGERS and call.args:
        arguments = call.args[1:] if method == "log" else call.args
        if not arguments:
            return None
        first, *others = arguments
        if isinstance(first, ast.Constant) and isinstance(first.value, str) and (others or call.keywords):
            if _CONVERSION.search(first.value) is None:  # loguru's, and structlog's, whose keywords stand beside the message
                return _of_format(first.value, ast.Call(call.func, others, call.keywords))
            return _of_percent(first.value, others)
        return _of(first)
    return None


def _given(call: ast.Call, keyword: str, otherwise: str) -> str:
    """The text that a keyword has; None is as good as none."""
    found = next((given.value for given in call.keywords if given.arg == keyword), None)
    return found.value if isinstance(found, ast.Constant) and isinstance(found.value, str) else otherwise


def _is_framed(call: ast.Call) -> bool:
    """Whether it is `console.log("loss", loss)` of rich, which takes no level: neither a number nor a name like `INFO`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "log" or not call.args:
        return False
    first = call.args[0]
    if isinstance(first, ast.JoinedStr):
        return True
    text = first.value if isinstance(first, ast.Constant) else None
    return isinstance(text, str) and not text.isupper() and ast.unparse(call.func) != "florc.log"


def compounds(text: str) -> dict[int, int]:
    """The first and the last lines of the statements of a file that others stand in, but for functions and classes."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    holding = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.AsyncFor, ast.AsyncWith)
    return {node.lineno: node.end_lineno or node.lineno for node in ast.walk(tree) if isinstance(node, holding)}


def _keys(call: ast.Call) -> tuple[str, ...]:
    """The keywords of a call that tells a logger something, and those of `bind` before it; not those that fill in the message."""
    found, filled = [], frozenset[str]()
    if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str):
        filled = frozenset(field[1] for field in _FIELD.finditer(call.args[0].value) if field[1])
    at: ast.expr = call
    while isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute):
        for keyword in at.keywords if at is call or at.func.attr in _BINDERS else ():
            if keyword.arg == "extra" and isinstance(keyword.value, ast.Dict):
                keys = (key.value for key in keyword.value.keys if isinstance(key, ast.Constant))
                found += [key for key in keys if isinstance(key, str)]
            elif keyword.arg is not None and keyword.arg not in _OF_LOGGERS:
                found.append(keyword.arg)
        at = at.func.value
    return tuple(dict.fromkeys(key for key in found if key not in filled))


def _has_bytes(expression: ast.expr) -> bool:
    return any(isinstance(node, ast.Constant) and isinstance(node.value, bytes) for node in ast.walk(expression))


def is_error(call: ast.Call) -> bool | None:
    """Whether a statement that prints writes to standard error: `print(…, file=sys.stderr)`, `click.echo(…, err=True)`,
    `sys.stderr.write(…)`. None where it may write to either, or to another file."""
    given = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}
    stream = given.get("file", "")
    if isinstance(call.func, ast.Attribute) and call.func.attr == "write":
        stream = stream or ast.unparse(call.func.value)
    known = {"stderr": True, "stdout": False}.get(stream.rpartition(".")[2])
    if known is None and given.get("err") == "True":
        return True
    return False if known is None and isinstance(call.func, ast.Name) and not stream else known


def _of_named(call: ast.Call) -> list[Piece] | None:
    """`florc.log("loss", value)` writes the name, a blank and the value."""
    name = call.args[0].value if len(call.args) == 2 and isinstance(call.args[0], ast.Constant) else None
    return [f"{name} ", Value(name)] if isinstance(name, str) else None


def _of_arguments(arguments: list[ast.expr], between: str) -> list[Piece]:
    pieces: list[Piece] = []
    for number, argument in enumerate(arguments):
        if number:
            pieces.append(between)
        before = arguments[number - 1] if number else None
        text = before.value if isinstance(before, ast.Constant) else None
        pieces += _of(argument, _label(pieces, argument), text + between if isinstance(text, str) else "")
    return pieces


def _text_before(pieces: list[Piece]) -> str:
    """What stands between the value before and the one that comes."""
    return "".join(piece if isinstance(piece, str) else "\n" for piece in pieces).rpartition("\n")[2]


def _of(expression: ast.expr, label: str = "", before: str = "") -> list[Piece]:
    """What an expression writes. `label`: the word before it; `before`: the text from the value or the argument before it."""
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return [expression.value]
    if isinstance(expression, ast.JoinedStr):
        pieces: list[Piece] = []
        for part in expression.values:
            if isinstance(part, ast.FormattedValue):
                told = (_label(pieces, part.value), _text_before(pieces)) if pieces else (label, before)
                pieces.append(Value(_name(part.value, *told), part.format_spec is not None))
            elif isinstance(part, ast.Constant):
                pieces.append(str(part.value))
        return pieces
    if isinstance(expression, ast.Dict) and _is_plain(expression):
        return _of_dict(expression, label)
    if isinstance(expression, ast.BinOp):
        left = expression.left
        if isinstance(expression.op, ast.Mod) and isinstance(left, ast.Constant) and isinstance(left.value, str):
            right = expression.right
            return _of_percent(left.value, right.elts if isinstance(right, ast.Tuple) else [right])
        if _is_text(expression):
            pieces = _of(left, label, before)
            return [*pieces, *_of(expression.right, _label(pieces), _text_before(pieces))]
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute) and expression.func.attr == "format":
        text = expression.func.value
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            return _of_format(text.value, expression)
    return [Value(_name(expression, label, before))]


def _is_plain(shown: ast.Dict) -> bool:
    """Whether the source says which keys a dict has."""
    return bool(shown.keys) and all(isinstance(key, ast.Constant) for key in shown.keys)


def _of_dict(shown: ast.Dict, label: str) -> list[Piece]:
    """`{"pixel": a, "log": b}`: each value by its key, behind what the dict is called."""
    pieces: list[Piece] = ["{"]
    for number, (key, value) in enumerate(zip(shown.keys, shown.values)):
        own: object = key.value if isinstance(key, ast.Constant) else ""
        pieces.append(f"{', ' if number else ''}{own!r}: ")
        name = ".".join(filter(None, (label, str(own))))
        pieces += _of_dict(value, name) if isinstance(value, ast.Dict) and _is_plain(value) else [Value(name)]
    return [*pieces, "}"]


def _is_text(expression: ast.expr) -> bool:
    """Whether it is a text for certain; a sum is one with any part of it."""
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add):
        return _is_text(expression.left) or _is_text(expression.right)
    is_constant = isinstance(expression, ast.Constant) and isinstance(expression.value, str)
    return is_constant or isinstance(expression, ast.JoinedStr)


def _of_percent(text: str, arguments: list[ast.expr]) -> list[Piece]:
    pieces: list[Piece] = []
    at, given = 0, iter(arguments)
    table = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], ast.Dict) else None
    for field in _CONVERSION.finditer(text):
        pieces.append(text[at : field.start()])
        at = field.end()
        if field[2] == "%":
            pieces.append("%")
        elif field[1] is not None:
            pieces.append(Value(field[1], field[2] not in "sra"))
        else:
            argument = next(given, None)
            name = _name(argument, _label(pieces), _text_before(pieces)) if argument is not None and table is None else field[0]
            pieces.append(Value(name, field[2] not in "sra"))
    return [*pieces, text[at:]]


def _of_format(text: str, call: ast.Call) -> list[Piece]:
    pieces: list[Piece] = []
    at, number = 0, 0
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    for field in _FIELD.finditer(text):
        pieces.append(text[at : field.start()])
        at = field.end()
        if field[1] is None:
            pieces.append(field[0][0])
            continue
        key = field[1] or str(number)
        number += not field[1]
        given = call.args[int(key)] if key.isdecimal() and int(key) < len(call.args) else named.get(key)
        pieces.append(Value(_name(given, _label(pieces), _text_before(pieces)) if given is not None else key, ":" in field[0]))
    return [*pieces, text[at:]]


def _label(pieces: list[Piece], expression: ast.expr | None = None) -> str:
    """The word that a text before a value ends with: `accuracy: `; or the source of its expression, if it ends with that."""
    before = "".join(piece if isinstance(piece, str) else "\n" for piece in pieces)
    own = "" if expression is None else ast.unparse(expression)
    if own and before.rstrip(" :=").endswith(own):
        return own
    found = re.search(r"([A-Za-z_][\w/.-]*)\W*\Z", _text_before(pieces))
    return found[1] if found is not None else ""


def _name(expression: ast.expr, label: str, before: str = "") -> str:
    """That of a variable or an attribute; of other expressions what stands before them, or their own text. A text `before` it
    that is one word names it where it says so, `loss=` or `loss: `, or where only a part of a variable is shown:
    `loss {l.item()}`."""
    shown = expression
    while True:
        if isinstance(shown, ast.Call) and isinstance(shown.func, ast.Attribute) and shown.func.attr in _LOOKS and not shown.args:
            shown = shown.func.value
        elif isinstance(shown, ast.Call) and isinstance(shown.func, ast.Name) and shown.func.id in _CONVERTERS and shown.args:
            shown = shown.args[0]
        else:
            break
    if isinstance(shown, (ast.Name, ast.Attribute)) and re.fullmatch(r"[\w.]+", ast.unparse(shown)):
        said = re.fullmatch(r"\W*([A-Za-z_][\w/.-]*)(?:(\s*[:=])\W*|\W+)", before)
        return said[1] if said is not None and (said[2] or shown is not expression) else ast.unparse(shown)
    text = label or ast.unparse(shown)
    return text if len(text) <= _MOST_NAME else text[: _MOST_NAME - 1] + "…"


def joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    """Texts that follow one another are one; two values of one name are told apart by a number."""
    joined: list[Piece] = []
    names: dict[str, int] = {}
    for piece in pieces:
        if isinstance(piece, Value):
            number = names[piece.name] = names.get(piece.name, 0) + 1
            joined.append(piece if number == 1 else piece._replace(name=f"{piece.name}_{number}"))
        elif piece and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece:
            joined.append(piece)
    return tuple(joined)
