"""Owns where the data lies that comes with the program: beside the packages in a source tree, else installed.

It is not what is done with it.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from api.isolation import own_root
from graphmem.errors import SourceError


def shipped(folder: str, package: str, name: str, remedy: str) -> Path:
    """Return a file of `fixtures/<folder>`, which an installation holds as the package `package`.

    Raises:
        SourceError: this installation came without it; the sentence ends with `remedy`.
    """
    beside = Path(own_root(), "fixtures", folder, name)
    if beside.is_file():
        return beside
    spec = importlib.util.find_spec(package)
    for place in (spec.submodule_search_locations if spec else None) or ():
        if Path(place, name).is_file():
            return Path(place, name)
    raise SourceError(
        f"{name} of {package} is not part of this installation: install GraphMem anew, {remedy}"
    )
