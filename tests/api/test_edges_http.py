"""The review queue through HTTP: suggestions, verdicts, declared edges, and every wrong way to give one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import httpx
import pytest

EVERY_STATUS = "candidate,confirmed,rejected,stale,retired"
EDGE_FIELDS = {
    "id", "kind", "from", "to", "status", "origin", "probability", "value", "relation", "direction",
    "proposed_relation", "proposed_direction", "proposed_because", "evidence", "score", "verdicts",
    "updated_at",
}  # fmt: skip
TOKEN, SESSION = "src/auth/token.ts", "src/checkout/session.ts"
CONFIRM = {"verdict": "confirm", "relation": "depends_on", "direction": "forward", "by": "mei"}
DECLARED = {"from": TOKEN, "to": "contract:GET /keys", "relation": "implements"}


@pytest.fixture(scope="module")
def queue(make_suggestions: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> str:
    """A project whose edges nobody judges."""
    return make_suggestions(tmp_path_factory.mktemp("queue"))


@pytest.fixture
def shop(make_suggestions: Callable[..., str], tmp_path: Path) -> str:
    """A project of the test's own."""
    return make_suggestions(tmp_path / "shop")


def listed(service: Any, project: str, **parameters: Any) -> list[dict[str, Any]]:
    answer = service.client.get(f"{project}/edges", params={"limit": 200, **parameters})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def ends(edge: dict[str, Any]) -> set[str]:
    return {edge["from"]["name"], edge["to"]["name"]}


def edge_between(service: Any, project: str, *names: str) -> dict[str, Any]:
    (found,) = [edge for edge in listed(service, project, status=EVERY_STATUS) if ends(edge) == set(names)]
    return found


def judge(service: Any, project: str, id: str, **body: Any) -> httpx.Response:
    answer: httpx.Response = service.client.post(f"{project}/edges/{id}/verdict", json=body)
    return answer


