"""What a project's rules let go: nothing by default, what is exempt, and smaller files afterwards."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.confirmations import Judgement, Saying
from graphmem.database import Database, Durability
from graphmem.errors import InvalidInputError, UnavailableError
from graphmem.graph import Declaration, Relation
from graphmem.instant import from_iso, to_iso
from graphmem.question import PieceKind
from graphmem.retention import Exemption
from graphmem.retention_rules import Rules

DAY = 86_400.0
NOON = from_iso("2026-05-01T12:00:00Z")
ALL = Rules({kind: 365.0 for kind in PieceKind if kind is not PieceKind.DECISION})


def old(id: str, *facts: object, days: float = 800, **more: Any) -> dict[str, Any]:
    return {"id": id, "title": f"work {id}", "at": to_iso(NOON - days * DAY), "facts": list(facts), **more}


def left(project: Project) -> set[str]:
    return {item.id for item in project.observations(limit=200).items}


def test_without_a_rule_nothing_goes(shop: Project, tell: Callable[..., Any]) -> None:
    tell(shop, old("a"), old("b"))
    pruned = shop.keeping.prune(dry_run=False)
    assert pruned.plan.numbers == ()
    assert left(shop) == {"a", "b"}


def test_a_dry_run_tells_by_kind_and_changes_nothing(shop: Project, tell: Callable[..., Any]) -> None:
    task = {"text": "mend the cart", "kind": "task", "state": "done"}
    tell(shop, old("a"), old("b", days=400), old("c", task), old("young", days=10), old("d", days=100))
    pruned = shop.keeping.prune(Rules({PieceKind.HISTORY: 365.0, PieceKind.TASK: 180.0}))
    assert {going.kind: going.observations for going in pruned.plan.kinds} == {"history": 2, "task": 1}
    (history,) = [going for going in pruned.plan.kinds if going.kind == "history"]
    assert (history.oldest, history.newest) == (NOON - 800 * DAY, NOON - 400 * DAY)
    assert 0 < pruned.plan.bytes <= pruned.size_before
    assert left(shop) == {"a", "b", "c", "young", "d"}
    assert pruned.dry_run


def test_what_goes_leaves_tombstones(shop: Project, tell: Callable[..., Any]) -> None:
    tell(shop, old("a"), old("b", days=1))
    assert shop.keeping.prune(ALL, dry_run=False).plan.numbers == (1,)
    assert left(shop) == {"b"}
    assert shop.observe([old("a")]).duplicates == 1
    assert left(shop) == {"b"}


def test_decisions_open_tasks_and_confirmed_ones_never_go(shop: Project, tell: Callable[..., Any]) -> None:
    tell(
        shop,
        old("decision", {"text": "we take Postgres", "kind": "decision"}),
        old("open", {"text": "mend the cart", "kind": "task", "state": "open"}),
        old("closed", {"text": "sweep the floor", "kind": "task", "state": "open"}),
        old("closing", {"text": "sweep the floor", "kind": "task", "state": "done"}, days=700),
        old("kept"),
        old("plain"),
    )
    shop.keeping.judge([Saying("kept", Judgement.CONFIRM)])
    pruned = shop.keeping.prune(Rules(ALL.days, max_bytes=1), dry_run=False)
    assert left(shop) == {"decision", "open", "kept"}
    assert {reason: count for reason, count in pruned.plan.exempt.items() if count} == {
        Exemption.DECISION: 1,
        Exemption.OPEN_TASK: 1,
        Exemption.CONFIRMED: 1,
    }


def test_what_speaks_for_a_confirmed_edge_stays(shop: Project, tell: Callable[..., Any]) -> None:
    pair = {"files_modified": ["a.py", "b.py"]}
    alone = {"files_modified": ["a.py", "c.py"]}
    tell(shop, *(old(f"pair{n}", session=f"s{n}", **pair) for n in range(3)), old("alone", **alone))
    shop.graph.declare([Declaration("file:a.py", "file:b.py", Relation.DEPENDS_ON)])
    shop.keeping.prune(ALL, dry_run=False)
    assert left(shop) == {"pair0", "pair1", "pair2"}


def test_a_value_never_comes_back_because_its_successor_went(shop: Project, tell: Callable[..., Any]) -> None:
    tell(shop, old("first", "access token TTL: 3600"), old("later", "access token TTL: 900", days=700))
    shop.keeping.judge([Saying("first", Judgement.CONFIRM)])
    shop.keeping.prune(ALL, dry_run=False)
    assert left(shop) == {"first", "later"}


def test_a_size_lets_the_oldest_go_and_nothing_of_the_last_day(
    shop: Project, tell: Callable[..., Any]
) -> None:
    tell(shop, *(old(f"o{n:02}", days=60 - n) for n in range(50)), old("today", days=0.5))
    before = shop.keeping.prune(Rules(max_bytes=10**12))
    assert before.plan.numbers == ()
    half = shop.keeping.prune(Rules(max_bytes=before.size_before // 2))
    assert half.plan.numbers == tuple(range(1, len(half.plan.numbers) + 1))
    assert 20 <= len(half.plan.numbers) <= 30
    shop.keeping.prune(Rules(max_bytes=1), dry_run=False)
    assert left(shop) == {"today"}


def test_the_files_are_smaller_afterwards(
    memory: Memory, shop: Project, tell: Callable[..., Any], eventually: Callable[..., Any]
) -> None:
    folder = memory.home.project_folder(shop.id)
    words = "token session refresh login cart price order index cache queue " * 40
    tell(shop, *(old(f"o{n}", narrative=f"{n} {words}", days=800 if n < 900 else 5) for n in range(1000)))

    def size(name: str) -> int:
        return sum(path.stat().st_size for path in folder.glob(f"{name}*"))

    before = {name: size(name) for name in ("journal.db", "derived.db")}
    pruned = shop.keeping.prune(ALL, dry_run=False)
    assert pruned.remark is None
    assert len(pruned.plan.numbers) == 900
    eventually(lambda: all(size(name) < before[name] / 2 for name in before))
    assert shop.stats().observations == 100


def test_a_file_of_before_is_made_smaller_too(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    plain = sqlite3.connect(path)
    plain.executescript("CREATE TABLE note (text TEXT); PRAGMA user_version = 1")
    plain.executemany("INSERT INTO note VALUES (?)", [("x" * 1000,) for _ in range(2000)])
    plain.commit()
    plain.close()
    database = Database(path, ("",), Durability.FULL)
    with database.write() as connection:
        connection.execute("DELETE FROM note WHERE rowid > 10")
    assert database.give_back()
    assert database.size_bytes() < 100_000
    assert database.sound()
    database.close()


def test_giving_back_ends_when_told_to_and_goes_on_later(tmp_path: Path) -> None:
    database = Database(tmp_path / "notes.db", ("CREATE TABLE note (text TEXT)",), Durability.FULL)
    with database.write() as connection:
        connection.executemany("INSERT INTO note VALUES (?)", [("x" * 1000,) for _ in range(8000)])
    with database.write() as connection:
        connection.execute("DELETE FROM note")
    steps = iter((True, False))
    assert not database.give_back(lambda: next(steps))
    between = database.size_bytes()
    assert database.give_back()
    assert 0 < database.size_bytes() < between
    assert database.sound()
    database.close()


def test_a_pruning_that_is_stopped_keeps_what_was_done(shop: Project, tell: Callable[..., Any]) -> None:
    tell(shop, *(old(f"o{n}") for n in range(5)))
    stop = threading.Event()
    stop.set()
    pruned = shop.keeping.prune(ALL, dry_run=False, stop=stop)
    assert pruned.remark is not None
    assert "go on" in pruned.remark
    assert len(left(shop)) == 5


def test_two_prunings_at_once_are_refused(shop: Project, tell: Callable[..., Any]) -> None:
    tell(shop, old("a"))
    faults: list[Exception] = []

    def again(done: int, total: int) -> None:
        try:
            shop.keeping.prune(ALL)
        except UnavailableError as fault:
            faults.append(fault)

    shop.keeping.prune(ALL, dry_run=False, progress=again)
    assert len(faults) == 1


@pytest.mark.parametrize(
    "rules",
    [
        Rules({PieceKind.DECISION: 10.0}),
        Rules({PieceKind.HISTORY: 0.0}),
        Rules({PieceKind.HISTORY: float("nan")}),
        Rules({PieceKind.HISTORY: -1.0}),
        Rules(max_bytes=0),
    ],
)
def test_rules_that_make_no_sense_are_refused(shop: Project, rules: Rules) -> None:
    with pytest.raises(InvalidInputError):
        shop.keeping.prune(rules)


def test_a_disk_that_takes_no_more_leaves_the_file_whole(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
from pathlib import Path
from graphmem.database import Database, Durability
from graphmem.errors import StorageError
database = Database(Path(sys.argv[1]), ("CREATE TABLE note (text TEXT)",), Durability.FULL)
with database.write() as connection:
    connection.executemany("INSERT INTO note VALUES (?)", [("x" * 1000,) for _ in range(4000)])
with database.write() as connection:
    connection.execute("DELETE FROM note WHERE rowid % 9 != 0")
database.empty_log()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
try:
    database.give_back()
except StorageError as fault:
    print(str(fault).startswith("The disk that holds"))
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
before = database.size_bytes()
print(database.sound(), database.give_back(), database.size_bytes() < before / 4, database.sound())
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "notes.db")],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.split() == ["True"] * 5, done.stderr
