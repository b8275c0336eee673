"""Owns what classes are called: the terms that tell each from the others, by class-based TF-IDF.

It is not where terms come from, and reads no text. The weight of a term t in a class c is

    f(t, c) / sum of f(., c)  *  ln(1 + A / f(t))

with f(t) summed over all classes and A the mean of the classes' sums (Grootendorst, 2022).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain, combinations

CANDIDATES = 8
"""So many of a class's best terms are tried for a name that no other class has."""


def term_weights(classes: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return the weight of each term in each class, the highest first, equals by term.

    Args:
        classes: class to term to frequency; what is not above 0 is left out.
    """
    present = {id: {term: f for term, f in sorted(terms.items()) if f > 0} for id, terms in classes.items()}
    sums = {id: math.fsum(terms.values()) for id, terms in present.items()}
    mean = math.fsum(sums.values()) / max(1, len(sums))
    frequencies: dict[str, list[float]] = {}
    for terms in present.values():
        for term, frequency in terms.items():
            frequencies.setdefault(term, []).append(frequency)
    # Exact sums: the order in which classes are told must not matter.
    totals = {term: math.fsum(found) for term, found in frequencies.items()}
    weighed: dict[str, dict[str, float]] = {}
    for id, terms in present.items():
        weights = {term: f / sums[id] * math.log1p(mean / totals[term]) for term, f in terms.items()}
        weighed[id] = dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))
    return weighed


def labels(
    classes: Mapping[str, Mapping[str, float]],
    at_most: int = 2,
    named: Mapping[str, tuple[str, ...]] | None = None,
) -> dict[str, tuple[str, ...]]:
    """Return for each class its most telling terms, the best first, as far as possible no two the same.

    Of two terms of which one holds all words of the other, the better one stands for both. A class without
    terms gets none.

    Args:
        classes: class to term to frequency; of two with the same name in mind the larger one gets it.
        at_most: so many terms make a name.
        named: classes that keep the name they have.
    """
    found = dict(named or {})
    given = set(found.values())
    weighed = term_weights(classes)
    for id in sorted(classes, key=lambda id: (-math.fsum(classes[id].values()), id)):
        if id not in found:
            names = list(_names(list(weighed[id])[:CANDIDATES], at_most))
            found[id] = next((name for name in names if name not in given), names[0] if names else ())
            given.add(found[id])
    return found


def _names(terms: list[str], at_most: int) -> Iterator[tuple[str, ...]]:
    """Yield possible names, the best terms first."""
    distinct = [
        term
        for place, term in enumerate(terms)
        if not any(_overlap(term, better) for better in terms[:place])
    ]
    if distinct:
        yield tuple(distinct[:at_most])
    yield from chain.from_iterable(
        (
            name
            for name in combinations(terms, length)
            if not any(_overlap(one, other) for one, other in combinations(name, 2))
        )
        for length in range(min(at_most, len(terms)), 0, -1)
    )


def _overlap(one: str, other: str) -> bool:
    """Return whether one term is part of the other, word by word."""
    first, second = set(one.split("-")), set(other.split("-"))
    return first <= second or second <= first
