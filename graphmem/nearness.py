"""Owns which of many known names lie nearest to one that nobody knows: a typing error, a moved file.

It is not search by words (that is `graphmem.recall.lexical`) nor the meaning of a reference (that is
`graphmem.references`). Names are paths, concepts, contracts or ids; what comes last in them counts most.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from difflib import SequenceMatcher

SHOWN = 3
_LOOKED_AT = 200
_MOST_PIECES = 8
_LONGEST = 160
_LONG_WORD = 8
_ENDING = 0.1
_LEAST = 0.6
_SAME_STEM = 0.95
_PREFIX = 0.8
_INSIDE = 0.75
_FINER = 0.1
_FOLDERS_COUNT = 0.3


def nearest(names: Iterable[str], wanted: str, at_most: int = SHOWN) -> list[str]:
    """Return the names nearest to `wanted`, the nearest first; none when all are far from it."""
    scored = ((closeness(wanted, name), name) for name in names)
    near = sorted((-score, len(name), name) for score, name in scored if score >= _LEAST)
    return [name for _, _, name in near[:at_most]]


def closeness(wanted: str, name: str) -> float:
    """Return how near a name is to the wanted one, 0 for far; the last segment decides, then the folders."""
    folders, _, last = wanted.casefold().rpartition("/")
    other_folders, _, other_last = name.casefold().rpartition("/")
    if f"/{last}/" in f"/{other_folders}/" and not other_last.startswith(last):
        tail = _INSIDE
    else:
        tail = _likeness(last, other_last)
    if tail < _LEAST or not folders:
        return tail if tail >= _LEAST else 0.0
    return tail + _FOLDERS_COUNT * _ratio(folders, other_folders)


def narrowed(connection: sqlite3.Connection, select: str, wanted: str) -> list[str]:
    """Return some of the names worth a closer look, those that share most pieces with `wanted` first.

    Args:
        connection: of the file to ask.
        select: gives one column `name`.
        wanted: the name nobody knows.
    """
    folders, _, last = wanted.rpartition("/")
    tail = [f"(name LIKE ? ESCAPE '\\') * {weight}" for weight in (2, 1)]
    pieces = [(tail[0], piece) for piece in _pieces(_stem(last) or last)]
    pieces += [(tail[1], piece) for piece in _pieces(folders.rpartition("/")[2] or folders)]
    if not pieces:
        return []
    shared = " + ".join(term for term, _ in pieces)
    rows = connection.execute(
        f"SELECT name, {shared} AS shared FROM ({select}) WHERE shared > 0"
        " ORDER BY shared DESC, LENGTH(name), name LIMIT ?",
        (*(f"%{_escaped(piece)}%" for _, piece in pieces), _LOOKED_AT),
    )
    return [row[0] for row in rows]


def _likeness(wanted: str, name: str) -> float:
    stem, other = _stem(wanted), _stem(name)
    if wanted == name:
        return 1.0
    if stem and stem == other:
        return _SAME_STEM
    written = _written_alike(wanted, name)
    if len(stem) >= 2 and (other.startswith(stem) or (len(other) >= 3 and stem.startswith(other))):
        return max(_PREFIX + _FINER * written, written)
    if len(stem) >= 2 and stem in other:
        return max(_INSIDE, written)
    return written


def _written_alike(wanted: str, name: str) -> float:
    """Return how alike two names are written; a common ending such as `.ts` alone makes nothing alike."""
    stem, other = _stem(wanted), _stem(name)
    if not (stem.isascii() and other.isascii()) or stem == wanted or other == name:
        return _ratio(wanted, name)
    endings = wanted[len(stem) :] == name[len(other) :]
    return (1.0 - _ENDING) * _ratio(stem, other) + _ENDING * endings


def _ratio(one: str, other: str) -> float:
    """Return the share of characters that two texts have in common, in order; of long ones the ends."""
    return SequenceMatcher(None, one[-_LONGEST:], other[-_LONGEST:], autojunk=False).ratio()


def _stem(name: str) -> str:
    """Return a file name up to its first dot, a leading one aside."""
    return name.lstrip(".").partition(".")[0]


def _pieces(text: str) -> list[str]:
    """Return overlapping pieces of a text, few enough to ask for: pairs, in longer words triples."""
    text = text[-_LONGEST:]
    width = 3 if text.isascii() and len(text) >= _LONG_WORD else 2
    pieces = [text[at : at + width] for at in range(max(len(text) - width + 1, min(1, len(text))))]
    step = -(-len(pieces) // _MOST_PIECES) or 1
    return list(dict.fromkeys(pieces[::step]))


def _escaped(piece: str) -> str:
    return piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
