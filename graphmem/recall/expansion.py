"""Owns widening a question along the graph: from what it names, or its hits touched, to what is linked.

It is not search, and not the walk itself (`graphmem.store`). Depth 1 always; depth 2 only to nodes whose work
is about what the question is about; depth 3 only on ways through a contract that the question names. What was
inferred is worded as a likelihood, never as a fact.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from graphmem.database import chunked
from graphmem.edge_rows import EdgeRow
from graphmem.graph import Direction, EdgeStatus, Node, NodeName, NodeType
from graphmem.model import FileStatus, Tier
from graphmem.nodes import NodeTable, number_of, row_of, table_of
from graphmem.postings import View
from graphmem.question import FoundNode, Hop, Question
from graphmem.recall.asking import QuestionKind, is_chinese
from graphmem.recall.contract_question import Added, NamedContract, contract_users
from graphmem.recall.linked_words import line_on
from graphmem.recall.naming import Named, named_in
from graphmem.recall.rows import EdgeRows, TableRows
from graphmem.references import Missing, References, none_missing
from graphmem.store.port import MAX_DEPTH, GraphStore, Step, Through, Towards
from inference.lineage import Change
from inference.ranking import WARNING_THRESHOLD

WIDTH = 5
MAX_WIDTH = 20
EXPANDED = frozenset({QuestionKind.CONSEQUENCES, QuestionKind.CONTRACT})
"""The kinds of question that are widened: where an ablation shows that it helps."""
WINDOW_SHARE = 0.15
_FLOOR = 0.3
_SPARE = 8
_HITS = 5
_FILES_A_HIT = 3
_ABOUT_SHARE = 1 / 3
_PIECES_A_NODE = 2
_MOST_PIECES = 10
_LOOKED_AT = 200
_TARGETS = (NodeType.FILE, NodeType.CONTRACT)


class Hit(NamedTuple):
    """An observation that search found; scores only have to order hits."""

    seq: int
    score: float


@dataclass(frozen=True, slots=True)
class Expansion:
    """What the graph adds: nodes and observations, best first, each with the way that brought it in.

    `ceiling` are the tokens that all of it may take of a context. `cut` says that time ran out, `degraded`
    that the graph was away: then search alone answers.
    """

    nodes: tuple[FoundNode, ...] = ()
    pieces: tuple[Added, ...] = ()
    ceiling: int = 0
    cut: str | None = None
    degraded: str | None = None


class _Seed(NamedTuple):
    node: int
    weight: float
    via: tuple[Hop, ...] = ()
    by_contract: bool = False


class _Reached(NamedTuple):
    """A node with its way from a seed: the last step, None for a user of a contract."""

    node: int
    weight: float
    via: tuple[Hop, ...]
    hops: int
    step: Step | None
    by_contract: bool
    tier: Tier | None = None


def ceiling_of(question: Question) -> int:
    """Return the tokens that expansion may add: the budget, or 15 % of the asker's window if that is less."""
    window = question.context_window
    share = question.budget_tokens if window is None else int(WINDOW_SHARE * window)
    return max(0, min(question.budget_tokens, share))


def expand(
    store: GraphStore,
    view: View,
    hits: Sequence[Hit],
    question: Question,
    deadline: float,
    *,
    kind: QuestionKind = QuestionKind.CONSEQUENCES,
    rows: EdgeRows | None = None,
    missing: Missing = none_missing,
) -> Expansion:
    """Widen a question.

    Args:
        store: the graph of the view's moment.
        view: the postings, cut at the moment asked about.
        hits: what search found, best first.
        question: its `depth` caps the levels, its `width` (5 if None, at most 20) the nodes of each.
        deadline: on the monotonic clock; what is not reached by then is left out, and `cut` says so.
        kind: for consequences, what the question names goes before what was found, and confirmed relations
            are followed to what depends on it.
        rows: the edges of a past moment; those of the table if not given.
        missing: tells which paths are on the disk no more.

    Raises:
        GraphFault: the graph can't be asked.
    """
    named = named_in(view, question.text)
    walk = _Walk(store, view, question, deadline, kind, named, missing)
    found = walk.run(_named_seeds(view, named))
    if not found or kind is QuestionKind.LOOKUP:
        found += walk.run(_hit_seeds(view, hits))
    edges = (TableRows(view) if rows is None else rows).by_ids(
        reached.step.edge for reached in found if reached.step is not None
    )
    nodes = _nodes(view, found, edges, missing, is_chinese(question.text))
    pieces = _pieces(view, found, edges, {hit.seq for hit in hits}, walk.task)
    return Expansion(tuple(nodes), tuple(pieces), ceiling_of(question), walk.cut)


# ---- where it begins ----------------------------------------------------------------------------


def _named_seeds(view: View, named: Named) -> list[_Seed]:
    """Return what the question names; concepts only where it names nothing more exact."""
    chosen = named.exact or named.concepts
    return [_Seed(node, 1.0, (), table_of(node) is NodeTable.CONTRACT) for node in chosen]


