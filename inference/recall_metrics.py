"""Owns the figures of recall: whether a context holds what answers, what misleads, and what says nothing.

It is not the set of questions nor how they are asked; pieces are whatever names the caller has for them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean
from typing import NamedTuple, TypeVar

from inference.metrics import Interval, bootstrap

Group = TypeVar("Group", bound=Hashable)

DRAWS = 1_000
_SEED = 6


class Shown(NamedTuple):
    """A piece in a context, None where it is none of the known ones; `marked` says that it is superseded."""

    piece: Hashable | None
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What one question wants, and what it was given.

    Args:
        needs: what must be shown; of each of the sets one piece is enough. Empty: nothing answers.
        forbidden: pieces that must not be shown: out of date, or of somewhere else.
        shown: the pieces of the context.
        ranked: the pieces among the results, best first.
    """

    needs: tuple[frozenset[Hashable], ...]
    forbidden: frozenset[Hashable]
    shown: tuple[Shown, ...]
    ranked: tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """What came of one question.

    `hit` (all needs are met by the context), `reciprocal` (1 / place of the first expected result, 0 without)
    and `first`, `five` (share of needs met by so many results) are None where nothing answers. `interferes`
    says that anything forbidden is shown, `misleads` that it is shown without its mark. `idle` of `pieces`
    shown answer nothing.
    """

    hit: bool | None
    interferes: bool
    misleads: bool
    pieces: int
    idle: int
    reciprocal: float | None
    first: float | None
    five: float | None


def score(reply: Reply) -> Score:
    """Return what came of one question."""
    wanted = frozenset[Hashable]().union(*reply.needs)
    there = {shown.piece for shown in reply.shown if not shown.marked}
    bad = [shown for shown in reply.shown if shown.piece in reply.forbidden]
    asked = bool(reply.needs)
    places = [place for place, piece in enumerate(reply.ranked, 1) if piece in wanted]
    return Score(
        hit=all(need & there for need in reply.needs) if asked else None,
        interferes=bool(bad),
        misleads=any(not shown.marked for shown in bad),
        pieces=len(reply.shown),
        idle=sum(shown.piece not in wanted for shown in reply.shown),
        reciprocal=(1.0 / places[0] if places else 0.0) if asked else None,
        first=_met(reply, 1) if asked else None,
        five=_met(reply, 5) if asked else None,
    )


def _met(reply: Reply, depth: int) -> float:
    best = frozenset(reply.ranked[:depth])
    return fmean(bool(need & best) for need in reply.needs)


@dataclass(frozen=True, slots=True)
class RecallFigures:
    """The figures of several questions; `expecting` of them have an answer. None where nothing was counted.

    `hit`, `mrr`, `recall_1` and `recall_5` are means over those that have an answer, `interference` (anything
    forbidden) and `misleading` (without its mark) over all; `idle` is the share of all pieces shown.
    """

    questions: int
    expecting: int
    pieces: int
    hit: Interval | None
    interference: Interval | None
    misleading: Interval | None
    idle: Interval | None
    mrr: Interval | None
    recall_1: Interval | None
    recall_5: Interval | None


def recall_figures(scores: Sequence[Score]) -> RecallFigures:
    """Return the figures with their 95 % intervals, by drawing as many questions with replacement."""
    asked = [each for each in scores if each.hit is not None]
    return RecallFigures(
        questions=len(scores),
        expecting=len(asked),
        pieces=sum(each.pieces for each in scores),
        hit=_mean(asked, lambda each: each.hit),
        interference=_mean(scores, lambda each: each.interferes),
        misleading=_mean(scores, lambda each: each.misleads),
        idle=_share([(each.idle, each.pieces) for each in scores]),
        mrr=_mean(asked, lambda each: each.reciprocal),
        recall_1=_mean(asked, lambda each: each.first),
        recall_5=_mean(asked, lambda each: each.five),
    )


def by_group(groups: Sequence[Group], scores: Sequence[Score]) -> dict[Group, RecallFigures]:
    """Return the figures of each group, in the order of their first question."""
    members: dict[Group, list[Score]] = {}
    for group, each in zip(groups, scores, strict=True):
        members.setdefault(group, []).append(each)
    return {group: recall_figures(mine) for group, mine in members.items()}


def _mean(scores: Sequence[Score], value: Callable[[Score], float | None]) -> Interval | None:
    return bootstrap([float(value(each) or 0.0) for each in scores], DRAWS, _SEED)


def _share(counts: Sequence[tuple[int, int]]) -> Interval | None:
    """Return a share of sums with its interval; questions are drawn, for pieces of one belong together."""
    if not sum(whole for _, whole in counts):
        return None
    draw = Random(_SEED)
    drawn = [_ratio(draw.choices(counts, k=len(counts))) for _ in range(DRAWS)]
    shares = sorted(share for share in drawn if share is not None)
    return Interval(_ratio(counts) or 0.0, shares[int(0.025 * len(shares))], shares[int(0.975 * len(shares))])


def _ratio(counts: Sequence[tuple[int, int]]) -> float | None:
    whole = sum(each for _, each in counts)
    return sum(part for part, _ in counts) / whole if whole else None


@dataclass(frozen=True, slots=True)
class Gain:
    """What something brings: figures with and without it, and the paired difference of hits.

    `pays` says that it helps recall (hits, or with as many hits the first five results) and does not lower
    precision (the share of shown pieces that answer).
    """

    having: RecallFigures
    lacking: RecallFigures
    difference: Interval | None
    pays: bool


def gain(having: Sequence[Score], lacking: Sequence[Score]) -> Gain:
    """Compare the same questions, in the same order, with and without something."""
    pairs = [(a, b) for a, b in zip(having, lacking, strict=True) if a.hit is not None]
    difference = bootstrap([float(bool(a.hit)) - float(bool(b.hit)) for a, b in pairs], DRAWS, _SEED)
    recall = sum(bool(a.hit) - bool(b.hit) for a, b in pairs)
    five = sum((a.five or 0.0) - (b.five or 0.0) for a, b in pairs)
    helps = recall > 0 or (recall == 0 and five > 0)
    return Gain(
        recall_figures(having), recall_figures(lacking), difference, helps and _idle(having) <= _idle(lacking)
    )


def gains(groups: Sequence[Group], having: Sequence[Score], lacking: Sequence[Score]) -> Mapping[Group, Gain]:
    """Return the gain of each group, in the order of their first question."""
    members: dict[Group, list[int]] = {}
    for number, group in enumerate(groups):
        members.setdefault(group, []).append(number)
    return {
        group: gain([having[number] for number in mine], [lacking[number] for number in mine])
        for group, mine in members.items()
    }


def _idle(scores: Sequence[Score]) -> float:
    return _ratio([(each.idle, each.pieces) for each in scores]) or 0.0
