"""Ranks that are recorded together: they find the run that the first of them has begun, and keep checkpoints of the same blocks.

A replay can restore a block only where all ranks have a checkpoint of it: one that skips a block, beside another that runs it,
would leave that one waiting in a collective call. So the first rank decides. Where it can, it does so when a block begins, from
what earlier executions took: the other ranks find the decision when their block ends, and wait for nobody. Of a block's first
execution it decides at the end, and the others wait for that, for a part of the overhead and no longer."""

from __future__ import annotations

import os
import time
from _blake2 import blake2b

from ..process import launcher
from ..project.script import NotRecordable
from ..runs import described
from ..runs.run import Run
from ..support.light import suppress
from ..support.private import private_file, private_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..process.launcher import Rank

_TO_JOIN_S = 30.0
"""So long a rank waits for the first one to begin the run: all are started together, and each has to read the script."""
_LONGEST_WAIT_S = 1.0
"""For a decision, however long the block took."""
_BETWEEN_LOOKS_S = 2e-4
_NOT_RECORDED = "-"
"""Stands in the place of the run where the first rank records none."""
DECISIONS = "decisions"
"""In the folder of a run: a line for each execution of a block that the first rank decided about, `+` or `-` and its key."""


class Together:
    """The decisions about checkpoints that ranks share. Nothing of it may raise into the script once the run has begun."""

    def __init__(self, store: str, rank: Rank):
        self._store, self._rank = store, rank
        name = blake2b(launcher.meeting().encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        self._meeting = os.path.join(store, "ranks", name)
        self._file = -1
        self._decided: dict[str, bool] = {}
        self._rest = b""

    @property
    def is_first(self) -> bool:
        """Whether this rank decides."""
        return self._rank.number == 0

    # -- joining a run -------------------------------------------------------------------------------------------------

    def joined(self) -> str | None:
        """The id of the run that the first rank has begun; None for the first rank. Raises NotRecordable where it begins none."""
        private_folder(os.path.dirname(self._meeting))
        if self.is_first:
            with suppress(OSError):  # of earlier ranks that met at the same port
                os.remove(self._meeting)
            return None
        end = time.monotonic() + _TO_JOIN_S
        while time.monotonic() < end:
            told = self._told()
            if told == _NOT_RECORDED:
                raise NotRecordable("the first rank records nothing")
            if told and self._is_begun(told):
                return told
            time.sleep(0.01)
        raise NotRecordable(f"the first rank began no run within {_TO_JOIN_S:.0f} seconds")

    def _told(self) -> str:
        try:
            with open(self._meeting, encoding="utf-8") as file:
                return file.read()
        except (OSError, UnicodeDecodeError):
            return ""

    def _is_begun(self, run_id: str) -> bool:
        """Whether that is a run which goes on, and which this rank has not joined before: ranks of earlier may have met there."""
        if os.path.basename(run_id) != run_id:
            return False
        info, _ = described.read(Run(self._store, run_id, {}).own("run.json"))
        own = Run(self._store, run_id, {}, rank=self._rank.number)
        return info is not None and Run(self._store, run_id, info).is_running() and not os.path.exists(own.journal)

    def begin(self, run: Run) -> None:
        """The run of this rank has begun. Raises OSError."""
        flags = os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | (os.O_WRONLY if self.is_first else os.O_RDONLY)
        self._file = private_file(os.path.join(run.path, DECISIONS), flags)
        if self.is_first:
            self._tell_the_others(run.id)

    def undo(self) -> None:
        """Nothing is recorded of this rank."""
        if self.is_first:
            with suppress(OSError):
                self._tell_the_others(_NOT_RECORDED)

    def _tell_the_others(self, what: str) -> None:
        with open(self._meeting + ".new", "w", encoding="utf-8", opener=private_file) as file:
            file.write(what)
        os.replace(self._meeting + ".new", self._meeting)

    def end(self) -> None:
        """The run is over."""
        if self.is_first:
            with suppress(OSError):
                os.remove(self._meeting)

    # -- deciding ------------------------------------------------------------------------------------------------------

    def announce(self, key: str, is_kept: bool | None) -> None:
        """A block begins. The first rank foresees whether it will be kept; None: it cannot tell yet."""
        if self.is_first and is_kept is not None:
            self._decide(key, is_kept)

    def decided(self, key: str, patience: float) -> bool | None:
        """A block is over: whether it is kept. None: the first rank, which asks, has to decide. Another waits at most for so many
        seconds; what it was not told by then it does not keep."""
        if self.is_first:
            return self._decided.pop(key, None)
        end = time.monotonic() + min(patience, _LONGEST_WAIT_S)
        while True:
            self._read()
            if key in self._decided:
                return self._decided.pop(key)
            if time.monotonic() >= end:
                return False
            time.sleep(_BETWEEN_LOOKS_S)

    def tell(self, key: str, is_kept: bool) -> None:
        """The first rank has decided at the end of a block."""
        if self.is_first:
            self._decide(key, is_kept)
            del self._decided[key]

    def _decide(self, key: str, is_kept: bool) -> None:
        self._decided[key] = is_kept
        with suppress(OSError):  # a full disk: then the others keep nothing
            os.write(self._file, f"{'+' if is_kept else '-'}{key}\n".encode())

    def _read(self) -> None:
        with suppress(OSError):
            *lines, self._rest = (self._rest + os.read(self._file, 1 << 16)).split(b"\n")
            for line in lines:
                self._decided[line[1:].decode()] = line[:1] == b"+"