def _hit_seeds(view: View, hits: Sequence[Hit]) -> list[_Seed]:
    """Return the files that the best hits changed, as far as they did so in few at a time."""
    best = list(hits[:_HITS])
    ids = {head.seq: head.id for head in view.heads(hit.seq for hit in best)}
    rows = chunked(
        view.connection,
        "SELECT touch.seq, file FROM touch JOIN observation ON observation.seq = touch.occasion"
        " WHERE touch.at <= ? AND change != ? AND pairs = 1 AND touch.seq IN ({}) ORDER BY touch.seq, ord",
        ids,
        (view.as_of, Change.READ),
    )
    touched: dict[int, list[int]] = {}
    for seq, file in rows:
        touched.setdefault(seq, []).append(file)
    living = {id: file for id, file in view.files({file for _, file in rows}).items() if file.alive}
    seeds: dict[int, _Seed] = {}
    for place, hit in enumerate(best):
        known = [living[file] for file in touched.get(hit.seq, ()) if file in living]
        for file in known[:_FILES_A_HIT]:
            node = number_of(NodeTable.FILE, file.id)
            hop = Hop(f"observation:{ids[hit.seq]}", str(NodeName(NodeType.FILE, file.path)), "touched")
            seeds.setdefault(node, _Seed(node, 1.0 / (1 + place), (hop,)))
    return list(seeds.values())


# ---- how far it goes ----------------------------------------------------------------------------


class _Walk:
    """One question's way through the graph; nothing is reached twice."""

    def __init__(
        self,
        store: GraphStore,
        view: View,
        question: Question,
        deadline: float,
        kind: QuestionKind,
        named: Named,
        missing: Missing,
    ) -> None:
        self.cut: str | None = None
        self.task = frozenset(row_of(node) for node in named.concepts)
        self._store = store
        self._view = view
        self._question = question
        self._deadline = deadline
        self._references = References(view, missing)
        self._width = min(MAX_WIDTH, max(0, WIDTH if question.width is None else question.width))
        self._depth = min(MAX_DEPTH, MAX_DEPTH if question.depth is None else question.depth)
        towards = Towards.DEPENDENTS if kind is QuestionKind.CONSEQUENCES else None
        self._through = Through(_TARGETS, probability=_FLOOR, towards=towards)
        self._seen: set[int] = set()

    def run(self, seeds: Sequence[_Seed]) -> list[_Reached]:
        """Return what is reached from these seeds, level by level, at most `width` nodes of each."""
        level = [_Reached(seed.node, seed.weight, seed.via, 0, None, seed.by_contract) for seed in seeds]
        self._seen.update(seed.node for seed in seeds)
        found: list[_Reached] = []
        for hops in range(1, self._depth + 1):
            if hops == 3:
                level = [reached for reached in level if reached.by_contract]
            if not level or self.cut is not None or not self._width:
                break
            level = self._next(level, hops)
            found += level
        return found

    def _next(self, level: Sequence[_Reached], hops: int) -> list[_Reached]:
        if time.monotonic() >= self._deadline:
            self.cut = "the time for following links was used up"
            return []
        before = {reached.node: reached for reached in level}
        spare = self._width if hops == 1 else self._width * _SPARE
        answer = self._store.onwards(list(before), self._seen, self._through, spare)
        self.cut = answer.cut
        users = self._users(level) if hops == 1 else []
        steps = [step for step in answer.steps if step.node not in {user.node for user in users}]
        names = self._references.nodes([*before, *(step.node for step in steps)])
        fresh = [step for step in steps if step.node in names and step.source in names]
        fresh = [step for step in fresh if names[step.node].status is FileStatus.KNOWN]
        if hops > 1:
            about = self._about({step.node for step in fresh}, names)
            fresh = [step for step in fresh if step.node in about]
        reached = [_stepped(before[step.source], step, names) for step in fresh]
        reached = [*users, *reached][: self._width]
        self._seen.update(item.node for item in reached)
        return reached

    def _users(self, level: Sequence[_Reached]) -> list[_Reached]:
        """Return the files that use the contracts among these, as observations tell."""
        rows = [row_of(item.node) for item in level if table_of(item.node) is NodeTable.CONTRACT]
        if not rows:
            return []
        named = chunked(self._view.connection, "SELECT id, name FROM contract WHERE id IN ({})", rows)
        contracts = [NamedContract(*row) for row in named]
        answer = contract_users(self._view, contracts, self._question.text, self._width)
        found = []
        for node in answer.nodes:
            file = self._view.file(node.name) if node.type is NodeType.FILE else None
            if file is not None and number_of(NodeTable.FILE, file.id) not in self._seen:
                number = number_of(NodeTable.FILE, file.id)
                found.append(_Reached(number, node.score, node.via, 1, None, True))
        return found

    def _about(self, nodes: Collection[int], names: Mapping[int, Node]) -> set[int]:
        """Return those of these nodes whose work is about the task; of a contract its name tells."""
        files = [row_of(node) for node in nodes if table_of(node) is NodeTable.FILE]
        found = {
            number_of(NodeTable.FILE, file)
            for file, profile in self._view.profiles(files).items()
            if _is_about(profile, self.task)
        }
        words = set(self._view.concept_names(self.task).values())
        for node in nodes:
            if table_of(node) is NodeTable.CONTRACT and words & set(names[node].name.split("/")):
                found.add(node)
        return found


