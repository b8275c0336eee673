"""Owns the two fits behind the weights: a choice among candidates, and odds; small and exact.

It is not a library of statistics: a handful of weights, Newton's method, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

STEPS = 12
RIDGE = 1e-6
LONGEST_STEP = 1.0

Rows = Sequence[Sequence[float]]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Choice:
    """One question: a row of terms for each candidate, which of them were right, how much it counts."""

    rows: Rows
    right: Sequence[bool]
    weight: float


def choice_weights(choices: Sequence[Choice]) -> list[float]:
    """Return the weights under which the right candidates are the likeliest choice (conditional logit)."""
    useful = [choice for choice in choices if choice.weight and any(choice.right)]
    sizes = np.array([len(choice.right) for choice in useful])
    starts = np.cumsum(sizes) - sizes
    rows = np.concatenate([np.asarray(choice.rows, float) for choice in useful])
    right = np.concatenate([np.asarray(choice.right, float) for choice in useful])
    counts = np.array([choice.weight for choice in useful])
    target = right / np.repeat(np.add.reduceat(right, starts), sizes)
    each = np.repeat(counts, sizes)
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        scores = rows @ weights
        shares = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), sizes))
        chance = shares / np.repeat(np.add.reduceat(shares, starts), sizes)
        mean = np.add.reduceat(rows * chance[:, None], starts)
        gradient = rows.T @ (each * (target - chance))
        curvature = rows.T @ (rows * (each * chance)[:, None]) - mean.T @ (mean * counts[:, None])
        weights = weights + _step(curvature, gradient)
    return [float(weight) for weight in weights]


def odds_weights(rows: Rows, right: Sequence[bool], counts: Sequence[float]) -> list[float]:
    """Return the weights of a logistic regression; each row counts `counts` times."""
    given, hits, each = np.asarray(rows, float), np.asarray(right, float), np.asarray(counts, float)
    weights = np.zeros(given.shape[1])
    for _ in range(2 * STEPS):
        chance = np.exp(-np.logaddexp(0.0, -(given @ weights)))
        gradient = given.T @ (each * (hits - chance))
        curvature = given.T @ (given * (each * chance * (1.0 - chance))[:, None])
        weights = weights + _step(curvature, gradient)
    return [float(weight) for weight in weights]


def logistic(score: float) -> float:
    """Return the probability of log odds, safe for any size."""
    return 1.0 / (1.0 + math.exp(-score)) if score > -500.0 else 0.0


def _step(curvature: Floats, gradient: Floats) -> Floats:
    """Return Newton's step, shortened where it is long."""
    move = np.linalg.solve(curvature + RIDGE * np.eye(len(gradient)), gradient)
    return np.asarray(move / max(1.0, float(np.abs(move).max()) / LONGEST_STEP))
