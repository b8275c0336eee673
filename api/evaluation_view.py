"""Owns how an evaluation looks: GraphMem and the baselines in one table, then what warnings would have done.

It is not the replay (`graphmem.evaluation`); it takes `inference.replay.Outcome` by predictor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from api.screen import Screen, counted, percent
from inference.metrics import WarningTally
from inference.replay import Outcome

Outcomes = Mapping[str, Outcome]

_TOLD_APART = frozenset({"scores", "warnings", "given"})


def plain(outcomes: Outcomes) -> dict[str, Any]:
    """Return the figures of all predictors as plain data."""
    return {name: _plain_outcome(outcome) for name, outcome in outcomes.items()}


def _plain_outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        **{name: value for name, value in asdict(outcome).items() if name not in _TOLD_APART},
        "scores": None if outcome.scores is None else asdict(outcome.scores),
        "warnings": [_plain_tally(tally) for tally in outcome.warnings],
        "given": None if outcome.given is None else _plain_tally(outcome.given),
    }


def _plain_tally(tally: WarningTally) -> dict[str, Any]:
    return {
        "threshold": tally.threshold,
        "alerts_per_100": tally.alerts_per_100,
        "precision": tally.precision,
        "day_precision": tally.day_precision,
        "recall": tally.recall,
        "single_alarms": tally.single_alarms,
    }


def show_evaluation(screen: Screen, outcomes: Outcomes, *, location: str, intent: bool) -> None:
    """Print the ranking table and the warnings table, or one sentence when there was nothing to ask."""
    first = next(iter(outcomes.values()))
    screen.line(screen.path(location, screen.width, "bold"))
    if first.scores is None:
        screen.line("Too little history to measure: no commit changes two or more files that existed before.")
        return
    words = "with the task's words" if intent else "without the task's words"
    asked = f"{counted(first.queries, 'question')} about the last {counted(first.lines, 'change')}"
    screen.line((f"{asked} of several files, {words}; each asked before its answer was told", "dim"))
    screen.heading("Which other files change? Right answers in the order given")
    screen.table(("predictor", ">MAP", ">hit@1", ">hit@5", ">recall@10"), _ranking_rows(outcomes), fold=0)
    threshold = first.warnings[-1].threshold
    screen.heading(f"If everything at or above {percent(threshold)} had been an alert")
    screen.table(
        ("predictor", ">alerts in 100 edits", ">right", ">right in 24 h", ">found", ">needless"),
        _warning_rows(outcomes),
        fold=0,
    )
    screen.gap()
    screen.line(
        (
            "right: files named that did change. found: files that changed and were named. "
            "needless: edits of one file alone that drew an alert. "
            "notes: what is really told, from the threshold that the history's own past gives.",
            "dim",
        )
    )


def _ranking_rows(outcomes: Outcomes) -> list[tuple[str, ...]]:
    return [
        (
            name,
            _figure(outcome.scores.average_precision),
            _figure(outcome.scores.hit_1),
            _figure(outcome.scores.hit_5),
            _figure(outcome.scores.recall_10),
        )
        for name, outcome in outcomes.items()
        if outcome.scores is not None
    ]


def _warning_rows(outcomes: Outcomes) -> list[tuple[str, ...]]:
    """Return a row for each predictor at one threshold, then one for the notes of who decides by itself."""
    at_one = [(name, outcome.warnings[-1]) for name, outcome in outcomes.items()]
    by_itself = [
        (f"notes at {percent(outcome.given.threshold)}", outcome.given)
        for outcome in outcomes.values()
        if outcome.given is not None
    ]
    return [
        (
            name,
            f"{tally.alerts_per_100:.1f}",
            _figure(tally.precision),
            _figure(tally.day_precision),
            _figure(tally.recall),
            _figure(tally.single_alarms),
        )
        for name, tally in (*at_one, *by_itself)
    ]


def _figure(share: float | None) -> str:
    """Return a share to three digits as papers print it (.476), or a dash where there is none."""
    return "-" if share is None else f"{share:.3f}".removeprefix("0")
