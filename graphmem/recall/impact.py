"""Owns the answer before an edit: what may be affected, how sure that is, and what else is going on there.

It is not the prediction (that is `predictor`) nor the wording (that is `note`). What is not known is said
with a reason; only the warning is thresholded, the list is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graphmem.graph import EdgeStatus
from graphmem.ledger import Ledger
from graphmem.model import (
    Affected,
    Evidence,
    FileStatus,
    Impact,
    NextFile,
    SignalScores,
    Tier,
)
from graphmem.postings import FileView, View
from graphmem.recall import activity
from graphmem.recall.note import warning
from graphmem.recall.predictor import Asker, Prediction, Predictions, predict
from graphmem.recall.settled import RULED_OUT, clause, edges_around, stored, support_of
from graphmem.references import Missing
from graphmem.store.port import GraphEdge
from inference.lineage import Change
from inference.ranking import WARNING_THRESHOLD

_FIRST_NEIGHBOURS = 10
_NEXT = 5
_LEAST = 10
_SPARE = 20
WARNING_SESSIONS = 2


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked: normalised paths, the asking session, how many entries are wanted."""

    paths: tuple[str, ...]
    session: str | None = None
    actor: str | None = None
    limit: int = 10


@dataclass(frozen=True, slots=True)
class _Standing:
    status: FileStatus
    reason: str | None


@dataclass(frozen=True, slots=True)
class _Around:
    """The files around the queried ones: those ranked, best first, and what is settled about any of them."""

    entries: tuple[Prediction, ...]
    confirmed: Mapping[int, FileView]
    edges: Mapping[int, GraphEdge]

    def is_ruled_out(self, file: FileView) -> bool:
        return file.id in self.edges and self.edges[file.id].status in RULED_OUT


def impact(
    view: View,
    question: Question,
    now: float,
    missing: Missing,
    behind: tuple[int, int] | None = None,
    ledger: Ledger | None = None,
) -> Impact:
    """Answer one question.

    Args:
        view: the postings, cut at the moment asked about.
        question: the files.
        now: that moment in epoch seconds.
        missing: tells which of some paths were once seen on the disk and are there no more.
        behind: how many entries of how many are in, while the postings are being rebuilt.
        ledger: the verdicts, for a past moment.
    """
    files = {path: view.file(path) for path in question.paths}
    known = list({file.id: file for file in files.values() if file is not None}.values())
    standing = _standing(view, files, missing([file.path for file in known]))
    degraded = None if behind is None else unfinished(*behind)
    if degraded is not None:
        standing = _Standing(standing.status, degraded)
    path = question.paths[0] if len(question.paths) == 1 else None
    paths = () if path is not None else question.paths
    if not known:
        return Impact(path, standing.status, standing.reason, None, now, paths, degraded=degraded)
    ids = [file.id for file in known]
    edges = edges_around(view, ids, ledger)
    most = max(question.limit, _LEAST) + _SPARE + sum(edge.status in RULED_OUT for edge in edges.values())
    predictions = predict(view, known, Asker(now, question.actor), most)
    around, lost = _around(view, predictions, edges, missing)
    affected = _affected(view, question, around)
    near = {file.id: file.path for file in known}
    near.update({p.file.id: p.file.path for p in around.entries[:_FIRST_NEIGHBOURS] if p.ranked.signals})
    near.update({id: file.path for id, file in list(around.confirmed.items())[:_FIRST_NEIGHBOURS]})
    following = [NextFile(file.path, score) for file, score in predictions.upcoming if file.path not in lost]
    weaker = [file for file in predictions.linked if not around.is_ruled_out(file)]
    return Impact(
        path=path,
        status=standing.status,
        reason=standing.reason,
        warning=None
        if standing.status is FileStatus.GONE
        else _warning(question, affected, around, weaker, missing),
        as_of=now,
        paths=paths,
        affected=tuple(affected[: question.limit]),
        next=tuple(following[:_NEXT]),
        active=activity.active(view, near, now, question.session),
        recent=activity.recent(view, ids, now),
        contracts=activity.contracts(view, ids),
        module=activity.module(view, ids),
        concepts=activity.concepts_of(view, _profile(view, ids), 5),
        degraded=degraded,
    )


def _around(
    view: View, predictions: Predictions, edges: Mapping[int, GraphEdge], missing: Missing
) -> tuple[_Around, set[str]]:
    """Return the files around that exist and are not ruled out, and the paths that are lost on the disk."""
    settled = view.files(file for file, edge in edges.items() if edge.status is EdgeStatus.CONFIRMED)
    living = {id: file for id, file in settled.items() if file.alive}
    lost = missing(
        [
            *(prediction.file.path for prediction in predictions.ranked),
            *(file.path for file, _ in predictions.upcoming),
            *(file.path for file in living.values()),
        ]
    )
    confirmed = {id: file for id, file in living.items() if file.path not in lost}
    found = _Around((), confirmed, edges)
    entries = (entry for entry in predictions.ranked if entry.file.path not in lost)
    return replace(found, entries=tuple(e for e in entries if not found.is_ruled_out(e.file))), lost


