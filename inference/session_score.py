"""Owns the order in which a session that has work behind it edits further files, as far as can be said.

It is not the clues (`inference.session_clues`) nor what is worth saying unasked: behaviour of sessions alone
is weak, so whoever words a note asks for two supporting sessions besides. The score is a weighted sum of the
clues. It only orders: what is returned with it are the ranker's probabilities, the highest for the first. The
answer takes the order and keeps for each file its own probability of changing along.

`python -m bench.sessions --learn` prints how the weights come about: those of clues that people's sittings
have too are learned from histories of git, where an author's sitting stands for a session; then, from
recorded sessions, how much these count as a whole beside reads and branches, which a history knows nothing
of. No weight is below 0: more evidence never lowers a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from inference.chronicle import Chronicle
from inference.session_clues import LEAST, Asking, Clues, columns

WEIGHTS = Clues(
    odds=0.47,
    hand=3.75,
    twice=0.18,
    share=1.25,
    fresh=0.37,
    day=0.04,
    branch=0.97,
    twin=0.49,
    words=0.61,
    beside_hand=0.18,
    twin_hand=0.74,
    words_hand=1.17,
    read=1.99,
    read_last=0.53,
)

HAIR = 1e-9


def strength(clue: Clues, weights: Clues = WEIGHTS) -> float:
    """Return the weighted sum of the clues."""
    return sum(weight * value for weight, value in zip(weights, clue, strict=True))


def session_scores(chronicle: Chronicle, asking: Asking, ranked: Mapping[int, float]) -> dict[int, float]:
    """Return the probability of every living file that the session may edit yet, the most promising first.

    Equals stand by path.

    Args:
        chronicle: the project's work up to the question.
        asking: the question, with what the session did so far.
        ranked: probabilities (0..1) by a ranker that knows nothing of the session. It had best be asked about
            `inference.session_clues.candidates` too; who has none counts as the least probable.
    """
    files, found = columns(chronicle, asking, ranked)
    total = np.zeros(len(files))
    for weight, column in zip(WEIGHTS, found, strict=True):
        total += weight * column
    paths = [chronicle.files[file].path for file in files]
    order = sorted(zip((-total).tolist(), paths, files, strict=True))
    chances = _falling(sorted((ranked.get(file, LEAST) for file in files), reverse=True))
    return {file: chance for (_, _, file), chance in zip(order, chances, strict=True)}


def _falling(chances: Iterable[float]) -> Iterator[float]:
    """Yield the probabilities, each a hair below the one before: who sorts by them keeps the order."""
    before = 1.0
    for chance in chances:
        before = min(chance, before * (1.0 - HAIR))
        yield before
