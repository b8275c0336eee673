"""Owns what happened around a file lately: domains of recent work, other sessions at it, contracts at stake.

It is not prediction: everything here is counted from observations of the view, nothing is inferred.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from graphmem.captured import Captured
from graphmem.concepts import GIVEN, observation_concepts, presentable
from graphmem.instant import DAY, HOUR, to_iso
from graphmem.model import (
    ActiveSession,
    ContractUse,
    Domain,
    ModuleName,
    Observation,
    Recent,
    RecentObservation,
)
from graphmem.nodes import NodeTable, number_of
from graphmem.postings import View
from inference.lineage import Change

WINDOW_DAYS = 30
ACTIVE_HOURS = 2
_WINDOW_LIMIT = 200
_SHOWN = 5
_DOMAINS = 5
_CONTRACTS = 5
_CONTRACT_OCCASIONS = 50
_USERS = 5


class ContractAtStake(NamedTuple):
    """A connection point, and whether it is superseded while work on the files in question used it."""

    use: ContractUse
    is_outdated: bool


def concepts_of(view: View, profile: dict[int, float], limit: int) -> tuple[str, ...]:
    """Return the names worth showing of a concept profile, most telling first."""
    names = view.concept_names(profile)
    counts = view.frequencies(profile)
    weights = {names[concept]: weight for concept, weight in profile.items()}
    frequency = {names[concept]: count for concept, count in counts.items()}
    return tuple(presentable(weights, frequency, view.total(), limit))


def recent(view: View, files: Sequence[int], now: float) -> Recent:
    """Return the last 30 days' work on these files, by concept domain."""
    seqs = list(_touched(view, files, now - WINDOW_DAYS * DAY, now, _WINDOW_LIMIT))
    heads = view.heads(seqs)
    uses = view.concepts(seqs)
    everything: dict[int, float] = defaultdict(float)
    for weights in uses.values():
        for concept, weight in weights.items():
            everything[concept] += weight
    shown = concepts_of(view, dict(everything), _DOMAINS)
    ids = {name: id for id, name in view.concept_names(everything).items()}
    domains = []
    for name in shown:
        having = [head for head in heads if ids[name] in uses[head.seq]]
        domains.append(Domain(name, len({head.session for head in having}), max(head.at for head in having)))
    domains.sort(key=lambda domain: (-domain.sessions, -domain.last_seen, domain.concept))
    observations = tuple(
        RecentObservation(head.id, head.title, head.at, concepts_of(view, uses[head.seq], 3))
        for head in heads[:_SHOWN]
    )
    return Recent(WINDOW_DAYS, len({head.session for head in heads}), tuple(domains), observations)


def _touched(view: View, files: Sequence[int], since: float, until: float, limit: int) -> dict[int, float]:
    """Return the last occasions that touched these files, with the time of the last touch, newest first."""
    rows: list[tuple[float, int]] = []
    for file in files:
        rows += view.connection.execute(
            "SELECT touch.at, touch.occasion FROM touch JOIN observation ON observation.seq = touch.occasion"
            " WHERE file = ? AND touch.at >= ? AND touch.at <= ? AND pairs = 1"
            " ORDER BY touch.at DESC, touch.seq DESC LIMIT ?",
            (file, since, min(until, view.as_of), limit),
        ).fetchall()
    latest: dict[int, float] = {}
    for at, occasion in sorted(rows, reverse=True):
        latest.setdefault(occasion, at)
    return dict(islice(latest.items(), limit))


def active(view: View, files: dict[int, str], now: float, session: str | None) -> tuple[ActiveSession, ...]:
    """Return the other sessions that touched these files (id to path) in the last two hours, newest first."""
    latest: dict[tuple[str, str], ActiveSession] = {}
    since = math.nextafter(now - ACTIVE_HOURS * HOUR, math.inf)
    for file, path in files.items():
        touched = _touched(view, [file], since, now, _WINDOW_LIMIT)
        for head in view.heads(touched):
            if head.session != session:
                entry = ActiveSession(head.session, head.actor, path, touched[head.seq])
                latest.setdefault((head.session, path), entry)
    return tuple(sorted(latest.values(), key=lambda entry: (-entry.at, entry.session, entry.path)))


def live(
    view: View, sessions: Sequence[ActiveSession], captured: Captured | None
) -> tuple[ActiveSession, ...]:
    """Return those of these sessions that go on.

    A sitting read from a history ended with its commits; of agents' sessions `captured` knows which have
    ended.
    """
    ended = set() if captured is None else captured.ended({session.session for session in sessions})
    return tuple(
        session
        for session in sessions
        if session.session not in ended and not view.is_sitting(session.session)
    )


