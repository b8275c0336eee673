"""Owns the reading of recorded statements from `derived.db`, and whether one still holds.

It is not who is told of them (that is `reminders` and `opening`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from graphmem.model import FactKind, Scope, TaskState
from graphmem.postings import View
from graphmem.recall.note import quoted

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


def is_replaced(view: View, said: Statement) -> bool:
    """Return whether something later gives the same thing a value, or tells of the same task."""
    if said.kind is FactKind.TASK:
        same = "kind = 'task' AND (subject = ? OR (subject IS NULL AND text = ?))"
        values: tuple[object, ...] = (said.subject, said.text)
    elif said.attribute is not None:
        same, values = "subject = ? AND attribute = ?", (said.subject, said.attribute)
    else:
        return False
    later = view.connection.execute(
        f"SELECT 1 FROM fact WHERE {same} AND at <= ? AND (at, seq, ord) > (?, ?, ?) LIMIT 1",
        (*values, view.as_of, said.at, said.seq, said.ord),
    )
    return later.fetchone() is not None
