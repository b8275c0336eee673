"""Owns what lies around the files that are asked about: their standing, what is likely and what is settled.

It is not the prediction (`predictor`), not the decision what is worth telling unasked (`alert`) and not the
answer (`impact`): both are made of this. What is not known is said with a reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphmem.calibration import calibration_at, outlook
from graphmem.captured import Shown
from graphmem.graph import EdgeStatus
from graphmem.journal import Journal
from graphmem.lessons import lessons_of
from graphmem.model import Affected, Evidence, FileStatus, SignalScores, Tier
from graphmem.postings import FileView, View
from graphmem.recall import activity
from graphmem.recall.predictor import Asker, Grounds, Prediction, Predictions, Taught, predict
from graphmem.recall.session_work import NOTHING_DONE, SessionWork, work_of
from graphmem.recall.settled import RULED_OUT, edges_around, stored, support_of
from graphmem.references import Missing
from graphmem.store.port import GraphEdge
from inference.lineage import Change

_LEAST = 10
_SPARE = 20
_NEVER = 2.0
_FIRST_NEIGHBOURS = 10
_REASONS = 3
"""Of a set of files so many are said to be less than known, with the reason; the others are counted."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: normalised paths, the asking session, how many entries are wanted, the task's words."""

    paths: tuple[str, ...]
    session: str | None = None
    actor: str | None = None
    limit: int = 10
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """What the memory knows of the files as a set, and the reason where that is not everything."""

    status: FileStatus
    reason: str | None


@dataclass(frozen=True, slots=True)
class Around:
    """The files around the queried ones: those ranked, best first, and what is settled about any of them."""

    entries: tuple[Prediction, ...]
    confirmed: Mapping[int, FileView]
    edges: Mapping[int, GraphEdge]

    def is_ruled_out(self, file: FileView) -> bool:
        """Return whether a verdict says that the file has nothing to do with the queried ones."""
        return file.id in self.edges and self.edges[file.id].status in RULED_OUT


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What was found for one question; where no file is known, only what its name and task make possible.

    `affected` are confirmed ones first, then the ranked; `linked` all that have evidence; `grounds` is what
    that stands on. `threshold` is the probability from which an entry is likely.
    """

    question: Question
    standing: Standing
    threshold: float
    known: tuple[FileView, ...] = ()
    around: Around = Around((), {}, {})
    affected: tuple[Affected, ...] = ()
    linked: tuple[FileView, ...] = ()
    grounds: Grounds | None = None

    @property
    def ids(self) -> list[int]:
        """The rows of the queried files."""
        return [file.id for file in self.known]

    def near(self) -> dict[int, str]:
        """Return the queried files and their first neighbours, path by row."""
        near = {file.id: file.path for file in self.known}
        first = self.around.entries[:_FIRST_NEIGHBOURS]
        near.update({entry.file.id: entry.file.path for entry in first if entry.ranked.signals})
        confirmed = list(self.around.confirmed.items())[:_FIRST_NEIGHBOURS]
        near.update({id: file.path for id, file in confirmed})
        return near


def survey(
    view: View,
    question: Question,
    now: float,
    missing: Missing,
    journal: Journal | None = None,
    *,
    in_session: bool = False,
) -> Surroundings:
    """Find what lies around the queried files.

    Args:
        view: the postings, cut at the moment asked about.
        question: the files.
        now: that moment in epoch seconds.
        missing: tells which of some paths were once seen on the disk and are there no more.
        journal: the verdicts, for a past moment, and what was learned from how earlier answers turned out.
        in_session: what an agent's session may edit yet comes first, not what most probably changes along.
    """
    files = {path: view.file(path) for path in question.paths}
    known = tuple({file.id: file for file in files.values() if file is not None}.values())
    standing = _standing(view, files, missing([file.path for file in known]))
    threshold, calibrate = outlook(calibration_at(journal, view.as_of), bool(question.words))
    ledger = None if journal is None else journal.ledger
    fresh = [path for path, file in files.items() if file is None]
    asker = Asker(now, question.actor, question.words, _work(view, question) if in_session else NOTHING_DONE)
    if not known:
        ranked = predict(view, (), asker, question.limit, fresh=fresh, calibrate=calibrate)
        # That a file is busy is no reason to name it beside one that nothing is known of.
        reasoned = tuple(entry for entry in ranked.ranked if entry.ranked.signals)
        around = _around(view, replace(ranked, ranked=reasoned), {}, missing)
        possible = _affected(view, question, around, _NEVER)
        return Surroundings(question, standing, threshold, affected=_marked(view, question, possible))
    edges = edges_around(view, [file.id for file in known], ledger)
    most = max(question.limit, _LEAST) + _SPARE + sum(edge.status in RULED_OUT for edge in edges.values())
    shown = {} if journal is None else _shown(journal, known, None if view.as_of == math.inf else view.as_of)
    taught = Taught(lessons_of(view, ledger), shown)
    predictions = predict(view, known, asker, most, taught, fresh, calibrate)
    around = _around(view, predictions, edges, missing)
    return Surroundings(
        question,
        standing,
        threshold,
        known,
        around,
        _marked(view, question, _affected(view, question, around, threshold)),
        tuple(file for file in predictions.linked if not around.is_ruled_out(file)),
        predictions.grounds,
    )


def _work(view: View, question: Question) -> SessionWork:
    """Return what the asking session did, nothing where all that is known of it is a history's."""
    session = question.session
    return NOTHING_DONE if session is None or view.is_sitting(session) else work_of(view, session)


