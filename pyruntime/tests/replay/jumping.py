"""`florc`, with a checkpoint at every iteration of every loop that trains: `python jumping.py record train.py`."""

import sys

from florc.__main__ import main
from florc.record import iterations as boundaries
from florc.record.materializer import Materializer

Materializer.has_share = lambda *_: True  # type: ignore[method-assign]
boundaries.LOOK_S, boundaries.SPACING, boundaries.DEAR = 0.0, 1e12, 0.0
sys.exit(main())
