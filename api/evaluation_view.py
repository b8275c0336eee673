"""Owns how an evaluation looks in a terminal: ranking, warnings, honesty of probabilities, agents' sessions.

It is not the replay (`graphmem.evaluation`), nor the sentences that all forms share (`api.evaluation_words`).
"""

from __future__ import annotations

from rich.text import Text

from api.evaluation_words import (
    BASELINE_REMARK,
    COLUMN_REMARK,
    QUESTION,
    SESSION_REMARK,
    TITLE_REMARK,
    WITH_TITLE,
    advice,
    alert_rows,
    asked,
    calibration,
    difference,
    figure,
    lead,
    remarks,
    session_rows,
    session_words,
)
from api.screen import Screen, percent
from graphmem.evaluation import GRAPHMEM, Evaluation
from graphmem.session_evaluation import SessionEvaluation
from inference.replay import Outcome

_BAR = 24


def show_evaluation(screen: Screen, evaluation: Evaluation, *, location: str) -> None:
    """Print all tables, or the reason why there are none."""
    ours = evaluation.outcomes[GRAPHMEM]
    screen.line(screen.path(location, screen.width, "bold"))
    if ours.scores is not None:
        screen.line((asked(evaluation), "dim"))
    for remark in remarks(evaluation):
        screen.line((remark, "yellow"))
    if ours.scores is not None:
        _show_ranking(screen, evaluation)
        _show_warnings(screen, evaluation)
        _show_reliability(screen, ours)
    if evaluation.sessions is not None:
        _show_sessions(screen, evaluation.sessions)


def _show_ranking(screen: Screen, evaluation: Evaluation) -> None:
    screen.heading(QUESTION)
    rows: list[tuple[str, ...]] = []
    for name, outcome in evaluation.outcomes.items():
        rows += _ranking(name, outcome)
        if outcome.worded is not None:
            rows += _ranking(f"  {WITH_TITLE}", outcome.worded)
    screen.table(("predictor", ">MAP", ">hit@1", ">hit@5", ">recall@10"), rows, fold=0)
    screen.gap()
    screen.line(f"GraphMem less ROSE, MAP: {difference(lead(evaluation))} in 95 of 100 cases")
    screen.line((TITLE_REMARK, "dim"))
    screen.line((BASELINE_REMARK, "dim"))


def _ranking(name: str, outcome: Outcome) -> list[tuple[str, ...]]:
    scores = outcome.scores
    if scores is None:
        return []
    shown = (scores.average_precision, scores.hit_1, scores.hit_5, scores.recall_10)
    return [(name, *map(figure, shown))]


def _show_warnings(screen: Screen, evaluation: Evaluation) -> None:
    screen.heading("If everything from a probability on had been an alert")
    rows: list[tuple[str, ...]] = []
    before = ""
    for row in alert_rows(evaluation.outcomes):
        tally = row.tally
        shown = (tally.precision, tally.day_precision, tally.recall, tally.single_alarms)
        name = "" if row.name == before else row.name
        rows.append((name, row.since, f"{tally.alerts_per_100:.1f}", *map(figure, shown)))
        before = row.name
    headings = ("predictor", ">from", ">in 100 edits", ">right", ">in 24 h", ">found", ">alone")
    screen.table(headings, rows, fold=0)
    screen.gap()
    screen.line(advice(evaluation))
    screen.line((COLUMN_REMARK, "dim"))


def _show_reliability(screen: Screen, outcome: Outcome) -> None:
    screen.heading("When GraphMem says a probability, how often does it come true?")
    rows = [
        (
            f"{percent(each.said)}",
            f"{percent(each.came_true)}",
            f"{each.entries:,}",
            _bar(each.came_true, each.said),
        )
        for each in outcome.bins
    ]
    screen.table((">said", ">came true", ">entries", "came true (█) and said (│)"), rows)
    screen.gap()
    screen.line(calibration(outcome))


def _bar(came_true: float, said: float) -> Text:
    """Return a bar of what came true with a mark where it should end."""
    cells = ["█" if (cell + 0.5) / _BAR <= came_true else "·" for cell in range(_BAR)]
    cells[min(_BAR - 1, int(said * _BAR))] = "│"
    return Text("".join(cells))


def _show_sessions(screen: Screen, sessions: SessionEvaluation) -> None:
    screen.heading("Agents' sessions: what is edited later?")
    screen.line((session_words(sessions), "dim"))
    screen.table(
        ("predictor", ">R@10", ">MAP", ">unread", ">at reads", "difference of R@10"),
        session_rows(sessions),
        fold=0,
    )
    screen.gap()
    screen.line((SESSION_REMARK, "dim"))
