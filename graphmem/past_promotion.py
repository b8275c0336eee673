"""Owns promotion at a past moment: the edges that a memory of only that past would have, in memory.

It is not the run that writes (`promotion`), whose rules it shares, and writes nothing. Ids are those of now;
a pair that has none gets the one it would be minted under.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphmem.database import chunked
from graphmem.edge_facts import EdgeFacts, ListedOffers
from graphmem.edge_rows import EdgeRow, MintedPair, edge_rows
from graphmem.graph_content import graph_edge, graph_nodes
from graphmem.ledger import edge_id
from graphmem.minting import mint_request
from graphmem.offering import Offering
from graphmem.postings import View
from graphmem.store.port import GraphContent
from graphmem.verdicts import Standing


@dataclass(frozen=True, slots=True)
class PastGraph:
    """The edges of a past moment.

    `rows` are in order of ids, `former` names for other ids of a pair the id its row has. `content` is for a
    store that answers walks: edges and their ends, no observations, no modules.
    """

    rows: tuple[EdgeRow, ...]
    former: Mapping[str, str]
    content: GraphContent


def promoted_at(
    view: View, standings: Mapping[str, Standing], project: str, ignore: tuple[str, ...] = ()
) -> PastGraph:
    """Promote everything the view knows.

    Args:
        view: the postings, cut at the moment asked about.
        standings: where edges stood that were judged by then.
        project: its id.
        ignore: see `graphmem.promotion.promote`.
    """
    offering = Offering(view, ignore)
    offers = [offer for node in offering.nodes() for offer in offering.of(node)]
    facts = EdgeFacts(view, ListedOffers(offers), standings)
    ends = sorted({end for offer in offers for end in (offer.source, offer.target)})
    promoted = {pair for node in ends for pair in facts.promoted(node)}
    minted = _minted(view, promoted, standings)
    known = {edge.pair for edge in minted}
    for pair in sorted(promoted - known):
        source, target = facts.orientation(pair)
        id = edge_id(project, mint_request(view.connection, source, target))
        minted.append(MintedPair(id, source, target, len(minted)))
    found = edge_rows(minted, facts)
    rows = tuple(row for _, row in sorted(found.items()) if row is not None)
    edges = [graph_edge(row) for row in rows]
    nodes = graph_nodes(view.connection, {end for row in rows for end in (row.source, row.target)})
    return PastGraph(rows, _former(minted, rows), GraphContent(nodes=nodes, edges=edges))


def _minted(
    view: View, pairs: Iterable[tuple[int, int]], standings: Mapping[str, Standing]
) -> list[MintedPair]:
    """Return the minted edges that may have a row: of these pairs, and those that were judged."""
    query = "SELECT id, source, target, number FROM minted"
    wanted = set(pairs)
    judged = chunked(view.connection, f"{query} WHERE id IN ({{}})", standings)
    wanted.update(MintedPair._make(row).pair for row in judged)
    edges = map(MintedPair._make, view.connection.execute(f"{query} ORDER BY number"))
    return [edge for edge in edges if edge.pair in wanted]


def _former(minted: Iterable[MintedPair], rows: Iterable[EdgeRow]) -> dict[str, str]:
    speaking = {(min(row.source, row.target), max(row.source, row.target)): row.id for row in rows}
    return {
        edge.id: speaking[edge.pair]
        for edge in minted
        if edge.pair in speaking and speaking[edge.pair] != edge.id
    }
