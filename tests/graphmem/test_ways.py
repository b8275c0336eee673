"""Why two nodes are linked: ways with the evidence of each step, or a reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem.graph import LinkPaths
from graphmem.model import Observation
from graphmem.recall.ways import link_paths


def work(number: int, *files: str, **more: Any) -> Observation:
    return Observation(id=f"o{number}", session=f"s{number}", at=float(number), files_modified=files, **more)


@pytest.fixture
def net(recorded: Callable[..., Any]) -> Any:
    memory = recorded(work(1, "a", "b", "c", "d"), work(2, "d", "e", title="Both <of> them"))
    memory.edge("e1", "a", "b", probability=0.5, keys="1")
    memory.edge("e2", "c", "b", probability=0.8, status="confirmed")
    memory.edge("e3", "c", "a", probability=0.2)
    memory.edge("e4", "b", "d", probability=0.9, status="rejected")
    return memory


def asked(memory: Any, source: str, target: str, behind: str | None = None) -> LinkPaths:
    with memory.view() as view:
        return link_paths(
            memory.edges(view), memory.graph(), memory.number(source), memory.number(target), behind
        )


def test_ways_are_given_step_by_step_the_shortest_first(net: Any) -> None:
    found = asked(net, "a", "c")
    assert [[edge.id for edge in path.steps] for path in found.paths] == [["e3"], ["e1", "e2"]]
    assert [[node.name for node in path.nodes] for path in found.paths] == [["a", "c"], ["a", "b", "c"]]
    assert [path.strength for path in found.paths] == [pytest.approx(0.2), pytest.approx(0.5)]
    assert found.paths[1].steps[0].evidence.observations == ("o1",)
    assert (found.complete, found.reason) == (True, None)


def test_without_a_way_the_observations_of_both_are_named(net: Any) -> None:
    found = asked(net, "d", "e")
    assert found.paths == ()
    assert not found.complete
    assert found.reason == (
        "nothing recorded links them within three steps, though one observation holds both: "
        "o2 (Both <of> them)"
    )
    net.tell(work(3, "d", "e"))
    assert "though 2 observations hold both, last o3" in str(asked(net, "d", "e").reason)


def test_without_anything_in_common_just_that_is_said(net: Any) -> None:
    assert asked(net, "a", "e").reason == "nothing recorded links them within three steps"


def test_a_node_is_not_linked_to_itself(net: Any) -> None:
    found = asked(net, "a", "a")
    assert (found.paths, found.complete, found.reason) == ((), False, "both names mean file:a")


def test_a_gone_end_and_a_graph_behind_are_reasons(net: Any) -> None:
    net.tell(Observation(id="gone", session="s", at=9.0, files_deleted=("a",)))
    found = asked(net, "a", "b", "the graph lacks one observation")
    assert len(found.paths) == 2
    assert found.reason == "file:a is gone; the graph lacks one observation"


def test_a_way_over_an_edge_that_is_no_more_is_left_out(net: Any) -> None:
    store = net.graph()
    with net.database.write() as connection:
        connection.execute("DELETE FROM edge WHERE id = 'e3'")
    with net.view() as view:
        found = link_paths(net.edges(view), store, net.number("a"), net.number("c"))
    assert [[edge.id for edge in path.steps] for path in found.paths] == [["e1", "e2"]]
    assert not found.complete
