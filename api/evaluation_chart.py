"""Owns the drawings of an evaluation as inline SVG: what alerts cost, and whether probabilities are honest.

It is not the page around them (`api.evaluation_page`). Colours are classes, so that the page decides on light
and dark; everything drawn is in a table or a sentence, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from api.evaluation_words import WITH_TITLE
from api.screen import percent
from graphmem.evaluation import GRAPHMEM
from inference.metrics import Bin, WarningTally
from inference.replay import Outcome

_SIDE = 360.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 14.0, 14.0, 44.0
_LARGEST_DOT = 9.0
_SMALLEST_DOT = 2.5
_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)

Point = tuple[float, float]


class Frame:
    """A square with two axes; x runs from 0 to `most`, y from 0 to 1."""

    def __init__(self, title: str, x_words: str, y_words: str, most: float = 1.0) -> None:
        self._most = most
        self._parts = [
            f'<svg viewBox="0 0 {_SIDE:.0f} {_SIDE:.0f}" role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
        ]
        for share in _STEPS:
            x, y = self.place((share * most, share))
            low, left = _SIDE - _BOTTOM, _LEFT
            self._parts += [
                f'<path class="grid" d="M{x:.1f} {_TOP}V{low}M{left} {y:.1f}H{_SIDE - _RIGHT}"/>',
                f'<text x="{x:.1f}" y="{low + 16}" text-anchor="middle">{_number(share * most)}</text>',
                f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(share)}</text>',
            ]
        middle = (_LEFT + _SIDE - _RIGHT) / 2
        across = (_TOP + _SIDE - _BOTTOM) / 2
        self._parts += [
            f'<text x="{middle}" y="{_SIDE - 8}" text-anchor="middle">{escape(x_words)}</text>',
            f'<text transform="translate(12 {across}) rotate(-90)" text-anchor="middle">'
            f"{escape(y_words)}</text>",
        ]

    def place(self, point: Point) -> Point:
        """Return where a point lies on the drawing."""
        x, y = point
        across, up = _SIDE - _LEFT - _RIGHT, _SIDE - _TOP - _BOTTOM
        return _LEFT + across * x / self._most, _SIDE - _BOTTOM - up * y

    def line(self, points: Sequence[Point], kind: str) -> None:
        """Join points."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, points))
        self._parts.append(f'<polyline class="line {kind}" points="{places}"/>')

    def dot(self, point: Point, kind: str, words: str, radius: float = 4.0) -> None:
        """Draw a point that says what it is when it is pointed at."""
        x, y = self.place(point)
        self._parts.append(
            f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
            f"<title>{escape(words)}</title></circle>"
        )

    def label(self, point: Point, words: str) -> None:
        """Write beside a point."""
        x, y = self.place(point)
        end = x > _SIDE - _RIGHT - 40
        anchor, shift = ("end", -8) if end else ("start", 8)
        self._parts.append(
            f'<text class="mark" x="{x + shift:.1f}" y="{y - 10:.1f}" text-anchor="{anchor}">{words}</text>'
        )

    def drawing(self) -> str:
        """Return the SVG."""
        return "".join([*self._parts, "</svg>"])


def alerts_drawing(outcomes: Mapping[str, Outcome], rival: str) -> str:
    """Return alerts in 100 edits against the share of right ones, a point for each threshold."""
    ours = outcomes[GRAPHMEM]
    curves: list[tuple[str, str, Iterable[WarningTally]]] = [
        ("ours", GRAPHMEM, ours.warnings),
        ("rival", rival, outcomes[rival].warnings),
    ]
    if ours.worded is not None:
        curves.insert(1, ("worded", WITH_TITLE, ours.worded.warnings))
    drawn = [
        (kind, name, [(tally, (tally.alerts_per_100, tally.precision)) for tally in tallies if tally.pairs])
        for kind, name, tallies in curves
    ]
    most = max((tally.alerts_per_100 for _, _, row in drawn for tally, _ in row), default=1.0)
    title = "How often alerts would have been right, by how many there are"
    frame = Frame(title, "alerts in 100 edits", "share right", _rounded(most))
    for kind, name, row in drawn:
        points = [(x, y) for _, (x, y) in row if y is not None]
        frame.line(points, kind)
        for tally, (x, y) in row:
            if y is not None:
                words = (
                    f"{name} from {percent(tally.threshold)}: {x:.1f} alerts in 100 edits, {percent(y)} right"
                )
                frame.dot((x, y), kind, words)
    for tally, (x, y) in drawn[0][2][:: max(1, len(drawn[0][2]) - 1)]:
        if y is not None:
            frame.label((x, y), percent(tally.threshold))
    return frame.drawing()


def reliability_drawing(outcome: Outcome) -> str:
    """Return what was said against what came true, a point for each bin, larger where there is more in it."""
    frame = Frame("What was said against what came true", "said", "came true")
    frame.line([(0.0, 0.0), (1.0, 1.0)], "ideal")
    curves = [("ours", GRAPHMEM, outcome.bins)]
    if outcome.worded is not None:
        curves.append(("worded", WITH_TITLE, outcome.worded.bins))
    for kind, name, bins in curves:
        frame.line([(each.said, each.came_true) for each in bins], kind)
        for each in bins:
            words = (
                f"{name}: {percent(each.said)} said, {percent(each.came_true)} came true "
                f"of {each.entries:,} entries"
            )
            frame.dot((each.said, each.came_true), kind, words, _radius(each, bins))
    return frame.drawing()


def _radius(each: Bin, bins: Sequence[Bin]) -> float:
    most = max(other.entries for other in bins[len(bins) // 3 :])
    return max(_SMALLEST_DOT, _LARGEST_DOT * math.sqrt(min(1.0, each.entries / most)))


def _rounded(most: float) -> float:
    """Return the end of an axis: the next multiple of 4, so that its quarters are whole."""
    return max(4.0, 4.0 * -(-most // 4.0))


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value % 1 else f"{value:.0f}"
