"""Owns what the grammars of JavaScript and TypeScript share: the patterns of their imports.

It is not a language: each reader brings its grammar, and what only it has.
"""

from __future__ import annotations

from graphmem.imports.reference import Reference, Written
from graphmem.imports.syntax import Syntax, text

QUERY = """
(import_statement source: (string (string_fragment) @module))
(export_statement source: (string (string_fragment) @module))
((call_expression function: (identifier) @name arguments: (arguments . (string (string_fragment) @module)))
    (#eq? @name "require"))
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @module)))
(call_expression function: (import)
    arguments: (arguments . (template_string . (string_fragment) @module .)))
"""


def written(syntax: Syntax, source: bytes) -> Written:
    """Return what the source imports, each specifier once.

    Raises:
        UnparsableError: the source does not follow the grammar.
    """
    nodes = syntax.find(source).get("module", ())
    return Written(tuple(Reference(specifier) for specifier in sorted({text(node) for node in nodes})))
