"""Owns the numbering of nodes: one integer for a file, a concept, a contract, or a node known by name only.

It is not their names (the tables of `derived.db` hold those). The low two bits tell the table, the rest is
the row's id in it: `file`, `concept`, `contract`, or `named`, which holds features and whatever a declaration
or a verdict names but no observation does. Numbers live as long as the derived file; a rebuild gives others.
"""

from __future__ import annotations

from enum import IntEnum


class NodeTable(IntEnum):
    """Which table of `derived.db` a node is a row of."""

    FILE = 0
    CONCEPT = 1
    CONTRACT = 2
    NAMED = 3


def number_of(table: NodeTable, id: int) -> int:
    """Return the node of a row."""
    return id * 4 + table


def table_of(node: int) -> NodeTable:
    """Return the table a node is a row of."""
    return NodeTable(node & 3)


def row_of(node: int) -> int:
    """Return the id of a node's row."""
    return node >> 2
