"""Owns the graph of one project as a library user sees it: edges and verdicts, what depends on what, modules.

It is not the readers that make the answers (`graphmem.recall`) nor the keeping up of the graph (`curator`):
it resolves what was named, has the graph brought up, and says what an answer lacks. Safe to share between
threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from graphmem import refreshing
from graphmem.access import Access, check_limit
from graphmem.curator import GraphState
from graphmem.database import DamageError
from graphmem.decisions import NamedDeclaration, decide, declare
from graphmem.errors import InvalidInputError, UnavailableError
from graphmem.graph import (
    Decision,
    Declaration,
    Dependents,
    Edge,
    EdgeFilter,
    EdgePage,
    Health,
    Inferred,
    LinkPaths,
    Module,
    ModulePage,
    NodeName,
    NodeType,
    Overview,
)
from graphmem.graph_content import numbering
from graphmem.graph_lending import Lending
from graphmem.identity import PathResolver
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.proposals import adopted
from graphmem.recall import modules as listed_modules
from graphmem.recall.dependents import Reach, dependents
from graphmem.recall.drifting import drift, review_page
from graphmem.recall.edges import Edges
from graphmem.recall.health import health
from graphmem.recall.impact import unfinished
from graphmem.recall.overview import overview
from graphmem.recall.past import Past
from graphmem.recall.ways import link_paths
from graphmem.record import storable
from graphmem.store.bounds import checked_depth
from graphmem.store.port import MAX_DEPTH, GraphStore, Towards
from graphmem.working_tree import WorkingTree

T = TypeVar("T")

_VISIBLE = 30.0
_TRIES = 3
_MAY_BE_NEW = frozenset({NodeType.CONTRACT, NodeType.FEATURE})


class ProjectGraph:
    """The graph of one project; get it from `Project.graph`."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._past = Past(access.id, access.ignore)
        self._tree = WorkingTree()
        self.lending = Lending(access, self._past)
        """Lends the graph to questions in words, which may not wait for it."""

    def rest(self) -> None:
        """Let go of what is kept between questions."""
        self._past.clear()

    # ---- edges and verdicts ---------------------------------------------------------------------

    def edges(self, where: EdgeFilter | None = None, limit: int = 20, cursor: str | None = None) -> EdgePage:
        """Return a page of edges; without a filter the review queue: candidates by value.

        Raises:
            InvalidInputError: the filter's node is not usable, or the cursor or limit is not.
            NotFoundError: nobody knows the filter's node.
        """
        check_limit(limit)
        chosen = where or EdgeFilter()
        deadline = refreshing.deadline()
        with self._access.use() as files:
            degraded = refreshing.refreshed(files, deadline) if chosen.as_of is None else None

            def answer(view: View, files: Opened) -> EdgePage:
                edges = self._edges(view, files, chosen.as_of)
                node = None if chosen.node is None else self._find(edges, files, chosen.node)
                return review_page(edges, chosen, node, limit, cursor)

            return replace(
                self._access.ask(answer, chosen.as_of, refreshing.left(deadline)), degraded=degraded
            )

    def edge(self, id: str, as_of: float | None = None) -> Edge:
        """Return one edge with evidence, score parts and verdict history.

        Raises:
            NotFoundError: there is none of that id.
        """
        key = storable(id)
        with self._access.use() as files:
            if as_of is None:
                refreshing.refreshed(files, refreshing.deadline())
            return self._access.ask(lambda view, files: self._edges(view, files, as_of).edge(key), as_of)

    def judge(self, decisions: Sequence[Decision]) -> tuple[Edge, ...]:
        """Give verdicts, all or none, and return the edges as they are now; durable when it returns.

        Raises:
            NotFoundError: there is no edge of an id; nothing is done.
            ConflictError: an edge is retired, or there is nothing to undo; nothing is done.
            InvalidInputError: no decision, or one that is not usable; nothing is done.
            UnavailableError: the history is being read anew; nothing is done.
        """
        with self._access.use() as files:
            self._refresh_whole(files)

            def write(view: View, files: Opened) -> Sequence[str]:
                whole = adopted(decisions, self._edges(view, files).by_ids)
                return decide(files.journal.ledger, view.connection, whole, self._access.clock())

            return self._settled(files, self._access.ask(write))

    def declare(self, declarations: Sequence[Declaration]) -> tuple[Edge, ...]:
        """Declare edges, all or none, and return them; features and contracts may be new.

        Raises:
            NotFoundError: nobody knows a file or concept; nothing is done.
            InvalidInputError: an edge from a node to itself, too many, or none; nothing is done.
            ConflictError: an edge is retired; nothing is done.
            UnavailableError: the history is being read anew; nothing is done.
        """
        with self._access.use() as files:
            self._refresh_whole(files)

            def write(view: View, files: Opened) -> Sequence[str]:
                named = self._named(self._edges(view, files), files, declarations)
                now = self._access.clock()
                return declare(files.journal.ledger, view.connection, named, self._access.id, now)

            return self._settled(files, self._access.ask(write))

    def _named(
        self, edges: Edges, files: Opened, declarations: Sequence[Declaration]
    ) -> list[NamedDeclaration]:
        """Return declarations with their ends found; only a feature or a contract may be new."""
        with files.workspace.reading() as resolver:
            resolve = partial(_resolved, resolver)

            def name(reference: str, index: int, end: str) -> NodeName:
                found = edges.references.name(reference, resolve)
                if found.type not in _MAY_BE_NEW and edges.references.number(found) is None:
                    field = f"declarations[{index}].{end}" if len(declarations) > 1 else end
                    edges.references.find(reference, resolve, field)
                return found

            return [
                NamedDeclaration(
                    name(declaration.source, index, "from"),
                    name(declaration.target, index, "to"),
                    declaration.relation,
                    declaration.note,
                    declaration.by,
                )
                for index, declaration in enumerate(declarations)
            ]

    def _settled(self, files: Opened, ids: Sequence[str]) -> tuple[Edge, ...]:
        """Return these edges as they are once what was just journalled about them is in."""
        files.follower.notify()
        files.follower.wait(_VISIBLE)
        files.curator.settle()
        return self._access.ask(lambda view, files: self._edges(view, files).judged(ids))

    # ---- questions ------------------------------------------------------------------------------

    def dependents(
        self, node: str, depth: int = MAX_DEPTH, limit: int = 20, as_of: float | None = None
    ) -> Dependents:
        """Say what depends on a node: confirmed relations walked up to `depth` hops, the rest direct.

        Raises:
            InvalidInputError: the depth or limit is out of range, or the node is not usable.
            NotFoundError: nobody knows the node.
        """
        return self._walk(node, Reach(Towards.DEPENDENTS, depth, limit), as_of)

    def dependencies(
        self, node: str, depth: int = MAX_DEPTH, limit: int = 20, as_of: float | None = None
    ) -> Dependents:
        """Say what a node depends on; see `dependents`."""
        return self._walk(node, Reach(Towards.DEPENDENCIES, depth, limit), as_of)

    def _walk(self, name: str, reach: Reach, as_of: float | None) -> Dependents:
        check_limit(reach.limit)
        checked_depth(reach.depth)

        def answer(edges: Edges, files: Opened, store: GraphStore | None, away: str | None) -> Dependents:
            node = self._find(edges, files, name)
            if store is None:
                named = edges.references.nodes((node,))[node]
                return Dependents(named, complete=False, reason=away, degraded=away)
            found = dependents(edges, store, node, reach, behind=away)
            return found if away is None else replace(found, degraded=away)

        return self._with_store(answer, as_of)

    def path(self, source: str, target: str) -> LinkPaths:
        """Say why two nodes are linked: up to three ways of at most three edges.

        Raises:
            InvalidInputError: a node is not usable.
            NotFoundError: nobody knows a node.
        """

        def answer(edges: Edges, files: Opened, store: GraphStore | None, away: str | None) -> LinkPaths:
            start, end = self._find(edges, files, source, "from"), self._find(edges, files, target, "to")
            if store is None:
                nodes = edges.references.nodes((start, end))
                return LinkPaths(nodes[start], nodes[end], (), complete=False, reason=away, degraded=away)
            found = link_paths(edges, store, start, end, behind=away)
            return found if away is None else replace(found, degraded=away)

        return self._with_store(answer)

    # ---- modules and digests --------------------------------------------------------------------

    def overview(self, budget_tokens: int = 200) -> Overview:
        """Return the digest of the project in at most `budget_tokens` tokens.

        Raises:
            InvalidInputError: the budget holds not even the first line.
        """

        def answer(edges: Edges, files: Opened, store: GraphStore | None, away: str | None) -> Overview:
            return replace(overview(edges, files.journal, store, budget_tokens), degraded=away)

        return self._with_store(answer)

    def health(self, limit: int = 20) -> Health:
        """Say what deserves a look: dead files, cycles, orphans, oversized modules, stale edges, drift."""
        check_limit(limit)

        def answer(edges: Edges, files: Opened, store: GraphStore | None, away: str | None) -> Health:
            moved = drift(edges, self._tree, files.workspace.folder(), limit)
            return replace(health(edges, store, limit), drift=moved, degraded=away)

        return self._with_store(answer)

    def modules(self, level: int = 0, limit: int = 20, cursor: str | None = None) -> ModulePage:
        """Return a page of modules, the largest first; level 1 are the parts of large ones.

        Raises:
            InvalidInputError: the cursor or limit is not usable.
        """
        check_limit(limit)

        def answer(edges: Edges, files: Opened, store: GraphStore | None, away: str | None) -> ModulePage:
            members = _nobody if store is None else store.members
            page = listed_modules.page(edges.references, edges.view, members, level, limit, cursor)
            return replace(page, degraded=away)

        return self._with_store(answer)

    def module(self, id: str) -> Module:
        """Return one module with its members.

        Raises:
            NotFoundError: there is none of that id.
        """

        def answer(edges: Edges, files: Opened, store: GraphStore | None, away: str | None) -> Module:
            members = _nobody if store is None else store.members
            return listed_modules.module(edges.references, edges.view, members, storable(id))

        return self._with_store(answer)

    # ---- the inference --------------------------------------------------------------------------

    def infer(self) -> Inferred:
        """Promote, group modules and bring the graph up, now; all of it also runs by itself.

        Raises:
            UnavailableError: the history is being read anew.
        """
        with self._access.use() as files:
            files.follower.wait(_VISIBLE)
            _check_whole(files, "inferred")
            return files.curator.infer()

    def state(self) -> GraphState:
        """Return how the graph's files stand, without opening them."""
        with self._access.use() as files:
            return files.curator.state()

    # ---- what the answers stand on --------------------------------------------------------------

    def _refresh_whole(self, files: Opened) -> None:
        """Have the edges brought up for a decision, which is weighed by all that speaks for an edge."""
        refreshing.refreshed(files, refreshing.deadline())
        _check_whole(files, "decided")

    def _edges(self, view: View, files: Opened, as_of: float | None = None) -> Edges:
        ledger = files.journal.ledger
        if as_of is None:
            return Edges(view, ledger, files.workspace.missing, seen=files.code.seen)
        # The disk only tells of the present.
        return Edges(view, ledger, rows=self._past.moment(view, ledger).rows)

    def _find(self, edges: Edges, files: Opened, reference: str, field: str = "node") -> int:
        with files.workspace.reading() as resolver:
            return edges.references.find(reference, partial(_resolved, resolver), field)

    def _with_store(
        self,
        answer: Callable[[Edges, Opened, GraphStore | None, str | None], T],
        as_of: float | None = None,
    ) -> T:
        """Answer with the graph brought up, or without it, told why it is away or what it lacks."""
        with self._access.use() as files:
            if as_of is not None:

                def past(view: View, files: Opened) -> T:
                    return answer(
                        self._edges(view, files, as_of),
                        files,
                        self._past.moment(view, files.journal.ledger).store,
                        None,
                    )

                return self._access.ask(past, as_of)
            deadline = refreshing.deadline()
            lacks = refreshing.refreshed(files, deadline)

            def present(store: GraphStore | None, away: str | None) -> T:
                return self._access.ask(
                    lambda view, files: answer(self._edges(view, files), files, store, away),
                    patience=refreshing.left(deadline),
                )

            for _ in range(_TRIES):
                before = self._numbering(deadline)
                try:
                    with files.curator.store(refreshing.left(deadline)) as store:
                        found = present(store, lacks)
                except (UnavailableError, DamageError) as fault:
                    away = str(fault)
                else:
                    # The graph and the postings are two states: their numbers must mean the same nodes.
                    if self._numbering(deadline) == before:
                        return found
                    away = "files got other names meanwhile; ask again in a moment"
                if not refreshing.left(deadline):
                    break
            return present(None, away)

    def _numbering(self, deadline: float) -> tuple[int, int]:
        return self._access.ask(
            lambda view, _: numbering(view.connection), patience=refreshing.left(deadline)
        )


def _check_whole(files: Opened, what: str) -> None:
    behind = files.follower.behind()
    if behind is not None:
        raise UnavailableError(f"Nothing can be {what} yet: {unfinished(*behind)}.")


def _nobody(module: str) -> tuple[int, ...]:
    """Return the members of a module while the graph is away."""
    return ()


def _resolved(resolver: PathResolver, text: str) -> str:
    found = resolver.resolve(text, None)
    if found is None:
        raise InvalidInputError(f"The path {text!r} names no file of this project; give another one.", "node")
    return found
