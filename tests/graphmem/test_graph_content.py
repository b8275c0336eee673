"""The way to the graph: all of it for a load, the difference since a mark, and when a difference won't do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphmem import graph_content
from graphmem.decisions import NamedDeclaration, declare
from graphmem.derived import adopt, open_derived
from graphmem.graph import EdgeKind, EdgeStatus, NodeName, NodeType, Relation
from graphmem.instant import DAY
from graphmem.journal import Journal
from graphmem.model import Observation, Rename
from graphmem.projection import catch_up
from graphmem.promotion import LOGGED, promote, settle_verdicts
from graphmem.store.port import GraphChange, GraphContent, GraphEdge, GraphNode, GraphObservation, Mark


class Told:
    """A journal, its derived file, and what a graph holds that follows it by nodes, edges, observations."""

    def __init__(self) -> None:
        self.journal, self.database = Journal(None), open_derived(None)
        adopt(self.database, 1)
        self.nodes: dict[int, GraphNode] = {}
        self.edges: dict[str, GraphEdge] = {}
        self.observations: dict[int, GraphObservation] = {}
        self.mark = Mark(0, 0, 0)
        self.loads = 0

    def tell(self, *observations: Observation) -> None:
        self.journal.append(observations, 0.0)
        self.promote()

    def forget(self, id: str) -> None:
        self.journal.forget(id, 0.0)
        self.promote()

    def promote(self) -> None:
        catch_up(self.journal, self.database)
        promote(self.journal, self.database, "p")

    def change(self) -> GraphChange | None:
        with self.database.read() as connection:
            return graph_content.change(connection, self.mark)

    def content(self) -> GraphContent:
        with self.database.read() as connection:
            whole = graph_content.content(connection)
            return GraphContent(
                tuple(whole.nodes), tuple(whole.edges), tuple(whole.observations), tuple(whole.modules)
            )

    def follow(self) -> None:
        """Bring the graph up, by the difference where there is one."""
        change = self.change()
        with self.database.read() as connection:
            mark = graph_content.mark(connection)
        if change is None:
            self.loads += 1
            content = self.content()
            self.nodes = {node.number: node for node in content.nodes}
            self.edges = {edge.id: edge for edge in content.edges}
            self.observations = {one.number: one for one in content.observations}
        else:
            self.nodes |= {node.number: node for node in change.nodes}
            self.edges |= {edge.id: edge for edge in change.edges}
            for id in change.dropped_edges:
                self.edges.pop(id, None)
            self.observations |= {one.number: one for one in change.observations}
        self.mark = mark

    def assert_whole(self) -> None:
        """What the graph holds by now is what a load would give; it may know more names than that."""
        content = self.content()
        assert self.edges == {edge.id: edge for edge in content.edges}
        assert self.observations == {one.number: one for one in content.observations}
        assert self.nodes.items() >= {node.number: node for node in content.nodes}.items()
        referred = {end for edge in self.edges.values() for end in (edge.source, edge.target)}
        referred.update(node for one in self.observations.values() for node in (*one.touched, *one.mentioned))
        assert referred <= self.nodes.keys()


@pytest.fixture
def told() -> Iterator[Told]:
    made = Told()
    yield made
    made.journal.close()
    made.database.close()


def work(number: int, *files: str, **fields: object) -> Observation:
    return Observation(
        id=f"o{number}",
        session=f"s{number}",
        at=3 * DAY * number,
        title=f"Fix login {number}",
        files_modified=files,
        **fields,  # type: ignore[arg-type]
    )


def test_a_load_holds_nodes_edges_and_observations_by_number(told: Told) -> None:
    told.tell(
        work(1, "a", "b", concepts=("auth",)), work(2, "a", "b", narrative="Calls POST /api/v1/pay now")
    )
    content = told.content()
    nodes = {str(NodeName(node.type, node.name)): node for node in content.nodes}
    assert {"file:a", "file:b", "concept:auth", "contract:POST /api/v1/pay"} <= nodes.keys()
    (edge,) = (edge for edge in content.edges if edge.kind is EdgeKind.CO_CHANGES)
    assert {edge.source, edge.target} == {nodes["file:a"].number, nodes["file:b"].number}
    assert edge.status is EdgeStatus.CANDIDATE
    first, second = content.observations
    assert (first.number, first.at, first.title, first.session) == (1, 3 * DAY, "Fix login 1", "s1")
    assert set(first.touched) == {nodes["file:a"].number, nodes["file:b"].number}
    assert nodes["concept:auth"].number in first.mentioned
    assert nodes["contract:POST /api/v1/pay"].number in second.mentioned


def test_words_that_say_little_of_an_observation_are_no_nodes(told: Told) -> None:
    told.tell(work(1, "some/quirky/gizmo"))
    names = {node.name for node in told.content().nodes if node.type is NodeType.CONCEPT}
    assert "login" in names
    assert "quirky" not in names


def test_a_graph_that_follows_holds_what_a_load_gives(told: Told) -> None:
    told.tell(work(1, "a", "b"))
    told.follow()
    steps = (
        work(2, "a", "b", concepts=("auth",)),
        work(3, "c", renames=(Rename("a", "z"),)),
        work(4, "z", "b", files_read=("c",)),
        work(5, files_deleted=("b",)),
        work(6, "b", files_added=("b",)),
        work(7, *(f"many/{number}" for number in range(150))),
    )
    for step in steps:
        told.tell(step)
        told.follow()
        told.assert_whole()
    assert told.loads == 1, "everything but the first could be told as a difference"


def test_a_renamed_or_deleted_file_is_told_though_no_edge_changed(told: Told) -> None:
    told.tell(work(1, "a"))
    told.follow()
    told.tell(work(2, renames=(Rename("a", "z"),)), work(3, files_deleted=("z",)))
    change = told.change()
    assert change is not None
    assert [(node.name, node.alive) for node in change.nodes if node.type is NodeType.FILE] == [("z", False)]


def test_an_edge_that_fades_is_dropped(told: Told) -> None:
    told.tell(work(1, "a", "b"), work(2, "a", "b"))
    told.follow()
    before = set(told.edges)
    told.tell(*(work(number, "a" if number % 2 else "b") for number in range(3, 60)))
    change = told.change()
    assert change is not None
    assert before
    told.follow()
    assert set(change.dropped_edges) == before - set(told.edges) != set()
    told.assert_whole()


def test_declared_ends_that_nobody_observed_are_nodes(told: Told) -> None:
    told.tell(work(1, "a"))
    told.follow()
    declared = NamedDeclaration(
        NodeName(NodeType.FILE, "a"), NodeName(NodeType.FEATURE, "checkout"), Relation.IMPLEMENTS
    )
    with told.database.read() as connection:
        declare(told.journal.ledger, connection, [declared], "p", 1.0)
    catch_up(told.journal, told.database)
    settle_verdicts(told.database)
    change = told.change()
    assert change is not None
    assert ("feature", "checkout") in [(node.type.value, node.name) for node in change.nodes]
    told.follow()
    told.assert_whole()


def test_forgetting_an_observation_needs_a_load(told: Told) -> None:
    told.tell(work(1, "a", "b"), work(2, "a", "b"))
    told.follow()
    assert told.change() == GraphChange(nodes=[], edges=[])
    told.forget("o1")
    assert told.change() is None
    told.follow()
    told.assert_whole()
    assert told.change() == GraphChange(nodes=[], edges=[]), "one load is enough"


@pytest.mark.parametrize("ahead", ["generation", "change", "entries"])
def test_a_mark_of_another_file_or_ahead_of_it_needs_a_load(told: Told, ahead: str) -> None:
    told.tell(work(1, "a", "b"))
    told.follow()
    told.mark = told.mark._replace(**{ahead: getattr(told.mark, ahead) + 1})
    assert told.change() is None


def test_too_much_at_once_needs_a_load(told: Told) -> None:
    told.tell(work(1, "a"))
    told.follow()
    told.tell(*(work(number, "a") for number in range(2, graph_content.MOST_ROWS + 1)))
    assert told.change() is not None
    told.tell(*(work(number, "a") for number in range(1_001, 1_010)))
    assert told.change() is None


def test_observations_of_very_many_files_need_a_load(told: Told) -> None:
    told.tell(work(1, "a"))
    told.follow()
    for number in range(2, 5):
        told.tell(work(number, *(f"{number}/{file}" for file in range(2_000))))
    assert told.change() is None


def test_a_mark_older_than_the_log_needs_a_load(told: Told) -> None:
    told.tell(work(1, "a", "b"), work(2, "a", "b"))
    told.follow()
    old = told.mark
    with told.database.write() as connection:
        rows = [(f"e{number}",) for number in range(LOGGED + 10)]
        connection.executemany("INSERT INTO graph_log (edge) VALUES (?)", rows)
    told.tell(work(3, "a"))
    with told.database.read() as connection:
        kept, first = connection.execute("SELECT COUNT(*), MIN(number) FROM graph_log").fetchone()
    assert kept == LOGGED
    assert first > old.change + 1
    assert told.change() is None
    told.follow()
    assert told.change() == GraphChange(nodes=[], edges=[])
