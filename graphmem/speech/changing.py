"""Owns what a sentence about a changed value is read into, whatever its language.

It is not the sentences (`english_changes`, `chinese_changes`) nor what the names in it mean (`claims`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple


class Change(NamedTuple):
    """A changed value as it was said; what a sentence leaves open is "".

    `name` is whose value it is, `place` what follows "for" or "in", `relation` the verb that joins name and
    value, `move` the verb of the change. `elliptical` is set where the sentence doesn't say what changed
    (`moved to /v2`), `now` where nothing but that word speaks of a change.
    """

    name: str
    value: str
    old: str
    place: str = ""
    relation: str = ""
    move: str = ""
    elliptical: bool = False
    now: bool = False


def first_of(forms: Sequence[re.Pattern[str]], said: str) -> list[Change]:
    """Return what each of these forms makes of a sentence, in their order; named groups are the parts.

    Groups: s name, v value, o old value, f place, r relation, m move, e an elliptical move, n only `now`,
    d a name that is the old value too.
    """
    found = []
    for form in forms:
        if (match := form.match(said)) is not None:
            parts = {key: (part or "").strip() for key, part in match.groupdict().items()}
            both = parts.get("d", "")
            found.append(
                Change(
                    name=parts.get("s", both),
                    value=parts.get("v", ""),
                    old=parts.get("o", both),
                    place=parts.get("f", ""),
                    relation=parts.get("r", "").casefold(),
                    move=(parts.get("m", "") or parts.get("e", "")).casefold(),
                    elliptical="e" in parts,
                    now="n" in parts,
                )
            )
    return found
