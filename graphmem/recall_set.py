"""Owns the form of a set of questions with known answers: its file, and what is wrong with one.

It is not how the questions are asked (`graphmem.recall_evaluation`). The form is in docs/recall-sets.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeVar

from graphmem.capture.jsonl_lines import JsonRecord, LineFault, open_lines
from graphmem.errors import SourceError
from graphmem.evaluation import read_source
from graphmem.instant import from_iso
from graphmem.model import Observation

Choice = TypeVar("Choice", bound=StrEnum)

OWN_TEXT = -1
"""The place of an observation's title and narrative; its facts have 0, 1, ..."""


class Subject(StrEnum):
    """What a question is about."""

    FACTS = "facts"
    PREFERENCES = "preferences"
    PROGRESS = "progress"
    DECISIONS = "decisions"


class Tongues(StrEnum):
    """What a question is written in."""

    ENGLISH = "en"
    CHINESE = "zh"
    MIXED = "mixed"


class Part(StrEnum):
    """What a question may be used for: to choose parameters, or to report how good they are."""

    CHOOSE = "choose"
    REPORT = "report"


class PieceName(NamedTuple):
    """A piece: the id of its observation, and the place of the fact in it, or `OWN_TEXT`."""

    observation: str
    ord: int


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question: what must be shown (of each of `needs` one piece), and what must not be."""

    id: str
    project: str
    part: Part
    subject: Subject
    tongue: Tongues
    text: str
    needs: tuple[frozenset[PieceName], ...]
    forbidden: frozenset[PieceName]
    answer: tuple[str, ...]
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecallSet:
    """A set: the observations of each project with the file they stand in, and the questions about them.

    `asked_at` is the moment of asking in epoch seconds.
    """

    location: str
    sources: Mapping[str, str]
    observations: Mapping[str, tuple[Observation, ...]]
    asked_at: float
    questions: tuple[SetQuestion, ...]


def read_set(location: str) -> RecallSet:
    """Read a set.

    Raises:
        SourceError: it, or a file of observations that it names, can't be read or is not of the form; the
            sentence names the line.
    """
    with open_lines(location) as lines:
        records = _records(location, iter(lines))
        head = next(records, None)
        if head is None:
            raise SourceError(
                f"{location} is empty; its first line names the projects, see docs/recall-sets.md."
            )
        reader = _Reader(location)
        sources, asked_at = reader.head(head)
        observations = {name: tuple(read_source("jsonl", path)) for name, path in sources.items()}
        reader.know(observations)
        questions = tuple(reader.question(record) for record in records)
    if not questions:
        raise SourceError(f"{location} asks nothing; write one question a line below the first.")
    late = max(each.at for mine in observations.values() for each in mine)
    if late > asked_at:
        raise SourceError(f"{location}, line 1: 'asked_at' lies before the last observation; set it later.")
    return RecallSet(location, sources, observations, asked_at, questions)


def text_of(observation: Observation, ord: int) -> str:
    """Return the words of a piece."""
    if ord == OWN_TEXT:
        return "\n".join((observation.title, observation.narrative)).strip()
    return observation.facts[ord].text


def _records(location: str, lines: Iterator[JsonRecord | LineFault | None]) -> Iterator[JsonRecord]:
    for line in lines:
        match line:
            case JsonRecord():
                yield line
            case LineFault():
                raise SourceError(f"{location}, {line.sentence}.")


class _Reader:
    """Reads the lines of one set and holds them to what is known so far."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._line = 1
        self._projects: dict[str, str] = {}
        self._facts: dict[str, int] = {}
        self._texts: dict[PieceName, str] = {}
        self._ids: set[str] = set()

    def head(self, record: JsonRecord) -> tuple[dict[str, str], float]:
        """Return the files of the projects, by name, and the moment of asking."""
        self._line = record.line
        projects = record.value.get("projects")
        if not isinstance(projects, dict) or not projects:
            raise self._fault(
                "'projects' is missing", 'write {"projects": {"name": "file.jsonl"}, ...} first'
            )
        folder = os.path.dirname(os.path.abspath(self._location))
        sources: dict[str, str] = {}
        for name, path in projects.items():
            if not isinstance(path, str) or not path or not name:
                raise self._fault(f"the file of project {name!r} is no text", "name a file of observations")
            sources[name] = os.path.join(folder, path)
        try:
            asked_at = from_iso(self._text(record, "asked_at"))
        except ValueError as fault:
            raise self._fault("'asked_at' is no ISO 8601 time", 'write "2026-05-08T16:00:00Z"') from fault
        return sources, asked_at

    def know(self, observations: Mapping[str, Sequence[Observation]]) -> None:
        """Take note of what questions may name."""
        for project, mine in observations.items():
            self._line = 1
            for each in mine:
                if each.id in self._projects:
                    raise self._fault(f"the id {each.id!r} stands in two projects", "use each id once")
                self._projects[each.id] = project
                self._facts[each.id] = len(each.facts)
                for ord in range(OWN_TEXT, len(each.facts)):
                    self._texts[PieceName(each.id, ord)] = text_of(each, ord).casefold()

    def question(self, record: JsonRecord) -> SetQuestion:
        """Return the question of a line."""
        self._line = record.line
        id = self._text(record, "id")
        if id in self._ids:
            raise self._fault(f"the id {id!r} was used before", "use each once")
        self._ids.add(id)
        project = self._text(record, "project")
        if project not in self._projects.values():
            raise self._fault(f"no project is called {project!r}", "take one that the first line names")
        question = SetQuestion(
            id=id,
            project=project,
            part=self._choice(record, "part", Part, Part.REPORT),
            subject=self._choice(record, "kind", Subject),
            tongue=self._choice(record, "language", Tongues),
            text=self._text(record, "text"),
            needs=tuple(self._need(entry) for entry in self._list(record, "expects", needed=True)),
            forbidden=frozenset(self._piece(entry, "forbidden") for entry in self._list(record, "forbidden")),
            answer=self._words(record, "answer"),
            tags=self._words(record, "tags"),
        )
        self._agree(question)
        return question

    def _agree(self, question: SetQuestion) -> None:
        """Refuse what contradicts itself."""
        wanted = frozenset[PieceName]().union(*question.needs)
        for piece in sorted(wanted):
            if self._projects[piece.observation] != question.project:
                raise self._fault(
                    f"{_named(piece)} is expected, but of another project", "move it to 'forbidden'"
                )
            if piece in question.forbidden:
                raise self._fault(f"{_named(piece)} is both expected and forbidden", "decide on one")
            held = self._texts[piece]
            if question.answer and not any(words.casefold() in held for words in question.answer):
                raise self._fault(f"{_named(piece)} holds no word of the answer", "correct either of them")

    def _need(self, entry: object) -> frozenset[PieceName]:
        alternatives = entry if isinstance(entry, list) else [entry]
        if not alternatives:
            raise self._fault(
                "an entry of 'expects' is an empty list", "name the pieces of which one will do"
            )
        return frozenset(self._piece(each, "expects") for each in alternatives)

    def _piece(self, entry: object, field: str) -> PieceName:
        if not isinstance(entry, dict) or not isinstance(entry.get("observation"), str):
            raise self._fault(f"an entry of '{field}' is no piece", 'write {"observation": "id", "fact": 0}')
        id, fact = entry["observation"], entry.get("fact")
        if id not in self._facts:
            raise self._fault(f"there is no observation {id!r}", "name one of the files of line 1")
        if fact is None:
            return PieceName(id, OWN_TEXT)
        if not isinstance(fact, int) or isinstance(fact, bool) or not 0 <= fact < self._facts[id]:
            raise self._fault(
                f"{id!r} has no fact {fact!r}",
                f"it has {self._facts[id]}, counted from 0; leave 'fact' out for its title and narrative",
            )
        return PieceName(id, fact)

    def _text(self, record: JsonRecord, field: str) -> str:
        value = record.value.get(field)
        if not isinstance(value, str) or not value.strip():
            raise self._fault(f"'{field}' is missing or no text", "give it one")
        return value

    def _list(self, record: JsonRecord, field: str, *, needed: bool = False) -> list[object]:
        value = record.value.get(field, None if needed else [])
        if not isinstance(value, list):
            raise self._fault(f"'{field}' is missing or no list", "write [] where there is nothing")
        return value

    def _words(self, record: JsonRecord, field: str) -> tuple[str, ...]:
        words = self._list(record, field)
        texts = tuple(word for word in words if isinstance(word, str))
        if len(texts) < len(words):
            raise self._fault(f"'{field}' holds something that is no text", "write a list of texts")
        return texts

    def _choice(
        self, record: JsonRecord, field: str, choices: type[Choice], default: Choice | None = None
    ) -> Choice:
        value = record.value.get(field)
        if value is None and default is not None:
            return default
        for choice in choices:
            if choice.value == value:
                return choice
        raise self._fault(f"'{field}' is {value!r}", f"take one of {', '.join(choices)}")

    def _fault(self, what: str, remedy: str) -> SourceError:
        return SourceError(f"{self._location}, line {self._line}: {what}; {remedy}.")


def _named(piece: PieceName) -> str:
    return piece.observation if piece.ord == OWN_TEXT else f"fact {piece.ord} of {piece.observation}"
