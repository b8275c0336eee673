"""Owns the clues to what a session will edit yet: its own work so far, and the work of others.

It is not their weighing (`inference.session_score`) nor what changes together for anybody who asks
(`inference.ranking`). What the session has edited is a candidate only where a ranker names it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np

from inference.chronicle import DAY, Chronicle
from inference.cochange import MAX_SIZE, POWERS, SHRINK, TOUCHES, geom_sums
from inference.naming import named
from inference.session_names import Column, Named, likeness

LEAST = 0.002
MOST = 0.98
"""Bounds of what a ranker says, so that no single voice decides."""
HAND = 8
"""So many of the files that the session touched last are looked at beside the queried ones."""
SITTINGS = 30
"""So many of the last sessions that touched a queried file are looked at."""
WINDOW = 60
"""So many of the project's last sessions make up what is going on lately."""
LATELY = 400
"""At most so many occasions are looked at for that."""
HALF = 10.0
"""A session that lies so many sessions back counts half of the last one."""
REST = 14.0 * DAY
"""After so long a file's last change counts half."""
BRANCH_REST = 3.0 * DAY
"""After so long a session on the same branch counts half."""
SHELF = 80
"""At most so many files that lie beside or are named alike become candidates, the last changed first."""
SUPPORT = 2
"""So many sessions make what they did together more than a chance."""
HALVED = 0.5
"""What links a candidate with another file of the session counts half of what does with the queried."""


_BY_AGE = tuple(2.0 ** (-age / HALF) for age in range(WINDOW + 1))


class Touch(NamedTuple):
    """A file by its path, with its number where the chronicle knows it."""

    path: str
    file: int = -1


class Asking(NamedTuple):
    """A session that asks: the queried files, what it `read` and `edited` so far in the order of first times.

    `session` and `branch` are numbers of the chronicle, -1 and 0 where they are not known; `now` is in epoch
    seconds.
    """

    files: tuple[Touch, ...]
    now: float
    read: tuple[Touch, ...] = ()
    edited: tuple[Touch, ...] = ()
    session: int = -1
    branch: int = 0


class Clues(NamedTuple):
    """What is known of one candidate; all but `odds` are 0 where nothing speaks.

    `odds`: ln odds of what the ranker says of it, see `inference.ranking`; `hand`: geom with the other files
    of the session; `twice`: whether two sessions touched a queried file and edited this one. `share`: of the
    last sessions, by how many edited it; `fresh`: when it changed last; `day`: sessions and commits of the
    last 24 h that changed it; `branch`: sessions that touched it on the same branch. `twin` and `words`: its
    name against the queried ones; `beside_hand`, `twin_hand`, `words_hand`: against those of the session.
    `read`: this session read it; `read_last`: how recently, 1 for the last one, 1/2 for the one before.
    """

    odds: float
    hand: float
    twice: float
    share: float
    fresh: float
    day: float
    branch: float
    twin: float
    words: float
    beside_hand: float
    twin_hand: float
    words_hand: float
    read: float
    read_last: float


class _Lately(NamedTuple):
    """What other sessions did lately, by file."""

    share: dict[int, float]
    day: dict[int, int]
    branch: dict[int, float]


class _Around(NamedTuple):
    """Everything that clues are taken from, by file; `read` is how many files were read since."""

    hand: Mapping[int, float]
    times: Mapping[int, int]
    lately: _Lately
    names: Sequence[Named]
    hand_names: Sequence[Named]
    read: Mapping[int, int]


def candidates(chronicle: Chronicle, asking: Asking) -> list[int]:
    """Return the living files that this session may edit yet, whatever a ranker would name."""
    return _candidates(chronicle, asking, _around(chronicle, asking))


def clues(chronicle: Chronicle, asking: Asking, ranked: Mapping[int, float]) -> dict[int, Clues]:
    """Return the clues of every candidate, see `columns`."""
    files, found = columns(chronicle, asking, ranked)
    rows = zip(*(column.tolist() for column in found), strict=True)
    return {file: Clues(*row) for file, row in zip(files, rows, strict=True)}


def columns(
    chronicle: Chronicle, asking: Asking, ranked: Mapping[int, float]
) -> tuple[list[int], tuple[Column, ...]]:
    """Return every candidate, the living files of `ranked` among them, and a column for each of `Clues`.

    `ranked` are probabilities (0..1) of changing along with the queried files; who has none has the least.
    """
    around = _around(chronicle, asking)
    files = _candidates(chronicle, asking, around, ranked)
    trails = [chronicle.files[file] for file in files]

    def scores(known: Mapping[int, float], otherwise: float = 0.0) -> Column:
        return np.fromiter(map(known.get, files, repeat(otherwise)), float, len(files))

    said = np.clip(scores(ranked, LEAST), LEAST, MOST)
    changed = np.array([trail.times[-1] if trail.times else -math.inf for trail in trails], float)
    read = scores({file: 1.0 / (1.0 + place) for file, place in around.read.items()})
    return files, (
        np.log(said / (1.0 - said)),
        scores(around.hand),
        (scores(around.times) >= SUPPORT).astype(float),
        scores(around.lately.share),
        np.exp2(-np.maximum(asking.now - changed, 0.0) / REST),
        np.log1p(scores(around.lately.day)),
        np.log1p(scores(around.lately.branch)),
        *likeness(
            [trail.name for trail in trails],
            [trail.words or chronicle.words_of(trail) for trail in trails],
            around.names,
            around.hand_names,
        ),
        (read > 0.0).astype(float),
        read,
    )


