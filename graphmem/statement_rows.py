"""Owns the rows of claimed values in `derived.db`: one for each claim of a fact, a title or a narrative.

It is not what a sentence claims (that is `graphmem.speech.claims`) nor which claim holds
(`graphmem.recall.standing`). Nobody is told of these rows by themselves; reminders read facts.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from graphmem.journal import Entry
from graphmem.model import FactKind, Observation, Scope, TaskState
from graphmem.speech.claims import Claim, Reach, claims, is_hinted, reported
from graphmem.speech.facts import FactReading
from graphmem.speech.sentences import sentences
from graphmem.speech.subjects import VAGUE, subject_of, subject_words
from graphmem.speech.value_shapes import Shape, shaped

OWN_TEXT = -1
TASK = "task"
"""The attribute under which a task's state is its value."""

_NARRATIVE = 8_000
_MOST = 40
_MOST_CLAIMS = 12
_FEW_MORE = 2
_COMMIT = "git"


class Stated(NamedTuple):
    """A claim of an observation: the fact it stands in (-1 its own text), its place there, and its sentence.

    `whole` is set where the own text says hardly anything else.
    """

    ord: int
    part: int
    claim: Claim
    text: str
    actor: str = ""
    whole: bool = True


def insert_statements(
    connection: sqlite3.Connection, entries: Iterable[Entry], read: Sequence[Sequence[FactReading]]
) -> None:
    """Put in what observations claim; `read` are the readings of each one's facts."""
    rows: list[tuple[object, ...]] = []
    for entry, readings in zip(entries, read, strict=True):
        at = entry.observation.at
        for said in stated(entry.observation, readings):
            claim = said.claim
            subject = None if claim.subject is None else " ".join(claim.subject)
            rows.append(
                (
                    entry.seq,
                    said.ord,
                    said.part,
                    subject,
                    claim.attribute,
                    claim.value,
                    claim.old,
                    None if claim.old is None else bare(claim.old),
                    claim.reach,
                    claim.tentative,
                    said.actor,
                    at,
                    said.text if said.ord == OWN_TEXT else None,
                    said.whole,
                )
            )
    connection.executemany(
        "INSERT INTO statement (seq, ord, part, subject, attribute, value, old, old_bare, reach, tentative,"
        " actor, at, text, whole) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def remove_statements(connection: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Take out what observations claim."""
    connection.executemany("DELETE FROM statement WHERE seq = ?", [(seq,) for seq in numbers])


def bare(value: str) -> str:
    """Return a value as it is found by: a number without its unit, a version without its letter."""
    found = shaped(value)
    if found.number is not None:
        return found.text.split()[0]
    return found.text.removeprefix("v") if found.shape is Shape.VERSION else found.text


def sameness(text: str) -> int:
    """Return a number that two texts share only if they say the same but for case, spaces and stops."""
    plain = " ".join(text.casefold().split()).rstrip("。.!！")
    return int.from_bytes(
        hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=8).digest(), signed=True
    )


def stated(observation: Observation, readings: Sequence[FactReading]) -> list[Stated]:
    """Return what an observation claims: its title and narrative, then its facts.

    Of a commit only a title that reports a change claims something.
    """
    own = _own(observation)
    found = list(own)
    before = [said.claim for said in own]
    for ord, reading in enumerate(readings):
        actor = observation.actor if reading.scope is Scope.ACTOR else ""
        made = [_resolved(claim, before, observation.title) for claim in _of_fact(reading)]
        before += made
        found += [Stated(ord, part, claim, reading.text, actor) for part, claim in enumerate(made)]
    return found


def _of_fact(reading: FactReading) -> list[Claim]:
    task = reading.kind is FactKind.TASK
    found: list[Claim] = []
    if task:
        subject = reading.subject or " ".join(reading.text.casefold().split())
        state = (reading.state or TaskState.OPEN).value
        found.append(Claim((subject,), TASK, state, reach=Reach.ANY))
    if not task or reading.state is TaskState.DONE:
        reports = task or reading.kind is FactKind.DECISION
        made = claims(reading.text, is_title=reports)
        found += [claim for claim in made if not task or _says_a_change(claim)]
    return [claim._replace(tentative=claim.tentative or (reading.tentative and not task)) for claim in found]


def _own(observation: Observation) -> list[Stated]:
    """Return what title and narrative claim."""
    title = observation.title
    if _is_commit(observation):
        return [Stated(OWN_TEXT, part, claim, title) for part, claim in enumerate(reported(title))]
    body = observation.narrative[:_NARRATIVE]
    of_title = claims(title, is_title=True) if title and is_hinted(title) else []
    told: list[tuple[Claim, str]] = [(claim, title) for claim in of_title]
    others = 0
    if of_title or is_hinted(body):
        for sentence in _first(body):
            made = claims(sentence)
            others += not made
            told += [(claim, sentence) for claim in made]
    own: list[Stated] = []
    for part, (claim, text) in enumerate(told[:_MOST_CLAIMS]):
        resolved = _resolved(claim, [said.claim for said in own], title)
        own.append(Stated(OWN_TEXT, part, resolved, text))
    whole = _is_whole(title, of_title, own, others)
    return [said._replace(whole=whole) for said in own]


def _is_commit(observation: Observation) -> bool:
    """Return whether it is a commit; of a history file it has a reference and nothing but a title."""
    bare = not (observation.narrative or observation.facts)
    return observation.source == _COMMIT or (observation.reference is not None and bare)


def _says_a_change(claim: Claim) -> bool:
    return claim.reach is Reach.ANY or claim.old is not None


def _first(body: str) -> Iterator[str]:
    for number, sentence in enumerate(sentences(body)):
        if number >= _MOST:
            return
        yield sentence.text


def _is_whole(title: str, of_title: Sequence[Claim], own: Sequence[Stated], others: int) -> bool:
    """Return whether a text is its claims: the title is one and little else is said, or nothing else is."""
    if of_title:
        return others <= _FEW_MORE
    words = set(subject_words(title))
    claimed = {word for said in own for word in said.claim.words()}
    return others == 0 and (not words or 2 * len(words & claimed) >= len(words))


def _resolved(claim: Claim, before: Sequence[Claim], title: str) -> Claim:
    """Return the claim about what was spoken of just before, or the title names, where it doesn't say."""
    if claim.subject is not None:
        return claim
    for earlier in reversed(before):
        if earlier.subject is not None and earlier.attribute == claim.attribute:
            return claim._replace(subject=earlier.subject)
    subject, attribute = subject_of(title)
    if subject and attribute not in VAGUE and len(title.split()) <= 4:
        return claim._replace(subject=subject)
    return claim
