"""Owns filling graph files in bulk: columns of Arrow, copied table by table.

It is not a small change (that is `kuzu_changes`): what is copied must not be there yet.
"""

from __future__ import annotations

# The engine looks for Arrow by way of `importlib.util`, which it does not import itself.
import importlib.util  # noqa: F401
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from graphmem.graph import EdgeStatus, NodeType
from graphmem.store import kuzu_schema as cypher
from graphmem.store.arcs import arcs_of
from graphmem.store.bounds import stranger
from graphmem.store.kuzu_changes import key_of, plain, put_mark
from graphmem.store.kuzu_engine import Speaker
from graphmem.store.port import (
    OPEN_STATUSES,
    GraphContent,
    GraphEdge,
    GraphModule,
    GraphNode,
    GraphObservation,
    Mark,
)

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

_ROWS = 50_000
_TYPES = tuple(NodeType(type) for type in cypher.LABELS)
_LABELS = tuple(cypher.LABELS.values())
_Item = TypeVar("_Item")


def fill(speaker: Speaker, content: GraphContent, mark: Mark) -> None:
    """Copy everything into an empty file; the mark comes last.

    Raises:
        GraphFault: an edge or an observation names a node that is not among the nodes.
    """
    kinds = _copy_nodes(speaker, content.nodes)
    _copy_edges(speaker, content.edges, kinds)
    _copy_observations(speaker, content.observations, kinds)
    copy_modules(speaker, content.modules)
    members = [(node, module.id, module.level) for module in content.modules for node in module.members]
    copy_members(speaker, members, {node: _LABELS[kind] for node, kind in kinds.items()})
    put_mark(speaker, mark)


def copy_modules(speaker: Speaker, modules: Sequence[GraphModule]) -> None:
    """Copy modules without their members."""
    rows = [(module.id, plain(module.label), module.level, plain(module.parent or "")) for module in modules]
    _copy(speaker, "COPY Module FROM $rows", rows)


def copy_members(speaker: Speaker, members: Iterable[tuple[int, str, int]], labels: dict[int, str]) -> None:
    """Copy memberships (node, module, level); nodes that are not there are left out."""
    by_label: dict[str, list[tuple[object, ...]]] = {}
    for node, module, level in dict.fromkeys(members):
        if node in labels:
            by_label.setdefault(labels[node], []).append((node, module, node, module, level))
    for label, rows in by_label.items():
        _copy(speaker, f"COPY MEMBER_OF FROM $rows (from='{label}', to='Module')", rows)


def _copy_nodes(speaker: Speaker, nodes: Iterable[GraphNode]) -> dict[int, int]:
    """Copy the nodes and return each one's place in `_LABELS`."""
    by_type: dict[NodeType, dict[int, GraphNode]] = {type: {} for type in _TYPES}
    for node in nodes:
        by_type[node.type][node.number] = node
    kinds: dict[int, int] = {}
    for kind, type in enumerate(_TYPES):
        found = by_type[type]
        rows = [(node.number, plain(node.name), node.alive) for node in found.values()]
        _copy(speaker, f"COPY {_LABELS[kind]} FROM $rows", rows)
        kinds |= dict.fromkeys(found, kind)
    return kinds


def _copy_edges(speaker: Speaker, edges: Iterable[GraphEdge], kinds: dict[int, int]) -> None:
    tables: dict[int, list[pa.Table]] = {}
    arcs: dict[int, list[tuple[object, ...]]] = {}
    for some in _batches(edges):
        for code, table in _edge_tables(some, kinds):
            tables.setdefault(code, []).append(table)
        for edge in some:
            if edge.relation is None or edge.status is not EdgeStatus.CONFIRMED:
                continue
            for one, other, id in arcs_of(edge):
                row = (one, other, id, one, other, str(edge.relation))
                arcs.setdefault(kinds[one] * len(_LABELS) + kinds[other], []).append(row)
    for code in sorted(tables):
        _copy_between(speaker, "EDGE", code, _joined(tables.pop(code)))
    for code in sorted(arcs):
        _copy_between(speaker, "DEPENDS", code, _table(arcs[code]))


