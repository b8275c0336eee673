"""Owns the columns of a pair: what the queried file's own history says of a candidate.

It is not the closed form's signals, though geom and the firm score are the same numbers. k counts the queried
file's changes from the newest on, n is the number of files in one; half-lives are in days.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from inference.cochange import DECAY, FIRM_SHRINK, FULL_SIZE, MAX_SIZE, SHRINK
from inference.table import DAY, NEVER_DAYS, SMALL, Column, Table

Rows = NDArray[np.intp]

_NOT_JOINT = 99.0
_NEWEST = 3
_FRESH = 0.7


def pairs(table: Table) -> dict[str, Column]:
    """Return the columns about changes that held both files, and about the last of them.

    Let w = min(1, 3 / (n - 1)) up to 100 files. `geom` and `firm` are sums of .93^k w, `geom_actor` of those
    of the asking actor; `seldom_*` are sums of 2^(-age / half-life) / (n - 1), each over the same sum without
    the size; `confidence` is the share of changes of at most 30 files that held both.
    """
    edits = table.hearing.history.edits
    rows = {file: row for row, file in enumerate(table.files)}
    met = [[rows[file] for file in edit.edited if file in rows] for edit in edits]
    count = len(table.files)
    row = np.array([*chain.from_iterable(met)], np.intp)
    turn = np.repeat(np.arange(len(edits)), [*map(len, met)]) if len(row) else np.array((), np.intp)
    size = np.array([edit.size for edit in edits], float)
    age = np.array([max(0.0, table.question.now - edit.at) / DAY for edit in edits], float)
    links = ((size > 1) & (size <= MAX_SIZE)).astype(float)
    small = links * (size <= SMALL)
    others = np.maximum(1.0, size - 1.0)
    decay = DECAY ** np.arange(len(edits))
    full = links * np.minimum(1.0, (FULL_SIZE - 1) / others)
    own = np.array([edit.actor == table.question.actor for edit in edits], float) * decay
    fade = {days: np.exp2(-age / days) for days in (90.0, 180.0, 365.0)}

    def summed(weights: Column) -> Column:
        return np.bincount(row, weights[turn], count).astype(float) if len(row) else np.zeros(count)

    sums = summed(full * decay)
    geom = sums / (decay.sum() + SHRINK)
    best = float(geom.max(initial=0.0))
    year = summed(links / others * fade[365.0]) / (fade[365.0].sum() + SHRINK)
    few = summed(small)
    alone = max(1.0, float((size <= SMALL).sum()))
    theirs = table.column(len(trail.edits) for trail in table.trails)
    steps = float(max(1, len(table.chronicle.occasions)))
    lift = np.log(np.maximum(1e-9, few * steps / np.maximum(1.0, alone * theirs)))
    return {
        "geom": geom,
        "geom_share": geom / (best + 1e-6),
        "geom_best": table.filled(best),
        "firm": sums / (decay.sum() + FIRM_SHRINK),
        "geom_actor": summed(full * own) / (float(own.sum()) + FIRM_SHRINK),
        "seldom_year": year,
        "seldom_half_year": summed(links / others * fade[180.0]) / (fade[180.0].sum() + SHRINK),
        "plain_quarter": summed(links * fade[90.0]) / (fade[90.0].sum() + SHRINK),
        "confidence": few / alone,
        "npmi": np.where(few > 0, lift / -np.log(np.clip(few / steps, 1e-9, 0.999)), -1.0),
        "together": np.log1p(summed(links)),
        "weighted": np.log1p(summed(links / others)),
        "company": table.filled(table.hearing.heard.company),
        "expected": table.filled(float(year.sum())),
        **_last_joint(table, row, turn, size, age, full),
    }


def _last_joint(
    table: Table, row: Rows, turn: Rows, size: Column, age: Column, full: Column
) -> dict[str, Column]:
    """Return the columns about the newest change that held both."""
    count = len(table.files)
    joint_k, joint_size, days = table.filled(_NOT_JOINT), table.filled(0.0), table.filled(NEVER_DAYS)
    fresh = table.filled(0.0)
    if len(row):
        first = np.full(count, -1, np.intp)
        # Written from the oldest to the newest, so that the newest stays.
        first[row[::-1]] = turn[::-1]
        held = first >= 0
        joint_k[held] = first[held]
        joint_size[held] = size[first[held]]
        days[held] = age[first[held]]
        near = turn < _NEWEST
        fresh = np.bincount(row[near], _FRESH ** turn[near] * full[turn[near]], count).astype(float)
    return {"joint_k": joint_k, "joint_size": joint_size, "days_since": np.log1p(days), "fresh": fresh}