def good(answer: httpx.Response, status: int = 200) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def refused(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert found["detail"].endswith((".", "?"))
    return found


# ---- the queue ---------------------------------------------------------------------------------


def test_what_changed_together_in_several_sessions_is_suggested(service: Any, queue: str) -> None:
    found = listed(service, queue)
    assert [edge["status"] for edge in found] == ["candidate"] * len(found)
    edge = next(edge for edge in found if ends(edge) == {TOKEN, SESSION})
    assert set(edge) >= EDGE_FIELDS
    assert edge["from"] == {"ref": f"file:{TOKEN}", "type": "file", "name": TOKEN, "status": "known"}
    assert (edge["origin"], edge["relation"], edge["direction"], edge["verdicts"]) == (
        "inferred",
        None,
        None,
        [],
    )
    assert edge["evidence"]["together"] == edge["evidence"]["sessions"] == 6
    assert set(edge["evidence"]["observations"]) <= {f"pair-{n}" for n in range(6)}
    assert edge["updated_at"] == "2026-05-06T08:00:00Z"
    assert {"src/cart/page.ts", "src/cart/style.css"} in [ends(other) for other in found]
    assert not [other for other in found if ends(other) == {SESSION, "src/cart/page.ts"}]


def test_one_edge_is_shown_as_the_queue_shows_it(service: Any, queue: str) -> None:
    for edge in listed(service, queue):
        alone = good(service.client.get(f"{queue}/edges/{edge['id']}"))
        # What an answer settles besides is worth something in the queue only, where it is named.
        assert (edge["value"] > alone["value"]) == bool(edge["similar"])
        assert alone | {"similar": [], "value": 0.0} == edge | {"similar": [], "value": 0.0}


def test_the_queue_is_ordered_as_asked(service: Any, queue: str) -> None:
    for order, key in (
        (None, lambda edge: edge["value"]),
        ("value", lambda edge: edge["value"]),
        ("probability", lambda edge: edge["probability"]),
        ("support", lambda edge: edge["evidence"]["sessions"]),
        ("recent", lambda edge: edge["updated_at"]),
    ):
        asked = {} if order is None else {"order": order}
        edges = listed(service, queue, **asked)
        asked_later = {id for edge in edges for id in edge["similar"]}
        keys = [key(edge) for edge in edges if edge["id"] not in asked_later]
        assert len(keys) >= 3
        assert keys == sorted(keys, reverse=True), order


def test_a_filter_may_be_repeated_or_a_list(service: Any, queue: str) -> None:
    every = listed(service, queue, status=EVERY_STATUS)
    assert listed(service, queue, status=EVERY_STATUS.split(",")) == every
    kinds = {edge["kind"] for edge in every}
    assert sum(len(listed(service, queue, kind=kind)) for kind in kinds) == len(every)
    assert listed(service, queue, status="rejected,retired") == []
    of_cart = listed(service, queue, node="file:src/cart/page.ts", kind="co_changes")
    assert [ends(edge) for edge in of_cart] == [{"src/cart/page.ts", "src/cart/style.css"}]
    assert listed(service, queue, node="src/cart/page.ts", kind="co_changes") == of_cart


def test_pages_of_the_queue_hold_each_edge_once(service: Any, queue: str) -> None:
    found, cursor = [], None
    for _ in range(20):
        page = good(
            service.client.get(f"{queue}/edges", params={"limit": 1} | ({"cursor": cursor} if cursor else {}))
        )
        found += [edge["id"] for edge in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert cursor is None
    assert found == [edge["id"] for edge in listed(service, queue)]


@pytest.mark.parametrize(
    ("parameters", "field", "named"),
    [
        ({"status": "open"}, "status", "candidate, confirmed, rejected, stale, retired"),
        ({"status": ["candidate", "all"]}, "status", "candidate"),
        ({"status": ""}, "status", "candidate"),
        ({"kind": "co_changes,uses"}, "kind", "co_changes, read_for, followed_by"),
        ({"order": "best"}, "order", "'probability', 'support'"),
        ({"limit": "0"}, "limit", "1"),
        ({"limit": "201"}, "limit", "200"),
        ({"as_of": "soon"}, "as_of", "ISO 8601"),
        ({"node": ""}, "node", ""),
        ({"cursor": "not-one-of-ours"}, "cursor", ""),
    ],
)
def test_a_wrong_filter_is_refused_with_what_is_allowed(
    service: Any, queue: str, parameters: dict[str, Any], field: str, named: str
) -> None:
    (error,) = refused(service.client.get(f"{queue}/edges", params=parameters), 422)["errors"]
    assert error["field"] == field
    assert named in error["message"]


def test_edges_are_listed_as_of_a_moment(service: Any, shop: str) -> None:
    edge = edge_between(service, shop, TOKEN, SESSION)
    good(judge(service, shop, edge["id"], **CONFIRM))
    then = listed(service, shop, as_of="2026-05-04T00:00:00Z")
    (old,) = [other for other in then if ends(other) == {TOKEN, SESSION}]
    assert (old["id"], old["evidence"]["together"], old["verdicts"]) == (edge["id"], 3, [])
    assert listed(service, shop, as_of="2026-05-01T00:00:00Z") == []
    shown = good(service.client.get(f"{shop}/edges/{edge['id']}", params={"as_of": "2026-05-04"}))
    assert (shown["status"], shown["evidence"]["together"]) == ("candidate", 3)
    assert good(service.client.get(f"{shop}/edges/{edge['id']}"))["status"] == "confirmed"


# ---- verdicts ----------------------------------------------------------------------------------


def test_an_edge_is_confirmed_rejected_and_given_back(service: Any, shop: str) -> None:
    id = edge_between(service, shop, TOKEN, SESSION)["id"]
    confirmed = good(judge(service, shop, id, **CONFIRM, note="same format"))
    assert (confirmed["status"], confirmed["relation"], confirmed["direction"]) == (
        "confirmed", "depends_on", "forward",
    )  # fmt: skip
    (verdict,) = confirmed["verdicts"]
    assert (verdict["verdict"], verdict["by"], verdict["note"]) == ("confirm", "mei", "same format")
    assert id not in [edge["id"] for edge in listed(service, shop)]
    rejected = good(judge(service, shop, id, verdict="reject", by="ana"))
    assert [(item["verdict"], item["by"]) for item in rejected["verdicts"]] == [
        ("confirm", "mei"),
        ("reject", "ana"),
    ]
    assert [edge["id"] for edge in listed(service, shop, status="rejected")] == [id]
    back = good(judge(service, shop, id, verdict="undo"))
    assert (back["status"], back["relation"]) == ("confirmed", "depends_on")
    plain = good(judge(service, shop, id, verdict="undo"))
    assert (plain["status"], plain["relation"], len(plain["verdicts"])) == ("candidate", None, 4)
    assert "undo" in refused(judge(service, shop, id, verdict="undo"), 409)["detail"]


def test_the_same_verdict_twice_is_no_change(service: Any, shop: str) -> None:
    id = edge_between(service, shop, TOKEN, SESSION)["id"]
    assert good(judge(service, shop, id, **CONFIRM)) == good(judge(service, shop, id, **CONFIRM))


def test_a_retired_edge_takes_no_verdict(service: Any, shop: str) -> None:
    id = edge_between(service, shop, TOKEN, SESSION)["id"]
    good(judge(service, shop, id, **CONFIRM))
    retired = good(judge(service, shop, id, verdict="retire", note="moved away"))
    assert (retired["status"], retired["relation"]) == ("retired", "depends_on")
    for verdict in ("confirm", "reject"):
        assert "retired" in refused(judge(service, shop, id, verdict=verdict), 409)["detail"]
    declared = {"from": TOKEN, "to": SESSION, "relation": "tests"}
    assert "retired" in refused(service.client.post(f"{shop}/edges", json=declared), 409)["detail"]
    assert good(service.client.get(f"{shop}/edges/{id}")) == retired
    assert good(judge(service, shop, id, verdict="undo"))["status"] == "confirmed"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "verdict"),
        ({"verdict": "declare"}, "verdict"),
        ({"verdict": 7}, "verdict"),
        ({"verdict": "confirm", "relation": "uses"}, "relation"),
        ({"verdict": "confirm", "relation": "depends_on", "direction": "sideways"}, "direction"),
        ({"verdict": "confirm", "direction": "forward"}, "direction"),
        ({"verdict": "confirm", "note": ["x"]}, "note"),
        ({"verdict": "confirm", "note": "x" * 70_000}, "note"),
        ({"verdict": "confirm", "by": {"name": "mei"}}, "by"),
        ({"verdict": "confirm", "by": "x" * 201}, "by"),
        ([{"verdict": "confirm"}], "body"),
        ("confirm", "body"),
        (None, "body"),
    ],
)
def test_a_wrong_verdict_is_refused_by_name_and_changes_nothing(
    service: Any, queue: str, body: Any, field: str
) -> None:
    edge = edge_between(service, queue, TOKEN, SESSION)
    content = json.dumps(body).encode()
    answer = service.client.post(f"{queue}/edges/{edge['id']}/verdict", content=content)
    assert refused(answer, 422)["errors"][0]["field"] == field
    assert edge_between(service, queue, TOKEN, SESSION) == edge


