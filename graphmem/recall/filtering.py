"""Owns what a question's filters mean in `derived.db`: which observations, and which kinds of their pieces.

It is not a search: it says what may be found, by words, by vectors or by the graph alike.
"""

from __future__ import annotations

from graphmem.concepts import canonical
from graphmem.postings import View
from graphmem.question import Filters, PieceKind
from graphmem.record import storable

OBSERVATION = "observation"
_LAST_MOMENT = 1e15
_KINDS = frozenset(PieceKind)


def conditions(view: View, where: Filters) -> tuple[list[str], list[object]]:
    """Return conditions on the table `observation` and their values; none where everything is allowed.

    The view's moment is one of them, `kinds` is not (see `piece_kinds`). `where.file` follows renames.
    """
    found: list[str] = []
    values: list[object] = []
    if view.as_of < _LAST_MOMENT:
        found.append("observation.at <= ?")
        values.append(view.as_of)
    for column, value in (("at >= ?", where.since), ("at < ?", where.until), ("source = ?", where.source)):
        if value is not None:
            found.append(f"observation.{column}")
            values.append(storable(value) if isinstance(value, str) else value)
    if where.types:
        found.append(f"observation.type IN ({','.join('?' * len(where.types))})")
        values += [storable(type) for type in where.types]
    if where.session is not None:
        found.append("observation.session = (SELECT id FROM session WHERE name = ?)")
        values.append(storable(where.session))
    if where.file is not None:
        file = view.file(where.file)
        found.append("observation.seq IN (SELECT seq FROM touch WHERE file = ?)")
        values.append(-1 if file is None else file.id)
    if where.concept is not None:
        found.append(
            "observation.seq IN (SELECT seq FROM concept_use JOIN concept ON concept.id = concept"
            " WHERE name IN (?, ?))"
        )
        concept = storable(where.concept)
        values += [concept, canonical(concept)]
    return found, values


def piece_kinds(where: Filters) -> frozenset[PieceKind]:
    """Return the kinds of pieces that are allowed: all without `kinds`, none where it names only nodes."""
    if not where.kinds or OBSERVATION in where.kinds:
        return _KINDS
    return frozenset(kind for kind in PieceKind if kind.value in where.kinds)


def allowed(view: View, where: Filters) -> frozenset[int] | None:
    """Return the numbers of the observations that pass, or None where all do."""
    found, values = conditions(view, where)
    if not found:
        return None
    rows = view.connection.execute(f"SELECT seq FROM observation WHERE {' AND '.join(found)}", values)
    return frozenset(seq for (seq,) in rows)
