"""Ask a question of a training run after it has ended.

`florc record train.py` keeps what is needed, `florc replay train.py` answers the log statements added since. The names
below are what instrumented code calls; without a session each does the plain thing.
"""

from . import skipblock
from ._native import generator, tick
from .output import probe
from .places import unbound

__all__ = ["generator", "probe", "skipblock", "tick", "unbound"]
__version__ = "0.1.0"
