"""Owns reading the imports of a Python source: statements anywhere in it, and imports of literals by call.

It is not which file a module is (`python_modules`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import tree_sitter_python

from graphmem.imports.reference import Reference, Written
from graphmem.imports.syntax import Node, Syntax, text

_QUERY = """
(import_statement name: (dotted_name) @module)
(import_statement name: (aliased_import) @renamed)
(import_from_statement) @from
(attribute object: (identifier) @object)
(module (class_definition name: (identifier) @defined))
(module (function_definition name: (identifier) @defined))
(module (decorated_definition definition: (_ name: (identifier) @defined)))
(module (expression_statement (assignment left: (identifier) @defined)))
((call function: (identifier) @name arguments: (argument_list . (string) @literal))
    (#any-of? @name "import_module" "__import__"))
((call function: (attribute attribute: (identifier) @name) arguments: (argument_list . (string) @literal))
    (#eq? @name "import_module"))
"""
_TAKEN = "attribute"


class PythonReader:
    """Reads Python sources."""

    def __init__(self) -> None:
        self._syntax = Syntax(tree_sitter_python.language(), _QUERY)

    def read(self, source: bytes) -> Written:
        """Return what the source imports and defines, in no order.

        Raises:
            UnparsableError: the source is no Python.
        """
        found = self._syntax.find(source)
        modules = {name: name for node in found.get("module", ()) if (name := _dotted(node))}
        modules |= dict(_renamed(node) for node in found.get("renamed", ()))
        plain = [Reference(module) for module in modules.values()]
        used = _used(modules, found.get("object", ()))
        taken = [_taken(node) for node in found.get("from", ())]
        dynamic = [Reference(name) for node in found.get("literal", ()) if (name := _literal(node))]
        defined = frozenset(text(node) for node in found.get("defined", ()))
        return Written((*plain, *used, *taken, *dynamic), defined)


def _renamed(node: Node) -> tuple[str, str]:
    """Return the name that a module is given, and the module's own."""
    alias, name = node.child_by_field_name("alias"), node.child_by_field_name("name")
    return ("" if alias is None else text(alias)), ("" if name is None else _dotted(name))


def _used(modules: Mapping[str, str], objects: Sequence[Node]) -> list[Reference]:
    """Return what is taken from modules by a dot, such as `shop.Cart`, as if it had been imported by name."""
    names: dict[str, set[str]] = defaultdict(set)
    for node in objects:
        module = modules.get(text(node))
        attribute = None if module is None or node.parent is None else node.parent.child_by_field_name(_TAKEN)
        if module is not None and attribute is not None:
            names[module].add(text(attribute))
    return [Reference(module, 0, tuple(sorted(taken))) for module, taken in names.items()]


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
