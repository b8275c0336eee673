"""Owns the block about GraphMem in a project's AGENTS.md: putting it there if asked, taking it out again.

It is not the hooks. What stands around the block stays byte for byte.
"""

from __future__ import annotations

import re

from api.json_text import manner

FILE_NAME = "AGENTS.md"
BEGIN, END = "<!-- graphmem:begin -->", "<!-- graphmem:end -->"
_BLOCK = re.compile(re.escape(BEGIN) + r".*?" + re.escape(END), re.DOTALL)
_LINES = (
    BEGIN,
    "## GraphMem",
    "This project's history is recorded. Before editing a file, ask what usually changes along with it:",
    "- `graphmem impact FILE` lists the files that change with it, with the evidence.",
    "- `graphmem depends FILE` lists what depends on it, as far as people have confirmed it.",
    "- `graphmem search WORDS` finds earlier work and decisions.",
    END,
)


class HalfBlockError(ValueError):
    """One marker of the block stands without the other; `str()` says which."""


def with_block(text: str) -> str:
    """Return the text with the present block, in the old one's place or at the end.

    Raises:
        HalfBlockError: a marker stands alone.
    """
    line_end = manner(text).line_end
    block = line_end.join(_LINES)
    if _found(text):
        return _BLOCK.sub(lambda found: block, text, count=1)
    if not text:
        return block + line_end
    # A text without a line end at its end is left without one, which tells later how it was.
    if text.endswith(line_end):
        return text + line_end + block + line_end
    return text + line_end * 2 + block


def without_block(text: str) -> str:
    """Return the text as it was before `with_block`, and with what was written around the block since.

    Raises:
        HalfBlockError: a marker stands alone.
    """
    found = _found(text)
    if found is None:
        return text
    line_end = manner(text).line_end
    before, after = text[: found.start()], text[found.end() :]
    if not before:
        return after.removeprefix(line_end)
    before = before.removesuffix(line_end)
    return before + after.removeprefix(line_end) if after else before.removesuffix(line_end)


def _found(text: str) -> re.Match[str] | None:
    found = _BLOCK.search(text)
    if found is None and (BEGIN in text or END in text):
        raise HalfBlockError(f"{BEGIN if BEGIN in text else END} stands in it without its other half")
    return found
