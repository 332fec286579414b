"""On replay, only what added statements write reaches the outside."""

from __future__ import annotations

import os
import sys
from posix import dup2, lseek, pread  # those of `os` have stand-ins in a replay

from ..support.console import clear_line, exit_at_once
from ..support.high import copied, raised
from ..support.light import NamedTuple
from .output import flush_streams, is_duplicate

_MOST = 1 << 16
"""So many bytes are handed on at once."""


class Printed(NamedTuple):
    """How many bytes reached the outside, and the hash of these; none where they are not what is written now."""

    size: int = 0
    hash: str = ""


class Spool:
    """What added statements write to one of the standard streams. It passes through a file, so that it is known how much it was:
    a replay that has to start again leaves out what was `earlier` printed. `is_kept`: it stays in the file."""

    def __init__(self, stream: int, path: str, flags: int, earlier: Printed, is_kept: bool):
        self._stream, self.is_kept = stream, is_kept
        self.own = copied(stream)
        """Where it went before the replay."""
        self.file = raised(os.open(path, flags, 0o600))
        self.written = 0
        """Bytes so far."""
        self._earlier = earlier

    def into_file(self) -> None:
        """What is written to the stream from now on comes here."""
        dup2(self.file, self._stream)

    def outside(self) -> None:
        """What is written to it goes where it went before the replay."""
        dup2(self.own, self._stream)

    def hand_on(self, to: int | None = None) -> None:
        """What has come goes to the outside, or to a descriptor, where what is kept goes, too."""
        while True:
            data = pread(self.file, _MOST, self.written)
            new = b"" if self.is_kept and to is None else data[max(0, self._earlier.size - self.written) :]
            self.written += len(data)
            try:
                while new:
                    new = new[os.write(self.own if to is None else to, new) :]
            except BrokenPipeError:
                if self._stream == 1:  # `florc replay train.py | head`: nobody wants to know more
                    exit_at_once(0)
            if len(data) < _MOST:
                return

    def _hash(self, size: int) -> str:
        from _blake2 import blake2b

        return blake2b(pread(self.file, size, 0), digest_size=16).hexdigest()

    @property
    def is_otherwise(self) -> bool:
        """Whether what reached the outside before the replay started again is not what is written now."""
        size, known = self._earlier
        return size > 0 and (self.written < size or self._hash(size) != known)

    def printed(self) -> Printed:
        """What reached the outside so far."""
        if self.is_kept:
            return Printed()
        if self.written < self._earlier.size:
            return self._earlier
        return Printed(self.written, "" if self.is_otherwise else self._hash(self.written))

    def since(self, begun: int) -> bytes:
        """What came after so many bytes of this attempt."""
        return pread(self.file, self.written - begun, begun)


class Divert:
    """Sends the process's standard output and standard error to a file, except while a probe runs.

    `earlier`: what an attempt before this one printed, of each of the two streams; `keeps`: whether what probes write to standard
    output is kept (`Spool`) and not handed on; `errors`: a file in which what they write to standard error is kept.
    """

    def __init__(
        self, path: str, earlier: tuple[Printed, Printed] = (Printed(), Printed()), keeps: bool = False, errors: str | None = None
    ):
        self.depth = self._size = 0
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC  # a replay that starts again writes them anew
        self.out = Spool(1, path + ".probes", flags, earlier[0], keeps)
        self.err = Spool(2, errors or path + ".probes-errors", flags, earlier[1], errors is not None)
        self._file = raised(os.open(path, flags, 0o600))
        self._away()

    def _away(self) -> None:
        flush_streams()
        dup2(self._file, 1)
        dup2(self._file, 2)

    def open(self) -> None:
        """Let what is written now reach the outside."""
        self.depth += 1
        if self.depth == 1:
            clear_line()
            flush_streams()
            self._size = lseek(self._file, 0, os.SEEK_END) if is_duplicate(sys.stdout) else -1
            self.out.into_file()
            self.err.into_file()

    def close(self) -> None:
        """Keep what is written now to the file again."""
        self.depth -= 1
        if self.depth == 0:
            self._away()
            self._take_duplicated()
            self.out.hand_on()
            self.err.hand_on()

    def _take_duplicated(self) -> None:
        """What a statement printed, where standard output is another descriptor of the same (`os.dup(1)`), which the script made.
        Only then: what forked processes print comes there, too."""
        more = lseek(self._file, 0, os.SEEK_END) - self._size if self._size >= 0 else 0
        if more > 0:
            os.write(self.out.file, pread(self._file, more, self._size))

    def __enter__(self) -> None:
        self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_otherwise(self) -> bool:
        """Whether what reached standard output before the replay started again is not what probes write now. On standard error
        loggers write the time."""
        return self.out.is_otherwise

    def printed(self) -> tuple[Printed, Printed]:
        """What reached the outside so far."""
        return self.out.printed(), self.err.printed()

    def undo(self) -> None:
        """Everything reaches the outside from now on."""
        clear_line()
        # of what the statements started: forked children, other programs
        self.out.hand_on(to=self.err.own if self.out.is_kept else None)
        self.err.hand_on()
        flush_streams()
        self.out.outside()
        self.err.outside()
