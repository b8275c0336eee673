"""Owns which concepts a file's work is about, and which concepts come up together.

It is not the extraction of concepts (texts never reach inference) nor their likeness (`concepts`). Files and
concepts are integers of one number space, given by the caller. An offer comes from the source's own
occasions, as in `promotion`: a share of them, the k-th last counting .93^k, shrunk as the firm score of
`cochange`, in which a concept counts as much as the occasion is about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from inference.cochange import FIRM_SHRINK, KEYS, POWERS, TOUCHES
from inference.promotion import Offer

ABOUT = "about"
RELATED = "related"
FLOOR = 0.2
"""A concept is offered from this share on."""
SESSIONS = 2
"""Distinct sessions that must have spoken of it."""
OFFERS = 5
"""So many concepts are offered at most."""
DEGREE_CAP = 30
"""So many of these edges a node keeps at most."""
HUB = 20
"""Up to so many partners a concept is no hub. Beyond, the floor rises with their number: a word that stands
in all work says nothing about any of it."""


class Talk(NamedTuple):
    """An occasion of the source with the concepts it was about, each with its weight in 0..1."""

    key: int
    at: float
    session: int
    concepts: Mapping[int, float]


def topic_offers(source: int, talks: Sequence[Talk], names: Mapping[int, str], kind: str) -> list[Offer]:
    """Return the concepts that the work on a source is about, the surest first, equals by name.

    Args:
        source: a file, or a concept, which is not offered itself.
        talks: its occasions, newest first; the last hundred count.
        names: of all concepts in them.
        kind: `about` for a file, `related` for a concept.
    """
    counted = talks[:TOUCHES]
    total = sum(POWERS[: len(counted)]) + FIRM_SHRINK
    sums: dict[int, float] = {}
    seen: dict[int, list[Talk]] = {}
    for power, talk in zip(POWERS, counted, strict=False):
        for concept, weight in talk.concepts.items():
            if concept != source:
                sums[concept] = sums.get(concept, 0.0) + power * weight
                seen.setdefault(concept, []).append(talk)
    found = [
        Offer(
            source=source,
            target=concept,
            kind=kind,
            probability=value / total,
            file=0.0,
            temporal=0.0,
            together=len(seen[concept]),
            of=len(counted),
            sessions=len({talk.session for talk in seen[concept]}),
            last_seen=seen[concept][0].at,
            keys=tuple(talk.key for talk in seen[concept][:KEYS]),
        )
        for concept, value in sums.items()
        if value / total >= FLOOR
    ]
    supported = [offer for offer in found if offer.sessions >= SESSIONS]
    supported.sort(key=lambda offer: (-offer.probability, names[offer.target]))
    return supported[:OFFERS]


def kept_topics(node: int, incident: Iterable[Offer], names: Mapping[int, str]) -> frozenset[tuple[int, int]]:
    """Return the pairs, as (lower number, higher number), that a node keeps of offers of one of these kinds.

    See `inference.promotion.kept`; the floor of a hub with d partners is FLOOR d / HUB.
    """
    best: dict[int, float] = {}
    for offer in incident:
        partner = offer.target if offer.source == node else offer.source
        best[partner] = max(best.get(partner, 0.0), offer.probability)
    floor = FLOOR * max(1.0, len(best) / HUB)
    staying = [partner for partner, share in best.items() if share >= floor]
    staying.sort(key=lambda partner: (-best[partner], names[partner]))
    return frozenset((min(node, partner), max(node, partner)) for partner in staying[:DEGREE_CAP])
