"""Owns how an evaluation of recall looks: in a terminal, and as plain data.

It is not the asking (`graphmem.recall_evaluation`) nor the figures (`inference.recall_metrics`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from rich.text import Text

from api.screen import Screen, counted
from graphmem.recall_evaluation import TELLING, Ablation, Control, ControlKind, Outcome, RecallEvaluation
from graphmem.recall_set import OWN_TEXT, PieceName
from inference.metrics import Interval
from inference.recall_metrics import Gain, RecallFigures, Shown

AIMS = {"hit": 0.95, "interference": 0.02, "idle": 0.15}
"""What the figures are held against: at least, at most, at most."""

_CONTEXT = ("hit", "interference", "misleading", "idle")
_RESULTS = ("mrr", "recall_1", "recall_5")
_FIGURES = (*_CONTEXT, *_RESULTS)
_HEADINGS = (">hit", ">interf.", ">unmarked", ">idle", ">MRR", ">R@1", ">R@5")
_COLUMNS = (
    "hit: all that is expected is in the context. interf.: something out of date or of another project is, "
    "unmarked: without saying so. idle: share of the pieces shown that answer nothing. "
    "MRR, R@1, R@5: of the results, which no budget cuts."
)
_CONTROLS = {
    ControlKind.SUPERSESSION: "supersession off",
    ControlKind.PROJECT: "all projects in one memory",
}


# ---- plain data ---------------------------------------------------------------------------------


def plain(evaluation: RecallEvaluation) -> dict[str, Any]:
    """Return all figures as plain data, with what came of each question."""
    return {
        "set": evaluation.location,
        "part": evaluation.part,
        "observations": evaluation.observations,
        "degraded": evaluation.degraded,
        **_plain_figures(evaluation.figures),
        "by_kind": {kind: _plain_figures(each) for kind, each in evaluation.by_subject.items()},
        "by_language": {tongue: _plain_figures(each) for tongue, each in evaluation.by_tongue.items()},
        "controls": {
            control.kind: {**_plain_figures(control.figures), "telling": control.telling}
            for control in evaluation.controls
        },
        "ablation": None if evaluation.ablation is None else _plain_ablation(evaluation.ablation),
        "outcomes": [_plain_outcome(outcome) for outcome in evaluation.outcomes],
    }


def _plain_figures(figures: RecallFigures) -> dict[str, Any]:
    told: dict[str, Any] = asdict(figures)
    for name in _FIGURES:
        value = getattr(figures, name)
        told[name] = None if value is None else value._asdict()
    return told


def _plain_ablation(ablation: Ablation) -> dict[str, Any]:
    by_kind = {subject: _plain_gain(each) for subject, each in ablation.by_subject.items()}
    return {**_plain_gain(ablation.whole), "by_kind": by_kind}


def _plain_gain(gain: Gain) -> dict[str, Any]:
    return {
        "with": _plain_figures(gain.having),
        "without": _plain_figures(gain.lacking),
        "difference": None if gain.difference is None else gain.difference._asdict(),
        "pays": gain.pays,
    }


def _plain_outcome(outcome: Outcome) -> dict[str, Any]:
    question, found = outcome.question, outcome.score
    return {
        "id": question.id,
        "project": question.project,
        "kind": question.subject,
        "language": question.tongue,
        "text": question.text,
        **asdict(found),
        "shown": [_named(shown) for shown in outcome.shown],
        "context": outcome.told.context,
    }


def _named(shown: Shown) -> str | None:
    match shown.piece:
        case PieceName(observation, ord):
            return observation if ord == OWN_TEXT else f"{observation}#{ord}"
        case _:
            return None


# ---- for a person -------------------------------------------------------------------------------


def show_recall(screen: Screen, evaluation: RecallEvaluation, *, verbose: bool) -> None:
    """Print the tables; with `verbose` the questions that failed, with what was shown."""
    figures = evaluation.figures
    screen.line(screen.path(evaluation.location, screen.width, "bold"))
    whole = "" if evaluation.part is None else f" of the part '{evaluation.part}'"
    questions = counted(figures.questions, "question")
    remembered = counted(evaluation.observations, "observation")
    screen.line((f"{questions}{whole}, {figures.expecting} with an answer; {remembered}.", "dim"))
    if evaluation.degraded is not None:
        screen.line((f"The answers lacked something: {evaluation.degraded}.", "yellow"))
    screen.gap()
    rows = [("all", *_cells(figures)), *_group_rows(evaluation)]
    screen.table(("questions", *_HEADINGS), rows, fold=0)
    screen.gap()
    for sentence in _bounds(figures):
        screen.line(sentence)
    screen.line((_COLUMNS, "dim"))
    if evaluation.controls:
        _show_controls(screen, evaluation.controls)
    if evaluation.ablation is not None:
        _show_ablation(screen, evaluation.ablation)
    if verbose:
        _show_failures(screen, evaluation.outcomes)


def _group_rows(evaluation: RecallEvaluation) -> Iterable[tuple[str, ...]]:
    groups: tuple[Mapping[Any, RecallFigures], ...] = (evaluation.by_subject, evaluation.by_tongue)
    for group in groups:
        for name, figures in group.items():
            yield (f"  {name} ({figures.questions})", *_cells(figures))


def _cells(figures: RecallFigures) -> tuple[str, ...]:
    return tuple(_mean(getattr(figures, name)) for name in _FIGURES)


def _bounds(figures: RecallFigures) -> Iterable[str]:
    """Yield each figure that has an aim, with its interval."""
    for name, aim in AIMS.items():
        found: Interval | None = getattr(figures, name)
        limit = "at least" if name == "hit" else "at most"
        told = "nothing was counted" if found is None else _between(found)
        yield f"{name}: {told}; to reach {limit} {aim:.2f}"


def _show_controls(screen: Screen, controls: Iterable[Control]) -> None:
    screen.heading("Controls: the same questions with something left out")
    rows = [
        (
            _CONTROLS[each.kind],
            _mean(each.figures.interference),
            _mean(each.figures.misleading),
            "the set tests it" if each.telling else "the set tests nothing here",
        )
        for each in controls
    ]
    screen.table(("left out", ">interf.", ">unmarked", f"from {TELLING:.2f} on"), rows, fold=0)


def _show_ablation(screen: Screen, ablation: Ablation) -> None:
    screen.heading("Ablation: with the graph's expansion, and without")
    rows = [_gain_row("all", ablation.whole)]
    rows += [_gain_row(f"  {subject}", each) for subject, each in ablation.by_subject.items()]
    headings = ("questions", ">hit", ">without", ">idle", ">without", ">R@5", ">without", "it")
    screen.table(headings, rows, fold=0)
    if ablation.whole.difference is not None:
        screen.gap()
        screen.line(f"Difference of hits: {_between(ablation.whole.difference)} in 95 of 100 cases")


def _gain_row(name: str, gain: Gain) -> tuple[str, ...]:
    pairs = (
        _mean(getattr(figures, figure))
        for figure in ("hit", "idle", "recall_5")
        for figures in (gain.having, gain.lacking)
    )
    return (name, *pairs, "pays" if gain.pays else "does not pay")


def _show_failures(screen: Screen, outcomes: Iterable[Outcome]) -> None:
    failed = [each for each in outcomes if _failure(each)]
    screen.heading(f"{counted(len(failed), 'question')} of which something is not as it should be")
    for each in failed:
        question = each.question
        screen.entry(question.id, question.text, f"{_failure(each)}  ({question.project})")
        for line in each.told.context.splitlines():
            screen.line(Text(line, "dim"), indent=4)


def _failure(outcome: Outcome) -> str:
    found = outcome.score
    words = {
        "not hit": found.hit is False,
        "misled": found.misleads,
        "out of date, marked": found.interferes and not found.misleads,
        f"{found.idle} of {found.pieces} idle": found.idle > 0,
    }
    return ", ".join(word for word, applies in words.items() if applies)


def _mean(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.mean:.2f}"


def _between(interval: Interval) -> str:
    return f"{interval.mean:.3f} ({interval.low:.3f} to {interval.high:.3f})"
