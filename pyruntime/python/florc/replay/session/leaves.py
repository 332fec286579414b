"""The leaves of one checkpoint in the store: small ones at hand, large ones read when they are needed."""

from __future__ import annotations

from ... import _native

LARGE = 64 << 10
"""Leaves of fewer bytes are read when florc decides whether to restore a block, so that damage in them is found then. To read a
larger one to where it belongs saves more than it costs to find its place."""


class Leaves:
    """What `state.restore` reads of a checkpoint whose graph is `document`."""

    def __init__(self, reader: _native.RunReader, hashes: list[str], sizes: list[int], held: dict[int, str], may_wait: bool):
        """`held`: by the address of a tensor, the chunk that was last read to it. A guess: what the memory holds is hashed."""
        self._reader, self._hashes, self._held = reader, hashes, held
        self._small = {i: reader.read_chunk(hashes[i]) for i, size in enumerate(sizes) if size < LARGE}
        self.may_wait = may_wait
        self.damage = ""
        """Why a leaf could not be read, once that happened."""

    def is_at_hand(self, index: int) -> bool:
        """Whether a leaf was read already."""
        return index in self._small

    def __call__(self, index: int) -> bytes:
        """The bytes of a leaf. Raises StoreError."""
        small = self._small.get(index)
        if small is not None:
            return small
        try:
            return self._reader.read_chunk(self._hashes[index])
        except _native.StoreError as error:
            self.damage = str(error)
            raise

    def fill(self, wanted: list[tuple[int, _native.MemoryLeaf, int]]) -> None:
        """Bring leaves to memory that they fill, of tensors at these addresses. What is there already is neither read nor copied
        (frozen layers). Raises StoreError."""
        hashes = [self._hashes[index] for index, _, _ in wanted]
        try:
            self._reader.fill(
                [(chunk, memory, self._held.get(tensor) == chunk) for chunk, (_, memory, tensor) in zip(hashes, wanted)]
            )
        except _native.StoreError as error:
            self.damage = str(error)
            raise
        self._held.update((tensor, chunk) for chunk, (_, _, tensor) in zip(hashes, wanted))

    def let_go(self) -> None:
        """Forget the small leaves: what waits is large."""
        self._small.clear()
