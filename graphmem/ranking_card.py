"""Owns the card that is shipped with the ranking models: what they are, made of what, when, and how good.

It is not the models (`graphmem.ranking_model`); it is written by `python -m bench.train`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

from inference.calibration import Curve

VERSION = 1
"""Of the card, of what the columns mean, and of how the files are run."""
CARD = "card.json"
LICENCE = "Apache-2.0"
_ROLES = ("order", "order-task", "chance", "chance-task")
_REINSTALL = "install GraphMem again"


class UnusableModelError(Exception):
    """The models can't be used: `cause` and `remedy` are parts of one sentence."""

    def __init__(self, cause: str, remedy: str = _REINSTALL) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy


class Columns(NamedTuple):
    """Names of features in their order: those of every question, and those that need a task's words."""

    plain: tuple[str, ...]
    task: tuple[str, ...]

    def names(self, with_task: bool) -> tuple[str, ...]:
        """Return what a model is given; with a task's words, their columns come last."""
        return self.plain + self.task if with_task else self.plain


@dataclass(frozen=True, slots=True)
class Card:
    """What the models are.

    `made` and `cutoff` are days: of the training, and of the latest work in its data. `digests` are the
    SHA-256 of each file by its name, `curves` the pooled curves without and with a task's words.
    """

    version: int
    made: date
    cutoff: date
    columns: Columns
    digests: Mapping[str, str]
    curves: tuple[Curve, Curve]
    figures: Mapping[str, object]

    def as_json(self) -> str:
        """Return the text of the card's file."""
        held = {
            "version": self.version,
            "licence": LICENCE,
            "made": self.made.isoformat(),
            "cutoff": self.cutoff.isoformat(),
            "columns": {"plain": self.columns.plain, "task": self.columns.task},
            "sha256": dict(self.digests),
            "curves": {
                name: {"said": curve.said, "came_true": curve.came_true}
                for name, curve in zip(("plain", "task"), self.curves, strict=True)
            },
            "figures": dict(self.figures),
        }
        return json.dumps(held, indent=1) + "\n"


def file_of(role: str, with_task: bool) -> str:
    """Return the name of a model's file; `role` is `order` or `chance`."""
    return f"{role}{'-task' if with_task else ''}.onnx"


FILES = tuple(f"{role}.onnx" for role in _ROLES)


def read_card(folder: Path) -> Card:
    """Return a folder's card.

    Raises:
        UnusableModelError: it is missing, unreadable, of another version or not whole.
    """
    try:
        raw = json.loads((folder / CARD).read_bytes())
    except FileNotFoundError as error:
        raise UnusableModelError(f"{CARD} is missing") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UnusableModelError(f"{CARD} can't be read") from error
    version = raw.get("version") if isinstance(raw, dict) else None
    if version != VERSION:
        raise UnusableModelError(f"its version is {version!r} and this GraphMem runs version {VERSION}")
    try:
        return _card(raw)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UnusableModelError(f"{CARD} is not whole") from error


def _card(raw: Mapping[str, Mapping[str, object]]) -> Card:
    columns = Columns(_names(raw["columns"]["plain"]), _names(raw["columns"]["task"]))
    digests = {name: str(raw["sha256"][name]) for name in FILES}
    return Card(
        version=VERSION,
        made=date.fromisoformat(str(raw["made"])),
        cutoff=date.fromisoformat(str(raw["cutoff"])),
        columns=columns,
        digests=digests,
        curves=(_curve(raw["curves"]["plain"]), _curve(raw["curves"]["task"])),
        figures=dict(raw["figures"]),
    )


def _names(found: object) -> tuple[str, ...]:
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ValueError(found)
    return tuple(found)


def _curve(found: object) -> Curve:
    match found:
        case {"said": list(said), "came_true": list(came_true)} if len(said) == len(came_true) > 0:
            curve = Curve(tuple(map(float, said)), tuple(map(float, came_true)))
            rises = all(_rises(part) for part in curve)
            if rises and all(0.0 <= value <= 1.0 for part in curve for value in part):
                return curve
    raise ValueError(found)


def _rises(values: tuple[float, ...]) -> bool:
    return all(values[place] <= values[place + 1] for place in range(len(values) - 1))


def read_model(folder: Path, name: str, card: Card) -> bytes:
    """Return a model's file as the card has it.

    Raises:
        UnusableModelError: it is missing, or another one than the card's.
    """
    try:
        content = (folder / name).read_bytes()
    except FileNotFoundError as error:
        raise UnusableModelError(f"{name} is missing") from error
    except OSError as error:
        raise UnusableModelError(f"{name} can't be read") from error
    if hashlib.sha256(content).hexdigest() != card.digests[name]:
        raise UnusableModelError(f"{name} is not the file that its card describes")
    return content
