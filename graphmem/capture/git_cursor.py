"""Owns what a git import remembers between batches and runs: the commits it has, sittings, repeated changes.

It is not the journal, which stores the cursor as the opaque text that `GitCursor.text` gives.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from graphmem.instant import HOUR

VERSION = 1
SITTING_GAP = 2 * HOUR
_TIPS = 200
_AUTHORS_KEPT = 200
_AUTHORS_HELD = 4_096
_SITTINGS_HELD = 4
_COMMITS_HELD = 4_096
_REPEATS_HELD = 32


def digest(*parts: bytes, size: int = 16) -> str:
    """Return a hash of the parts as `2 * size` hexadecimal digits; only the last may hold NUL bytes."""
    return hashlib.blake2b(b"\0".join(parts), digest_size=size).hexdigest()


@lru_cache(maxsize=4_096)
def _author_key(author: str) -> str:
    return digest(author.encode("utf-8", "replace"), size=6)


class Sittings:
    """Each author's work cut into sittings: commits at most two hours apart belong together.

    A sitting's name is made of the author and its first commit's time, so a repeated import names it alike.
    Only the last authors and their last sittings are held.
    """

    def __init__(self, stored: Iterable[tuple[str, float, float, str]] = ()) -> None:
        self._held: OrderedDict[str, list[tuple[float, float, str]]] = OrderedDict()
        for author, start, end, name in stored:
            self._held.setdefault(author, []).append((start, end, name))

    def name(self, author: str, at: float) -> str:
        """Return the name of the sitting in which the author made a commit at `at`."""
        key = _author_key(author)
        sittings = self._held.setdefault(key, [])
        self._held.move_to_end(key)
        if len(self._held) > _AUTHORS_HELD:
            self._held.popitem(last=False)
        for index, (start, end, name) in enumerate(sittings):
            if start - SITTING_GAP <= at <= end + SITTING_GAP:
                del sittings[index]
                sittings.append((min(start, at), max(end, at), name))
                return name
        name = f"git:{key}:{int(at)}"
        sittings.append((at, at, name))
        del sittings[:-_SITTINGS_HELD]
        return name

    def stored(self) -> list[tuple[str, float, float, str]]:
        """Return the last sitting of the authors seen last."""
        kept = list(self._held.items())[-_AUTHORS_KEPT:]
        return [(author, *sittings[-1]) for author, sittings in kept]


Repeats = dict[str, int]


class ChangeNumbers:
    """Tells a change that was made again from a change that merely appears again.

    The same author, time, message and paths on another branch are a cherry-pick or a rebase: one change.
    On top of itself, in an unbroken run of commits of the same author and second, it is another one (a
    script that commits in a loop), and gets a number.
    """

    def __init__(self, stored: dict[str, tuple[str, Repeats]] | None = None) -> None:
        self._runs: OrderedDict[str, tuple[str, Repeats]] = OrderedDict(stored or {})

    def number(self, sha: str, parents: tuple[str, ...], run: str, change: str) -> int:
        """Return how often `change` was made before within the run of commits that `sha` continues."""
        before = self._runs.get(parents[0]) if parents else None
        repeats = before[1] if before is not None and before[0] == run else {}
        number = repeats.get(change, -1) + 1
        kept = [item for item in repeats.items() if item[0] != change][1 - _REPEATS_HELD :]
        self._hold(sha, (run, dict([*kept, (change, number)])))
        return number

    def pass_on(self, sha: str, parents: tuple[str, ...]) -> None:
        """Let a merge continue the run of its first parent."""
        before = self._runs.get(parents[0])
        if before is not None:
            self._hold(sha, before)

    def _hold(self, sha: str, run: tuple[str, Repeats]) -> None:
        self._runs[sha] = run
        if len(self._runs) > _COMMITS_HELD:
            self._runs.popitem(last=False)

    def stored(self, tips: Iterable[str]) -> dict[str, tuple[str, Repeats]]:
        """Return what commits on top of `tips` need."""
        return {tip: self._runs[tip] for tip in tips if tip in self._runs}


@dataclass(slots=True)
class GitCursor:
    """How far an import is: the commits nothing imported stands on (`tips`) and the state for the next ones.

    `include` and `shallow` are those of the run that wrote it: a change of either makes older commits
    readable anew.
    """

    tips: dict[str, None] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    shallow: tuple[str, ...] = ()
    sittings: Sittings = field(default_factory=Sittings)
    numbers: ChangeNumbers = field(default_factory=ChangeNumbers)

    @classmethod
    def parse(cls, text: str | None) -> GitCursor:
        """Return the cursor; a text that this version didn't write counts as the beginning."""
        try:
            data: Any = json.loads(text or "{}")
            if data.get("version") != VERSION:
                return cls()
            return cls(
                tips=dict.fromkeys(data["tips"]),
                include=tuple(data["include"]),
                shallow=tuple(data["shallow"]),
                sittings=Sittings((a, float(b), float(c), d) for a, b, c, d in data["sittings"]),
                numbers=ChangeNumbers({tip: (run, dict(seen)) for tip, (run, seen) in data["runs"].items()}),
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            return cls()

    def advance(self, sha: str, parents: Iterable[str]) -> None:
        """Note that a commit is dealt with; its parents are beneath it now."""
        for parent in parents:
            self.tips.pop(parent, None)
        self.tips[sha] = None

    def text(self) -> str:
        """Return the cursor as text; of many tips the last ones are kept, as ids catch what is read twice."""
        tips = list(self.tips)[-_TIPS:]
        return json.dumps(
            {
                "version": VERSION,
                "tips": tips,
                "include": self.include,
                "shallow": self.shallow,
                "sittings": self.sittings.stored(),
                "runs": self.numbers.stored(tips),
            },
            separators=(",", ":"),
        )
