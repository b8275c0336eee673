"""Owns the parser: a grammar with a query over it, and the texts that the query finds in a source.

It is the one module that names the parsing library. It is not a language: each reader brings its grammar
and its query.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from graphmem.imports.reference import UnparsableError

__all__ = ["Node", "Syntax", "text"]


class Syntax:
    """One grammar and one query; not to be shared between threads.

    Args:
        grammar: what the grammar's package hands out.
        query: the patterns, in the library's query language.
    """

    def __init__(self, grammar: object, query: str) -> None:
        language = Language(grammar)
        self._parser = Parser(language)
        self._query = Query(language, query)

    def find(self, source: bytes) -> Mapping[str, Sequence[Node]]:
        """Return the nodes of a source by the name of their capture.

        Raises:
            UnparsableError: the source does not follow the grammar.
        """
        tree = self._parser.parse(source)
        if tree.root_node.has_error:
            raise UnparsableError("The text does not follow the grammar.")
        return QueryCursor(self._query).captures(tree.root_node)


def text(node: Node) -> str:
    """Return the text that a node covers."""
    return (node.text or b"").decode("utf-8", "replace")