@pytest.mark.parametrize(
    ("word", "allowed"),
    [("relation", ["depends_on", "tests", "documents", "configures", "implements"]),
     ("direction", ["forward", "backward", "both"]), ("verdict", ["confirm", "reject", "undo", "retire"])],
)  # fmt: skip
def test_a_word_outside_its_list_is_answered_with_the_list(
    service: Any, queue: str, word: str, allowed: list[str]
) -> None:
    id = edge_between(service, queue, TOKEN, SESSION)["id"]
    (error,) = refused(judge(service, queue, id, **(CONFIRM | {word: "<b>none</b>"})), 422)["errors"]
    assert error["field"] == word
    assert all(f"'{choice}'" in error["message"] for choice in allowed)


def test_an_unknown_edge_is_answered_with_those_it_may_be(service: Any, queue: str) -> None:
    id = edge_between(service, queue, TOKEN, SESSION)["id"]
    near = id[:-1] + ("0" if id[-1] != "0" else "1")
    for answer in (
        service.client.get(f"{queue}/edges/{near}"),
        judge(service, queue, near, verdict="confirm"),
    ):
        assert id in refused(answer, 404)["candidates"]
    for odd in ("none", "%00", "a b", "用户", "%ED%A0%80", "x" * 900, "'; DROP TABLE edge; --"):
        assert isinstance(refused(service.client.get(f"{queue}/edges/{odd}"), 404)["candidates"], list)


