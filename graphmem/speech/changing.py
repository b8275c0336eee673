"""Owns what a sentence about a changed value is read into, whatever its language.

It is not the sentences (`english_changes`, `chinese_changes`) nor what the names in it mean (`claims`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Change(NamedTuple):
    """A changed value as it was said; what a sentence leaves open is "".

    `name` is whose value it is, `place` what follows "for" or "in", `relation` the verb that joins name and
    value, `move` the verb of the change. `elliptical` is set where the sentence doesn't say what changed
    (`moved to /v2`).
    """

    name: str
    value: str
    old: str
    place: str = ""
    relation: str = ""
    move: str = ""
    elliptical: bool = False


class Forms(NamedTuple):
    """Patterns of sentences, and what a folded text holds one of where any of them can match; () for all."""

    patterns: tuple[re.Pattern[str], ...]
    needles: tuple[str, ...]


def forms(patterns: Sequence[str], *needles: str) -> Forms:
    """Compile patterns."""
    return Forms(tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns), needles)


def first_of(groups: Sequence[Forms], said: str) -> Iterator[Change]:
    """Yield what each of these forms makes of a sentence, in their order; named groups are the parts.

    Groups: s name, v value, o old value, f place, r relation, m move, e an elliptical move, d a name that is
    the old value too.
    """
    plain = said.casefold()
    for group in groups:
        if group.needles and not any(needle in plain for needle in group.needles):
            continue
        for form in group.patterns:
            if (match := form.match(said)) is not None:
                yield _change({key: (part or "").strip() for key, part in match.groupdict().items()})


def _change(parts: dict[str, str]) -> Change:
    both = parts.get("d", "")
    return Change(
        name=parts.get("s", both),
        value=parts.get("v", ""),
        old=parts.get("o", both),
        place=parts.get("f", ""),
        relation=parts.get("r", "").casefold(),
        move=(parts.get("m", "") or parts.get("e", "")).casefold(),
        elliptical="e" in parts,
    )
