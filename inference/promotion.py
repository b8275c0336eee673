"""Owns which pairs of nodes are worth an edge: what each node's history offers, and what both ends keep.

It is not the signals (`cochange`, `sequence`), not concepts (`topics`), and stores nothing. An offer of a
node comes from its own history alone: nothing in it depends on what became of the other node since, on counts
over the whole memory, or on a clock, so that only nodes whose own history changed have to be looked at again.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from inference.activity import busyness
from inference.cochange import PairEvidence, company, joint, pair_evidence
from inference.combination import Candidate, probability
from inference.evidence import FileHistory
from inference.naming import folder, stem
from inference.sequence import (
    NO_SEQUEL,
    Sequel,
    Sightings,
    follow_sightings,
    read_sightings,
    sequels,
    temporal_score,
)

CO_CHANGES = "co_changes"
READ_FOR = "read_for"
FOLLOWED_BY = "followed_by"
DIRECTIONAL = frozenset({READ_FOR, FOLLOWED_BY})

FLOOR = 0.1
"""A pair that changes together is offered from this probability on."""
TEMPORAL_FLOOR = 0.3
"""A pair of which one comes after the other is offered from this score on."""
SESSIONS = 2
"""Distinct sessions that must have seen it."""
OFFERS = 20
"""So many a node offers at most."""
DEGREE_CAP = 30
"""So many edges a node keeps at most."""
HUB = 20
"""Up to so many partners a node is no hub."""


class Offer(NamedTuple):
    """What the history of node `source` says of `target`.

    `kind` is the strongest signal: `co_changes`, `read_for`, `followed_by`, `about` or `related`.
    `probability` is P(target is changed in the occasion that changes source), `file` and `temporal` are the
    signals' own scores; each is in 0..1. `together` of `of` occasions of the source spoke for it, in
    `sessions` distinct sessions, last at `last_seen` (epoch seconds); `keys` are up to three of them, the
    newest first. With a temporal kind these are the sequences, else the joint changes.
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


def strength(offer: Offer) -> float:
    """Return how far an offer is above its floor: the higher of both signals in units of their floors."""
    return max(offer.probability / FLOOR, offer.temporal / TEMPORAL_FLOOR)


def offers(history: FileHistory, paths: Mapping[int, str], ignored: Collection[int] = ()) -> list[Offer]:
    """Return what the history of one file offers, the strongest first, equals by path, at most `OFFERS`.

    Args:
        history: the file's; its `path` tells likeness of names and folders.
        paths: present names of candidates; one without a name here is gone, or noise, and not offered.
        ignored: files not to offer although they have a name.
    """
    pairs = pair_evidence(history)
    after = sequels((history,))
    heard = dict.fromkeys((*pairs.scores, *after))
    named = [file for file in heard if file in paths and file not in ignored]
    scored = _candidates(history, pairs, after, named, paths)
    found = _supported(history, pairs, scored)
    found.sort(key=lambda offer: (-strength(offer), -offer.probability, paths[offer.target]))
    return found[:OFFERS]


def _candidates(
    history: FileHistory,
    pairs: PairEvidence,
    after: Mapping[int, Sequel],
    files: Sequence[int],
    paths: Mapping[int, str],
) -> list[tuple[Candidate, float]]:
    """Return each candidate with its probability, those below both floors left out."""
    around = company((history,))
    own_stem, own_folder = stem(history.path), folder(history.path)
    newest = max((occasion.at for occasion in (*history.edits, *history.reads)), default=0.0)
    found = []
    for file in files:
        sequel = after.get(file, NO_SEQUEL)
        candidate = Candidate(
            file,
            file_score=pairs.scores.get(file, 0.0),
            firm_score=pairs.firm.get(file, 0.0),
            read=sequel.read,
            followed=sequel.followed,
            touches=busyness((seen.at for seen in pairs.occasions.get(file, ())), newest),
            alike=history.path != "" and stem(paths[file]) == own_stem,
            beside=history.path != "" and folder(paths[file]) == own_folder,
            company=around,
        )
        chance = probability(candidate)
        if chance >= FLOOR or temporal_score(sequel.read, sequel.followed) >= TEMPORAL_FLOOR:
            found.append((candidate, chance))
    return found


