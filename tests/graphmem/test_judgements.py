"""From the journal into `minted`, `judgement`, `named`: any order of arrival equals a rebuild."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.errors import ConflictError
from graphmem.follower import Follower
from graphmem.graph import Decision, EdgeStatus, NodeName, NodeType, Relation, VerdictKind
from graphmem.journal import Journal
from graphmem.judgements import carry, standings_until
from graphmem.ledger import Proposal
from graphmem.minting import edge_between, find, mint_all, moment, named_request
from graphmem.model import Observation, Rename
from graphmem.nodes import NodeTable, table_of
from graphmem.projection import catch_up, watermark

PATHS = ["a", "b", "c", "d"]
CONFIRM, REJECT = VerdictKind.CONFIRM, VerdictKind.REJECT
relaxed = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

OPENED: list[Journal | Database | Follower] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close what a test opened, however many examples it tried."""
    yield
    while OPENED:
        OPENED.pop().close()


def in_memory() -> tuple[Journal, Database]:
    OPENED.extend(pair := (Journal(None), open_derived(None)))
    return pair


def rebuilt(journal: Journal) -> Database:
    database = open_derived(None)
    OPENED.append(database)
    catch_up(journal, database)
    return database


def file(path: str) -> NodeName:
    return NodeName(NodeType.FILE, path)


def work(id: str, at: float, *files: str, **more: Any) -> Observation:
    return Observation(
        id=id, session="s", at=at, title=more.pop("title", "work"), files_modified=files, **more
    )


def told(journal: Journal, database: Database, *observations: Observation) -> None:
    journal.append(observations, 0.0)
    catch_up(journal, database)


def mint(journal: Journal, database: Database, one: NodeName, other: NodeName) -> str:
    """Mint a pair of known names as promotion does, and carry it over."""
    with database.write() as connection:
        nodes = [find(connection, name, float("inf")) for name in (one, other)]
        source, target = (node for node in nodes if node is not None)
        (id,) = mint_all(journal.ledger, connection, [(source, target)], "p")
    catch_up(journal, database)
    return id


def declare(journal: Journal, database: Database, *names: tuple[NodeName, NodeName]) -> list[str]:
    with database.read() as connection:
        proposals = [Proposal(named_request(connection, *pair), Relation.DEPENDS_ON) for pair in names]
        at = moment(connection)
    return journal.ledger.declare(proposals, "p", at, 5.0)


_NODE = """
    CASE {0} & 3
    WHEN 0 THEN (SELECT 'file:' || own.name || ' first ' || first.name || ' ' || alive FROM file
        JOIN path AS own ON own.id = file.path JOIN path AS first ON first.id = first_path
        WHERE file.id = {0} >> 2)
    WHEN 1 THEN (SELECT 'concept:' || name FROM concept WHERE id = {0} >> 2)
    WHEN 2 THEN (SELECT 'contract:' || name FROM contract WHERE id = {0} >> 2)
    ELSE (SELECT 'named:' || type || ':' || name FROM named WHERE id = {0} >> 2) END
"""


def snapshot(database: Database) -> dict[str, list[tuple[Any, ...]]]:
    """Return what is kept of edges by names instead of row numbers."""
    ends = ", ".join(_NODE.format(end) for end in ("source", "target"))
    queries = {
        "minted": f"SELECT id, number, {ends} FROM minted ORDER BY id",
        "judgement": "SELECT * FROM judgement ORDER BY edge",
        "named": "SELECT type, name FROM named ORDER BY type, name",
    }
    with database.read() as connection:
        return {name: connection.execute(query).fetchall() for name, query in queries.items()}


def unsettled(database: Database) -> set[str]:
    """Return and clear what promotion was told of."""
    with database.write() as connection:
        found = {row[0] for row in connection.execute("SELECT edge FROM unsettled")}
        connection.execute("DELETE FROM unsettled")
    return found


# ---- any order of arrival ----------------------------------------------------------------------

