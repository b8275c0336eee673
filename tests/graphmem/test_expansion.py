"""What the graph adds to a question, by which way, and what it leaves alone."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.errors import StorageError
from graphmem.instant import from_iso
from graphmem.model import Observation
from graphmem.postings import View
from graphmem.question import FoundNode, Question
from graphmem.recall.asking import QuestionKind
from graphmem.recall.expansion import Expansion, Hit, ceiling_of, expand
from graphmem.recall.module_answer import modules_for
from graphmem.store.port import GraphFault

STORY = Path(__file__).resolve().parents[2] / "fixtures" / "story"
EXPECTED: dict[str, Any] = json.loads((STORY / "expectations.json").read_text(encoding="utf-8"))
ASKED_AT = from_iso(EXPECTED["asked_at"])
PATIENCE = 30.0


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("expansion")
    (folder / "shop").mkdir()
    with Memory(folder / "home", clock=lambda: ASKED_AT) as memory:
        project, _ = memory.register(folder / "shop")
        project.import_jsonl(str(STORY / "observations.jsonl"))
        assert project.wait_visible()
        project.graph.infer()
        yield project


def seen(files: Any, as_of: float | None) -> Any:
    return files.follower.view(as_of)


def widened(
    project: Project,
    text: str,
    *hits: int,
    as_of: float | None = None,
    kind: QuestionKind = QuestionKind.CONSEQUENCES,
    **bounds: int,
) -> Expansion:
    question = Question(text, as_of=as_of, **bounds)
    deadline = time.monotonic() + PATIENCE
    with project._access.use() as files, seen(files, as_of) as view:
        found, away = project.graph.lending.ask(
            view,
            lambda lent: expand(
                lent.store,
                view,
                [Hit(seq, 1.0) for seq in hits],
                question,
                deadline,
                kind=kind,
                rows=lent.rows,
            ),
            deadline,
        )
    assert away is None and found is not None
    return found


def names(nodes: tuple[FoundNode, ...]) -> list[str]:
    return [node.name for node in nodes]


@pytest.mark.parametrize("text", EXPECTED["consequences"]["texts"])
def test_the_consequences_of_a_change_are_the_files_of_what_is_named(story: Project, text: str) -> None:
    found = widened(story, text)
    assert sorted(names(found.nodes)) == EXPECTED["consequences"]["files"]
    assert found.cut is None and found.pieces


def test_every_node_and_piece_carries_the_way_that_brought_it_in(story: Project) -> None:
    found = widened(story, EXPECTED["consequences"]["texts"][0])
    for node in found.nodes:
        assert node.via[0].source in ("concept:auth", "concept:jwt")
        assert node.via[-1].target == node.ref
        assert all(one.target == other.source for one, other in zip(node.via, node.via[1:], strict=False))
        assert all(hop.edge_id for hop in node.via)
    assert all(piece.via for piece in found.pieces)


def test_what_was_inferred_is_worded_as_a_likelihood_in_the_question_s_language(story: Project) -> None:
    english = widened(story, "what has to change if src/auth/token.ts changes?").nodes[0]
    chinese = widened(story, "改了 token.ts 会影响哪些文件").nodes[0]
    assert english.name == chinese.name == "src/checkout/session.ts"
    assert english.text == "often changed together with src/auth/token.ts (likely)"
    assert chinese.text == "常与 src/auth/token.ts 一起修改 (很可能)"


@pytest.mark.parametrize(
    ("bounds", "count"),
    [({"depth": 0}, 0), ({"width": 0}, 0), ({"width": 2, "depth": 1}, 2), ({"width": 99, "depth": 1}, 5)],
)
def test_depth_and_width_are_kept_to(story: Project, bounds: dict[str, int], count: int) -> None:
    assert len(widened(story, "what is affected if src/auth/token.ts changes?", **bounds).nodes) == count


def test_a_second_level_stays_with_what_the_question_is_about(story: Project) -> None:
    steps = "src/checkout/steps.ts"
    assert steps not in names(widened(story, "what has to change when auth changes?", width=20).nodes)
    assert steps not in names(widened(story, "which files are affected by src/auth/token.ts?").nodes)


def test_a_contract_leads_to_its_users(story: Project) -> None:
    found = widened(story, "what breaks if POST /api/v1/auth/session changes?", width=20)
    assert found.nodes[0].name == "src/mobile/api_client.ts"
    assert found.nodes[0].via[0].kind == "uses"


def test_pieces_that_were_hit_already_are_not_added_again(story: Project) -> None:
    text = "what has to change when auth changes?"
    before = [piece.seq for piece in widened(story, text).pieces]
    after = [piece.seq for piece in widened(story, text, *before[:2]).pieces]
    assert not set(before[:2]) & set(after)


def test_hits_lead_on_where_a_question_names_nothing(story: Project) -> None:
    with story._access.use() as files, seen(files, None) as view:
        (seq,) = view.connection.execute("SELECT seq FROM observation WHERE id = 'shop-075'").fetchone()
    found = widened(story, "qqq zzz what has to change?", seq)
    assert found.nodes
    assert found.nodes[0].via[0].source == "observation:shop-075"


def test_a_past_moment_knows_only_what_was_linked_by_then(story: Project) -> None:
    early = widened(story, EXPECTED["consequences"]["texts"][0], as_of=from_iso("2026-03-02T04:00:00Z"))
    later = widened(story, EXPECTED["consequences"]["texts"][0], as_of=from_iso("2026-04-01T00:00:00Z"))
    assert early.nodes == ()
    assert "src/auth/token.ts" in names(later.nodes)
    assert "src/auth/refresh.ts" not in names(later.nodes)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "'}) DETACH DELETE n //",
        "MATCH (n) DETACH DELETE n",
        "%_\\'\"; DROP TABLE edge; --",
        pytest.param("🎉" * 40, id="emoji"),
        pytest.param("a/b " * 30_000, id="long"),
        pytest.param("什么" * 2_000, id="Chinese"),
        "\u202eabc\u202c",
        "/",
        "..",
        "../../etc/passwd",
        "\x00",
    ],
)
def test_whatever_is_asked_is_only_ever_compared(story: Project, text: str) -> None:
    found = widened(story, text)
    assert found.nodes == ()
    assert len(names(widened(story, EXPECTED["consequences"]["texts"][0]).nodes)) == 6


def test_a_deadline_that_has_passed_leaves_the_rest_out(story: Project) -> None:
    question = Question(EXPECTED["consequences"]["texts"][0])
    with story._access.use() as files, seen(files, None) as view, files.curator.store() as store:
        found = expand(store, view, [], question, time.monotonic() - 1)
        late = story.graph.lending.ask(view, lambda lent: lent.store, time.monotonic() - 1)
    assert (found.nodes, found.cut) == ((), "the time for following links was used up")
    assert late == (None, "the graph is being brought up; ask again in a moment")


@pytest.mark.parametrize(
    ("budget", "window", "ceiling"),
    [(1_000, None, 1_000), (1_000, 2_000, 300), (100, 200_000, 100), (0, None, 0), (500, 0, 0)],
)
def test_what_is_added_takes_at_most_a_share_of_the_window(
    budget: int, window: int | None, ceiling: int
) -> None:
    assert ceiling_of(Question("x", budget_tokens=budget, context_window=window)) == ceiling


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        ("how is this project organised?", "product / catalog", 5),
        ("overview of auth", "token / auth", 1),
        ("购物车模块概览", "cart / store", 1),
        ("项目结构是怎样的", "product / catalog", 5),
    ],
)
def test_a_broad_question_is_answered_by_modules(story: Project, text: str, first: str, count: int) -> None:
    with story._access.use() as files, seen(files, None) as view:
        found = modules_for(view, text)
        assert modules_for(View(view.connection, ASKED_AT), text) == ()
    assert (found[0].name, len(found)) == (first, count)
    assert found[0].ref.startswith("module:")


def test_a_confirmed_relation_is_followed_to_what_depends_on_it(recorded: Callable[..., Any]) -> None:
    made = recorded(
        Observation(
            id="1", session="s", at=1.0, title="auth", files_modified=("a.ts", "b.ts"), concepts=("auth",)
        )
    )
    made.edge("e", "file:a.ts", "file:b.ts", status="confirmed", relation="depends_on", direction="backward")
    with made.view() as view:
        found = expand(made.graph(), view, [], Question("what breaks if a.ts changes"), math.inf)
        other = expand(made.graph(), view, [], Question("what breaks if b.ts changes"), math.inf)
    assert [(node.name, node.text) for node in found.nodes] == [("b.ts", "depends on a.ts (confirmed)")]
    assert other.nodes == ()


def asked(project: Project, text: str) -> tuple[Expansion | None, str | None]:
    deadline = time.monotonic() + PATIENCE
    with project._access.use() as files, seen(files, None) as view:
        return project.graph.lending.ask(
            view, lambda lent: expand(lent.store, view, [], Question(text), deadline), deadline
        )


def test_a_damaged_graph_is_away_once_and_built_anew(tmp_path: Path) -> None:
    text = EXPECTED["consequences"]["texts"][0]
    (tmp_path / "shop").mkdir()
    with Memory(tmp_path / "home", clock=lambda: ASKED_AT) as memory:
        project, _ = memory.register(tmp_path / "shop")
        project.import_jsonl(str(STORY / "observations.jsonl"))
        assert project.wait_visible()

        def fails(lent: Any) -> Expansion:
            raise GraphFault("The page 7 can't be read.")

        with project._access.use() as files, seen(files, None) as view:
            found = project.graph.lending.ask(view, fails, time.monotonic() + PATIENCE)
        assert found == (None, "the graph is away: The page 7 can't be read.")
        again, away = asked(project, text)
        assert away is None and again is not None
        assert sorted(names(again.nodes)) == EXPECTED["consequences"]["files"]
    with pytest.raises(StorageError):
        asked(project, text)


def test_a_file_named_like_a_query_is_widened_like_any_other(recorded: Callable[..., Any]) -> None:
    hostile = "src/'}) DETACH DELETE n --.ts"
    made = recorded(
        Observation(id="1", session="s", at=1.0, title="x", files_modified=(hostile, "b.ts")),
    )
    made.edge("e", f"file:{hostile}", "file:b.ts")
    with made.view() as view:
        found = expand(made.graph(), view, [], Question("what breaks if b.ts changes"), math.inf)
    assert names(found.nodes) == [hostile]
    assert found.nodes[0].text == "sometimes changed together with b.ts (possible)"
