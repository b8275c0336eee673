"""Owns the one predictor: from files that are known to change to the files that may need a change too.

`/impact`, the command line and `graphmem evaluate` all ask this function. It hands inference what it needs:
the work in memory to the shipped models (`inference.ranker`), or, where these can't answer, what a view of
the postings gives to the closed form (`inference.ranking`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphmem.captured import Shown
from graphmem.postings import FileView, View
from graphmem.ranking_card import UnusableModelError
from graphmem.ranking_model import RankingModel, give_up
from graphmem.recall.session_work import NOTHING_DONE, SessionWork
from inference.chronicle import Chronicle
from inference.concepts import idf
from inference.evidence import FileHistory, Occasion, Ranked, Standing
from inference.lessons import UNTAUGHT, End, Lessons, adjusted, heard
from inference.ranker import Calibrate, Known, Query, evidence, ranking
from inference.ranking import candidates, rank
from inference.session_clues import Asking
from inference.session_score import session_scores
from inference.signals import Signals, signals
from inference.upcoming import Around, next_files

_CANDIDATES = 100
_IN_HAND = 50
_PROFILED = 10
_UPCOMING = 20
_SCORED = 200

LEAST_WORK = 100
"""With fewer occasions than these the closed form answers: the models have learned from longer pasts."""

_NEVER = 2.0
SESSIONS = 2
"""A link that only sessions have seen needs so many of them before it is named."""
ONE_SITTING = 0.85
"""A link that a history recorded in one sitting is named from this probability on: such entries are right as
often as the others are from .7 on (measured on 29 histories)."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, and when (epoch seconds): what they had in hand lately is likelier to change again.

    `words` are those of the task they are at, see `graphmem.task_words`; `work` is what their session did, if
    it is an agent's: then what it may edit yet comes first, whatever its probability of changing along.
    """

    now: float
    actor: str | None = None
    words: tuple[str, ...] = ()
    work: SessionWork = NOTHING_DONE


@dataclass(frozen=True, slots=True)
class Taught:
    """What people and agents have said of earlier answers: verdicts, and how notes about these files went.

    `shown` is by the path that was named.
    """

    lessons: Lessons = UNTAUGHT
    shown: Mapping[str, Shown] = field(default_factory=dict)

    def moved(self, chance: float, queried: Sequence[End], file: End) -> float:
        """Return a probability (0..1) as it is after that, its log odds moved within `lessons.BOUND`."""
        offset = self.lessons.offset_among(queried, file)
        told = self.shown.get(file.path)
        if told is not None:
            offset += heard(chance, *told)
        return adjusted(chance, offset)


NOTHING_TAUGHT = Taught()


@dataclass(frozen=True, slots=True)
class Prediction:
    """A candidate that exists, with its score and evidence."""

    file: FileView
    ranked: Ranked


@dataclass(frozen=True, slots=True)
class Material:
    """What inference is given for one question: arguments of `inference.ranking.rank`, and the living files.

    `linked` are the candidates that have evidence, most promising first.
    """

    histories: tuple[FileHistory, ...]
    profiles: Mapping[int, Mapping[int, float]]
    standings: Mapping[int, Standing]
    recent: tuple[Occasion, ...]
    heard: Signals
    living: Mapping[int, FileView]
    linked: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Grounds:
    """What an answer stands on: the known files' histories, the actor's last work, what is heard.

    `query` is what was asked of the work in memory, None where the closed form answered.
    """

    histories: tuple[FileHistory, ...]
    recent: tuple[Occasion, ...]
    heard: Signals
    query: Query | None = None


@dataclass(frozen=True, slots=True)
class Predictions:
    """Best first, for an agent's session what it may edit yet; `linked` are all that have evidence.

    `is_ranked`: by the models, not the closed form.
    """

    ranked: tuple[Prediction, ...]
    linked: tuple[FileView, ...]
    grounds: Grounds
    is_ranked: bool = False


def gather(view: View, files: Sequence[FileView], asker: Asker) -> Material:
    """Fetch what is needed to rank the living files that may change along with `files`."""
    histories = [replace(view.history(file.id), path=file.path) for file in files]
    recent = () if asker.actor is None else view.recent_of(asker.actor)
    heard = signals(histories, recent)
    promising = candidates(histories, _CANDIDATES, recent, heard)
    linked = [file for file in promising if file in heard.pairs.scores or file in heard.sequels]
    in_hand = sorted(heard.at_hand, key=heard.at_hand.__getitem__, reverse=True)
    found = dict.fromkeys(file for file in (*promising, *in_hand[:_IN_HAND]) if file not in heard.known)
    living = {id: file for id, file in view.files(found).items() if file.alive}
    firm, at_hand = heard.pairs.firm, heard.at_hand
    # Of equals those first by path: who is profiled gains a little, and equals shall stay in that order.
    foremost = sorted(
        living, key=lambda file: (-firm.get(file, 0.0), -at_hand.get(file, 0.0), living[file].path)
    )
    heat = view.heat(living, asker.now)
    standings = {id: Standing(file.path, heat[id]) for id, file in living.items()}
    weighted, profiles = _profiles(view, histories, foremost[:_PROFILED])
    return Material(tuple(weighted), profiles, standings, tuple(recent), heard, living, tuple(linked))


def predict(
    view: View,
    files: Sequence[FileView],
    asker: Asker,
    at_most: int,
    taught: Taught = NOTHING_TAUGHT,
    fresh: Sequence[str] = (),
    calibrate: Calibrate | None = None,
) -> Predictions:
    """Rank the living files that may change along with `files`; ties go by path.

    Args:
        view: the postings, cut at the moment asked about.
        files: those known to change.
        asker: who asks, when, at which task.
        at_most: how many entries to return.
        taught: what earlier answers taught.
        fresh: paths that change too and that no observation has named; the closed form knows nothing of them.
        calibrate: makes of the models' word the share that came true; None for that of many projects.
    """
    model = RankingModel.load()
    if model is None and not asker.work.has_begun:
        return _closed(view, files, asker, at_most, taught)
    with view.chronicle() as chronicle:
        if chronicle is None or any(file.id not in chronicle.files for file in files):
            return _closed(view, files, asker, at_most, taught)
        known = tuple(Known(file.id, file.path) for file in files) + tuple(Known(None, p) for p in fresh)
        asking = asker.work.asking(known, asker.now) if asker.work.has_begun else None
        if model is not None and len(chronicle.occasions) >= LEAST_WORK:
            query = Query(known, asker.now, _actor(view, asker.actor), asker.words)
            try:
                return _ranked(view, chronicle, model, query, at_most, taught, calibrate, asking)
            except UnusableModelError as fault:
                give_up(model, fault)
        found = _closed(view, files, asker, at_most if asking is None else _SCORED, taught)
        if asking is None:
            return found
        chances = {entry.file.id: entry.ranked.probability for entry in found.ranked}
        places = {file: place for place, file in enumerate(session_scores(chronicle, asking, chances))}
        in_order = sorted(found.ranked, key=lambda entry: places.get(entry.file.id, len(places)))
        return replace(found, ranked=_noise_last(in_order)[:at_most])


def _noise_last(entries: Sequence[Prediction]) -> tuple[Prediction, ...]:
    """Return entries in their order, but lock files and generated ones behind: nobody opens these to edit."""
    return tuple(sorted(entries, key=lambda entry: entry.file.noise is not None))


def _actor(view: View, name: str | None) -> int | None:
    row = view.connection.execute("SELECT id FROM actor WHERE name = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def _ranked(
    view: View,
    chronicle: Chronicle,
    model: RankingModel,
    query: Query,
    at_most: int,
    taught: Taught,
    calibrate: Calibrate | None,
    asking: Asking | None,
) -> Predictions:
    """Return what the models say, where an agent's session has begun in the order that its work suggests."""
    found = ranking(chronicle, model, query, calibrate or model.curve(bool(query.words)).at)
    if taught.lessons or taught.shown:
        queried = [End(known.file, known.path) for known in query.known if known.file is not None]
        found = replace(found, probabilities=_moved(chronicle, found.probabilities, queried, taught))
    if asking is not None:
        order = session_scores(chronicle, asking, found.probabilities)
        least = min(found.probabilities.values(), default=0.0)
        found = replace(found, probabilities={f: found.probabilities.get(f, least) for f in order})
    foremost = list(found.probabilities)[:at_most]
    entries = evidence(chronicle, query, found, foremost)
    heard = found.heard
    promising = (
        file for file in dict.fromkeys((*heard.pairs.scores, *heard.sequels)) if file not in heard.known
    )
    linked = [file for file in promising if chronicle.files[file].alive and file not in heard.known][
        :_CANDIDATES
    ]
    views = view.files(dict.fromkeys((*foremost, *linked)))
    predictions = [Prediction(views[entry.file], entry) for entry in entries if entry.file in views]
    return Predictions(
        tuple(predictions) if asking is None else _noise_last(predictions),
        tuple(views[file] for file in linked if file in views),
        Grounds(found.histories, found.recent, heard, query),
        is_ranked=True,
    )


