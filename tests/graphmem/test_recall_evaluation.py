"""Asking a set: the same memory as users have, controls that show what would mislead, and the ablation."""

from __future__ import annotations

import html
import json
from pathlib import Path

import pytest

from graphmem.errors import SourceError
from graphmem.instant import to_iso
from graphmem.project import Project
from graphmem.question import Question
from graphmem.recall.packing import packed_tokens
from graphmem.recall.switches import Switches
from graphmem.recall_evaluation import (
    TELLING,
    ControlKind,
    RecallEvaluation,
    RecallStage,
    Told,
    ask_in_words,
    evaluate_recall,
)
from graphmem.recall_set import Part, PieceName, RecallSet, Subject, read_set

SHIPPED = Path(__file__).resolve().parents[2] / "fixtures" / "recall" / "questions.jsonl"


def ask_without_guards(project: Project, text: str, switches: Switches) -> Told:
    """The plainest search there is: words alone, nothing marked, as much as fits."""
    del switches
    found = project.query(Question(text), Switches(supersession=False, expansion=False)).pieces
    lines = [f'- "{html.escape(piece.text)}" ({to_iso(piece.at)[:10]}, id {piece.id})' for piece in found]
    fitting = [line for at, line in enumerate(lines) if packed_tokens("\n".join(lines[: at + 1])) <= 1_000]
    return Told((), "\n".join(fitting))


@pytest.fixture(scope="module")
def misled() -> RecallEvaluation:
    return evaluate_recall(read_set(str(SHIPPED)), part=None, controls=True, ask=ask_without_guards)


def test_a_search_without_guards_is_misled_by_the_set_that_ships(misled: RecallEvaluation) -> None:
    assert [control.kind for control in misled.controls] == list(ControlKind)
    for control in misled.controls:
        assert control.figures.interference is not None
        assert control.figures.interference.mean >= TELLING
        assert control.telling


def test_every_question_is_asked_and_every_entry_of_a_context_is_read(misled: RecallEvaluation) -> None:
    assert misled.figures.questions == len(misled.outcomes) == 149
    assert sum(each.questions for each in misled.by_subject.values()) == 149
    assert sum(each.questions for each in misled.by_tongue.values()) == 149
    for outcome in misled.outcomes:
        entries = sum(line.startswith("- ") for line in outcome.told.context.splitlines())
        assert len(outcome.shown) == entries


# ---- a set of one's own ------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> RecallSet:
    """A project with a port that changed, and one question about it in each part."""
    told = [
        {
            "id": "o1",
            "title": "First",
            "facts": ["The API listens on port 8000"],
            "at": "2026-01-01T10:00:00Z",
        },
        {
            "id": "o2",
            "title": "Then",
            "facts": ["The API listens on port 8001"],
            "at": "2026-01-02T10:00:00Z",
        },
    ]
    (tmp_path / "own.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in told), encoding="utf-8")
    lines = [{"projects": {"own": "own.jsonl"}, "asked_at": "2026-01-03T00:00:00Z"}]
    lines += [
        {
            "id": part,
            "project": "own",
            "part": part,
            "kind": "facts",
            "language": "en",
            "text": "Which port does the API listen on?",
            "expects": [{"observation": "o2", "fact": 0}],
            "forbidden": [{"observation": "o1", "fact": 0}],
        }
        for part in ("choose", "report")
    ]
    path = tmp_path / "set.jsonl"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")
    return read_set(str(path))


class Asker:
    """Answers with the old port unless supersession is on, and with the new one only by expansion."""

    def __init__(self) -> None:
        self.asked: list[Switches] = []

    def __call__(self, project: Project, text: str, switches: Switches) -> Told:
        self.asked.append(switches)
        hits = ask_in_words(project, text, switches).ranked
        assert set(hits) >= {PieceName("o1", 0), PieceName("o2", 0)}
        lines = ["- The API listens on port 8001 (api, 2026-01-02)"] if switches.expansion else []
        if not switches.supersession:
            lines.append("- The API listens on port 8000 (api, 2026-01-01)")
        return Told(hits, "\n".join(lines))


def test_controls_and_ablation_ask_the_same_questions_with_something_left_out(small: RecallSet) -> None:
    asker = Asker()
    found = evaluate_recall(small, part=None, controls=True, ablation=True, ask=asker)
    assert found.figures.hit is not None
    assert found.figures.interference is not None
    assert (found.figures.hit.mean, found.figures.interference.mean, found.degraded) == (1.0, 0.0, None)
    # With one project there is no other one to be mixed up with.
    assert [(control.kind, control.telling) for control in found.controls] == [
        (ControlKind.SUPERSESSION, True)
    ]
    assert found.ablation is not None
    assert found.ablation.whole.pays
    assert found.ablation.by_subject[Subject.FACTS].lacking.hit is not None
    assert found.ablation.by_subject[Subject.FACTS].lacking.hit.mean == 0.0
    assert asker.asked.count(Switches(supersession=False)) == 2
    assert asker.asked.count(Switches(expansion=False)) == 2


@pytest.mark.parametrize(("part", "ids"), [(Part.CHOOSE, ["choose"]), (Part.REPORT, ["report"])])
def test_only_the_part_that_was_named_is_asked(small: RecallSet, part: Part, ids: list[str]) -> None:
    stages: list[tuple[RecallStage, int, int | None]] = []
    found = evaluate_recall(small, part=part, progress=lambda *told: stages.append(told))
    assert [outcome.question.id for outcome in found.outcomes] == ids
    assert stages == [(RecallStage.LOADING, 1, 1), (RecallStage.ASKING, 1, 1)]


def test_an_old_and_a_new_port_without_a_mark_are_a_hit_and_a_fault(small: RecallSet) -> None:
    (outcome,) = evaluate_recall(small, ask=ask_without_guards).outcomes
    assert (outcome.score.hit, outcome.score.interferes, outcome.score.misleads) == (True, True, True)
    assert (outcome.score.pieces, outcome.score.idle) == (2, 1)


def test_questions_are_asked_as_everybody_asks_and_what_was_missing_is_said(small: RecallSet) -> None:
    found = evaluate_recall(small)
    (outcome,) = found.outcomes
    assert found.degraded is not None
    assert PieceName("o2", 0) in outcome.told.ranked
    assert "8001" in outcome.told.context
    assert outcome.score.misleads is False


def test_a_part_without_questions_is_refused(small: RecallSet) -> None:
    some = RecallSet(small.location, small.sources, small.observations, small.asked_at, small.questions[:1])
    with pytest.raises(SourceError, match="no question of the part 'report'"):
        evaluate_recall(some)
