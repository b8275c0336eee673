"""Owns how a prompt or an answer is cut into sentences: what somebody said, without what they pasted.

It is not what a sentence states (that is `facts`). Code, quotations, logs, traces, tables, markup and bare
file names are left out, as nobody means them as a statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from graphmem.text import HAN

_LOOKED_AT = 65_536
_LONGEST = 500
_LONGEST_HAN = 200
_HEADING = 60
_WRAPPED = 60
_FENCE = re.compile(r"\s*(?:```|~~~)")
_BULLET = re.compile(r"\s{0,12}(?:[-*+•·]|\d{1,2}[.)、])\s{0,3}(?:\[(?P<box>[ xX])\]\s)?(?=\S)")
_BOX = re.compile(r"\s{0,12}\[(?P<box>[ xX])\]\s(?=\S)")
_PASTED = re.compile(
    r"(?: {4}|\t)|\s*(?:"
    r"[>|<}{@]|//|/\*|\*/|\$ |#!|\+\+\+|---|@@|diff --git|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d"
    r"|\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE|PASS|FAIL|FAILED|ok|not ok)\b[\]: ]"
    r"|Traceback |File \"|at [\w.$<>]+(?: ?\(|:\d)|[\w.]*(?:Error|Exception)\b:?"
    r"|(?:import|from|const|let|var|def|class|return|function|export|public|private|if|for|while)\b"
    r"[^.。]{0,80}[=({]"
    r")"
)
_CODE_END = re.compile(r"[{};]\s*$|\)\s*:\s*$|=>|\(\)")
_FILE_NAME = re.compile(r"\s*[`\"']?[\w@./\\-]*(?:[/\\][\w@./\\-]*|\.\w{1,8})[`\"']?(?::\d+){0,2}[,;]?\s*$")
_TITLE = re.compile(r"#{1,6}\s+(?P<a>.{1,60}?)[\s:：#]*$|\*\*(?P<b>[^*]{1,60}?)[:：]?\*\*[:：]?\s*$")
_END = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<=[.!?])\s+(?=\S)|(?<=[。！？；])|(?<=;)\s+(?=\S)"
)
_LOWER = re.compile(r"\s*[a-z]")
_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(rf"[{HAN}]|[A-Za-z]{{2}}")


class Sentence(NamedTuple):
    """A sentence, the heading its list item stands under, and whether its box is ticked (None: no box)."""

    text: str
    heading: str = ""
    box: bool | None = None


def sentences(text: str) -> Iterator[Sentence]:
    """Yield what is said in a text, in order; overlong sentences are left out."""
    heading = ""
    for line in _lines(text[:_LOOKED_AT]):
        if not line.strip():
            continue
        title = _TITLE.match(line)
        bullet = _BULLET.match(line) or _BOX.match(line)
        if title is not None:
            heading = title["a"] or title["b"]
            continue
        if bullet is None and line.rstrip()[-1] in ":：" and len(line) <= _HEADING:
            heading = line.strip().rstrip(":： ")
            continue
        if bullet is None:
            heading, box, rest = "", None, line
        else:
            box = None if bullet["box"] is None else bullet["box"] in "xX"
            rest = line[bullet.end() :]
        for piece in _END.split(rest.replace("**", "").strip()):
            said = piece.strip()
            longest = _LONGEST if said.isascii() or not _HAN.search(said) else _LONGEST_HAN
            if 2 < len(said) <= longest and _WORD.search(said) and not _is_pasted(said):
                yield Sentence(said, heading, box)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that are no code and no quotation, a wrapped one joined with what follows it."""
    fenced = False
    held = ""
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced or (_is_pasted(line) and not _BULLET.match(line)):
            continue
        wraps = len(held) >= _WRAPPED and held[-1] not in ".!?:;。！？：；" and _LOWER.match(line)
        if wraps and len(held) <= _LONGEST:
            held = f"{held} {line.strip()}"
            continue
        if held:
            yield held
        held = line.rstrip()
        if not held:
            yield ""
    if held:
        yield held


def _is_pasted(line: str) -> bool:
    short = line[: 2 * _LONGEST]
    return bool(
        _PASTED.match(short) or _FILE_NAME.match(short) or (short.isascii() and _CODE_END.search(short))
    )
