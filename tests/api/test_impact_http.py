"""Impact, search and sessions through HTTP: the shapes of the interface, and no question that is a fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

IMPACT_FIELDS = {
    "path", "status", "reason", "warning", "affected", "next", "active", "recent", "contracts", "module",
    "concepts", "as_of",
}  # fmt: skip
AFFECTED_FIELDS = {"path", "probability", "tier", "relation", "direction", "edge_id", "evidence"}


@pytest.fixture(scope="module")
def shop(service: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    project = str(service.project(tmp_path_factory.mktemp("shop")))
    batch: list[dict[str, Any]] = [
        {
            "id": f"pair-{n}",
            "session": f"s{n}",
            "actor": "mei",
            "title": f"Change the token format, part {n} 令牌格式",
            "intent": "tokens shall expire",
            "concepts": ["auth"],
            "files_modified": ["src/auth/token.ts", "src/checkout/session.ts"],
            "at": f"2026-05-{n + 1:02}T12:00:00Z",
        }
        for n in range(9)
    ]
    batch += [
        {
            "id": f"other-{n}",
            "session": f"t{n}",
            "title": "Cart layout 购物车",
            "files_modified": ["src/cart/page.ts", "src/cart/style.css"],
            "at": f"2026-05-{n + 1:02}T18:00:00Z",
        }
        for n in range(5)
    ]
    answer = service.client.post(f"{project}/observations?wait=visible", json=batch)
    assert answer.json()["accepted"] == len(batch)
    return project


def test_the_answer_has_the_shape_of_the_interface(service: Any, shop: str) -> None:
    answer = service.client.get(f"{shop}/impact", params={"path": "src/auth/token.ts"})
    assert answer.status_code == 200
    found = answer.json()
    assert set(found) >= IMPACT_FIELDS
    assert (found["path"], found["status"], found["reason"]) == ("src/auth/token.ts", "known", None)
    first = found["affected"][0]
    assert set(first) >= AFFECTED_FIELDS
    assert first["path"] == "src/checkout/session.ts"
    assert first["tier"] in {"likely", "possible"}
    assert 0 < first["probability"] <= 1
    assert set(first["evidence"]) == {"together", "of", "sessions", "last_seen", "observations"}
    assert (first["evidence"]["together"], first["evidence"]["of"], first["evidence"]["sessions"]) == (
        9,
        9,
        9,
    )
    assert first["evidence"]["last_seen"] == "2026-05-09T12:00:00Z"
    assert set(first["evidence"]["observations"]) <= {f"pair-{n}" for n in range(9)}
    assert set(found["recent"]) == {"window_days", "sessions", "domains", "observations"}
    assert found["warning"] is None or len(found["warning"].encode()) <= 600


def test_an_absolute_path_and_a_relative_one_are_the_same_question(service: Any, shop: str) -> None:
    root = service.client.get("/v1/projects", params={"limit": 200}).json()["items"]
    here = next(item["root"] for item in root if shop.endswith(f"/{item['slug']}"))
    for path in (
        "src/auth/token.ts",
        f"{here}/src/auth/token.ts",
        "src/./auth/../auth/token.ts",
        "src\\auth\\token.ts",
    ):
        found = service.client.get(f"{shop}/impact", params={"path": path}).json()
        assert found["path"] == "src/auth/token.ts", path
        assert found["affected"][0]["path"] == "src/checkout/session.ts"


@pytest.mark.parametrize("path", ["no/such/file.ts", "用户.py", "a b%c?.ts", "src", "x" * 300])
def test_an_unknown_file_is_a_200_with_a_reason(service: Any, shop: str, path: str) -> None:
    answer = service.client.get(f"{shop}/impact", params={"path": path})
    assert answer.status_code == 200
    found = answer.json()
    assert (found["status"], found["path"], found["warning"]) == ("unknown", path, None)
    assert found["reason"]


def test_a_set_is_answered_as_one(service: Any, shop: str) -> None:
    paths = ["src/auth/token.ts", "src/cart/page.ts"]
    found = service.client.post(f"{shop}/impact", json={"paths": paths}).json()
    assert (found["path"], found["paths"]) == (None, paths)
    names = [item["path"] for item in found["affected"]]
    assert {"src/checkout/session.ts", "src/cart/style.css"} <= set(names)
    assert not set(paths) & set(names)
    single = service.client.post(f"{shop}/impact", json={"paths": paths[:1]}).json()
    assert (single["path"], single["paths"]) == (None, paths[:1])


@pytest.mark.parametrize("path", ["../outside.ts", "/etc/passwd", "a/../../b"])
def test_a_path_outside_the_root_is_refused(service: Any, shop: str, path: str) -> None:
    for answer in (
        service.client.get(f"{shop}/impact", params={"path": path}),
        service.client.post(f"{shop}/impact", json={"paths": ["src/auth/token.ts", path]}),
    ):
        assert answer.status_code == 422
        assert "root" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({}, "path"),
        ({"path": ""}, "path"),
        ({"path": "a", "limit": "0"}, "limit"),
        ({"path": "a", "limit": "201"}, "limit"),
        ({"path": "a", "as_of": "soon"}, "as_of"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(
    service: Any, shop: str, parameters: dict[str, str], field: str
) -> None:
    answer = service.client.get(f"{shop}/impact", params=parameters)
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert error["field"] == field
    assert "Value error" not in error["message"]


@pytest.mark.parametrize(
    "body",
    [{}, {"paths": []}, {"paths": "a"}, {"paths": [7]}, {"paths": [""]}, {"paths": ["a"], "limit": 1_000},
     {"paths": ["a"], "as_of": 7}, {"paths": ["\ud800"]}, [], 7],
)  # fmt: skip
def test_a_wrong_body_is_a_422(service: Any, shop: str, body: Any) -> None:
    answer = service.client.post(f"{shop}/impact", content=json.dumps(body).encode())
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"]


def test_as_of_answers_from_what_was_known_then(service: Any, shop: str) -> None:
    for as_of, together in (("2026-05-04T00:00:00Z", 3), ("2026-05-04T14:00:00 02:00", 4)):
        parameters = {"path": "src/auth/token.ts", "as_of": as_of}
        found = service.client.get(f"{shop}/impact", params=parameters).json()
        assert found["affected"][0]["evidence"]["together"] == together
    assert found["as_of"] == "2026-05-04T12:00:00Z"
    posted = service.client.post(
        f"{shop}/impact", json={"paths": ["src/auth/token.ts"], "as_of": "2026-05-04"}
    ).json()
    assert posted["affected"][0]["evidence"]["together"] == 3
    before = {"path": "src/auth/token.ts", "as_of": "2020-01-01"}
    assert service.client.get(f"{shop}/impact", params=before).json()["status"] == "unknown"


def test_the_limit_cuts_the_list_of_affected(service: Any, shop: str) -> None:
    for limit in (1, 200):
        found = service.client.get(
            f"{shop}/impact", params={"path": "src/cart/page.ts", "limit": limit}
        ).json()
        assert 1 <= len(found["affected"]) <= limit


def test_a_whole_tasks_text_fits_into_the_address(service: Any, shop: str) -> None:
    parameters = {"path": "src/cart/page.ts", "intent": "令牌 " * 3_000}
    assert service.client.get(f"{shop}/impact", params=parameters).status_code == 200


def test_a_query_finds_texts_in_both_languages_and_says_what_is_missing(service: Any, shop: str) -> None:
    for text, found_id in (
        ("token format", "pair-"),
        ("令牌", "pair-"),
        ("购物车", "other-"),
        ("cart", "other-"),
    ):
        answer = service.client.post(f"{shop}/query", json={"text": text, "limit": 3})
        assert answer.status_code == 200
        found = answer.json()
        assert found["results"], text
        assert len(found["results"]) <= 3
        assert all(item["id"].startswith(found_id) for item in found["results"])
        assert set(found) == {"results", "context", "tokens", "degraded"}
        assert "vectors" in found["degraded"]
        head, *lines = found["context"].splitlines()
        assert "not an instruction" in head or "不是指令" in head
        ids = [item["id"] for item in found["results"]]
        entries = [line for line in lines if line.startswith("- ")]
        assert entries
        assert all(any(f"id {id})" in line for id in ids) for line in entries)


def test_the_budget_cuts_the_context_and_never_the_results(service: Any, shop: str) -> None:
    for budget in (0, 30, 100_000):
        found = service.client.post(
            f"{shop}/query", json={"text": "token", "budget_tokens": budget, "explain": True}
        ).json()
        assert len(found["results"]) == 9
        assert found["tokens"] <= budget
        assert all(item["explain"] for item in found["results"])


@pytest.mark.parametrize(
    "text", ["", "  ", '"', "'", "*", "a AND", "NEAR(", "- - -", "title:x", "(", "\x00", "?"]
)
def test_no_words_find_nothing_and_no_syntax_is_a_fault(service: Any, shop: str, text: str) -> None:
    answer = service.client.post(f"{shop}/query", json={"text": text})
    assert answer.status_code == 200
    assert isinstance(answer.json()["results"], list)


@pytest.mark.parametrize(
    ("body", "field"),
    [({}, "text"), ({"text": 7}, "text"), ({"text": "x", "limit": 0}, "limit"),
     ({"text": "x", "since": 5}, "since"), ({"text": "x", "types": "bugfix"}, "types"),
     ({"text": "x" * 70_000}, "text")],
)  # fmt: skip
def test_a_wrong_query_is_refused_by_name(service: Any, shop: str, body: dict[str, Any], field: str) -> None:
    answer = service.client.post(f"{shop}/query", json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


def test_sessions_are_listed_and_shown(service: Any, shop: str) -> None:
    page = service.client.get(f"{shop}/sessions", params={"limit": 5}).json()
    assert len(page["items"]) == 5
    assert page["next_cursor"] is not None
    assert page["items"][0]["id"] == "s8"
    one = service.client.get(f"{shop}/sessions/s8").json()
    assert one["set_out"] == "tokens shall expire"
    assert one["observations"] == 1
    assert set(one["files"]) == {"src/auth/token.ts", "src/checkout/session.ts"}
    assert service.client.get(f"{shop}/sessions/none").status_code == 404


def test_other_sessions_at_work_are_named(service: Any, tmp_path: Path) -> None:
    project = service.project(tmp_path / "busy")
    for session in ("mine", "theirs"):
        body = {"session": session, "actor": f"{session}-agent", "files_modified": ["a.py"]}
        service.client.post(f"{project}/observations?wait=visible", json=body)
    found = service.client.get(f"{project}/impact", params={"path": "a.py", "session": "mine"}).json()
    assert [(item["session"], item["actor"]) for item in found["active"]] == [("theirs", "theirs-agent")]


ODD_TEXT = st.text(st.characters(exclude_categories=()), max_size=40)


@settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ODD_TEXT, st.none() | ODD_TEXT, st.none() | ODD_TEXT)
def test_no_question_whatever_is_a_fault_of_ours(
    service: Any, shop: str, path: str, intent: str | None, session: str | None
) -> None:
    body = json.dumps({"paths": [path], "intent": intent, "session": session}).encode()
    assert service.client.post(f"{shop}/impact", content=body).status_code in {200, 422}
    query = json.dumps({"text": path, "types": [intent or ""]}).encode()
    assert service.client.post(f"{shop}/query", content=query).status_code in {200, 422}
    raw = path.encode("utf-8", "surrogatepass")
    escaped = "".join(f"%{byte:02X}" for byte in raw)
    for route in ("impact?path=", "observations?file=", "observations?cursor=", "sessions/", "observations/"):
        assert service.client.get(f"{shop}/{route}{escaped}").status_code in {200, 404, 422}
