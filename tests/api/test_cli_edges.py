"""The review on the command line: questions to answer, why an edge is there, verdicts and their history."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

TOKEN, SESSION = "src/auth/token.ts", "src/checkout/session.ts"
NOBODY = "0" * 16
STEERING = "\x1b[31m\x07\u202e"


def edges(shop: Any, *more: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shop.good("edges", "--json", "--limit", "200", *more).shape["items"]
    return found


def edge_between(shop: Any, first: str, second: str, *more: str) -> dict[str, Any]:
    (found,) = [
        edge
        for edge in edges(shop, "--node", f"file:{first}", *more)
        if {edge["from"]["name"], edge["to"]["name"]} == {first, second}
    ]
    return found


def test_the_queue_is_questions_with_their_why_and_their_id(story: Any) -> None:
    page = story.good("edges", "--json").shape
    shown = story("edges", environment={"COLUMNS": "80"}).out
    assert len(page["items"]) == 10
    for edge in page["items"]:
        assert edge["status"] == "candidate"
        assert edge["id"] in shown
        assert edge["evidence"]["sessions"] >= 2
    places = [shown.index(edge["id"]) for edge in page["items"]]
    assert places == sorted(places)
    edge = page["items"][0]
    assert f"{edge['evidence']['together']} of {edge['evidence']['of']} times" in shown
    assert "graphmem confirm ID --relation depends_on" in shown
    assert "There are more: add --limit 20" in shown
    assert max(cell_len(line) for line in shown.splitlines()) <= 80


def test_what_the_names_tell_is_shown_with_its_cue_and_taken_over_when_asked(own_story: Any) -> None:
    edge = edge_between(own_story, "src/cart/store.ts", "tests/cart/store.test.ts")
    forward = edge["from"]["name"].startswith("tests/")
    said = "the first tests the second" if forward else "the second tests the first"
    because = "store.test.ts is named after store.ts"
    assert edge["proposed_because"] == because
    shown = own_story("edges", "--node", "src/cart/store.ts", environment={"COLUMNS": "100"}).out
    assert f"Perhaps {said}: {because}" in shown
    assert "confirm ID --as-proposed" in shown
    assert f"Perhaps {said}: {because}." in own_story("why", edge["id"]).out
    judged = own_story.good("confirm", edge["id"], "--as-proposed", "--json").shape["items"][0]
    assert (judged["relation"], judged["direction"]) == ("tests", edge["proposed_direction"])
    assert "Perhaps" not in own_story("why", edge["id"]).out


def test_the_queue_goes_on_where_the_cursor_says(story: Any) -> None:
    first = story.good("edges", "--json", "--limit", "4").shape
    second = story.good("edges", "--json", "--limit", "4", "--cursor", first["next_cursor"]).shape
    ids = [edge["id"] for page in (first, second) for edge in page["items"]]
    assert len(set(ids)) == 8
    assert ids == [edge["id"] for edge in story.good("edges", "--json", "--limit", "8").shape["items"]]


def test_a_node_is_a_path_from_the_current_folder_or_has_its_type_before_it(story: Any) -> None:
    (story.path / "src" / "auth").mkdir(parents=True, exist_ok=True)
    inside = story.good("edges", "--json", "--node", "token.ts", cwd=story.path / "src" / "auth").shape
    typed = story.good("edges", "--json", "--node", f"file:{TOKEN}").shape
    assert inside == typed
    assert inside["items"]
    for edge in inside["items"]:
        assert f"file:{TOKEN}" in {edge["from"]["ref"], edge["to"]["ref"]}
    about = story.good("edges", "--json", "--node", "concept:auth").shape
    assert about["items"]
    assert all("concept:auth" in {edge["from"]["ref"], edge["to"]["ref"]} for edge in about["items"])


@pytest.mark.parametrize("order", ["value", "probability", "support", "recent"])
def test_every_order_is_kept_and_may_be_written_in_any_case(story: Any, order: str) -> None:
    shape = story.good("edges", "--json", "--order", order.upper()).shape
    keys = {
        "value": lambda edge: edge["value"],
        "probability": lambda edge: edge["probability"],
        "support": lambda edge: edge["evidence"]["together"],
        "recent": lambda edge: edge["evidence"]["last_seen"],
    }
    worth = [keys[order](edge) for edge in shape["items"]]
    assert worth == sorted(worth, reverse=True)


def test_why_tells_what_was_done_on_both_ends(story: Any) -> None:
    edge = edge_between(story, TOKEN, SESSION)
    told = story("why", edge["id"], environment={"COLUMNS": "80"}).out
    assert TOKEN in told
    assert SESSION in told
    assert f"9 of {edge['evidence']['of']} times, 7 sessions, last 2026-05-29" in told
    for id in edge["evidence"]["observations"]:
        assert story.good("observations", id, "--json").shape["title"][:40] in told
    assert "changed together" in told
    assert max(cell_len(line) for line in told.splitlines()) <= 80


def test_the_first_letters_of_an_id_will_do(story: Any) -> None:
    edge = edge_between(story, TOKEN, SESSION)
    assert story.good("why", edge["id"][:10], "--json").shape == edge | {"similar": []}


def test_a_confirmed_edge_is_walked_and_an_undone_one_is_a_question_again(own_story: Any) -> None:
    edge = edge_between(own_story, TOKEN, SESSION)
    direction = "backward" if edge["from"]["name"] == TOKEN else "forward"
    command = ("confirm", edge["id"], "--relation", "depends_on", "--direction", direction, "--by", "mei")
    said = own_story.good(*command, "--note", "checkout reads the token itself")
    assert f"{SESSION} depends on {TOKEN}" in said.out
    walked = own_story.good("depends", f"file:{TOKEN}", "--json").shape["confirmed"]
    assert [item["node"]["name"] for item in walked] == [SESSION]

    own_story.good("undo", edge["id"], "--by", "wei")
    assert own_story.good("depends", f"file:{TOKEN}", "--json").shape["confirmed"] == []
    now = own_story.good("why", edge["id"], "--json").shape
    assert now["status"] == "candidate"
    assert [(verdict["verdict"], verdict["by"]) for verdict in now["verdicts"]] == [
        ("confirm", "mei"),
        ("undo", "wei"),
    ]
    told = own_story.good("why", edge["id"]).out
    assert told.index("undo by wei") < told.index("confirm by mei")
    assert "checkout reads the token itself" in told


def test_a_verdict_without_a_name_is_the_users_own(own_story: Any) -> None:
    edge = edge_between(own_story, TOKEN, SESSION)
    own_story.good("confirm", edge["id"])
    undone = own_story("undo", edge["id"], "--json", environment={"LOGNAME": "梅"})
    (judged,) = undone.shape["items"]
    assert [verdict["by"] for verdict in judged["verdicts"]] == [getpass.getuser(), "梅"]


def test_a_rejected_edge_leaves_the_queue_and_is_listed_apart(own_story: Any) -> None:
    edge = edge_between(own_story, TOKEN, SESSION)
    said = own_story.good("reject", edge["id"], "--note", "only named alike")
    assert "rejected" in said.out
    assert edge["id"] not in [item["id"] for item in edges(own_story)]
    assert [item["id"] for item in edges(own_story, "--status", "rejected")] == [edge["id"]]
    assert edge["id"] in own_story.good("edges", "--status", "rejected").out


def test_of_several_verdicts_all_are_given_or_none(own_story: Any) -> None:
    chosen = [edge["id"] for edge in edges(own_story)[:3]]
    refused = own_story("confirm", *chosen, NOBODY)
    assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1)
    assert edges(own_story, "--status", "confirmed") == []
    done = own_story.good("confirm", *chosen, chosen[0], "--json").shape["items"]
    assert [edge["id"] for edge in done] == chosen
    assert {edge["id"] for edge in edges(own_story, "--status", "confirmed")} == set(chosen)


@pytest.mark.parametrize("command", ["why", "confirm", "reject", "undo", "retire"])
def test_an_edge_nobody_knows_is_a_sentence_with_the_nearest(story: Any, command: str) -> None:
    known = edge_between(story, TOKEN, SESSION)["id"]
    for id in (NOBODY, known[:12] + "xxxx", "", "模块", "[red]", "a" * 300):
        refused = story(command, id)
        assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1), id
    assert known in story(command, known[:12] + "xxxx").err


def test_a_retired_edge_takes_no_other_verdict_than_undo(own_story: Any) -> None:
    id = edge_between(own_story, TOKEN, SESSION)["id"]
    early = own_story("undo", id)
    assert (early.status, early.out, early.err.count("\n")) == (1, "", 1)
    own_story.good("confirm", id)
    assert "retired" in own_story.good("retire", id).out
    for command in ("confirm", "reject"):
        refused = own_story(command, id)
        assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1)
        assert "undo" in refused.err
    assert "confirmed" in own_story.good("undo", id).out


def test_a_declared_edge_holds_whatever_the_history_shows(own_story: Any) -> None:
    (own_story.path / "src").mkdir(exist_ok=True)
    said = own_story.good(
        "declare", "auth/claims.ts", "contract:GET /keys", "--relation", "implements",
        cwd=own_story.path / "src",
    )  # fmt: skip
    assert "src/auth/claims.ts implements contract GET /keys" in said.out
    (found,) = edges(own_story, "--status", "confirmed", "--kind", "declared")
    assert (found["origin"], found["relation"]) == ("declared", "implements")
    assert "declared by somebody" in own_story.good("edges", "--status", "confirmed").out


@pytest.mark.parametrize(
    "arguments",
    [
        (TOKEN, TOKEN),
        (TOKEN, "src/nobody.ts"),
        ("concept:nobody-speaks-of-this", TOKEN),
        ("", TOKEN),
        (TOKEN, "../../etc/passwd"),
        (TOKEN, "module:nowhere"),
    ],
)
def test_what_can_not_be_declared_is_refused_with_a_sentence(story: Any, arguments: tuple[str, str]) -> None:
    refused = story("declare", *arguments, "--relation", "depends_on")
    assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1)
    assert edges(story, "--status", "confirmed") == []


WRONG = {
    "no edge": ("confirm",),
    "no relation of that name": ("confirm", NOBODY, "--relation", "knows"),
    "no direction of that name": ("confirm", NOBODY, "--relation", "tests", "--direction", "up"),
    "a direction of nothing": ("confirm", NOBODY, "--direction", "both"),
    "a relation where none can stand": ("reject", NOBODY, "--relation", "tests"),
    "a declaration of nothing": ("declare", "a.ts", "b.ts"),
    "half a declaration": ("declare", "a.ts", "--relation", "tests"),
    "no status of that name": ("edges", "--status", "open"),
    "no kind of that name": ("edges", "--kind", "imports"),
    "no order of that name": ("edges", "--order", "size"),
    "two edges": ("why", NOBODY, NOBODY),
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_wrong_use_is_status_2(graphmem: Any, arguments: tuple[str, ...]) -> None:
    outcome = graphmem(*arguments)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert "--help" in outcome.err


def test_an_empty_list_says_what_would_fill_it(graphmem: Any, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    line = {"title": "Begin", "files_modified": ["a.py", "b.py"], "session": "s-1"}
    (shop / "turns.jsonl").write_text(json.dumps(line) + "\n")
    (shop / "none.jsonl").write_text("")
    graphmem("import", "jsonl", "none.jsonl", cwd=shop)
    assert "graphmem import git ." in graphmem.good("edges", cwd=shop).out
    graphmem.good("import", "jsonl", "turns.jsonl", cwd=shop)
    assert "two sessions" in graphmem.good("edges", cwd=shop).out
    assert "graphmem edges" in graphmem.good("edges", "--status", "confirmed", cwd=shop).out
    assert "graphmem edges" in graphmem.good("edges", "--node", "a.py", cwd=shop).out
    assert graphmem.good("edges", "--json", cwd=shop).shape["items"] == []


@pytest.fixture
def odd(graphmem: Any, tmp_path: Path) -> Any:
    """A shop whose files have names that steer terminals, look like markup, or are Chinese and long."""
    names = [f"a{STEERING}.py", "[red]b[/red].py", "c\nd.py", "/".join(["一个很长的文件夹名字"] * 6)]
    turn = {"title": f"[bold]购物车{STEERING}", "files_modified": names}
    turns = [turn | {"id": f"o-{number}", "session": f"s-{number}"} for number in range(4)]
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    graphmem.good("import", "jsonl", "turns.jsonl", cwd=shop)
    graphmem.good("infer", cwd=shop)

    def run(*arguments: str) -> Any:
        return graphmem(*arguments, cwd=shop, environment={"COLUMNS": "80"})

    return run


def test_names_and_notes_from_outside_steer_nothing_and_stay_whole(odd: Any) -> None:
    found = odd("edges", "--json").shape["items"]
    assert len(found) >= 3
    id = found[0]["id"]
    runs = [
        odd("edges"),
        odd("why", id),
        odd("confirm", id, "--relation", "tests", "--by", f"[x]{STEERING}", "--note", "[link]梅\nx"),
        odd("why", id),
        odd("edges", "--status", "confirmed"),
        odd("reject", id),
        odd("edges", "--status", "rejected"),
    ]
    for outcome in runs:
        assert outcome.status == 0, outcome.err
        assert not set(STEERING) & set(outcome.out) - set("[31m")
        assert max(cell_len(line) for line in outcome.out.splitlines()) <= 80
        assert not [line for line in outcome.out.splitlines() if line.strip().startswith("d.py")]
    told = runs[3].out
    assert "[link]梅" in told
    assert "[bold]购物车" in told
    shown = "".join(outcome.out for outcome in runs)
    assert "[red]b[/red].py" in shown
    assert "一个很长的文件夹名字" in shown


def test_as_of_lists_what_was_open_then(story: Any) -> None:
    early = edges(story, "--as-of", "2026-03-20")
    late = edges(story, "--as-of", "2026-06-01")
    assert len(early) < len(late)
    assert all(edge["evidence"]["last_seen"] < "2026-03-21" for edge in early)
    assert {edge["id"] for edge in late} == {edge["id"] for edge in edges(story)}
