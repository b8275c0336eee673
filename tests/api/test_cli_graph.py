"""The graph on the command line: what depends on what, why two are linked, what ails it; from both sides."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

TOKEN, SESSION, TOTAL = "src/auth/token.ts", "src/checkout/session.ts", "src/checkout/total.ts"


def on_80(shop: Any, *arguments: str) -> str:
    """What a person sees on a screen of 80 columns."""
    outcome = shop(*arguments, environment={"COLUMNS": "80"})
    assert outcome.status == 0, outcome.err
    assert max(cell_len(line) for line in outcome.out.splitlines()) <= 80
    assert "\x1b" not in outcome.out
    shown: str = outcome.out
    return shown


def whole(shop: Any, *question: str) -> Any:
    """The answer as JSON; one that ran out of time on a busy machine, and says so, is asked for again."""
    for _ in range(20):
        outcome = shop(*question, "--json")
        assert outcome.status == 0, outcome.err
        if "took longer" not in outcome.out:
            break
    return outcome.shape


def declare(shop: Any, source: str, target: str, relation: str = "depends_on") -> str:
    said = shop.good("declare", f"file:{source}", f"file:{target}", "--relation", relation, "--json")
    id: str = said.shape["items"][0]["id"]
    return id


# ---- what depends on what ------------------------------------------------------------------------


def test_before_anything_is_confirmed_the_answer_says_that_it_is_not_complete(story: Any) -> None:
    found = whole(story, "depends", f"file:{TOKEN}")
    assert (found["complete"], found["confirmed"]) == (False, [])
    assert SESSION in [item["node"]["name"] for item in found["likely"]]
    shown = on_80(story, "depends", f"file:{TOKEN}")
    assert f"What depends on {TOKEN}" in shown
    assert "Not complete: " in shown
    assert shown.index("Likely") < shown.index(SESSION)
    assert "9 of 11 times, 7 sessions" in shown


def test_confirmed_relations_are_walked_and_every_step_is_told(own_story: Any) -> None:
    declare(own_story, SESSION, TOKEN)
    declare(own_story, TOTAL, SESSION, "tests")
    found = whole(own_story, "depends", f"file:{TOKEN}")
    assert [(item["node"]["name"], item["hops"]) for item in found["confirmed"]] == [(SESSION, 1), (TOTAL, 2)]
    shown = on_80(own_story, "depends", f"file:{TOKEN}")
    assert f"{SESSION} depends on {TOKEN}" in shown
    assert f"{TOTAL} tests {SESSION}" in shown
    assert "2 hops" in shown
    near = whole(own_story, "depends", f"file:{TOKEN}", "--depth", "1")
    assert [item["node"]["name"] for item in near["confirmed"]] == [SESSION]
    assert "lead further" in near["reason"]


def test_the_other_way_tells_what_a_file_depends_on(own_story: Any) -> None:
    declare(own_story, SESSION, TOKEN)
    found = whole(own_story, "depends", f"file:{SESSION}", "--reverse")
    assert [item["node"]["name"] for item in found["confirmed"]] == [TOKEN]
    shown = on_80(own_story, "depends", f"file:{SESSION}", "--reverse")
    assert f"What {SESSION} depends on" in shown
    assert whole(own_story, "depends", f"file:{SESSION}")["confirmed"] == []


def test_a_confirmed_edge_without_a_relation_is_linked_and_not_walked(own_story: Any) -> None:
    listed = own_story.good("edges", "--node", f"file:{TOKEN}", "--json").shape["items"]
    (id,) = [edge["id"] for edge in listed if SESSION in {edge["from"]["name"], edge["to"]["name"]}]
    own_story.good("confirm", id)
    found = whole(own_story, "depends", f"file:{TOKEN}")
    assert [item["node"]["name"] for item in found["linked"]] == [SESSION]
    shown = on_80(own_story, "depends", f"file:{TOKEN}")
    assert shown.index("Linked") < shown.index(SESSION)


def test_when_nothing_is_left_to_judge_the_answer_is_complete(graphmem: Any, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    turns = [
        {"id": f"o-{number}", "session": f"s-{number}", "title": "Token", "files_modified": ["a.py", "b.py"]}
        for number in range(4)
    ]
    (shop / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    graphmem.good("import", "jsonl", "turns.jsonl", cwd=shop)
    graphmem.good("infer", cwd=shop)
    (edge,) = graphmem.good("edges", "--json", cwd=shop).shape["items"]
    graphmem.good("confirm", edge["id"], "--relation", "depends_on", cwd=shop)
    found = whole(partial(graphmem, cwd=shop), "depends", edge["to"]["name"])
    assert (found["complete"], found["reason"]) == (True, None)
    assert "Complete" in graphmem.good("depends", edge["to"]["name"], cwd=shop).out


@pytest.mark.parametrize(
    ("node", "nearest"),
    [
        ("src/auth/tokem.ts", TOKEN),
        ("auth", "concept:auth"),
        ("concept:aut", "concept:auth"),
        ("file:src/auth/tokens.ts", TOKEN),
        ("contract:POST /api/v3/auth/session", "POST /api/v2/auth/session"),
    ],
)
def test_a_node_nobody_knows_is_a_sentence_with_the_nearest(story: Any, node: str, nearest: str) -> None:
    for arguments in (("depends", node), ("path", node, f"file:{TOKEN}"), ("edges", "--node", node)):
        refused = story(*arguments)
        assert (refused.status, refused.out, refused.err.count("\n")) == (1, "", 1), arguments
        assert nearest in refused.err


@pytest.mark.parametrize("depth", ["0", "4", "99", "-1", "deep"])
def test_a_depth_outside_one_to_three_is_wrong_use(story: Any, depth: str) -> None:
    refused = story("depends", TOKEN, "--depth", depth)
    assert (refused.status, refused.out, refused.err.count("\n")) == (2, "", 1)


# ---- why two are linked --------------------------------------------------------------------------


def test_two_linked_files_are_told_with_every_step(story: Any) -> None:
    found = whole(story, "path", f"file:{TOKEN}", f"file:{SESSION}")
    assert [node["name"] for node in found["paths"][0]["nodes"]] == [TOKEN, SESSION]
    shown = on_80(story, "path", f"file:{TOKEN}", f"file:{SESSION}")
    assert "1 step" in shown
    assert "9 of 11 times" in shown


def test_two_files_that_nothing_links_say_so(story: Any) -> None:
    shown = on_80(story, "path", "file:src/i18n/zh.ts", f"file:{TOKEN}")
    assert "nothing recorded links them" in shown
    assert whole(story, "path", "file:src/i18n/zh.ts", f"file:{TOKEN}")["paths"] == []


# ---- its health ----------------------------------------------------------------------------------


def test_a_cycle_of_dependencies_is_named_step_by_step(own_story: Any) -> None:
    for source, target in ((TOKEN, SESSION), (SESSION, TOTAL), (TOTAL, TOKEN)):
        declare(own_story, source, target)
    found = own_story.good("health", "--json").shape
    assert found["counts"]["cycles"] == len(found["cycles"]) == 1
    assert {node["name"] for node in found["cycles"][0]} == {TOKEN, SESSION, TOTAL}
    shown = on_80(own_story, "health")
    assert "1 cycle of confirmed dependencies" in shown
    assert " -> " in shown


def test_the_lists_are_cut_and_the_counts_are_not(story: Any) -> None:
    found = story.good("health", "--limit", "2", "--json").shape
    assert len(found["orphans"]) == 2 < found["counts"]["orphans"]
    assert f"and {found['counts']['orphans'] - 2} more" in on_80(story, "health", "--limit", "2")


def test_an_inference_that_changes_nothing_says_so(story: Any) -> None:
    found = story.good("infer", "--json").shape
    assert found["edges"] == {"created": 0, "updated": 0, "retired": 0}
    assert found["modules"] >= 2
    assert "modules" in on_80(story, "infer")


# ---- from both sides -----------------------------------------------------------------------------

QUESTIONS = (
    ("edges",),
    ("edges", "--status", "confirmed", "--status", "rejected", "--order", "recent", "--limit", "50"),
    ("edges", "--kind", "co_changes", "--kind", "read_for", "--node", f"file:{TOKEN}"),
    ("edges", "--as-of", "2026-04-20"),
    ("depends", f"file:{TOKEN}"),
    ("depends", "concept:auth", "--reverse", "--depth", "2", "--limit", "3"),
    ("depends", f"file:{TOKEN}", "--as-of", "2026-04-20"),
    ("path", f"file:{TOKEN}", f"file:{TOTAL}"),
    ("modules",),
    ("overview", "--budget", "300"),
    ("health", "--limit", "3"),
)


def answers(shop: Any, edge: str, module: str) -> dict[str, Any]:
    """Everything that can be asked of a graph."""
    asked = (*QUESTIONS, ("why", edge), ("modules", module))
    return {" ".join(question): whole(shop, *question) for question in asked}


@pytest.mark.slow
def test_the_service_and_the_files_give_the_very_same_answers_and_take_the_same_verdicts(
    own_story: Any, start_service: Callable[..., Any]
) -> None:
    first, second, third = (edge["id"] for edge in own_story.good("edges", "--json").shape["items"][:3])
    module = own_story.good("modules", "--json").shape["items"][0]["id"]
    own_story.good("confirm", first, "--relation", "depends_on", "--by", "mei")
    own_story.good("reject", second, "--by", "mei")
    from_files = answers(own_story, first, module)
    refusals = [own_story(*wrong) for wrong in WRONG]

    service = start_service(own_story.program.home)
    assert answers(own_story, first, module) == from_files
    assert [own_story(*wrong) for wrong in WRONG] == refusals
    own_story.good("confirm", third, "--relation", "tests", "--direction", "both", "--note", "梅")
    own_story.good("undo", first)
    declare(own_story, SESSION, TOTAL)
    own_story.good("infer")
    by_service = answers(own_story, third, module)
    service.end()
    assert answers(own_story, third, module) == by_service
    assert by_service[f"why {third}"]["verdicts"][-1]["note"] == "梅"


WRONG = (
    ("why", "0" * 16),
    ("confirm", "0" * 16),
    ("depends", "src/auth/tokem.ts"),
    ("depends", "concept:aut"),
    ("declare", f"file:{TOKEN}", f"file:{TOKEN}", "--relation", "depends_on"),
    ("modules", "nowhere"),
    ("edges", "--cursor", "nonsense"),
)
