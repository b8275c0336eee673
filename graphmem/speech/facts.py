"""Owns what a text states that is worth keeping: preferences, conventions, tasks, decisions, values.

It is not a language model: rules over sentences (`sentences`), English (`english_rules`) and Chinese
(`chinese_rules`). It stores nothing (that is `fact_rows`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from graphmem.model import Fact, FactKind, Scope, TaskState
from graphmem.speech import chinese_rules, english_rules
from graphmem.speech.fact_values import assigned
from graphmem.speech.ruling import Ruling
from graphmem.speech.sentences import Sentence, sentences
from graphmem.text import HAN, STOP_WORDS, tokens

LONGEST = 500
"""A statement is cut to this many characters."""

MOST = 20
"""A text gives so many statements at most."""

_HAN = re.compile(f"[{HAN}]")
_CLAUSES = re.compile(r"[，,；;]\s*(?:and\s|而且|并且|同时)?")
_WORDS_OF_TASKS = """
todo done do need still yet not finish finished finishing complete completed next step remain remaining left
follow followup later work task 还 还没 没 未 待办 下 一步 下一步 剩下 剩下的 完成 已 已经 已修复 搞定 记得
之后 以后 后续 还要 还需 需要 做 写 补上 工作 任务 问题 未完成 完 完毕 好 写完 做完 改完
"""
_NO_TASK_SUBJECT = STOP_WORDS | frozenset(_WORDS_OF_TASKS.split())
_IRREGULAR = {"wrote": "write", "written": "write", "writing": "write"}
_VERB_ENDINGS = re.compile(r"(?<=[a-z]{3})(?:ing|ed|e)$")


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
    """Return the sentences of a prompt or an answer that are worth keeping, at most `MOST`, in order.

    Questions, orders for the work at hand, code, quotations, logs and traces are left out. The time taken
    grows with the length of the text, up to the length that `sentences` looks at.
    """
    found: dict[str, FactReading] = {}
    for sentence in sentences(text):
        for said in _stated(sentence):
            found.setdefault(said.text.casefold(), said)
        if len(found) >= MOST:
            break
    return tuple(found.values())[:MOST]


def reading(fact: Fact) -> FactReading:
    """Return a stored fact as the rules understand it; a given kind other than the default is kept."""
    text = fact.text.strip()[:LONGEST]
    if fact.kind is not FactKind.FACT:
        return _read(text, Ruling(fact.kind, fact.state, fact.scope))
    found = _ruling(text)
    if found is None:
        return _read(text, Ruling(FactKind.FACT, scope=fact.scope))
    scope = Scope.ACTOR if Scope.ACTOR in (fact.scope, found.scope) else Scope.PROJECT
    return _read(found.text or text, found._replace(scope=scope))


def root(word: str) -> str:
    """Return an English word without the ending of a verb: rotate, rotated and rotating are one."""
    return _VERB_ENDINGS.sub("", _IRREGULAR.get(word, word))


def task_subject(text: str) -> str:
    """Return a task's telling words, the same whether it is told as open or as done."""
    words = (root(word) for word in tokens(text) if word not in _NO_TASK_SUBJECT)
    return " ".join(sorted(set(words)))


def _stated(sentence: Sentence) -> list[FactReading]:
    text = sentence.text
    if english_rules.is_question(text) or chinese_rules.is_question(text):
        return []
    if sentence.box is not None:
        state = TaskState.DONE if sentence.box else TaskState.OPEN
        return [_read(text, Ruling(FactKind.TASK, state))]
    under = _headed(sentence.heading)
    if under is not None:
        return [_read(text, under)]
    found = _ruling(text)
    clauses = [clause.strip() for clause in _CLAUSES.split(text)]
    if found is not None:
        tasks = _tasks(clauses) if found.kind is FactKind.TASK and len(clauses) > 1 else []
        is_mixed = len({task.state for task in tasks}) > 1
        return tasks if is_mixed else [_read(found.text or text, found)]
    valued = [clause for clause in clauses if assigned(clause) is not None] if len(clauses) > 1 else []
    if len(valued) > 1:
        return [_read(clause, Ruling(FactKind.FACT)) for clause in valued]
    return [_read(text, Ruling(FactKind.FACT))] if assigned(text) is not None else []


def _tasks(clauses: list[str]) -> list[FactReading]:
    """Return the tasks that clauses tell of, each by itself: one may be done and the next left open."""
    found = ((chinese_rules.bare(english_rules.bare(clause)), _ruling(clause)) for clause in clauses)
    return [
        _read(rule.text or said, rule)
        for said, rule in found
        if rule is not None and rule.kind is FactKind.TASK
    ]


def _headed(heading: str) -> Ruling | None:
    return (english_rules.headed(heading) or chinese_rules.headed(heading)) if heading else None


def _ruling(text: str) -> Ruling | None:
    if not _HAN.search(text):
        return english_rules.ruling(text)
    return chinese_rules.ruling(text) or english_rules.ruling(text)


def _read(text: str, found: Ruling) -> FactReading:
    subject = attribute = value = None
    if found.kind is FactKind.TASK:
        subject = task_subject(text) or None
    elif found.kind in (FactKind.FACT, FactKind.DECISION) and (assignment := assigned(text)) is not None:
        subject, attribute, value = assignment
    binding = found.kind in (FactKind.PREFERENCE, FactKind.CONVENTION)
    is_taste = found.kind is FactKind.PREFERENCE and found.scope is Scope.ACTOR
    everywhere = binding and (
        english_rules.is_everywhere(text, is_taste=is_taste)
        or chinese_rules.is_everywhere(text, is_taste=is_taste)
    )
    return FactReading(
        text=text,
        kind=found.kind,
        state=found.state,
        scope=found.scope,
        tentative=bool(english_rules.TENTATIVE.search(text) or chinese_rules.TENTATIVE.search(text)),
        subject=subject,
        attribute=attribute,
        value=value,
        everywhere=everywhere,
    )
