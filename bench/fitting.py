"""Owns the two fits behind the weights: a choice among candidates, and odds; small, exact, plain Python.

It is not a library of statistics: a handful of weights, Newton's method, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

STEPS = 12
RIDGE = 1e-6
LONGEST_STEP = 1.0

Rows = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Choice:
    """One question: a row of terms for each candidate, which of them were right, how much it counts."""

    rows: Rows
    right: Sequence[bool]
    weight: float


def choice_weights(choices: Sequence[Choice]) -> list[float]:
    """Return the weights under which the right candidates are the likeliest choice (conditional logit)."""
    useful = [choice for choice in choices if choice.weight and any(choice.right)]
    size = len(useful[0].rows[0])
    weights = [0.0] * size
    for _ in range(STEPS):
        gradient, curvature = _zeros(size)
        for choice in useful:
            _add_choice(choice, weights, gradient, curvature)
        _step(weights, gradient, curvature)
    return weights


def _add_choice(
    choice: Choice, weights: Sequence[float], gradient: list[float], curvature: list[list[float]]
) -> None:
    scores = [sum(w * x for w, x in zip(weights, row, strict=True)) for row in choice.rows]
    highest = max(scores)
    shares = [math.exp(score - highest) for score in scores]
    total = sum(shares)
    target = 1.0 / sum(choice.right)
    mean = [0.0] * len(weights)
    for row, share, right in zip(choice.rows, shares, choice.right, strict=True):
        chance = share / total
        _add_row(row, choice.weight * (target * right - chance), choice.weight * chance, gradient, curvature)
        for column, value in enumerate(row):
            mean[column] += chance * value
    _add_row(mean, 0.0, -choice.weight, gradient, curvature)


def odds_weights(rows: Rows, right: Sequence[bool], counts: Sequence[float]) -> list[float]:
    """Return the weights of a logistic regression; each row counts `counts` times."""
    size = len(rows[0])
    weights = [0.0] * size
    for _ in range(2 * STEPS):
        gradient, curvature = _zeros(size)
        for row, hit, count in zip(rows, right, counts, strict=True):
            score = sum(w * x for w, x in zip(weights, row, strict=True))
            chance = logistic(score)
            _add_row(row, count * (hit - chance), count * chance * (1.0 - chance), gradient, curvature)
        _step(weights, gradient, curvature)
    return weights


def logistic(score: float) -> float:
    """Return the probability of log odds, safe for any size."""
    return 1.0 / (1.0 + math.exp(-score)) if score > -500.0 else 0.0


def _zeros(size: int) -> tuple[list[float], list[list[float]]]:
    ridge = [[RIDGE if row == column else 0.0 for column in range(size)] for row in range(size)]
    return [0.0] * size, ridge


def _add_row(
    row: Sequence[float], slope: float, mass: float, gradient: list[float], curvature: list[list[float]]
) -> None:
    for i, x in enumerate(row):
        gradient[i] += slope * x
        scaled = mass * x
        if scaled:
            line = curvature[i]
            for j, y in enumerate(row):
                line[j] += scaled * y


def _step(weights: list[float], gradient: Sequence[float], curvature: Sequence[Sequence[float]]) -> None:
    move = _solved(curvature, gradient)
    longest = max(abs(value) for value in move)
    brake = max(1.0, longest / LONGEST_STEP)
    for index, value in enumerate(move):
        weights[index] += value / brake


def _solved(matrix: Sequence[Sequence[float]], values: Sequence[float]) -> list[float]:
    """Return x of matrix x = values by elimination with pivots."""
    rows = [[*line, value] for line, value in zip(matrix, values, strict=True)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda index: abs(rows[index][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for index in range(size):
            if index != column:
                factor = rows[index][column] / rows[column][column]
                rows[index] = [a - factor * b for a, b in zip(rows[index], rows[column], strict=True)]
    return [line[size] / line[index] for index, line in enumerate(rows)]