def _supported(
    history: FileHistory, pairs: PairEvidence, scored: Sequence[tuple[Candidate, float]]
) -> list[Offer]:
    """Return an offer for each candidate that some signal supports in enough sessions."""
    temporal = any(max(candidate.read, candidate.followed) >= TEMPORAL_FLOOR for candidate, _ in scored)
    reads = read_sightings(history) if temporal else {}
    follows = follow_sightings(history) if temporal else {}
    found = []
    for candidate, chance in scored:
        file = candidate.file
        signals: list[tuple[float, str, Sightings]] = []
        seen = joint(pairs, file)
        if seen is not None and chance >= FLOOR:
            sightings = Sightings(seen.together, seen.of, seen.sessions, seen.last_seen, seen.keys)
            signals.append((candidate.firm_score, CO_CHANGES, sightings))
        if candidate.read >= TEMPORAL_FLOOR:
            signals.append((candidate.read, READ_FOR, reads[file]))
        if candidate.followed >= TEMPORAL_FLOOR:
            signals.append((candidate.followed, FOLLOWED_BY, follows[file]))
        supported = [signal for signal in signals if signal[2].sessions >= SESSIONS]
        if supported:
            _, kind, best = max(supported, key=lambda signal: signal[0])
            order = temporal_score(candidate.read, candidate.followed)
            found.append(
                Offer(
                    history.file,
                    file,
                    kind,
                    chance,
                    candidate.file_score,
                    order,
                    best.together,
                    best.of,
                    best.sessions,
                    best.last_seen,
                    best.keys,
                )
            )
    return found


def kept(node: int, incident: Iterable[Offer], names: Mapping[int, str]) -> frozenset[tuple[int, int]]:
    """Return the pairs, as (lower number, higher number), that a node keeps of all offers it makes or gets.

    A pair counts with its stronger offer. A node with d partners is a hub when d exceeds `HUB`, and its
    offers are damped to strength / sqrt(d / HUB); what falls below its floor is dropped, and the `DEGREE_CAP`
    strongest stay, equals by the partner's name. A pair is promoted when both its ends keep it.
    """
    best: dict[int, float] = {}
    for offer in incident:
        partner = offer.target if offer.source == node else offer.source
        best[partner] = max(best.get(partner, 0.0), strength(offer))
    damping = math.sqrt(max(1.0, len(best) / HUB))
    staying = [partner for partner, value in best.items() if value / damping >= 1.0]
    staying.sort(key=lambda partner: (-best[partner], names[partner]))
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

    Probability and score parts are the maxima. Kind and evidence are those of the offer with the higher
    probability, but a directional kind of the other direction can't speak for this one: then it is the
    other offer, and where there is none, the kind is `co_changes` with the evidence there is.
    """
    given = list(pair)
    speaking = [offer for offer in given if offer.kind not in DIRECTIONAL or offer.source == source]
    best = min(speaking or given, key=_standing)
    return best._replace(
        source=source,
        target=target,
        kind=best.kind if speaking else CO_CHANGES,
        probability=max(offer.probability for offer in given),
        file=max(offer.file for offer in given),
        temporal=max(offer.temporal for offer in given),
    )


def _standing(offer: Offer) -> tuple[float | str | tuple[int, ...], ...]:
    """Return what orders the offers of one pair, the foremost first, by anything but numbers of nodes."""
    return (
        -offer.probability,
        -offer.temporal,
        -offer.file,
        -offer.together,
        offer.of,
        -offer.sessions,
        -offer.last_seen,
        offer.kind,
        offer.keys,
    )
