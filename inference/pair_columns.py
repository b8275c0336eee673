"""Owns the columns of a pair: what the queried file's own history says of a candidate.

It is not the closed form's signals, though geom and the firm score are the same numbers. k counts the queried
file's changes from the newest on, n is the number of files in one; half-lives are in days.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Sequence

import numpy as np
from numpy.typing import NDArray

from inference.cochange import DECAY, FIRM_SHRINK, FULL_SIZE, MAX_SIZE, SHRINK, size_weight
from inference.table import DAY, NEVER_DAYS, NEVER_STEPS, SMALL, Column, Table

Rows = NDArray[np.intp]

_NOT_JOINT = 99.0
_REVERSE = 5
_LOOKED_BACK = 20


def pairs(table: Table) -> dict[str, Column]:
    """Return the columns about changes that held both files, and about the last of them."""
    edits = table.hearing.history.edits
    rows = {file: row for row, file in enumerate(table.files)}
    met = [(rows[file], k) for k, edit in enumerate(edits) for file in edit.edited if file in rows]
    count, asked = len(table.files), len(edits)
    row = np.array([entry[0] for entry in met], np.intp)
    turn = np.array([entry[1] for entry in met], np.intp)
    size = np.minimum(np.array([edit.size for edit in edits], float), 1e6)
    age = np.array([max(0.0, table.question.now - edit.at) / DAY for edit in edits], float)
    k = np.arange(asked)
    links = ((size > 1) & (size <= MAX_SIZE)).astype(float)
    small = links * (size <= SMALL)
    seldom = links / np.maximum(1.0, size - 1.0)
    decay = DECAY**k
    full = links * np.minimum(1.0, (FULL_SIZE - 1) / np.maximum(1.0, size - 1.0)) * decay
    fade = {days: np.exp2(-age / days) for days in (90.0, 180.0, 365.0)}

    def summed(weights: Column) -> Column:
        return np.bincount(row, weights[turn], count).astype(float) if len(row) else np.zeros(count)

    sums = summed(full)
    geom = sums / (decay.sum() + SHRINK)
    best = float(geom.max(initial=0.0))
    year = summed(seldom * fade[365.0]) / (fade[365.0].sum() + SHRINK)
    few = summed(small)
    by_actor = np.array([edit.actor == table.question.actor for edit in edits], float)
    own = float((size <= SMALL).sum())
    theirs = table.column(len(trail.edits) for trail in table.trails)
    steps = float(max(1, len(table.chronicle)))
    lift = few * steps / np.maximum(1.0, own * theirs)
    share = np.clip(few / steps, 1e-9, 0.999)
    return {
        "geom": geom,
        "geom_share": geom / (best + 1e-6),
        "geom_best": table.filled(best),
        "firm": sums / (decay.sum() + FIRM_SHRINK),
        "geom_actor": summed(full * by_actor) / (float((decay * by_actor).sum()) + FIRM_SHRINK),
        "seldom_year": year,
        "seldom_half_year": summed(seldom * fade[180.0]) / (fade[180.0].sum() + SHRINK),
        "plain_quarter": summed(links * fade[90.0]) / (fade[90.0].sum() + SHRINK),
        "last_5": summed(links * (k < 5)) / max(1, min(5, asked)),
        "last_10": summed(links * (k < 10)) / max(1, min(10, asked)),
        "last_20": summed(links * (k < 20)) / max(1, min(20, asked)),
        "confidence": few / max(1.0, own),
        "reverse_confidence": few / np.maximum(1.0, theirs),
        "jaccard": few / np.maximum(1.0, own + theirs - few),
        "npmi": np.where(few > 0, np.log(np.maximum(1e-9, lift)) / -np.log(share), -1.0),
        "together": np.log1p(summed(links)),
        "weighted": np.log1p(summed(seldom)),
        "company": table.filled(table.hearing.heard.company),
        "expected": table.filled(float(year.sum())),
        **_last_joint(table, row, turn),
    }


def _last_joint(table: Table, row: Rows, turn: Rows) -> dict[str, Column]:
    """Return the columns about the newest change that held both."""
    count = len(table.files)
    edits = table.hearing.history.edits
    first = np.full(count, -1, np.intp)
    # Written from the oldest to the newest, so that the newest stays.
    first[row[::-1]] = turn[::-1]
    places = table.asked.edits[: -len(edits) - 1 : -1] if edits else []
    held = set(table.asked.edits[-200:])
    total = len(table.chronicle.occasions)
    joint_k, size, actor = table.filled(_NOT_JOINT), table.filled(0.0), table.filled(0.0)
    days, steps = table.filled(NEVER_DAYS), table.filled(NEVER_STEPS)
    fresh, reverse, after = table.filled(0.0), table.filled(0.0), table.filled(0.0)
    back = table.filled(0.0)
    for place in np.flatnonzero(first >= 0).tolist():
        k = int(first[place])
        edit, theirs = edits[k], table.trails[place].edits
        joint_k[place], size[place] = k, edit.size
        actor[place] = edit.actor == table.question.actor
        days[place], steps[place] = table.days(edit.at), total - places[k]
        last = theirs[-_REVERSE:]
        reverse[place] = sum(each in held for each in last) / len(last)
        back[place] = _reverse(table, theirs, held)
        after[place] = len(theirs) - bisect_right(theirs, places[k])
    if len(row):
        near = turn < 3
        weights = np.array([min(1.0, 3.0 / max(1.0, edit.size - 1.0)) for edit in edits[:3]])
        fresh = np.bincount(row[near], (0.7 ** turn[near]) * weights[turn[near]], count).astype(float)
    return {
        "joint_k": joint_k,
        "joint_size": size,
        "joint_actor": actor,
        "days_since": np.log1p(days),
        "steps_since": np.log1p(steps),
        "fresh": fresh,
        "reverse_5": reverse,
        "reverse_geom": back,
        "changed_after": after,
    }


def _reverse(table: Table, places: Sequence[int], held: Container[int]) -> float:
    """Return geom the other way round, of the candidate's last changes."""
    total, power, weights = 0.0, 1.0, 0.0
    for place in reversed(places[-_LOOKED_BACK:]):
        weights += power
        if place in held:
            total += power * size_weight(table.chronicle.occasions[place].size)
        power *= DECAY
    return total / (weights + SHRINK)
