"""Owns asking a set of questions with known answers: in its own memory, with and without parts of recall.

It is not the form of a set (`graphmem.recall_set`) nor the figures (`inference.recall_metrics`), and changes
no memory of the user's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from graphmem.embedding.filling import Models
from graphmem.errors import SourceError
from graphmem.memory import Memory
from graphmem.project import Project
from graphmem.question import Question
from graphmem.recall.switches import EVERYTHING, Switches
from graphmem.recall_lines import Catalogue, shown_for
from graphmem.recall_set import OWN_TEXT, Part, PieceName, RecallSet, SetQuestion, Subject, Tongues
from inference.recall_metrics import (
    Gain,
    RecallFigures,
    Reply,
    Score,
    Shown,
    by_group,
    gain,
    gains,
    recall_figures,
    score,
)

TELLING = 0.20
"""A control that shows less interference than this says that the set tests nothing there."""

_VISIBLE = 120.0
_VECTORS = 900.0
_SLICE = 0.5
_TOGETHER = ""


class RecallStage(StrEnum):
    """What an evaluation is at."""

    LOADING = "Loading"
    VECTORS = "Making vectors"
    ASKING = "Asking"
    CONTROLS = "Asking the controls"
    ABLATION = "Asking without the graph"


class ControlKind(StrEnum):
    """What a control leaves out: the marking of what is out of date, or the wall between projects."""

    SUPERSESSION = "supersession"
    PROJECT = "project"


class Told(NamedTuple):
    """What came back: the pieces among the results, best first, the context, and what was missing."""

    ranked: tuple[PieceName, ...]
    context: str
    degraded: str | None = None


Ask = Callable[[Project, str, Switches], Told]
Progress = Callable[[RecallStage, int, int | None], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question, what came of it, and what was told."""

    question: SetQuestion
    score: Score
    shown: tuple[Shown, ...]
    told: Told


@dataclass(frozen=True, slots=True)
class Control:
    """The figures with something left out; `telling` says that interference rose as high as it must."""

    kind: ControlKind
    figures: RecallFigures
    telling: bool


@dataclass(frozen=True, slots=True)
class Ablation:
    """What the graph's expansion brings: in all, and by what the questions are about."""

    whole: Gain
    by_subject: Mapping[Subject, Gain]


@dataclass(frozen=True, slots=True)
class RecallEvaluation:
    """All figures of one set; `degraded` says what the answers lacked, None when nothing."""

    location: str
    observations: int
    part: Part | None
    outcomes: tuple[Outcome, ...]
    figures: RecallFigures
    by_subject: Mapping[Subject, RecallFigures]
    by_tongue: Mapping[Tongues, RecallFigures]
    controls: tuple[Control, ...]
    ablation: Ablation | None
    degraded: str | None


def ask_in_words(project: Project, text: str, switches: Switches) -> Told:
    """Ask as everybody asks, with something left out."""
    answer = project.query(Question(text), switches)
    ranked = tuple(PieceName(piece.id, piece.ord) for piece in answer.pieces)
    return Told(ranked, answer.context, answer.degraded)


def evaluate_recall(
    asked: RecallSet,
    *,
    embedders: Models | None = None,
    part: Part | None = Part.REPORT,
    controls: bool = False,
    ablation: bool = False,
    ask: Ask = ask_in_words,
    progress: Progress | None = None,
) -> RecallEvaluation:
    """Ask the questions of a set and return the figures.

    Args:
        asked: the set.
        embedders: the models that make vectors, None for none.
        part: ask only the questions of this part; None for all.
        controls: ask again with supersession off, and with all projects in one memory.
        ablation: ask again without expansion.
        ask: how a question is asked.
        progress: told `(stage, done, total)`.

    Raises:
        SourceError: the part has no question, or an observation of the set is refused.
    """
    questions = [each for each in asked.questions if part is None or each.part is part]
    if not questions:
        raise SourceError(f"{asked.location} has no question of the part '{part}'; take another part.")
    with _loaded(asked, embedders, together=controls, progress=progress) as ground:
        asking = _Asking(asked, ground, questions, ask, progress)
        outcomes = asking.run(RecallStage.ASKING, EVERYTHING)
        found = _controls(asking) if controls else ()
        without = asking.run(RecallStage.ABLATION, Switches(expansion=False)) if ablation else None
        behind = next((told for each in outcomes if (told := each.told.degraded)), None)
    scores = [each.score for each in outcomes]
    subjects = [each.subject for each in questions]
    return RecallEvaluation(
        asked.location,
        sum(len(mine) for mine in asked.observations.values()),
        part,
        tuple(outcomes),
        recall_figures(scores),
        by_group(subjects, scores),
        by_group([each.tongue for each in questions], scores),
        found,
        None if without is None else _ablation(subjects, scores, [each.score for each in without]),
        behind,
    )


