"""Promise: however it came about, promotion ends in what a full run over a rebuilt derived.db gives."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import graph_content
from graphmem.captured import Batch
from graphmem.database import Database
from graphmem.decisions import NamedDeclaration, decide, declare
from graphmem.derived import open_derived
from graphmem.edge_facts import EdgeFacts, ListedOffers
from graphmem.edge_rows import SELECT_EDGE, EdgeRow, read_row
from graphmem.errors import ConflictError, InvalidInputError
from graphmem.graph import Decision, NodeName, NodeType, Relation, VerdictKind
from graphmem.journal import Journal
from graphmem.judgements import standings_until
from graphmem.model import Observation, Rename
from graphmem.past_promotion import promoted_at
from graphmem.postings import Postings, View
from graphmem.projection import catch_up
from graphmem.promotion import promote, settle_verdicts
from graphmem.store.port import GraphEdge, GraphNode, GraphObservation, Mark

PATHS = ["src/a.py", "src/b.py", "lib/c.py", "lib/d.py", "e.lock"]
HOUR = 3_600.0
ROOT = Path(__file__).resolve().parents[2]
path = st.sampled_from(PATHS)
several = st.lists(path, max_size=3, unique=True).map(tuple)
OPENED: list[Journal | Database] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close what a test opened, however many examples it tried."""
    yield
    while OPENED:
        OPENED.pop().close()


def names(database: Database) -> dict[int, str]:
    """Every node by names that do not depend on how rows are numbered."""
    queries = (
        "SELECT file.id * 4, 'file:' || own.name || ' born ' || first.name FROM file"
        " JOIN path AS own ON own.id = file.path JOIN path AS first ON first.id = file.first_path",
        "SELECT id * 4 + 1, 'concept:' || name FROM concept",
        "SELECT id * 4 + 2, 'contract:' || name FROM contract",
        "SELECT id * 4 + 3, type || ':' || name FROM named",
    )
    with database.read() as connection:
        return {node: name for query in queries for node, name in connection.execute(query)}


def promoted(database: Database) -> dict[str, list[Any]]:
    """What promotion made, by content: names instead of row numbers."""
    ref = names(database)
    with database.read() as connection:
        ids = dict(connection.execute("SELECT seq, id FROM observation"))
        found: dict[str, list[Any]] = {}
        for table, order in (("offer", "source, target"), ("edge", "id")):
            cursor = connection.execute(f"SELECT * FROM {table} ORDER BY {order}")
            columns = [column[0] for column in cursor.description]
            rows = [dict(zip(columns, row, strict=True)) for row in cursor]
            for row in rows:
                row["keys"] = [ids[int(key)] for key in row["keys"].split()]
                row["source"], row["target"] = ref[row["source"]], ref[row["target"]]
            found[table] = sorted(rows, key=repr)
    return found


class Project:
    """A journal and its derived file, told things in any order."""

    def __init__(self, folder: Path | None = None) -> None:
        self.journal = Journal(folder and folder / "journal.db")
        self.database = open_derived(folder and folder / "derived.db")
        OPENED.extend((self.journal, self.database))
        self.ids: list[str] = []
        self.clock = 1_000 * HOUR

    def tell(self, observations: list[Observation]) -> None:
        self.journal.append(observations, 0.0)
        self.ids += [observation.id for observation in observations]
        catch_up(self.journal, self.database)

    def tell_anew(self, observation: Observation) -> None:
        self.journal.captured.settle(Batch(observations=[observation]), 0.0)
        catch_up(self.journal, self.database)

    def forget(self, id: str) -> None:
        self.ids.remove(id)
        self.journal.forget(id, 0.0)
        catch_up(self.journal, self.database)

    def judge(self, edge: str, verdict: VerdictKind, relation: Relation | None) -> None:
        self.clock += HOUR
        decision = Decision(edge, verdict, relation if verdict is VerdictKind.CONFIRM else None)
        try:
            with self.database.read() as connection:
                decide(self.journal.ledger, connection, [decision], self.clock)
        except ConflictError:
            return
        catch_up(self.journal, self.database)
        settle_verdicts(self.database)

    def declare(self, source: NodeName, target: NodeName) -> None:
        self.clock += HOUR
        declaration = NamedDeclaration(source, target, Relation.DEPENDS_ON)
        try:
            with self.database.read() as connection:
                declare(self.journal.ledger, connection, [declaration], "p", self.clock)
        except (ConflictError, InvalidInputError):
            return
        catch_up(self.journal, self.database)
        settle_verdicts(self.database)

    def promote(self, ignore: tuple[str, ...] = ()) -> None:
        promote(self.journal, self.database, "p", ignore)
        catch_up(self.journal, self.database)

    def edges(self) -> list[str]:
        with self.database.read() as connection:
            return [row[0] for row in connection.execute("SELECT id FROM edge ORDER BY id")]

    def rebuilt(self) -> Database:
        database = open_derived(None)
        OPENED.append(database)
        catch_up(self.journal, database)
        return database