def _candidates(chronicle: Chronicle, asking: Asking, around: _Around, more: Iterable[int] = ()) -> list[int]:
    found: dict[int, None] = {}
    lately = around.lately
    read = (touch.file for touch in asking.read)
    for source in (read, around.hand, around.times, lately.share, lately.day, lately.branch):
        found.update(dict.fromkeys(source))
    found.update(dict.fromkeys(_shelf(chronicle, (*around.names, *around.hand_names))))
    for touch in asking.edited:
        found.pop(touch.file, None)
    found.update(dict.fromkeys(more))
    for touch in asking.files:
        found.pop(touch.file, None)
    return [file for file in found if file in chronicle.files and chronicle.files[file].alive]


def _around(chronicle: Chronicle, asking: Asking) -> _Around:
    hand = _in_hand(asking)
    queried = [touch.file for touch in asking.files if touch.file >= 0]
    return _Around(
        _linked(chronicle, [touch.file for touch in hand if touch.file >= 0]),
        _sittings(chronicle, queried, asking.session),
        _lately(chronicle, asking),
        [_read(chronicle, touch.path) for touch in asking.files],
        [_read(chronicle, touch.path) for touch in hand],
        {touch.file: place for place, touch in enumerate(reversed(asking.read))},
    )


def _in_hand(asking: Asking) -> list[Touch]:
    """Return the files the session touched last, the last edited first, without the queried ones."""
    asked = {touch.path for touch in asking.files}
    touched = dict.fromkeys((*reversed(asking.edited), *reversed(asking.read)))
    return [touch for touch in touched if touch.path not in asked][:HAND]


def _linked(chronicle: Chronicle, files: Collection[int]) -> dict[int, float]:
    """Return the noisy-or over `files` of half their geom (see `inference.cochange`), by candidate."""
    silent: dict[int, float] = {}
    for file in files:
        trail = chronicle.files.get(file)
        if trail is None:
            continue
        places = trail.edits[: -len(POWERS) - 1 : -1]
        sums = geom_sums([chronicle.occasions[place] for place in places])
        total = sum(POWERS[: len(places)]) + SHRINK
        sums.pop(file, None)
        for other, value in sums.items():
            silent[other] = silent.get(other, 1.0) * (1.0 - HALVED * value / total)
    return {other: 1.0 - value for other, value in silent.items()}


def _sittings(chronicle: Chronicle, files: Collection[int], own: int) -> dict[int, int]:
    """Return how many of the last sessions that touched the files edited each other one, the own left out."""
    sessions: dict[int, None] = {}
    for file in files:
        trail = chronicle.files.get(file)
        places = () if trail is None else sorted({*trail.edits[-TOUCHES:], *trail.reads[-TOUCHES:]})
        for place in reversed(places):
            sessions.setdefault(chronicle.occasions[place].session)
    sessions.pop(own, None)
    times: dict[int, int] = {}
    for session in list(sessions)[:SITTINGS]:
        edited = _edited_in(chronicle, session)
        if len(edited) <= MAX_SIZE:
            for other in edited:
                times[other] = times.get(other, 0) + 1
    return times


def _edited_in(chronicle: Chronicle, session: int) -> set[int]:
    places: Sequence[int] = chronicle.sessions.get(session, ())
    return {file for place in places[-MAX_SIZE:] for file in chronicle.occasions[place].edited}


def _lately(chronicle: Chronicle, asking: Asking) -> _Lately:
    """Return what the last sessions edited, newest first, each file once a session."""
    ages: dict[int, int] = {}
    had: dict[int, set[int]] = {}
    share, day, branch = lately = _Lately({}, {}, {})
    # By the thousand for each question, hence one plain loop.
    for place in range(len(chronicle.occasions) - 1, max(len(chronicle.occasions) - LATELY, 0) - 1, -1):
        occasion = chronicle.occasions[place]
        session = occasion.session
        if session == asking.session:
            continue
        age = ages.setdefault(session, len(ages))
        if age >= WINDOW:
            break
        met = had.setdefault(session, set())
        worth = _BY_AGE[age]
        since = max(asking.now - occasion.at, 0.0)
        is_here = asking.branch and chronicle.branch(place) == asking.branch
        if is_here:
            near = 2.0 ** (-since / BRANCH_REST)
            for file in {*occasion.edited, *occasion.read}.difference(met):
                branch[file] = branch.get(file, 0.0) + near
        for file in occasion.edited:
            if file not in met:
                met.add(file)
                share[file] = share.get(file, 0.0) + worth
                if since <= DAY:
                    day[file] = day.get(file, 0) + 1
        if is_here:
            met.update(occasion.read)
    total = 1.0 + sum(_BY_AGE[age] for age in ages.values())
    for file in lately.share:
        lately.share[file] /= total
    return lately


def _read(chronicle: Chronicle, path: str) -> Named:
    return Named(named(path), chronicle.path_words(path))


def _shelf(chronicle: Chronicle, names: Iterable[Named]) -> list[int]:
    """Return files that lie beside these or are named like them, the last changed first."""
    found: dict[int, None] = {}
    for one in dict.fromkeys(names):
        found.update(chronicle.by_stem.get(one.name.stem, {}))
        found.update(chronicle.by_folder.get(one.name.folder, {}))
    files = chronicle.files
    # Equals by path: the order on a shelf depends on what was pushed and taken out again.
    latest = {file: files[file].times[-1] if files[file].times else 0.0 for file in found}
    return sorted(found, key=lambda file: (-latest[file], files[file].path))[:SHELF]
