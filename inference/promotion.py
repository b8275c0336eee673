"""Owns which pairs of nodes are worth an edge: what each node's history offers, and what both ends keep.

It is not the signals (`cochange`, `sequence`), not concepts (`topics`), and stores nothing. An offer of a
node comes from its own history alone: nothing in it depends on what became of the other node since, on counts
over the whole memory, or on a clock, so that only nodes whose own history changed have to be looked at again.

The probability of an impact entry says whether f is changed by the very occasion that changes q; it is high
for two files that were changed twice in their lives. An edge is a lasting claim, so its probability is that
the two are changed together again, which grows with how many sessions saw it, w, and how lately, l:

    ln odds = level + often ln(w + .1) + lately ln(1 + l)

w sums over sessions the weight of the clearest joint occasion, min(1, 6 / (n - 1)) for n files; l is w with
each weight halved for every ninety days between that occasion and the newest one of the node. An edit of f
after a read of q counts `combination.WEIGHTS.read` of a joint one. Of two ends that offer each other the less
sure one is believed: the end that rests does not know that the other went on without it. And where the other
is in less than a tenth of the changes of either end, the probability is lowered in proportion.

`bench/review_queue.py` derives the numbers on 29 histories that no figure is reported for, and prints
what came true: of the first twenty by this probability, .90 on average, .89 were changed together in the
last fifth of a history by a change of at most 30 files (.92 by any that is no bulk); of the first by the
probability of impact .61 (.67), by the sum of 1 / (n - 1) over joint changes .81 (.84). The surer of both
ends gives .85 (.88).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from inference.activity import HALF_LIFE
from inference.cochange import MAX_SIZE, Joint, PairEvidence, joint, newest_first, pair_evidence
from inference.combination import WEIGHTS as IMPACT
from inference.evidence import FileHistory, Occasion
from inference.sequence import (
    NO_SEQUEL,
    Sequel,
    Sightings,
    follow_sightings,
    read_pairs,
    read_sightings,
    sequels,
    spread_weight,
    temporal_score,
)

CO_CHANGES = "co_changes"
READ_FOR = "read_for"
FOLLOWED_BY = "followed_by"
DIRECTIONAL = frozenset({READ_FOR, FOLLOWED_BY})

FLOOR = 0.2
"""A pair is offered from this probability on."""
TEMPORAL_FLOOR = 0.5
"""A pair of which one comes after the other is offered from this score on: three times of four."""
SESSIONS = 2
"""Distinct sessions that must have seen it."""
OFFERS = 40
"""So many a node offers at most."""
DEGREE_CAP = 30
"""So many edges a node keeps at most."""
HUB = 20
"""Up to so many partners a node is no hub."""
ONE_SIDED = 0.5
"""What is left of a probability that the other end does not second."""
SHARE = 0.1
"""The co-change score (see `inference.cochange`) that one end should have; below it the pair is damped."""

ROOM = 0.1
"""Added to w, so that its logarithm exists."""


class Weights(NamedTuple):
    """The numbers of the formula; up to `full_size` files a joint occasion counts fully."""

    full_size: int
    often: float
    lately: float
    level: float


WEIGHTS = Weights(full_size=7, often=1.16, lately=0.95, level=-1.89)


class Offer(NamedTuple):
    """What the history of node `source` says of `target`.

    `kind` is the strongest signal: `co_changes`, `read_for`, `followed_by`, `about` or `related`.
    `probability` is that of both being changed together again, `file` and `temporal` are the signals' own
    scores; each is in 0..1. `together` of `of` occasions of the source spoke for it, in `sessions` distinct
    sessions, last at `last_seen` (epoch seconds); `keys` are up to three of them, the newest first. With a
    temporal kind these are the sequences, else the joint changes.
    """

    source: int
    target: int
    kind: str
    probability: float
    file: float
    temporal: float
    together: int
    of: int
    sessions: int
    last_seen: float
    keys: tuple[int, ...]


# ---- one node's history ---------------------------------------------------------------------------


def offers(history: FileHistory, paths: Mapping[int, str], ignored: Collection[int] = ()) -> list[Offer]:
    """Return what the history of one file offers, the likeliest first, equals by path, at most `OFFERS`.

    Args:
        history: the file's.
        paths: present names of candidates; one without a name here is gone, or noise, and not offered.
        ignored: files not to offer although they have a name.
    """
    pairs = pair_evidence(history)
    after = sequels((history,))
    named = {file for file in (*pairs.scores, *after) if file in paths and file not in ignored}
    signals = _supported(history, pairs, {file: after.get(file, NO_SEQUEL) for file in named})
    found: list[Offer] = []
    for file, likely in chances(history, signals).items():
        speaking = [signal for signal in signals[file] if signal.kind in DIRECTIONAL or likely >= FLOOR]
        if speaking:
            best = max(speaking, key=itemgetter(0))
            found.append(
                Offer(
                    source=history.file,
                    target=file,
                    kind=best.kind,
                    probability=likely,
                    file=pairs.scores.get(file, 0.0),
                    temporal=temporal_score(*after.get(file, NO_SEQUEL)),
                    together=best.seen.together,
                    of=best.seen.of,
                    sessions=best.seen.sessions,
                    last_seen=best.seen.last_seen,
                    keys=best.seen.keys,
                )
            )
    found.sort(key=lambda offer: (-offer.probability, -offer.temporal, paths[offer.target]))
    return found[:OFFERS]


class _Signal(NamedTuple):
    score: float
    kind: str
    seen: Joint | Sightings


def _supported(
    history: FileHistory, pairs: PairEvidence, after: Mapping[int, Sequel]
) -> dict[int, list[_Signal]]:
    """Return the signals of each file that enough sessions support, those of order from their floor on."""
    signals: dict[int, list[_Signal]] = {}

    def note(file: int, score: float, kind: str, seen: Joint | Sightings) -> None:
        if seen.sessions >= SESSIONS:
            signals.setdefault(file, []).append(_Signal(score, kind, seen))

    for file in after:
        seen = joint(pairs, file)
        if seen is not None:
            note(file, pairs.scores[file], CO_CHANGES, seen)
    if any(max(sequel) >= TEMPORAL_FLOOR for sequel in after.values()):
        reads, follows = read_sightings(history), follow_sightings(history)
        for file, (read, followed) in after.items():
            if read >= TEMPORAL_FLOOR:
                note(file, read, READ_FOR, reads[file])
            if followed >= TEMPORAL_FLOOR:
                note(file, followed, FOLLOWED_BY, follows[file])
    return signals


def chances(history: FileHistory, among: Collection[int], weights: Weights = WEIGHTS) -> dict[int, float]:
    """Return for each file of `among` the probability by one file's history that both change together again.

    `among` is a set of files, or a mapping by file.
    """
    return {
        file: chance(often, lately, weights)
        for file, (often, lately) in sighted(history, among, weights.full_size).items()
    }


def sighted(
    history: FileHistory, among: Collection[int], full_size: int = WEIGHTS.full_size
) -> dict[int, tuple[float, float]]:
    """Return for each file of `among` how often and how lately both were changed together: (w, l)."""
    newest = max((occasion.at for occasion in (*history.edits, *history.reads)), default=0.0)
    sessions: dict[int, dict[int, tuple[float, float]]] = {file: {} for file in among}
    for occasion in newest_first(history.edits):
        weight = joint_weight(occasion.size, full_size)
        fresh = weight * math.exp2((occasion.at - newest) / HALF_LIFE)
        for file in occasion.edited:
            if file in among:
                _note(sessions[file], occasion, weight, fresh)
    for file, sequences in read_pairs(history).items() if history.reads else ():
        for _, occasion in sequences if file in among else ():
            weight = IMPACT.read * spread_weight(occasion.size)
            # What came after the newest read of the file is no newer than that for its other links.
            fresh = weight * math.exp2(min(0.0, occasion.at - newest) / HALF_LIFE)
            _note(sessions[file], occasion, weight, fresh)
    return {
        file: (
            math.fsum(weight for weight, _ in seen.values()),
            math.fsum(fresh for _, fresh in seen.values()),
        )
        for file, seen in sessions.items()
    }


def _note(sessions: dict[int, tuple[float, float]], seen: Occasion, weight: float, fresh: float) -> None:
    """Keep of each session what is clearest and what is freshest."""
    before = sessions.get(seen.session, (0.0, 0.0))
    sessions[seen.session] = max(before[0], weight), max(before[1], fresh)


def joint_weight(size: int, full_size: int = WEIGHTS.full_size) -> float:
    """Return how much an occasion of `size` files says for an edge within it: 0 for one file and for bulk."""
    return min(1.0, (full_size - 1) / (size - 1)) if 1 < size <= MAX_SIZE else 0.0


def chance(often: float, lately: float, weights: Weights = WEIGHTS) -> float:
    """Return the probability of w = `often` and l = `lately`, see the module."""
    odds = weights.level + weights.often * math.log(often + ROOM) + weights.lately * math.log1p(lately)
    return 1.0 / (1.0 + math.exp(-odds))


# ---- both ends ------------------------------------------------------------------------------------


def agreed(pair: Sequence[Offer]) -> float:
    """Return the probability of a pair by its offers in one or both directions.

    The smaller of both; of a single one `ONE_SIDED` is left, unless it is directional: who was read knows of
    it, who was edited afterwards does not. Two files that are both busy elsewhere are damped, see `SHARE`;
    order and concepts stand by their own scores.
    """
    least = min(offer.probability for offer in pair)
    if any(offer.kind != CO_CHANGES for offer in pair):
        return least
    seconded = 1.0 if len(pair) > 1 else ONE_SIDED
    return seconded * least * min(1.0, max(offer.file for offer in pair) / SHARE)


def _strength(pair: Sequence[Offer]) -> float:
    """Return how far above its floor a pair is: the higher of both signals in units of their floors."""
    order = max((offer.temporal for offer in pair if offer.kind in DIRECTIONAL), default=0.0)
    return max(agreed(pair) / FLOOR, order / TEMPORAL_FLOOR)


def kept(node: int, incident: Iterable[Offer], names: Mapping[int, str]) -> frozenset[tuple[int, int]]:
    """Return the pairs, as (lower number, higher number), that a node keeps of all offers it makes or gets.

    A pair's strength is the higher of its probability and its temporal score, each in units of its floor. A
    node with d partners is a hub when d exceeds `HUB`, and its pairs are damped to strength / sqrt(d / HUB);
    what falls below 1 is dropped, and the `DEGREE_CAP` strongest stay, equals by the partner's name. A pair
    is promoted when both its ends keep it.
    """
    pairs: dict[int, list[Offer]] = {}
    for offer in incident:
        pairs.setdefault(offer.target if offer.source == node else offer.source, []).append(offer)
    bar = math.sqrt(max(1.0, len(pairs) / HUB))
    strengths = {partner: _strength(pair) for partner, pair in pairs.items()}
    staying = [partner for partner, value in strengths.items() if value >= bar]
    staying.sort(key=lambda partner: (-strengths[partner], names[partner]))
    return frozenset((min(node, partner), max(node, partner)) for partner in staying[:DEGREE_CAP])


def orientation(pair: Iterable[Offer], names: Mapping[int, str]) -> tuple[int, int]:
    """Return (source, target) for a pair that is seen first: as its stronger offer, when that is directional.

    Otherwise the node whose name sorts first is the source.
    """
    first = min(pair, key=lambda offer: (*_standing(offer), names[offer.source]))
    if first.kind in DIRECTIONAL:
        return first.source, first.target
    source, target = sorted((first.source, first.target), key=names.__getitem__)
    return source, target


def merged(pair: Iterable[Offer], source: int, target: int) -> Offer:
    """Return the offers of one pair, in one or both directions, as one record from `source` to `target`.

    The probability is what both agree on, the score parts are the maxima. Kind and evidence are those of the
    offer with the stronger signal, but a directional kind of the other direction can't speak for this one:
    then it is the other offer, and where there is none, the kind is `co_changes` with the evidence there is.
    """
    given = list(pair)
    speaking = [offer for offer in given if offer.kind not in DIRECTIONAL or offer.source == source]
    best = min(speaking or given, key=_standing)
    return best._replace(
        source=source,
        target=target,
        kind=best.kind if speaking else CO_CHANGES,
        probability=agreed(given),
        file=max(offer.file for offer in given),
        temporal=max(offer.temporal for offer in given),
    )


def _standing(offer: Offer) -> tuple[float | str | tuple[int, ...], ...]:
    """Return what orders the offers of one pair, the stronger signal first, by all but numbers of nodes."""
    signal = offer.temporal if offer.kind in DIRECTIONAL else offer.file
    return (
        -signal,
        -offer.probability,
        -offer.together,
        offer.of,
        -offer.sessions,
        -offer.last_seen,
        offer.kind,
        offer.keys,
    )
