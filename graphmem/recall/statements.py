"""Owns the reading of recorded statements from `derived.db`, and which of them still hold.

It is not what makes one hold (that is `standing`) nor who is told of them (`reminders` and `opening`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphmem.model import FactKind, Scope, TaskState
from graphmem.postings import View
from graphmem.question import Standing
from graphmem.recall.note import quoted
from graphmem.recall.standing import PieceStanding, standings

_QUOTED_BYTES = 360
COLUMNS = (
    "fact.id, fact.seq, ord, kind, state, scope, fact.text, subject, attribute, value, tentative,"
    " fact.at, fact.actor, source"
)
JOINED = "fact JOIN observation ON observation.seq = fact.seq"
"""What the columns are selected from."""


class Statement(NamedTuple):
    """A recorded statement with where it comes from."""

    id: int
    seq: int
    ord: int
    kind: FactKind
    state: TaskState | None
    scope: Scope
    text: str
    subject: str | None
    attribute: str | None
    value: str | None
    tentative: bool
    at: float
    actor: str
    source: str

    def words(self) -> str:
        """Return the text as one harmless piece of a line, always in quotation marks."""
        return in_quotes(self.text)


def in_quotes(text: str, most: int = _QUOTED_BYTES) -> str:
    """Return a text from outside in quotation marks, harmless and on one line, cut to about `most` bytes."""
    arrows = text.replace("->", "→").replace("=>", "→")
    said = quoted(" ".join(arrows.split()), most)
    return said if said.startswith('"') else f'"{said}"'


def statements_of(view: View, query: str, values: tuple[object, ...]) -> Iterator[Statement]:
    """Yield what a query over `COLUMNS` finds."""
    for row in view.connection.execute(query, values):
        made = Statement._make(row)
        yield made._replace(
            kind=FactKind(made.kind),
            state=None if made.state is None else TaskState(made.state),
            scope=Scope(made.scope),
        )


def holding(view: View, found: Sequence[Statement]) -> list[Statement]:
    """Return those that still hold, in order: nothing later took their place or said the same again."""
    stand = standings(view, [(said.seq, said.ord) for said in found])
    return [said for said in found if _holds(stand.get((said.seq, said.ord)))]


def _holds(standing: PieceStanding | None) -> bool:
    return standing is None or not (standing.standing is Standing.SUPERSEDED or standing.repeated)
