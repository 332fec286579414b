"""Recording: from the command to the checkpoints."""

from ..called import make_callable

make_callable(__name__)
