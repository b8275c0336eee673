"""Owns the words of the alert: one short note for an agent, its lines in order of weight.

It is not the decision what is worth telling (that is `alert`). What was stored is data from outside: it is
quoted so that nothing in it can end a line, imitate markup or speak in the note's own voice. Where 600 bytes
don't hold everything, what stands later gives way first, and the counts say so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from graphmem.instant import HOUR, to_iso
from graphmem.model import ActiveSession, Affected, ContractUse, Domain

MAX_BYTES = 600
NAMES = 3
"""Names in one list."""

_ESCAPED = frozenset('<>`"')
_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d")
_BLANK = re.compile(r"(?<=\s)\s|^\s|\s$|[^\S ]")
# The head, one entry of any list and the last line always fit together.
_NAME_BYTES = 160
_SUBJECT_BYTES = 100
_CONTRACT_BYTES = 80
_WORD_BYTES = 32
_SESSION = 8
_FRONT = 3 / 8
# A shell takes such a word as it stands; another is put between single quotes.
_PLAIN_WORD = re.compile(r"[\w./@%+:,\-]+")


def quoted(name: str, most: int = _NAME_BYTES) -> str:
    """Return stored text as one harmless word: odd characters escaped, cut in the middle to `most` bytes."""
    blanks = {found.start() for found in _BLANK.finditer(name)}
    pieces = [
        f"\\u{ord(char):04x}" if place in blanks or _is_odd(char) else char for place, char in enumerate(name)
    ]
    if len("".join(pieces).encode()) > most:
        front = _within(pieces, int(most * _FRONT))
        back = _within(pieces[::-1], most - int(most * _FRONT) - len("…".encode()))[::-1]
        pieces = [*front, "…", *back]
    safe = "".join(pieces)
    return f'"{safe}"' if " " in safe else safe


def _is_odd(char: str) -> bool:
    return char in _ESCAPED or (unicodedata.category(char) in _CATEGORIES and char not in _JOINERS)


def _within(pieces: Sequence[str], size: int) -> list[str]:
    """Return as many of the first pieces as fit into `size` bytes."""
    ends = accumulate(len(piece.encode()) for piece in pieces)
    return [piece for piece, end in zip(pieces, ends, strict=True) if end <= size]


class Dependent(NamedTuple):
    """A file that a verdict ties to the subject, and how, such as "depends on it"."""

    entry: Affected
    words: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a note tells of its subject at `now` (epoch seconds), each list best first.

    `weaker` is how many more files are linked, but not strongly enough to name.
    """

    subject: tuple[str, ...]
    now: float
    active: tuple[ActiveSession, ...] = ()
    confirmed: tuple[Dependent, ...] = ()
    contracts: tuple[ContractUse, ...] = ()
    likely: tuple[Affected, ...] = ()
    weaker: int = 0
    domains: tuple[Domain, ...] = ()
    window_days: int = 30
    active_hours: int = 2


class Note(NamedTuple):
    """The text, at most 600 bytes, and the files it names as affected, in its order."""

    text: str
    named: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _List:
    """Entries under a label, those that are shown of `total`, and the file each names, if any.

    `is_flat` puts them on one line.
    """

    label: str
    entries: tuple[str, ...]
    total: int
    files: tuple[str, ...] = ()
    kind: str = ""
    weaker: int = 0
    is_flat: bool = False

    def lines(self) -> str:
        more = []
        if self.total > len(self.entries):
            more.append(f"{self.total - len(self.entries)} more{self.kind}")
        if self.weaker:
            more.append(f"{self.weaker} weak")
        head = f"{self.label} (and {', '.join(more)}):" if more else f"{self.label}:"
        return f"{head} {', '.join(self.entries)}" if self.is_flat else "\n- ".join((head, *self.entries))

    def shorter(self) -> _List:
        return replace(self, entries=self.entries[:-1], files=self.files[: len(self.entries) - 1])


def note(told: Told) -> Note:
    """Return the note; whoever calls has found something worth telling."""
    lists = [found for found in _lists(told) if found.total]
    unsaid = 0
    while len(_text(told, lists, unsaid).encode()) > MAX_BYTES and lists:
        last = lists.pop().shorter()
        if last.entries:
            lists.append(last)
        else:
            unsaid += last.total
    files = tuple(file for found in lists for file in found.files)
    return Note(_text(told, lists, unsaid), files)


