"""Observations through HTTP: stored durably and once, refused by field, listed, shown, forgotten."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

MOST_BYTES = 8 * 1024 * 1024
FULL = {
    "id": "turn:81/a?b#c d%20é",
    "session": "s-42",
    "source": "claude-code",
    "actor": "agent-1",
    "branch": "main",
    "type": "bugfix",
    "title": "Fix JWT refresh 修复",
    "intent": "users are logged out after an hour",
    "narrative": "The clock was local.",
    "facts": ["access_token TTL: 3600 -> 900", {"text": "back up first", "kind": "preference"}],
    "concepts": ["auth", "jwt"],
    "files_read": ["src/auth/token.ts"],
    "files_modified": ["src/auth/refresh.ts", "src/模块.py"],
    "files_deleted": ["old.ts"],
    "renames": [{"from": "a.ts", "to": "b.ts"}],
    "at": "2026-05-01T12:00:00Z",
}


@pytest.fixture
def project(service: Any, tmp_path: Path) -> str:
    return str(service.project(tmp_path / "observed"))


@pytest.fixture
def send(service: Any, project: str) -> Any:
    def post(body: Any, **parameters: str) -> httpx.Response:
        answer: httpx.Response = service.client.post(
            f"{project}/observations",
            params=parameters,
            content=body if isinstance(body, bytes) else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        return answer

    return post


def test_one_observation_comes_back_as_it_was_sent(service: Any, project: str, send: Any) -> None:
    answer = send(FULL, wait="visible")
    assert answer.status_code == 201
    assert answer.json() == {"accepted": 1, "duplicates": 0, "rejected": [], "ids": [FULL["id"]], "notes": []}
    name = "".join(f"%{byte:02X}" for byte in str(FULL["id"]).encode())
    found = service.client.get(f"{project}/observations/{name}").json()
    assert found["facts"][1] == {
        "text": "back up first",
        "kind": "preference",
        "state": None,
        "scope": "project",
    }
    for field in FULL.keys() - {"facts"}:
        assert found[field] == FULL[field], field


def test_what_was_sent_is_seen_once_the_answer_waits_for_it(service: Any, project: str, send: Any) -> None:
    for number in range(5):
        send(
            {"id": f"w{number}", "files_modified": ["a.py", "b.py"], "session": f"s{number}"}, wait="visible"
        )
        listed = service.client.get(f"{project}/observations").json()["items"]
        assert listed[0]["id"] == f"w{number}"
        impact = service.client.get(f"{project}/impact", params={"path": "a.py"}).json()
        assert impact["affected"][0]["evidence"]["together"] == number + 1


def test_without_waiting_it_is_seen_within_a_second(
    service: Any, project: str, send: Any, eventually: Any
) -> None:
    send({"id": "soon", "title": "soon"})
    began = time.monotonic()
    eventually(lambda: service.client.get(f"{project}/observations").json()["items"])
    assert time.monotonic() - began < 5


def test_waiting_for_vectors_says_that_there_are_none(send: Any) -> None:
    notes = send({"title": "x"}, wait="vectors").json()["notes"]
    assert any("vectors" in note for note in notes)
    assert send({"title": "x"}, wait="for godot").status_code == 422


def test_sent_twice_it_is_stored_once(service: Any, project: str, send: Any) -> None:
    for expected in ((1, 0), (0, 1)):
        answer = send({"id": "twice", "title": "x"}, wait="visible").json()
        assert (answer["accepted"], answer["duplicates"]) == expected
        assert answer["ids"] == ["twice"]
    batch = send([{"id": "twice", "title": "x"}, {"id": "new", "title": "y"}, {"id": "new", "title": "y"}])
    assert (batch.json()["accepted"], batch.json()["duplicates"]) == (1, 2)
    assert len(service.client.get(f"{project}/observations").json()["items"]) >= 1


def test_sent_by_many_clients_at_once_each_is_stored_once(service: Any, project: str) -> None:
    accepted: list[int] = []
    failed: list[str] = []

    def post() -> None:
        with service.stranger() as client:
            client.headers["Authorization"] = f"Bearer {service.token}"
            for number in range(15):
                body = [{"id": f"c{number}", "title": "x", "files_modified": ["a.py", f"b{number}.py"]}]
                answer = client.post(f"{project}/observations", json=body)
                asked = client.get(f"{project}/impact", params={"path": "a.py"})
                if answer.status_code != 201 or asked.status_code != 200:
                    failed.append(answer.text + asked.text)
                else:
                    accepted.append(answer.json()["accepted"])

    threads = [threading.Thread(target=post) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert sum(accepted) == 15
    assert service.client.get(f"{project}/stats").json()["observations"] == 15


def test_of_a_batch_the_good_ones_are_stored_and_the_bad_ones_listed(
    service: Any, project: str, send: Any
) -> None:
    batch: list[Any] = [
        {"id": "good-0", "title": "a"},
        {"id": "bad-1"},
        {"id": "bad-2", "files_read": "a.py"},
        "no observation",
        None,
        {"id": "good-5", "files_modified": ["x.py"]},
        {"id": "bad-6", "title": "t", "at": "yesterday"},
        {"id": "bad-7", "title": "t", "files_modified": ["../outside.py"]},
    ]
    answer = send(batch, wait="visible")
    assert answer.status_code == 201
    body = answer.json()
    assert body["accepted"] == 2
    assert body["ids"] == ["good-0", "good-5"]
    assert [item["index"] for item in body["rejected"]] == [1, 2, 3, 4, 6, 7]
    assert all(item["errors"] and item["errors"][0]["message"] for item in body["rejected"])
    fields = {item["index"]: item["errors"][0]["field"] for item in body["rejected"]}
    assert fields[2].startswith("files_read")
    assert fields[6] == "at"
    assert fields[7].startswith("files_modified")
    listed = service.client.get(f"{project}/observations").json()["items"]
    assert {item["id"] for item in listed} == {"good-0", "good-5"}


def test_an_empty_batch_is_no_fault(send: Any) -> None:
    assert send([]).json()["accepted"] == 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"title": 7}, "title"),
        ({"facts": "no list"}, "facts"),
        ({"facts": [7]}, "facts"),
        ({"facts": [{"kind": "fact"}]}, "facts"),
        ({"facts": [{"text": "x", "kind": "gossip"}]}, "facts"),
        ({"concepts": {"a": 1}}, "concepts"),
        ({"files_modified": [7]}, "files_modified"),
        ({"files_modified": ["/somewhere/else/a.py"]}, "files_modified"),
        ({"files_read": ["a/../../b"]}, "files_read"),
        ({"renames": [{"from": "a"}]}, "renames"),
        ({"renames": ["a -> b"]}, "renames"),
        ({"at": "1969-12-31T23:59:59Z"}, "at"),
        ({"at": "2999-01-01T00:00:00Z"}, "at"),
        ({"at": "not a time"}, "at"),
        ({"at": True}, "at"),
        ({"at": 1e300}, "at"),
        ({"id": "x" * 201}, "id"),
        ({"id": 7}, "id"),
        ({"files_read": [f"f{n}" for n in range(2_001)]}, "files_read"),
        ({"concepts": [f"c{n}" for n in range(201)]}, "concepts"),
    ],
)
def test_a_single_one_with_a_fault_is_a_422_that_names_the_field(
    send: Any, change: dict[str, Any], field: str
) -> None:
    answer = send({"title": "fine"} | change)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["errors"][0]["field"].split(".")[0] == field
    assert field in answer.json()["detail"]


def test_what_is_changed_or_ignored_on_the_way_in_is_noted(service: Any, project: str, send: Any) -> None:
    answer = send(
        b'{"id": "odd", "title": "a\\u0000b\\ud800c", "narrative": "'
        + b"x" * 70_000
        + b'", "mood": "good", "files_read": ["a\\u0000.py"]}',
        wait="visible",
    )
    assert answer.status_code == 201
    found = service.client.get(f"{project}/observations/odd").json()
    assert found["title"] == "a\ufffdb\ufffdc"
    assert len(found["narrative"]) == 64 * 1024
    told = " ".join(answer.json()["notes"] + found["notes"])
    for word in ("title", "narrative", "mood"):
        assert word in told


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'title': 'x'}",
        b'{"title": "x",}',
        b"\xff\xfe\x00",
        b'{"title": "\xff"}',
        b'{"at": NaN}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"at": 1' + b"0" * 5_000 + b"}",
    ],
)
def test_a_body_that_is_no_json_is_a_400(send: Any, body: bytes) -> None:
    answer = send(body)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("body", [b"7", b'"text"', b"null", b"true"])
def test_json_that_is_no_observation_is_a_422(send: Any, body: bytes) -> None:
    assert send(body).status_code == 422


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "a", "x/y"]
)
def test_another_media_type_is_a_415(service: Any, project: str, kind: str) -> None:
    for route in (f"{project}/observations", f"{project}/impact", f"{project}/query", "/v1/projects"):
        answer = service.client.post(route, content=b'{"title": "x"}', headers={"Content-Type": kind})
        assert answer.status_code == 415, route
        assert "application/json" in answer.json()["detail"]


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", None]
)
def test_json_goes_by_several_names(service: Any, project: str, kind: str | None) -> None:
    headers = {} if kind is None else {"Content-Type": kind}
    answer = service.client.post(f"{project}/observations", content=b'{"title": "x"}', headers=headers)
    assert answer.status_code == 201


def test_more_than_a_thousand_are_a_413_and_none_is_stored(service: Any, project: str, send: Any) -> None:
    answer = send([{"id": f"m{n}", "title": "x"} for n in range(1_001)])
    assert answer.status_code == 413
    assert (
        send([{"id": f"m{n}", "title": "x"} for n in range(1_000)], wait="visible").json()["accepted"]
        == 1_000
    )
    assert service.client.get(f"{project}/stats").json()["observations"] == 1_000


def test_over_eight_mebibytes_is_a_413_however_it_is_sent(service: Any, project: str) -> None:
    body = json.dumps({"title": "x", "narrative": "y" * MOST_BYTES}).encode()

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 65_536):
            yield body[start : start + 65_536]

    for content in (body, pieces()):
        answer = service.client.post(f"{project}/observations", content=content)
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
    for route in (f"{project}/impact", f"{project}/query", "/v1/projects"):
        assert service.client.post(route, content=body).status_code == 413


def test_just_under_the_limit_is_taken(send: Any) -> None:
    padding = MOST_BYTES - len(json.dumps({"title": "x", "narrative": ""}))
    body = json.dumps({"title": "x", "narrative": "y" * padding}).encode()
    assert len(body) == MOST_BYTES
    assert send(body).status_code == 201


def test_a_forgotten_one_is_gone_everywhere_and_stays_so(service: Any, project: str, send: Any) -> None:
    client = service.client
    for name in ("keep", "forget"):
        send(
            {"id": name, "title": f"{name} wombat", "files_modified": [f"{name}.py", "x.py"]}, wait="visible"
        )
    assert client.delete(f"{project}/observations/forget").status_code == 204
    assert client.get(f"{project}/observations/forget").status_code == 404
    assert client.delete(f"{project}/observations/forget").status_code == 404
    answer = send({"id": "forget", "title": "again"}, wait="visible").json()
    assert (answer["accepted"], answer["duplicates"]) == (0, 1)
    assert [item["id"] for item in client.get(f"{project}/observations").json()["items"]] == ["keep"]
    found = client.post(f"{project}/query", json={"text": "wombat"}).json()
    assert [item["id"] for item in found["results"]] == ["keep"]
    impact = client.get(f"{project}/impact", params={"path": "x.py"}).json()
    assert [item["path"] for item in impact["affected"]] == ["keep.py"]


def test_an_unknown_id_is_a_404(service: Any, project: str) -> None:
    for name in ("none", "a/b/c", "a:b", "%00", "%F0%9F%A7%AA", "x" * 900):
        for method in ("GET", "DELETE"):
            answer = service.client.request(method, f"{project}/observations/{name}")
            assert answer.status_code == 404, name


@pytest.fixture
def many(service: Any, project: str, send: Any) -> str:
    send(
        [
            {
                "id": f"o{n}",
                "title": f"t{n}",
                "session": f"s{n % 3}",
                "type": "bugfix" if n % 2 else "feature",
                "concepts": ["auth"] if n % 5 == 0 else [],
                "files_modified": [f"f{n % 4}.py"],
                "at": f"2026-05-{n + 1:02}T00:00:00Z",
            }
            for n in range(20)
        ],
        wait="visible",
    )
    return project


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({}, range(20)),
        ({"file": "f1.py"}, range(1, 20, 4)),
        ({"file": "no-such.py"}, []),
        ({"session": "s2"}, range(2, 20, 3)),
        ({"type": "feature"}, range(0, 20, 2)),
        ({"since": "2026-05-11"}, range(10, 20)),
        ({"since": "2026-05-11T02:00:00+02:00"}, range(10, 20)),
        ({"until": "2026-05-11T00:00:00Z"}, range(10)),
        ({"as_of": "2026-05-05T12:00:00Z"}, range(5)),
        ({"since": "2026-05-03", "until": "2026-05-08", "session": "s0"}, [3, 6]),
        ({"unknown": "parameter"}, range(20)),
    ],
)
def test_the_list_is_narrowed_down_by_every_filter(
    service: Any, many: str, where: dict[str, str], expected: Any
) -> None:
    answer = service.client.get(f"{many}/observations", params={"limit": 200} | where)
    assert answer.status_code == 200
    assert [item["id"] for item in answer.json()["items"]] == [f"o{n}" for n in reversed(list(expected))]


def test_a_concept_finds_the_observations_that_name_it(service: Any, many: str) -> None:
    items = service.client.get(f"{many}/observations", params={"concept": "auth"}).json()["items"]
    assert {"o0", "o5", "o10", "o15"} <= {item["id"] for item in items}


def test_pages_cover_the_list_once_while_it_grows(service: Any, many: str, send: Any) -> None:
    seen: list[str] = []
    cursor: str | None = None
    while True:
        parameters = {"limit": "3"} | ({"cursor": cursor} if cursor else {})
        page = service.client.get(f"{many}/observations", params=parameters).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        send({"title": "newer", "at": "2026-06-01T00:00:00Z"}, wait="visible")
    assert seen == [f"o{n}" for n in reversed(range(20))]


@pytest.mark.parametrize("name", ["since", "until", "as_of"])
@pytest.mark.parametrize("value", ["yesterday", "", "2026-13-01", "1e9", "1969-01-01", "99999-01-01", "\x00"])
def test_a_wrong_time_is_refused_by_name(service: Any, many: str, name: str, value: str) -> None:
    answer = service.client.get(f"{many}/observations", params={name: value})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == name


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from([*FULL, "files_added", "cwd", "reference", "mood"])
ODD_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
ODD_PATHS = st.lists(
    ODD_TEXT | st.sampled_from([".", "..", "/", "a//b", "a\\b", "C:\\x", "~/x", "a\n"]), max_size=3
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.dictionaries(FIELDS, JSON_VALUES | ODD_TEXT | ODD_PATHS, max_size=6)
    | st.lists(st.dictionaries(FIELDS, JSON_VALUES | ODD_PATHS, max_size=4), max_size=4)
    | JSON_VALUES
)
def test_no_body_whatever_is_a_fault_of_ours(send: Any, body: Any) -> None:
    answer = send(body)
    assert answer.status_code in {201, 400, 413, 422}
    assert answer.status_code == 201 or answer.headers["content-type"] == "application/problem+json"


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_no_bytes_whatever_are_a_fault_of_ours(service: Any, project: str, body: bytes) -> None:
    for kind in ("application/json", "application/xml"):
        answer = service.client.post(f"{project}/observations", content=body, headers={"Content-Type": kind})
        assert answer.status_code in {201, 400, 422}
