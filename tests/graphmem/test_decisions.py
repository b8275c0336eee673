"""What is checked before a verdict is journalled: ids, notes, ends; a batch is stored whole or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from graphmem.database import Database
from graphmem.decisions import NamedDeclaration, decide, declare, joint_support
from graphmem.derived import open_derived
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError
from graphmem.graph import Decision, Direction, NodeName, NodeType, Relation, Verdict, VerdictKind
from graphmem.journal import Journal
from graphmem.minting import find, mint_all
from graphmem.model import Observation, Rename
from graphmem.projection import catch_up

CONFIRM, REJECT, RETIRE = VerdictKind.CONFIRM, VerdictKind.REJECT, VerdictKind.RETIRE
DEPENDS = Relation.DEPENDS_ON


def file(path: str) -> NodeName:
    return NodeName(NodeType.FILE, path)


def feature(name: str) -> NodeName:
    return NodeName(NodeType.FEATURE, name)


class World:
    """A journal and what follows it, in memory, with a few observations."""

    def __init__(self) -> None:
        self.journal = Journal(None)
        self.database: Database = open_derived(None)

    def see(self, id: str, at: float, *files: str, **more: Any) -> None:
        observation = Observation(id=id, session=id, at=at, title="work", files_modified=files, **more)
        self.journal.append([observation], at)
        catch_up(self.journal, self.database)

    def mint(self, one: NodeName, other: NodeName) -> str:
        with self.database.write() as connection:
            nodes = [find(connection, name, 1e12) for name in (one, other)]
            source, target = (node for node in nodes if node is not None)
            (id,) = mint_all(self.journal.ledger, connection, [(source, target)], "p")
        return id

    def decide(self, *decisions: Decision, at: float = 5.0) -> tuple[str, ...]:
        with self.database.read() as connection:
            decided = decide(self.journal.ledger, connection, decisions, at)
        catch_up(self.journal, self.database)
        return decided

    def declare(self, *declarations: NamedDeclaration) -> tuple[str, ...]:
        with self.database.read() as connection:
            declared = declare(self.journal.ledger, connection, declarations, "p", 5.0)
        catch_up(self.journal, self.database)
        return declared

    def history(self, id: str) -> Sequence[Verdict]:
        return self.journal.ledger.history([id]).get(id, ())

    def joint(self, one: NodeName, other: NodeName) -> int:
        with self.database.read() as connection:
            nodes = [find(connection, name, 1e12) for name in (one, other)]
            source, target = (node for node in nodes if node is not None)
            return joint_support(connection, source, target)


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    made.see("o1", 10.0, "a", "b", concepts=("billing",))
    made.see("o2", 20.0, "a", "b", "c")
    made.see("o3", 30.0, "c", files_read=("a",))
    yield made
    made.journal.close()
    made.database.close()


# ---- verdicts ----------------------------------------------------------------------------------


def test_a_verdict_notes_how_many_observations_held_both_ends_then(world: World) -> None:
    id = world.mint(file("a"), file("b"))
    world.decide(Decision(id, CONFIRM))
    world.see("o4", 40.0, "a", "b")
    world.decide(Decision(id, REJECT, by="ann"), at=6.0)
    assert [(one.together, one.at, one.by) for one in world.history(id)] == [(2, 5.0, ""), (3, 6.0, "ann")]


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        (file("a"), file("b"), 2),
        (file("b"), file("a"), 2),
        (file("a"), file("c"), 2),
        (file("b"), file("c"), 1),
        (file("b"), NodeName(NodeType.CONCEPT, "billing"), 1),
        (file("c"), NodeName(NodeType.CONCEPT, "billing"), 0),
    ],
)
def test_joint_support_counts_observations_that_hold_both(
    world: World, one: NodeName, other: NodeName, count: int
) -> None:
    assert world.joint(one, other) == count


def test_bulk_changes_support_nothing(world: World) -> None:
    world.see("bulk", 50.0, "a", "b", *(f"{number}.py" for number in range(200)))
    assert world.joint(file("a"), file("b")) == 2


def test_a_verdict_on_an_alias_is_one_on_the_edge_that_speaks_for_the_pair(world: World) -> None:
    first = world.mint(file("a"), file("c"))
    world.see("o4", 50.0, "z", "c")
    second = world.mint(file("z"), file("c"))
    world.see("late", 35.0, renames=(Rename("a", "z"),))
    assert world.decide(Decision(second, CONFIRM), Decision(first, RETIRE)) == (first, first)
    assert [one.verdict for one in world.history(first)] == [CONFIRM, RETIRE]
    assert world.history(second) == ()


def test_what_is_minted_but_not_carried_over_yet_can_be_judged(world: World) -> None:
    with world.database.read() as connection:
        declared = NamedDeclaration(feature("f1"), file("a"), DEPENDS)
        (id,) = declare(world.journal.ledger, connection, [declared], "p", 1.0)
        assert decide(world.journal.ledger, connection, [Decision(id, REJECT)], 2.0) == (id,)
    assert [one.verdict for one in world.history(id)] == [VerdictKind.DECLARE, REJECT]


@pytest.mark.parametrize("many", [False, True])
def test_an_unknown_edge_is_answered_with_the_nearest_and_nothing_is_done(world: World, many: bool) -> None:
    id = world.mint(file("a"), file("b"))
    wrong = Decision(f"{id[:5]}zz", CONFIRM)
    batch = [Decision(id, CONFIRM), wrong] if many else [wrong]
    with pytest.raises(NotFoundError) as refused:
        world.decide(*batch)
    place = "Item 1: " if many else ""
    nearest = f"the nearest ids are {id} (file:a and file:b)."
    assert str(refused.value) == f"{place}There is no edge '{id[:5]}zz'; {nearest}"
    assert refused.value.candidates == (id,)
    assert world.history(id) == ()


@pytest.mark.parametrize(
    "odd", ["", "\0", "\ud800", "é" * 9_999, "file:a", "<script>", "'; DELETE FROM edge"]
)
def test_no_id_whatever_breaks_the_refusal(world: World, odd: str) -> None:
    with pytest.raises(
        NotFoundError, match=r"There is no edge .*; list them with `graphmem edges`\."
    ) as refused:
        world.decide(Decision(odd, CONFIRM))
    assert len(str(refused.value)) < 200
    str(refused.value).encode()


@pytest.mark.parametrize(
    ("decision", "error", "field"),
    [
        (Decision("", CONFIRM, None, Direction.FORWARD), InvalidInputError, "direction"),
        (Decision("", REJECT, DEPENDS), InvalidInputError, "relation"),
        (Decision("", VerdictKind.DECLARE, DEPENDS), InvalidInputError, "verdict"),
        (Decision("", VerdictKind.UNDO), ConflictError, None),
    ],
)
@pytest.mark.parametrize("many", [False, True])
def test_a_verdict_that_can_not_stand_is_refused_with_its_place(
    world: World, decision: Decision, error: type[Exception], field: str | None, many: bool
) -> None:
    ids = [world.mint(file("a"), file("b")), world.mint(file("a"), file("c"))]
    bad = replace(decision, edge=ids[1])
    with pytest.raises(error) as refused:
        world.decide(*([Decision(ids[0], CONFIRM), bad] if many else [bad]))
    if isinstance(refused.value, InvalidInputError):
        assert refused.value.field == (f"1.{field}" if many else field)
    else:
        assert str(refused.value).startswith("Item 1: " if many else "The edge ")
    assert world.history(ids[0]) == world.history(ids[1]) == ()


@pytest.mark.parametrize(
    ("note", "stored"),
    [
        ("支付 <b>MATCH (n) DETACH DELETE n</b>", "支付 <b>MATCH (n) DETACH DELETE n</b>"),
        ("nul\0 and \ud800", "nul\ufffd and \ufffd"),
        ("x" * 70_000, "x" * 65_536),
        ("支" * 30_000, "支" * 21_845),
        ("", ""),
    ],
)
def test_a_note_is_stored_as_it_is_but_for_what_can_not_be(world: World, note: str, stored: str) -> None:
    id = world.mint(file("a"), file("b"))
    world.decide(Decision(id, CONFIRM, note=note, by=note[:300]))
    (verdict,) = world.history(id)
    assert verdict.note == stored
    assert verdict.by == stored[:200]


def test_nothing_decided_or_declared_is_nothing_done(world: World) -> None:
    assert world.decide() == world.declare() == ()
    assert world.journal.head()[2:] == (0, 0)


# ---- declarations ------------------------------------------------------------------------------


def test_a_declaration_on_a_known_pair_points_the_way_it_was_said(world: World) -> None:
    id = world.mint(file("a"), file("b"))
    declared = world.declare(
        NamedDeclaration(file("a"), file("b"), DEPENDS, note="n", by="ann"),
        NamedDeclaration(file("b"), file("a"), DEPENDS),
    )
    assert declared == (id, id)
    assert [(one.direction, one.together, one.by) for one in world.history(id)] == [
        (Direction.FORWARD, 2, "ann"),
        (Direction.BACKWARD, 2, ""),
    ]


def test_a_former_name_declares_the_same_pair(world: World) -> None:
    id = world.mint(file("a"), file("b"))
    world.see("o4", 40.0, renames=(Rename("a", "moved"),))
    assert world.declare(NamedDeclaration(file("moved"), file("b"), DEPENDS)) == (id,)
    assert world.declare(NamedDeclaration(file("b"), file("a"), DEPENDS)) == (id,)


def test_new_names_may_be_declared_and_keep_their_edge(world: World) -> None:
    names = [feature("f1"), NodeName(NodeType.CONTRACT, "POST /new"), NodeName(NodeType.CONCEPT, "fresh")]
    ids = world.declare(*(NamedDeclaration(name, file("a"), DEPENDS) for name in names))
    assert len(set(ids)) == 3
    assert world.declare(NamedDeclaration(feature("f1"), file("a"), Relation.TESTS)) == ids[:1]
    assert world.declare(NamedDeclaration(feature("f1"), names[1], DEPENDS))[0] not in ids


@pytest.mark.parametrize(
    ("source", "target", "sentence", "field"),
    [
        (file("a"), file("a"), "are the same", "to"),
        (file("moved"), file("c"), "are the same", "to"),
        (feature("f1"), feature("f1"), "are the same", "to"),
        (NodeName(NodeType.MODULE, "m1"), file("a"), "module 'm1' can't be an end", "from"),
        (file("a"), NodeName(NodeType.MODULE, "m1"), "module 'm1' can't be an end", "to"),
    ],
)
def test_an_edge_needs_two_ends(
    world: World, source: NodeName, target: NodeName, sentence: str, field: str
) -> None:
    world.see("o4", 40.0, renames=(Rename("c", "moved"),))
    good = NamedDeclaration(file("a"), file("b"), DEPENDS)
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        world.declare(NamedDeclaration(source, target, DEPENDS))
    assert refused.value.field == field
    with pytest.raises(InvalidInputError, match=r"^Item 1: ") as refused:
        world.declare(good, NamedDeclaration(source, target, DEPENDS))
    assert refused.value.field == f"1.{field}"
    assert world.journal.head()[2:] == (0, 0)


def test_a_retired_edge_is_declared_again_only_after_an_undo(world: World) -> None:
    (id,) = world.declare(NamedDeclaration(file("a"), file("b"), DEPENDS))
    world.decide(Decision(id, RETIRE))
    again = NamedDeclaration(file("b"), file("a"), Relation.TESTS)
    with pytest.raises(ConflictError, match=f"The edge {id} is retired; undo that first."):
        world.declare(again)
    world.decide(Decision(id, VerdictKind.UNDO))
    assert world.declare(again) == (id,)


def test_five_thousand_are_declared_at_once_and_one_more_is_too_many(world: World) -> None:
    many = [NamedDeclaration(feature(f"f{number}"), file("a"), DEPENDS) for number in range(5_001)]
    with pytest.raises(InvalidInputError, match="5001 edges are too many to declare at once; send 5000"):
        world.declare(*many)
    assert world.journal.head()[2:] == (0, 0)
    assert len(set(world.declare(*many[:5_000]))) == 5_000
    with world.database.read() as connection:
        assert connection.execute("SELECT COUNT(*) FROM judgement").fetchone() == (5_000,)
        assert connection.execute("SELECT COUNT(*) FROM named").fetchone() == (5_000,)
