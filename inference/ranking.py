"""Owns the one probability: co-change, concepts and order combined, with what is known of each candidate.

It is not evidence gathering (that is `cochange`, `concepts`, `sequence`) and drops nothing that the caller
may want to show: gone files and ties by path are the caller's.

The three signals are independent hints at one link, so their strength is a noisy-or,
s = 1 - (1 - file)(1 - CONCEPT c)(1 - READ r)(1 - FOLLOWED w), and the odds of a joint change are a power of
s + FLOOR, raised where the candidate is busy, is named alike, lies beside or was in the actor's hands lately.
`bench/combination.py` chose the constants on 29 histories and prints what each part gives.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from inference.cochange import PairEvidence, joint, joint_evidence
from inference.concepts import concept_scores
from inference.evidence import FileHistory, Occasion, Ranked, Standing
from inference.naming import folder, stem
from inference.sequence import Sequel, sequels, spread_weight

WARNING_THRESHOLD = 0.7
"""From this probability on an entry is likely, and worth a warning."""

CONCEPT = 0.2
READ = 0.3
FOLLOWED = 0.05
FLOOR = 0.02
LINK = 1.57
BUSY = 0.20
ALIKE = 0.71
BESIDE = 0.57
AT_HAND = 1.47
INTERCEPT = -0.34

RECENT = 20
RECENT_DECAY = 0.85
_NOTHING = Sequel()


def recency(recent: Iterable[Occasion]) -> dict[int, float]:
    """Weigh the files of an actor's last occasions (newest first): the j-th last counts .85^j.

    An occasion counts min(1, 3 / n) for each of its n files. Sum over occasions, unbounded but below 6.7.
    """
    weights: dict[int, float] = {}
    for rank_of, occasion in zip(range(RECENT), recent, strict=False):
        weight = RECENT_DECAY**rank_of * spread_weight(occasion.size)
        if weight > 0.0:
            for file in occasion.edited:
                weights[file] = weights.get(file, 0.0) + weight
    return weights


def strength(file: float, concept: float, sequel: Sequel) -> float:
    """Return the noisy-or of the three signals, at least the file score and at most 1."""
    silent = (1.0 - file) * (1.0 - CONCEPT * concept)
    return 1.0 - silent * (1.0 - READ * sequel.read) * (1.0 - FOLLOWED * sequel.followed)


def probability(link: float, touches: float, at_hand: float, *, alike: bool, beside: bool) -> float:
    """Return P(the candidate is changed in the occasion that changes the queried file), in 0..1.

    Args:
        link: the strength of the link, in 0..1.
        touches: how busy the candidate is, see `Standing`.
        at_hand: its weight among the actor's last occasions, see `recency`.
        alike: it shares its stem with a queried file.
        beside: it lies in the folder of a queried file.
    """
    score = INTERCEPT + LINK * math.log(link + FLOOR) + BUSY * math.log1p(touches)
    score += AT_HAND * math.log1p(at_hand) + ALIKE * alike + BESIDE * beside
    return 1.0 / (1.0 + math.exp(-score))


def candidates(
    histories: Sequence[FileHistory], at_most: int = 200, recent: Sequence[Occasion] = ()
) -> list[int]:
    """Return the files worth ranking, most promising first: by signals, then what the actor had in hand.

    The caller looks up their names, touches and profiles, and may add files of its own.
    """
    pairs = joint_evidence(histories)
    followed = sequels(histories)
    known = {history.file for history in histories}
    found = pairs.scores.keys() | followed.keys()
    links = {file: strength(pairs.scores.get(file, 0.0), 0.0, followed.get(file, _NOTHING)) for file in found}
    at_hand = recency(recent)
    for file in at_hand:
        links.setdefault(file, 0.0)
    order = sorted(
        (file for file in links if file not in known),
        key=lambda file: (-links[file], -at_hand.get(file, 0.0), file),
    )
    return order[:at_most]


def rank(
    histories: Sequence[FileHistory],
    profiles: Mapping[int, Mapping[int, float]],
    standings: Mapping[int, Standing] | None = None,
    recent: Sequence[Occasion] = (),
    at_most: int = 200,
    among: Collection[int] | None = None,
) -> list[Ranked]:
    """Return the most probable companions of the queried files, best first; the queried ones are left out.

    Args:
        histories: what is known of each queried file; several known files are combined by noisy-or.
        profiles: idf-weighted concept profiles of candidates (a file without one has concept score 0).
        standings: names and activity of candidates; every file in it is ranked, evidence or not.
        recent: the last occasions of the actor who asks, newest first; a file in it is ranked too.
        at_most: how many entries to return.
        among: rank these only, such as the files that still exist; None ranks all.
    """
    if not histories:
        return []
    standings = standings or {}
    pairs = joint_evidence(histories)
    sequences = sequels(histories)
    at_hand = recency(recent)
    known = {history.file for history in histories}
    wanted = (pairs.scores.keys() | sequences.keys() | standings.keys() | at_hand.keys()) - known
    if among is not None:
        wanted.intersection_update(among)
    about = concept_scores(
        (history.concepts for history in histories),
        {file: profile for file, profile in profiles.items() if file in wanted},
    )
    stems = {stem(history.path) for history in histories if history.path}
    folders = {folder(history.path) for history in histories if history.path}
    scored: list[tuple[float, float, int]] = []
    for file in wanted:
        standing = standings.get(file)
        named = standing is not None and standing.path != ""
        link = strength(pairs.scores.get(file, 0.0), about.get(file, 0.0), sequences.get(file, _NOTHING))
        chance = probability(
            link,
            0.0 if standing is None else standing.touches,
            at_hand.get(file, 0.0),
            alike=standing is not None and named and stem(standing.path) in stems,
            beside=standing is not None and named and folder(standing.path) in folders,
        )
        scored.append((-chance, -link, file))
    scored.sort()
    return [
        _ranked(file, -chance, pairs, about.get(file, 0.0), sequences.get(file, _NOTHING))
        for chance, _, file in scored[:at_most]
    ]


def _ranked(file: int, chance: float, pairs: PairEvidence, concept: float, sequel: Sequel) -> Ranked:
    seen = joint(pairs, file)
    signals = [
        name
        for name, speaks in (
            ("co_changes", seen is not None),
            ("read_for", sequel.read > 0.0),
            ("followed_by", sequel.followed > 0.0),
            ("about", concept > 0.0),
        )
        if speaks
    ]
    return Ranked(
        file=file,
        probability=chance,
        file_score=0.0 if seen is None else seen.score,
        concept_score=concept,
        temporal_score=sequel.score,
        together=0 if seen is None else seen.together,
        of=pairs.of,
        sessions=0 if seen is None else seen.sessions,
        last_seen=None if seen is None else seen.last_seen,
        keys=() if seen is None else seen.keys,
        signals=tuple(signals),
    )
