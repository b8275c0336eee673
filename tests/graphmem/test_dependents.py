"""What depends on what: exact where confirmed, labelled where not, never silent about what may be missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem.errors import InvalidInputError
from graphmem.graph import Dependents, Direction, EdgeKind
from graphmem.model import FileStatus, Observation
from graphmem.recall.dependents import Reach, dependents
from graphmem.store.port import Towards

CONFIRMED = {"status": "confirmed", "relation": "depends_on", "direction": "forward"}


def work(number: int, *files: str, **more: Any) -> Observation:
    return Observation(id=f"o{number}", session=f"s{number}", at=float(number), files_modified=files, **more)


@pytest.fixture
def chain(recorded: Callable[..., Any]) -> Any:
    """`d` depends on `c`, that on `b`, that on `a`; `x` is linked to `a`, `y` and `z` perhaps."""
    memory = recorded(work(1, "a", "b", "c", "d", "x", "y", "z"), work(2, "a", "b"), work(3, "alone"))
    memory.edge("e1", "b", "a", **CONFIRMED)
    memory.edge("e2", "c", "b", **CONFIRMED)
    memory.edge("e3", "c", "d", status="confirmed", relation="tests", direction="backward")
    memory.edge("e4", "a", "x", status="confirmed", keys="1 2")
    memory.edge("e5", "a", "y", probability=0.8, keys="1")
    memory.edge("e6", "z", "a", probability=0.3, kind="followed_by")
    return memory


def asked(
    memory: Any, reference: str, *, missing: Any = None, behind: str | None = None, **reach: Any
) -> Dependents:
    with memory.view() as view:
        edges = memory.edges(view, **({} if missing is None else {"missing": missing}))
        return dependents(edges, memory.graph(), memory.number(reference), Reach(**reach), behind)


def names(found: Any) -> list[str]:
    return [entry.node.name for entry in found]


def test_confirmed_relations_are_walked_and_other_edges_listed_beside(chain: Any) -> None:
    found = asked(chain, "a")
    assert [(entry.node.name, entry.hops, entry.via) for entry in found.confirmed] == [
        ("b", 1, ("e1",)),
        ("c", 2, ("e1", "e2")),
        ("d", 3, ("e1", "e2", "e3")),
    ]
    assert names(found.linked) == ["x"]
    assert found.linked[0].evidence.observations == ("o1", "o2")
    assert [(entry.node.name, entry.edge_id, entry.probability) for entry in found.likely] == [
        ("y", "e5", 0.8)
    ]
    assert [(entry.node.name, entry.kind) for entry in found.possible] == [("z", EdgeKind.FOLLOWED_BY)]
    assert not found.complete
    assert found.reason == "1 likely and 1 possible links are not reviewed"


def test_dependencies_are_the_same_relations_the_other_way(chain: Any) -> None:
    found = asked(chain, "d", towards=Towards.DEPENDENCIES)
    assert names(found.confirmed) == ["c", "b", "a"]
    assert (found.complete, found.reason) == (True, None)
    assert asked(chain, "d").confirmed == ()


def test_an_answer_to_which_nothing_is_open_is_complete(chain: Any) -> None:
    found = asked(chain, "b")
    assert names(found.confirmed) == ["c", "d"]
    assert found.complete


@pytest.mark.parametrize(
    ("direction", "depth", "expected"),
    [
        ("forward", 3, "1 confirmed link is stale"),
        ("forward", 1, "looked 1 hop far, and confirmed relations lead further"),
        ("backward", 3, None),
    ],
)
def test_a_stale_link_further_on_is_told_if_it_would_be_walked(
    recorded: Callable[..., Any], direction: str, depth: int, expected: str | None
) -> None:
    memory = recorded(work(1, "a", "b", "c", "d"))
    memory.edge("e1", "b", "a", **CONFIRMED)
    memory.edge("e2", "c", "b", **CONFIRMED)
    memory.edge("e3", "d", "c", status="stale", relation="depends_on", direction=direction)
    found = asked(memory, "a", depth=depth)
    assert (found.complete, found.reason) == (expected is None, expected)


@pytest.mark.parametrize(
    ("edge", "depth", "expected"),
    [
        (("c", "d"), 3, "links further on are not reviewed"),
        (("d", "c"), 3, "links further on are not reviewed"),
        (("c", "d"), 2, None),
        (("c", "b"), 3, None),
        (("c", "concept:auth"), 3, None),
        (("c", "gone"), 3, None),
    ],
    ids=["to", "from", "at the last hop", "among those reached", "a topic", "a file that is gone"],
)
def test_a_link_further_on_that_nobody_judged_is_told_if_it_may_lead_to_more(
    recorded: Callable[..., Any], edge: tuple[str, str], depth: int, expected: str | None
) -> None:
    gone = Observation(id="x", session="x", at=9.0, files_deleted=("gone",))
    memory = recorded(work(1, "a", "b", "c", "d", "gone", concepts=("auth",)), gone)
    memory.edge("e1", "b", "a", **CONFIRMED)
    memory.edge("e2", "c", "b", **CONFIRMED)
    memory.edge("e3", *edge, probability=0.8)
    found = asked(memory, "a", depth=depth)
    assert names(found.confirmed) == ["b", "c"]
    assert (found.complete, found.reason) == (expected is None, expected)


def test_what_lies_beyond_the_depth_is_told(chain: Any) -> None:
    found = asked(chain, "b", depth=1)
    assert names(found.confirmed) == ["c"]
    assert not found.complete
    assert found.reason == "looked 1 hop far, and confirmed relations lead further"
    assert asked(chain, "b", depth=2).complete


def test_a_relation_both_ways_goes_round_no_further(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a", "b", "c"))
    memory.edge("e1", "a", "b", **{**CONFIRMED, "direction": Direction.BOTH})
    memory.edge("e2", "b", "c", **CONFIRMED)
    memory.edge("e3", "c", "a", **CONFIRMED)
    found = asked(memory, "a", depth=2)
    assert [(entry.node.name, entry.hops) for entry in found.confirmed] == [("b", 1), ("c", 1)]
    assert found.complete


@pytest.mark.parametrize("status", ["rejected", "retired", "stale"])
def test_what_was_ruled_out_is_never_listed(chain: Any, status: str) -> None:
    chain.edge("e7", "b", "alone", status=status, relation="depends_on", direction="backward")
    found = asked(chain, "b")
    assert "alone" not in names((*found.confirmed, *found.linked, *found.likely, *found.possible))
    assert found.complete == (status != "stale")
    if status == "stale":
        assert found.reason == "1 confirmed link is stale"


def test_a_node_without_any_edge_is_never_complete(chain: Any) -> None:
    found = asked(chain, "alone")
    assert (found.complete, found.reason) == (False, "nothing is recorded that links file:alone")


def test_a_cut_list_says_so(chain: Any) -> None:
    found = asked(chain, "a", limit=2)
    assert names(found.confirmed) == ["b", "c"]
    assert "only the first 2 of 3 confirmed ones are shown" in str(found.reason)


def test_suggestions_at_a_hub_hide_nothing_confirmed(recorded: Callable[..., Any]) -> None:
    files = [f"f{number:03}" for number in range(230)]
    memory = recorded(*(work(at, *files[at * 46 : at * 46 + 46]) for at in range(5)))
    for number, file in enumerate(files[1:]):
        memory.edge(f"e{number:03}", "f000", file, probability=0.5)
    with memory.database.write() as connection:
        connection.execute("UPDATE edge SET status = 'confirmed', probability = 0.1 WHERE id = 'e007'")
    found = asked(memory, "f000")
    assert names(found.linked) == ["f008"]
    assert len(found.possible) == 20
    assert "more than 200 neighbours" in str(found.reason)


def test_of_equal_hops_the_name_decides(recorded: Callable[..., Any]) -> None:
    files = ["m", "z9", "b2", "q5", "a1"]
    memory = recorded(work(1, *files))
    for number, file in enumerate(files[1:]):
        memory.edge(f"e{number}", file, "m", **CONFIRMED)
    assert names(asked(memory, "m").confirmed) == ["a1", "b2", "q5", "z9"]


def test_a_file_missing_on_the_disk_is_no_suggestion_but_a_confirmed_one_is_gone(chain: Any) -> None:
    found = asked(chain, "a", missing=lambda paths: {"b", "y"} & set(paths))
    assert found.likely == ()
    assert [entry.node.status for entry in found.confirmed] == [
        FileStatus.GONE,
        FileStatus.KNOWN,
        FileStatus.KNOWN,
    ]


def test_a_gone_node_and_a_graph_behind_are_reasons(chain: Any) -> None:
    chain.tell(Observation(id="gone", session="s", at=9.0, files_deleted=("b",)))
    found = asked(chain, "b", behind="the graph lacks the last 2 observations")
    assert found.node.status is FileStatus.GONE
    assert found.reason == "file:b is gone; the graph lacks the last 2 observations"
    assert names(found.confirmed) == ["c", "d"]


def test_concepts_and_features_can_be_asked_about(chain: Any) -> None:
    chain.edge("e8", "a", "feature:login", **CONFIRMED)
    assert names(asked(chain, "feature:login").confirmed)[:1] == ["a"]


@pytest.mark.parametrize("depth", [0, 4, 99, -1])
def test_a_depth_out_of_range_is_refused(chain: Any, depth: int) -> None:
    with pytest.raises(InvalidInputError) as refused:
        asked(chain, "a", depth=depth)
    assert refused.value.field == "depth"
