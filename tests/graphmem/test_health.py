"""What deserves a look: each kind of trouble is counted whole and listed up to the limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem.graph import Health, HealthCounts
from graphmem.model import Observation
from graphmem.recall.health import health, health_counts

DEPENDS = {"status": "confirmed", "relation": "depends_on", "direction": "forward"}


def work(number: int, *files: str, **more: Any) -> Observation:
    return Observation(id=f"o{number}", session=f"s{number}", at=float(number), files_modified=files, **more)


def asked(memory: Any, limit: int = 20, **more: Any) -> Health:
    with memory.view() as view:
        return health(memory.edges(view, **more), memory.graph(), limit)


def test_a_project_in_order_has_no_troubles(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a", "b"))
    memory.edge("e1", "a", "b")
    assert asked(memory) == Health(HealthCounts())


@pytest.mark.parametrize(
    ("status", "counts"), [("candidate", 1), ("confirmed", 1), ("stale", 1), ("rejected", 0), ("retired", 0)]
)
def test_a_gone_file_is_dead_while_an_unsettled_edge_names_it(
    recorded: Callable[..., Any], status: str, counts: int
) -> None:
    memory = recorded(work(1, "a", "b"), Observation(id="x", session="s", at=2.0, files_deleted=("a",)))
    memory.edge("e1", "a", "b", status=status)
    found = asked(memory)
    assert found.counts.dead_files == len(found.dead_files) == counts
    assert [node.name for node in found.dead_files] == ["a"][:counts]


def test_a_file_missing_on_the_disk_and_a_lost_name_are_dead_too(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a", "b", "c"))
    memory.edge("e1", "a", "b")
    memory.edge("e2", "c", "lost", status="stale")
    found = asked(memory, missing=lambda paths: {"b"} & set(paths))
    assert [node.name for node in found.dead_files] == ["b", "lost"]


def test_cycles_are_told_in_the_order_of_dependence(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a", "b", "c", "d"))
    memory.edge("e1", "a", "b", **DEPENDS)
    memory.edge("e2", "c", "b", **{**DEPENDS, "direction": "backward"})
    memory.edge("e3", "c", "a", **DEPENDS)
    memory.edge("e4", "c", "d", **{**DEPENDS, "direction": "both"})
    found = asked(memory)
    around = [[node.name for node in cycle] for cycle in found.cycles]
    assert [sorted(cycle) for cycle in around] == [["c", "d"], ["a", "b", "c"]]
    turn = around[1].index("a")
    assert around[1][turn:] + around[1][:turn] == ["a", "b", "c"]
    assert found.counts.cycles == 2


def test_orphans_are_living_files_of_the_project_itself(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        work(1, "a", "b", "z", "q", "yarn.lock", "node_modules/x.js"),
        Observation(id="x", session="s", at=2.0, files_deleted=("z",)),
    )
    memory.edge("e1", "a", "b")
    memory.edge("e2", "a", "q", status="rejected")
    found = asked(memory)
    assert [node.name for node in found.orphans] == ["q"]
    assert found.counts.orphans == 1
    assert asked(memory, missing=lambda paths: {"q"} & set(paths)).orphans == ()


def test_lists_are_cut_and_counts_are_whole(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, *(f"f{number}" for number in range(9))))
    for number in range(1, 9):
        memory.edge(f"e{number}", "f0", f"f{number}", status="stale", updated_at=float(number))
    found = asked(memory, limit=3)
    assert found.counts == HealthCounts(orphans=9, stale_edges=8)
    assert len(found.orphans) == 3
    assert [edge.id for edge in found.stale_edges] == ["e8", "e7", "e6"]


def test_a_module_that_holds_most_files_is_oversized(recorded: Callable[..., Any]) -> None:
    files = [f"f{number}" for number in range(70)]
    memory = recorded(work(1, *files))
    memory.module("m1", "everything", *files[:45])
    memory.module("m2", "rest", *files[45:])
    memory.module("m3", "all of it", *files, level=1)
    found = asked(memory)
    assert [module.label for module in found.oversized_modules] == ["everything"]
    assert found.counts.oversized_modules == 1


def test_without_a_graph_what_the_tables_tell_is_told(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a", "b"))
    memory.edge("e1", "a", "b", status="stale")
    with memory.view() as view:
        assert health_counts(memory.edges(view), None) == HealthCounts(stale_edges=1)