def unfinished(carried: int, total: int) -> str:
    """Return what an answer lacks while only so many entries of the journal are in the postings."""
    return (
        f"the history is being read anew and only {carried} of {total} entries are in; ask again in a moment"
    )


def _profile(view: View, files: Sequence[int]) -> dict[int, float]:
    """Return the concepts of these files together."""
    profile: dict[int, float] = {}
    for weights in view.profiles(files).values():
        for concept, weight in weights.items():
            profile[concept] = profile.get(concept, 0.0) + weight
    return profile


def _warning(
    question: Question,
    affected: Sequence[Affected],
    around: _Around,
    linked: Sequence[FileView],
    missing: Missing,
) -> str | None:
    """Return the warning: what depends on the files by a verdict first, then what is likely."""
    words = {file.path: clause(around.edges[id], id) for id, file in around.confirmed.items()}
    told = {path: text for path, text in words.items() if text is not None}
    likely = [
        entry
        for entry in affected
        if entry.probability >= WARNING_THRESHOLD
        and entry.noise is None
        and entry.evidence.sessions >= WARNING_SESSIONS
    ]
    first = [entry for entry in affected if entry.path in told]
    strong = [*first, *(entry for entry in likely if entry.path not in told)]
    if not strong:
        return None
    weaker = {file.path for file in linked if file.noise is None} - {entry.path for entry in strong}
    return warning(question.paths, strong, len(weaker - missing(sorted(weaker))), told)


def _affected(view: View, question: Question, around: _Around) -> list[Affected]:
    """Return the entries, confirmed ones first; more than asked for if more are likely."""
    sure = sum(entry.ranked.probability >= WARNING_THRESHOLD for entry in around.entries)
    entries = around.entries[: max(question.limit, sure)]
    keys = [key for entry in entries for key in entry.ranked.keys]
    unlisted = around.confirmed.keys() - {entry.file.id for entry in entries}
    rows = stored(view, (around.edges[id] for id in unlisted))
    keys += [key for row in rows.values() for key in row.keys]
    ids = {head.seq: head.id for head in view.heads(dict.fromkeys(keys))}
    listed = {entry.file.id: _entry(entry, ids) for entry in entries}
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
    return [*confirmed, *others]


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


def _entry(prediction: Prediction, ids: Mapping[int, str]) -> Affected:
    """Return one prediction as it is shown; `ids` names the observations of its evidence by number."""
    ranked = prediction.ranked
    return Affected(
        path=prediction.file.path,
        probability=ranked.probability,
        tier=Tier.LIKELY if ranked.probability >= WARNING_THRESHOLD else Tier.POSSIBLE,
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


def _standing(view: View, files: dict[str, FileView | None], lost: set[str]) -> _Standing:
    """Say what is known of the files as a set; the first of them that is not known gives the reason."""
    states = [_one_standing(view, path, file, lost) for path, file in files.items()]
    for wanted in (FileStatus.KNOWN, FileStatus.GONE):
        found = [state for state in states if state.status is wanted]
        if found and wanted is FileStatus.KNOWN:
            reasons = [state.reason for state in states if state.reason is not None]
            return _Standing(wanted, reasons[0] if reasons else None)
        if found:
            return found[0]
    return states[0]


def _one_standing(view: View, path: str, file: FileView | None, lost: set[str]) -> _Standing:
    if file is None:
        total = view.total()
        if total == 0:
            reason = "nothing is recorded in this project yet; `graphmem import git .` brings its history in"
        else:
            reason = f"none of the {total} recorded observations mentions {path}; its effects are not known"
        return _Standing(FileStatus.UNKNOWN, reason)
    if not file.alive:
        return _Standing(FileStatus.GONE, _deletion(view, file))
    if file.path in lost:
        who = "it" if file.path == path else f"it is now named {file.path}, which"
        return _Standing(FileStatus.GONE, f"{who} was seen on the disk before and is there no more")
    if file.path != path:
        return _Standing(FileStatus.KNOWN, f"now named {file.path}")
    edits = view.connection.execute(
        "SELECT COUNT(*), COALESCE(SUM(pairs), 0) FROM touch JOIN observation USING (seq)"
        " WHERE file = ? AND touch.at <= ? AND change != ?",
        (file.id, view.as_of, Change.READ),
    ).fetchone()
    match edits:
        case (0, _):
            return _Standing(FileStatus.KNOWN, "it was read, but no change of it is recorded")
        case (_, 0):
            return _Standing(FileStatus.KNOWN, "it was changed in bulk changes only, which link nothing")
        case _:
            return _Standing(FileStatus.KNOWN, None)


def _deletion(view: View, file: FileView) -> str:
    since = view.gone_since(file.id)
    return "it was deleted" if since is None else f"it was deleted on {activity.day(since)}"