def _edge_tables(edges: Sequence[GraphEdge], kinds: dict[int, int]) -> Iterator[tuple[int, pa.Table]]:
    """Yield the rows of edges between nodes of the same two labels as one table each."""
    import pyarrow as pa
    import pyarrow.compute as compute  # type: ignore[import-untyped]

    ids, source, target, kind, status, probability, relation, direction = zip(*edges, strict=True)
    try:
        codes = [kinds[one] * len(_LABELS) + kinds[other] for one, other in zip(source, target, strict=True)]
    except KeyError as fault:
        node = fault.args[0]
        edge = next(edge for edge in edges if node in (edge.source, edge.target))
        raise stranger(f"Edge {edge.id}", node) from None
    one, other, state = pa.array(source, pa.int64()), pa.array(target, pa.int64()), pa.array(status)
    opened = compute.and_(
        compute.is_in(state, pa.array([str(status) for status in OPEN_STATUSES])),
        compute.not_equal(one, other),
    )
    columns = [
        *(one, other, pa.array(ids), pa.array([key_of(id) for id in ids], pa.int64()), one, other, opened),
        *(pa.array(kind), state, pa.array(probability, pa.float64())),
        *(pa.array([value or "" for value in values]) for values in (relation, direction)),
    ]
    table = pa.table(columns, names=[f"column_{number}" for number in range(len(columns))])
    place = pa.array(codes, pa.int8())
    for code in sorted(set(codes)):
        yield code, table.filter(compute.equal(place, pa.scalar(code, pa.int8())))


def _copy_observations(
    speaker: Speaker, observations: Iterable[GraphObservation], kinds: dict[int, int]
) -> None:
    sessions: dict[str, None] = {}
    seen: dict[tuple[str, int], list[tuple[object, ...]]] = {}
    within: list[tuple[object, ...]] = []
    for some in _batches(observations):
        told = [(item.number, float(item.at), plain(item.title)) for item in some]
        _copy(speaker, "COPY Observation FROM $rows", told)
        for item in some:
            sessions.setdefault(plain(item.session))
            within.append((item.number, plain(item.session)))
            for table, nodes in (("TOUCHED", item.touched), ("MENTIONS", item.mentioned)):
                for node in dict.fromkeys(nodes):
                    if node not in kinds:
                        raise stranger(f"Observation {item.number}", node)
                    row = (item.number, node, item.number, float(item.at), node)
                    seen.setdefault((table, kinds[node]), []).append(row)
    _copy(speaker, "COPY Session FROM $rows", [(session,) for session in sessions])
    _copy(speaker, "COPY IN_SESSION FROM $rows", within)
    for (table, kind), rows in seen.items():
        _copy(speaker, f"COPY {table} FROM $rows (from='Observation', to='{_LABELS[kind]}')", rows)


def _copy_between(speaker: Speaker, table: str, code: int, rows: pa.Table) -> None:
    one, other = (_LABELS[kind] for kind in divmod(code, len(_LABELS)))
    speaker.copy(f"COPY {table} FROM $rows (from='{one}', to='{other}')", rows)


def _copy(speaker: Speaker, statement: str, rows: Sequence[Sequence[object]]) -> None:
    if rows:
        speaker.copy(statement, _table(rows))


def _table(rows: Sequence[Sequence[object]]) -> pa.Table:
    import pyarrow as pa

    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    return pa.table(columns, names=[f"column_{number}" for number in range(len(columns))])


def _joined(tables: list[pa.Table]) -> pa.Table:
    import pyarrow as pa

    return pa.concat_tables(tables)


def _batches(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    walk = iter(items)
    while some := list(islice(walk, _ROWS)):
        yield some
