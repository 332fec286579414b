"""The loops of the plan and their places, as emitted code and the runtime name them."""

from __future__ import annotations

from .. import _native
from ..support.light import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypedDict

    from typing_extensions import NotRequired

    class Note(TypedDict):
        """What stands against a checkpoint."""

        line: int
        why: str

    _Place = TypedDict(
        "_Place",
        {
            "place": str,
            "line": int,
            "mutated": bool,
            "bound": bool,
            "iterated": bool,
            "by_name": bool,
            "global": bool,
            "assumed": NotRequired[bool],
        },
    )

    class Boundary(TypedDict):
        """The start of a loop's iterations."""

        gradients: bool
        places: list[_Place]
        writes: NotRequired[bool]

    class Entry(TypedDict):
        """A loop in a plan."""

        id: str
        parent: str | None
        memoized: bool
        followed: bool
        gradients: bool
        header: str
        line: int
        end_line: int
        places: list[_Place]
        note: Note | None
        function: str
        binds: list[str]
        differentiated: NotRequired[bool]
        writes: NotRequired[bool]
        boundary: NotRequired[Boundary | None]
        trains: bool

    class Plan(TypedDict):
        """The plan of a file, as far as the runtime reads it."""

        loops: list[Entry]


class _Unbound:
    """What stands for a name that is not bound."""

    def __repr__(self) -> str:
        return "florc.unbound"


unbound = _Unbound()


class Place(NamedTuple):
    """One place of a changeset, as the plan has it."""

    name: str
    mutated: bool
    bound: bool
    iterated: bool
    by_name: bool
    in_globals: bool


BAR = " (progress bar)"
"""After the name of a place that is iterated over: the bar itself, beside what it runs over."""
BOUNDARY = "@"
"""After the id of a loop: the start of its iterations, with places of its own."""


class Loop(NamedTuple):
    """One loop of the plan."""

    id: str
    memoized: bool
    followed: bool
    gradients: bool
    header: str
    file: str
    line: int
    end_line: int
    places: list[Place]
    note: str | None
    function: str
    binds: list[str]
    """The names that its statements bind, places or not."""
    differentiated: bool
    """Whether gradients may be computed after it of what it computes."""
    unseen: tuple[int, ...] = ()
    """Lines in which it calls what florc cannot see into."""
    counting: frozenset[str] = frozenset()
    """Of the start of iterations: what the loop itself runs over. A bar among them counts when it likes."""


loops: dict[str, Loop] = {}
"""Every loop of every instrumented file of this process, by id."""
registered = [0]
"""How many files were made known."""


def register(plan: str, file: str) -> list[Loop]:
    """Make a file's plan (JSON) known to the runtime."""
    read: Plan = _native.from_json(plan)
    entries = {entry["id"]: entry for entry in read["loops"]}
    found = []
    registered[0] += 1
    for entry in entries.values():
        loop = loop_of(entry, file)
        loops[loop.id] = loop
        start = entry.get("boundary")
        if start is not None:
            loops[loop.id + BOUNDARY] = boundary_of(entry, start, file)
        found.append(loop)
        _native.register_loop(loop.id, f"{file}:{entry['function']}", _ancestors(entries, entry))
    return found


def _ancestors(by_id: dict[str, Entry], entry: Entry) -> list[str]:
    out: list[str] = []
    parent = entry["parent"]
    while parent is not None:
        out.append(parent)
        parent = by_id[parent]["parent"]
    return out


def loop_of(entry: Entry, file: str) -> Loop:
    """A loop from its entry in a plan."""
    places = _places(entry["places"])
    note = entry["note"] and (
        entry["note"]["why"]
        if entry["note"]["line"] == entry["line"]
        else f"line {entry['note']['line']}: {entry['note']['why']}"
    )
    return Loop(
        entry["id"],
        entry["memoized"],
        entry["followed"],
        entry["gradients"],
        entry["header"],
        file,
        entry["line"],
        entry["end_line"],
        places,
        note,
        entry["function"],
        entry["binds"],
        entry.get("differentiated", False),
        tuple(sorted({place["line"] for place in entry["places"] if place.get("assumed")})),
    )


def boundary_of(entry: Entry, start: Boundary, file: str) -> Loop:
    """The start of a loop's iterations."""
    loop = loop_of(entry, file)
    counting = frozenset(p["place"] for p in start["places"] if p["iterated"] and p["line"] == entry["line"])
    return loop._replace(
        id=loop.id + BOUNDARY,
        memoized=False,
        followed=False,
        gradients=start["gradients"],
        places=_places(start["places"]),
        counting=counting,
    )


def _places(entries: list[_Place]) -> list[Place]:
    return [Place(p["place"], p["mutated"], p["bound"], p["iterated"], p["by_name"], p["global"]) for p in entries]
