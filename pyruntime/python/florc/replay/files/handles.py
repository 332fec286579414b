"""Files that the script both opens and writes in a replay: florc hears what the script asks of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

_TEXT, _BINARY = "t", "b"


def watched(original: type, heard: Callable[[int], None], wrote: Callable[[int], None]) -> type:
    """A `FileIO` that calls `heard` with its descriptor when it is read or asked for its length, and `wrote` when it is written
    to."""

    class FileIO(original):  # type: ignore[misc]  # the base is an argument
        is_asked = False
        """Whether what opens it has done so: from then on the script asks."""

        def _hear(self) -> None:
            if self.is_asked:
                heard(self.fileno())

        def tell(self) -> int:
            self._hear()
            at: int = super().tell()
            return at

        def seek(self, offset: int, whence: int = 0) -> int:
            if whence == 2:
                self._hear()
            at: int = super().seek(offset, whence)
            return at

        def write(self, data: Any) -> Any:
            wrote(self.fileno())
            return super().write(data)

        def readinto(self, buffer: Any) -> Any:
            self._hear()
            return super().readinto(buffer)

        def read(self, size: int = -1) -> Any:
            self._hear()
            return super().read(size)

        def readall(self) -> Any:
            self._hear()
            return super().readall()

    FileIO.__module__, FileIO.__qualname__ = "_io", "FileIO"
    return FileIO


def opened(
    kind: Any, file: Any, mode: str, buffering: int, encoding: Any, errors: Any, newline: Any, closefd: bool, opener: Any
) -> Any | None:
    """What `open` returns, over a raw file of this class. None for arguments that `open` refuses."""
    is_binary, plain = _BINARY in mode, mode.replace(_BINARY, "").replace(_TEXT, "")
    if (
        is_binary
        and (_TEXT in mode or (encoding, errors, newline) != (None, None, None))
        or len(set(mode)) != len(mode)
        or sorted(plain.replace("+", "")) not in (["r"], ["w"], ["a"], ["x"])
        or buffering == 0
        and not is_binary
    ):
        return None
    raw = kind(file, plain, closefd, opener)
    result = raw
    try:
        if buffering != 0:
            by_line = buffering == 1 and not is_binary or buffering < 0 and raw.isatty()
            size = buffering if buffering > 1 else getattr(raw, "_blksize", io.DEFAULT_BUFFER_SIZE)
            buffered = io.BufferedRandom if "+" in plain else io.BufferedReader if plain == "r" else io.BufferedWriter
            result = buffered(raw, size)
            if not is_binary:
                result = io.TextIOWrapper(result, encoding, errors, newline, by_line)
                result.mode = mode  # type: ignore[misc]  # CPython lets it be set
    except BaseException:
        raw.close()
        raise
    raw.is_asked = True
    return result
