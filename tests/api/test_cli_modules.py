"""Modules and the digest on the command line: what emerged, one in full, the project in a few lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

STEERING = "\x1b[31m\x07\u202e"


def on_80(shop: Any, *arguments: str) -> str:
    """What a person sees on a screen of 80 columns."""
    outcome = shop(*arguments, environment={"COLUMNS": "80"})
    assert outcome.status == 0, outcome.err
    assert max(cell_len(line) for line in outcome.out.splitlines()) <= 80
    assert "\x1b" not in outcome.out
    shown: str = outcome.out
    return shown


def test_modules_are_listed_largest_first_with_their_key_files(story: Any) -> None:
    page = story.good("modules", "--json").shape
    sizes = [module["size"] for module in page["items"]]
    assert len(sizes) >= 2
    assert sizes == sorted(sizes, reverse=True)
    shown = on_80(story, "modules")
    for module in page["items"]:
        assert module["id"] in shown
        assert module["key_files"][0].rpartition("/")[2] in shown
    assert "belong to none" in shown


def test_the_list_of_modules_goes_on_where_the_cursor_says(story: Any) -> None:
    whole = [module["id"] for module in story.good("modules", "--json").shape["items"]]
    first = story.good("modules", "--limit", "1", "--json").shape
    rest = story.good("modules", "--cursor", first["next_cursor"], "--json").shape
    assert [module["id"] for module in (*first["items"], *rest["items"])] == whole
    assert "--cursor" in on_80(story, "modules", "--limit", "1")


def test_one_module_is_shown_whole(story: Any) -> None:
    page = story.good("modules", "--json").shape
    found = story.good("modules", page["items"][0]["id"], "--json").shape
    assert found["id"] == page["items"][0]["id"]
    assert len(found["members"]) == found["size"]
    shown = on_80(story, "modules", f"module:{found['id']}")
    for node in found["members"][:10]:
        assert node["name"] in shown
    assert f"{found['size']} members" in shown


@pytest.mark.parametrize("id", ["nowhere", "", "../..", "模块", "a" * 500, "module:"])
def test_a_module_nobody_knows_is_a_sentence(story: Any, id: str) -> None:
    refused = story("modules", id)
    assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1)


def test_the_digest_keeps_its_budget_and_names_the_modules(story: Any) -> None:
    small = story.good("overview", "--json").shape
    large = story.good("overview", "--budget", "600", "--json").shape
    assert 0 < small["tokens"] <= 200 < large["tokens"] <= 600
    shown = on_80(story, "overview")
    assert f"{small['tokens']} tokens" in shown
    assert small["modules"][0]["label"] in small["text"]


WRONG = (
    ("overview", "--budget", "0"),
    ("overview", "--budget", "few"),
    ("modules", "--level", "-1"),
    ("modules", "a", "b"),
)


@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_use_is_status_2(graphmem: Any, arguments: tuple[str, ...]) -> None:
    outcome = graphmem(*arguments)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)


def test_where_nothing_has_emerged_it_says_what_to_do(graphmem: Any, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    line = {"title": "Begin", "files_modified": ["a.py"], "session": "s-1"}
    (shop / "turns.jsonl").write_text(json.dumps(line) + "\n")
    graphmem.good("import", "jsonl", "turns.jsonl", cwd=shop)
    assert "graphmem edges" in graphmem.good("modules", cwd=shop).out
    assert "level 3" in graphmem.good("modules", "--level", "3", cwd=shop).out
    for command in ("overview", "health"):
        assert graphmem.good(command, cwd=shop).out.strip()


def test_names_from_outside_steer_nothing(graphmem: Any, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    names = [f"[red]购物车/{letter}{STEERING}\n.py" for letter in "abcd"]
    turn = {"title": f"购物车合并 [bold]{STEERING}", "files_modified": names, "concepts": [f"auth{STEERING}"]}
    turns = [turn | {"id": f"o-{number}", "session": f"s-{number}"} for number in range(6)]
    (shop / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    graphmem.good("import", "jsonl", "turns.jsonl", cwd=shop)
    graphmem.good("infer", cwd=shop)
    (module,) = graphmem.good("modules", "--json", cwd=shop).shape["items"]
    for arguments in (("modules",), ("modules", module["id"]), ("overview",), ("health",)):
        shown = graphmem.good(*arguments, cwd=shop).out
        assert not set(STEERING) & set(shown) - set("[31m")
        assert not [line for line in shown.splitlines() if line.strip() == ".py"]
    assert "购物车" in graphmem.good("modules", module["id"], cwd=shop).out
