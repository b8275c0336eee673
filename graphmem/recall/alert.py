"""Owns the decision what is worth telling an agent unasked: one note, or nothing.

It is not what lies around a file (`surroundings`) nor the words (`note`). Only something strong makes a note:
another session at the file, a confirmed dependent, a superseded contract that work on the file used, or a
likely companion.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graphmem.captured import Captured
from graphmem.concepts import observation_concepts
from graphmem.journal import Journal
from graphmem.model import ActiveSession, Affected, FileStatus, Observation, Recent
from graphmem.postings import View
from graphmem.recall import activity
from graphmem.recall.note import Dependent, Told, note
from graphmem.recall.predictor import nameable
from graphmem.recall.settled import clause
from graphmem.recall.surroundings import Question, Surroundings, survey
from graphmem.references import Missing


@dataclass(frozen=True, slots=True)
class Alert:
    """A note on `path`: the text, and the files it names as affected, in its order.

    `strongest` is the highest probability among them (0 when it names none), `is_confirmed` whether a
    verdict stands behind one.
    """

    text: str
    path: str
    named: tuple[str, ...]
    strongest: float
    is_confirmed: bool


@dataclass(frozen=True, slots=True)
class Goings:
    """What goes on around the files, see `graphmem.recall.activity`."""

    active: Sequence[ActiveSession]
    contracts: Sequence[activity.ContractAtStake]
    captured: Captured | None


def alert(
    view: View,
    question: Question,
    now: float,
    missing: Missing,
    journal: Journal | None = None,
    seen: Collection[str] = (),
) -> Alert | None:
    """Return what an agent is told before it edits the files, or None when nothing strong is known.

    Arguments as for `graphmem.recall.surroundings.survey`; `seen` are paths that the asking session has read
    or edited already, which are not named.
    """
    found = survey(view, question, now, missing, journal)
    return judged(view, found, goings(view, found, now, journal), now, missing, seen)


def goings(view: View, found: Surroundings, now: float, journal: Journal | None = None) -> Goings:
    """Return what goes on around the files; of the past nobody knows which sessions had ended by then."""
    return Goings(
        activity.active(view, found.near(), now, found.question.session),
        activity.contracts(view, found.ids),
        None if journal is None or view.as_of != math.inf else journal.captured,
    )


def judged(
    view: View,
    found: Surroundings,
    around: Goings,
    now: float,
    missing: Missing,
    seen: Collection[str] = (),
    recent: Recent | None = None,
) -> Alert | None:
    """Return the alert that these findings are worth, see `alert`; `recent` if it is known already."""
    if not found.known or found.standing.status is FileStatus.GONE:
        return None
    seen = {*seen, *(entry.path for entry in found.affected if entry.read)}
    confirmed = [entry for entry in _confirmed(found) if entry.entry.path not in seen]
    bound = {dependent.entry.path for dependent in confirmed}
    likely = [entry for entry in _likely(view, found) if entry.path not in seen and entry.path not in bound]
    subject = {file.path for file in found.known}
    places = subject | bound | {entry.path for entry in likely}
    live = activity.live(view, around.active, around.captured)
    active = tuple(session for session in live if session.path in places)
    # That somebody else only reads it is no news; who asks without a session may be any of them.
    others = {session.session for session in active if session.path in subject}
    is_shared = (
        found.question.session is not None
        and bool(others)
        and activity.changed_by(view, found.ids, others, now)
    )
    contracts = sorted(around.contracts, key=lambda at_stake: not at_stake.is_outdated)
    is_outdated = bool(contracts) and contracts[0].is_outdated
    if not (confirmed or likely or is_shared or is_outdated):
        return None
    weaker = {file.path for file in found.linked if file.noise is None} - places - seen
    recent = recent or activity.recent(view, found.ids, now)
    # That work on a file was about what the file is called is no news.
    own = observation_concepts(Observation("", "", 0.0, files_modified=found.question.paths))
    made = note(
        Told(
            found.question.paths,
            now,
            active,
            tuple(confirmed),
            tuple(at_stake.use for at_stake in contracts),
            tuple(likely),
            len(weaker - missing(sorted(weaker))) if likely else 0,
            tuple(domain for domain in recent.domains if domain.concept not in own),
            recent.window_days,
            activity.ACTIVE_HOURS,
        )
    )
    chances = {entry.path: entry.probability for entry in (*(one.entry for one in confirmed), *likely)}
    return Alert(
        made.text,
        found.question.paths[0],
        made.named,
        max((chances[path] for path in made.named), default=0.0),
        any(path in bound for path in made.named),
    )


def _confirmed(found: Surroundings) -> list[Dependent]:
    """Return what depends on the files by a verdict; what they depend on need not follow a change."""
    edges = found.around.edges
    words = {file.path: clause(edges[id], id) for id, file in found.around.confirmed.items()}
    told = {path: text for path, text in words.items() if text is not None}
    return [Dependent(entry, told[entry.path]) for entry in found.affected if entry.path in told]


def _likely(view: View, found: Surroundings) -> list[Affected]:
    """Return the entries that are likely and may be named."""
    named = {entry.file.path for entry in nameable(view, found.around.entries, found.threshold)}
    return [entry for entry in found.affected if entry.path in named]
