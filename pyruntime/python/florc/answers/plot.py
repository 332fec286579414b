"""`florc plot`: curves of values, in the terminal or in a file. Recorded ones are lines, those asked in hindsight are points."""

from __future__ import annotations

import importlib.util
import math
import os
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..project.script import Unusable
from ..support.console import answer, has_color
from . import columns, command
from .rows import Row
from .values import as_number

if TYPE_CHECKING:
    from ..support import arguments as given

_FILES = (".svg", ".png", ".pdf", ".html")
_HIGHEST, _WIDEST = 20, 100
"""Lines and columns of a plot in a terminal; a narrower one gets less."""
_ORDER = "value"
"""What is on the x axis where the values have no loop in common: their order."""


class Curve(NamedTuple):
    """Values of one name in one run."""

    label: str
    is_asked: bool
    x: list[float]
    y: list[float]


def curves(rows: Sequence[Row], x: str | None) -> tuple[str, list[Curve]]:
    """What is on the x axis, and a curve for each run, rank, name, and way in which the values came. `x`: the variable of a loop;
    None: that which all values have, if there is one. Raises Unusable."""
    numbers = [row for row in rows if isinstance(row.value, (int, float))]
    if not any(map(_is_finite, numbers)):
        raise Unusable("F104", "these values are no numbers: there is nothing to plot")
    shared = set.intersection(*(set(row.context) for row in numbers))
    if x is not None and x not in shared:
        raise Unusable("F104", f"--x {x}: not all values have that variable; they have: {', '.join(sorted(shared)) or 'none'}")
    axis = x or (next(iter(shared)) if len(shared) == 1 else _ORDER)
    several_runs = len({row.run for row in numbers}) > 1
    found: dict[tuple[str, int | None, str, bool], Curve] = {}
    order: Counter[tuple[str, int | None, str, bool]] = Counter()
    for row in numbers:
        is_asked = row.verdict != "recorded"
        key = (row.run, row.rank, row.name, is_asked)
        if key not in found:
            parts = [row.name, *([row.run] if several_runs else []), *([] if row.rank is None else [f"rank {row.rank}"])]
            found[key] = Curve(" ".join(parts) + (", asked" if is_asked else ""), is_asked, [], [])
        order[key] += 1
        if _is_finite(row):
            found[key].x.append(float(order[key] - 1 if axis == _ORDER else row.context[axis]))
            found[key].y.append(as_number(row.value or 0))  # type: ignore[arg-type]  # finite, so a number
    return axis, list(found.values())


def _is_finite(row: Row) -> bool:
    return isinstance(row.value, (int, float)) and math.isfinite(as_number(row.value))


def run_plot(arguments: given.Plot) -> int:
    """`florc plot`."""
    output = arguments["output"]
    if output is not None:
        if os.path.splitext(output)[1] not in _FILES:
            raise Unusable("F101", f"-o {output}: the name says what is drawn: {', '.join(_FILES)}")
        columns.refuse(None, output)
    needed = "uniplot" if output is None else "matplotlib"
    if importlib.util.find_spec(needed) is None:
        raise Unusable("F105", f"florc plot draws with {needed}, which is not installed: pip install 'florc[plot]'")
    axis, found = curves(command.of_runs(arguments["words"], arguments["condition"]), arguments["x"])
    if output is None:
        answer(in_terminal(axis, found))
    else:
        in_file(axis, found, output)
    return 0


def in_terminal(axis: str, found: list[Curve]) -> str:
    """The plot as text."""
    uniplot: Any = import_module("uniplot")
    size = shutil.get_terminal_size((_WIDEST, _HIGHEST + 6))
    drawn: str = uniplot.plot_to_string(
        xs=[curve.x for curve in found],
        ys=[curve.y for curve in found],
        lines=[not curve.is_asked for curve in found],
        legend_labels=[curve.label for curve in found],
        title=axis,
        width=min(size.columns - 12, _WIDEST),
        height=min(size.lines - 6, _HIGHEST),
        color=has_color(sys.stdout),
    )
    return f"{drawn}\n"


def in_file(axis: str, found: list[Curve], output: str) -> None:
    """A picture. Raises Unusable where it cannot be written."""
    import_module("matplotlib").use("Agg")
    plt: Any = import_module("matplotlib.pyplot")
    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for curve in found:
        style = {"marker": "o", "markersize": 4, "linestyle": "--"} if curve.is_asked else {"linestyle": "-"}
        axes.plot(curve.x, curve.y, label=curve.label, **style)
    axes.set_xlabel(axis)
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    name, kind = os.path.splitext(output)
    try:
        if kind != ".html":
            figure.savefig(output)
        else:
            _as_page(figure, os.path.basename(name), output)
    except OSError as error:
        raise Unusable("F206", f"cannot write {output}: {(error.strerror or str(error)).lower()}") from None
    finally:
        plt.close(figure)


def _as_page(figure: Any, title: str, output: str) -> None:
    import html
    import io

    drawn = io.StringIO()
    figure.savefig(drawn, format="svg")
    picture = drawn.getvalue()
    picture = picture[picture.index("<svg") :]
    with open(output, "w", encoding="utf-8") as file:
        file.write(f'<!doctype html>\n<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n{picture}')