def _shown(journal: Journal, files: Sequence[FileView], as_of: float | None) -> dict[str, Shown]:
    """Return how notes about any of these files turned out, by the path that was named."""
    found: dict[str, Shown] = {}
    for file in files:
        for path, (shown, taken) in journal.captured.shown(file.path, as_of).items():
            before = found.get(path, Shown(0, 0))
            found[path] = Shown(before.shown + shown, before.taken + taken)
    return found


def _around(view: View, predictions: Predictions, edges: Mapping[int, GraphEdge], missing: Missing) -> Around:
    """Return the files around that exist, also on the disk, and are not ruled out."""
    settled = view.files(file for file, edge in edges.items() if edge.status is EdgeStatus.CONFIRMED)
    living = {id: file for id, file in settled.items() if file.alive}
    lost = missing(
        [
            *(prediction.file.path for prediction in predictions.ranked),
            *(file.path for file in living.values()),
        ]
    )
    confirmed = {id: file for id, file in living.items() if file.path not in lost}
    found = Around((), confirmed, edges)
    entries = (entry for entry in predictions.ranked if entry.file.path not in lost)
    return replace(found, entries=tuple(e for e in entries if not found.is_ruled_out(e.file)))


def _affected(view: View, question: Question, around: Around, threshold: float) -> tuple[Affected, ...]:
    """Return the entries, confirmed ones first; more than asked for if more are likely."""
    sure = [n for n, entry in enumerate(around.entries, 1) if entry.ranked.probability >= threshold]
    entries = around.entries[: max([question.limit, *sure[-1:]])]
    keys = [key for entry in entries for key in entry.ranked.keys]
    unlisted = around.confirmed.keys() - {entry.file.id for entry in entries}
    rows = stored(view, (around.edges[id] for id in unlisted))
    keys += [key for row in rows.values() for key in row.keys]
    ids = {head.seq: head.id for head in view.heads(dict.fromkeys(keys))}
    listed = {entry.file.id: _entry(entry, ids, threshold) for entry in entries}
    for id in unlisted:
        file, row = around.confirmed[id], rows.get(around.edges[id].id)
        evidence, score = support_of(row, ids)
        listed[id] = Affected(file.path, 0.0, Tier.CONFIRMED, evidence, score, noise=file.noise)
    confirmed = [_confirmed(listed[id], around.edges[id]) for id in around.confirmed]
    confirmed.sort(key=lambda entry: (-entry.probability, entry.path))
    others = [
        replace(entry, edge_id=around.edges[id].id) if id in around.edges else entry
        for id, entry in listed.items()
        if id not in around.confirmed
    ]
    return (*confirmed, *others)


