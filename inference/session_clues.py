"""Owns the clues to what a session will edit yet: its own work so far, and the work of others.

It is not their weighing (`inference.session_score`) nor what changes together for anybody who asks
(`inference.ranking`). What the session has edited is a candidate only where a ranker names it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from inference.chronicle import DAY, Chronicle
from inference.cochange import MAX_SIZE, POWERS, SHRINK, TOUCHES, size_weight
from inference.naming import FileKind, Name, named

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


class _Named(NamedTuple):
    """A path taken apart, and its words."""

    name: Name
    words: frozenset[str]


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
    names: Sequence[_Named]
    hand_names: Sequence[_Named]
    read: Mapping[int, int]


def candidates(chronicle: Chronicle, asking: Asking) -> list[int]:
    """Return the living files that this session may edit yet, whatever a ranker would name."""
    return _candidates(chronicle, asking, _around(chronicle, asking))


def clues(chronicle: Chronicle, asking: Asking, ranked: Mapping[int, float]) -> dict[int, Clues]:
    """Return the clues of every candidate, the living files of `ranked` among them.

    `ranked` are probabilities (0..1) of changing along with the queried files; who has none has the least.
    """
    around = _around(chronicle, asking)
    files = _candidates(chronicle, asking, around, ranked)
    return {file: _clues_of(chronicle, around, asking.now, file, ranked.get(file, LEAST)) for file in files}


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


def _clues_of(chronicle: Chronicle, around: _Around, now: float, file: int, chance: float) -> Clues:
    trail = chronicle.files[file]
    resting = max(now - trail.times[-1], 0.0) if trail.times else math.inf
    name = _Named(trail.name, chronicle.words_of(trail))
    held = min(max(chance, LEAST), MOST)
    read = around.read.get(file)
    return Clues(
        math.log(held / (1.0 - held)),
        around.hand.get(file, 0.0),
        float(around.times.get(file, 0) >= SUPPORT),
        around.lately.share.get(file, 0.0),
        2.0 ** (-resting / REST),
        math.log1p(around.lately.day.get(file, 0)),
        math.log1p(around.lately.branch.get(file, 0.0)),
        *_likeness(name, around.names),
        *_likeness_to_hand(name, around.hand_names),
        0.0 if read is None else 1.0,
        0.0 if read is None else 1.0 / (1.0 + read),
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
        sums: dict[int, float] = {}
        places = trail.edits[: -len(POWERS) - 1 : -1]
        for power, place in zip(POWERS, places, strict=False):
            occasion = chronicle.occasions[place]
            weight = power * size_weight(occasion.size)
            if weight:
                for other in occasion.edited:
                    sums[other] = sums.get(other, 0.0) + weight
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
    had: set[tuple[int, int]] = set()
    lately = _Lately({}, {}, {})
    for place in range(len(chronicle.occasions) - 1, max(len(chronicle.occasions) - LATELY, 0) - 1, -1):
        occasion = chronicle.occasions[place]
        if occasion.session == asking.session:
            continue
        age = ages.setdefault(occasion.session, len(ages))
        if age >= WINDOW:
            break
        here = asking.branch and chronicle.branch(place) == asking.branch
        for file in (*occasion.edited, *occasion.read) if here else occasion.edited:
            if (occasion.session, file) in had:
                continue
            had.add((occasion.session, file))
            since = max(asking.now - occasion.at, 0.0)
            if here:
                lately.branch[file] = lately.branch.get(file, 0.0) + 2.0 ** (-since / BRANCH_REST)
            if file in occasion.edited:
                lately.share[file] = lately.share.get(file, 0.0) + 2.0 ** (-age / HALF)
                if since <= DAY:
                    lately.day[file] = lately.day.get(file, 0) + 1
    total = 1.0 + sum(2.0 ** (-age / HALF) for age in ages.values())
    for file in lately.share:
        lately.share[file] /= total
    return lately


def _read(chronicle: Chronicle, path: str) -> _Named:
    return _Named(named(path), chronicle.path_words(path))


def _shelf(chronicle: Chronicle, names: Iterable[_Named]) -> list[int]:
    """Return files that lie beside these or are named like them, the last changed first."""
    found: dict[int, None] = {}
    for one in dict.fromkeys(names):
        found.update(chronicle.by_stem.get(one.name.stem, {}))
        found.update(chronicle.by_folder.get(one.name.folder, {}))
    files = chronicle.files
    return sorted(found, key=lambda file: -(files[file].times[-1] if files[file].times else 0.0))[:SHELF]


def _likeness(own: _Named, others: Sequence[_Named]) -> tuple[float, float]:
    """Return twin and words against the queried names, the best of each."""
    return (
        float(any(_is_twin(own.name, other.name) for other in others)),
        max((_overlap(own.words, other.words) for other in others), default=0.0),
    )


def _likeness_to_hand(own: _Named, others: Sequence[_Named]) -> tuple[float, float, float]:
    """Return the share in the same folder, whether one is a twin, and the mean of words."""
    if not others:
        return 0.0, 0.0, 0.0
    beside, twin, words = 0, False, 0.0
    # By the thousand for each question, hence one plain loop.
    for other in others:
        beside += own.name.folder == other.name.folder
        twin = twin or (own.name.stem == other.name.stem and _is_twin(own.name, other.name))
        words += _overlap(own.words, other.words)
    return beside / len(others), float(twin), words / len(others)


def _is_twin(one: Name, other: Name) -> bool:
    """Return whether one is the other's test by name."""
    return (
        one.stem == other.stem
        and one.extension == other.extension
        and (one.kind is FileKind.TEST) != (other.kind is FileKind.TEST)
    )


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the Jaccard likeness of the words of two paths."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0
