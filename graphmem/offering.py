"""Owns what each node offers at one moment: histories read from a view, candidates that may be offered.

It is not the rule (that is `inference.promotion`) nor where offers are kept (`promotion`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.noise import included
from graphmem.postings import View
from inference.evidence import FileHistory
from inference.promotion import Offer, offers


class Offering:
    """The offers of one moment.

    Args:
        view: the postings at that moment.
        ignore: patterns of files that neither offer nor are offered, in the manner of gitignore.
    """

    def __init__(self, view: View, ignore: tuple[str, ...] = ()) -> None:
        self._view = view
        self._ignore = ignore
        self._seen: set[int] = set()
        self._paths: dict[int, str] = {}

    def nodes(self) -> Iterator[int]:
        """Yield every node that may offer something."""
        for (id,) in self._view.connection.execute("SELECT id FROM file ORDER BY id"):
            yield number_of(NodeTable.FILE, id)

    def of(self, node: int) -> list[Offer]:
        """Return what a node offers, nothing for one that is gone, noise or ignored."""
        return self._file_offers(row_of(node)) if table_of(node) is NodeTable.FILE else []

    def _file_offers(self, file: int) -> list[Offer]:
        self._look_at((file,))
        path = self._paths.get(file)
        if path is None:
            return []
        history = replace(self._view.history(file), path=path)
        self._look_at(_mentioned(history))
        return [
            offer._replace(
                source=number_of(NodeTable.FILE, offer.source), target=number_of(NodeTable.FILE, offer.target)
            )
            for offer in offers(history, self._paths)
        ]

    def _look_at(self, files: Iterable[int]) -> None:
        """Keep the names of those of these files that may be offered."""
        new = [file for file in files if file not in self._seen]
        self._seen.update(new)
        for file in self._view.files(new).values():
            if file.alive and file.noise is None and not included(file.path, self._ignore):
                self._paths[file.id] = file.path


def _mentioned(history: FileHistory) -> set[int]:
    occasions = chain(history.edits, history.reads, *history.followers, *history.read_followers)
    return {file for occasion in occasions for file in occasion.edited}