_path = st.sampled_from(PATHS)
_names = st.sampled_from(
    [
        *map(file, (*PATHS, "never")),
        NodeName(NodeType.FEATURE, "f1"),
        NodeName(NodeType.CONTRACT, "POST /api/v1/pay"),
        NodeName(NodeType.CONCEPT, "billing"),
    ]
)
_actions = st.one_of(
    st.tuples(st.just("mint"), _path, _path),
    st.tuples(st.just("declare"), _names, _names),
    st.tuples(st.just("judge"), st.integers(0, 9), st.sampled_from([*VerdictKind][:4])),
    st.tuples(st.just("forget"), st.integers(0, 9)),
    st.tuples(st.just("see"), st.integers(0, 9)),
)


@st.composite
def _observations(draw: st.DrawFn) -> list[Observation]:
    made = []
    for number, at in enumerate(draw(st.permutations(range(1, 9)))):
        old, new = draw(st.tuples(_path, _path))
        moves = old != new and draw(st.booleans())
        files = tuple(
            path
            for path in draw(st.lists(_path, max_size=3, unique=True))
            if not (moves and path in (old, new))
        )
        made.append(
            work(
                f"o{number}",
                float(at),
                *files,
                title=draw(st.sampled_from(["work", "Move POST /api/v1/pay"])),
                concepts=("billing",) if draw(st.booleans()) else (),
                files_added=files[:1] if draw(st.booleans()) else (),
                renames=(Rename(old, new),) if moves else (),
            )
        )
    return made


def _perform(
    action: tuple[Any, ...], journal: Journal, database: Database, waiting: list[Observation]
) -> None:
    match action:
        case ("see", number):
            for observation in waiting[:1] if number < 7 else waiting[:3]:
                waiting.remove(observation)
                journal.append([observation], 0.0)
        case ("forget", number):
            if f"o{number}" in {entry.observation.id for entry in journal.entries_after(0, 99)}:
                journal.forget(f"o{number}", 0.0)
        case ("mint", one, other):
            with database.write() as connection:
                nodes = [find(connection, file(path), float("inf")) for path in (one, other)]
                seen = [node for node in nodes if node is not None and table_of(node) is NodeTable.FILE]
                if len(set(seen)) == 2:
                    mint_all(journal.ledger, connection, [(seen[0], seen[1])], "p")
        case ("declare", one, other) if one != other:
            try:
                declare(journal, database, (one, other))
            except ConflictError as refused:
                assert "retired" in str(refused)
        case ("judge", number, verdict):
            edges = journal.ledger.edges_after(0, 99)
            if edges:
                try:
                    journal.ledger.judge([Decision(edges[number % len(edges)].id, verdict)], 1.0, {})
                except ConflictError as refused:
                    assert "The edge" in str(refused)


@pytest.mark.slow
@relaxed
@given(_observations(), st.lists(st.tuples(_actions, st.booleans()), max_size=30))
def test_whatever_comes_in_whatever_order_ends_as_a_rebuild_does(
    waiting: list[Observation], story: Sequence[tuple[tuple[Any, ...], bool]]
) -> None:
    journal, database = in_memory()
    for observation in waiting[:3]:
        journal.append([observation], 0.0)
    del waiting[:3]
    catch_up(journal, database)
    for action, follows in story:
        _perform(action, journal, database, waiting)
        if follows:
            catch_up(journal, database)
    journal.append(waiting, 0.0)
    catch_up(journal, database)
    assert not catch_up(journal, database)
    assert snapshot(database) == snapshot(rebuilt(journal))
    assert {edge.id for edge in journal.ledger.edges_after(0, 999)} == {
        row[0] for row in snapshot(database)["minted"]
    }


# ---- one thing at a time -----------------------------------------------------------------------


