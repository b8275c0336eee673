"""What happened around a file lately: other sessions at it, the last month's domains, contracts at stake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem import Project
from graphmem.instant import DAY, HOUR
from graphmem.model import ActiveSession, FileStatus

Tell = Callable[..., Any]
MINUTE = 60.0


# ---- active ------------------------------------------------------------------------------------


def test_other_sessions_of_the_last_two_hours_are_active(shop: Project, tell: Tell, clock: Any) -> None:
    ages = {"now": 0.0, "just": 2 * HOUR - 1, "edge": 2 * HOUR, "older": 2 * HOUR + 1, "own": 5 * MINUTE}
    for session, age in ages.items():
        tell(
            shop,
            {"session": session, "actor": f"{session}-er", "at": clock.now - age, "files_modified": ["a.py"]},
        )
    active = shop.impact(["a.py"], session="own").active
    assert active == (
        ActiveSession("now", "now-er", "a.py", clock.now),
        ActiveSession("just", "just-er", "a.py", clock.now - 2 * HOUR + 1),
    )
    assert [entry.session for entry in shop.impact(["a.py"]).active] == ["now", "own", "just"]


def test_a_session_stands_once_a_file_with_its_last_touch(shop: Project, tell: Tell, clock: Any) -> None:
    for minutes in (50, 10, 30):
        at = clock.now - minutes * MINUTE
        tell(shop, {"session": "other", "at": at, "files_modified": ["a.py"], "files_read": ["b.py"]})
    active = shop.impact(["a.py"]).active
    assert [(entry.path, entry.at) for entry in active] == [("a.py", clock.now - 10 * MINUTE)]


def test_reading_is_being_at_a_file(shop: Project, tell: Tell) -> None:
    tell(shop, {"session": "reader", "files_read": ["a.py"]})
    assert [entry.session for entry in shop.impact(["a.py"]).active] == ["reader"]


def test_work_on_a_first_neighbour_counts_and_on_an_unlinked_sibling_does_not(
    shop: Project, tell: Tell, clock: Any
) -> None:
    for day in range(3, 0, -1):
        tell(shop, {"session": f"d{day}", "at": clock.now - day * DAY, "files_modified": ["a.py", "b.py"]})
    tell(
        shop,
        {"session": "neighbour", "files_modified": ["b.py"]},
        {"session": "stranger", "files_modified": ["c.py"]},
    )
    answer = shop.impact(["a.py"])
    assert [(entry.session, entry.path) for entry in answer.active] == [("neighbour", "b.py")]


def test_a_busy_project_hides_no_session(shop: Project, tell: Tell, clock: Any) -> None:
    tell(shop, {"session": "early", "actor": "ann", "at": clock.now - HOUR, "files_modified": ["a.py"]})
    others = ({"session": f"s{n}", "actor": "bo", "files_modified": [f"other/{n}.py"]} for n in range(400))
    tell(shop, *others)
    assert [entry.session for entry in shop.impact(["a.py"]).active] == ["early"]


def test_a_bulk_change_is_nobodys_work_on_a_file(shop: Project, tell: Tell) -> None:
    tell(shop, {"session": "sweep", "files_modified": [f"{n}.py" for n in range(150)]})
    assert shop.impact(["7.py"]).active == ()


def test_active_is_as_of_the_moment_asked_about(shop: Project, tell: Tell, clock: Any) -> None:
    tell(shop, {"session": "then", "at": clock.now - DAY, "files_modified": ["a.py"]})
    tell(shop, {"session": "now", "files_modified": ["a.py"]})
    then = shop.impact(["a.py"], as_of=clock.now - DAY + HOUR)
    assert [entry.session for entry in then.active] == ["then"]
    clock.passes(3 * HOUR)
    assert shop.impact(["a.py"]).active == ()


def test_a_renamed_file_is_named_as_it_is_called_now(shop: Project, tell: Tell) -> None:
    tell(
        shop,
        {"session": "s1", "files_modified": ["a.py"]},
        {"session": "s2", "renames": [{"from": "a.py", "to": "b.py"}]},
    )
    assert {(entry.session, entry.path) for entry in shop.impact(["b.py"]).active} == {
        ("s1", "b.py"),
        ("s2", "b.py"),
    }


# ---- recent ------------------------------------------------------------------------------------


def test_the_last_thirty_days_are_counted_by_session_and_domain(
    shop: Project, tell: Tell, clock: Any
) -> None:
    for name, age, concept in (
        ("new", 1 * DAY, "checkout"),
        ("edge", 30 * DAY, "checkout"),
        ("old", 30 * DAY + 1, "shipping"),
        ("other", 2 * DAY, "payment"),
    ):
        tell(
            shop,
            {
                "id": name,
                "session": name,
                "at": clock.now - age,
                "title": f"Work on {concept}",
                "concepts": [concept],
                "files_modified": ["a.py"],
            },
        )
    recent = shop.impact(["a.py"]).recent
    assert (recent.window_days, recent.sessions) == (30, 3)
    assert [observation.id for observation in recent.observations] == ["new", "other", "edge"]
    domains = {domain.concept: (domain.sessions, domain.last_seen) for domain in recent.domains}
    assert domains["checkout"] == (2, clock.now - DAY)
    assert domains["payment"] == (1, clock.now - 2 * DAY)
    assert "shipping" not in domains
    assert recent.domains[0].concept == "checkout"


def test_of_recent_work_the_last_five_are_shown_with_their_titles(
    shop: Project, tell: Tell, clock: Any
) -> None:
    for number in range(8):
        at = clock.now - number * HOUR
        tell(shop, {"id": f"o{number}", "at": at, "title": f"Step {number}", "files_modified": ["a.py"]})
    recent = shop.impact(["a.py"]).recent
    assert [(item.id, item.title) for item in recent.observations] == [
        (f"o{number}", f"Step {number}") for number in range(5)
    ]


def test_recent_is_as_of_the_moment_asked_about(shop: Project, tell: Tell, clock: Any) -> None:
    tell(shop, {"id": "then", "at": clock.now - 40 * DAY, "files_modified": ["a.py"]})
    tell(shop, {"id": "now", "files_modified": ["a.py"]})
    then = shop.impact(["a.py"], as_of=clock.now - 20 * DAY).recent
    assert [item.id for item in then.observations] == ["then"]
    assert [item.id for item in shop.impact(["a.py"]).recent.observations] == ["now"]


# ---- contracts ---------------------------------------------------------------------------------


def test_contracts_named_in_work_on_the_file_are_at_stake(shop: Project, tell: Tell, clock: Any) -> None:
    tell(
        shop,
        {
            "at": clock.now - DAY,
            "title": "Checkout calls POST /api/v1/auth/session",
            "concepts": ["checkout"],
            "files_modified": ["src/token.ts"],
        },
        {"title": "Elsewhere: GET /api/v1/stock", "files_modified": ["src/stock.ts"]},
    )
    (found,) = shop.impact(["src/token.ts"]).contracts
    assert found.name == "POST /api/v1/auth/session"
    assert (found.last_seen, found.superseded_by) == (clock.now - DAY, None)
    assert "checkout" in found.used_by
    assert shop.impact(["src/other.ts"]).contracts == ()


def test_a_contract_that_was_replaced_says_by_what(shop: Project, tell: Tell, clock: Any) -> None:
    tell(
        shop,
        {"at": clock.now - 3 * DAY, "title": "Uses POST /api/v1/pay", "files_modified": ["pay.ts"]},
        {
            "at": clock.now - DAY,
            "title": "Move POST /api/v1/pay to POST /api/v2/pay",
            "files_modified": ["gateway.ts"],
        },
    )
    (now,) = shop.impact(["pay.ts"]).contracts
    assert (now.name, now.superseded_by) == ("POST /api/v1/pay", "POST /api/v2/pay")
    assert now.last_seen == clock.now - DAY
    (then,) = shop.impact(["pay.ts"], as_of=clock.now - 2 * DAY).contracts
    assert (then.superseded_by, then.last_seen) == (None, clock.now - 3 * DAY)


# ---- concepts ----------------------------------------------------------------------------------


def test_a_file_is_about_what_its_work_was_about(shop: Project, tell: Tell) -> None:
    for number in range(3):
        tell(shop, {"session": f"s{number}", "concepts": ["auth", "jwt"], "files_modified": ["token.ts"]})
    tell(shop, {"concepts": ["cart"], "files_modified": ["cart.ts"]})
    assert set(shop.impact(["token.ts"]).concepts[:2]) <= {"auth", "jwt", "token"}
    assert "cart" not in shop.impact(["token.ts"]).concepts


@pytest.mark.parametrize("path", ["unknown.py", "src/unknown.py"])
def test_around_an_unknown_file_nothing_is_said(shop: Project, tell: Tell, path: str) -> None:
    tell(shop, {"files_modified": ["a.py"], "title": "POST /api/v1/x"})
    answer = shop.impact([path])
    assert answer.status is FileStatus.UNKNOWN
    assert (answer.active, answer.contracts, answer.concepts, answer.recent.sessions) == ((), (), (), 0)
