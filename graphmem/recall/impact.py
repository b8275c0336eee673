"""Owns the answer before an edit: what may be affected, how sure that is, and what else is going on there.

It is not the finding of it (`surroundings`) nor the warning (`alert`). Only the warning is thresholded, the
list is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.journal import Journal
from graphmem.model import Impact, NextFile
from graphmem.postings import View
from graphmem.recall import activity
from graphmem.recall.alert import goings, judged
from graphmem.recall.predictor import upcoming
from graphmem.recall.surroundings import Question, survey
from graphmem.references import Missing

_NEXT = 5


def impact(
    view: View,
    question: Question,
    now: float,
    missing: Missing,
    behind: tuple[int, int] | None = None,
    journal: Journal | None = None,
) -> Impact:
    """Answer one question.

    Arguments as for `graphmem.recall.surroundings.survey`; `behind` is how many entries of how many are in,
    while the postings are being rebuilt.
    """
    found = survey(view, question, now, missing, journal, in_session=True)
    degraded = None if behind is None else unfinished(*behind)
    reason = found.standing.reason if degraded is None else degraded
    path = question.paths[0] if len(question.paths) == 1 else None
    paths = () if path is not None else question.paths
    status = found.standing.status
    if not found.known:
        affected = found.affected[: question.limit]
        return Impact(path, status, reason, None, now, paths, affected=affected, degraded=degraded)
    around = goings(view, found, now, journal)
    recent = activity.recent(view, found.ids, now)
    told = judged(view, found, around, now, missing, recent=recent)
    coming = () if found.grounds is None else upcoming(view, found.grounds)
    lost = missing([file.path for file, _ in coming])
    following = [NextFile(file.path, score) for file, score in coming if file.path not in lost]
    return Impact(
        path=path,
        status=status,
        reason=reason,
        warning=None if told is None else told.text,
        as_of=now,
        paths=paths,
        affected=found.affected[: question.limit],
        next=tuple(following[:_NEXT]),
        active=tuple(around.active),
        recent=recent,
        contracts=tuple(at_stake.use for at_stake in around.contracts),
        module=activity.module(view, found.ids),
        concepts=activity.concepts_of(view, _profile(view, found.ids), 5),
        degraded=degraded,
    )


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
