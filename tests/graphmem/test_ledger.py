"""The graph's part of the journal: ids minted once, verdicts all or none, nothing acknowledged is lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import ConflictError, InvalidInputError, NotFoundError
from graphmem.graph import Decision, Direction, NodeName, NodeType, Relation, VerdictKind
from graphmem.journal import MIGRATIONS, Head, Journal
from graphmem.ledger import Ledger, Minted, MintRequest, Proposal
from graphmem.model import Observation
from graphmem.verdicts import standing

CONFIRM, REJECT, UNDO = VerdictKind.CONFIRM, VerdictKind.REJECT, VerdictKind.UNDO


def file(path: str) -> NodeName:
    return NodeName(NodeType.FILE, path)


def pair(one: str, other: str, since: float = float("-inf")) -> MintRequest:
    return MintRequest(file(one), file(other), since=since)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal.db")
    yield made
    made.close()


@pytest.fixture
def ledger(journal: Journal) -> Ledger:
    return journal.ledger


def kinds(ledger: Ledger, edge: str) -> list[VerdictKind]:
    return [verdict.verdict for verdict in ledger.history([edge]).get(edge, ())]


# ---- minting -----------------------------------------------------------------------------------


def test_a_pair_is_minted_once_in_the_orientation_it_first_had(ledger: Ledger) -> None:
    (first,) = ledger.mint([pair("a.py", "b.py")], "p", 5.0)
    assert ledger.mint([pair("b.py", "a.py"), pair("a.py", "b.py")], "p", 9.0) == [first, first]
    assert ledger.edge(first) == Minted(1, first, file("a.py"), file("b.py"), 5.0)
    assert len(first) == 16
    assert int(first, 16) >= 0


def test_an_id_is_the_same_in_every_journal_and_another_in_every_project(tmp_path: Path) -> None:
    ids = []
    for name, project in (("one", "p"), ("two", "p"), ("three", "q")):
        journal = Journal(tmp_path / f"{name}.db")
        ids += journal.ledger.mint([pair(*("a", "b") if name == "one" else ("b", "a"))], project, 1.0)
        journal.close()
    assert ids[0] == ids[1] != ids[2]


def test_the_first_names_are_hashed_and_the_present_ones_kept(ledger: Ledger) -> None:
    renamed = MintRequest(file("new.py"), file("b.py"), file("old.py"), file("b.py"))
    (id,) = ledger.mint([renamed], "p", 1.0)
    edge = ledger.edge(id)
    assert edge is not None
    assert (edge.source, edge.target) == (file("new.py"), file("b.py"))
    assert ledger.mint([pair("old.py", "b.py")], "p", 1.0) != [id], "another file that has the first name now"


def test_the_same_names_of_other_files_get_another_id(ledger: Ledger) -> None:
    (first,) = ledger.mint([pair("a", "c")], "p", 10.0)
    (second,) = ledger.mint([pair("a", "c", since=20.0)], "p", 30.0)
    assert second != first
    assert ledger.mint([pair("c", "a", since=20.0)], "p", 40.0) == [second]
    (third,) = ledger.mint([pair("a", "c", since=35.0)], "p", 50.0)
    assert len({first, second, third}) == 3


def test_a_file_and_a_concept_of_one_name_are_two_nodes(ledger: Ledger) -> None:
    concept = NodeName(NodeType.CONCEPT, "auth")
    ids = ledger.mint([pair("auth", "b"), MintRequest(concept, file("b"))], "p", 1.0)
    assert len(set(ids)) == 2


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=12))
def test_ids_are_as_many_as_pairs_whatever_the_order(pairs: list[tuple[str, str]]) -> None:
    journal = Journal(None)
    ids = journal.ledger.mint([pair(*names) for names in pairs], "p", 1.0)
    by_pair = {frozenset(names): id for names, id in zip(pairs, ids, strict=True)}
    assert [by_pair[frozenset(names)] for names in pairs] == ids
    assert len(set(ids)) == len(by_pair) == journal.head().minted
    journal.close()


def test_edges_are_read_in_order_of_minting(ledger: Ledger) -> None:
    ids = ledger.mint([pair("a", "b"), pair("b", "c"), pair("c", "d")], "p", 1.0)
    assert [edge.id for edge in ledger.edges_after(0, 2)] == ids[:2]
    assert [edge.id for edge in ledger.edges_after(2, 5)] == ids[2:]
    assert [edge.id for edge in ledger.naming_files(["c", "x"])] == ids[1:]
    assert ledger.edges(["none", ids[1]]).keys() == {ids[1]}


def test_an_unjudged_edge_can_be_taken_back_without_a_trace_and_a_judged_one_not(
    journal: Journal, ledger: Ledger, tmp_path: Path
) -> None:
    kept, gone = ledger.mint([pair("kept.py", "b"), pair("Zebrafish.py", "b")], "p", 1.0)
    ledger.judge([Decision(kept, CONFIRM), Decision(kept, UNDO)], 2.0, {})
    assert ledger.prune([kept, gone, "unknown"]) == {gone, "unknown"}
    assert [edge.id for edge in ledger.edges_after(0, 9)] == [kept]
    assert (journal.head().minted, journal.written().minted) == (1, 2)
    for part in tmp_path.glob("journal.db*"):
        assert b"Zebrafish" not in part.read_bytes(), part.name
    assert ledger.mint([pair("Zebrafish.py", "b")], "p", 1.0) == [gone], (
        "a file that comes back has its id again"
    )


@pytest.mark.parametrize("odd", ["", "zz", "\0", "\ud800", "x" * 10_000, "%", "'; DROP TABLE edge; --"])
def test_no_text_is_mistaken_for_an_id(ledger: Ledger, odd: str) -> None:
    ledger.mint([pair("a", "b")], "p", 1.0)
    assert ledger.edge(odd) is None
    assert ledger.nearest(odd) == []
    with pytest.raises(NotFoundError, match="There is no edge"):
        ledger.judge([Decision(odd, CONFIRM)], 1.0, {})


def test_the_nearest_ids_are_those_that_begin_alike(ledger: Ledger) -> None:
    ids = sorted(ledger.mint([pair("hub", f"{n}") for n in range(40)], "p", 1.0))
    wanted = ids[17]
    near = ledger.nearest(wanted[:6] + "zz")
    assert near[0].id == wanted
    assert ledger.nearest(wanted, 1)[0].id == wanted
    assert len(near) <= 3


# ---- verdicts ----------------------------------------------------------------------------------


def test_verdicts_keep_what_was_said_and_known(ledger: Ledger) -> None:
    (edge,) = ledger.mint([pair("a", "b")], "p", 1.0)
    said = Decision(edge, CONFIRM, Relation.TESTS, Direction.BACKWARD, note="支付 <b>{}</b>", by="ann")
    assert ledger.judge([said], 7.5, {edge: 4}) == {edge}
    (verdict,) = ledger.history([edge])[edge]
    assert (verdict.number, verdict.edge, verdict.verdict) == (1, edge, CONFIRM)
    assert (verdict.relation, verdict.direction) == (Relation.TESTS, Direction.BACKWARD)
    assert (verdict.note, verdict.by, verdict.at, verdict.together) == ("支付 <b>{}</b>", "ann", 7.5, 4)


def test_what_is_no_change_is_not_stored(journal: Journal, ledger: Ledger) -> None:
    (edge,) = ledger.mint([pair("a", "b")], "p", 1.0)
    assert ledger.judge([Decision(edge, REJECT), Decision(edge, REJECT)], 1.0, {}) == {edge}
    assert ledger.judge([Decision(edge, REJECT)], 2.0, {}) == set()
    assert kinds(ledger, edge) == [REJECT]
    assert journal.head() == Head(0, 0, 1, 1)


@pytest.mark.parametrize(
    ("bad", "error", "sentence"),
    [
        (lambda ids: Decision("0123", CONFIRM), NotFoundError, r"Item 1: There is no edge '0123'"),
        (lambda ids: Decision(ids[1], UNDO), ConflictError, r"Item 1: .*no verdict left to undo"),
        (lambda ids: Decision(ids[1], CONFIRM, None, Direction.BOTH), InvalidInputError, "relation"),
    ],
)
def test_one_bad_verdict_of_many_and_nothing_is_done(
    ledger: Ledger, bad: Callable[[list[str]], Decision], error: type[Exception], sentence: str
) -> None:
    ids = ledger.mint([pair("a", "b"), pair("b", "c")], "p", 1.0)
    with pytest.raises(error, match=sentence):
        ledger.judge([Decision(ids[0], CONFIRM), bad(ids), Decision(ids[1], REJECT)], 1.0, {})
    assert ledger.history(ids) == {}


def test_verdicts_of_one_batch_see_each_other(ledger: Ledger) -> None:
    (edge,) = ledger.mint([pair("a", "b")], "p", 1.0)
    ledger.judge([Decision(edge, CONFIRM), Decision(edge, VerdictKind.RETIRE), Decision(edge, UNDO)], 1.0, {})
    assert kinds(ledger, edge) == [CONFIRM, VerdictKind.RETIRE, UNDO]
    with pytest.raises(ConflictError, match="is retired"):
        ledger.judge([Decision(edge, VerdictKind.RETIRE), Decision(edge, CONFIRM)], 2.0, {})
    assert len(kinds(ledger, edge)) == 3


def test_opposite_verdicts_at_the_same_moment_are_both_kept_and_the_last_one_counts(ledger: Ledger) -> None:
    ids = ledger.mint([pair("a", f"{n}") for n in range(30)], "p", 1.0)
    start = threading.Barrier(2)

    def client(verdict: VerdictKind) -> None:
        start.wait(10)
        for id in ids:
            ledger.judge([Decision(id, verdict, by=verdict)], 1.0, {})

    clients = [threading.Thread(target=client, args=(verdict,)) for verdict in (CONFIRM, REJECT)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join(60)
    for history in ledger.history(ids).values():
        assert {verdict.verdict for verdict in history} == {CONFIRM, REJECT}
        expected = "confirmed" if history[-1].verdict is CONFIRM else "rejected"
        assert standing(history).status == expected


def test_what_was_judged_is_found_by_number_and_by_time(ledger: Ledger) -> None:
    ids = ledger.mint([pair("a", "b"), pair("b", "c")], "p", 1.0)
    assert ledger.judged_after(0) == (0, set())
    ledger.judge([Decision(ids[0], CONFIRM)], 10.0, {})
    ledger.judge([Decision(ids[1], REJECT)], 20.0, {})
    assert ledger.judged_after(0) == (2, set(ids))
    assert ledger.judged_after(1) == (2, {ids[1]})
    assert ledger.judged_after(2) == (2, set())
    assert ledger.verdicts_until(9.9) == {}
    assert ledger.verdicts_until(10.0).keys() == {ids[0]}
    assert ledger.verdicts_until(20.0).keys() == set(ids)


# ---- declarations ------------------------------------------------------------------------------


def test_a_declaration_mints_what_is_missing_and_points_the_way_it_was_said(ledger: Ledger) -> None:
    (known,) = ledger.mint([pair("a", "b")], "p", 1.0)
    proposals = [
        Proposal(pair("a", "b"), Relation.DEPENDS_ON),
        Proposal(pair("b", "a"), Relation.TESTS),
        Proposal(pair("x", "y"), Relation.DEPENDS_ON, note="why", by="ann", together=2),
        Proposal(pair("a", "b"), Relation.CONFIGURES, edge=known, forward=False),
    ]
    ids = ledger.declare(proposals, "p", 3.0, 4.0)
    assert ids[0] == ids[1] == ids[3] == known
    assert [(one.relation, one.direction) for one in ledger.history([known])[known]] == [
        (Relation.DEPENDS_ON, Direction.FORWARD),
        (Relation.TESTS, Direction.BACKWARD),
        (Relation.CONFIGURES, Direction.BACKWARD),
    ]
    (declared,) = ledger.history([ids[2]])[ids[2]]
    assert (declared.note, declared.by, declared.together, declared.at) == ("why", "ann", 2, 4.0)
    edge = ledger.edge(ids[2])
    assert edge is not None
    assert edge.at == 3.0


def test_a_declaration_on_a_retired_edge_stores_nothing_of_its_batch(
    journal: Journal, ledger: Ledger
) -> None:
    (retired,) = ledger.mint([pair("a", "b")], "p", 1.0)
    ledger.judge([Decision(retired, CONFIRM), Decision(retired, VerdictKind.RETIRE)], 1.0, {})
    before = journal.head()
    with pytest.raises(ConflictError, match=r"Item 1: .* is retired"):
        ledger.declare(
            [Proposal(pair(*names), Relation.TESTS) for names in (("x", "y"), ("a", "b"))], "p", 1.0, 2.0
        )
    assert journal.head() == before


# ---- files from before, and ends without warning -----------------------------------------------


def test_a_journal_of_the_first_format_keeps_its_observations_and_takes_verdicts(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    old = sqlite3.connect(path)
    old.executescript(f"{MIGRATIONS[0]};PRAGMA user_version=1;")
    body = '{"session":"s","title":"old work","files_modified":["a.py"]}'
    old.execute("INSERT INTO observation (id, at, received_at, body) VALUES ('o1', 1.0, 1.0, ?)", (body,))
    old.commit()
    old.close()
    journal = Journal(path)
    assert journal.get("o1").title == "old work"
    assert journal.head() == journal.written() == Head(1)
    (edge,) = journal.ledger.mint([pair("a.py", "b.py")], "p", 1.0)
    journal.ledger.judge([Decision(edge, CONFIRM)], 2.0, {})
    journal.append([Observation(id="o2", session="s", at=2.0, title="new")], 2.0)
    journal.close()
    again = Journal(path)
    assert again.head() == Head(2, 0, 1, 1)
    assert kinds(again.ledger, edge) == [CONFIRM]
    again.close()


_WRITER = """
import sys
from pathlib import Path
from graphmem.graph import Decision, NodeName, NodeType, VerdictKind
from graphmem.journal import Journal
from graphmem.ledger import MintRequest

