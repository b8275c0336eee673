"""Owns the order of the candidates: gathers the signals of each, has them combined, attaches the evidence.

It is not the signals (`cochange`, `concepts`, `sequence`) nor the formula (`combination`), and it drops
nothing that the caller may want to show: gone files and ties by path are the caller's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from inference.cochange import PairEvidence, joint
from inference.combination import WEIGHTS, Candidate, Weights, probability, strength
from inference.concepts import concept_scores
from inference.evidence import FileHistory, Occasion, Ranked, Standing
from inference.naming import folder, stem
from inference.sequence import NO_SEQUEL, temporal_score
from inference.signals import Signals, signals

WARNING_THRESHOLD = 0.7
"""From this probability on an entry is likely, and worth a warning."""

_UNKNOWN = Standing()


def candidates(
    histories: Sequence[FileHistory],
    at_most: int = 200,
    recent: Sequence[Occasion] = (),
    heard: Signals | None = None,
) -> list[int]:
    """Return the files worth ranking, most promising first: by signals, then what the actor had in hand.

    Of equals the one met in newer evidence comes first: numbers say nothing, as a rebuild gives others. The
    caller looks up their standings and profiles, and may add files of its own. `heard` is what `signals`
    gave for the histories and `recent`, if it was asked already.
    """
    heard = heard or signals(histories, recent)
    order: dict[int, tuple[float, float]] = {}
    for file in heard.files():
        sequel = heard.sequels.get(file, NO_SEQUEL)
        link = strength(heard.pairs.firm.get(file, 0.0), 0.0, sequel.read, sequel.followed)
        order[file] = (-link, -heard.at_hand.get(file, 0.0))
    return sorted(order, key=order.__getitem__)[:at_most]


def rank(
    histories: Sequence[FileHistory],
    profiles: Mapping[int, Mapping[int, float]],
    standings: Mapping[int, Standing] | None = None,
    recent: Sequence[Occasion] = (),
    at_most: int = 200,
    among: Collection[int] | None = None,
    weights: Weights = WEIGHTS,
    heard: Signals | None = None,
) -> list[Ranked]:
    """Return the most probable companions of the queried files, best first, equals by path.

    The queried files themselves are left out.

    Args:
        histories: what is known of each queried file; several known files are combined by noisy-or.
        profiles: idf-weighted concept profiles of candidates (a file without one has concept score 0).
        standings: names and activity of candidates; every file in it is ranked, evidence or not.
        recent: the last occasions of the actor who asks, newest first; a file in it is ranked too.
        at_most: how many entries to return.
        among: rank these only, such as the files that still exist; None ranks all.
        weights: the numbers of the formula.
        heard: what `signals` gave for the histories and `recent`, if it was asked already.
    """
    standings = standings or {}
    heard = heard or signals(histories, recent)
    scored = [
        (-probability(found, weights), -found.file_score, standings.get(found.file, _UNKNOWN).path, found)
        for found in describe(histories, profiles, standings, recent, among, heard)
    ]
    scored.sort(key=lambda entry: entry[:3])
    return [_ranked(candidate, -negative, heard.pairs) for negative, _, _, candidate in scored[:at_most]]


def describe(
    histories: Sequence[FileHistory],
    profiles: Mapping[int, Mapping[int, float]],
    standings: Mapping[int, Standing],
    recent: Sequence[Occasion],
    among: Collection[int] | None = None,
    heard: Signals | None = None,
) -> list[Candidate]:
    """Return every file that could be named, as it is met in the evidence, with what the formula needs.

    Arguments as for `rank`.
    """
    if not histories:
        return []
    heard = heard or signals(histories, recent)
    files = [
        file
        for file in heard.files() | dict.fromkeys(standings)
        if file not in heard.known and (among is None or file in among)
    ]
    about = concept_scores(
        (history.concepts for history in histories),
        {file: profiles[file] for file in files if file in profiles},
    )
    stems = {stem(history.path) for history in histories if history.path}
    folders = {folder(history.path) for history in histories if history.path}
    scores, firm, at_hand = heard.pairs.scores, heard.pairs.firm, heard.at_hand
    found: list[Candidate] = []
    for file in files:
        standing = standings.get(file, _UNKNOWN)
        path = standing.path
        sequel = heard.sequels.get(file, NO_SEQUEL)
        found.append(
            Candidate(
                file,
                scores.get(file, 0.0),
                firm.get(file, 0.0),
                about.get(file, 0.0),
                sequel.read,
                sequel.followed,
                standing.touches,
                at_hand.get(file, 0.0),
                path != "" and stem(path) in stems,
                path != "" and folder(path) in folders,
                heard.company,
            )
        )
    return found


def _ranked(candidate: Candidate, chance: float, pairs: PairEvidence) -> Ranked:
    seen = joint(pairs, candidate.file)
    signals = (
        ("co_changes", seen is not None),
        ("read_for", candidate.read > 0.0),
        ("followed_by", candidate.followed > 0.0),
        ("about", candidate.concept > 0.0),
    )
    return Ranked(
        file=candidate.file,
        probability=chance,
        file_score=candidate.file_score,
        concept_score=candidate.concept,
        temporal_score=temporal_score(candidate.read, candidate.followed),
        together=0 if seen is None else seen.together,
        of=pairs.of,
        sessions=0 if seen is None else seen.sessions,
        last_seen=None if seen is None else seen.last_seen,
        keys=() if seen is None else seen.keys,
        signals=tuple(name for name, speaks in signals if speaks),
    )