def _closed(view: View, files: Sequence[FileView], asker: Asker, at_most: int, taught: Taught) -> Predictions:
    """Return what the closed form says; of files never seen it says nothing."""
    if not files:
        return Predictions((), (), Grounds((), (), signals(())))
    found = gather(view, files, asker)
    living = found.living
    ranked = rank(
        found.histories,
        found.profiles,
        found.standings,
        found.recent,
        _SCORED,
        among=living.keys(),
        heard=found.heard,
    )
    queried = [End(file.id, file.path) for file in files]
    predictions = [
        Prediction(file, replace(entry, probability=taught.moved(entry.probability, queried, End(*file[:2]))))
        for entry in ranked
        for file in (living[entry.file],)
    ]
    predictions.sort(key=lambda prediction: (-prediction.ranked.probability, prediction.file.path))
    return Predictions(
        tuple(predictions[:at_most]),
        tuple(living[file] for file in found.linked if file in living),
        Grounds(found.histories, found.recent, found.heard),
    )


def upcoming(view: View, found: Grounds) -> tuple[tuple[FileView, float], ...]:
    """Return the living files of the following piece of work with their scores, the likeliest first."""
    query = found.query
    if query is not None:
        with view.chronicle() as chronicle:
            if chronicle is not None:
                around = Around(chronicle, query.now, query.actor, query.words)
                return _upcoming(view, next_files(found.histories, found.recent, found.heard, around))
    return _upcoming(view, next_files(found.histories, found.recent, found.heard))


