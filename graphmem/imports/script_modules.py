"""Owns which file of a project a specifier of JavaScript or TypeScript means, by names alone.

It is not the reading of the statements (`javascript_reader`, `typescript_reader`). Libraries mean no file.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator

from graphmem.imports.reference import Reference, Written
from graphmem.imports.script_configs import ScriptConfigs

_ENDINGS = (
    *("", ".ts", ".tsx", ".d.ts", ".mts", ".cts", ".d.mts", ".d.cts"),
    *(".js", ".jsx", ".mjs", ".cjs", ".json", ".vue", ".svelte"),
)
_INDEXES = tuple(f"/index{ending}" for ending in _ENDINGS[1:])
# TypeScript names the file that will be made: `./a.js` is written for `a.ts`.
_MADE_FROM = {
    ".js": (".ts", ".tsx", ".d.ts"),
    ".jsx": (".tsx",),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
}
_QUERY = re.compile(r"[?#].*", re.DOTALL)


class ScriptModules:
    """The modules among the files of one project, with what its configurations say."""

    def __init__(self, files: Collection[str], configs: ScriptConfigs) -> None:
        self._files = files
        self._configs = configs

    def learn(self, path: str, written: Written) -> None:
        """Nothing has to be known beforehand: what an index file passes on is not followed."""

    def targets(self, importer: str, reference: Reference) -> tuple[str, ...]:
        """Return the file that a specifier in `importer` means, none for a library."""
        for place in self._places(importer, reference.module):
            found = self._file(place)
            if found is not None:
                return (found,)
        return ()

    def _places(self, importer: str, specifier: str) -> Iterator[str]:
        for written in dict.fromkeys((specifier, _QUERY.sub("", specifier))):
            if written in {".", ".."} or written.startswith(("./", "../")):
                yield posixpath.normpath(posixpath.join(posixpath.dirname(importer), written))
            elif written and not written.startswith("/"):
                yield from self._configs.places(importer, written)

    def _file(self, place: str) -> str | None:
        if place in {"", "."}:
            candidates: Iterator[str] = (index[1:] for index in _INDEXES)
        else:
            candidates = self._spellings(place)
        return next((path for path in candidates if path in self._files), None)

    def _spellings(self, place: str) -> Iterator[str]:
        yield from (place + ending for ending in _ENDINGS)
        stem, ending = posixpath.splitext(place)
        yield from (stem + source for source in _MADE_FROM.get(ending, ()))
        yield from (place + index for index in _INDEXES)
