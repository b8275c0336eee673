"""Corpora over HTTP and from the command line: made, read, asked and removed; refusals say what to do."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.backend_corpora import CorpusFilter, CorpusQuestion
from api.backend_remote import RemoteBackend
from api.cli import program
from api.cli_corpus import _MOST_TOKENS
from graphmem import Memory
from graphmem.errors import NotFoundError
from graphmem.recall.knowledge import MOST_TOKENS

WORK = [
    {"id": "a", "title": "Refresh tokens", "facts": ["the token lives 900 s"], "concepts": ["auth"],
     "files_modified": ["src/auth.py"], "at": "2026-05-01T08:00:00Z", "session": "s-1", "source": "codex"},
    {"id": "c", "title": "Cart page", "facts": ["the cart holds 40 items"], "concepts": ["cart"],
     "at": "2026-05-02T08:00:00Z", "session": "s-2"},
]  # fmt: skip
AUTH = {"name": "auth", "filter": {"concept": "auth"}}


@pytest.fixture
def project(service: Any, tmp_path: Path) -> str:
    path: str = service.project(tmp_path / tmp_path.name.replace("_", "-"))
    assert service.client.post(f"{path}/observations?wait=visible", json=WORK).status_code == 201
    return path


def test_a_corpus_is_made_once_and_listed(service: Any, project: str) -> None:
    made = service.client.post(f"{project}/corpora", json=AUTH)
    again = service.client.post(f"{project}/corpora", json=AUTH)
    assert (made.status_code, again.status_code) == (201, 200)
    assert made.json() == again.json()
    assert (made.json()["pieces"], made.json()["filter"]["concept"]) == (2, "auth")
    other = service.client.post(f"{project}/corpora", json=AUTH | {"filter": {}})
    assert other.status_code == 409
    assert service.client.post(f"{project}/corpora", json={"name": "b", "filter": {}}).status_code == 201
    first = service.client.get(f"{project}/corpora", params={"limit": 1}).json()
    rest = service.client.get(f"{project}/corpora", params={"cursor": first["next_cursor"]}).json()
    assert [item["name"] for item in (*first["items"], *rest["items"])] == ["auth", "b"]
    assert rest["next_cursor"] is None


def test_it_says_what_is_known_under_it_as_it_is_now(service: Any, project: str) -> None:
    service.client.post(f"{project}/corpora", json=AUTH)
    found = service.client.get(f"{project}/corpora/auth").json()
    assert (found["pieces"], found["told"], found["left_out"]) == (2, 2, 0)
    assert "the token lives 900 s" in found["text"]
    assert "cart" not in found["text"]
    more = {"id": "a2", "title": "Keys", "facts": ["keys rotate weekly"], "concepts": ["auth"]}
    service.client.post(f"{project}/observations", json=more)
    assert "keys rotate weekly" in service.client.get(f"{project}/corpora/auth").json()["text"]
    service.client.delete(f"{project}/observations/a2")
    assert "keys rotate weekly" not in service.client.get(f"{project}/corpora/auth").json()["text"]
    short = service.client.get(f"{project}/corpora/auth", params={"budget_tokens": 0}).json()
    assert (short["text"], short["tokens"], short["left_out"]) == ("", 0, 2)


def test_a_question_in_it_is_answered_from_it_only(service: Any, project: str) -> None:
    service.client.post(f"{project}/corpora", json=AUTH)
    asked = {"text": "how long does a token live, how many items in the cart", "explain": True}
    found = service.client.post(f"{project}/corpora/auth/query", json=asked).json()
    assert [result["id"] for result in found["results"]] == ["a"]
    assert found["results"][0]["explain"] is not None
    assert "40 items" not in found["context"]
    none = service.client.post(f"{project}/corpora/auth/query", json=asked | {"since": "2026-05-02"}).json()
    assert (none["results"], none["context"]) == ([], "")


def test_a_removed_one_is_gone(service: Any, project: str) -> None:
    service.client.post(f"{project}/corpora", json=AUTH)
    assert service.client.delete(f"{project}/corpora/auth").status_code == 204
    for answer in (
        service.client.get(f"{project}/corpora/auth"),
        service.client.post(f"{project}/corpora/auth/query", json={"text": "x"}),
        service.client.delete(f"{project}/corpora/auth"),
    ):
        assert answer.status_code == 404
        assert "There is no corpus 'auth'" in answer.json()["detail"]
    assert service.client.get(f"{project}/observations/a").status_code == 200


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "a b", "filter": {}}, "name"),
        ({"name": "", "filter": {}}, "name"),
        ({"name": "用户", "filter": {}}, "name"),
        ({"name": 7, "filter": {}}, "name"),
        ({"name": "x"}, "filter"),
        ({"name": "x", "filter": []}, "filter"),
        ({"name": "x", "filter": "concept"}, "filter"),
        ({"name": "x", "filter": {"concepts": "auth"}}, "filter"),
        ({"name": "x", "filter": {"kinds": ["file"]}}, "filter.kinds.0"),
        ({"name": "x", "filter": {"kinds": "fact"}}, "filter.kinds"),
        ({"name": "x", "filter": {"types": [""]}}, "filter.types.0"),
        ({"name": "x", "filter": {"since": "soon"}}, "filter.since"),
        ({"name": "x", "filter": {"since": "2026-05-02", "until": "2026-05-01"}}, "filter.until"),
        ({"name": "x", "filter": {"concept": ""}}, "filter.concept"),
        ({"name": "x", "filter": {"file": "/etc/passwd"}}, None),
    ],
)
def test_what_can_not_be_used_is_refused(service: Any, project: str, body: object, field: str | None) -> None:
    answer = service.client.post(f"{project}/corpora", json=body)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    if field is not None:
        assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert service.client.get(f"{project}/corpora").json()["items"] == []


def test_an_unknown_field_of_a_filter_is_named_with_those_there_are(service: Any, project: str) -> None:
    answer = service.client.post(f"{project}/corpora", json={"name": "x", "filter": {"concepts": "auth"}})
    assert "a filter has no field 'concepts'; it takes since, until, types, kinds" in answer.text


@pytest.mark.parametrize(
    "words",
    ["'; DROP TABLE corpus; --", '"OR" 1=1', "MATCH (n) DETACH DELETE n", "\x00", "🙂", "\u202eabc"],
)
def test_odd_words_in_a_filter_match_nothing_and_harm_nothing(service: Any, project: str, words: str) -> None:
    for part in ("concept", "session", "source"):
        body = json.dumps({"name": f"odd-{part}", "filter": {part: words, "types": [words]}})
        answer = service.client.post(
            f"{project}/corpora", content=body, headers={"Content-Type": "application/json"}
        )
        assert answer.status_code == 201, answer.text
        assert service.client.get(f"{project}/corpora/odd-{part}").json()["pieces"] == 0
    assert service.client.get(f"{project}/observations").json()["items"]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    (tmp_path / "shop").mkdir()
    with Memory(tmp_path / "home") as memory:
        project = memory.register(tmp_path / "shop")[0]
        project.observe(WORK)
        project.wait_visible()

    def graphmem(*arguments: str) -> Result:
        place = ["--home", str(tmp_path / "home"), "--project", str(tmp_path / "shop")]
        return CliRunner().invoke(program, ["corpus", *arguments, *place])

    return graphmem


def words(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_the_command_line_makes_reads_asks_and_removes(run: Callable[..., Result], tmp_path: Path) -> None:
    file = str(tmp_path / "shop" / "src" / "auth.py")
    made = words(
        run("create", "auth", "--concept", "auth", "--file", file, "--kind", "fact", "--kind", "history")
    )
    assert "auth: file src/auth.py, concept auth, kind fact or history; 2 pieces just now." in made
    assert "auth file src/auth.py, concept auth" in words(run("list"))
    shown = words(run("show", "auth", "--budget", "500"))
    assert "the token lives 900 s" in shown
    assert "2 of 2 pieces told, 0 left out" in shown
    assert "Refresh tokens" in words(run("ask", "auth", "token lives"))
    assert "Nothing in auth speaks of 'cart'." in words(run("ask", "auth", "cart"))
    assert "Removed: auth." in words(run("remove", "auth"))
    assert "No filter has a name yet" in words(run("list"))


def test_the_command_line_gets_the_same_from_the_service_as_from_the_files(
    run: Callable[..., Result], service: Any, project: str
) -> None:
    local = {
        name: json.loads(run(*arguments, "--json").output)
        for name, arguments in (
            ("create", ("create", "auth", "--concept", "auth")),
            ("list", ("list",)),
            ("show", ("show", "auth", "--budget", "500")),
            ("ask", ("ask", "auth", "token", "lives")),
        )
    }
    slug = project.rpartition("/")[2]
    with RemoteBackend(service.port, service.token) as backend:
        remote = {
            "create": backend.corpora.create(slug, "auth", CorpusFilter(concept="auth")),
            "list": backend.corpora.listed(slug, 20, None),
            "show": backend.corpora.text(slug, "auth", 500),
            "ask": backend.corpora.ask(slug, CorpusQuestion("auth", "token lives")),
        }
        backend.corpora.remove(slug, "auth")
        with pytest.raises(NotFoundError, match="no corpus 'auth'"):
            backend.corpora.text(slug, "auth", 500)
    for name, shape in remote.items():
        assert shape.keys() == local[name].keys(), name
    assert remote["show"]["told"] == local["show"]["told"] == 2
    assert [item["id"] for item in remote["ask"]["results"]] == ["a"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("create",),
        ("create", "x", "--kind", "file"),
        ("create", "x", "--since", "soon"),
        ("ask", "x"),
        ("none",),
    ],
)
def test_wrong_use_is_said_so(run: Callable[..., Result], arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_the_budgets_of_both_ways_are_the_same() -> None:
    assert _MOST_TOKENS == MOST_TOKENS