def changed_by(view: View, files: Sequence[int], sessions: Collection[str], now: float) -> bool:
    """Return whether one of these sessions changed, and not merely read, one of these files lately."""
    rows = view.connection.execute(
        "SELECT DISTINCT session.name FROM touch JOIN observation ON observation.seq = touch.occasion"
        " JOIN session ON session.id = observation.session"
        f" WHERE file IN ({','.join('?' * len(files))}) AND touch.at > ? AND touch.at <= ? AND change != ?",
        (*files, now - ACTIVE_HOURS * HOUR, min(now, view.as_of), Change.READ),
    )
    return any(name in sessions for (name,) in rows)


def contracts(view: View, files: Sequence[int]) -> tuple[ContractAtStake, ...]:
    """Return the connection points named by work on these files, last seen first."""
    own = _touched(view, files, 0.0, view.as_of, _CONTRACT_OCCASIONS)
    found = [_contract(view, contract, own) for contract in view.contracts(own)]
    used_at = {use.name: at for use, at in found if at is not None}
    stakes = [ContractAtStake(use, _is_outdated(use, used_at)) for use, _ in found]
    stakes.sort(key=lambda stake: (-stake.use.last_seen, stake.use.name))
    return tuple(stakes[:_CONTRACTS])


def _is_outdated(use: ContractUse, used_at: Mapping[str, float]) -> bool:
    """Return whether the files were last seen on a superseded contract, and not on its successor since."""
    if use.superseded_by is None or use.name not in used_at:
        return False
    return used_at.get(use.superseded_by, -math.inf) <= used_at[use.name]


def _contract(view: View, contract: int, own: Mapping[int, float]) -> tuple[ContractUse, float | None]:
    """Return one contract, and when those occasions that are `own` (with their times) last used it."""
    name = view.connection.execute("SELECT name FROM contract WHERE id = ?", (contract,)).fetchone()[0]
    rows = view.connection.execute(
        "SELECT occasion, at, superseded_by FROM contract_use JOIN observation USING (seq)"
        " WHERE contract = ? AND at <= ? ORDER BY at DESC, seq DESC LIMIT ?",
        (contract, view.as_of, _CONTRACT_OCCASIONS),
    ).fetchall()
    replaced = replacement(view, name, ((row[2], row[1]) for row in rows))
    successor = None if replaced is None else replaced[0]
    # What says that it was replaced has not used it.
    used = [occasion for occasion, _, by in rows if by is None]
    users = _users(view, name, view.concepts(used or [row[0] for row in rows]).values())
    times = [own[occasion] for occasion in used if occasion in own]
    return ContractUse(name, users, rows[0][1], successor), max(times, default=None)


def replacement(view: View, name: str, told: Iterable[tuple[str | None, float]]) -> tuple[str, float] | None:
    """Return what took a contract's place and when, None while it stands.

    `told` are its uses, newest first: what each says took over, and when.
    """
    replaced = next(((by, at) for by, at in told if by is not None), None)
    return None if replaced is None or _is_back(view, name, *replaced) else replaced


def _is_back(view: View, name: str, successor: str, since: float) -> bool:
    """Return whether a contract took its successor's place again after it had been replaced at `since`."""
    row = view.connection.execute(
        "SELECT 1 FROM contract_use JOIN observation USING (seq)"
        " WHERE contract = (SELECT id FROM contract WHERE name = ?) AND superseded_by = ?"
        " AND at > ? AND at <= ? LIMIT 1",
        (successor, name, since, view.as_of),
    ).fetchone()
    return row is not None


def _users(view: View, name: str, uses: Collection[dict[int, float]]) -> tuple[str, ...]:
    """Return the domains of work that named a contract: those stated, else those read from the texts.

    The words of the contract's own name tell nobody who uses it.
    """
    own = observation_concepts(Observation(id="", session="", at=0.0, title=name))
    names = view.concept_names({concept for weights in uses for concept in weights})
    for least in (GIVEN, 0.0):
        profile: dict[int, float] = defaultdict(float)
        for weights in uses:
            for concept, weight in weights.items():
                if weight >= least and names[concept] not in own:
                    profile[concept] += weight
        if profile:
            return concepts_of(view, dict(profile), _USERS)
    return ()


def module(view: View, files: Sequence[int]) -> ModuleName | None:
    """Return the module that most of these files are in; of a past moment none is known."""
    if view.as_of != math.inf:
        return None
    nodes = [number_of(NodeTable.FILE, file) for file in files]
    row = view.connection.execute(
        "SELECT module.id, label FROM member JOIN module ON module.id = member.module"
        f" WHERE member.level = 0 AND node IN ({','.join('?' * len(nodes))})"
        " GROUP BY module.id ORDER BY COUNT(*) DESC, module.id LIMIT 1",
        nodes,
    ).fetchone()
    return None if row is None else ModuleName(*row)


def day(at: float) -> str:
    """Return the date of a moment, for sentences."""
    return to_iso(at)[:10]
