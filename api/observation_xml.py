"""Owns the reading of claude-mem's `<observation>` XML into the mapping of an observation.

It is not validation: what the elements hold is decided by `graphmem.capture.intake`. A document type is
refused before it can declare anything, so there are no entities to expand or to fetch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from api.problems import ProblemKind, RefusedError

_ROOT = "observation"
_BATCH = "observations"
_LISTS = frozenset({"facts", "concepts", "files_read", "files_modified", "files_deleted"})
_MOST_DEPTH = 6
_MOST_ELEMENTS = 100_000


@dataclass(slots=True)
class _Element:
    name: str
    text: list[str] = field(default_factory=list)
    children: list[_Element] = field(default_factory=list)

    def words(self) -> str:
        """The element's own text, and that of everything in it, without the blanks around."""
        return "".join(self.text).strip()


class _Reader:
    """Builds the small tree; whatever has no place in it is refused with its line."""

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._data
        self._open: list[_Element] = []
        self._count = 0
        self._root: _Element | None = None

    def read(self, raw: bytes) -> _Element:
        try:
            self._parser.Parse(raw, True)
        except expat.ExpatError as error:
            raise _refused(
                f"it is not well-formed at line {error.lineno}, column {error.offset + 1}"
            ) from error
        except (LookupError, ValueError) as error:
            raise _refused("its encoding is not known") from error
        if self._root is None:
            raise _refused("it is empty")
        return self._root

    def _doctype(self, *_: object) -> None:
        raise _refused("it declares a document type")

    def _start(self, name: str, _: dict[str, str]) -> None:
        if len(self._open) >= _MOST_DEPTH:
            raise _refused(f"it is nested too deeply at line {self._parser.CurrentLineNumber}")
        self._count += 1
        if self._count > _MOST_ELEMENTS:
            raise _refused(f"it has more than {_MOST_ELEMENTS:,} elements")
        element = _Element(name.rpartition(":")[2].strip().lower())
        if self._open:
            self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        element = self._open.pop()
        if self._open:
            self._open[-1].text.extend(element.text)
        else:
            self._root = element

    def _data(self, text: str) -> None:
        self._open[-1].text.append(text)


def read_observations(raw: bytes) -> tuple[list[dict[str, Any]], bool]:
    """Return the observations of an XML body, and whether it was a batch (`<observations>` around several).

    Raises:
        RefusedError: not well-formed, with a document type, nested too deeply, or of another root.
    """
    root = _Reader().read(raw)
    if root.name == _ROOT:
        return [_mapping(root)], False
    if root.name == _BATCH and all(child.name == _ROOT for child in root.children):
        return [_mapping(child) for child in root.children], True
    raise _refused(f"its root is <{root.name[:40]}>")


def _mapping(element: _Element) -> dict[str, Any]:
    found: dict[str, Any] = {"source": "claude-mem"}
    for child in element.children:
        if child.name in _LISTS:
            found.setdefault(child.name, []).extend(_items(child))
        elif words := child.words():
            found[child.name] = words
    subtitle = found.pop("subtitle", "")
    if subtitle:
        found["narrative"] = "\n".join(part for part in (subtitle, found.get("narrative", "")) if part)
    return found


def _items(element: _Element) -> list[str]:
    if element.children:
        return [words for child in element.children if (words := child.words())]
    # Without inner elements, older writers put one item on a line.
    return [line.strip() for line in element.words().splitlines() if line.strip()]


def _refused(cause: str) -> RefusedError:
    return RefusedError(
        ProblemKind.BAD_REQUEST, f"The XML can't be read because {cause}: send one plain <observation>."
    )