@st.composite
def observation(draw: st.DrawFn, number: int, turns: tuple[str, ...] = ("", "", "t1", "t2")) -> Observation:
    pairs = draw(
        st.lists(
            st.tuples(path, path).filter(lambda pair: pair[0] != pair[1]), max_size=draw(st.integers(0, 1))
        )
    )
    renames = tuple(Rename(old, new) for old, new in pairs) if draw(st.integers(0, 4)) == 0 else ()
    moved = {name for rename in renames for name in (rename.old, rename.new)}
    deleted = tuple(p for p in draw(several) if p not in moved)[:1] if draw(st.integers(0, 4)) == 0 else ()
    modified = tuple(p for p in draw(several) if p not in moved and p not in deleted)
    turn = draw(st.sampled_from(turns))
    return Observation(
        id=f"o{number}",
        session=draw(st.sampled_from(["s1", "s2", "s3", "s4"])),
        at=HOUR * draw(st.integers(1, 60)),
        actor=draw(st.sampled_from(["ann", "bo"])),
        title=draw(st.sampled_from(["Fix login", "支付 timeout", "Move POST /api/v1/pay to /api/v2/pay"])),
        type=draw(st.sampled_from(["change", "change", "change", "snapshot"])),
        concepts=draw(st.sampled_from([(), ("auth",), ("auth", "payment")])),
        files_read=draw(several),
        files_modified=modified,
        files_added=modified[:1] if draw(st.integers(0, 3)) == 0 else (),
        files_deleted=deleted,
        renames=renames,
        turn=turn,
        reference=draw(st.sampled_from([None, "sha"])) if turn == "" else None,
        provisional=draw(st.booleans()),
    )


# With so many files at rest a run looks at the dirty ones alone.
RESTING = [
    Observation(id=f"o{number}", session="s0", at=0.0, title="Begin", files_modified=(f"rest/{number}.py",))
    for number in range(1, 61)
]
VERDICTS = [VerdictKind.CONFIRM, VerdictKind.REJECT, VerdictKind.UNDO, VerdictKind.RETIRE]
TARGETS = [
    NodeName(NodeType.FILE, "src/b.py"),
    NodeName(NodeType.FEATURE, "f1"),
    NodeName(NodeType.CONTRACT, "POST /api/v1/pay"),
    NodeName(NodeType.CONTRACT, "POST /api/v2/pay"),
    NodeName(NodeType.CONCEPT, "auth"),
]


def happen(project: Project, data: st.DataObject) -> None:
    """Let one thing happen that is possible now."""
    possible = ["tell", "tell", "promote", "declare"]
    if project.ids:
        possible += ["forget", "tell anew", "tell anew"]
    edges = project.edges()
    if edges:
        possible += ["judge", "judge"]
    match data.draw(st.sampled_from(possible)):
        case "tell":
            first = 1 + max((int(id[1:]) for id in project.ids), default=project.journal.written().entries)
            first = max(first, project.journal.written().entries + 1)
            count = data.draw(st.integers(1, 4))
            project.tell([data.draw(observation(first + index)) for index in range(count)])
        case "tell anew":
            number = int(data.draw(st.sampled_from(project.ids))[1:])
            project.tell_anew(data.draw(observation(number)))
        case "forget":
            project.forget(data.draw(st.sampled_from(project.ids)))
        case "judge":
            relation = data.draw(st.sampled_from([None, Relation.DEPENDS_ON]))
            project.judge(data.draw(st.sampled_from(edges)), data.draw(st.sampled_from(VERDICTS)), relation)
        case "declare":
            files = [NodeName(NodeType.FILE, name) for name in PATHS]
            project.declare(
                data.draw(st.sampled_from([*files, *TARGETS])), data.draw(st.sampled_from(TARGETS))
            )
        case "promote":
            project.promote()


