"""Whose a store is: what this user recorded is sealed with a key that only this user has; anything else is foreign.

The key is `$XDG_CONFIG_HOME/florc/key` (`~/.config/florc/key`), never in a store. Nothing of a foreign run is executed or
restored unless its owner says so (`--trust`): see docs/security.md.
"""

from __future__ import annotations

import os
import stat

from ..support.light import suppress


def key() -> bytes | None:
    """The key of this user, 32 bytes; None where there is none."""
    return _read(_path())[0]


def key_to_record() -> tuple[bytes | None, str]:
    """The key, made when it is missing; without one, why it cannot be made."""
    path = _path()
    found, why = _read(path)
    if found is not None or why != _MISSING:
        return found, why
    beside = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.fchmod(descriptor, 0o600)
            os.write(descriptor, os.urandom(32).hex().encode() + b"\n")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _name(beside, path)
    except OSError as error:
        return None, f"{path}: {(error.strerror or str(error)).lower()}"
    finally:
        with suppress(OSError):
            os.remove(beside)
    return _read(path)


def _name(beside: str, path: str) -> None:
    """Give a new key its name, unless another recording was faster: there is one key."""
    try:
        os.link(beside, path)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        if not os.path.exists(path):
            os.rename(beside, path)


_MISSING = "missing"


def _path() -> str:
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):  # the specification says to ignore such a one
        base = os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "florc", "key")


def _read(path: str) -> tuple[bytes | None, str]:
    if not os.path.isabs(path):
        return None, "there is no home folder"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None, _MISSING
    except OSError as error:
        return None, f"{path}: {(error.strerror or str(error)).lower()}"
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return None, f"{path} is not a file of this user"
        if found.st_mode & 0o077:  # others could have made seals with it
            return None, f"{path} can be read by others: chmod 600 it, or remove it to get another key"
        text = os.read(descriptor, 100).strip()
    finally:
        os.close(descriptor)
    try:
        own = bytes.fromhex(text.decode("ascii"))
    except ValueError:
        own = b""
    return (own, "") if len(own) == 32 else (None, f"{path} is damaged: remove it to get another key")
