"""The form of a set of questions: what is read, what is refused, and that the set which ships is sound."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem.errors import SourceError
from graphmem.recall_set import (
    OWN_TEXT,
    Part,
    PieceName,
    RecallSet,
    SetQuestion,
    Subject,
    Tongues,
    read_set,
    text_of,
)

SHIPPED = Path(__file__).resolve().parents[2] / "fixtures" / "recall" / "questions.jsonl"
HEAD = {"projects": {"shop": "shop.jsonl", "bank": "bank.jsonl"}, "asked_at": "2026-02-01T00:00:00Z"}
QUESTION = {
    "id": "q1",
    "project": "shop",
    "kind": "facts",
    "language": "en",
    "text": "Which port?",
    "expects": [{"observation": "s1", "fact": 1}],
}

Writer = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Writer:
    """A writer of small sets: `write(*lines)`, beside two files of observations."""

    def written(*lines: object) -> Path:
        shop = {
            "id": "s1",
            "title": "A port",
            "narrative": "n",
            "facts": ["f0", "port 8000"],
            "at": 1_767_225_600,
        }
        bank = {"id": "b1", "title": "Another port", "facts": ["port 9000"], "at": 1_767_225_600}
        for name, each in (("shop", shop), ("bank", bank)):
            (tmp_path / f"{name}.jsonl").write_text(json.dumps(each) + "\n", encoding="utf-8")
        path = tmp_path / "set.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    return written


def test_a_set_is_read_with_its_observations_and_questions(write: Writer) -> None:
    whole = QUESTION | {
        "part": "choose",
        "expects": [
            {"observation": "s1"},
            [{"observation": "s1", "fact": 0}, {"observation": "s1", "fact": 1}],
        ],
        "forbidden": [{"observation": "b1", "fact": 0}],
        "answer": ["port", "f0"],
        "tags": ["across"],
    }
    found = read_set(str(write(HEAD, "", whole)))
    assert {name: [each.id for each in mine] for name, mine in found.observations.items()} == {
        "shop": ["s1"],
        "bank": ["b1"],
    }
    assert found.questions == (
        SetQuestion(
            id="q1",
            project="shop",
            part=Part.CHOOSE,
            subject=Subject.FACTS,
            tongue=Tongues.ENGLISH,
            text="Which port?",
            needs=(
                frozenset({PieceName("s1", OWN_TEXT)}),
                frozenset({PieceName("s1", 0), PieceName("s1", 1)}),
            ),
            forbidden=frozenset({PieceName("b1", 0)}),
            answer=("port", "f0"),
            tags=("across",),
        ),
    )


def test_a_question_that_says_no_part_is_for_reporting(write: Writer) -> None:
    (question,) = read_set(str(write(HEAD, QUESTION))).questions
    assert (question.part, question.forbidden, question.answer) == (Part.REPORT, frozenset(), ())


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"id": ""}, "'id' is missing or no text"),
        ({"id": 7}, "'id' is missing or no text"),
        ({"text": "  "}, "'text' is missing"),
        ({"project": "mill"}, "no project is called 'mill'"),
        ({"kind": "fact"}, "'kind' is 'fact'; take one of facts, preferences, progress, decisions"),
        ({"language": None}, "'language' is None; take one of en, zh, mixed"),
        ({"part": "test"}, "take one of choose, report"),
        ({"expects": None}, "'expects' is missing or no list"),
        ({"expects": {"observation": "s1"}}, "'expects' is missing or no list"),
        ({"expects": ["s1"]}, "an entry of 'expects' is no piece"),
        ({"expects": [[]]}, "an entry of 'expects' is an empty list"),
        ({"expects": [{"observation": "s9"}]}, "there is no observation 's9'"),
        ({"expects": [{"observation": "s1", "fact": 2}]}, "'s1' has no fact 2; it has 2, counted from 0"),
        ({"expects": [{"observation": "s1", "fact": -1}]}, "'s1' has no fact -1"),
        ({"expects": [{"observation": "s1", "fact": True}]}, "'s1' has no fact True"),
        ({"expects": [{"observation": "b1", "fact": 0}]}, "is expected, but of another project"),
        ({"forbidden": [{"observation": "s1", "fact": 1}]}, "fact 1 of s1 is both expected and forbidden"),
        ({"forbidden": "s1"}, "'forbidden' is missing or no list"),
        ({"answer": ["9999"]}, "fact 1 of s1 holds no word of the answer"),
        ({"tags": [1]}, "'tags' holds something that is no text"),
    ],
)
def test_a_question_that_is_not_of_the_form_is_refused_with_its_line(
    write: Writer, change: dict[str, Any], says: str
) -> None:
    path = write(HEAD, QUESTION | {"id": "q0"}, QUESTION | change)
    with pytest.raises(SourceError) as fault:
        read_set(str(path))
    sentence = str(fault.value)
    assert sentence.startswith(f"{path}, line 3: ")
    assert says in sentence
    assert sentence.endswith(".")


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([], "is empty"),
        ([HEAD], "asks nothing"),
        ([QUESTION], "line 1: 'projects' is missing"),
        ([HEAD | {"projects": {}}, QUESTION], "line 1: 'projects' is missing"),
        ([HEAD | {"projects": {"shop": 1}}, QUESTION], "line 1: the file of project 'shop' is no text"),
        ([HEAD | {"projects": {"shop": "gone.jsonl"}}, QUESTION], "gone.jsonl"),
        ([HEAD | {"asked_at": "yesterday"}, QUESTION], "line 1: 'asked_at' is no ISO 8601 time"),
        (
            [HEAD | {"asked_at": "2025-01-01"}, QUESTION],
            "line 1: 'asked_at' lies before the last observation",
        ),
        ([HEAD | {"projects": {"a": "shop.jsonl", "b": "shop.jsonl"}}, QUESTION], "stands in two projects"),
        ([HEAD, QUESTION, QUESTION], "line 3: the id 'q1' was used before"),
        ([HEAD, "[1]"], "line 2: an array instead of a JSON object"),
        ([HEAD, '{"id": '], "line 2: not valid JSON"),
    ],
)
def test_a_file_that_is_no_set_is_refused_in_one_sentence(write: Writer, lines: list[Any], says: str) -> None:
    with pytest.raises(SourceError) as fault:
        read_set(str(write(*lines)))
    assert says in str(fault.value)
    assert "\n" not in str(fault.value)


# ---- the set that ships ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped() -> RecallSet:
    return read_set(str(SHIPPED))


def outdated(shipped: RecallSet) -> list[SetQuestion]:
    """The questions that forbid something of their own project."""
    projects = {each.id: name for name, mine in shipped.observations.items() for each in mine}
    return [
        question
        for question in shipped.questions
        if any(projects[piece.observation] == question.project for piece in question.forbidden)
    ]


def test_the_set_is_large_enough_and_each_half_too(shipped: RecallSet) -> None:
    parts = Counter(question.part for question in shipped.questions)
    assert min(parts[part] for part in Part) >= 60
    assert len(shipped.observations) == 2
    assert all(len(mine) >= 70 for mine in shipped.observations.values())
    assert len(outdated(shipped)) >= 30


def test_both_halves_ask_alike(shipped: RecallSet) -> None:
    for group in (lambda each: each.subject, lambda each: each.tongue, lambda each: each.project):
        counts = Counter((group(question), question.part) for question in shipped.questions)
        for name, _ in counts:
            assert abs(counts[name, Part.CHOOSE] - counts[name, Part.REPORT]) <= 4
    halves = Counter(question.part for question in outdated(shipped))
    assert abs(halves[Part.CHOOSE] - halves[Part.REPORT]) <= 4


def test_languages_and_kinds_are_balanced(shipped: RecallSet) -> None:
    tongues = Counter(question.tongue for question in shipped.questions)
    assert tongues[Tongues.ENGLISH] <= 1.2 * (tongues[Tongues.CHINESE] + tongues[Tongues.MIXED])
    assert tongues[Tongues.CHINESE] + tongues[Tongues.MIXED] <= 1.2 * tongues[Tongues.ENGLISH]
    assert min(Counter(question.subject for question in shipped.questions).values()) >= 20


def test_every_answer_has_a_key_word_and_what_is_forbidden_lacks_it_or_is_older(shipped: RecallSet) -> None:
    known = {each.id: each for mine in shipped.observations.values() for each in mine}
    for question in shipped.questions:
        assert bool(question.needs) == bool(question.answer), question.id
        newest = max((known[p.observation].at for need in question.needs for p in need), default=0.0)
        for piece in question.forbidden:
            older = known[piece.observation].at < newest
            told = text_of(known[piece.observation], piece.ord).casefold()
            assert older or not any(words.casefold() in told for words in question.answer), question.id


def test_some_questions_have_no_answer_and_some_only_in_the_other_project(shipped: RecallSet) -> None:
    unanswered = [question for question in shipped.questions if not question.needs]
    assert len([question for question in unanswered if not question.forbidden]) >= 6
    assert len([question for question in unanswered if question.forbidden]) >= 6
    assert len([question for question in shipped.questions if len(question.needs) > 1]) >= 3


def test_the_observations_are_those_of_several_people_over_months(shipped: RecallSet) -> None:
    for mine in shipped.observations.values():
        assert len({each.actor for each in mine}) >= 3
        assert len({each.session for each in mine}) >= 30
        assert max(each.at for each in mine) - min(each.at for each in mine) > 115 * 86_400
        kinds = Counter(fact.kind for each in mine for fact in each.facts)
        assert len(kinds) == 5
