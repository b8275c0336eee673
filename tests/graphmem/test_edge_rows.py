"""The rows of edges: what a pair becomes by its evidence, its ends, and what was decided on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from graphmem.decisions import NamedDeclaration, decide, declare
from graphmem.derived import open_derived
from graphmem.edge_rows import SELECT_EDGE, EdgeRow, faded_rows, read_row
from graphmem.graph import Decision, Direction, NodeName, NodeType, Relation, VerdictKind
from graphmem.instant import DAY, from_iso
from graphmem.journal import Journal
from graphmem.model import Observation, Rename
from graphmem.projection import catch_up
from graphmem.promotion import promote, settle_verdicts
from inference.promotion import FLOOR

MAY = from_iso("2026-05-01T12:00:00Z")


class Told:
    """A journal and its derived file, promoted after everything that is told."""

    def __init__(self) -> None:
        self.journal, self.database = Journal(None), open_derived(None)
        self.days = 0
        self.now = MAY + 1_000 * DAY

    def work(
        self,
        *modified: str,
        times: int = 1,
        read: Iterable[str] = (),
        deleted: Iterable[str] = (),
        renames: Iterable[Rename] = (),
        concepts: Iterable[str] = (),
    ) -> None:
        """So many days' work of one session each; days are three apart, so that none follows another."""
        for _ in range(times):
            self.days += 1
            observation = Observation(
                id=f"o{self.days}",
                session=f"s{self.days}",
                at=MAY + 3 * DAY * self.days,
                title="Work",
                concepts=tuple(concepts),
                files_read=tuple(read),
                files_modified=modified,
                files_deleted=tuple(deleted),
                renames=tuple(renames),
            )
            self.journal.append([observation], 0.0)
        self.promote()

    def forget(self, id: str) -> None:
        self.journal.forget(id, 0.0)
        self.promote()

    def promote(self) -> None:
        catch_up(self.journal, self.database)
        promote(self.journal, self.database, "p")

    def rows(self) -> list[EdgeRow]:
        with self.database.read() as connection:
            return [read_row(row) for row in connection.execute(f"{SELECT_EDGE} ORDER BY id")]

    def row(self) -> EdgeRow:
        """Return the one row that is not about concepts."""
        (row,) = (row for row in self.rows() if row.kind not in ("about", "related"))
        return row

    def judge(
        self, verdict: VerdictKind, relation: Relation | None = None, at: float | None = None
    ) -> EdgeRow:
        """Judge the only edge there is; its row follows without a promotion."""
        self.now += DAY
        with self.database.read() as connection:
            (id,) = connection.execute("SELECT id FROM minted").fetchone()
            decide(self.journal.ledger, connection, [Decision(id, verdict, relation)], at or self.now)
        catch_up(self.journal, self.database)
        settle_verdicts(self.database)
        return self.row()

    def decide(self, edge: str, verdict: VerdictKind) -> None:
        self.now += DAY
        with self.database.read() as connection:
            decide(self.journal.ledger, connection, [Decision(edge, verdict)], self.now)
        catch_up(self.journal, self.database)
        settle_verdicts(self.database)

    def standing(self) -> list[tuple[str, str]]:
        """Return each edge with its status, in the order of minting."""
        status = {row.id: row.status for row in self.rows()}
        with self.database.read() as connection:
            minted = connection.execute("SELECT id FROM minted ORDER BY number").fetchall()
        return [(id, status[id]) for (id,) in minted if id in status]

    def declare(self, source: NodeName, target: NodeName) -> None:
        with self.database.read() as connection:
            given = [NamedDeclaration(source, target, Relation.DEPENDS_ON)]
            declare(self.journal.ledger, connection, given, "p", self.now)
        catch_up(self.journal, self.database)
        settle_verdicts(self.database)

    def names(self, row: EdgeRow) -> tuple[str, str]:
        with self.database.read() as connection:
            query = "SELECT path.name FROM file JOIN path ON path.id = file.path WHERE file.id = ?"
            source, target = (connection.execute(query, (n // 4,)).fetchone()[0] for n in row[1:3])
        return source, target


@pytest.fixture
def told() -> Iterator[Told]:
    made = Told()
    yield made
    made.journal.close()
    made.database.close()


def file(path: str) -> NodeName:
    return NodeName(NodeType.FILE, path)


def test_a_candidate_carries_its_evidence_and_the_parts_of_its_score(told: Told) -> None:
    told.work("b", "a", times=4, concepts=["login"])
    row = told.row()
    assert told.names(row) == ("a", "b"), "without a direction the name that sorts first is the source"
    assert (row.kind, row.status, row.origin) == ("co_changes", "candidate", "inferred")
    assert (row.together, row.of, row.sessions, row.keys) == (4, 4, 4, (4, 3, 2))
    assert row.last_seen == row.updated_at == MAY + 12 * DAY
    assert 0.5 < row.probability <= 1.0
    assert 0.5 < row.file <= 1.0
    assert row.concept == pytest.approx(1.0), "both were only ever worked on together"
    assert row.temporal == 0.0
    assert 0.0 < row.value < row.probability * (1.0 - row.probability) * 2 * 4, "each changed four times"
    assert (row.relation, row.direction, row.reason) == (None, None, None)


def test_support_in_one_session_is_none(told: Told) -> None:
    told.work("a", "b")
    assert told.rows() == []
    told.work("a", "b")
    assert told.row().sessions == 2


def test_confirming_gives_status_relation_and_direction(told: Told) -> None:
    told.work("a", "b", times=3)
    row = told.judge(VerdictKind.CONFIRM, Relation.TESTS)
    assert (row.status, row.relation, row.direction) == ("confirmed", "tests", "forward")
    assert row.updated_at == told.now


def test_undoing_everything_leaves_the_candidate(told: Told) -> None:
    told.work("a", "b", times=3)
    before = told.row()
    told.judge(VerdictKind.CONFIRM, Relation.TESTS)
    told.judge(VerdictKind.REJECT)
    told.judge(VerdictKind.UNDO)
    row = told.judge(VerdictKind.UNDO)
    assert row == before._replace(updated_at=told.now)


def test_what_nobody_judged_fades_and_its_row_goes(told: Told) -> None:
    told.work("a", "b", times=2)
    assert told.row().status == "candidate"
    told.work("a", times=20)
    told.work("b", times=20)
    assert told.rows() == []


@pytest.mark.parametrize("verdict", [VerdictKind.CONFIRM, VerdictKind.REJECT])
def test_what_was_judged_keeps_its_row_when_the_evidence_fades(told: Told, verdict: VerdictKind) -> None:
    told.work("a", "b", times=2)
    status = told.judge(verdict).status
    told.work("a", times=20)
    told.work("b", times=20)
    row = told.row()
    assert (row.status, row.kind, row.together, row.sessions) == (status, "co_changes", 2, 2)
    assert row.of == 22
    assert 0.0 < row.probability < FLOOR
    assert row.keys == (2, 1)


def test_a_rejected_edge_returns_once_the_evidence_has_doubled_and_says_so(told: Told) -> None:
    told.work("a", "b", times=3)
    assert told.judge(VerdictKind.REJECT, at=MAY).status == "rejected"
    told.work("a", times=3)
    told.work("a", "b", times=2)
    assert told.row().status == "rejected"
    told.work("a", "b")
    row = told.row()
    assert row.status == "candidate"
    assert row.reason == "rejected on 2026-05-01 with 3 joint observations; now there are 6"
    assert told.judge(VerdictKind.REJECT).status == "rejected"
    told.work("a", "b", times=5)
    assert told.row().status == "rejected", "eleven are not twice six"
    told.work("a", "b")
    assert told.row().status == "candidate"


def test_a_rejected_edge_never_returns_on_the_same_evidence(told: Told) -> None:
    told.work("a", "b", times=3)
    told.judge(VerdictKind.REJECT)
    told.work("c", "d", times=5)
    told.work(renames=[Rename("a", "z")])
    told.promote()
    statuses = {told.names(row): row.status for row in told.rows()}
    assert statuses == {("z", "b"): "rejected", ("c", "d"): "candidate"}


def test_a_confirmed_edge_is_stale_once_an_end_is_gone_and_lives_again_with_it(told: Told) -> None:
    told.work("a", "b", times=3)
    told.judge(VerdictKind.CONFIRM, Relation.DEPENDS_ON)
    told.work(deleted=["b"])
    row = told.row()
    assert (row.status, row.reason) == ("stale", "b is gone since 2026-05-13")
    assert (row.relation, row.direction) == ("depends_on", "forward")
    told.work("b")
    assert (told.row().status, told.row().reason) == ("confirmed", None)


def test_a_confirmed_edge_is_stale_once_what_held_both_ends_is_forgotten(told: Told) -> None:
    told.work("a", "b", times=2)
    told.judge(VerdictKind.CONFIRM, Relation.DEPENDS_ON)
    told.work("a")
    told.work("b")
    told.forget("o1")
    assert told.row().status == "confirmed"
    told.forget("o2")
    row = told.row()
    assert (row.status, row.reason) == ("stale", "no observation holds both ends any more")
    assert (row.kind, row.together, row.last_seen) == ("declared", 0, None)


def test_a_confirmed_edge_is_stale_once_no_observation_names_an_end(told: Told) -> None:
    told.work("a", "b", times=2)
    told.judge(VerdictKind.CONFIRM)
    told.work("a")
    told.forget("o1")
    told.forget("o2")
    row = told.row()
    assert (row.status, row.reason) == ("stale", "no observation names b any more")


def test_an_edge_of_order_in_time_is_confirmed_though_no_observation_holds_both(told: Told) -> None:
    for number in range(1, 4):
        at = MAY + number * 5 * DAY
        read = Observation(id=f"r{number}", session=f"s{number}", at=at, files_read=("api",))
        edit = Observation(id=f"e{number}", session=f"s{number}", at=at + 60, files_modified=("user",))
        told.journal.append([read, edit], 0.0)
    told.promote()
    row = told.row()
    assert (told.names(row), row.kind) == (("api", "user"), "read_for")
    assert (row.together, row.sessions) == (3, 3)
    assert row.temporal > 0.3
    assert told.judge(VerdictKind.CONFIRM, Relation.DEPENDS_ON).status == "confirmed"
    told.work(read=["api"], times=30)
    faded = told.row()
    assert (faded.status, faded.kind, faded.together) == ("confirmed", "read_for", 3)


def test_a_verdict_that_counts_is_not_hidden_by_one_of_the_same_pair_that_was_taken_back(told: Told) -> None:
    feature = NodeName(NodeType.FEATURE, "f1")
    told.work("a")
    told.days += 1
    told.work("b")
    told.declare(feature, file("a"))
    told.declare(feature, file("b"))
    (first, _), (second, _) = told.standing()
    told.decide(second, VerdictKind.RETIRE)
    late = Observation(id="late", session="late", at=MAY + 6 * DAY, renames=(Rename("a", "b"),))
    told.journal.append([late], 0.0)
    told.promote()
    assert told.standing() == [(first, "confirmed")], (
        "the pair turns out to be one: the first decision counts"
    )
    told.decide(first, VerdictKind.UNDO)
    assert told.standing() == [(second, "retired")]
    told.decide(first, VerdictKind.UNDO)
    assert told.standing() == [(second, "confirmed")], "and by either id it can be taken back in turn"


def test_a_confirmed_edge_is_stale_once_both_ends_turn_out_to_be_one_file(told: Told) -> None:
    told.work("a")
    told.days += 1
    told.work("b")
    told.declare(file("a"), file("b"))
    assert told.row().status == "confirmed"
    late = Observation(id="late", session="late", at=MAY + 6 * DAY, renames=(Rename("a", "b"),))
    told.journal.append([late], 0.0)
    told.promote()
    assert (told.row().status, told.row().reason) == ("stale", "both ends turned out to be the same")


def test_what_is_left_of_an_edge_that_nothing_speaks_for_can_still_be_told(told: Told) -> None:
    told.work("a")
    told.declare(NodeName(NodeType.FEATURE, "f1"), file("a"))
    id = told.row().id
    told.decide(id, VerdictKind.UNDO)
    assert told.rows() == []
    with told.database.read() as connection:
        left = faded_rows(connection, [id, "unknown"])
    assert set(left) == {id}
    assert (left[id].status, left[id].relation, left[id].together) == ("candidate", None, 0)
    assert left[id].reason == "too little speaks for it by now: it is listed no more"


def test_retired_edges_keep_what_they_meant(told: Told) -> None:
    told.work("a", "b", times=2)
    told.judge(VerdictKind.CONFIRM, Relation.DOCUMENTS)
    row = told.judge(VerdictKind.RETIRE)
    assert (row.status, row.relation) == ("retired", "documents")


@pytest.mark.parametrize(
    "target",
    [NodeName(NodeType.FEATURE, "f1"), NodeName(NodeType.CONTRACT, "POST /x"), file("b")],
    ids=str,
)
def test_a_declared_edge_stands_without_evidence(told: Told, target: NodeName) -> None:
    told.work("a")
    told.work("b")
    told.declare(file("a"), target)
    row = told.row()
    assert (row.kind, row.status, row.origin) == ("declared", "confirmed", "declared")
    assert (row.relation, row.direction) == ("depends_on", Direction.FORWARD.value)
    assert (row.together, row.of, row.sessions, row.last_seen, row.keys) == (0, 0, 0, None, ())
    assert (row.probability, row.value, row.file) == (0.0, 0.0, 0.0)
    told.promote()
    assert told.row() == row


def test_a_declared_edge_gets_the_evidence_that_comes_up(told: Told) -> None:
    told.work("a")
    told.work("b")
    told.declare(file("a"), file("b"))
    told.work("a", "b", times=3)
    row = told.row()
    assert (row.kind, row.status, row.origin, row.together) == ("co_changes", "confirmed", "declared", 3)


def test_a_declared_edge_is_stale_when_a_file_is_deleted(told: Told) -> None:
    told.work("a")
    told.work("b")
    told.declare(file("a"), file("b"))
    told.work(deleted=["a"])
    assert told.row().status == "stale"


def test_a_row_that_stays_the_same_is_not_written(told: Told) -> None:
    told.work("a", "b", times=3)
    with told.database.read() as connection:
        before = connection.execute("SELECT MAX(number) FROM graph_log").fetchone()
    with told.database.write() as connection:
        connection.execute("INSERT INTO unsettled SELECT id, 0 FROM minted")
    told.promote()
    with told.database.read() as connection:
        assert connection.execute("SELECT MAX(number) FROM graph_log").fetchone() == before
