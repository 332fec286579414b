"""Ask a question of a training run after it has ended.

`florc record train.py` keeps what is needed, `florc replay train.py` answers the log statements added since. The names
below are what instrumented code calls; without a session each does the plain thing. `save`, `materialize` and `flush`
serve alone: `torch.save` in the background.
"""

from . import skipblock
from ._native import begin, boundary, generator, tick

__all__ = ["Saved", "begin", "boundary", "flush", "generator", "materialize", "probe", "resume", "save", "skipblock", "tick",
           "unbound"]
__version__ = "0.1.0"

_LATER = {"Saved": "saving", "flush": "saving", "materialize": "saving", "save": "saving", "probe": "output",
          "resume": "boundaries", "unbound": "loops"}
"""Where the other names are: a module is imported when one of its names is first asked for. Most runs need none of them."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'florc' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"florc.{_LATER[name]}"), name)
    return found