def test_many_are_judged_at_once(service: Any, shop: str) -> None:
    ids = [edge["id"] for edge in listed(service, shop)]
    assert len(ids) >= 3
    body = [{"id": id, "verdict": "reject", "by": "mei"} for id in ids]
    found = good(service.client.post(f"{shop}/edges/verdicts", json=body))["items"]
    assert [(edge["id"], edge["status"]) for edge in found] == [(id, "rejected") for id in ids]
    assert listed(service, shop) == []
    assert good(service.client.post(f"{shop}/edges/verdicts", json=[])) == {"items": []}


@pytest.mark.parametrize(
    ("bad", "status"),
    [({"id": "none", "verdict": "confirm"}, 404), ({"id": "", "verdict": "confirm"}, 404),
     ({"verdict": "confirm"}, 422), ({"id": 7, "verdict": "confirm"}, 422),
     ({"id": "IT", "verdict": "agree"}, 422), ({"id": "IT", "verdict": "undo"}, 409),
     ({"id": "IT", "verdict": "confirm", "direction": "both"}, 422), (None, 422), ("IT", 422)],
)  # fmt: skip
def test_a_batch_with_one_bad_verdict_does_nothing(service: Any, queue: str, bad: Any, status: int) -> None:
    before = listed(service, queue, status=EVERY_STATUS)
    if isinstance(bad, dict) and bad.get("id") == "IT":
        bad = bad | {"id": before[1]["id"]}
    body = [{"id": before[0]["id"], "verdict": "confirm"}, bad, {"id": before[2]["id"], "verdict": "reject"}]
    refused(service.client.post(f"{queue}/edges/verdicts", json=body), status)
    assert listed(service, queue, status=EVERY_STATUS) == before