def _moved(
    chronicle: Chronicle, chances: Mapping[int, float], queried: Sequence[End], taught: Taught
) -> dict[int, float]:
    """Return the probabilities as they are after what was taught, the highest first, equals as they were."""
    paths = {file: chronicle.files[file].path for file in chances}
    moved = {file: taught.moved(chance, queried, End(file, paths[file])) for file, chance in chances.items()}
    return dict(sorted(moved.items(), key=lambda entry: -entry[1]))


def nameable(view: View, entries: Sequence[Prediction], least: float) -> list[Prediction]:
    """Return those that may be named unasked: probable (from `least` on), no noise, seen often enough."""
    strong = [entry for entry in entries if entry.ranked.probability >= least]
    return [
        entry
        for entry, need in zip(strong, needed(view, strong), strict=True)
        if entry.ranked.probability >= need
    ]


def needed(view: View, entries: Sequence[Prediction]) -> list[float]:
    """Return for each entry the probability from which it may be named unasked, above 1 for never.

    Noise never is. What only sessions have seen needs two of them; a history may speak after one sitting, if
    it is surer. What was never seen together is no evidence, however likely.
    """
    once = [key for entry in entries if entry.ranked.sessions < SESSIONS for key in entry.ranked.keys]
    recorded = view.committed(once) if once else set()
    return [
        _NEVER
        if entry.file.noise is not None
        else 0.0
        if entry.ranked.sessions >= SESSIONS
        else _NEVER
        if recorded.isdisjoint(entry.ranked.keys)
        else ONE_SITTING
        for entry in entries
    ]


def _profiles(
    view: View, histories: Sequence[FileHistory], files: Sequence[int]
) -> tuple[list[FileHistory], dict[int, dict[int, float]]]:
    """Return the histories with, and these files', idf-weighted concept profiles."""
    raw = view.profiles(files)
    total = view.total()
    concepts = {concept for profile in raw.values() for concept in profile}
    concepts.update(concept for history in histories for concept in history.concepts)
    weights = {concept: idf(total, count) for concept, count in view.frequencies(concepts).items()}

    def weigh(profile: Mapping[int, float]) -> dict[int, float]:
        return {concept: value * weights[concept] for concept, value in profile.items()}

    weighted = [replace(history, concepts=weigh(history.concepts)) for history in histories]
    return weighted, {file: weigh(profile) for file, profile in raw.items()}


def _upcoming(view: View, scored: Sequence[tuple[int, float]]) -> tuple[tuple[FileView, float], ...]:
    files = view.files(file for file, _ in scored[:_UPCOMING])
    living = [(files[file], score) for file, score in scored if file in files and files[file].alive]
    return tuple(sorted(living, key=lambda entry: (-entry[1], entry[0].path)))
