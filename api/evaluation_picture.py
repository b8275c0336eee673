"""Owns an evaluation as one PNG picture, drawn by matplotlib where that is installed.

It is not the page (`api.evaluation_page`), which needs nothing; whether matplotlib is there is asked before
(`api.evaluation_report`).
"""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from api.evaluation_words import STRONGEST_RIVAL, WITH_TITLE, asked, remarks
from api.terminal_text import one_line
from graphmem.evaluation import GRAPHMEM, Evaluation
from inference.replay import Outcome

_OURS, _WORDED, _RIVAL, _SOFT = "#1f6feb", "#0f8a5f", "#b4532a", "#8a929e"
_INCHES = (15.0, 5.4)
_DOTS = 120


def picture(evaluation: Evaluation, location: str) -> bytes:
    """Return the picture: who ranks how well, what alerts cost, whether probabilities are honest."""
    figure = Figure(figsize=_INCHES, dpi=_DOTS, layout="constrained")
    figure.suptitle(_plain(f"How good are the alerts? {one_line(location)}"), fontsize=13)
    ours = evaluation.outcomes[GRAPHMEM]
    if ours.scores is None:
        figure.text(0.5, 0.5, _plain(" ".join(remarks(evaluation))), ha="center", wrap=True)
    else:
        ranking, alerts, honesty = figure.subplots(1, 3)
        _draw_ranking(ranking, evaluation)
        _draw_alerts(alerts, evaluation)
        _draw_honesty(honesty, ours)
        figure.supxlabel(_plain(asked(evaluation)), fontsize=9)
    written = io.BytesIO()
    figure.savefig(written, format="png")
    return written.getvalue()


def _draw_ranking(axes: Axes, evaluation: Evaluation) -> None:
    bars: list[tuple[str, float, str]] = []
    for name, outcome in evaluation.outcomes.items():
        for label, each, colour in (
            (name, outcome, _OURS if name == GRAPHMEM else _RIVAL),
            (WITH_TITLE, outcome.worded, _WORDED),
        ):
            if each is not None and each.scores is not None:
                bars.append((label, each.scores.average_precision, colour))
    bars.reverse()
    drawn = axes.barh(
        [label for label, _, _ in bars],
        [value for _, value, _ in bars],
        color=[colour for _, _, colour in bars],
    )
    axes.bar_label(drawn, fmt="%.3f", padding=3)
    axes.set_xlim(0.0, 1.0)
    axes.set_title("MAP: the right files, in order")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_alerts(axes: Axes, evaluation: Evaluation) -> None:
    ours = evaluation.outcomes[GRAPHMEM]
    for name, outcome, colour in (
        (GRAPHMEM, ours, _OURS),
        (WITH_TITLE, ours.worded, _WORDED),
        (STRONGEST_RIVAL, evaluation.outcomes[STRONGEST_RIVAL], _RIVAL),
    ):
        if outcome is not None:
            told = [tally for tally in outcome.warnings if tally.pairs]
            points = [(tally.alerts_per_100, tally.hits / tally.pairs) for tally in told]
            axes.plot([x for x, _ in points], [y for _, y in points], "o-", color=colour, label=name)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("alerts in 100 edits, from 50, 60, 70, 80 and 90 % on")
    axes.set_ylabel("share right")
    axes.set_title("What alerts cost")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")


def _draw_honesty(axes: Axes, ours: Outcome) -> None:
    axes.plot([0, 1], [0, 1], "--", color=_SOFT, label="as said")
    for name, outcome, colour in ((GRAPHMEM, ours, _OURS), (WITH_TITLE, ours.worded, _WORDED)):
        if outcome is not None:
            said = [each.said for each in outcome.bins]
            axes.plot(said, [each.came_true for each in outcome.bins], "o-", color=colour, label=name)
    axes.set_xlim(0.0, 1.0)
    axes.set_ylim(0.0, 1.02)
    axes.set_xlabel("said")
    axes.set_ylabel("came true")
    axes.set_title("Are probabilities honest?")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper left")


def _plain(words: str) -> str:
    """Return words that are not taken for a formula."""
    return words.replace("$", r"\$")
