"""Owns how people name nodes: `file:src/a.ts`, `concept:auth` or a bare path to a number, and back.

It is not the identity of paths (the caller resolves them, see `graphmem.identity`) nor the numbering
(`graphmem.nodes`). A name is looked up as of the view's moment; one that nobody knows is answered with the
nearest ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from graphmem.concepts import canonical
from graphmem.contracts import read_contracts
from graphmem.database import chunked
from graphmem.errors import InvalidInputError, NotFoundError, UnknownNameError
from graphmem.graph import Node, NodeName, NodeType
from graphmem.model import FileStatus, Observation
from graphmem.nearness import SHOWN, narrowed, nearest
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.postings import View
from graphmem.record import storable
from graphmem.spelling import composed

ResolvePath = Callable[[str], str]
Missing = Callable[[Sequence[str]], set[str]]
"""Tells which of some paths were once seen on the disk and are there no more."""

_NEAR = 12
_SHOWN_LENGTH = 120
_LIVING = "SELECT path.name AS name FROM file JOIN path ON path.id = file.path WHERE alive = 1"
_TYPES = frozenset(NodeType)


def split(reference: str) -> tuple[NodeType | None, str]:
    """Return type and name of a reference; no type for bare text, which may only name a file.

    Raises:
        InvalidInputError: nothing is named.
    """
    kind, colon, name = reference.partition(":")
    known = kind.strip().lower()
    if not colon or known not in _TYPES:
        if not reference.strip():
            raise InvalidInputError("No node was named; give a file, or such as concept:auth.", "node")
        return None, reference
    if not name.strip():
        raise InvalidInputError(f"The reference {known}: names nothing; add a name to it.", "node")
    type = NodeType(known)
    if type is NodeType.FILE:
        # A URL of a file is a path too, and only the resolver knows how to read it.
        return type, reference.strip() if name.startswith("//") else name
    return type, " ".join(storable(name).split())


def none_missing(paths: Sequence[str]) -> set[str]:
    """Miss nothing: where the disk does not count, as for a past moment."""
    del paths
    return set()


class References:
    """The names of nodes as one view of the postings knows them.

    Args:
        view: the postings, cut at the moment asked about.
        missing: files it tells of are gone too.
    """

    def __init__(self, view: View, missing: Missing = none_missing) -> None:
        self._view = view
        self._missing = missing

    # ---- from names to numbers ------------------------------------------------------------------

    def find(self, reference: str, resolve_path: ResolvePath, field: str = "node") -> int:
        """Return the node a reference means.

        Args:
            reference: typed, or bare text for the file of that path; old names follow renames.
            resolve_path: turns any spelling of a path into the project's own.
            field: what a refusal names.

        Raises:
            UnknownNameError: bare text that is no known file's path.
            InvalidInputError: nothing is named, a module, or a path outside the root.
            NotFoundError: a typed reference nobody knows.
        """
        try:
            type, _ = split(reference)
            name = self.name(reference, resolve_path)
        except InvalidInputError as fault:
            raise InvalidInputError(str(fault), field, candidates=fault.candidates) from fault
        if name.type is NodeType.MODULE:
            raise self._no_node(name, field)
        number = self.number(name)
        if number is not None:
            return number
        if type is None:
            raise self._no_file(name.name, reference, field)
        candidates = self.nearest(name)
        raise NotFoundError(
            f"Nothing is recorded of {_shown(str(name))}; {_remedy(candidates)}", candidates=candidates
        )

    def name(self, reference: str, resolve_path: ResolvePath) -> NodeName:
        """Return the name a reference means, in the form it is stored in; whether it is known is open.

        Raises:
            InvalidInputError: nothing is named, or the path lies outside the root.
        """
        type, text = split(reference)
        match type:
            case None | NodeType.FILE:
                return NodeName(NodeType.FILE, resolve_path(text))
            case NodeType.CONCEPT if self._row("concept", text) is None:
                return NodeName(type, canonical(text) or composed(text))
            case NodeType.CONTRACT if self._row("contract", text) is None:
                return NodeName(type, _contract(composed(text)))
            case NodeType.CONCEPT | NodeType.CONTRACT:
                return NodeName(type, text)
            case _:
                return NodeName(type, composed(text))

    def number(self, name: NodeName) -> int | None:
        """Return the node of that name, None for one that is not known at the view's moment."""
        table, id = NodeTable.NAMED, None
        match name.type:
            case NodeType.FILE:
                file = self._view.file(name.name)
                table, id = NodeTable.FILE, None if file is None else file.id
            case NodeType.CONCEPT:
                table, id = NodeTable.CONCEPT, self._row("concept", name.name)
            case NodeType.CONTRACT:
                table, id = NodeTable.CONTRACT, self._row("contract", name.name)
            case NodeType.FEATURE | NodeType.MODULE:
                pass
        if id is not None:
            return number_of(table, id)
        row = self._view.connection.execute(
            "SELECT id FROM named WHERE type = ? AND name = ?", (name.type, name.name)
        ).fetchone()
        return None if row is None else number_of(NodeTable.NAMED, row[0])

    def _row(self, table: str, name: str) -> int | None:
        """Return the row of a concept or contract of exactly this name, if it was in use by then."""
        row = self._view.connection.execute(f"SELECT id FROM {table} WHERE name = ?", (name,)).fetchone()
        if row is None or self._view.as_of == math.inf:
            return None if row is None else int(row[0])
        used = self._view.connection.execute(
            f"SELECT 1 FROM {table}_use JOIN observation USING (seq)"
            f" WHERE {table} = ? AND observation.at <= ? LIMIT 1",
            (row[0], self._view.as_of),
        ).fetchone()
        return None if used is None else int(row[0])

    # ---- names nobody knows ---------------------------------------------------------------------

    def nearest(self, name: NodeName) -> tuple[str, ...]:
        """Return up to three references of the name's type that lie nearest to it."""
        select, values = _names(name.type), [name.name]
        if name.type is NodeType.CONCEPT and (word := canonical(name.name)) not in ("", name.name):
            values.append(word)
        found: dict[NodeName, None] = {}
        for value in values:
            near = nearest(narrowed(self._view.connection, select, value), value, _NEAR)
            found |= dict.fromkeys(NodeName(name.type, entry) for entry in near)
        return tuple(islice((str(entry) for entry in found if self._existed(entry)), SHOWN))

    def _existed(self, name: NodeName) -> bool:
        """Return whether a present name was known at the view's moment."""
        return self._view.as_of == math.inf or self.number(name) is not None

    def _no_file(self, path: str, text: str, field: str) -> UnknownNameError:
        """Return the refusal of bare text: what else has exactly that name comes first."""
        word = " ".join(storable(text).split())
        named = (
            NodeName(NodeType.CONCEPT, canonical(word)),
            NodeName(NodeType.CONTRACT, _contract(word)),
            NodeName(NodeType.FEATURE, word),
        )
        exact = [str(name) for name in named if self.number(name) is not None]
        files = self.nearest(NodeName(NodeType.FILE, path))
        words = () if "/" in path or len(files) == SHOWN else self.nearest(NodeName(NodeType.CONCEPT, word))
        candidates = tuple(dict.fromkeys((*exact, *files, *words)))[:SHOWN]
        message = f"No recorded file has the path {_shown(path)}; {_remedy(candidates)}"
        return UnknownNameError(message, field, candidates=candidates)

    def _no_node(self, module: NodeName, field: str) -> InvalidInputError | NotFoundError:
        """Return the refusal of a module, which has members but no edges of its own."""
        rows = self._view.connection.execute(
            "SELECT DISTINCT node FROM member WHERE module = ? ORDER BY node LIMIT ?", (module.name, SHOWN)
        ).fetchall()
        if not rows:
            candidates = self.nearest(module)
            return NotFoundError(
                f"There is no module {_shown(module.name)}; {_remedy(candidates)}", candidates=candidates
            )
        members = self.nodes(row[0] for row in rows)
        candidates = tuple(node.ref for node in members.values())
        return InvalidInputError(
            f"The module {_shown(module.name)} has members, but no edges of its own; {_remedy(candidates)}",
            field,
            candidates=candidates,
        )

    # ---- from numbers to names ------------------------------------------------------------------

    def nodes(self, numbers: Iterable[int]) -> dict[int, Node]:
        """Return these nodes with their present names; those unknown at the view's moment are left out.

        A file is gone after its deletion, when it is missing on the disk, and when no observation names it
        any more.
        """
        rows: dict[NodeTable, list[int]] = {table: [] for table in NodeTable}
        for number in dict.fromkeys(numbers):
            rows[table_of(number)].append(row_of(number))
        found: dict[int, Node] = {}
        files = self._view.files(rows[NodeTable.FILE])
        lost = self._missing([file.path for file in files.values() if file.alive])
        for id, file in files.items():
            status = FileStatus.KNOWN if file.alive and file.path not in lost else FileStatus.GONE
            found[number_of(NodeTable.FILE, id)] = Node(NodeType.FILE, file.path, status)
        for id, name in self._view.concept_names(rows[NodeTable.CONCEPT]).items():
            found[number_of(NodeTable.CONCEPT, id)] = Node(NodeType.CONCEPT, name)
        for id, name in self._select("SELECT id, name FROM contract", rows[NodeTable.CONTRACT]):
            found[number_of(NodeTable.CONTRACT, id)] = Node(NodeType.CONTRACT, name)
        for id, type, name in self._select("SELECT id, type, name FROM named", rows[NodeTable.NAMED]):
            status = FileStatus.GONE if type == NodeType.FILE else FileStatus.KNOWN
            found[number_of(NodeTable.NAMED, id)] = Node(NodeType(type), name, status)
        return found

    def _select(self, query: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
        return chunked(self._view.connection, f"{query} WHERE id IN ({{}})", ids)


def _contract(text: str) -> str:
    """Return a contract's name as observations have it: `post /users/7` is `POST /users/{id}`."""
    method, _, path = text.partition(" ")
    written = f"{method.upper()} {path}" if path.startswith("/") else text
    read = read_contracts(Observation(id="", session="", at=0.0, title=written))
    return read[0].name if len(read) == 1 else written


def _names(type: NodeType) -> str:
    """Return the query for all names of a type."""
    match type:
        case NodeType.FILE:
            return _LIVING
        case NodeType.CONCEPT | NodeType.CONTRACT:
            return f"SELECT name FROM {type} UNION SELECT name FROM named WHERE type = '{type}'"
        case NodeType.FEATURE:
            return f"SELECT name FROM named WHERE type = '{type}'"
        case NodeType.MODULE:
            return "SELECT id AS name FROM module"


def _remedy(candidates: Sequence[str]) -> str:
    if not candidates:
        return "nothing recorded has a name like it; look with `graphmem search`."
    if len(candidates) == 1:
        return f"the nearest is {_shown(candidates[0])}."
    *first, last = map(_shown, candidates)
    return f"the nearest are {', '.join(first)} and {last}."


def _shown(name: str) -> str:
    return repr(name if len(name) <= _SHOWN_LENGTH else f"{name[: _SHOWN_LENGTH - 1]}…")
