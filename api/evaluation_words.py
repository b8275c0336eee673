"""Owns what is said about an evaluation in every form of it: its JSON, and the sentences beside the figures.

It is not the replay (`graphmem.evaluation`), nor how a terminal, a page or a picture shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

from api.screen import counted, percent
from graphmem.evaluation import GRAPHMEM, Evaluation
from graphmem.session_evaluation import SessionEvaluation, SessionFigures
from inference.calibration import CEILING, QUESTIONS, TARGET
from inference.metrics import Interval, WarningTally
from inference.ranking import WARNING_THRESHOLD
from inference.replay import Outcome, advantage
from inference.session_baselines import STRONGEST

FEW = 50
"""With fewer changes than these a figure is hardly more than luck."""
MANY = 0.1
"""From this share of large changes on it is said that nothing is asked about those."""
STRONGEST_RIVAL = "ROSE"
WITH_TITLE = "with the title"

QUESTION = "One file of a change is known: which others does it change?"
TITLE_REMARK = (
    "with the title: the change's title was told as the task. It was written afterwards: a real prompt "
    "gives less."
)
BASELINE_REMARK = (
    "ROSE: rule confidence; TARMAQ has its order when one file is known. coupling: code-maat's degree, "
    "without its minimums, which would leave most questions unanswered."
)
COLUMN_REMARK = (
    "right: files named that did change. found: files that changed and were named. alone: edits of one file "
    "alone that drew an alert. notes: what is really told, from the threshold that the past before it gave."
)
SESSION_REMARK = (
    "Asked at the first edit of a session: what is edited later? unread: without files read by then. "
    "at reads: asked at each first read. The difference is to git + folder + twin, in brackets where it lies "
    "in 95 of 100 cases."
)

_TOLD_APART = frozenset({"scores", "warnings", "given", "worded", "precisions"})


def plain(evaluation: Evaluation) -> dict[str, Any]:
    """Return all figures as plain data."""
    gain = lead(evaluation)
    return {
        "predictors": {name: _plain_outcome(each) for name, each in evaluation.outcomes.items()},
        "gain_over_rose": None if gain is None else gain._asdict(),
        "recommended_threshold": recommended(evaluation),
        "recommended_threshold_with_task": recommended(evaluation, with_task=True),
        "history": asdict(evaluation.shape),
        "sessions": None if evaluation.sessions is None else _plain_sessions(evaluation.sessions),
        "remarks": remarks(evaluation),
    }


def _plain_outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        **{name: value for name, value in asdict(outcome).items() if name not in _TOLD_APART},
        "scores": None if outcome.scores is None else asdict(outcome.scores),
        "warnings": [_plain_tally(tally) for tally in outcome.warnings],
        "given": None if outcome.given is None else _plain_tally(outcome.given),
        "worded": None if outcome.worded is None else _plain_outcome(outcome.worded),
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


def _plain_sessions(sessions: SessionEvaluation) -> dict[str, Any]:
    return {
        "asked": sessions.asked,
        "of": sessions.of,
        "predictors": {name: _plain_figures(each) for name, each in sessions.figures.items()},
    }


def _plain_figures(figures: SessionFigures) -> dict[str, Any]:
    means = figures.means._asdict()
    for name in ("later", "unread"):
        means[name] = None if means[name] is None else asdict(means[name])
    gain = figures.gain
    return {**means, "gain_over_git_folder_twin": None if gain is None else gain._asdict()}


def lead(evaluation: Evaluation) -> Interval | None:
    """Return by how much MAP is above that of ROSE, None without questions."""
    return advantage(evaluation.outcomes[GRAPHMEM], evaluation.outcomes[STRONGEST_RIVAL])


def recommended(evaluation: Evaluation, *, with_task: bool = False) -> float:
    """Return the threshold of notes for this history."""
    found = evaluation.recommended
    return WARNING_THRESHOLD if found is None else found.reading(with_task).threshold


# ---- sentences ---------------------------------------------------------------------------------


def figure(share: float | None) -> str:
    """Return a share to three digits as papers print it (.476), or a dash where there is none."""
    return "-" if share is None else f"{share:.3f}".removeprefix("0")


def difference(interval: Interval | None) -> str:
    """Return a difference with its interval, such as `+.064 (+.049 to +.080)`."""
    if interval is None:
        return "-"
    return f"{signed(interval.mean)} ({signed(interval.low)} to {signed(interval.high)})"


def signed(value: float) -> str:
    """Return a difference with its sign, as papers print it."""
    return ("-" if value < 0 else "+") + figure(abs(value))


def asked(evaluation: Evaluation) -> str:
    """Return what was asked, and how many of the questions that could have been."""
    ours = evaluation.outcomes[GRAPHMEM]
    count = ours.queries + ours.singles
    words = (
        f"{counted(count, 'question')}: {ours.queries:,} about the last {counted(ours.lines, 'change')} of "
        f"several files, {ours.singles:,} about edits of one file alone; each before its answer was told."
    )
    if count < ours.of:
        words += f" Drawn evenly from {ours.of:,}; --all asks them all."
    return words


def nothing_asked(evaluation: Evaluation) -> str:
    """Return why nothing could be asked about."""
    shape = evaluation.shape
    if shape.observations == shape.alone:
        why = "all of one file alone"
    elif shape.large and shape.large + shape.alone >= shape.observations - 1:
        why = f"{shape.large:,} of more than 30 files and {shape.alone:,} of one alone, which don't count"
    else:
        why = "none of two or more files that existed before it"
    return (
        f"Too little history to measure: {counted(shape.observations, 'change')}, {why}. Alerts stay silent "
        "or come with 'unknown' there; measure again when there is more."
    )


def remarks(evaluation: Evaluation) -> list[str]:
    """Return the sentences about a history that is not like others; none about a usual one."""
    ours, shape = evaluation.outcomes[GRAPHMEM], evaluation.shape
    if ours.scores is None:
        return [nothing_asked(evaluation)]
    found = []
    if ours.lines < FEW:
        found.append(
            f"Measured on {counted(ours.lines, 'change')} only: these figures are hardly more than luck."
        )
    if ours.singles == 0:
        found.append(
            "No edit of one file alone is among the questions: how often those draw an alert is not known."
        )
    if shape.moments == 1 and shape.observations > 1:
        found.append(
            "All changes carry the same time: within 24 h means ever after, and their order is the source's."
        )
    if shape.large > MANY * shape.observations:
        found.append(f"{counted(shape.large, 'change')} of more than 30 files: nothing is asked about these.")
    return found


def advice(evaluation: Evaluation) -> str:
    """Return the threshold recommended here, and why."""
    found = evaluation.recommended
    if found is None:
        return (
            f"Recommended here: notes from {percent(WARNING_THRESHOLD)} on, as everywhere; it takes "
            f"{QUESTIONS} questions about the past to find the history's own threshold."
        )
    words = (
        f"Recommended here: notes from {percent(found.plain.threshold)} on, as GraphMem sets it by itself: "
    )
    told = f" With a task told: from {percent(found.told.threshold)} on."
    past = f"the last {counted(found.questions, 'question')} about the past"
    if found.plain.threshold == WARNING_THRESHOLD:
        return (
            f"Recommended here: notes from {percent(WARNING_THRESHOLD)} on, as everywhere: in {past} too few"
            f" files were likely enough to find the history's own threshold.{told}"
        )
    if found.plain.threshold >= CEILING:
        return words + f"in {past} fewer than {percent(TARGET)} came true below, and it goes no higher.{told}"
    return words + f"from there on {percent(TARGET)} of the files named came true in {past}.{told}"


def calibration(outcome: Outcome) -> str:
    """Return how far the probabilities are from what happened."""
    words = f"Expected calibration error {figure(outcome.calibration_error)}"
    if outcome.worded is not None:
        words += f", with the title {figure(outcome.worded.calibration_error)}"
    return words + " (0 is best; 15 equal bins, ten entries a question)."


def session_words(sessions: SessionEvaluation) -> str:
    """Return how many sessions were asked about."""
    means = next(iter(sessions.figures.values())).means
    words = (
        f"{counted(sessions.asked, 'session')} with two or more edited files, in {means.unread_sessions:,} "
        f"some not read before; {counted(means.reads, 'question')} at reads. "
        f"{percent(means.known)} of the right answers had ever been seen."
    )
    return words + (f" Drawn evenly from {sessions.of:,}." if sessions.asked < sessions.of else "")


class AlertRow(NamedTuple):
    """Who would have warned, from when on, and what came of it; `told` is what really is told."""

    name: str
    since: str
    tally: WarningTally
    told: bool = False


def alert_rows(outcomes: Mapping[str, Outcome]) -> list[AlertRow]:
    """Return GraphMem at all thresholds, then the baselines that would have warned at its usual one."""
    ours = outcomes[GRAPHMEM]
    rows: list[AlertRow] = []
    for words, outcome in ((GRAPHMEM, ours), (WITH_TITLE, ours.worded)):
        if outcome is not None:
            rows += [AlertRow(words, percent(tally.threshold), tally) for tally in outcome.warnings]
            if outcome.given is not None:
                since = f"notes {percent(outcome.given.threshold)}"
                rows.append(AlertRow(words, since, outcome.given, told=True))
    rows += [
        AlertRow(name, percent(tally.threshold), tally)
        for name, outcome in outcomes.items()
        for tally in outcome.warnings
        if name != GRAPHMEM and tally.threshold == WARNING_THRESHOLD and tally.pairs
    ]
    return rows


def session_rows(sessions: SessionEvaluation) -> list[tuple[str, ...]]:
    """Return name, recall@10, MAP, recall@10 of the unread, at reads, and the difference of each."""
    return [
        (
            name,
            figure(each.means.later.recall_10),
            figure(each.means.later.average_precision),
            figure(None if each.means.unread is None else each.means.unread.recall_10),
            figure(each.means.at_reads),
            "" if name == STRONGEST else difference(each.gain),
        )
        for name, each in sessions.figures.items()
    ]
