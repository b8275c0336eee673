"""Owns what each node offers at one moment: histories read from a view, candidates that may be offered.

It is not the rule (that is `inference.promotion`) nor where offers are kept (`promotion`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.noise import included
from graphmem.postings import View
from inference.cochange import MAX_SIZE
from inference.evidence import FileHistory
from inference.promotion import Offer, offers
from inference.topics import ABOUT, RELATED, SESSIONS, Talk, topic_offers

_TALKS = 50
_SPOKEN = (
    "SELECT observation.seq, observation.at, session FROM concept_use"
    " JOIN observation ON observation.seq = concept_use.occasion"
    " WHERE concept = ? AND concept_use.at <= ? AND repeated = 0 AND pairs = 1"
    " ORDER BY concept_use.at DESC, concept_use.seq DESC LIMIT ?"
)


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
        once = "SELECT id FROM concept WHERE uses >= ? ORDER BY id"
        for (id,) in self._view.connection.execute(once, (SESSIONS,)):
            yield number_of(NodeTable.CONCEPT, id)

    def of(self, node: int) -> list[Offer]:
        """Return what a node offers, nothing for one that is gone, noise or ignored."""
        match table_of(node):
            case NodeTable.FILE:
                return self._file_offers(row_of(node))
            case NodeTable.CONCEPT:
                rows = self._view.connection.execute(_SPOKEN, (row_of(node), self._view.as_of, _TALKS))
                return self._topic_offers(node, rows.fetchall(), RELATED)
            case _:
                return []

    def _file_offers(self, file: int) -> list[Offer]:
        self._look_at((file,))
        path = self._paths.get(file)
        if path is None:
            return []
        history = replace(self._view.history(file), path=path)
        self._look_at(_mentioned(history))
        worked = sorted(
            {(edit.at, edit.key, edit.session) for edit in history.edits if edit.size <= MAX_SIZE},
            reverse=True,
        )
        topics = self._topic_offers(
            number_of(NodeTable.FILE, file), [(key, at, session) for at, key, session in worked], ABOUT
        )
        return topics + [
            offer._replace(
                source=number_of(NodeTable.FILE, offer.source), target=number_of(NodeTable.FILE, offer.target)
            )
            for offer in offers(history, self._paths)
        ]

    def _topic_offers(self, node: int, occasions: Sequence[tuple[int, float, int]], kind: str) -> list[Offer]:
        """Return the concepts that occasions (number, time, session; newest first) of a node were about."""
        spoken = self._view.concepts(number for number, _, _ in occasions)
        names = self._view.concept_names({concept for uses in spoken.values() for concept in uses})
        talks = [
            Talk(
                number,
                at,
                session,
                {number_of(NodeTable.CONCEPT, concept): share for concept, share in spoken[number].items()},
            )
            for number, at, session in occasions
        ]
        called = {number_of(NodeTable.CONCEPT, concept): name for concept, name in names.items()}
        return topic_offers(node, talks, called, kind)

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