def assert_equals_a_full_run(project: Project, ignore: tuple[str, ...] = ()) -> None:
    project.promote(ignore)
    fresh = project.rebuilt()
    promote(project.journal, fresh, "p", ignore)
    assert promoted(project.database) == promoted(fresh)
    with project.database.read() as connection:
        assert connection.execute("SELECT * FROM dirty").fetchall() == []
        assert connection.execute("SELECT * FROM unsettled").fetchall() == []


@pytest.mark.slow
@settings(max_examples=60)
@given(st.data())
def test_any_run_of_events_ends_in_what_a_full_run_gives(data: st.DataObject) -> None:
    project = Project()
    project.tell(RESTING)
    project.tell([data.draw(observation(number)) for number in range(61, 73)])
    project.promote()
    for _ in range(data.draw(st.integers(1, 12))):
        happen(project, data)
    assert_equals_a_full_run(project)
    while OPENED:
        OPENED.pop().close()


def test_edges_without_a_file_follow_what_is_spoken_of_their_ends() -> None:
    project = Project()
    project.tell(RESTING)
    contracts = [NodeName(NodeType.CONTRACT, f"POST /api/v{number}/pay") for number in (1, 2)]
    spoken = "Move POST /api/v1/pay to /api/v2/pay"
    for number in (61, 62):
        project.tell([Observation(id=f"o{number}", session="s", at=HOUR, title=spoken, concepts=("auth",))])
        project.declare(*contracts)
        project.declare(NodeName(NodeType.CONCEPT, "auth"), NodeName(NodeType.FEATURE, "f1"))
        project.promote()
    assert_equals_a_full_run(project)
    project.forget("o62")
    assert_equals_a_full_run(project)


def past_rows(project: Project, moment: float) -> list[Any]:
    """The edges of a past moment by names."""
    with Postings(project.database).view(moment) as view:
        standings = standings_until(project.journal.ledger, moment)
        return by_names(promoted_at(view, standings, "p").rows, view)


def present_rows(project: Project) -> list[Any]:
    with Postings(project.database).view() as view:
        return by_names([read_row(row) for row in view.connection.execute(SELECT_EDGE)], view)


def by_names(rows: Iterable[EdgeRow], view: View) -> list[Any]:
    ids = dict(view.connection.execute("SELECT seq, id FROM observation"))
    facts = EdgeFacts(view, ListedOffers(()), {})
    found = []
    for row in rows:
        ends = facts.refs((row.source, row.target))
        named = row._asdict() | {"source": ends[row.source], "target": ends[row.target]}
        found.append(named | {"keys": [ids[key] for key in row.keys]})
    return sorted(found, key=repr)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
def test_a_past_moment_gives_what_was_promoted_then(data: st.DataObject) -> None:
    # Within a turn a past moment knows the size its later parts gave it.
    made = [data.draw(observation(number, turns=("",))) for number in range(1, 31)]
    moment = HOUR * data.draw(st.integers(20, 55))
    project = Project()
    project.clock = moment - 20 * HOUR
    project.tell([one for one in made if one.at <= moment])
    project.promote()
    for _ in range(data.draw(st.integers(0, 3))):
        if edges := project.edges():
            project.judge(data.draw(st.sampled_from(edges)), data.draw(st.sampled_from(VERDICTS)), None)
    project.promote()
    then = present_rows(project)
    project.clock = moment
    project.tell([one for one in made if one.at > moment])
    for _ in range(data.draw(st.integers(0, 6))):
        happen_later(project, data)
    project.promote()
    assert past_rows(project, moment) == then


