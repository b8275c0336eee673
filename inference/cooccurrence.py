"""Owns weighted co-occurrence in bulk: of very many observations at once, which files changed together.

It is not the score of one queried file (`cochange`, which decays by touches and keeps the evidence), and it
holds no histories: files as an incidence in, the pairs with the sum of their observations' weights out. An
observation of n files counts min(1, 3 / (n - 1)) for each of its pairs, or 1 / (n - 1), nothing above
`MAX_SIZE`.

Only the upper triangle is made, in blocks of rows: an incidence of file q makes a pair with each higher file
of its observation, so all pairs of a row are known from the incidences of one file, and sorting a block by
(row, column, observation) in one integer puts equal pairs side by side, in an order that makes sums of floats
come out the same every time. `bench/cooccurrence_speed.py` holds it against a sparse matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from inference.cochange import FULL_SIZE, MAX_SIZE

BLOCK = 1 << 19
"""So many pairs are worked on at once, unless one file alone has more."""
_MOST = np.iinfo(np.int64).max

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class SizeWeight(StrEnum):
    """How much an observation of n files says about each pair in it."""

    CAPPED = "capped"
    """min(1, 3 / (n - 1)), as in `cochange.size_weight`."""
    SHARED = "shared"
    """1 / (n - 1): every file of an observation has the same to give, whatever its size."""


class Incidence(NamedTuple):
    """Which files each observation changed: those of observation i are `files[bounds[i]:bounds[i + 1]]`.

    Files are numbers from 0 on, in any order; one that stands twice in an observation counts once.
    """

    bounds: ArrayLike
    files: ArrayLike


class Pairs(NamedTuple):
    """Pairs in order of (lower, higher), each once, with the sum of the weights of its observations."""

    lower: NDArray[np.int32]
    higher: NDArray[np.int32]
    weights: Floats


class _Rows(NamedTuple):
    """Incidences in order of observations and files; `last` is where each one's observation ends."""

    files: NDArray[np.int32]
    observation: NDArray[np.int32]
    last: NDArray[np.int32]
    weights: Floats


def size_weights(sizes: ArrayLike, kind: SizeWeight = SizeWeight.CAPPED) -> Floats:
    """Return the weight of observations of these sizes: 0 for one file and for bulk."""
    given = np.asarray(sizes, dtype=np.int64)
    others = np.maximum(given - 1, 1).astype(np.float64)
    match kind:
        case SizeWeight.CAPPED:
            weights = np.minimum(1.0, (FULL_SIZE - 1) / others)
        case SizeWeight.SHARED:
            weights = 1.0 / others
    return np.where((given > 1) & (given <= MAX_SIZE), weights, 0.0)


def cooccurrence(
    incidence: Incidence,
    kind: SizeWeight = SizeWeight.CAPPED,
    decay: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
) -> Pairs:
    """Return every pair of files that one observation changed, with its weight.

    Args:
        incidence: the files of each observation.
        kind: what its size makes of an observation.
        decay: a further factor for each observation, such as its age; one of 0 leaves it out. None is 1.
        sizes: how many files each observation changed, where `incidence` leaves some out; None counts.

    Raises:
        ValueError: bounds, files, decay and sizes do not fit each other, or a file's number is negative.
    """
    rows = _rows(incidence, kind, decay, sizes)
    if rows is None:
        return Pairs(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    place = np.arange(1, len(rows.files) + 1, dtype=np.int32)
    partners: NDArray[np.int32] = rows.last - place
    del place
    total = int(partners.sum(dtype=np.int64))
    lower, higher, weights = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total)
    filled = 0
    for block in _blocks(rows, partners):
        low, high, summed = _summed(rows, block, partners[block])
        end = filled + len(low)
        lower[filled:end], higher[filled:end], weights[filled:end] = low, high, summed
        filled = end
    for column in (lower, higher, weights):
        column.resize(filled, refcheck=False)
    return Pairs(lower, higher, weights)


