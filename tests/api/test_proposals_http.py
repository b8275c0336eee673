"""What names tell of an edge, through HTTP: the guess with its cue, and a confirmation that takes it over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

TEST, SUBJECT, OTHER = "tests/auth/test_token.py", "src/auth/token.py", "src/auth/keys.py"
BECAUSE = "test_token.py is named after token.py"
GUESS = ("proposed_relation", "proposed_direction", "proposed_because")


@pytest.fixture
def shop(service: Any, tmp_path: Path) -> str:
    """A project in which a test, its subject and another file changed together in six sessions."""
    project = str(service.project(tmp_path / "shop"))
    batch = [
        {
            "id": f"turn-{n}",
            "session": f"s-{n}",
            "title": f"Change the token, part {n}",
            "files_modified": [TEST, SUBJECT, OTHER],
            "at": f"2026-05-{1 + n:02}T08:00:00Z",
        }
        for n in range(6)
    ]
    assert service.client.post(f"{project}/observations?wait=visible", json=batch).json()["accepted"] == 6
    assert service.client.post(f"{project}/infer").status_code == 200
    return project


@pytest.fixture
def between(service: Any, shop: str) -> Iterator[Callable[[str, str], dict[str, Any]]]:
    """Return the edge between two files."""

    def find(one: str, other: str) -> dict[str, Any]:
        items = service.client.get(f"{shop}/edges", params={"limit": 200, "node": f"file:{one}"}).json()[
            "items"
        ]
        (found,) = [edge for edge in items if other in (edge["from"]["name"], edge["to"]["name"])]
        return dict(found)

    yield find


def guess(edge: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(edge[field] for field in GUESS)


def verdict(service: Any, shop: str, edge: dict[str, Any], **body: Any) -> httpx.Response:
    answer: httpx.Response = service.client.post(f"{shop}/edges/{edge['id']}/verdict", json=body)
    return answer


def test_an_edge_carries_the_guess_of_its_names_and_the_cue(service: Any, shop: str, between: Any) -> None:
    edge = between(TEST, SUBJECT)
    forward = "forward" if edge["from"]["name"] == TEST else "backward"
    assert guess(edge) == ("tests", forward, BECAUSE)
    assert edge["relation"] is edge["direction"] is None, "a guess is not an answer"
    assert guess(service.client.get(f"{shop}/edges/{edge['id']}").json()) == guess(edge)
    assert guess(between(SUBJECT, OTHER)) == (None, None, None)


def test_a_confirmation_takes_a_guess_over_only_when_it_says_so(
    service: Any, shop: str, between: Any
) -> None:
    edge = between(TEST, SUBJECT)
    plain = verdict(service, shop, edge, verdict="confirm").json()
    assert (plain["status"], plain["relation"]) == ("confirmed", None)
    assert guess(plain) == guess(edge), "what it means is still open"
    taken = verdict(service, shop, edge, verdict="confirm", as_proposed=True).json()
    assert (taken["relation"], taken["direction"]) == guess(edge)[:2]
    assert guess(taken) == (None, None, None)
    again = verdict(service, shop, edge, verdict="confirm", as_proposed=True).json()
    assert len(again["verdicts"]) == 2, "the same verdict twice is no change"
    walked = service.client.get(f"{shop}/dependents", params={"node": f"file:{SUBJECT}"}).json()
    assert [item["node"]["name"] for item in walked["confirmed"]] == [TEST]


def test_a_relation_that_is_given_wins_over_the_guess(service: Any, shop: str, between: Any) -> None:
    edge = between(TEST, SUBJECT)
    said = {"relation": "documents", "direction": "both", "as_proposed": True}
    judged = verdict(service, shop, edge, verdict="confirm", **said).json()
    assert (judged["relation"], judged["direction"]) == ("documents", "both")


@pytest.mark.parametrize(
    ("ends", "body"),
    [
        ((SUBJECT, OTHER), {"verdict": "confirm", "as_proposed": True}),
        ((TEST, SUBJECT), {"verdict": "reject", "as_proposed": True}),
        ((TEST, SUBJECT), {"verdict": "undo", "as_proposed": True}),
        ((TEST, SUBJECT), {"verdict": "confirm", "as_proposed": "perhaps"}),
    ],
)
def test_what_is_not_proposed_is_not_taken(
    service: Any, shop: str, between: Any, ends: tuple[str, str], body: dict[str, Any]
) -> None:
    edge = between(*ends)
    answer = verdict(service, shop, edge, **body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["field"] == "as_proposed"
    assert between(*ends)["verdicts"] == []


def test_a_batch_names_the_place_of_what_is_not_proposed(service: Any, shop: str, between: Any) -> None:
    ids = [between(TEST, SUBJECT)["id"], between(SUBJECT, OTHER)["id"]]
    body = [{"id": id, "verdict": "confirm", "as_proposed": True} for id in ids]
    answer = service.client.post(f"{shop}/edges/verdicts", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "1.as_proposed"
    unknown = [{"id": "0" * 16, "verdict": "confirm", "as_proposed": True}]
    assert service.client.post(f"{shop}/edges/verdicts", json=unknown).status_code == 404
    assert between(TEST, SUBJECT)["verdicts"] == []
