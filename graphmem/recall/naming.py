"""Owns which nodes a question names by itself: paths, names of files, contracts, concepts.

It is not the search for pieces and walks nothing. Names are looked up as of the view's moment, and always as
values: whatever stands in a question is only ever compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from graphmem.concepts import observation_concepts
from graphmem.graph import NodeName, NodeType
from graphmem.model import Observation
from graphmem.nodes import NodeTable, number_of
from graphmem.postings import View
from graphmem.recall.contract_question import named_contracts
from graphmem.references import References

_LOOKED_AT = 2_000
_MOST_PATHS = 8
_MOST_ALIKE = 3
_PATH = re.compile(r"[^\s`\"'“”‘’「」()<>,，。;；:：?？!！|]*[./][^\s`\"'“”‘’「」()<>,，。;；:：?？!！|]+")
_HAN = re.compile(r"[\u4e00-\u9fff]+")
_NAME = re.compile(r"[\w.@+\-]+\.[A-Za-z]\w{0,9}")
_LINE = re.compile(r"(?:#L\d+.*|:\d+(?::\d+)?)$")


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names: nodes by kind, and the concepts its task is about, rows by weight."""

    files: tuple[int, ...] = ()
    contracts: tuple[int, ...] = ()
    concepts: tuple[int, ...] = ()

    @property
    def exact(self) -> tuple[int, ...]:
        """Files and contracts, which mean one thing."""
        return (*self.files, *self.contracts)


def named_in(view: View, text: str) -> Named:
    """Return the nodes that a question names and that are known at the view's moment."""
    cut = text[:_LOOKED_AT]
    references = References(view)
    spans = list(_path_spans(cut))
    files = dict.fromkeys(number for path, _ in spans for number in _files(view, path))
    contracts = named_contracts(view, cut)
    rest = cut
    for path, known in spans:
        if known or "/" in path:
            rest = rest.replace(path, " ; ")
    return Named(
        tuple(files),
        tuple(number_of(NodeTable.CONTRACT, contract.row) for contract in contracts),
        tuple(_concepts(references, rest)),
    )


def _path_spans(text: str) -> Iterator[tuple[str, bool]]:
    """Yield what looks like a path or the name of a file; Chinese words may stand right beside it."""
    found: dict[str, None] = {}
    for match in _PATH.finditer(text):
        whole = _LINE.sub("", match.group().rstrip("./"))
        for candidate in (whole, *_HAN.split(whole)):
            if len(candidate) > 2 and ("/" in candidate.strip("/") or _NAME.fullmatch(candidate)):
                found[candidate] = None
    for path in list(found)[:_MOST_PATHS]:
        yield path, _NAME.fullmatch(path) is not None


def _files(view: View, path: str) -> Iterator[int]:
    """Yield the living files of that path, else those that end in it if these are few."""
    name = path.removeprefix("./")
    file = view.file(name)
    if file is not None:
        yield number_of(NodeTable.FILE, file.id)
        return
    escaped = name.strip("/").replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = view.connection.execute(
        "SELECT DISTINCT file FROM path WHERE name LIKE ? ESCAPE '\\' LIMIT ?",
        (f"%/{escaped}", _MOST_ALIKE + 1),
    ).fetchall()
    if len(rows) <= _MOST_ALIKE:
        living = view.files(row[0] for row in rows)
        yield from (number_of(NodeTable.FILE, file.id) for file in living.values() if file.alive)


def _concepts(references: References, text: str) -> Iterator[int]:
    """Yield the concepts that the text names, as an observation of that title would be about."""
    asked = Observation(id="", session="", at=0.0, title=text)
    for name in observation_concepts(asked):
        number = references.number(NodeName(NodeType.CONCEPT, name))
        if number is not None:
            yield number