def test_a_verdict_becomes_a_judgement_and_is_told_to_promotion() -> None:
    journal, database = in_memory()
    told(journal, database, work("o1", 10.0, "a", "b"))
    id = mint(journal, database, file("a"), file("b"))
    unsettled(database)
    assert not carry(journal, database), "nothing is new"
    journal.ledger.judge([Decision(id, CONFIRM, Relation.TESTS)], 7.0, {id: 3})
    assert carry(journal, database)
    assert snapshot(database)["judgement"] == [(id, "confirmed", "inferred", "tests", "forward", 3, 7.0, 1)]
    assert unsettled(database) == {id}
    journal.ledger.judge([Decision(id, VerdictKind.UNDO)], 8.0, {})
    catch_up(journal, database)
    assert snapshot(database)["judgement"] == [(id, None, "inferred", None, None, 0, 8.0, 1)]
    assert unsettled(database) == {id}


def test_a_verdict_on_one_of_two_ids_of_a_pair_unsettles_both() -> None:
    journal, database = in_memory()
    told(journal, database, work("o1", 10.0, "a", "c"), work("o3", 30.0, "b", "c"))
    one, other = (mint(journal, database, file(path), file("c")) for path in "ab")
    assert unsettled(database) == set(), "what promotion mints it knows of"
    told(journal, database, work("o2", 20.0, renames=(Rename("a", "b"),)))
    assert unsettled(database) == {one, other}
    journal.ledger.judge([Decision(other, REJECT)], 1.0, {})
    catch_up(journal, database)
    assert unsettled(database) == {one, other}


def test_a_declared_name_becomes_the_node_once_somebody_works_on_it() -> None:
    journal, database = in_memory()
    told(journal, database, work("o1", 10.0, "a"))
    names = [
        file("planned"),
        NodeName(NodeType.CONTRACT, "POST /api/v1/pay"),
        NodeName(NodeType.CONCEPT, "new"),
    ]
    ids = declare(journal, database, *((file("a"), name) for name in names))
    ids += declare(journal, database, (NodeName(NodeType.FEATURE, "f1"), file("a")))
    catch_up(journal, database)
    assert len(snapshot(database)["named"]) == 4
    assert unsettled(database) == set(ids)
    told(journal, database, work("o2", 20.0, "planned", title="Move POST /api/v1/pay", concepts=("new",)))
    assert snapshot(database)["named"] == [("feature", "f1")]
    assert unsettled(database) == set(ids[:3])
    journal.forget("o2", 1.0)
    catch_up(journal, database)
    assert len(snapshot(database)["named"]) == 4, "a person's word keeps its names"
    assert unsettled(database) == set(ids[:3])


def test_the_number_of_a_name_that_went_is_given_to_no_other() -> None:
    journal, database = in_memory()
    told(journal, database, work("o1", 10.0, "a"))
    declare(journal, database, (file("a"), file("planned")))
    catch_up(journal, database)
    told(journal, database, work("o2", 20.0, "planned"))
    declare(journal, database, (file("a"), NodeName(NodeType.FEATURE, "f1")))
    catch_up(journal, database)
    with database.read() as connection:
        assert connection.execute("SELECT id, name FROM named").fetchall() == [(2, "f1")]


def test_an_edge_nobody_judged_goes_with_the_last_work_that_names_its_end(tmp_path: Path) -> None:
    journal, database = Journal(tmp_path / "journal.db"), open_derived(tmp_path / "derived.db")
    OPENED.extend((journal, database))
    told(
        journal,
        database,
        work("o1", 10.0, "Zebrafish.py", "b", concepts=("Zebrafish",)),
        work("o2", 20.0, "b", "c", "judged.py"),
        work("o3", 30.0, "judged.py"),
    )
    with database.read() as connection:
        (concept,) = connection.execute(
            "SELECT name FROM concept WHERE name LIKE '%zebra%' ORDER BY name"
        ).fetchone()
    gone = mint(journal, database, file("Zebrafish.py"), file("b"))
    about = mint(journal, database, file("b"), NodeName(NodeType.CONCEPT, concept))
    kept = mint(journal, database, file("b"), file("c"))
    judged = mint(journal, database, file("Zebrafish.py"), file("c"))
    journal.ledger.judge([Decision(judged, REJECT)], 1.0, {})
    catch_up(journal, database)
    unsettled(database)
    journal.forget("o1", 1.0)
    catch_up(journal, database)
    assert {edge.id for edge in journal.ledger.edges_after(0, 9)} == {kept, judged}
    assert {row[0] for row in snapshot(database)["minted"]} == {kept, judged}
    assert unsettled(database) == {gone, about, judged}
    assert snapshot(database)["named"] == [("file", "Zebrafish.py")]
    assert snapshot(database) == snapshot(rebuilt(journal))