def _is_about(profile: Mapping[int, float], task: Collection[int]) -> bool:
    """Return whether one of the task's concepts is among the chief ones of a file's last work."""
    most = max(profile.values(), default=0.0)
    return any(profile.get(concept, 0.0) >= _ABOUT_SHARE * most > 0.0 for concept in task)


def _stepped(before: _Reached, step: Step, names: Mapping[int, Node]) -> _Reached:
    kind = step.kind.value if step.relation is None else step.relation.value
    hop = Hop(names[step.source].ref, names[step.node].ref, kind, step.edge)
    return _Reached(
        step.node,
        before.weight * step.probability,
        (*before.via, hop),
        before.hops + 1,
        step,
        before.by_contract,
        _tier(before, step),
    )


def _tier(before: _Reached, step: Step) -> Tier:
    """Return how sure a way is: as sure as its weakest link."""
    if step.status is EdgeStatus.CONFIRMED:
        sure = Tier.CONFIRMED
    else:
        sure = Tier.LIKELY if step.probability >= WARNING_THRESHOLD else Tier.POSSIBLE
    return max(sure, before.tier or Tier.CONFIRMED, key=list(Tier).index)


# ---- what it brings -----------------------------------------------------------------------------


def _nodes(
    view: View, found: Sequence[_Reached], edges: Mapping[str, EdgeRow], missing: Missing, chinese: bool
) -> Iterator[FoundNode]:
    """Yield the nodes, those confirmed and near first."""
    sources = (item.step.source for item in found if item.step is not None)
    names = References(view, missing).nodes([*(item.node for item in found), *sources])
    ordered = sorted(found, key=lambda item: (-item.weight, item.hops))
    for item in ordered:
        node = names.get(item.node)
        if node is None or node.status is not FileStatus.KNOWN:
            continue
        row = None if item.step is None else edges.get(item.step.edge)
        yield FoundNode(
            type=node.type,
            ref=node.ref,
            name=node.name,
            text=_line(item, row, names, chinese),
            score=item.weight,
            at=None if row is None else row.last_seen,
            parts={"link": item.weight, "hops": float(item.hops)},
            via=item.via,
            tier=item.tier,
        )


def _line(item: _Reached, row: EdgeRow | None, names: Mapping[int, Node], chinese: bool) -> str:
    if item.step is None:
        used = item.via[-1].source.partition(":")[2]
        return f"用到 {used}" if chinese else f"seen to use {used}"
    other = names[item.step.source].name if item.step.source in names else ""
    direction = None if row is None or row.direction is None else Direction(row.direction)
    from_it = row is not None and row.source == item.node
    said = (item.step.relation, direction, from_it)
    return line_on(item.step.kind, item.step.status, item.step.probability, other, said, chinese=chinese)


def _pieces(
    view: View,
    found: Sequence[_Reached],
    edges: Mapping[str, EdgeRow],
    hit: Collection[int],
    task: Collection[int],
) -> list[Added]:
    """Return the most telling observations of what was reached: about the task, newest first, not hit yet."""
    seen = set(hit)
    pieces: list[Added] = []
    for item in sorted(found, key=lambda item: (-item.weight, item.hops)):
        row = None if item.step is None else edges.get(item.step.edge)
        told = _telling(view, item.node, task, () if row is None else row.keys)
        fresh = [seq for seq in told if seq not in seen][:_PIECES_A_NODE]
        seen.update(fresh)
        pieces += (Added(seq, item.weight, item.via) for seq in fresh)
        if len(pieces) >= _MOST_PIECES:
            break
    return pieces[:_MOST_PIECES]


def _telling(view: View, node: int, task: Collection[int], keys: Iterable[int]) -> list[int]:
    """Return observations that changed a file for the task; without a task those behind its edge."""
    known = view.heads(keys)
    behind = [head.seq for head in known if head.at <= view.as_of]
    if not task:
        return behind
    if table_of(node) is not NodeTable.FILE:
        return []
    places = ",".join("?" * len(task))
    rows = view.connection.execute(
        "SELECT seq FROM (SELECT touch.seq AS seq, touch.at AS at FROM touch"
        " JOIN observation ON observation.seq = touch.occasion"
        " WHERE file = ? AND touch.at <= ? AND change != ? AND pairs = 1"
        " ORDER BY touch.at DESC, touch.seq DESC LIMIT ?) AS last"
        " WHERE EXISTS (SELECT 1 FROM concept_use"
        f" WHERE concept_use.seq = last.seq AND concept IN ({places}))"
        " ORDER BY at DESC, seq DESC LIMIT ?",
        (row_of(node), view.as_of, Change.READ, _LOOKED_AT, *task, _MOST_PIECES),
    )
    return [seq for (seq,) in rows]
