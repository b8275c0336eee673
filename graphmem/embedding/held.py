"""Owns a block of vectors in memory while a project is being asked, and its product with a question.

It is not what is kept on the disk (that is `graphmem.embedding.store`). Rows are only ever added or blanked,
so that a product under way needs no lock: a row never comes to stand for another passage.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graphmem.embedding.port import Vectors

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

_AT_FIRST = 256
_DEAD = -1
_MOSTLY_DEAD = 0.5

Key = tuple[int, int]


class Scored(NamedTuple):
    """Passages by (seq, ord) and their cosines with a question, all of shape (n,)."""

    seqs: Integers
    ords: npt.NDArray[np.int32]
    scores: Floats


class Held:
    """Vectors of one space, float32, shape (rows, dimension)."""

    def __init__(self, dimension: int) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._dead = 0
        self._rows: dict[Key, int] = {}
        self._seqs = np.full(_AT_FIRST, _DEAD, np.int64)
        self._ords = np.zeros(_AT_FIRST, np.int32)
        self._matrix = np.zeros((_AT_FIRST, dimension), np.float32)

    def add(self, keys: list[Key], vectors: Vectors) -> None:
        """Add vectors, shape (keys, dimension); a key that is there already is replaced."""
        with self._lock:
            self._blank(keys)
            if self._count + len(keys) > len(self._seqs):
                self._move(len(keys))
            first, end = self._count, self._count + len(keys)
            self._seqs[first:end] = [seq for seq, _ in keys]
            self._ords[first:end] = [ord for _, ord in keys]
            self._matrix[first:end] = vectors
            self._rows.update(zip(keys, range(first, end), strict=True))
            self._count = end

    def drop(self, keys: Collection[Key]) -> None:
        """Take vectors out; keys that are not there are left alone."""
        with self._lock:
            self._blank(keys)
            if self._dead > _MOSTLY_DEAD * self._count:
                self._move(0)

    def scored(self, vector: Vectors) -> Scored:
        """Return the cosine of every row with `vector`, shape (dimension,), of length 1."""
        with self._lock:
            count, dead = self._count, self._dead
            seqs, ords = self._seqs[:count].copy(), self._ords[:count].copy()
            matrix = self._matrix[:count]
        scores = matrix @ vector
        if not dead:
            return Scored(seqs, ords, scores)
        living = seqs != _DEAD
        return Scored(seqs[living], ords[living], scores[living])

    def _blank(self, keys: Collection[Key]) -> None:
        for key in keys:
            row = self._rows.pop(key, None)
            if row is not None:
                self._seqs[row] = _DEAD
                self._matrix[row] = 0.0
                self._dead += 1

    def _move(self, more: int) -> None:
        """Move the living rows into new arrays with room; whoever reads the old ones goes on doing so."""
        living = np.flatnonzero(self._seqs[: self._count] != _DEAD)
        count = len(living)
        size = count + count // 4 + more + _AT_FIRST
        seqs = np.full(size, _DEAD, np.int64)
        ords = np.zeros(size, np.int32)
        matrix = np.zeros((size, self._matrix.shape[1]), np.float32)
        seqs[:count], ords[:count] = self._seqs[living], self._ords[living]
        matrix[:count] = self._matrix[living]
        self._seqs, self._ords, self._matrix = seqs, ords, matrix
        self._count, self._dead = count, 0
        keys = zip(seqs[:count].tolist(), ords[:count].tolist(), strict=True)
        self._rows = dict(zip(keys, range(count), strict=True))