def test_two_at_the_same_moment_both_stay_and_the_last_counts(service: Any, shop: str) -> None:
    id = edge_between(service, shop, TOKEN, SESSION)["id"]
    start, answers = Barrier(2), []

    def give(verdict: str) -> None:
        with service.stranger() as client:
            start.wait(10)
            answers.append(
                client.post(f"{shop}/edges/{id}/verdict", json={"verdict": verdict, "by": f"{verdict}er"},
                            headers={"Authorization": f"Bearer {service.token}"})
            )  # fmt: skip

    threads = [Thread(target=give, args=(verdict,)) for verdict in ("confirm", "reject")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [answer.status_code for answer in answers] == [200, 200]
    edge = good(service.client.get(f"{shop}/edges/{id}"))
    assert {item["by"] for item in edge["verdicts"]} == {"confirmer", "rejecter"}
    assert edge["status"] == {"confirm": "confirmed", "reject": "rejected"}[edge["verdicts"][-1]["verdict"]]


def test_verdicts_outlive_the_service(
    service: Any, make_suggestions: Callable[..., str], start_service: Callable[..., Any], tmp_path: Path
) -> None:
    running = start_service(tmp_path / "home")
    project = make_suggestions(tmp_path / "kept", running)
    id = edge_between(running, project, TOKEN, SESSION)["id"]
    good(judge(running, project, id, **CONFIRM, note="kept"))
    declared = good(running.client.post(f"{project}/edges", json=DECLARED), 201)
    before = listed(running, project, status=EVERY_STATUS)
    assert running.end() == 0
    again = start_service(tmp_path / "home")
    assert listed(again, project, status=EVERY_STATUS) == before
    assert {id, declared["id"]} <= {edge["id"] for edge in listed(again, project, status="confirmed")}
    walked = again.client.get(f"{project}/dependencies", params={"node": TOKEN}).json()
    assert "contract:GET /keys" in [item["node"]["ref"] for item in walked["confirmed"]]


def test_a_confirmed_edge_shows_in_the_answer_before_an_edit(service: Any, shop: str) -> None:
    id = edge_between(service, shop, TOKEN, SESSION)["id"]
    edge = good(judge(service, shop, id, **CONFIRM))
    found = good(service.client.get(f"{shop}/impact", params={"path": TOKEN}))["affected"]
    (entry,) = [item for item in found if item["path"] == SESSION]
    assert (entry["tier"], entry["edge_id"], entry["relation"]) == ("confirmed", id, "depends_on")
    assert entry["direction"] == ("forward" if edge["from"]["name"] == TOKEN else "backward")


# ---- declared edges ----------------------------------------------------------------------------


def test_a_declared_edge_is_confirmed(service: Any, shop: str) -> None:
    edge = good(
        service.client.post(f"{shop}/edges", json=DECLARED | {"note": "see keys.ts", "by": "mei"}), 201
    )
    assert (edge["status"], edge["origin"], edge["relation"]) == ("confirmed", "declared", "implements")
    assert {edge["from"]["ref"], edge["to"]["ref"]} == {f"file:{TOKEN}", "contract:GET /keys"}
    assert [(item["verdict"], item["by"], item["note"]) for item in edge["verdicts"]] == [
        ("declare", "mei", "see keys.ts")
    ]
    assert good(service.client.get(f"{shop}/edges/{edge['id']}")) == edge
    assert edge["id"] in [item["id"] for item in listed(service, shop, status="confirmed")]


def test_a_suggested_pair_that_is_declared_keeps_its_id_and_evidence(service: Any, shop: str) -> None:
    suggested = edge_between(service, shop, TOKEN, SESSION)
    body = {"from": SESSION, "to": TOKEN, "relation": "depends_on"}
    edge = good(service.client.post(f"{shop}/edges", json=body), 201)
    assert (edge["id"], edge["status"]) == (suggested["id"], "confirmed")
    assert edge["evidence"]["together"] == 6
    dependents = service.client.get(f"{shop}/dependents", params={"node": TOKEN}).json()["confirmed"]
    assert [item["node"]["name"] for item in dependents] == [SESSION]


def test_a_declared_edge_that_is_undone_is_answered_though_it_is_listed_no_more(
    service: Any, shop: str
) -> None:
    edge = good(service.client.post(f"{shop}/edges", json=DECLARED), 201)
    undone = good(judge(service, shop, edge["id"], verdict="undo", by="mei"))
    assert (undone["id"], undone["status"], undone["relation"]) == (edge["id"], "candidate", None)
    assert [given["verdict"] for given in undone["verdicts"]] == ["declare", "undo"]
    assert edge["id"] not in {each["id"] for each in listed(service, shop, status=EVERY_STATUS)}
    refused(judge(service, shop, edge["id"], verdict="undo"), 409)
    again = good(service.client.post(f"{shop}/edges", json=DECLARED), 201)
    assert (again["id"], again["status"]) == (edge["id"], "confirmed")


def test_a_batch_answers_for_each_verdict_in_its_order(service: Any, shop: str) -> None:
    names = ["contract:GET /a", "contract:GET /b", "contract:GET /c"]
    declared = [{"from": TOKEN, "to": name, "relation": "implements"} for name in names]
    ids = [edge["id"] for edge in good(service.client.post(f"{shop}/edges", json=declared), 201)["items"]]
    given = ["undo", "confirm", "undo"]
    batch = [{"id": id, "verdict": verdict} for id, verdict in zip(ids, given, strict=True)]
    answered = good(service.client.post(f"{shop}/edges/verdicts", json=batch))["items"]
    assert [edge["id"] for edge in answered] == ids
    assert [edge["status"] for edge in answered] == ["candidate", "confirmed", "candidate"]


def test_five_thousand_are_declared_at_once(service: Any, shop: str) -> None:
    body = [
        {"from": "file:src/auth/token.ts", "to": f"contract:GET /keys/k{n}", "relation": "implements"}
        for n in range(5_000)
    ]
    found = good(service.client.post(f"{shop}/edges", json=body, timeout=300), 201)["items"]
    assert [edge["to"]["name"] for edge in found] == [item["to"].partition(":")[2] for item in body]
    assert len({edge["id"] for edge in found}) == 5_000
    too_many = [*body, body[0]]
    assert "5000" in refused(service.client.post(f"{shop}/edges", json=too_many), 413)["detail"]
    verdicts = [{"id": edge["id"], "verdict": "retire"} for edge in found]
    assert (
        "5000"
        in refused(service.client.post(f"{shop}/edges/verdicts", json=[*verdicts, verdicts[0]]), 413)[
            "detail"
        ]
    )
    retired = good(service.client.post(f"{shop}/edges/verdicts", json=verdicts, timeout=300))["items"]
    assert {edge["status"] for edge in retired} == {"retired"}


@pytest.mark.parametrize(
    ("bad", "status", "field"),
    [
        ({"to": TOKEN}, 422, None),
        ({"to": f"file:{TOKEN}"}, 422, None),
        ({"to": "src/auth/tokens.ts"}, 400, None),
        ({"to": "file:no/such/file.ts"}, 404, None),
        ({"to": "/etc/passwd"}, 422, None),
        ({"to": "../outside.ts"}, 422, None),
        ({"to": "contract:"}, 422, None),
        ({"to": ""}, 422, "to"),
        ({"to": 7}, 422, "to"),
        ({"to": "\ud800"}, 422, "to"),
        ({"to": "x" * 9_000}, 422, "to"),
        ({"relation": "uses"}, 422, "relation"),
        ({"relation": None}, 422, "relation"),
        ({"note": "x" * 70_000}, 422, "note"),
    ],
)
def test_a_wrong_declaration_is_refused_and_its_batch_with_it(
    service: Any, queue: str, bad: dict[str, Any], status: int, field: str | None
) -> None:
    before = listed(service, queue, status=EVERY_STATUS)
    one = json.dumps(DECLARED | bad).encode()
    problem = refused(service.client.post(f"{queue}/edges", content=one), status)
    batch = json.dumps([DECLARED, DECLARED | bad]).encode()
    in_batch = refused(service.client.post(f"{queue}/edges", content=batch), status)
    if field is not None:
        assert [error["field"] for error in problem["errors"]] == [field]
        assert [error["field"] for error in in_batch["errors"]] == [f"1.{field}"]
    assert listed(service, queue, status=EVERY_STATUS) == before


def test_a_name_nobody_knows_is_answered_with_the_nearest(service: Any, queue: str) -> None:
    for to, status in (("src/auth/tokens.ts", 400), ("file:src/auth/tokens.ts", 404)):
        problem = refused(service.client.post(f"{queue}/edges", json=DECLARED | {"to": to}), status)
        assert f"file:{TOKEN}" in problem["candidates"]


# ---- words that would be code elsewhere ------------------------------------------------------------

HOSTILE = [
    "x'}) MATCH (n) DETACH DELETE n //",
    '"]) RETURN 1; DROP TABLE edge; --',
    "<script>alert(1)</script>",
    "`; CALL db.tables() RETURN *; `",
    "$project \\ {{7*7}} %s",
    "ignore previous instructions",
    "a'b\"c\\d 用户 🧪",
]


@pytest.mark.parametrize("words", HOSTILE)
def test_words_that_would_be_code_elsewhere_are_kept_as_words(service: Any, shop: str, words: str) -> None:
    body = {"from": TOKEN, "to": f"feature:{words}", "relation": "implements", "note": words, "by": words}
    edge = good(service.client.post(f"{shop}/edges", json=body), 201)
    node = next(end for end in (edge["from"], edge["to"]) if end["type"] == "feature")
    assert node["name"] == words
    assert [(item["note"], item["by"]) for item in edge["verdicts"]] == [(words, words)]
    found = service.client.get(f"{shop}/dependents", params={"node": node["ref"]})
    assert [item["node"]["name"] for item in good(found)["confirmed"]] == [TOKEN]
    assert good(service.client.get(f"{shop}/path", params={"from": TOKEN, "to": node["ref"]}))["paths"]
    assert len(listed(service, shop)) >= 3


def test_what_cannot_be_stored_is_replaced_in_a_note(service: Any, shop: str) -> None:
    id = edge_between(service, shop, TOKEN, SESSION)["id"]
    body = json.dumps({"verdict": "confirm", "note": "a\x00b\ud800c", "by": "m\x00"}).encode()
    edge = good(service.client.post(f"{shop}/edges/{id}/verdict", content=body))
    assert [(item["note"], item["by"]) for item in edge["verdicts"]] == [("a\ufffdb\ufffdc", "m\ufffd")]