def _rows(
    incidence: Incidence, kind: SizeWeight, decay: ArrayLike | None, sizes: ArrayLike | None
) -> _Rows | None:
    """Return the incidences of the observations that weigh something, None when there are none."""
    bounds, files = np.asarray(incidence.bounds, np.int64), np.asarray(incidence.files)
    counts = np.diff(bounds)
    _check(bounds, counts, files)
    found = _numbered(counts, files)
    counts = np.bincount(found[0], minlength=len(counts))
    weights = size_weights(counts if sizes is None else _fitting(sizes, counts, "sizes"), kind)
    if decay is not None:
        weights = weights * _fitting(decay, counts, "decay")
    kept = (weights != 0.0) & (counts > 1)
    if not kept.any():
        return None
    staying = kept[found[0]]
    observation = np.repeat(np.arange(int(kept.sum()), dtype=np.int32), counts[kept])
    last = np.cumsum(counts[kept]).astype(np.int32)[observation]
    return _Rows(found[1][staying], observation, last, weights[kept])


def _check(bounds: Integers, counts: Integers, files: NDArray[np.generic]) -> None:
    whole = len(bounds) > 0 and bounds[0] == 0 and bounds[-1] == len(files)
    if not whole or (counts < 0).any():
        raise ValueError(f"Bounds must rise from 0 to {len(files)}, the number of incidences; mend them.")
    if len(files) and not 0 <= int(files.min()) <= int(files.max()) <= np.iinfo(np.int32).max:
        raise ValueError("A file's number is outside 0 to 2^31 - 1; number the files from 0 on.")


def _fitting(values: ArrayLike, counts: Integers, name: str) -> Floats:
    given = np.asarray(values, np.float64)
    if given.shape != counts.shape:
        raise ValueError(
            f"{name} has the shape {given.shape} for {len(counts)} observations; give one for each."
        )
    return given


def _numbered(counts: Integers, files: NDArray[np.generic]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return observation and file of each incidence in that order, each file once in an observation."""
    observation = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    members = files.astype(np.int32)
    same = observation[1:] == observation[:-1]
    if (same & (members[1:] <= members[:-1])).any():
        width = int(members.max()) + 1
        key = np.unique(observation.astype(np.int64) * width + members)
        observation, members = (part.astype(np.int32) for part in np.divmod(key, width))
    return observation, members


def _blocks(rows: _Rows, partners: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
    """Yield incidences by file, cut between files so that a block has about `BLOCK` pairs.

    The keys of a block must fit into 63 bits, which limits how many files it may span, too.
    """
    making = np.flatnonzero(partners)
    key = rows.files[making].astype(np.int64) * len(partners) + making
    key.sort()
    key %= len(partners)
    order = key.astype(np.int32)
    del key, making
    files = rows.files[order]
    starts = np.flatnonzero(np.diff(files, prepend=-1))
    heads = files[starts].astype(np.int64)
    made = np.cumsum(np.add.reduceat(partners[order], starts, dtype=np.int64))
    span = _MOST // ((int(rows.files.max()) + 1) * len(rows.weights))
    begin, done = 0, 0
    while begin < len(starts):
        end = max(begin + 1, int(np.searchsorted(made, done + BLOCK, side="right")))
        end = min(end, int(np.searchsorted(heads, min(int(heads[begin]) + span, _MOST))))
        yield order[starts[begin] : starts[end] if end < len(starts) else len(order)]
        begin, done = end, int(made[end - 1])


def _summed(
    rows: _Rows, block: NDArray[np.int32], partners: NDArray[np.int32]
) -> tuple[Integers, Integers, Floats]:
    """Return (lower, higher, weight) of all pairs that these incidences make with higher files."""
    first = int(rows.files[block[0]])
    width, observations = int(rows.files.max()) + 1, len(rows.weights)
    ends = np.cumsum(partners, dtype=np.int64)
    place = np.arange(ends[-1]) + np.repeat(block + 1 - ends + partners, partners)
    key = rows.files[place].astype(np.int64)
    del place
    key *= observations
    base = (rows.files[block].astype(np.int64) - first) * (width * observations) + rows.observation[block]
    key += np.repeat(base, partners)
    key.sort()
    pair = key // observations
    key -= pair * observations
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    summed = np.add.reduceat(rows.weights[key], starts)
    lower, higher = np.divmod(pair[starts], width)
    return lower + first, higher, summed