def _ablation(subjects: Sequence[Subject], having: Sequence[Score], lacking: Sequence[Score]) -> Ablation:
    return Ablation(gain(having, lacking), gains(subjects, having, lacking))


def _controls(asking: _Asking) -> tuple[Control, ...]:
    runs = {
        ControlKind.SUPERSESSION: asking.run(RecallStage.CONTROLS, Switches(supersession=False)),
        ControlKind.PROJECT: asking.run(RecallStage.CONTROLS, EVERYTHING, together=True),
    }
    found = []
    for kind, outcomes in runs.items():
        if kind is ControlKind.PROJECT and not asking.several:
            continue
        figures = recall_figures([each.score for each in outcomes])
        found.append(
            Control(kind, figures, figures.interference is not None and figures.interference.mean >= TELLING)
        )
    return tuple(found)


class _Ground(NamedTuple):
    """The projects of the memory by name, and one that holds all of them, None without a need."""

    projects: Mapping[str, Project]
    together: Project | None


class _Asking:
    """Asks the same questions again and again."""

    def __init__(
        self,
        asked: RecallSet,
        ground: _Ground,
        questions: Sequence[SetQuestion],
        ask: Ask,
        progress: Progress | None,
    ) -> None:
        self._ground = ground
        self._questions = questions
        self._ask = ask
        self._progress = progress
        self.several = len(asked.observations) > 1
        self._catalogue = Catalogue(each for mine in asked.observations.values() for each in mine)
        self._pieces = {
            project: frozenset(
                PieceName(each.id, ord) for each in mine for ord in range(OWN_TEXT, len(each.facts))
            )
            for project, mine in asked.observations.items()
        }

    def run(self, stage: RecallStage, switches: Switches, *, together: bool = False) -> list[Outcome]:
        """Ask all questions, each in its project, or `together` in the one that holds all."""
        outcomes = []
        for number, question in enumerate(self._questions, 1):
            project = self._ground.together if together else self._ground.projects[question.project]
            if project is not None:
                outcomes.append(self._judged(question, project, switches))
            if self._progress is not None:
                self._progress(stage, number, len(self._questions))
        return outcomes

    def _judged(self, question: SetQuestion, project: Project, switches: Switches) -> Outcome:
        told = self._ask(project, question.text, switches)
        shown = shown_for(question, self._catalogue.entries(told.context))
        others = [mine for name, mine in self._pieces.items() if name != question.project]
        forbidden = question.forbidden.union(*others)
        return Outcome(question, score(Reply(question.needs, forbidden, shown, told.ranked)), shown, told)


@contextmanager
def _loaded(
    asked: RecallSet, embedders: Models | None, *, together: bool, progress: Progress | None
) -> Iterator[_Ground]:
    """Provide a memory of the set's own, as it would be at the moment of asking."""
    with (
        tempfile.TemporaryDirectory(prefix="graphmem-recall-", ignore_cleanup_errors=True) as folder,
        Memory(Path(folder, "home"), clock=lambda: asked.asked_at, embedders=embedders) as memory,
    ):
        wanted = {name: [path] for name, path in asked.sources.items()}
        if together and len(wanted) > 1:
            wanted[_TOGETHER] = list(asked.sources.values())
        projects = {}
        for number, (name, paths) in enumerate(wanted.items(), 1):
            root = Path(folder, f"project-{number}")
            root.mkdir()
            projects[name] = _filled(memory.register(root)[0], paths)
            if progress is not None:
                progress(RecallStage.LOADING, number, len(wanted))
        if embedders is not None:
            _await_vectors(list(projects.values()), progress)
        yield _Ground(projects, projects.get(_TOGETHER))


def _filled(project: Project, paths: Sequence[str]) -> Project:
    for path in paths:
        report = project.import_jsonl(path)
        if report.rejected:
            raise SourceError(f"{path} is not taken whole: {report.problems[0]}.")
    project.wait_visible(_VISIBLE)
    project.graph.infer()
    return project


def _await_vectors(projects: Sequence[Project], progress: Progress | None) -> None:
    for number, project in enumerate(projects):
        for _ in range(int(_VECTORS / _SLICE)):
            if project.wait_vectors(_SLICE):
                break
            if progress is not None:
                progress(RecallStage.VECTORS, number, len(projects))
