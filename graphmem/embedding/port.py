"""Owns the seam to models that turn texts into vectors: what one is asked, and what marks its space.

It is not a model, and not where vectors are kept. No provider's name stands here. Vectors of two spaces are
never compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from graphmem.errors import GraphMemError

Vectors = npt.NDArray[np.float32]


class EmbedderError(GraphMemError):
    """A model can't be used: missing, altered, of another form; the sentence names the remedy."""


class Tongue(StrEnum):
    """What a model was made for: texts in English alone, or in many languages."""

    ENGLISH = "english"
    MANY = "many"


@dataclass(frozen=True, slots=True)
class Space:
    """What vectors must have in common to be compared.

    `model` names the model, `version` its weights (a digest's beginning); two builds of the same weights
    whose vectors agree have the same space. `dimension` is the length of a vector.
    """

    model: str
    version: str
    dimension: int

    @property
    def key(self) -> str:
        """Return a short name of letters, digits and hyphens, fit for a file name."""
        return f"{self.model}-{self.version}-{self.dimension}"


class Embedder(Protocol):
    """A model. Asked from one thread at a time; its weights are read when it is made."""

    @property
    def space(self) -> Space:
        """Return the space of its vectors."""

    @property
    def tongue(self) -> Tongue:
        """Return what it was made for."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text, float32, shape (texts, dimension).

        A text without any word may give a vector of zeros. Long texts are cut by the model.

        Raises:
            EmbedderError: the model failed.
        """
