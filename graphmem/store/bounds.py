"""Owns what every store keeps to: the bounds of a question, and the sentences that say what they left out.

It is not how a bound is enforced; that is each store's own.
"""

from __future__ import annotations

from graphmem.errors import InvalidInputError
from graphmem.store.port import MAX_DEPTH, GraphFault

LONGEST_CYCLE = 8


def checked_depth(depth: int) -> int:
    """Return the depth of a walk.

    Raises:
        InvalidInputError: it is not 1 to 3.
    """
    if 1 <= depth <= MAX_DEPTH:
        return depth
    raise InvalidInputError(f"A depth of {depth} can't be walked; give 1 to {MAX_DEPTH}.", "depth")


def took_longer(milliseconds: int) -> str:
    """Say that a question met its time limit."""
    return f"took longer than {milliseconds} ms"


def more_nodes(limit: int) -> str:
    """Say that a walk reached more than it returns."""
    return f"more than {limit} nodes; ask for a smaller depth"


def more_neighbours(limit: int) -> str:
    """Say that a node has more neighbours than were returned."""
    return f"more than {limit} neighbours"


def more_cycles(at_most: int) -> str:
    """Say that there are more cycles than were returned."""
    return f"more than {at_most} cycles"


def stranger(thing: str, node: int) -> GraphFault:
    """Return the fault of a change that names a node the store does not have."""
    return GraphFault(
        f"{thing} names node {node}, which the graph does not hold; the graph must be loaded anew."
    )


def changed_type(node: int) -> GraphFault:
    """Return the fault of a change that makes a node another kind of thing."""
    return GraphFault(f"Node {node} can't become a node of another type; the graph must be loaded anew.")
