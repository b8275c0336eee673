"""Owns how a shell's command line is cut: simple commands, their words, redirections, here-documents.

It is not what the commands do (that is `shell`). Nothing is expanded: a word that the shell would
expand says so instead. The text is walked once, so the work grows with its length only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

_PLAIN = re.compile(r"[^ \t\n'\"\\$`;&|()<>*?\[{~]+")
_QUOTED_RUN = re.compile(r"[^\"\\$`]+")
_ENDS_WORD = " \t\n;&|()<>"
_REDIRECTION = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|<\(|<|>>|>&|>\||>\(|>")
# In a `$(...)` only what closes it matters: brackets, and the quotes that hide them.
_BRACKETS = re.compile(r"\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\"|[(){}]", re.DOTALL)


class Word(NamedTuple):
    """A word without its quotes; `is_plain` is False where a variable, pattern or command stands in it."""

    text: str
    is_plain: bool


class Scope(StrEnum):
    """A subshell begins or ends."""

    OPEN = "("
    CLOSE = ")"


@dataclass(slots=True)
class Command:
    """One simple command.

    `written` are the targets of `>` and its kin, `read` those of `<`, `bodies` the texts of here-documents
    and here-strings.
    """

    words: list[Word] = field(default_factory=list)
    written: list[Word] = field(default_factory=list)
    read: list[Word] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)

    def is_empty(self) -> bool:
        """Whether nothing was read into it yet."""
        return not (self.words or self.written or self.read or self.bodies)


def commands(text: str) -> list[Command | Scope]:
    """Return the simple commands of `text` in order, with the bounds of subshells; never fails.

    Quotes and here-documents that are not closed go to the end of the text. What stands in `$(...)` and in
    backquotes is part of a word that is not plain, not commands of its own.
    """
    return _Cutter(text.replace("\r\n", "\n")).run()


class _Cutter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._command = Command()
        self._found: list[Command | Scope] = []
        self._awaited: list[tuple[str, bool, Command]] = []

    def run(self) -> list[Command | Scope]:
        text = self._text
        while self._at < len(text):
            character = text[self._at]
            if character in " \t":
                self._at += 1
            elif text.startswith("\\\n", self._at):
                self._at += 2
            elif character == "#":
                self._at = _line_end(text, self._at)
            elif character in "<>&|()" and self._is_in_test():
                self._at += 1
            elif character in "<>" or text.startswith("&>", self._at):
                self._redirection()
            elif character == "\n":
                self._at += 1
                self._end()
                self._take_bodies()
            elif character in ";&|()":
                self._operator(character)
            else:
                self._command.words.append(self._word())
        self._end()
        return self._found

    def _end(self) -> None:
        if not self._command.is_empty():
            self._found.append(self._command)
        self._command = Command()

    def _is_in_test(self) -> bool:
        """Whether `[[` is open, between which and `]]` the signs compare."""
        words = self._command.words
        return bool(words) and words[0].text == "[[" and words[-1].text != "]]"

    def _operator(self, character: str) -> None:
        if self._text.startswith("((", self._at) and not self._command.words:
            self._at = _after_bracket(self._text, self._at + 1)
            return
        self._at += 1
        self._end()
        if character in "()":
            self._found.append(Scope(character))

    def _redirection(self) -> None:
        """Read `>`, `>>`, `>|`, `&>`, `<`, `<<`, `<<<`, `<>` and the numbers and names that go with them."""
        words = self._command.words
        if words and words[-1].text.isdigit() and self._text[self._at - 1].isdigit():
            words.pop()
        found = _REDIRECTION.match(self._text, self._at)
        sign = found[0] if found else self._text[self._at]
        self._at += len(sign)
        if sign.endswith("("):
            self._at = _after_bracket(self._text, self._at - 1)
            self._command.words.append(Word(sign, False))
            return
        self._skip_blanks()
        target = self._word() if self._is_at_word() else None
        if target is None or (sign in (">&", "<&") and (target.text.isdigit() or target.text == "-")):
            return
        match sign:
            case "<<" | "<<-":
                self._awaited.append((target.text, sign == "<<-", self._command))
            case "<<<":
                self._command.bodies.append(target.text)
            case "<" | "<&":
                self._command.read.append(target)
            case _:
                self._command.written.append(target)

    def _skip_blanks(self) -> None:
        while self._text.startswith((" ", "\t"), self._at):
            self._at += 1

    def _is_at_word(self) -> bool:
        return self._at < len(self._text) and self._text[self._at] not in "\n;&|()<>"

    def _take_bodies(self) -> None:
        """Read the here-documents that the line just ended has announced."""
        for end, is_indented, command in self._awaited:
            start = self._at
            while self._at < len(self._text):
                line_start, self._at = self._at, _line_end(self._text, self._at) + 1
                line = self._text[line_start : self._at - 1]
                if (line.lstrip("\t") if is_indented else line) == end:
                    command.bodies.append(self._text[start:line_start])
                    break
            else:
                command.bodies.append(self._text[start:])
        self._awaited.clear()

    def _word(self) -> Word:
        """Read one word from where it begins; it takes at least one character."""
        text, parts, is_plain = self._text, [], True
        while self._at < len(text):
            run = _PLAIN.match(text, self._at)
            if run is not None:
                parts.append(run[0])
                self._at = run.end()
                continue
            character = text[self._at]
            if character in _ENDS_WORD:
                break
            if character == "'":
                end = _or_end(text, text.find("'", self._at + 1))
                parts.append(text[self._at + 1 : end])
                self._at = end + 1
            elif character == '"':
                is_plain &= self._double_quoted(parts)
            elif character == "\\":
                parts.append(text[self._at + 1 : self._at + 2].replace("\n", ""))
                self._at += 2
            else:
                is_plain &= character == "~" and bool(parts)
                start, self._at = self._at, _after_expansion(text, self._at)
                parts.append(text[start : self._at])
        return Word("".join(parts), is_plain or parts == ["{"])

    def _double_quoted(self, parts: list[str]) -> bool:
        """Read `"..."` into `parts`; return whether nothing in it expands."""
        text, is_plain = self._text, True
        self._at += 1
        while self._at < len(text):
            run = _QUOTED_RUN.match(text, self._at)
            if run is not None:
                parts.append(run[0])
                self._at = run.end()
                continue
            character = text[self._at]
            if character == '"':
                self._at += 1
                break
            if character == "\\":
                escaped = text[self._at + 1 : self._at + 2]
                parts.append(escaped if escaped in '$`"\\' else "" if escaped == "\n" else "\\" + escaped)
                self._at += 2
            else:
                is_plain = False
                start, self._at = self._at, _after_expansion(text, self._at)
                parts.append(text[start : self._at])
        return is_plain


def _or_end(text: str, at: int) -> int:
    return len(text) if at < 0 else at


def _line_end(text: str, at: int) -> int:
    return _or_end(text, text.find("\n", at))


def _after_expansion(text: str, at: int) -> int:
    """Return where a `$...`, a backquoted command or a pattern's sign that begins at `at` ends."""
    if text.startswith(("$(", "${"), at):
        return _after_bracket(text, at + 1)
    if text[at] == "`":
        return _or_end(text, text.find("`", at + 1)) + 1
    return at + 1


def _after_bracket(text: str, at: int) -> int:
    """Return the place after the bracket that closes the one at `at`; the end where none does."""
    opening = text[at]
    closing = ")" if opening == "(" else "}"
    depth = 0
    for found in _BRACKETS.finditer(text, at):
        if found[0] == opening:
            depth += 1
        elif found[0] == closing:
            depth -= 1
            if depth == 0:
                return found.end()
    return len(text)
