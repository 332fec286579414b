"""Changes of a store that nobody should make: each is applied to a copy of a good one, and can be taken back."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

_VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    7,
    1e300,
    "",
    "0",
    "7",
    "\x1b[31mred",
    "../../x",
    "/etc/passwd",
    "a\0b",
    [],
    ["x"],
    [None],
    {},
    {"a": 1},
    [[["deep"]]],
    "ok",
    "running",
    "killed",
    "exit 3",
]


class Mutation:
    """One change: what it does, and the folder it is done to."""

    def __init__(self, store: Path, number: int):
        self._store = store
        self._random = random.Random(number)
        self.what = ""
        self._files = sorted(path for path in store.rglob("*") if path.is_file() and "replays" not in path.parts)
        kinds: list[Callable[[], None]] = [
            self._flip,
            self._flip,
            self._flip,
            self._field,
            self._field,
            self._cut,
            self._overwrite,
            self._append,
            self._exchange,
            self._delete,
            self._copy,
            self._folder,
            self._rename,
            self._exchange_runs,
        ]
        kinds[number % len(kinds)]()

    def _one(self, pattern: str | None = None) -> Path:
        """A file; each name as often as any other, so that the few small ones get their turn."""
        names = sorted({path.suffix or path.name for path in self._files}) if pattern is None else [pattern]
        name = self._random.choice(names)
        return self._random.choice([path for path in self._files if name in (path.suffix, path.name)])

    def _tell(self, what: str, *paths: Path) -> None:
        self.what = f"{what} {' '.join(str(path.relative_to(self._store)) for path in paths)}"

    def _flip(self) -> None:
        path = self._one()
        data = bytearray(path.read_bytes())
        if not data:
            return self._append()
        at, bit = self._random.randrange(len(data)), self._random.randrange(8)
        data[at] ^= 1 << bit
        path.write_bytes(data)
        self._tell(f"flip bit {bit} of byte {at} of", path)

    def _cut(self) -> None:
        path = self._one()
        size = self._random.randrange(path.stat().st_size + 1)
        os.truncate(path, size)
        self._tell(f"cut to {size}", path)

    def _overwrite(self) -> None:
        path = self._one()
        data = bytearray(path.read_bytes())
        at = self._random.randrange(len(data) + 1)
        size = self._random.choice([1, 16, 200, 5000])
        data[at : at + size] = bytes(min(size, len(data) - at)) if self._random.random() < 0.5 else self._random.randbytes(size)
        path.write_bytes(data)
        self._tell(f"overwrite {size} at {at} of", path)

    def _append(self) -> None:
        path = self._one()
        with path.open("ab") as file:
            file.write(self._one(path.suffix or path.name).read_bytes() if self._random.random() < 0.5 else b"\0" * 50)
        self._tell("append to", path)

    def _field(self) -> None:
        path = self._one("run.json")
        info = json.loads(path.read_text())
        holder: Any = info
        trail = []
        while True:
            keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
            key = self._random.choice(keys)
            trail.append(key)
            if isinstance(holder[key], (dict, list)) and holder[key] and self._random.random() < 0.7:
                holder = holder[key]
                continue
            break
        if self._random.random() < 0.2:
            del holder[key]
            self._tell(f"drop {trail} of", path)
        else:
            old = holder[key]
            new = self._random.choice([*_VALUES, f"{old}0" if isinstance(old, str) else 1])
            holder[key] = new
            self._tell(f"set {trail} to {new!r} in", path)
        path.write_text(json.dumps(info))

    def _exchange(self) -> None:
        one = self._one()
        other = self._one(one.suffix or one.name) if self._random.random() < 0.8 else self._one()
        first, second = one.read_bytes(), other.read_bytes()
        one.write_bytes(second)
        other.write_bytes(first)
        self._tell("exchange", one, other)

    def _copy(self) -> None:
        one = self._one()
        other = self._one(one.suffix or one.name)
        other.write_bytes(one.read_bytes())
        self._tell("copy", one, other)

    def _delete(self) -> None:
        path = self._one()
        path.unlink()
        self._tell("delete", path)

    def _folder(self) -> None:
        path = self._one()
        path.unlink()
        path.mkdir()
        self._tell("make a folder of", path)

    def _rename(self) -> None:
        run = self._random.choice(sorted((self._store / "runs").iterdir()))
        new = run.with_name(self._random.choice([run.name[:-1] + "x", "99" + run.name, ".hidden", "a b"]))
        run.rename(new)
        self._tell("rename to", run, new)

    def _exchange_runs(self) -> None:
        one, other = self._random.sample(sorted((self._store / "runs").iterdir()), 2)
        if self._random.random() < 0.5:
            aside = one.with_name(".aside")
            one.rename(aside)
            other.rename(one)
            aside.rename(other)
            self._tell("exchange", one, other)
        else:
            shutil.rmtree(other)
            shutil.copytree(one, other)
            self._tell("copy", one, other)
