"""Owns reading the imports of a JavaScript source, JSX included.

It is not which file a specifier means (`script_modules`).
"""

from __future__ import annotations

import tree_sitter_javascript

from graphmem.imports import script_syntax
from graphmem.imports.reference import Written
from graphmem.imports.syntax import Syntax


class JavaScriptReader:
    """Reads JavaScript sources."""

    def __init__(self) -> None:
        self._syntax = Syntax(tree_sitter_javascript.language(), script_syntax.QUERY)

    def read(self, source: bytes) -> Written:
        """Return what the source imports, in no order.

        Raises:
            UnparsableError: the source is no JavaScript.
        """
        return script_syntax.written(self._syntax, source)
