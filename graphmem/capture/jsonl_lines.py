"""Owns the reading of a file of JSON lines in bounded memory: good records with their line, faults by line.

It is not the meaning of a record (`graphmem.capture.jsonl`).
"""

from __future__ import annotations

import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

from graphmem.errors import SourceError

MAX_LINE = 8 * 1024 * 1024
_PIECE = 1 << 16
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """One JSON object of a line; `size` is its length in bytes."""

    line: int
    value: dict[str, Any]
    size: int


@dataclass(frozen=True, slots=True)
class LineFault:
    """What is wrong with a line, as a sentence that begins with its number."""

    line: int
    sentence: str


@dataclass(frozen=True, slots=True)
class _Content:
    """A line as read: its text (not held above `MAX_LINE`), and whether NUL bytes stood before it."""

    text: bytes
    size: int
    ended: bool
    damaged: bool


class JsonLines:
    """A file of JSON lines, plain or gzip, open for one pass.

    `line` is the number of lines read so far, `total` how many there are (None for what is no plain file).
    """

    def __init__(self, path: str, stream: BinaryIO, total: int | None) -> None:
        self.path = path
        self.line = 0
        self.total = total
        self._stream = stream

    def __iter__(self) -> Iterator[JsonRecord | LineFault | None]:
        """Yield records and faults in order, None for a line with nothing in it.

        Raises:
            SourceError: the file can't be read on (a damaged gzip stream, a fault of the disk).
        """
        try:
            while (content := self._next()) is not None:
                yield from self._judge(content)
        except (OSError, EOFError, zlib.error) as fault:
            raise SourceError(
                f"{self.path} can't be read on after line {self.line:,} ({_cause(fault)}); make the file anew"
                " and import it again: the lines before are kept."
            ) from fault

    def _next(self) -> _Content | None:
        pieces: list[bytes] = []
        size = 0
        damaged = False
        read = self._stream.readline(_PIECE)
        if not read:
            return None
        self.line += 1
        while read:
            # Where a power loss left a block of NUL bytes, the line behind it is whole.
            piece = read if pieces else read.lstrip(b"\0")
            damaged = damaged or len(piece) < len(read)
            size += len(piece)
            if size > MAX_LINE:
                pieces = [b" "]
            elif piece:
                pieces.append(piece)
            if read.endswith(b"\n"):
                break
            read = self._stream.readline(_PIECE)
        return _Content(b"".join(pieces), size, ended=bool(read), damaged=damaged)

    def _judge(self, content: _Content) -> Iterator[JsonRecord | LineFault | None]:
        if content.size > MAX_LINE:
            yield self._fault(f"longer than {MAX_LINE // 1024 // 1024} MiB; split it")
            return
        text = content.text
        if self.line == 1:
            text = text.removeprefix(_BOM)
            if text.startswith(_UTF_16):
                raise SourceError(f"{self.path} is UTF-16; convert it to UTF-8 and import it again.")
        # A NUL byte can't stand inside JSON, so it parts what a damaged file has run together.
        found = [part for part in text.split(b"\0") if part.strip()]
        if not found:
            damaged = content.damaged or b"\0" in text
            yield self._fault("only NUL bytes; the file was damaged here") if damaged else None
        for part in found:
            yield self._parse(part, content.ended)

    def _parse(self, part: bytes, ended: bool) -> JsonRecord | LineFault:
        try:
            # Without its end the parser calls a cut text what it is, not a control character.
            value = json.loads(part.rstrip(b"\r\n").decode("utf-8"), parse_constant=_refuse)
        except UnicodeDecodeError as fault:
            return self._fault(f"not UTF-8 (byte {fault.start + 1}); convert it")
        except RecursionError:
            return self._fault("nested too deeply; flatten it")
        except ValueError as fault:
            if ended:
                return self._fault(f"not valid JSON ({_wrong(fault)}); correct it")
            return self._fault("cut off before its end; it is taken once it is complete")
        if not isinstance(value, dict):
            return self._fault(f"{_kind(value)} instead of a JSON object; write one object a line")
        return JsonRecord(self.line, value, len(part))

    def _fault(self, words: str) -> LineFault:
        return LineFault(self.line, f"line {self.line}: {words}")


@contextmanager
def open_lines(path: str) -> Iterator[JsonLines]:
    """Open a file of JSON lines, plain or gzip by its first bytes.

    Raises:
        SourceError: no such file, a folder, not readable.
    """
    try:
        raw = open(path, "rb")  # noqa: SIM115 (closed below; opening has a fault of its own)
    except (OSError, ValueError) as fault:
        raise SourceError(f"{path!r} can't be opened ({_cause(fault)}); check name and rights.") from fault
    with raw:
        plain = stat.S_ISREG(os.fstat(raw.fileno()).st_mode)
        packed = raw.peek(2)[:2] == _GZIP
        total = _count(raw) if plain and not packed else None
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
        yield JsonLines(path, stream, total)


def _count(raw: BinaryIO) -> int:
    count, last = 0, b"\n"
    while block := raw.read(1 << 20):
        count += block.count(b"\n")
        last = block[-1:]
    raw.seek(0)
    return count + (last != b"\n")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON value")


def _wrong(fault: ValueError) -> str:
    if isinstance(fault, json.JSONDecodeError):
        return f"{fault.msg.removesuffix(' at')} at character {fault.pos + 1}"
    return str(fault).partition(":")[0][:_SHOWN]


def _kind(value: object) -> str:
    match value:
        case list():
            return "an array"
        case str():
            return "a text"
        case bool() | None:
            return "true, false or null"
        case _:
            return "a number"


def _cause(fault: BaseException) -> str:
    return getattr(fault, "strerror", None) or str(fault) or type(fault).__name__
