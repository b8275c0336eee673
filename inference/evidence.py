"""Owns the small records that go into and come out of inference.

It is not storage: whoever calls inference reads these from its own postings. Files, sessions, actors and
concepts are plain integers here; times are epoch seconds. What is made by the hundred for each question is a
named tuple, which takes a fifth of the time of a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Occasion(NamedTuple):
    """One observation as inference sees it.

    `edited` are the files it changed (deletions and rename targets included), `read` those it only read,
    `size` the number of files it changed before anything was left out; `key` is the caller's own number of
    it and orders occasions of the same time.
    """

    key: int
    at: float
    session: int
    actor: int
    size: int
    edited: tuple[int, ...]
    read: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FileHistory:
    """What is known of one queried file, newest first.

    `edits` are the last occasions that changed it (100 are enough: older ones weigh under .001), `reads`
    the last occasions that read it without changing it. `followers[i]` are the occasions that came after
    `edits[i]` in the same session, or open the actor's next session within a day; `concepts` is the
    file's concept profile, concept to weight, idf-weighted. `read_followers[i]` are the later occasions of
    the same session as `reads[i]`. `path` is the file's present name, for likeness of names and folders.
    """

    file: int
    edits: tuple[Occasion, ...] = ()
    reads: tuple[Occasion, ...] = ()
    followers: tuple[tuple[Occasion, ...], ...] = ()
    concepts: Mapping[int, float] = field(default_factory=dict)
    read_followers: tuple[tuple[Occasion, ...], ...] = ()
    path: str = ""


class Standing(NamedTuple):
    """What is known of a candidate by itself.

    `path` is its present name, `touches` the sum of 2^(-age / 90 days) over the occasions that changed it.
    """

    path: str = ""
    touches: float = 0.0


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate file with its probability, the three signals' scores in 0..1, and the evidence.

    `together` of `of` are observations of the queried file in which the candidate was changed too, in
    `sessions` distinct sessions, last at `last_seen`; `keys` are up to three of them, the newest first.
    `signals` names what speaks for it: `co_changes`, `read_for`, `followed_by`, `about`; where a model ranked
    also `task` (past work told in such words), `in_hand` (of the asking actor), `named_alike`, `same_folder`,
    `near_folder` (changed along with files of that folder).
    """

    file: int
    probability: float
    file_score: float
    concept_score: float
    temporal_score: float
    together: int
    of: int
    sessions: int
    last_seen: float | None
    keys: tuple[int, ...]
    signals: tuple[str, ...] = ()
