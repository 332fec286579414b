"""Ask a question of a training run after it has ended.

`florc record train.py` keeps what is needed, `florc replay train.py` answers the log statements added since. The names
below are what instrumented code calls; without a session each does the plain thing. `save`, `materialize` and `flush`
serve alone: `torch.save` in the background.
"""

from . import skipblock
from ._native import begin, boundary, generator, tick
from .boundaries import resume
from .output import probe
from .places import unbound
from .saving import Saved, flush, materialize, save

__all__ = ["Saved", "begin", "boundary", "flush", "generator", "materialize", "probe", "resume", "save", "skipblock", "tick",
           "unbound"]
__version__ = "0.1.0"
