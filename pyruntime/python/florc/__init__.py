"""Ask a question of a training run after it has ended.

`florc record train.py` keeps what is needed, `florc replay train.py` answers the log statements added since. `record`, `replay`,
`ask`, `verify`, `runs`, `show`, `diff`, `logs` and `query` do the same from Python; `log` is a log statement with a name, `arg` a
setting of the script. `save`, `materialize` and `flush` serve alone: `torch.save` in the background; so does `background`, for a
TensorBoard writer. Other names are what instrumented code calls; without a session each does the plain thing.
"""

import sys

from . import apart

__all__ = [
    "Answer",
    "DamagedError",
    "InternalError",
    "Saved",
    "StoreError",
    "Table",
    "Unusable",
    "arg",
    "ask",
    "background",
    "diff",
    "flush",
    "log",
    "logs",
    "materialize",
    "query",
    "record",
    "replay",
    "runs",
    "save",
    "show",
    "verify",
]
__version__ = "0.1.0"

apart.set_apart(__path__)

_WHERE = {
    "Answer": "answers.api",
    "arg": "arguments",
    "log": "answers.log",
    **dict.fromkeys(("ask", "diff", "logs", "query", "record", "replay", "runs", "show", "verify"), "answers.api"),
    "Table": "answers.columns",
    "Unusable": "project.script",
    "Saved": "saving",
    "flush": "saving",
    "background": "writing.writer",
    "materialize": "saving",
    "save": "saving",
    "load_ipython_extension": "jupyter",
    "probe": "process.output",
    "probed": "process.output",
    "resume": "record.iterations",
    "unbound": "plan.loops",
    "begin": "_native",
    "boundary": "_native",
    "generator": "_native",
    "loop": "_native",
    "left": "_native",
    "over": "_native",
    "entered": "_native",
    "observed": "_native",
    "tick": "_native",
    "InternalError": "_native",
    "StoreError": "_native",
    "DamagedError": "_native",
}
"""Where the names are: a module is imported when one of its names is first asked for. Most runs need few of them."""
_MODULE = "skipblock"
"""What is asked for under this name is a module."""


class _Package(type(sys)):  # type: ignore[misc]  # the type of modules
    """`florc.record`, `florc.replay` and `florc.runs` are functions, and packages have these names, too: to import one of those
    must not put it in the place of the function."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _WHERE and issubclass(type(value), type(sys))):
            super().__setattr__(name, value)

    def __reduce__(self) -> "tuple[object, tuple[str]]":
        """Picklers that take a module by its name know only the class of all modules."""
        return __import__, (__name__,)


sys.modules[__name__].__class__ = _Package


def __dir__() -> "list[str]":
    return [*__all__, "__version__"]


def __getattr__(name: str) -> object:
    if name not in _WHERE and name != _MODULE:
        raise AttributeError(f"module 'florc' has no attribute {name!r}")
    where = f"florc.{_WHERE.get(name, name)}"
    apart.OWN["__import__"](where)  # `importlib` takes as long as all of this
    if name == _MODULE:
        return globals()[name]
    found = globals()[name] = getattr(sys.modules[where], name)
    return found
