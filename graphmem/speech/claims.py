"""Owns what sentences claim of a value so surely that a later claim can take an earlier one's place.

It is not what is worth keeping of a text (that is `facts`) nor which of two claims holds (that is
`graphmem.recall.succession`). Precision comes first: what is asked, supposed or denied claims nothing, what
is planned only tentatively.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple

from graphmem.speech import chinese_changes, chinese_rules, english_changes, english_rules, screens
from graphmem.speech.changing import Change
from graphmem.speech.fact_values import NO_VALUE, TELLING, assigned, is_name, plain, value_of
from graphmem.speech.plain_statements import plainly
from graphmem.speech.subjects import MANY, PROJECT, VAGUE, is_project, is_role, subject_of, subject_words
from graphmem.speech.value_shapes import Shape, shaped
from graphmem.text import HAN

LONGEST = 300
"""A longer sentence claims nothing."""


class Reach(IntEnum):
    """What an earlier claim on the same subject and attribute must be so that this one takes its place."""

    NAMED = 0
    """The value this one says is gone."""
    ALIKE = 1
    """Any value of the same kind."""
    ANY = 2
    """Any value: the sentence says that it was changed."""


class Claim(NamedTuple):
    """What has which value, in one wording for all: subject words are sorted, values in plain form.

    `old` is the value that is said to be gone, `value` None where nothing is said to be in its place.
    `subject` is None where the sentence doesn't say what changed (`moved to /v2`).
    """

    subject: tuple[str, ...] | None
    attribute: str
    value: str | None
    old: str | None = None
    reach: Reach = Reach.ALIKE
    tentative: bool = False

    def words(self) -> frozenset[str]:
        """Return the words of subject and attribute that tell something."""
        had = () if self.attribute in VAGUE else (self.attribute,)
        return frozenset((*(self.subject or ()), *had))


_HAN = re.compile(f"[{HAN}]")
_VERSIONED = frozenset({"base", "prefix", "path", "url", "uri", "value", "endpoint"})


def claims(sentence: str, *, is_title: bool = False) -> list[Claim]:
    """Return what a sentence claims, in order; most sentences claim nothing.

    A title that orders something is read as a report that it was done.
    """
    if len(sentence) > LONGEST or not is_hinted(sentence):
        return []
    said = sentence.strip()
    if english_rules.is_question(said) or chinese_rules.is_question(said) or screens.SUPPOSED.search(said):
        return []
    scope = ""
    if is_title and (typed := screens.CONVENTIONAL.match(said)) is not None:
        scope, said = typed["s"] or "", said[typed.end() :]
    tentative = any(
        pattern.search(said)
        for pattern in (screens.PLANNED, english_rules.TENTATIVE, chinese_rules.TENTATIVE)
    )
    plainly_said = screens.HEDGE.sub("", said).strip() if tentative else said
    found = _of_sentence(_led(plainly_said), scope, is_title=is_title)
    return [one._replace(tentative=tentative) for one in found]


def is_hinted(text: str) -> bool:
    """Return whether a text could claim something at all; fast, for texts that mostly don't."""
    return screens.HINT.search(text) is not None


def _led(said: str) -> str:
    """Return a sentence without what leads up to it and without its stop."""
    bare = said.strip().rstrip("。.!！；; ")
    while (lead := screens.LEAD.match(bare)) is not None and lead.end() < len(bare):
        bare = bare[lead.end() :]
    return bare


def _of_sentence(said: str, scope: str, *, is_title: bool) -> list[Claim]:
    whole = _of_clause(said, scope, is_title=is_title)
    clauses = [clause.strip() for clause in screens.CLAUSES.split(said) if clause.strip()]
    if len(clauses) == 1 or (whole is not None and whole.old is not None and whole.value is not None):
        return [] if whole is None else [whole]
    place, found = scope, list[Claim]()
    for clause in clauses:
        one = _of_clause(clause, place, is_title=is_title)
        if one is not None:
            found.append(one)
        elif not found and (where := screens.PLACE.match(clause)) is not None:
            place = f"{place} {where['p'] or where['h']}".strip()
    if whole is None or len(found) > 1 or place != scope:
        return found
    return [whole]


def _of_clause(said: str, place: str, *, is_title: bool) -> Claim | None:
    past = screens.PAST.match(said) is not None
    read = english_changes.changes(said, is_title=is_title)
    if _HAN.search(said):
        read += chinese_changes.changes(said)
    for change in read:
        if past and not (change.old and change.value):
            continue
        if (made := _changed(change, place)) is not None:
            return made
    return None if past or screens.NEGATED.search(said) else _plain(said, place)


# ---- what is said to be so ----------------------------------------------------------------------


def _plain(said: str, place: str) -> Claim | None:
    """Return what a sentence says is, with nothing said of a change."""
    stated = plainly(said)
    if stated is not None:
        name, attribute, text = stated
    elif (made := assigned(said)) is not None:
        name, attribute, text = made.subject, "" if made.attribute == "value" else made.attribute, made.value
    else:
        return None
    placed = _placed(name, attribute, text, place, "")
    if placed is None:
        return None
    subject, had, value = placed
    if _is_talk(value):
        return None
    return Claim(subject, had, value, reach=Reach.NAMED if _is_loose(subject, had) else Reach.ALIKE)


