"""Owns the seam of languages: one reader each, chosen by a file's ending and loaded at the first such file.

It is not a grammar. Where the grammars are not installed it says so, with the remedy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from graphmem.errors import UnavailableError
from graphmem.imports.reference import Language, Written


class Reader(Protocol):
    """Reads the imports of one language's sources; not to be shared between threads."""

    def read(self, source: bytes) -> Written:
        """Return what the source (UTF-8) imports; UnparsableError for what is not of the language."""


def _python() -> Reader:
    from graphmem.imports.python_reader import PythonReader

    return PythonReader()


def _javascript() -> Reader:
    from graphmem.imports.javascript_reader import JavaScriptReader

    return JavaScriptReader()


def _typescript() -> Reader:
    from graphmem.imports.typescript_reader import TypeScriptReader

    return TypeScriptReader()


def _typescript_with_jsx() -> Reader:
    from graphmem.imports.typescript_reader import TypeScriptReader

    return TypeScriptReader(jsx=True)


_BY_ENDING: dict[str, tuple[Language, Callable[[], Reader]]] = {
    **dict.fromkeys((".py", ".pyi"), (Language.PYTHON, _python)),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), (Language.JAVASCRIPT, _javascript)),
    **dict.fromkeys((".ts", ".mts", ".cts"), (Language.TYPESCRIPT, _typescript)),
    ".tsx": (Language.TYPESCRIPT, _typescript_with_jsx),
}


def language_of(path: str) -> Language | None:
    """Return the language of the file with that path, None where it is not read."""
    found = _BY_ENDING.get(_ending(path))
    return None if found is None else found[0]


def _ending(path: str) -> str:
    _, dot, ending = path.rpartition("/")[2].rpartition(".")
    return f"{dot}{ending}".lower()


class Readers:
    """The readers of one reading, each made when it is first needed."""

    def __init__(self) -> None:
        self._made: dict[Callable[[], Reader], Reader] = {}

    def of(self, path: str) -> Reader:
        """Return the reader of a file whose language is known.

        Raises:
            UnavailableError: the parser or the language's grammar is not installed.
        """
        language, make = _BY_ENDING[_ending(path)]
        reader = self._made.get(make)
        if reader is None:
            try:
                reader = self._made[make] = make()
            except ImportError as fault:
                raise UnavailableError(
                    f"Imports of {language} can't be read, as {fault.name or 'its grammar'} is missing: "
                    "run `pip install tree-sitter tree-sitter-python tree-sitter-javascript "
                    "tree-sitter-typescript`, then try again."
                ) from fault
        return reader
