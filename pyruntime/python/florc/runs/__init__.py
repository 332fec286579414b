"""What was recorded, read back."""

from ..called import make_callable

make_callable(__name__)
