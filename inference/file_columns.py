"""Owns the columns of the candidate itself, of both names, and of who asks.

It is not what ties the two together by evidence (`pair_columns`) nor by the task's words (`task_columns`).
"""

from __future__ import annotations

import math

import numpy as np

from inference.naming import shared_depth
from inference.sequence import NO_SEQUEL
from inference.table import NEVER_DAYS, SMALL, Column, Table

LATELY = 5
_OWN_OCCASIONS = 8
_OWN_WORDS = 10
_LONG_ENOUGH = 4


def standing(table: Table) -> dict[str, Column]:
    """Return how often and how lately candidate and queried file were changed at all."""
    now, trails, known = table.question.now, table.trails, table.asked.times
    heat = table.chronicle.heat(table.files, now)
    own = {} if table.question.file is None else table.chronicle.heat([table.question.file], now)
    total = len(table.chronicle.occasions)
    first = table.column(table.days(trail.times[0] if trail.times else None) for trail in trails)
    last = table.column(table.days(trail.times[-1] if trail.times else None) for trail in trails)
    return {
        "query_changes": table.filled(math.log1p(len(known))),
        "file_changes": np.log1p(table.column(len(trail.edits) for trail in trails)),
        "heat": np.log(table.column(heat[file] for file in table.files) + 0.05),
        "query_heat": table.filled(math.log(sum(own.values()) + 0.05)),
        "file_days": np.log1p(last),
        "file_steps": np.log1p(table.column(total - (t.edits[-1] if t.edits else 0) for t in trails)),
        "file_age": np.log1p(first),
        "query_days": table.filled(math.log1p(table.days(known[-1]) if known else NEVER_DAYS)),
        "steps": table.filled(math.log1p(total)),
    }


def likeness(table: Table) -> dict[str, Column]:
    """Return what both names have in common."""
    name, names = table.name, [trail.name for trail in table.trails]
    shared = {other.folder: shared_depth(name, other) for other in {o.folder: o for o in names}.values()}
    part = {stem: _part(name.stem, stem) for stem in {other.stem for other in names}}
    depth = table.column([shared[other.folder] for other in names])
    deep = table.column([len(other.folders) for other in names])
    along = table.chronicle.along.get(name.folder, {})
    most = max(along.values(), default=0) + 3.0
    return {
        "same_folder": table.column([other.folder == name.folder for other in names]),
        "depth": depth,
        "distance": deep + len(name.folders) - 2.0 * depth,
        "same_stem": table.column([other.stem == name.stem for other in names]),
        "stem_part": table.column([part[other.stem] for other in names]),
        "same_extension": table.column([other.extension == name.extension for other in names]),
        "same_base": table.column([other.base == name.base for other in names]),
        "query_kind": table.filled(float(name.kind)),
        "file_kind": table.column([other.kind for other in names]),
        "folder_along": table.scores(along) / most,
    }


def _part(a: str, b: str) -> float:
    if len(a) >= _LONG_ENOUGH and len(b) >= _LONG_ENOUGH and (a in b or b in a):
        return 1.0
    return 0.0 if set(a.split("_")).isdisjoint(b.split("_")) else 0.5


def actors(table: Table) -> dict[str, Column]:
    """Return what was in hand lately, what came after, and what the work on both files was told as."""
    heard = table.hearing.heard
    lately: dict[int, float] = {}
    for occasion in table.chronicle.occasions[-LATELY:]:
        if occasion.size <= SMALL:
            for file in occasion.edited:
                lately[file] = lately.get(file, 0.0) + 1.0
    sequels = [heard.sequels.get(file, NO_SEQUEL) for file in table.files]
    own = _own_words(table)
    about = table.chronicle.words.relevance(own, table.files) if own else [0.0] * len(table.files)
    return {
        "at_hand": table.scores(heard.at_hand),
        "lately": table.scores(lately),
        "followed": table.column(sequel.followed for sequel in sequels),
        "read_for": table.column(sequel.read for sequel in sequels),
        "about": np.array(about),
    }


def _own_words(table: Table) -> list[str]:
    """Return the words of the queried file's last changes that tell most, of its path if it has none."""
    chronicle = table.chronicle
    words = [word for place in table.asked.edits[-_OWN_OCCASIONS:] for word in chronicle.told[place]]
    if not words:
        words = sorted(chronicle.path_words(table.question.path))
    return chronicle.words.rarest(words, _OWN_WORDS)
