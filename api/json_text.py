"""Owns JSON as it was written: a tolerant reading that keeps places, and edits of the text itself.

It is not a formatter and knows no client's settings: what is not edited stays byte for byte, with comments,
trailing commas, tabs and line ends. What an edit adds follows the indentation it finds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

MARK = "\ufeff"
_DEEPEST = 200
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*+", re.DOTALL)
_BLANKS = " \t\r\n"
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_SAME_LINE_REMARK = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")


class BrokenJsonError(ValueError):
    """The text is not JSON, not even with comments and trailing commas; `str()` says where and why."""


@dataclass(slots=True)
class Node:
    """One value and where it stands: `start` and `end` are offsets into the text.

    A container has its `items`, for an object with their `keys` and where these begin; `commas` are the
    places of the commas after the items, one less than items unless the last is a trailing one.
    """

    start: int
    end: int
    value: Any = None
    is_object: bool = False
    is_array: bool = False
    items: list[Node] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    commas: list[int] = field(default_factory=list)

    def member(self, key: str) -> Node | None:
        """Return the value of `key`; of several the last one, as every reader of JSON does."""
        found = [item for name, item in zip(self.keys, self.items, strict=False) if name == key]
        return found[-1] if found else None

    def plain(self) -> Any:
        """Return the value as plain data."""
        if self.is_object:
            return {key: item.plain() for key, item in zip(self.keys, self.items, strict=True)}
        return [item.plain() for item in self.items] if self.is_array else self.value


@dataclass(frozen=True, slots=True)
class Edit:
    """Put `text` in the place of what stands from `start` to `end`."""

    start: int
    end: int
    text: str


def read(text: str) -> Node:
    """Return the one value of the text.

    Raises:
        BrokenJsonError: there is none, there are more, or something that is no JSON.
    """
    reader = _Reader(text)
    at = _skip(text, 1 if text.startswith(MARK) else 0)
    root = reader.value(at, 0)
    end = _skip(text, root.end)
    if end != len(text):
        raise reader.fault(end, "something follows the end")
    return root


def _skip(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def fault(self, at: int, reason: str) -> BrokenJsonError:
        line = self._text.count("\n", 0, at) + 1
        return BrokenJsonError(f"line {line}, column {at - self._text.rfind(chr(10), 0, at)}: {reason}")

    def value(self, at: int, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self.fault(at, "it is nested too deeply")
        match self._text[at : at + 1]:
            case "{" | "[":
                return self._container(at, depth)
            case '"':
                end, value = self._string(at)
                return Node(at, end, value)
        found = _SCALAR.match(self._text, at)
        if found is None:
            raise self.fault(at, "a value is missing" if at >= len(self._text) else "this is no value")
        try:
            return Node(at, found.end(), json.loads(found[0]))
        except ValueError as error:
            raise self.fault(at, "the number is too long") from error

    def _string(self, at: int) -> tuple[int, str]:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self.fault(at, "a text in double quotes is expected")
        try:
            return found.end(), str(json.loads(found[0]))
        except ValueError as error:
            raise self.fault(at, "the text holds a wrong escape") from error

    def _container(self, at: int, depth: int) -> Node:
        text = self._text
        is_object = text[at] == "{"
        node = Node(at, at, is_object=is_object, is_array=not is_object)
        closing = "}" if is_object else "]"
        place = _skip(text, at + 1)
        while text[place : place + 1] != closing:
            node.starts.append(place)
            if is_object:
                place, key = self._string(place)
                node.keys.append(key)
                place = _skip(text, place)
                if text[place : place + 1] != ":":
                    raise self.fault(place, "a colon is missing")
                place = _skip(text, place + 1)
            node.items.append(self.value(place, depth + 1))
            place = _skip(text, node.items[-1].end)
            if text[place : place + 1] == ",":
                node.commas.append(place)
                place = _skip(text, place + 1)
            elif text[place : place + 1] != closing:
                raise self.fault(place, f"a comma or {closing} is missing")
        node.end = place + 1
        return node


# ---- the manner of a text ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Manner:
    """How a text is laid out: its line end, one step of indentation, and whether it is all on one line."""

    line_end: str
    step: str
    is_compact: bool


def manner(text: str) -> Manner:
    """Return how `text` is laid out; a text that does not tell is laid out by two blanks."""
    first = text.find("\n")
    line_end = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
    indented = re.search(r"\n([ \t]+)[\"\]}{\[]", text)
    is_compact = "\n" not in text.strip(MARK + _BLANKS) and bool(re.search(r'[{\[]\s*["{\[\d]', text))
    return Manner(line_end, indented[1] if indented else "  ", is_compact)


def written(value: object, how: Manner, indent: str = "") -> str:
    """Return `value` as JSON text; its further lines begin with `indent`."""
    if how.is_compact:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=how.step).split("\n")
    return (how.line_end + indent).join(lines)


# ---- edits -------------------------------------------------------------------------------------------


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits carried out; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def replacing(text: str, node: Node, value: object, how: Manner) -> Edit:
    """Return the edit that puts `value` in the place of `node`."""
    return Edit(node.start, node.end, written(value, how, _indent(text, node.start)))


def appending(text: str, container: Node, values: Sequence[tuple[str, object]], how: Manner) -> list[Edit]:
    """Return the edits that put values behind the last one; for an array their keys are not looked at."""
    if not values:
        return []
    outer = _indent(text, container.start)
    inner = outer + how.step
    if container.items:
        first = container.starts[0]
        own_line = text[:first].rstrip(" \t").endswith("\n")
        inner = _indent(text, first) if own_line else inner
    lead = "" if how.is_compact else how.line_end + inner
    parts = [lead + _entry(container, key, value, how, inner) for key, value in values]
    joint = ", " if how.is_compact else ","
    if not container.items:
        place, has_break = _before_closing(text, container)
        tail = "" if how.is_compact or has_break else how.line_end + outer
        return [Edit(place, place, joint.join(parts) + tail)]
    last = container.items[-1].end
    if len(container.commas) == len(container.items):
        place = _after_remark(text, container.commas[-1] + 1)
        return [Edit(place, place, joint.join(parts) + ",")]
    place = _after_remark(text, last)
    if place == last:
        return [Edit(place, place, joint + joint.join(parts))]
    return [Edit(last, last, ","), Edit(place, place, joint.join(parts))]


def removing(text: str, container: Node, indices: Collection[int]) -> list[Edit]:
    """Return the edits that take items out, with the commas and blanks that belonged to them."""
    if not indices:
        return []
    kept = [index for index in range(len(container.items)) if index not in indices]
    inside = text[container.start + 1 : container.end - 1]
    if not kept and not _has_remarks(text, container):
        return [Edit(container.start + 1, container.start + 1 + len(inside), "")]
    edits = []
    last_kept = kept[-1] if kept else len(container.items)
    has_trailing = len(container.commas) == len(container.items)
    for index in sorted(indices):
        edits.append(Edit(_line_before(text, container.starts[index]), container.items[index].end, ""))
        comma = index - 1 if index > last_kept and not has_trailing else index
        if comma < len(container.commas):
            edits.append(Edit(container.commas[comma], container.commas[comma] + 1, ""))
    return edits


def _entry(container: Node, key: str, value: object, how: Manner, indent: str) -> str:
    whole = written(value, how, indent)
    return f"{json.dumps(key, ensure_ascii=False)}: {whole}" if container.is_object else whole


def _indent(text: str, at: int) -> str:
    """Return the blanks that the line of this place begins with."""
    begin = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, begin)
    return found[0] if found else ""


def _line_before(text: str, at: int) -> int:
    """Return the place of the blanks before `at`, with the one line end before them."""
    while text[at - 1] in " \t":
        at -= 1
    if text[at - 1] == "\n":
        at -= 2 if text[at - 2] == "\r" else 1
    return at


def _after_remark(text: str, at: int) -> int:
    """Return the place behind a remark that stands on the same line as what it is about."""
    found = _SAME_LINE_REMARK.match(text, at)
    return found.end() if found else at


def _before_closing(text: str, container: Node) -> tuple[int, bool]:
    """Return where to write into an empty container, and whether the line is broken before its end."""
    inside = text[container.start + 1 : container.end - 1]
    place = container.start + 1 + len(inside.rstrip(_BLANKS))
    return place, "\n" in text[place : container.end - 1]


def _has_remarks(text: str, container: Node) -> bool:
    """Whether a comment stands between the items, which taking all of them out would lose."""
    gaps = []
    place = container.start + 1
    for start, item in zip(container.starts, container.items, strict=True):
        gaps.append(text[place:start])
        place = item.end
    gaps.append(text[place : container.end - 1])
    return any(gap.strip(_BLANKS + ",") for gap in gaps)
