"""`florc.save`: `torch.save` without the stall. The state is copied, and a thread writes the file.

What is written is what was there when `save` was called, whatever happens to it afterwards. A file appears whole or not at
all: a reader sees the old one until the new one is durable.
"""

from __future__ import annotations

import atexit
import io
import os
import pickle
import sys
import threading
from typing import Any

from . import _native
from .process import native_writers

_Entry = tuple[str, Any]
_lock = threading.Lock()
_saver: _native.Saver | None = None
_owner = 0


class Saved:
    """A file that is being written."""

    def __init__(self, path: str, saver: _native.Saver, ticket: int | None):
        self.path = path
        self._saver, self._ticket = saver, ticket
        self._failure: OSError | None = None

    def result(self, timeout: float | None = None) -> str:
        """Wait until the file is durable, at most `timeout` seconds; its path.

        Raises OSError when it could not be written, TimeoutError when it takes longer.
        """
        if self._failure is not None:
            raise self._failure
        if self._ticket is not None:
            try:
                if not self._saver.wait(self._ticket, timeout):
                    raise TimeoutError(f"{self.path} is not written yet after {timeout} s")
            except OSError as error:
                self._failure = error
                raise
            self._ticket = None
        return self.path

    def done(self) -> bool:
        """Whether the file is durable, or could not be written."""
        try:
            self.result(0.0)
        except TimeoutError:
            return False
        except OSError:
            pass
        return True


def save(obj: Any, path: Any) -> Saved:
    """Write `obj` to `path` in the background, as `torch.save(obj, path)` does; `torch.load(path)` reads it.

    Returns when everything is copied: tensors at the speed of memory, other objects when they are pickled. Copies wait for
    room while earlier saves hold the staging memory (a quarter of what is free). Without torch the file is a pickle in the
    same archive. Errors of the disk come out of `result()` of what is returned, or of `flush()`.
    """
    path = os.path.abspath(os.fspath(path))
    name = os.path.splitext(os.path.basename(path))[0] or "archive"
    entries = _entries(obj)
    saver = _background()
    names = [f"{name}/{entry}" for entry, _ in entries]
    return Saved(path, saver, saver.save(native_writers.told(path, "w", ()), names, [_part(data) for _, data in entries]))


def materialize(obj: Any, path: Any) -> Saved:
    """The paper's word for `save`."""
    return save(obj, path)


def flush() -> None:
    """Wait until every save is durable. Raises OSError for those that failed and that nobody asked."""
    if _saver is not None and _owner == os.getpid():
        _saver.wait()


def _background() -> _native.Saver:
    """The saver of this process: one that was forked has its own."""
    global _saver, _owner
    with _lock:
        if _saver is None or _owner != os.getpid():
            _saver, _owner = _native.Saver(), os.getpid()
            atexit.register(_at_exit, _saver, _owner)
    return _saver


def _at_exit(saver: _native.Saver, owner: int) -> None:
    if owner != os.getpid():
        return
    try:
        saver.wait()
    except OSError as error:
        print(f"florc: {error}", file=sys.stderr)


def _after_fork() -> None:
    # A thread of the parent may have held the lock.
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Records:
    """What torch's own saving code writes into: the records of the archive, kept."""

    def __init__(self) -> None:
        self.found: list[_Entry] = []

    def write_record(self, name: str, data: Any, size: int) -> None:
        """Keep one record: text, bytes, or a storage."""
        self.found.append((name, data.encode() if isinstance(data, str) else data))


def _entries(obj: Any) -> list[_Entry]:
    """The archive's entries in the order of the file."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "serialization"):
        data = io.BytesIO()
        pickle.dump(obj, data, protocol=2)
        return [("data.pkl", data.getvalue()), ("version", b"3\n")]
    records = _Records()
    torch.serialization._save(obj, records, pickle, torch.serialization.DEFAULT_PROTOCOL, False)
    return [*records.found, ("version", b"3\n")]


def _part(data: Any) -> Any:
    """Bytes as they are; the memory of a storage, so that it is copied once and without the GIL."""
    return data if isinstance(data, bytes) else _native.MemoryLeaf.of_storage(data)
