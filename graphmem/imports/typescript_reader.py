"""Owns reading the imports of a TypeScript source, type-only ones included; one form with JSX, one without.

It is not which file a specifier means (`script_modules`).
"""

from __future__ import annotations

import tree_sitter_typescript

from graphmem.imports import script_syntax
from graphmem.imports.reference import Written
from graphmem.imports.syntax import Syntax

_QUERY = f"{script_syntax.QUERY}(import_require_clause source: (string (string_fragment) @module))"


class TypeScriptReader:
    """Reads TypeScript sources; `jsx` tells those with JSX, whose grammar is another."""

    def __init__(self, *, jsx: bool = False) -> None:
        grammar = tree_sitter_typescript.language_tsx if jsx else tree_sitter_typescript.language_typescript
        self._syntax = Syntax(grammar(), _QUERY)

    def read(self, source: bytes) -> Written:
        """Return what the source imports, in no order.

        Raises:
            UnparsableError: the source is no TypeScript.
        """
        return script_syntax.written(self._syntax, source)