def _text(told: Told, lists: Sequence[_List], unsaid: int) -> str:
    subject = told.subject
    head = quoted(subject[0], _SUBJECT_BYTES) if len(subject) == 1 else f"these {len(subject)} files"
    more = f"And {unsaid} more" if unsaid else "More"
    lines = [f"{head}, from recorded history:", *(found.lines() for found in lists)]
    return "\n".join([*lines, f"{more}: graphmem impact {_argument(subject)}"])


def _argument(subject: Sequence[str]) -> str:
    """Return the subject as a shell takes it, or a placeholder for what can't be shown whole."""
    if len(subject) > 1:
        return "PATH..."
    name = subject[0]
    if name.startswith("-") or len(name.encode()) > _CONTRACT_BYTES:
        return "PATH"
    if _PLAIN_WORD.fullmatch(name):
        return name
    odd = "'" in name or any(map(_is_odd, name)) or _BLANK.search(name) is not None
    return "PATH" if odd else f"'{name}'"


def _lists(told: Told) -> Iterable[_List]:
    one = len(told.subject) == 1
    yield _List(f"At work in the last {told.active_hours} hours", tuple(_active(told, one)), len(told.active))
    confirmed = told.confirmed[:NAMES]
    yield _List(
        "Confirmed",
        tuple(_dependent(entry) for entry in confirmed),
        len(told.confirmed),
        tuple(dependent.entry.path for dependent in confirmed),
    )
    yield _List("Contracts", tuple(map(_contract, told.contracts[:NAMES])), len(told.contracts))
    likely = told.likely[:NAMES]
    yield _List(
        f"Usually {'changes' if one else 'change'} along",
        tuple(f"{quoted(entry.path)} {_percent(entry.probability)}: {_evidence(entry)}" for entry in likely),
        len(told.likely),
        tuple(entry.path for entry in likely),
        " likely",
        told.weaker,
    )
    domains = (f"{quoted(domain.concept, _WORD_BYTES)} {domain.sessions}" for domain in told.domains[:NAMES])
    label = f"Sessions that touched {'it' if one else 'them'} in {told.window_days} days, by domain"
    yield _List(label, tuple(domains), len(told.domains), is_flat=True)


def _active(told: Told, one: bool) -> Iterable[str]:
    for session in told.active[:NAMES]:
        place = "this file" if one and session.path == told.subject[0] else quoted(session.path)
        short = f"session {quoted(session.session[:_SESSION], _WORD_BYTES)}"
        who = f"{quoted(session.actor, _WORD_BYTES)} ({short})" if session.actor else short
        yield f"{who} on {place}, {_age(told.now - session.at)} ago"


def _age(seconds: float) -> str:
    return f"{int(seconds // HOUR)} h" if seconds >= HOUR else f"{max(0, int(seconds // 60))} min"


def _dependent(dependent: Dependent) -> str:
    seen = f": {_evidence(dependent.entry)}" if dependent.entry.evidence.together else ""
    return f"{quoted(dependent.entry.path)} {dependent.words}{seen}"


def _contract(contract: ContractUse) -> str:
    facts = []
    if contract.superseded_by is not None:
        facts.append(f"superseded by {quoted(contract.superseded_by, _CONTRACT_BYTES)}")
    if contract.used_by:
        users = ", ".join(quoted(user, _WORD_BYTES) for user in contract.used_by[:NAMES])
        facts.append(f"used by {users}, last {_day(contract.last_seen)}")
    else:
        facts.append(f"last {_day(contract.last_seen)}")
    return f"{quoted(contract.name, _CONTRACT_BYTES)} ({'; '.join(facts)})"


def _evidence(entry: Affected) -> str:
    found = entry.evidence
    seen = f", last {_day(found.last_seen)}" if found.last_seen is not None else ""
    sessions = f"{found.sessions} session{'' if found.sessions == 1 else 's'}"
    return f"{found.together} of {found.of} times, {sessions}{seen}"


def _percent(probability: float) -> str:
    return f"{min(99, round(100 * probability))} %"


def _day(at: float) -> str:
    return to_iso(at)[:10]
