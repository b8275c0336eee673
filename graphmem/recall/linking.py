"""Owns what is added to a question's hits by what it asks for: users of a contract, consequences, modules.

It is not search, and not the finding of each (`contract_question`, `expansion`, `module_answer`): it says
which of these a question gets. The graph is lent to it; where that is away, the rest still answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from graphmem.postings import View
from graphmem.question import Question
from graphmem.recall.asking import QuestionKind, kind_by_words
from graphmem.recall.contract_question import contract_users, named_contracts
from graphmem.recall.expansion import EXPANDED, Expansion, Hit, ceiling_of, expand
from graphmem.recall.module_answer import modules_for
from graphmem.recall.rows import EdgeRows
from graphmem.references import Missing, none_missing
from graphmem.store.port import GraphStore


class Lent(Protocol):
    """A graph that was lent, and the edges of its moment as rows; None for those of the table."""

    @property
    def store(self) -> GraphStore:
        """The graph."""

    @property
    def rows(self) -> EdgeRows | None:
        """Its edges."""


Lend = Callable[[View, Callable[[Lent], Expansion], float], tuple[Expansion | None, str | None]]
"""Asks the graph of a view's moment by a deadline; see `graphmem.graph_lending.Lending.ask`."""


class Linked(NamedTuple):
    """What is added, by kind of question; with `nodes_first` the nodes are the main answer."""

    kind: QuestionKind
    added: Expansion
    nodes_first: bool


def linked(
    view: View,
    lend: Lend,
    hits: Sequence[Hit],
    question: Question,
    deadline: float,
    missing: Missing = none_missing,
    expanded: frozenset[QuestionKind] = EXPANDED,
) -> Linked:
    """Return what a question gets besides its hits.

    Args:
        view: the postings, cut at the moment asked about.
        lend: lends the graph.
        hits: what search found, best first.
        question: what is asked; a depth of 0 leaves the graph alone.
        deadline: on the monotonic clock.
        missing: tells which paths are on the disk no more.
        expanded: the kinds of question that are widened along the graph, for an ablation.
    """
    contracts = named_contracts(view, question.text)
    kind = kind_by_words(question.text, names_contract=bool(contracts))
    if kind is QuestionKind.CONTRACT:
        users = contract_users(view, contracts, question.text, question.limit)
        return Linked(kind, Expansion(users.nodes, users.pieces, ceiling_of(question)), bool(users.nodes))
    if kind is QuestionKind.BROAD:
        modules = modules_for(view, question.text, min(question.limit, 5))
        return Linked(kind, Expansion(modules, (), ceiling_of(question)), bool(modules))
    if kind not in expanded or question.depth == 0:
        return Linked(kind, Expansion(ceiling=ceiling_of(question)), nodes_first=False)

    def widened(lent: Lent) -> Expansion:
        return expand(lent.store, view, hits, question, deadline, kind=kind, rows=lent.rows, missing=missing)

    found, away = lend(view, widened, deadline)
    added = Expansion(ceiling=ceiling_of(question)) if found is None else found
    first = kind is QuestionKind.CONSEQUENCES and bool(added.nodes)
    return Linked(kind, replace(added, degraded=away or added.cut), first)
