"""Owns the one predictor: from files that are known to change to the files that may need a change too.

`/impact`, the command line and `graphmem evaluate` all ask this object. It fetches what inference needs
from a view of the postings; the scoring itself is `inference.ranking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graphmem.postings import FileView, View
from inference.concepts import idf
from inference.evidence import FileHistory, Ranked
from inference.ranking import candidates, rank
from inference.sequence import next_files

_PROFILED = 25


@dataclass(frozen=True, slots=True)
class Prediction:
    """A candidate that exists, with its score and evidence."""

    file: FileView
    ranked: Ranked


@dataclass(frozen=True, slots=True)
class Predictions:
    """Best first; `upcoming` are files of the following piece of work with their probability."""

    ranked: tuple[Prediction, ...]
    upcoming: tuple[tuple[FileView, float], ...]


def predict(view: View, files: Sequence[FileView], limit: int) -> Predictions:
    """Rank the living files that may change along with `files`; ties go by path."""
    histories = [view.history(file.id) for file in files]
    profiles = _profiles(view, histories)
    ranked = rank(histories, profiles)
    known = view.files(entry.file for entry in ranked)
    alive = [
        Prediction(known[entry.file], entry)
        for entry in ranked
        if entry.file in known and known[entry.file].alive
    ]
    alive.sort(key=lambda prediction: (-prediction.ranked.probability, prediction.file.path))
    upcoming = next_files(histories)
    coming = view.files(file for file, _ in upcoming)
    following = [(coming[file], score) for file, score in upcoming if file in coming and coming[file].alive]
    following.sort(key=lambda entry: (-entry[1], entry[0].path))
    return Predictions(tuple(alive[:limit]), tuple(following))


def _profiles(view: View, histories: Sequence[FileHistory]) -> dict[int, dict[int, float]]:
    """Return idf-weighted concept profiles of the queried files and of the foremost candidates."""
    profiles = {history.file: dict(history.concepts) for history in histories}
    for file in candidates(histories, _PROFILED):
        profiles.setdefault(file, view.profile(file))
    total = view.total()
    frequencies = view.frequencies({concept for profile in profiles.values() for concept in profile})
    weights = {concept: idf(total, count) for concept, count in frequencies.items()}
    return {
        file: {concept: weight * weights[concept] for concept, weight in profile.items()}
        for file, profile in profiles.items()
    }
