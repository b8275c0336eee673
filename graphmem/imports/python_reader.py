"""Owns reading the imports of a Python source: statements anywhere in it, and dynamic imports of literals.

It is not which file a module is (`python_modules`).
"""

from __future__ import annotations

import tree_sitter_python

from graphmem.imports.reference import Reference
from graphmem.imports.syntax import Node, Syntax, text

_QUERY = """
(import_statement name: (dotted_name) @module)
(import_statement name: (aliased_import name: (dotted_name) @module))
(import_from_statement) @from
((call function: (identifier) @name arguments: (argument_list . (string) @literal))
    (#any-of? @name "import_module" "__import__"))
((call function: (attribute attribute: (identifier) @name) arguments: (argument_list . (string) @literal))
    (#eq? @name "import_module"))
"""


class PythonReader:
    """Reads Python sources."""

    def __init__(self) -> None:
        self._syntax = Syntax(tree_sitter_python.language(), _QUERY)

    def references(self, source: bytes) -> tuple[Reference, ...]:
        """Return what the source imports, in no order.

        Raises:
            UnparsableError: the source is no Python.
        """
        found = self._syntax.find(source)
        plain = [Reference(_dotted(node)) for node in found.get("module", ())]
        taken = [_taken(node) for node in found.get("from", ())]
        dynamic = [Reference(name) for node in found.get("literal", ()) if (name := _literal(node))]
        return (*plain, *taken, *dynamic)


def _taken(statement: Node) -> Reference:
    """Return the reference of a `from` statement."""
    module = statement.child_by_field_name("module_name")
    written = "" if module is None else _dotted(module)
    name = written.lstrip(".")
    names = [
        _dotted(inner if inner is not None else child)
        for child in statement.children_by_field_name("name")
        for inner in (child.child_by_field_name("name"),)
    ]
    if any(child.type == "wildcard_import" for child in statement.children):
        names.append("*")
    return Reference(name, len(written) - len(name), tuple(names))


def _dotted(node: Node) -> str:
    return "".join(text(node).split())


def _literal(node: Node) -> str:
    """Return what a plain literal says, "" for one that is put together or relative."""
    parts = [child for child in node.children if child.type not in {"string_start", "string_end"}]
    if len(parts) != 1 or parts[0].type != "string_content" or parts[0].children:
        return ""
    name = text(parts[0])
    return "" if name.startswith(".") else name
