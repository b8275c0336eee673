"""Owns what of the modules is kept in the journal: ids, files and what was said of them, by names.

It is what a rebuild could not find again, as modules depend on what they were before. Texts of observations
are not in it, only the ids of those that a summary cites, so that what is forgotten is gone from here too.
Names mean what they meant at the moment that is kept along.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from graphmem.graph import NodeName, NodeType
from graphmem.journal import Journal
from graphmem.minting import find
from graphmem.module_texts import Told
from graphmem.nodes import NodeTable, row_of, table_of
from graphmem.postings import View
from inference.communities import Link

NAME = "modules"
_FORM = 1


class KeptModule(NamedTuple):
    """A module as it is kept; `files` are paths."""

    id: str
    level: int
    parent: str | None
    files: tuple[str, ...]
    told: Told
    built_at: float
    lineage: tuple[str, ...]


class Memory(NamedTuple):
    """The modules as they were when last found.

    `entries` and `removals` say from how much of the journal; `links` identifies the links they were found
    from; `at` is the moment (epoch seconds) at which the paths mean the files.
    """

    at: float = 0.0
    entries: int = 0
    removals: int = 0
    links: str = ""
    modules: tuple[KeptModule, ...] = ()


def recall(journal: Journal) -> Memory:
    """Return what was kept last, nothing when there was none."""
    found = journal.checkpoint(NAME)
    if found is None:
        return Memory()
    at, body = found
    data: dict[str, Any] = json.loads(body)
    if data["form"] != _FORM:
        return Memory()
    modules = tuple(
        KeptModule(
            id,
            level,
            parent,
            tuple(files),
            Told(label, tuple(terms), tuple(concepts), tuple(cites)),
            built_at,
            tuple(lineage),
        )
        for id, level, parent, files, label, terms, concepts, cites, built_at, lineage in data["modules"]
    )
    return Memory(at, data["entries"], data["removals"], data["links"], modules)


def keep(journal: Journal, memory: Memory) -> None:
    """Keep the modules in place of what was kept before."""
    modules = [
        (each.id, each.level, each.parent, each.files, *each.told, each.built_at, each.lineage)
        for each in memory.modules
    ]
    head = {"form": _FORM, **memory._asdict(), "modules": modules}
    del head["at"]
    journal.set_checkpoint(
        NAME, memory.at, json.dumps(head, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    )


def fingerprint(links: Sequence[Link]) -> str:
    """Return what identifies merged links, nodes and weights alike."""
    digest = hashlib.sha256()
    for a, b, weight in links:
        digest.update(f"{a}\0{b}\0{weight!r}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def present_paths(view: View, memory: Memory) -> dict[str, str]:
    """Return the present path of each kept path whose file exists still; no two have the same."""
    names = {path for module in memory.modules for path in module.files}
    files: dict[str, int] = {}
    for name in sorted(names):
        node = find(view.connection, NodeName(NodeType.FILE, name), memory.at)
        if node is not None and table_of(node) is NodeTable.FILE:
            files[name] = row_of(node)
    paths = {file: each.path for file, each in view.files(files.values()).items() if each.alive}
    return _first_of_each({name: paths[file] for name, file in files.items() if file in paths})


def _first_of_each(paths: Mapping[str, str]) -> dict[str, str]:
    """Leave out what means the same as one before; what stayed itself goes first."""
    found: dict[str, str] = {}
    for name, path in sorted(paths.items(), key=lambda item: (item[0] != item[1], item)):
        found.setdefault(path, name)
    return {name: path for path, name in found.items()}


def former(modules: Iterable[KeptModule], level: int, paths: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the kept modules of a level by id, as present paths."""
    return {
        module.id: frozenset(paths[name] for name in module.files if name in paths)
        for module in modules
        if module.level == level
    }
