"""What minted names mean: an id stays with its pair through renames, takeovers of names, and late news."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator

import pytest

from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.graph import Decision, NodeName, NodeType, VerdictKind
from graphmem.journal import Journal
from graphmem.ledger import MintRequest
from graphmem.minting import (
    canonical,
    edge_between,
    find,
    mint_all,
    mint_request,
    minted_edge,
    moment,
    named_request,
    observed,
    resolve,
)
from graphmem.model import Observation, Rename
from graphmem.nodes import NodeTable, table_of
from graphmem.projection import catch_up


def file(path: str) -> NodeName:
    return NodeName(NodeType.FILE, path)


class World:
    """A journal and what follows it, in memory."""

    def __init__(self) -> None:
        self.journal = Journal(None)
        self.database = open_derived(None)

    def see(self, at: float, *files: str, added: str = "", rename: tuple[str, str] | None = None) -> None:
        """Take in one observation at that moment."""
        observation = Observation(
            id=f"o{self.journal.count()}",
            session="s",
            at=at,
            title="work",
            files_modified=(*files, *([added] if added else [])),
            files_added=(added,) if added else (),
            renames=(Rename(*rename),) if rename else (),
        )
        self.journal.append([observation], at)
        catch_up(self.journal, self.database)

    def node(self, name: str, at: float = math.inf) -> int:
        """Return the node a path means."""
        with self.database.read() as connection:
            found = find(connection, file(name), at)
        assert found is not None
        return found

    def mint(self, one: str, other: str) -> str:
        """Mint the pair of the files that these paths mean now, as promotion does."""
        nodes = self.node(one), self.node(other)
        with self.database.write() as connection:
            (id,) = mint_all(self.journal.ledger, connection, [nodes], "p")
        catch_up(self.journal, self.database)
        return id

    def ends(self, id: str, database: Database | None = None) -> set[str]:
        """Return the present names of the files an id means."""
        with (database or self.database).read() as connection:
            edge = minted_edge(connection, id)
            assert edge is not None
            return {name_of(connection, node) for node in (edge.source, edge.target)}

    def speaks(self, id: str) -> str | None:
        """Return the edge that speaks for the pair of an id."""
        with self.database.read() as connection:
            edge = canonical(connection, id)
        return None if edge is None else edge.id

    def judge(self, id: str, verdict: VerdictKind) -> None:
        self.journal.ledger.judge([Decision(id, verdict)], 1.0, {})
        catch_up(self.journal, self.database)


def name_of(connection: sqlite3.Connection, node: int) -> str:
    return mint_request(connection, node, node).source.name


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.journal.close()
    made.database.close()


def test_an_id_follows_a_rename(world: World) -> None:
    world.see(10.0, "a", "c")
    id = world.mint("a", "c")
    world.see(20.0, rename=("a", "b"))
    assert world.ends(id) == {"b", "c"}
    assert world.mint("c", "b") == id, "the pair has its id"


def test_a_new_file_under_an_old_name_is_another_end(world: World) -> None:
    world.see(10.0, "a", "c")
    first = world.mint("a", "c")
    world.see(20.0, rename=("a", "b"))
    world.see(30.0, "c", added="a")
    second = world.mint("a", "c")
    assert first != second
    assert (world.ends(first), world.ends(second)) == ({"b", "c"}, {"a", "c"})
    world.see(40.0, rename=("a", "z"))
    assert (world.ends(first), world.ends(second)) == ({"b", "c"}, {"z", "c"})


def test_two_files_with_the_same_first_name_are_told_apart_by_a_rebuild_too(world: World) -> None:
    world.see(10.0, "a", "c")
    first = world.mint("a", "c")
    world.see(20.0, rename=("a", "b"))
    world.see(30.0, "c", added="a")
    second = world.mint("a", "c")
    rebuilt = open_derived(None)
    catch_up(world.journal, rebuilt)
    assert world.ends(first, rebuilt) == {"b", "c"}
    assert world.ends(second, rebuilt) == {"a", "c"}
    rebuilt.close()


def test_what_is_imported_later_but_happened_before_today_moves_no_id(world: World) -> None:
    world.see(10.0, "a", "c")
    id = world.mint("a", "c")
    edge = world.journal.ledger.edge(id)
    assert edge is not None
    assert edge.at == 10.0, "the names are those of the data, whatever the clock says"
    world.see(20.0, rename=("a", "b"))
    world.see(30.0, "c", added="a")
    assert world.ends(id) == {"b", "c"}


def test_ids_that_turn_out_to_mean_one_pair_have_one_that_speaks(world: World) -> None:
    world.see(10.0, "a", "c")
    first = world.mint("a", "c")
    world.see(30.0, "b", "c")
    second = world.mint("b", "c")
    assert (world.speaks(first), world.speaks(second)) == (first, second)
    world.see(20.0, rename=("a", "b"))
    assert world.ends(first) == world.ends(second) == {"b", "c"}
    assert world.speaks(first) == world.speaks(second) == first, "the one minted first"
    world.judge(second, VerdictKind.CONFIRM)
    assert world.speaks(first) == second, "the one that was judged"
    world.judge(first, VerdictKind.REJECT)
    assert world.speaks(first) == second, "the one that was judged first"
    world.judge(second, VerdictKind.UNDO)
    assert world.speaks(second) == first, "the one whose verdict still counts"
    world.judge(first, VerdictKind.UNDO)
    assert world.speaks(first) == second, "its history stays"
    assert world.mint("c", "b") == second


def test_both_ends_may_turn_out_to_be_one_file(world: World) -> None:
    world.see(10.0, "a")
    world.see(30.0, "b")
    id = world.mint("a", "b")
    world.see(20.0, rename=("a", "b"))
    assert world.ends(id) == {"b"}
    assert world.speaks(id) == id


def test_an_unknown_id_has_no_edge(world: World) -> None:
    world.see(10.0, "a", "c")
    assert world.speaks("0" * 16) is None
    assert world.speaks("\ud800") is None
    with world.database.read() as connection:
        assert edge_between(connection, world.node("a"), world.node("c")) is None


def test_a_name_means_what_it_meant_at_that_moment_or_came_to_mean_first(world: World) -> None:
    world.see(10.0, "a")
    world.see(20.0, rename=("a", "b"))
    world.see(30.0, added="a")
    old, new = world.node("a", 25.0), world.node("a", 30.0)
    assert old == world.node("b") != new
    assert world.node("a", 0.0) == old
    world.see(40.0, rename=("a", "b"))
    assert world.node("b") == new
    assert world.node("b", 0.0) == old


def test_a_name_nobody_knows_gets_a_row_of_its_own_once(world: World) -> None:
    feature, contract = NodeName(NodeType.FEATURE, "f1"), NodeName(NodeType.CONTRACT, "POST /x")
    with world.database.write() as connection:
        assert find(connection, feature, 1.0) is None
        nodes = [resolve(connection, name, 1.0) for name in (feature, contract, feature)]
        assert nodes[0] == nodes[2] != nodes[1]
        assert {table_of(node) for node in nodes} == {NodeTable.NAMED}
        assert find(connection, feature, 5.0) == nodes[0]
        assert observed(connection, contract, 5.0) is None
        assert mint_request(connection, *nodes[:2]) == named_request(connection, feature, contract)


def test_a_pair_is_minted_in_the_orientation_given_and_named_as_now(world: World) -> None:
    world.see(10.0, "b")
    world.see(20.0, "a", rename=("b", "z"))
    with world.database.read() as connection:
        assert moment(connection) == 20.0
        assert named_request(connection, file("b"), file("a")) == MintRequest(
            file("z"), file("a"), file("b"), file("a")
        )
    edge = world.journal.ledger.edge(world.mint("b", "a"))
    assert edge is not None
    assert (edge.source, edge.target) == (file("z"), file("a"))


def test_a_file_that_lost_its_name_is_told_by_another_that_means_it(world: World) -> None:
    world.see(10.0, "a", "c")
    world.see(20.0, "x")
    world.see(30.0, rename=("a", "b"))
    world.see(40.0, rename=("x", "b"))
    lost = world.node("a")
    assert lost != world.node("b")
    id = world.mint("a", "c")
    with world.database.read() as connection:
        edge = minted_edge(connection, id)
    assert edge is not None
    assert edge.source == lost


def test_what_somebody_else_minted_meanwhile_is_taken_as_it_is(world: World) -> None:
    world.see(10.0, "a", "c")
    with world.database.read() as connection:
        request = mint_request(connection, world.node("c"), world.node("a"))
    (id,) = world.journal.ledger.mint([request], "p", 10.0)
    with world.database.write() as connection:
        nodes = world.node("a"), world.node("c")
        assert mint_all(world.journal.ledger, connection, [nodes, nodes[::-1]], "p") == [id, id]
        edge = minted_edge(connection, id)
    assert edge is not None
    assert (edge.source, edge.target) == nodes[::-1]


@pytest.mark.parametrize("count", [0, 1])
def test_of_nothing_nothing_is_minted(world: World, count: int) -> None:
    world.see(10.0, "a", "c")
    pairs = [(world.node("a"), world.node("c"))] * count
    with world.database.write() as connection:
        assert len(mint_all(world.journal.ledger, connection, pairs, "p")) == count
    assert world.journal.head().minted == count


def test_concepts_and_contracts_are_found_by_name(world: World) -> None:
    observation = Observation(
        id="x",
        session="s",
        at=1.0,
        title="Move POST /api/v1/pay",
        concepts=("billing",),
        files_read=("pay.py",),
    )
    world.journal.append([observation], 1.0)
    catch_up(world.journal, world.database)
    concept = NodeName(NodeType.CONCEPT, "billing")
    contract = NodeName(NodeType.CONTRACT, "POST /api/v1/pay")
    with world.database.write() as connection:
        one, other = find(connection, concept, 0.0), find(connection, contract, 0.0)
        assert one is not None
        assert other is not None
        assert (table_of(one), table_of(other)) == (NodeTable.CONCEPT, NodeTable.CONTRACT)
        (id,) = mint_all(world.journal.ledger, connection, [(one, other)], "p")
    edge = world.journal.ledger.edge(id)
    assert edge is not None
    assert (edge.source, edge.target) == (concept, contract)
