"""Owns what sentences claim of a value so surely that a later claim can take an earlier one's place.

It is not what is worth keeping of a text (that is `facts`) nor which of two claims holds (that is
`graphmem.recall.succession`). Precision comes first: what is asked, supposed or denied claims nothing, what
is planned only tentatively.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from graphmem.speech import chinese_changes, chinese_rules, english_changes, english_rules, screens
from graphmem.speech.changing import Change
from graphmem.speech.fact_values import NO_VALUE, TELLING, assigned, is_name, plain, value_of
from graphmem.speech.plain_statements import Plain, plainly
from graphmem.speech.subjects import (
    MANY,
    ONE_PLACE,
    PROJECT,
    VAGUE,
    attribute_words,
    is_project,
    is_role,
    subject_of,
    subject_words,
)
from graphmem.speech.value_shapes import Shape, shaped
from graphmem.text import HAN

LONGEST = 300
"""A longer sentence claims nothing."""


class Reach(IntEnum):
    """What an earlier claim on the same subject and attribute must be so that this one takes its place."""

    NOTHING = -1
    """It takes no place: something its sentence names besides, the version of what is used."""
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
        return frozenset((*(self.subject or ()), *attribute_words(self.attribute)))


_HAN = re.compile(f"[{HAN}]")
_JOINTS = (" to ", "->", "→", "=>", "instead", "rather than", "longer", "favo", " with ", " now ", "replaces")
_MOST_HAN = 8
_MOST_HAN_BESIDE = 4
"""So many Chinese characters a name has, and what stands beside a number or a path."""
_VERSIONED = frozenset({"base", "prefix", "path", "url", "uri", "value", "endpoint"})


def claims(sentence: str, *, is_title: bool = False) -> list[Claim]:
    """Return what a sentence claims, in order; most sentences claim nothing.

    A title that orders something is read as a report that it was done.
    """
    if len(sentence) > LONGEST or not is_hinted(sentence):
        return []
    said, scope = sentence.strip(), ""
    if is_title and (typed := screens.CONVENTIONAL.match(said)) is not None:
        scope, said = typed["s"] or "", said[typed.end() :]
    hedged = screens.HEDGE.sub("", said).strip()
    found = _of_sentence(_led(hedged), scope, is_title=is_title)
    if not found or _is_no_statement(said):
        return []
    found += [aside for claim in found if (aside := _aside(claim)) is not None]
    tentative = any(
        pattern.search(said)
        for pattern in (screens.PLANNED, english_rules.TENTATIVE, chinese_rules.TENTATIVE)
    )
    return [one._replace(tentative=tentative) for one in found]


def _is_no_statement(said: str) -> bool:
    """Return whether a sentence asks, supposes or tells what somebody else said."""
    asks = english_rules.is_question(said) or chinese_rules.is_question(said)
    return asks or screens.SUPPOSED.search(said) is not None


def is_hinted(text: str) -> bool:
    """Return whether a text could claim something at all; fast, for texts that mostly don't."""
    words = frozenset(text.casefold().split())
    if screens.may_change(words, text) or screens.may_be(words, text) or screens.may_be_otherwise(words):
        return True
    if text.isascii() or _HAN.search(text) is None:
        return False
    return screens.may_change_in_chinese(text) or screens.may_be_in_chinese(text)


def reported(title: str) -> list[Claim]:
    """Return the changes that a commit's title reports; what it says to be so otherwise is no statement."""
    if not _may_report(title):
        return []
    found = claims(title, is_title=True)
    return [
        one for one in found if one.subject is not None and (one.reach is Reach.ANY or one.old is not None)
    ]


def _may_report(title: str) -> bool:
    plain = f" {title.casefold()} "
    if any(joint in plain for joint in _JOINTS) and screens.may_change(frozenset(plain.split()), title):
        return True
    return not title.isascii() and _HAN.search(title) is not None and screens.may_change_in_chinese(title)


def _led(said: str) -> str:
    """Return a sentence without what leads up to it and without its stop."""
    bare = said.strip().rstrip("。.!！；; ")
    while (lead := screens.LEAD.match(bare)) is not None and lead.end() < len(bare):
        bare = bare[lead.end() :]
    return bare


def _of_sentence(said: str, scope: str, *, is_title: bool) -> list[Claim]:
    whole = _of_clause(said, scope, is_title=is_title)
    clauses = [clause.strip() for clause in screens.CLAUSES.split(said) if clause.strip()]
    if (
        len(clauses) == 1
        or screens.PAST.match(said)
        or (whole is not None and whole.old is not None and whole.value is not None)
    ):
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
    words = frozenset(said.casefold().split())
    chinese = not said.isascii() and _HAN.search(said) is not None
    for change in _read(said, words, chinese=chinese, is_title=is_title):
        if past and not (change.old and change.value):
            continue
        if (made := _changed(change, place)) is not None:
            return made
    if past or screens.NEGATED.search(said):
        return None
    in_chinese = chinese and screens.may_be_in_chinese(said)
    otherwise = in_chinese or screens.may_be_otherwise(words) or "=" in said
    stated = plainly(said) if otherwise else None
    if stated is None and (in_chinese or screens.may_be(words, said)):
        made_so = assigned(said)
        if made_so is not None:
            attribute = "" if made_so.attribute == "value" else made_so.attribute
            stated = Plain(made_so.subject, attribute, made_so.value)
    return None if stated is None else _plain(stated, place)