journal = Journal(Path(sys.argv[1]))
for number in range(100_000):
    names = (NodeName(NodeType.FILE, "hub.py"), NodeName(NodeType.FILE, f"{number}.py"))
    (edge,) = journal.ledger.mint([MintRequest(*names)], "p", 1.0)
    journal.ledger.judge([Decision(edge, VerdictKind.CONFIRM), Decision(edge, VerdictKind.REJECT)], 2.0, {})
    print(edge, flush=True)
"""


def test_what_was_acknowledged_before_a_kill_is_there_and_no_batch_is_half(
    tmp_path: Path, eventually: Callable[..., Any]
) -> None:
    path, output = tmp_path / "journal.db", tmp_path / "output.txt"
    with output.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(path)], stdout=sink, cwd=Path(__file__).parents[2]
        )
    eventually(lambda: output.read_bytes().count(b"\n") >= 40 or process.poll() is not None)
    assert process.poll() is None
    process.kill()
    process.wait(20)
    acknowledged = output.read_text().splitlines()
    journal = Journal(path)
    histories = journal.ledger.history(edge.id for edge in journal.ledger.edges_after(0, 1_000_000))
    assert set(acknowledged) <= histories.keys()
    for verdicts in histories.values():
        assert [verdict.verdict for verdict in verdicts] == [CONFIRM, REJECT]
    journal.close()