def happen_later(project: Project, data: st.DataObject) -> None:
    """Let something happen that is none of the past's business."""
    project.promote()
    if edges := project.edges():
        project.judge(data.draw(st.sampled_from(edges)), data.draw(st.sampled_from(VERDICTS)), None)


# ---- the graph that follows ----------------------------------------------------------------------


class Follower:
    """What a graph holds that takes differences where there are any."""

    def __init__(self) -> None:
        self.nodes: dict[int, GraphNode] = {}
        self.edges: dict[str, GraphEdge] = {}
        self.observations: dict[int, GraphObservation] = {}
        self.mark = Mark(-1, 0, 0)

    def follow(self, database: Database) -> None:
        with database.read() as connection:
            change = graph_content.change(connection, self.mark)
            self.mark = graph_content.mark(connection)
            if change is None:
                whole = graph_content.content(connection)
                self.nodes = {node.number: node for node in whole.nodes}
                self.edges = {edge.id: edge for edge in whole.edges}
                self.observations = {one.number: one for one in whole.observations}
                return
        self.nodes |= {node.number: node for node in change.nodes}
        self.edges |= {edge.id: edge for edge in change.edges}
        self.edges = {id: edge for id, edge in self.edges.items() if id not in change.dropped_edges}
        self.observations |= {one.number: one for one in change.observations}


@pytest.mark.slow
@settings(max_examples=40)
@given(st.data())
def test_a_graph_that_follows_holds_what_a_load_gives(data: st.DataObject) -> None:
    project, followed, loaded = Project(), Follower(), Follower()
    project.tell([data.draw(observation(number)) for number in range(1, 13)])
    followed.follow(project.database)
    for _ in range(data.draw(st.integers(1, 10))):
        happen(project, data)
        if data.draw(st.booleans()):
            followed.follow(project.database)
    followed.follow(project.database)
    loaded.follow(project.database)
    assert followed.edges == loaded.edges
    assert followed.observations == loaded.observations
    assert followed.nodes.items() >= loaded.nodes.items()


# ---- the end of a process ------------------------------------------------------------------------

PROMOTING = """
import sys
from pathlib import Path
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.promotion import promote

def asked():
    print("asked", flush=True)
    return False

folder = Path(sys.argv[1])
promote(Journal(folder / "journal.db"), open_derived(folder / "derived.db"), "p", (), asked)
print("done", flush=True)
"""


def group(number: int, days: Iterable[int]) -> list[Observation]:
    """Three files that somebody of their own changes together, on each of these days."""
    files = tuple(f"src/{number}/{name}.py" for name in "abc")
    return [
        Observation(
            id=f"g{number}-{day}",
            session=f"g{number}-{day}",
            at=day * 24 * HOUR,
            actor=f"g{number}",
            files_modified=files,
        )
        for day in days
    ]


def promote_until_killed(folder: Path, after: int) -> None:
    """Promote in a process of its own, and kill that once it was asked so many times whether to stop."""
    command = [sys.executable, "-c", PROMOTING, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(after):
            assert process.stdout.readline() == "asked\n"
        process.kill()


@pytest.mark.parametrize(
    ("fresh", "after"), [(True, 2), (True, 5), (True, 6), (True, 8), (False, 1), (False, 2), (False, 4)]
)
def test_a_killed_run_is_taken_up_by_the_next(tmp_path: Path, fresh: bool, after: int) -> None:
    journal, database = Journal(tmp_path / "journal.db"), open_derived(tmp_path / "derived.db")
    journal.append([one for number in range(300) for one in group(number, (1, 5))], 0.0)
    catch_up(journal, database)
    if not fresh:
        promote(journal, database, "p")
        journal.append([one for number in range(90) for one in group(number, (9,))], 0.0)
        catch_up(journal, database)
    journal.close()
    database.close()
    promote_until_killed(tmp_path, after)
    project = Project(tmp_path)
    assert_equals_a_full_run(project)
    assert len(project.edges()) == 900