def test_an_edge_taken_back_by_a_transaction_that_was_lost_here_goes_all_the_same() -> None:
    journal, database = in_memory()
    told(journal, database, work("o1", 10.0, "b", "secret.py"), work("o2", 20.0, "b"))
    id = mint(journal, database, file("secret.py"), file("b"))
    journal.forget("o1", 1.0)
    assert journal.ledger.prune([id]) == {id}
    catch_up(journal, database)
    assert snapshot(database)["minted"] == []
    told(journal, database, work("o3", 30.0, "next.py"))
    with database.read() as connection:
        ends = [find(connection, file(name), 30.0) for name in ("next.py", "b")]
        assert None not in ends
        assert edge_between(connection, *[node or 0 for node in ends]) is None


def test_a_forgotten_name_of_an_unjudged_edge_is_in_no_file(tmp_path: Path) -> None:
    journal, database = Journal(tmp_path / "journal.db"), open_derived(tmp_path / "derived.db")
    told(journal, database, work("o1", 10.0, "Zebrafish.py", "b"), work("o2", 20.0, "b", "c"))
    mint(journal, database, file("Zebrafish.py"), file("b"))
    mint(journal, database, file("b"), file("c"))
    journal.forget("o1", 1.0)
    catch_up(journal, database)
    journal.close()
    database.close()
    for part in tmp_path.iterdir():
        assert b"zebrafish" not in part.read_bytes().lower(), part.name


def test_a_name_forgotten_while_its_edge_was_on_the_way_is_taken_back() -> None:
    journal, database = in_memory()
    told(journal, database, work("o1", 10.0, "secret.py", "b"), work("o2", 20.0, "b"))
    with database.read() as connection:
        request = named_request(connection, file("secret.py"), file("b"))
    journal.forget("o1", 1.0)
    journal.ledger.mint([request], "p", 20.0)
    catch_up(journal, database)
    assert journal.ledger.edges_after(0, 9) == []
    assert snapshot(database)["minted"] == snapshot(database)["named"] == []
    assert snapshot(rebuilt(journal))["minted"] == []


def test_a_rebuild_in_many_batches_takes_back_no_edge_whose_names_come_last() -> None:
    journal, database = in_memory()
    journal.append([work(f"o{number}", float(number), f"{number}.py") for number in range(1_100)], 0.0)
    told(journal, database, work("last", 2_000.0, "x", "y"))
    id = mint(journal, database, file("x"), file("y"))
    assert [row[0] for row in snapshot(rebuilt(journal))["minted"]] == [id]


def test_where_edges_stood_is_known_for_any_past_moment() -> None:
    journal, database = in_memory()
    told(journal, database, work("o1", 10.0, "a", "b"))
    id = mint(journal, database, file("a"), file("b"))
    journal.ledger.judge([Decision(id, CONFIRM)], 20.0, {})
    journal.ledger.judge([Decision(id, REJECT)], 30.0, {})
    assert standings_until(journal.ledger, 19.0) == {}
    assert standings_until(journal.ledger, 20.0)[id].status is EdgeStatus.CONFIRMED
    assert standings_until(journal.ledger, 99.0)[id].status is EdgeStatus.REJECTED


# ---- behind the follower -----------------------------------------------------------------------


