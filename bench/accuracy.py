"""The README's table of accuracy: every history of a folder, the mean, and what chose the parameters.

    python -m bench.accuracy                                 # the histories of GRAPHMEM_DATA
    python -m bench.accuracy FOLDER --histories flask httpx  # some of a folder's, by name
    python -m bench.accuracy --keep FOLDER                   # go on where an earlier run stopped
    python -m bench.accuracy --models FOLDER                 # with models trained elsewhere, or none there

Each history is measured by the code behind `graphmem evaluate`, all questions asked, with and without the
title as the task. A history that chose the parameters is marked: its figures are no estimate for
another project.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from api.evaluation_words import plain
from bench.served import DATA_VARIABLE, THE_EIGHT
from graphmem import ranking_model
from graphmem.evaluation import GRAPHMEM, evaluate
from graphmem.ranking_model import RankingModel
from inference.ranking import WARNING_THRESHOLD

PROCESSES = 2
ENDING = ".jsonl.gz"
MARK = "*"
RIVAL = "ROSE"

Shape = Mapping[str, Any]


class Chosen(NamedTuple):
    """What the parameters were chosen on: words for it, and the names of histories; None for all."""

    words: str
    histories: frozenset[str] | None

    def includes(self, name: str) -> bool:
        """Return whether a history took part."""
        return self.histories is None or name in self.histories


def main() -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description="Measure the accuracy on all histories of a folder.")
    parser.add_argument("folder", nargs="?", type=Path, help=f"default: histories in ${DATA_VARIABLE}")
    parser.add_argument("--histories", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--keep", type=Path, help="keep each history's figures here, and take what is there")
    parser.add_argument("--models", type=Path, help="where the ranking models are; default: the shipped ones")
    parser.add_argument("--budget", type=int, help="ask at most so many questions of each history")
    given = parser.parse_args()
    paths = chosen_paths(given.folder or public_folder(), given.histories)
    if given.keep is not None:
        given.keep.mkdir(parents=True, exist_ok=True)
    measure = partial(measured, keep=given.keep, models=given.models, budget=given.budget)
    found: dict[str, Shape] = {}
    with multiprocessing.Pool(PROCESSES) as pool:
        for name, shape in pool.imap(measure, paths):
            found[name] = shape
            print(f"{name}: done", file=sys.stderr, flush=True)
    use_models(given.models)
    print("\n".join(table(found, parameters())))


def public_folder() -> Path:
    """Return where the public histories are."""
    data = os.environ.get(DATA_VARIABLE)
    if not data:
        sys.exit(f"Name a folder of histories, or set {DATA_VARIABLE} to the public data's folder.")
    return Path(data) / "histories"


def chosen_paths(folder: Path, names: Sequence[str] | None) -> list[Path]:
    """Return the histories of a folder, all or those that are named."""
    every = {path.name.removesuffix(ENDING): path for path in sorted(folder.glob(f"*{ENDING}"))}
    missing = [name for name in names or () if name not in every]
    if missing or not every:
        sys.exit(
            f"{folder} holds no {', '.join(missing) or 'history'}; it holds: {', '.join(every) or 'none'}."
        )
    return list(every.values()) if names is None else [every[name] for name in names]


def use_models(models: Path | None) -> None:
    """Rank with the models of a folder; without any there the closed form answers."""
    if models is not None:
        ranking_model.FOLDER = models


def measured(path: Path, keep: Path | None, models: Path | None, budget: int | None) -> tuple[str, Shape]:
    """Return a history's name and figures, those that were kept where there are such."""
    name = path.name.removesuffix(ENDING)
    kept = None if keep is None else keep / f"{name}.json"
    if kept is not None and kept.exists():
        shape: Shape = json.loads(kept.read_text(encoding="utf-8"))
        return name, shape
    use_models(models)
    shape = plain(evaluate("jsonl", str(path), budget=budget))
    if kept is not None:
        partly = kept.with_suffix(".partly")
        partly.write_text(json.dumps(shape), encoding="utf-8")
        partly.replace(kept)
    return name, shape


def parameters() -> Chosen:
    """Return what the parameters in use were chosen on."""
    model = RankingModel.load()
    if model is None:
        public = {path.name.removesuffix(ENDING) for path in public_folder().glob(f"*{ENDING}")}
        words = "The closed form, its weights chosen on the histories of the public data but for eight"
        return Chosen(words, frozenset(public.difference(THE_EIGHT)))
    named = model.card.figures.get("trained_on")
    words = f"Models of {model.card.made}, work up to {model.card.cutoff}"
    return Chosen(words, frozenset(map(str, named)) if isinstance(named, list) else None)


# ---- the table ---------------------------------------------------------------------------------

_HEAD = (
    "history",
    "GraphMem MAP / hit@5",
    "with the title",
    "ROSE MAP / hit@5",
    "ECE",
    "alerts in 100 edits",
    "right / in 24 h",
    "found",
    "alone",
)


def table(found: Mapping[str, Shape], chosen: Chosen) -> list[str]:
    """Return the table as lines of Markdown, one history a row, then the means, then what chose what."""
    rows = {name: figures(shape) for name, shape in found.items() if shape["predictors"][GRAPHMEM]["scores"]}
    fresh = [row for name, row in rows.items() if not chosen.includes(name)]
    seen = [row for name, row in rows.items() if chosen.includes(name)]
    lines = [_line(_HEAD), "|" + "---|" * len(_HEAD)]
    lines += [_line((name + MARK * chosen.includes(name), *cells(row))) for name, row in rows.items()]
    if fresh:
        lines.append(_line((f"**mean of {len(fresh)}**", *cells(means(fresh)))))
    if seen:
        lines.append(_line((f"**mean of {len(seen)}{MARK}**", *cells(means(seen)))))
    lines += ["", f"{chosen.words}. Alerts: notes as they are given, at the threshold of the past before."]
    if seen:
        lines.append(f"{MARK} took part in choosing the parameters: no estimate for another project.")
    lines.append("The title was written after the change: a real prompt gives less.")
    return lines


def figures(shape: Shape) -> dict[str, float | None]:
    """Return one history's figures, None where there is none."""
    ours, rival = shape["predictors"][GRAPHMEM], shape["predictors"][RIVAL]
    found: dict[str, float | None] = {}
    for label, outcome in (("", ours), ("told ", ours["worded"]), ("rival ", rival)):
        found[f"{label}map"] = outcome["scores"]["average_precision"]
        found[f"{label}hit"] = outcome["scores"]["hit_5"]
    usual = next(row for row in ours["warnings"] if row["threshold"] == WARNING_THRESHOLD)
    return found | {"error": ours["calibration_error"]} | dict(ours["given"] or usual)


def means(rows: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the mean of each figure over the histories that have it."""
    return {name: _mean(row[name] for row in rows) for name in rows[0]}


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def cells(row: Mapping[str, float | None]) -> list[str]:
    """Return a row's cells after its name."""
    alerts = row["alerts_per_100"]
    return [
        *(
            f"{_figure(row[f'{label}map'])} / {_figure(row[f'{label}hit'])}"
            for label in ("", "told ", "rival ")
        ),
        _figure(row["error"]),
        "-" if alerts is None else f"{alerts:.1f}",
        f"{_figure(row['precision'])} / {_figure(row['day_precision'])}",
        _figure(row["recall"]),
        _figure(row["single_alarms"]),
    ]


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}".removeprefix("0")


def _line(found: Iterable[str]) -> str:
    return f"| {' | '.join(found)} |"


if __name__ == "__main__":
    main()
