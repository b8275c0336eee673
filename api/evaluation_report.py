"""Owns where an evaluation's report is written, and what is refused before anything is measured.

It is not the page (`api.evaluation_page`) nor the picture (`api.evaluation_picture`).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

from graphmem.errors import InvalidInputError
from graphmem.evaluation import Evaluation

Write = Callable[[Evaluation, str], None]


def writer_of(path: Path) -> Write:
    """Return what writes the report of an evaluation, given with its source's place, to `path`.

    Raises:
        InvalidInputError: another ending than .html or .png, a folder that is missing or may not be written
            to, or a picture without matplotlib.
    """
    folder = path.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InvalidInputError(f"{folder} is no folder that can be written to; name another file.", "report")
    match path.suffix.lower():
        case ".html" | ".htm":
            return lambda evaluation, location: _write_page(path, evaluation, location)
        case ".png":
            if importlib.util.find_spec("matplotlib") is None:
                raise InvalidInputError(
                    "a picture needs matplotlib, which is not installed: run `pip install matplotlib`, "
                    "or name a file that ends in .html.",
                    "report",
                )
            return lambda evaluation, location: _write_picture(path, evaluation, location)
        case ending:
            raise InvalidInputError(
                f"{ending or 'no ending'} is no kind of report; name a file that ends in .html or .png.",
                "report",
            )


def _write_page(path: Path, evaluation: Evaluation, location: str) -> None:
    from api.evaluation_page import page

    path.write_text(page(evaluation, location), encoding="utf-8")


def _write_picture(path: Path, evaluation: Evaluation, location: str) -> None:
    from api.evaluation_picture import picture

    path.write_bytes(picture(evaluation, location))
