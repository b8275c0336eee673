"""Lists of observations and sessions: order, filters, pages that neither skip nor repeat."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Project
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.instant import DAY, HOUR
from graphmem.model import ObservationFilter
from graphmem.recall.page import decode_cursor, encode_cursor

Tell = Callable[..., Any]


def ids(project: Project, limit: int = 200, **where: Any) -> list[str]:
    return [item.id for item in project.observations(ObservationFilter(**where), limit=limit).items]


@pytest.fixture
def told(shop: Project, tell: Tell, clock: Any) -> Project:
    """Five observations, a day apart, the last one today."""
    rows = [
        ("o1", "s1", "change", ["auth"], ["a.py", "b.py"]),
        ("o2", "s1", "bugfix", ["cart"], ["b.py"]),
        ("o3", "s2", "bugfix", ["Auth"], ["a.py"]),
        ("o4", "s3", "change", [], ["c.py"]),
    ]
    for age, (id, session, type, concepts, files) in zip((4, 3, 2, 1), rows, strict=True):
        tell(
            shop,
            {
                "id": id,
                "session": session,
                "type": type,
                "concepts": concepts,
                "files_modified": files,
                "at": clock.now - age * DAY,
            },
        )
    tell(
        shop, {"id": "o5", "session": "s3", "type": "note", "renames": [{"from": "a.py", "to": "moved/a.py"}]}
    )
    return shop


def test_observations_come_newest_first(told: Project) -> None:
    assert ids(told) == ["o5", "o4", "o3", "o2", "o1"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"file": "b.py"}, ["o2", "o1"]),
        ({"file": "moved/a.py"}, ["o5", "o3", "o1"]),
        ({"file": "a.py"}, ["o5", "o3", "o1"]),
        ({"file": "moved\\a.py"}, ["o5", "o3", "o1"]),
        ({"file": "never.py"}, []),
        ({"concept": "cart"}, ["o2"]),
        ({"concept": "auth"}, ["o3", "o1"]),
        ({"session": "s1"}, ["o2", "o1"]),
        ({"session": "none"}, []),
        ({"type": "bugfix"}, ["o3", "o2"]),
        ({"type": "bugfix", "file": "b.py"}, ["o2"]),
    ],
)
def test_observations_are_filtered(told: Project, where: dict[str, str], expected: list[str]) -> None:
    assert ids(told, **where) == expected


def test_since_is_inclusive_and_until_exclusive(told: Project, clock: Any) -> None:
    assert ids(told, since=clock.now - 3 * DAY) == ["o5", "o4", "o3", "o2"]
    assert ids(told, until=clock.now - 3 * DAY) == ["o1"]
    assert ids(told, since=clock.now - 3 * DAY, until=clock.now - 2 * DAY) == ["o2"]
    assert ids(told, since=clock.now, until=clock.now) == []


def test_as_of_knows_the_names_and_the_work_of_then(told: Project, clock: Any) -> None:
    then = clock.now - 2 * DAY
    assert ids(told, as_of=then) == ["o3", "o2", "o1"]
    assert ids(told, as_of=then, file="a.py") == ["o3", "o1"]
    assert ids(told, as_of=then, file="moved/a.py") == []
    assert ids(told, as_of=then, concept="auth") == ["o3", "o1"]


def test_a_path_outside_the_root_is_refused(told: Project) -> None:
    with pytest.raises(InvalidInputError, match="outside"):
        ids(told, file="/etc/passwd")


@pytest.mark.parametrize("limit", [0, 201, -3])
def test_a_limit_out_of_range_is_refused_by_name(told: Project, limit: int) -> None:
    for ask in (lambda: told.observations(limit=limit), lambda: told.sessions(limit=limit)):
        with pytest.raises(InvalidInputError) as refused:
            ask()
        assert refused.value.field == "limit"


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 200])
def test_pages_neither_skip_nor_repeat_though_new_ones_come(
    shop: Project, tell: Tell, clock: Any, limit: int
) -> None:
    rows = [
        {"id": f"o{n}", "session": f"s{n // 2}", "title": "t", "at": clock.now - n // 3} for n in range(14)
    ]
    tell(shop, *rows)
    seen: list[str] = []
    sessions: list[str] = []
    cursor = session_cursor = None
    for turn in range(30):
        if cursor or not turn:
            page = shop.observations(limit=limit, cursor=cursor)
            assert len(page.items) <= limit
            seen += [item.id for item in page.items]
            cursor = page.next_cursor
        if session_cursor or not turn:
            listed = shop.sessions(limit=limit, cursor=session_cursor)
            sessions += [item.id for item in listed.items]
            session_cursor = listed.next_cursor
        if turn == 1:
            tell(shop, {"id": "later", "session": "later", "title": "t", "at": clock.now + HOUR})
    assert sorted(seen) == sorted(row["id"] for row in rows)
    assert sorted(sessions) == sorted({str(row["session"]) for row in rows})


def test_a_page_that_was_forgotten_meanwhile_goes_on_behind_it(shop: Project, tell: Tell, clock: Any) -> None:
    tell(shop, *({"id": f"o{n}", "title": "t", "at": clock.now - n} for n in range(6)))
    page = shop.observations(limit=2)
    shop.forget("o1")
    shop.forget("o2")
    rest = shop.observations(limit=10, cursor=page.next_cursor)
    assert [item.id for item in rest.items] == ["o3", "o4", "o5"]


@pytest.mark.parametrize(
    "cursor",
    ["", "x", "é", "AAAA", "bnVsbA", "e30", encode_cursor(1.0, "name"), "\ud800", "9" * 9_999],
)
def test_a_cursor_of_another_list_or_of_nowhere_is_refused_by_name(told: Project, cursor: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        told.observations(cursor=cursor)
    assert refused.value.field == "cursor"


def test_the_cursor_of_observations_is_none_of_sessions(told: Project) -> None:
    cursor = told.observations(limit=1).next_cursor
    assert cursor is not None
    with pytest.raises(InvalidInputError):
        told.sessions(cursor=cursor)


@given(st.floats(0, 4e9), st.integers(0, 2**60) | st.text())
def test_a_cursor_names_its_row(at: float, key: int | str) -> None:
    kind: Any = type(key)
    assert decode_cursor(encode_cursor(at, key), kind) == (at, key)


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_no_cursor_whatever_is_a_fault(cursor: str) -> None:
    for kind in (int, str):
        try:
            at, key = decode_cursor(cursor, kind)
        except InvalidInputError as refused:
            assert refused.field == "cursor"
            continue
        assert type(key) is kind and abs(at) < 1e15


@pytest.mark.parametrize(
    "row", ['[NaN, 1]', '[1e999, 1]', '[true, 1]', '[1, true]', '[1, 2, 3]', '[1, 99999999999999999999999]',
            '[1, -1]', '["1", 1]', '{"at": 1}', '[1, "\\ud800"]', "[" * 5_000]
)  # fmt: skip
def test_a_forged_cursor_is_refused(told: Project, row: str) -> None:
    cursor = base64.urlsafe_b64encode(row.encode()).decode().rstrip("=")
    for ask in (told.observations, told.sessions):
        with pytest.raises(InvalidInputError):
            ask(cursor=cursor)


# ---- sessions ----------------------------------------------------------------------------------


def test_a_session_tells_what_it_set_out_to_do_did_and_left_open(
    shop: Project, tell: Tell, clock: Any
) -> None:
    tell(
        shop,
        {
            "session": "s",
            "actor": "ann",
            "source": "claude-code",
            "branch": "main",
            "intent": "log users in again",
            "title": "Look around",
            "facts": [
                {"text": "Write the tests.", "kind": "task", "state": "open"},
                {"text": "tell the team", "kind": "task"},
            ],
            "files_read": ["b.py"],
            "at": clock.now - HOUR,
        },
        {
            "session": "s",
            "actor": "ann",
            "branch": "fix",
            "title": "Fix the refresh",
            "facts": [{"text": "write  the tests", "kind": "task", "state": "done"}],
            "files_modified": ["a.py"],
            "files_deleted": ["old.py"],
            "renames": [{"from": "x.py", "to": "y.py"}],
        },
        {"session": "other", "title": "Else", "at": clock.now - DAY},
    )
    summary = shop.session("s")
    assert (summary.id, summary.actor, summary.source, summary.branch) == ("s", "ann", "claude-code", "fix")
    assert (summary.started_at, summary.ended_at, summary.observations) == (clock.now - HOUR, clock.now, 2)
    assert summary.set_out == "log users in again"
    assert summary.done == ("Fix the refresh", "Look around")
    assert summary.left_open == ("tell the team",)
    assert summary.files == ("a.py", "y.py", "old.py")
    assert [item.id for item in shop.sessions().items] == ["s", "other"]
    assert shop.sessions().items[0] == summary


def test_an_unknown_session_is_not_found(told: Project) -> None:
    with pytest.raises(NotFoundError, match="no session 'none'; list them"):
        told.session("none")
