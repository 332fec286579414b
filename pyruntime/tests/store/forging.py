"""Stores as a stranger could make them: every hash is right, only the seals are not the user's."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from florc import _native

blake3: Callable[..., Any]


class Forged:
    """A run whose journal is written anew. Needs the run's packs to be beside it."""

    def __init__(self, run: Path):
        self.run, self.store = run, run.parent.parent
        reader = _native.RunReader(str(self.store), run.name)
        self.records: list[tuple[str, Any]] = [(kind, json.loads(text)) for kind, text in reader.records()]
        self._reader = reader

    def each(self, kind: str, change: Callable[[Any], Any]) -> None:
        """Change every record of a kind."""
        self.records = [(name, change(payload) if name == kind else payload) for name, payload in self.records]

    def head(self, **fields: Any) -> None:
        """Say something else of the run, in the journal and in `run.json`."""
        self.each("run", lambda payload: {**payload, **fields})
        path = self.run / "run.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))

    def source(self, text: str) -> None:
        """Another text of every source."""

        def change(payload: dict[str, Any]) -> dict[str, Any]:
            (self.run / "source" / payload["kept"]).write_text(text)
            return {**payload, "hash": hashlib.blake2b(text.encode(), digest_size=32).hexdigest()}

        self.each("source", change)

    def graphs(self, change: Callable[[dict, list], None]) -> None:
        """Change the object graph and the leaves of every checkpoint; they go into a pack of their own."""
        parts: dict[int, list[bytes]] = {}
        for kind, payload in self.records:
            if kind == "checkpoint":
                graph, *leaves = [self._reader.read_chunk(chunk["hash"]) for chunk in payload["chunks"]]
                document = json.loads(graph)
                change(document, leaves)
                parts[payload["seq"]] = [json.dumps(document).encode(), *leaves]
        recorder = _native.Recorder(str(self.store), "aside", engine="inline", max_staging=1 << 22)
        for seq, (graph, *leaves) in parts.items():
            assert recorder.submit("{}", graph, leaves) is not None, seq
        recorder.close()
        aside = _native.RunReader(str(self.store), "aside")
        chunks = [json.loads(text)["chunks"] for kind, text in aside.records() if kind == "checkpoint"]
        for path in sorted((self.store / "runs" / "aside").iterdir()):
            path.unlink()
        (self.store / "runs" / "aside").rmdir()
        new = dict(zip(parts, chunks))
        self.each("checkpoint", lambda payload: {**payload, "chunks": new[payload["seq"]]})

    def write(self, version: int = 2) -> None:
        """Write the journal, with hashes as they must be and seals of zeros."""
        new = ("run", "source") if version == 1 else ()
        records = [(kind, payload) for kind, payload in self.records if kind not in new]
        (self.run / "journal.0").write_bytes(journal([(kind, json.dumps(payload)) for kind, payload in records], version))


def journal(records: list[tuple[str, str]], version: int) -> bytes:
    """The bytes of a journal, as docs/run-format.md has them."""
    out = b"FLORCJNL" + struct.pack("<I", version) + bytes(4)
    chain = _hash(out)[:16]
    for kind, payload in records:
        body = kind.encode() + payload.encode()
        lengths = struct.pack("<BI", len(kind.encode()), len(payload.encode()))
        sealed = body + (bytes(16) if version > 1 else b"")
        record = lengths + _hash(chain + lengths)[:8] + sealed
        chain = _hash(chain + lengths + sealed)[:16]
        out += record + chain
    return out


def _hash(data: bytes) -> bytes:
    """BLAKE3; the wheel has it for chunks."""
    found = _native.chunk_hashes([data])
    if not found:
        pytest.skip("no BLAKE3")
    return bytes.fromhex(found[0])
