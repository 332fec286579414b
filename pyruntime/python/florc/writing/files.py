"""Event files that change hands: the script's writer has begun one, and another process goes on with it.

What stands in the place of an `EventFileWriter` has its methods. `Appender` writes the file, in the process beside the script;
`Forwarder` is in the script, and sends events there.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from ..trackers.event_files import masked_crc

WRITERS = frozenset({"torch.utils.tensorboard.writer", "tensorboardX.writer"})
"""Modules with a `SummaryWriter` that writes through `FileWriter` and `EventFileWriter`."""


class Given(NamedTuple):
    """An event file that is handed over. `key`: by which the writer knows it (`all_writers`)."""

    key: str
    folder: str
    path: str
    state: dict[str, Any]
    """Of the `FileWriter`, without its `event_writer`."""


def known_class(writer: Any) -> Any:
    """The `SummaryWriter` that a writer is, or is derived from; None of others."""
    for kind in type(writer).__mro__:
        if kind.__name__ == "SummaryWriter" and kind.__module__ in WRITERS:
            return kind
    return None


def path_of(event_writer: Any) -> str | None:
    """The local file that an `EventFileWriter` writes; None where it writes something else."""
    found = getattr(event_writer, "_file_name", None) or getattr(getattr(event_writer, "_ev_writer", None), "_file_name", None)
    path = os.fsdecode(found) if isinstance(found, (str, bytes)) else ""
    return os.path.abspath(path) if path and "://" not in path else None


def cut_to_whole_records(path: str) -> None:
    """Take away what a process that was killed has left of a last record: nothing behind it would be read."""
    with open(path, "r+b") as file:
        size, end = os.fstat(file.fileno()).st_size, 0
        while end < size:
            file.seek(end)
            head = file.read(8)
            after = end + 16 + struct.unpack("<Q", head)[0] if len(head) == 8 else size + 1
            if after > size:
                file.truncate(end)
                return
            end = after


class Appender:
    """Writes events to the end of a file. They are in the system's hands after `flush`."""

    def __init__(self, path: str, folder: str):
        cut_to_whole_records(path)
        self._file = open(path, "ab", buffering=1 << 18)  # noqa: SIM115  # for as long as this lives
        self._folder = folder
        self._is_written = True

    def get_logdir(self) -> str:
        """The folder, as the writer was given it."""
        return self._folder

    def add_event(self, event: Any) -> None:
        """Append an `Event`."""
        self.append(event.SerializeToString())

    def append(self, event: bytes) -> None:
        """Append the bytes of an `Event`."""
        length = struct.pack("<Q", len(event))
        head = length + struct.pack("<I", masked_crc(length))
        self._file.write(b"".join((head, event, struct.pack("<I", masked_crc(event)))))
        self._is_written = False

    def flush(self) -> None:
        """Hand everything to the system."""
        if not self._is_written:
            self._file.flush()
            self._is_written = True

    def close(self) -> None:
        """Hand everything to the system. The file stays open: the process ends soon."""
        self.flush()

    def reopen(self) -> None:
        """It is open."""


class Forwarder:
    """In the script, in the place of an `EventFileWriter`: sends events to the process that has its file.

    `send`: takes the file's key and the bytes of an event; `flush`: waits until all are written."""

    def __init__(self, key: str, folder: str, send: Callable[[str, bytes], None], flush: Callable[[], None]):
        self._key, self._folder, self._send, self._flush = key, folder, send, flush
        self.is_closed = False

    def get_logdir(self) -> str:
        """The folder, as the writer was given it."""
        return self._folder

    def add_event(self, event: Any) -> None:
        """Send an `Event`. Raises OSError when the writer is closed."""
        if self.is_closed:
            raise OSError("Writer is closed")
        self._send(self._key, event.SerializeToString())

    def flush(self) -> None:
        """Wait until everything sent so far is in the file."""
        if not self.is_closed:
            self._flush()

    def close(self) -> None:
        """Take no more events."""
        self.is_closed = True

    def reopen(self) -> None:
        """Take events again."""
        self.is_closed = False


def hand_over(writer: Any, send: Callable[[str, bytes], None], flush: Callable[[], None]) -> list[Given]:
    """End what writes the files of a `SummaryWriter` here, and have its further events sent."""
    found = []
    for key, file_writer in writer.all_writers.items():
        own = file_writer.event_writer
        path, folder = path_of(own), str(own.get_logdir())
        assert path is not None
        own.flush()
        own.close()
        state = {name: value for name, value in vars(file_writer).items() if name != "event_writer"}
        found.append(Given(str(key), folder, path, state))
        file_writer.event_writer = Forwarder(str(key), folder, send, flush)
    return found


class Helped:
    """In the process beside the script: a `SummaryWriter` as the script's, whose files are written by `Appender`s."""

    def __init__(self, module_name: str, state: dict[str, Any], given: list[Given]):
        __import__(module_name)
        self._module = module = sys.modules[module_name]
        self.appenders: dict[str, Appender] = {}
        kind: Any = module.SummaryWriter
        self.writer = kind.__new__(kind)
        vars(self.writer).update(state)
        self.writer.all_writers = {}
        for one in given:
            file_writer: Any = module.FileWriter.__new__(module.FileWriter)
            vars(file_writer).update(one.state)
            file_writer.event_writer = self.appenders[one.key] = Appender(one.path, one.folder)
            self.writer.all_writers[one.key] = file_writer
        self.writer.file_writer = next(iter(self.writer.all_writers.values()))
        self._original = module.EventFileWriter
        module.EventFileWriter = self._another  # type: ignore[attr-defined]  # that of a library's module

    def _another(self, *args: Any, **kwargs: Any) -> Appender:
        """An `EventFileWriter` that a method begins (`add_scalars`, `add_hparams`): the library begins its file."""
        begun = self._original(*args, **kwargs)
        path, folder = path_of(begun), begun.get_logdir()
        assert path is not None
        begun.flush()
        begun.close()
        made = self.appenders[path] = Appender(path, folder)
        return made

    def flush(self) -> None:
        """Hand everything to the system."""
        for appender in list(self.appenders.values()):
            appender.flush()