def _is_talk(value: str) -> bool:
    """Return whether a value only describes: slow, configurable, read from a file."""
    if shaped(value).shape is not Shape.WORD:
        return False
    return bool(screens.ADJECTIVE.match(value) or screens.JOINED.search(value)) or len(value.split()) > 3


def _is_loose(subject: tuple[str, ...], attribute: str) -> bool:
    """Return whether there can be several of it at a time, or nobody can say of what it is."""
    return attribute in MANY or (not subject and attribute in screens.OF_SOMETHING)


def _placed(
    name: str, attribute: str, text: str, place: str, move: str
) -> tuple[tuple[str, ...], str, str] | None:
    """Return subject, attribute and value; what the value is said to be for is part of the subject."""
    raw = _cut(text)
    where = place
    if (rest := screens.HEAD.match(raw)) is not None and _is_complete(rest["v"]):
        raw, where = rest["v"], f"{place} {rest['p']}"
    had = attribute
    if (typed := screens.TYPED.match(raw)) is not None:
        had, raw = (typed["a"] or typed["b"]), (typed["v"] or typed["w"])
        if attribute == "" and subject_of(name)[1] not in (*VAGUE, subject_of("", had)[1]):
            return None
    value = shaped(raw)
    if not value.text or len(value.text.split()) > 6:
        return None
    subject, had = subject_of(name, had)
    if had in MANY and is_role(subject_of(name)[1]):
        subject, had = subject_of(name)
    if where:
        subject = tuple(sorted({*(word for word in subject if word not in PROJECT), *subject_words(where)}))
    return subject, _shaped_attribute(had, value.shape, move), value.text


def _is_complete(head: str) -> bool:
    return " " not in head or shaped(head).shape is not Shape.WORD


def _cut(text: str) -> str:
    """Return a value as it was said, cut where the sentence goes on to something else."""
    cut = screens.AND.split(value_of(text), maxsplit=1)[0]
    return screens.VALUE_TAIL.sub("", cut).strip()


def _shaped_attribute(attribute: str, shape: Shape, move: str) -> str:
    """Return what a value of a telling kind is, where the wording doesn't say: GET a method, v2 a version."""
    if shape is Shape.VERSION and (attribute in _VERSIONED or attribute in VAGUE):
        return "version"
    if attribute not in VAGUE:
        return attribute
    if shape is Shape.METHOD:
        return "method"
    if shape is Shape.NUMBER and screens.UPGRADE.search(move):
        return "version"
    if shape is Shape.PATH and attribute == "value":
        return "path"
    return attribute


# ---- what is said to have changed ---------------------------------------------------------------


def _changed(change: Change, place: str) -> Claim | None:
    """Return the claim of a sentence about a change, None where it is none after all."""
    if any(screens.NEGATED.search(part) for part in (change.name, change.value, change.old)):
        return None
    if change.elliptical:
        return _elliptical(change)
    name, old = change.name, _cut(screens.OLD_TAIL.sub("", change.old))
    if name and name == change.old and "的" in name:
        name, _, old = name.rpartition("的")
    where = f"{place} {change.place}".strip()
    if not name:
        name, where = (where, "") if where else ("project", "")
    if not (is_name(name) or is_project((plain(name),))):
        return None
    if not change.value:
        return _ended(name, change, old, where)
    renamed = change.relation.startswith("rename") or change.relation in ("重命名", "改名", "更名")
    uses = change.relation not in ("", "is", "are", "called", "named", "known as") and not renamed
    attribute = "name" if renamed and subject_of(name)[1] in VAGUE else ""
    placed = _placed(name, attribute, change.value, where, change.move)
    if placed is None:
        return None
    subject, had, value = placed
    if had == "value" and (uses or is_project(subject)):
        had = "use"
    plain_old = shaped(old).text if old else None
    if plain_old == value or not _is_sure(change, had, value, plain_old):
        return None
    named_only = (
        _is_loose(subject, had) or (is_project(subject) and had == "use") or change.name == change.old
    )
    return Claim(subject, had, value, plain_old, Reach.NAMED if named_only else Reach.ANY)


def _is_sure(change: Change, attribute: str, value: str, old: str | None) -> bool:
    """Return whether it is a value that changed, not something that was moved about or made otherwise."""
    said = change.value.strip()
    if old is None and (screens.JOINED.search(value) or len(value.split()) > 3):
        return False
    telling = bool(TELLING.search(said))
    if old is not None:
        return telling or not NO_VALUE.match(value) or shaped(value).shape is Shape.SWITCH
    known = attribute not in VAGUE
    return (telling and (known or shaped(value).shape is not Shape.WORD)) or (
        known and not NO_VALUE.match(value) and not screens.ADJECTIVE.match(value)
    )


def _ended(name: str, change: Change, old: str, place: str) -> Claim | None:
    """Return what a sentence says is no longer so."""
    if not old or len(old.split()) > 4 or screens.JOINED.search(old):
        return None
    if old.casefold() in ("used", "needed", "supported", "in use", "required"):
        old, name = name, place or "project"
        place = ""
    placed = _placed(name, "", old, place, "")
    if placed is None:
        return None
    subject, had, gone = placed
    if had == "value":
        had = "use"
    return Claim(subject, had, None, gone, Reach.NAMED)


def _elliptical(change: Change) -> Claim | None:
    """Return the claim of a sentence that doesn't say what changed: it needs a telling value."""
    value = shaped(_cut(change.value))
    if value.shape is not Shape.VERSION:
        return None
    return Claim(None, "version", value.text, reach=Reach.ANY)
