"""Library functions that open files in C, unseen by Python: a replay passes each of them the path in its view."""

from __future__ import annotations

import os
import sys

from .. import _native
from ..support.light import OWN, NamedTuple, suppress
from .start import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Tell = Callable[[str, str, Sequence[str]], str]
    """(path, how it is opened, endings of further files) -> the path that the function is called with."""

READ, UPDATED, ANEW = "r", "u", "w"
"""A file is read; changed in place; made anew."""
told: Tell = lambda path, how, endings: path
"""What `adapt` was given: `florc.save` asks, too."""


class Writer(NamedTuple):
    """A function, and which of its arguments is the path of a file."""

    module: str
    name: str
    at: int
    """Its position; in a method, that of the object is 0."""
    keyword: str
    mode: str = ANEW
    """One of the above, or `m`: the argument after it, `mode`, tells."""
    endings: tuple[str, ...] = ()
    """Of further files that it makes beside that one."""


WRITERS = (
    Writer("torch.serialization", "_open_zipfile_writer_file.__init__", 1, "name"),
    Writer("torch.storage", "UntypedStorage.from_file", 0, "filename", READ),
    Writer("torch.distributed.rendezvous", "FileStore.__init__", 1, "file_name"),
    Writer("torch.jit._script", "RecursiveScriptModule.save", 1, "f"),
    Writer("torch.jit._serialization", "save", 1, "f"),
    Writer("torch.jit._serialization", "load", 0, "f", READ),
    Writer("safetensors.torch", "serialize_file", 1, "filename"),
    Writer("safetensors.numpy", "serialize_file", 1, "filename"),
    Writer("safetensors.torch", "safe_open", 0, "filename", READ),
    Writer("safetensors", "safe_open", 0, "filename", READ),
    Writer("sqlite3", "connect", 0, "database", UPDATED, ("-journal", "-wal", "-shm")),
    Writer("dbm.gnu", "open", 0, "filename", UPDATED),
    Writer("dbm.ndbm", "open", 0, "filename", UPDATED, (".db", ".dir", ".pag")),
    Writer("h5py._hl.files", "File.__init__", 1, "name", "m"),
    Writer("pyarrow.lib", "memory_map", 0, "path", "m"),
    Writer("pyarrow.lib", "OSFile", 0, "path", "m"),
    Writer("pyarrow.parquet.core", "ParquetWriter.__init__", 1, "where"),
    Writer("pyarrow.parquet.core", "ParquetFile.__init__", 1, "source", READ),
    Writer("pyarrow.parquet.core", "read_table", 0, "source", READ),
    Writer("pyarrow.feather", "write_feather", 1, "dest"),
    Writer("pyarrow.feather", "read_table", 0, "source", READ),
    Writer("cv2", "imwrite", 0, "filename"),
    Writer("cv2", "imread", 0, "filename", READ),
    Writer("torchvision.io.image", "read_file", 0, "path", READ),
    Writer("torchvision.io.image", "write_file", 0, "filename"),
    Writer("xgboost.core", "Booster.save_model", 1, "fname"),
    Writer("xgboost.core", "Booster.load_model", 1, "fname", READ),
    Writer("lightgbm.basic", "Booster.save_model", 1, "filename"),
    Writer("lightgbm.basic", "Booster.__init__", 3, "model_file", READ),
    Writer("lightgbm.basic", "_InnerPredictor.from_model_file", 0, "model_file", READ),
)


def adapt(tell: Tell, readers: bool = False) -> None:
    """Have each writer ask for its path, those of libraries that are imported later, too; `readers`: those that read as well."""
    global told
    told = tell
    for writer in WRITERS:
        if writer.mode == READ and not readers:
            continue
        after_import(writer.module, _tries(writer, tell, readers))


def _tries(writer: Writer, tell: Tell, readers: bool) -> Callable[[], None]:
    return lambda: _try(writer, tell, readers)


def _try(writer: Writer, tell: Tell, readers: bool) -> None:
    with suppress(Exception):  # another version of the library: the script's import goes on
        _replace(writer, tell, readers)


def _replace(writer: Writer, tell: Tell, readers: bool) -> None:
    module = sys.modules[writer.module]
    holder: Any = module
    *outer, last = writer.name.split(".")
    for part in outer:
        holder = getattr(holder, part, None)
    original = getattr(holder, last, None)
    is_class = isinstance(original, type)
    if original is None or is_class and not readers:  # another version of the library; a class must stay the same
        return

    def call(*args: Any, **options: Any) -> Any:
        args, options = _told(writer, tell, args, options)
        return original(*args, **options)

    is_method = bool(outer) and writer.at > 0
    made: Any = (
        _subclass(original, writer, tell)
        if is_class
        else (_native.Redirect(original, call, writer.name, writer.module, OWN, is_method))
    )
    if made is None:
        return
    package = writer.module.partition(".")[0]
    setattr(holder, last, made)
    if not outer:  # `from sqlite3 import connect`
        for name, other in list(sys.modules.items()):
            if name.partition(".")[0] in (package, "dbm") and getattr(other, "__dict__", {}).get(last) is original:
                setattr(other, last, made)


def _subclass(original: type, writer: Writer, tell: Tell) -> type | None:
    def __new__(cls: Any, *args: Any, **options: Any) -> Any:
        args, options = _told(writer, tell, args, options)
        return original.__new__(cls, *args, **options)

    try:
        return type(original.__name__, (original,), {"__new__": __new__, "__module__": original.__module__})
    except TypeError:  # it cannot be derived from
        return None


def _told(writer: Writer, tell: Tell, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    given = args[writer.at] if len(args) > writer.at else options.get(writer.keyword)
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if not isinstance(given, (str, bytes)):
        return args, options  # a file that is open, a buffer
    mode = writer.mode
    if mode == "m":
        spelled = str(options.get("mode") or (args[writer.at + 1] if len(args) > writer.at + 1 else "r"))
        mode = READ if spelled in ("r", "rb") else ANEW if spelled[0] in "wx" else UPDATED
    path = path_of_database(given) if writer.module == "sqlite3" else os.fsdecode(given)
    if path is None or "://" in path:
        return args, options
    if writer.module == "sqlite3" and "mode=ro" in os.fsdecode(given).partition("?")[2]:
        mode = READ
    told: Any = tell(path, mode, writer.endings)
    if told == path:
        return args, options
    if writer.module == "sqlite3" and os.fsdecode(given).startswith("file:"):
        from urllib.parse import quote

        told = "file:" + quote(told) + os.fsdecode(given)[5:].partition("?")[1] + os.fsdecode(given).partition("?")[2]
    told = os.fsencode(told) if isinstance(given, bytes) else told
    if len(args) > writer.at:
        return (*args[: writer.at], told, *args[writer.at + 1 :]), options
    return args, {**options, writer.keyword: told}


def path_of_database(database: Any) -> str | None:
    """The file of `sqlite3.connect(database)`; None for one that is in memory."""
    if not isinstance(database, (str, bytes, os.PathLike)):
        return None
    text = os.fsdecode(os.fspath(database))
    if text.startswith("file:"):
        text, _, query = text[5:].partition("?")
        from urllib.parse import unquote

        text = unquote(text[2:] if text.startswith("///") else text)
        if "mode=memory" in query:
            return None
    return None if text in ("", ":memory:") else text


def names() -> list[str]:
    """The libraries that are known here."""
    return sorted({writer.module.partition(".")[0] for writer in WRITERS})
