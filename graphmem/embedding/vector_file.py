"""Owns one file of vectors: a head that says whose it is, and float16 rows behind it, memory-mapped.

It knows neither passages nor models (that is `graphmem.embedding.store`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from graphmem.embedding.port import Vectors
from graphmem.errors import StorageError

Halves = npt.NDArray[np.float16]

HEAD_BYTES = 64
_MAGIC = b"graphmem vectors 1\n"
_ROWS = 1_024


class VectorFile:
    """Vectors of `dimension` numbers, by slot; a file that is missing is made.

    `token` (32 letters) stands in the head and tells this file from every other.

    Raises:
        StorageError: the disk is full or not writable.
    """

    def __init__(self, path: Path, dimension: int, token: str) -> None:
        self.path = path
        self._dimension = dimension
        self._bytes_a_row = 2 * dimension
        self._head = (_MAGIC + token.encode("ascii")).ljust(HEAD_BYTES, b"\0")
        if not path.exists():
            self._write(lambda file: os.pwrite(file, self._head, 0), os.O_CREAT)

    def is_mine(self, slots: int) -> bool:
        """Return whether the file has the head it was made with and room for so many slots."""
        try:
            with self.path.open("rb") as file:
                head = file.read(HEAD_BYTES)
            size = self.path.stat().st_size
        except OSError:
            return False
        return head == self._head and size >= HEAD_BYTES + slots * self._bytes_a_row

    def read(self) -> Halves:
        """Return all rows, shape (slots, dimension), mapped from the disk."""
        rows = (self.path.stat().st_size - HEAD_BYTES) // self._bytes_a_row
        if rows <= 0:
            return np.zeros((0, self._dimension), np.float16)
        return np.memmap(self.path, np.float16, "r", HEAD_BYTES, (rows, self._dimension))

    def write(self, slots: Sequence[int], vectors: Vectors) -> Halves:
        """Put vectors into slots, on the disk when this returns; return them as they are stored."""
        halves = np.ascontiguousarray(vectors, dtype=np.float16)

        def put(file: int) -> None:
            needed = HEAD_BYTES + (max(slots) + 1) * self._bytes_a_row
            if os.fstat(file).st_size < needed:
                # Room is taken before it is needed: writing past the end says so when the disk is full.
                os.posix_fallocate(file, 0, needed + _ROWS * self._bytes_a_row)
            for slot, row in zip(slots, halves, strict=True):
                os.pwrite(file, row.tobytes(), HEAD_BYTES + slot * self._bytes_a_row)

        self._write(put)
        return halves

    def blank(self, slots: Sequence[int]) -> None:
        """Overwrite slots with zeros, on the disk when this returns."""
        zeros = bytes(self._bytes_a_row)

        def put(file: int) -> None:
            size = os.fstat(file).st_size
            for slot in slots:
                start = HEAD_BYTES + slot * self._bytes_a_row
                if start < size:
                    os.pwrite(file, zeros[: size - start], start)

        if slots and self.path.exists():
            self._write(put)

    def size_bytes(self) -> int:
        """Return the size of the file in bytes."""
        return self.path.stat().st_size if self.path.exists() else 0

    def _write(self, put: Callable[[int], object], flags: int = 0) -> None:
        try:
            file = os.open(self.path, os.O_RDWR | flags, 0o600)
            try:
                put(file)
                os.fsync(file)
            finally:
                os.close(file)
        except OSError as fault:
            raise StorageError(
                f"{self.path} can't be written ({fault.strerror}); free some space or check permissions."
            ) from fault