def follow(tmp_path: Path) -> tuple[Journal, Follower]:
    journal = Journal(tmp_path / "journal.db")
    follower = Follower(journal, tmp_path / "derived.db")
    OPENED.extend((journal, follower))
    return journal, follower


def test_waiting_covers_verdicts_even_untold(tmp_path: Path) -> None:
    journal, follower = follow(tmp_path)
    journal.append([work("o1", 10.0, "a", "b")], 0.0)
    follower.notify()
    assert follower.wait(20.0)
    with follower.view() as view:
        (id,) = journal.ledger.mint([named_request(view.connection, file("a"), file("b"))], "p", 10.0)
    journal.ledger.judge([Decision(id, CONFIRM)], 1.0, {})
    assert follower.wait(20.0)
    with follower.view() as view:
        assert view.connection.execute("SELECT edge, status FROM judgement").fetchall() == [(id, "confirmed")]


def test_a_file_that_lost_its_last_edge_still_belongs_to_its_journal(tmp_path: Path) -> None:
    journal, follower = follow(tmp_path)
    journal.append([work("o1", 10.0, "a", "b"), work("o2", 20.0, "b")], 0.0)
    follower.notify()
    assert follower.wait(20.0)
    with follower.view() as view:
        journal.ledger.mint([named_request(view.connection, file("a"), file("b"))], "p", 20.0)
    assert follower.wait(20.0)
    journal.forget("o1", 1.0)
    assert follower.wait(20.0)
    follower.close()
    assert journal.ledger.edges_after(0, 9) == []
    again = Follower(journal, tmp_path / "derived.db")
    assert again.applied() == 2, "nothing was carried over again"
    again.close()
    assert not (tmp_path / "derived.db.damaged").exists()


_DECIDER = """
import sys
from pathlib import Path
from graphmem.follower import Follower
from graphmem.graph import Decision, NodeName, NodeType, Relation, VerdictKind
from graphmem.journal import Journal
from graphmem.ledger import MintRequest, Proposal

folder = Path(sys.argv[1])
journal = Journal(folder / "journal.db")
follower = Follower(journal, folder / "derived.db")
for number in range(100_000):
    names = (NodeName(NodeType.FEATURE, "f"), NodeName(NodeType.FILE, f"{number}.py"))
    (edge,) = journal.ledger.declare([Proposal(MintRequest(*names), Relation.TESTS)], "p", 1.0, 1.0)
    journal.ledger.judge([Decision(edge, VerdictKind.REJECT)], 2.0, {})
    follower.notify()
    print(edge, flush=True)
"""


def test_a_kill_between_journal_and_projection_loses_no_verdict(
    tmp_path: Path, eventually: Callable[..., Any]
) -> None:
    output = tmp_path / "output.txt"
    with output.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-c", _DECIDER, str(tmp_path)], stdout=sink, cwd=Path(__file__).parents[2]
        )
    eventually(lambda: output.read_bytes().count(b"\n") >= 60 or process.poll() is not None)
    assert process.poll() is None
    process.kill()
    process.wait(20)
    acknowledged = set(output.read_text().splitlines())
    journal, follower = follow(tmp_path)
    assert follower.wait(30.0)
    with follower.view() as view:
        rows = view.connection.execute("SELECT edge FROM judgement WHERE status = 'rejected'").fetchall()
        assert acknowledged <= {row[0] for row in rows}
    with follower.file() as database:
        assert snapshot(database) == snapshot(rebuilt(journal))
        assert watermark(database).minted == journal.head().minted


def test_promotion_finds_the_pair_of_a_declared_edge() -> None:
    journal, database = in_memory()
    told(journal, database, work("o1", 10.0, "a", "b"))
    (id,) = declare(journal, database, (file("b"), file("a")))
    catch_up(journal, database)
    assert mint(journal, database, file("a"), file("b")) == id
    with database.read() as connection:
        nodes = [find(connection, file(path), 10.0) for path in "ab"]
        edge = edge_between(connection, nodes[0] or 0, nodes[1] or 0)
    assert edge is not None
    assert edge.id == id