def _marked(view: View, question: Question, entries: tuple[Affected, ...]) -> tuple[Affected, ...]:
    """Return the entries with those marked that the asking session has read."""
    if question.session is None:
        return entries
    read = {touch.path for touch in work_of(view, question.session).read}
    return tuple(replace(entry, read=True) if entry.path in read else entry for entry in entries)


def _confirmed(entry: Affected, edge: GraphEdge) -> Affected:
    """Return an entry as a confirmed one, at least as probable as its edge."""
    return replace(
        entry,
        probability=max(entry.probability, edge.probability),
        tier=Tier.CONFIRMED,
        relation=edge.relation,
        direction=edge.direction,
        edge_id=edge.id,
    )


def _entry(prediction: Prediction, ids: Mapping[int, str], threshold: float) -> Affected:
    """Return one prediction as it is shown; `ids` names the observations of its evidence by number."""
    ranked = prediction.ranked
    return Affected(
        path=prediction.file.path,
        probability=ranked.probability,
        tier=Tier.LIKELY if ranked.probability >= threshold else Tier.POSSIBLE,
        evidence=Evidence(
            ranked.together,
            ranked.of,
            ranked.sessions,
            ranked.last_seen,
            tuple(ids[key] for key in ranked.keys),
        ),
        score=SignalScores(ranked.file_score, ranked.concept_score, ranked.temporal_score),
        signals=ranked.signals,
        noise=prediction.file.noise,
    )


def _standing(view: View, files: dict[str, FileView | None], lost: set[str]) -> Standing:
    """Say what is known of the files as a set: the best of them, and which of them are less than known."""
    states = {path: _one_standing(view, path, file, lost) for path, file in files.items()}
    if len(states) == 1:
        return next(iter(states.values()))
    reasons = [
        state.reason if path in state.reason else f"{path}: {state.reason}"
        for path, state in states.items()
        if state.reason is not None
    ]
    if len(reasons) > _REASONS:
        reasons[_REASONS:] = [f"the same goes for others of them, {len(reasons) - _REASONS} in all"]
    found = {state.status for state in states.values()}
    status = next(each for each in (FileStatus.KNOWN, FileStatus.GONE, FileStatus.UNKNOWN) if each in found)
    return Standing(status, "; ".join(reasons) or None)


def _one_standing(view: View, path: str, file: FileView | None, lost: set[str]) -> Standing:
    if file is None:
        total = view.total()
        if total == 0:
            reason = "nothing is recorded in this project yet; `graphmem import git .` brings its history in"
        else:
            reason = f"none of the {total} recorded observations mentions {path}; its effects are not known"
        return Standing(FileStatus.UNKNOWN, reason)
    if not file.alive:
        return Standing(FileStatus.GONE, _deletion(view, file))
    if file.path in lost:
        who = "it" if file.path == path else f"it is now named {file.path}, which"
        return Standing(FileStatus.GONE, f"{who} was seen on the disk before and is there no more")
    if file.path != path:
        return Standing(FileStatus.KNOWN, f"now named {file.path}")
    edits = view.connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(pairs), 0) FROM touch"
        " JOIN observation ON observation.seq = touch.occasion"
        " WHERE file = ? AND touch.at <= ? AND change != ?",
        (file.id, view.as_of, Change.READ),
    ).fetchone()
    match edits:
        case (0, _):
            return Standing(FileStatus.KNOWN, "it was read, but no change of it is recorded")
        case (_, 0):
            return Standing(FileStatus.KNOWN, "it was changed in bulk changes only, which link nothing")
        case _:
            return Standing(FileStatus.KNOWN, None)


def _deletion(view: View, file: FileView) -> str:
    since = view.gone_since(file.id)
    return "it was deleted" if since is None else f"it was deleted on {activity.day(since)}"