def _read(said: str, words: frozenset[str], *, chinese: bool, is_title: bool) -> Iterator[Change]:
    if screens.may_change(words, said):
        yield from english_changes.changes(said, is_title=is_title)
    if chinese and screens.may_change_in_chinese(said):
        yield from chinese_changes.changes(said)


def _aside(claim: Claim) -> Claim | None:
    """Return what a value names besides: the version of `Tauri 1.6`, the method of `POST /search`."""
    value = claim.value or ""
    if (named := screens.VERSIONED.match(value)) is not None:
        return Claim(subject_words(named["s"]), "version", shaped(named["v"]).text, reach=Reach.NOTHING)
    if (asked := screens.METHOD_AND_PATH.match(value)) is not None:
        return Claim(claim.subject, "method", asked["m"], reach=Reach.NOTHING)
    return None


# ---- what is said to be so ----------------------------------------------------------------------


def _plain(stated: Plain, place: str) -> Claim | None:
    """Return what a sentence says is, with nothing said of a change."""
    name, attribute, text = stated
    placed = _placed(name, attribute, text, place, "")
    if placed is None:
        return None
    subject, had, value = placed
    loose = _is_loose(subject, had)
    if ("以" in name and value in "准主例") or _is_talk(value, loose=loose):
        return None
    return Claim(subject, had, value, reach=Reach.NAMED if loose else Reach.ALIKE)


def _is_talk(value: str, *, loose: bool) -> bool:
    """Return whether a value only describes: slow, configurable, read from a file, 价格和日期按地区格式化.

    `loose` is set where it takes no other's place anyway.
    """
    shape = shaped(value).shape
    if shape is Shape.WORD and (screens.JOINED.search(value) or len(value.split()) > 3):
        return True
    if shape is Shape.WORD and not loose and screens.ADJECTIVE.match(value):
        return True
    most = _MOST_HAN if shape is Shape.WORD else _MOST_HAN_BESIDE
    return len(_HAN.findall(value)) > most


def _is_loose(subject: tuple[str, ...], attribute: str) -> bool:
    """Return whether there can be several of it at a time, or nobody can say of what it is."""
    if attribute in MANY or (not subject and attribute in screens.OF_SOMETHING):
        return True
    return screens.PARTICIPLE.match(f"{attribute} x") is not None and attribute not in ONE_PLACE


def _placed(
    name: str, attribute: str, text: str, place: str, move: str
) -> tuple[tuple[str, ...], str, str] | None:
    """Return subject, attribute and value; what the value is said to be for is part of the subject."""
    where, had, said = place, attribute, value_of(text)
    if not had and (done := screens.PARTICIPLE.match(said)) is not None and subject_of(name)[1] in VAGUE:
        had, said = done["a"], done["v"]
    raw = _cut(said)
    if (rest := screens.HEAD.match(raw)) is not None and _is_complete(rest["v"]):
        raw, where = rest["v"], f"{place} {rest['p']}"
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
    if name and name == change.old and subject_of(name)[1] not in VAGUE:
        return _changed(change._replace(old="", move="replaced"), place)
    where = f"{place} {change.place}".strip()
    if is_project((plain(name),)) and name:
        name = "project"
    elif not name:
        name, where = (where, "") if where else ("" if change.relation else "project", "")
    if name and name != "project" and not is_name(name):
        return None
    if not change.value:
        return _ended(name, change, old, where)
    renamed = change.relation.startswith("rename") or change.relation in ("重命名", "改名", "更名")
    uses = change.relation not in ("", "is", "are", "called", "named", "known as") and not renamed
    attribute = "name" if renamed and subject_of(name)[1] in VAGUE else ""
    if not attribute and (uses or name == "project") and subject_of(name)[1] in VAGUE:
        attribute = "use"
    placed = _placed(name, attribute, change.value, where, change.move)
    if placed is None:
        return None
    subject, had, value = placed
    plain_old = shaped(old).text if old else None
    if plain_old == value or not _is_sure(change, had, value, plain_old):
        return None
    any_word = had == "value" and shaped(value).shape is Shape.WORD
    several = had in MANY or (not subject and had in screens.OF_SOMETHING)
    named_only = several or any_word or change.name == change.old
    return Claim(subject, had, value, plain_old, Reach.NAMED if named_only else Reach.ANY)


def _is_sure(change: Change, attribute: str, value: str, old: str | None) -> bool:
    """Return whether it is a value that changed, not something that was moved about or made otherwise."""
    said = change.value.strip()
    if len(said.split()) > 1 and not is_name(said) and not TELLING.match(said):
        return False
    if "(" in change.old or len(change.old.split()) > 5:
        return False
    if old is None and (screens.JOINED.search(value) or len(value.split()) > 3):
        return False
    telling = bool(TELLING.search(said))
    if old is not None:
        return telling or not NO_VALUE.match(value) or shaped(value).shape is Shape.SWITCH
    known = attribute not in VAGUE
    return (telling and (known or shaped(value).shape is not Shape.WORD)) or (
        known and not NO_VALUE.match(value) and (change.move != "" or not screens.ADJECTIVE.match(value))
    )


def _ended(name: str, change: Change, old: str, place: str) -> Claim | None:
    """Return what a sentence says is no longer so."""
    done = screens.PARTICIPLE.match(old)
    if not old or len(old.split()) > 5 or screens.JOINED.search(old if done is None else done["v"]):
        return None
    if old.casefold() in ("used", "needed", "supported", "in use", "required"):
        old, name = name, place or "project"
        place = ""
    attribute = change.relation if screens.PARTICIPLE.match(f"{change.relation} x") else ""
    placed = _placed(name, attribute, old, place, "")
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
