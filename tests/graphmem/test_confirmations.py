"""Observations that somebody confirmed: what stands, as of when, and what goes with a forgotten one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import Project
from graphmem.confirmations import Judgement, Saying
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError
from graphmem.journal import Journal
from graphmem.model import Observation, ObservationFilter

NOON = 1_000_000.0


@pytest.fixture
def journal() -> Journal:
    journal = Journal(None)
    journal.append([Observation(id=id, session="s", at=1.0, title=id) for id in "abc"], 1.0)
    return journal


def confirm(id: str, **more: str) -> Saying:
    return Saying(id, Judgement.CONFIRM, **more)


def undo(id: str) -> Saying:
    return Saying(id, Judgement.UNDO)


def test_what_is_confirmed_stands_until_it_is_taken_back(journal: Journal) -> None:
    said = journal.confirmations
    assert said.confirmed() == frozenset()
    said.judge([confirm("a"), confirm("c")], NOON)
    assert said.confirmed_ids("abc") == {"a", "c"}
    said.judge([undo("a")], NOON + 1)
    assert said.confirmed_ids("abc") == {"c"}
    said.judge([confirm("a")], NOON + 2)
    assert said.confirmed_ids("abc") == {"a", "c"}
    assert [each.verdict for each in said.said("a")] == ["confirm", "undo", "confirm"]


def test_a_past_moment_has_the_verdicts_of_that_moment(journal: Journal) -> None:
    journal.confirmations.judge([confirm("a")], NOON)
    journal.confirmations.judge([undo("a")], NOON + 10)
    assert [len(journal.confirmations.confirmed(at)) for at in (NOON - 1, NOON, NOON + 9, NOON + 10)] == [
        0,
        1,
        1,
        0,
    ]


def test_confirming_twice_is_no_change(journal: Journal) -> None:
    journal.confirmations.judge([confirm("a", by="ada"), confirm("a", by="bo")], NOON)
    assert [each.by for each in journal.confirmations.said("a")] == ["ada"]


@pytest.mark.parametrize(
    ("sayings", "fault"),
    [
        ([confirm("a"), confirm("none")], NotFoundError),
        ([confirm("a"), undo("b")], ConflictError),
        ([confirm("a"), undo("\ud800")], NotFoundError),
    ],
)
def test_of_several_all_are_stored_or_none(
    journal: Journal, sayings: list[Saying], fault: type[Exception]
) -> None:
    with pytest.raises(fault):
        journal.confirmations.judge(sayings, NOON)
    assert journal.confirmations.confirmed() == frozenset()


def test_verdicts_go_with_what_is_forgotten(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db")
    journal.append([Observation(id="a", session="s", at=1.0, title="t")], 1.0)
    journal.confirmations.judge([confirm("a", note="zebrafish")], NOON)
    journal.forget("a", NOON + 1)
    assert journal.confirmations.said("a") == ()
    assert journal.confirmations.confirmed() == frozenset()
    with pytest.raises(NotFoundError):
        journal.confirmations.judge([confirm("a")], NOON + 2)
    journal.close()
    assert b"zebrafish" not in (tmp_path / "journal.db").read_bytes()


def test_a_project_tells_what_is_confirmed_and_keeps_secrets_out(
    shop: Project, tell: Callable[..., object]
) -> None:
    tell(shop, {"id": "a", "title": "one"}, {"id": "b", "title": "two"})
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (found,) = shop.keeping.judge([confirm("a", note=f"token {secret}", by="ada" * 200)])
    assert found.confirmed
    assert [item.confirmed for item in shop.observations().items] == [False, True]
    assert not any(item.confirmed for item in shop.observations(ObservationFilter(as_of=1.0)).items)
    (said,) = shop.keeping.said("a")
    assert secret not in said.note
    assert len(said.by) == 200
    with pytest.raises(InvalidInputError):
        shop.keeping.judge([])


def test_confirmations_outlive_a_rebuild_and_a_restart(
    open_memory: Callable[..., object], shop: Project, tell: Callable[..., object]
) -> None:
    tell(shop, {"id": "a", "title": "one"})
    shop.keeping.judge([confirm("a")])
    shop.rebuild()
    assert shop.observation("a").confirmed
    shop.close()
    assert shop.observation("a").confirmed
