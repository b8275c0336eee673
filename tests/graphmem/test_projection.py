"""From the journal into derived.db: everything found, a watermark, and nothing left of what is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Fact, Observation, Rename
from graphmem.projection import Watermark, applied, catch_up, mentions_of, watermark
from graphmem.record import storable
from inference.lineage import Change, Mention

WORDS = "Zebrafish"
NOISY = [
    "moved POST /api/v1/ to /v2",
    "GET //////?x=%%%",
    "table \u0000 -> table",
    "a" * 3_000,
    "支付" * 1_000,
    "((((((" * 200,
    "event.event.event..event replaced by event",
    "\u202e\u200b\ufeff🧪\U000e0041",
    "v1 v2 v99999999999999999999 /v1/v2/v3",
    "ENV_VAR=1 export FOO_BAR settings.x.y.z",
]


OPENED: list[Journal | Database] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close what a test opened, however many examples it tried."""
    yield
    while OPENED:
        OPENED.pop().close()


def in_memory() -> tuple[Journal, Database]:
    OPENED.extend(pair := (Journal(None), open_derived(None)))
    return pair


def secretive(id: str) -> Observation:
    """An observation whose every field holds a word that nothing else has."""
    return Observation(
        id=id,
        session=f"{WORDS}-session",
        at=5.0,
        source=f"{WORDS}-source",
        actor=f"{WORDS}-actor",
        branch=f"{WORDS}-branch",
        type=f"{WORDS}-type",
        title=f"{WORDS} title",
        intent=f"{WORDS} intent",
        narrative=f"uses POST /api/{WORDS}/login and {WORDS}Service" * 50,
        facts=(Fact(f"{WORDS} fact"),),
        concepts=(f"{WORDS}-concept",),
        files_read=(f"src/{WORDS}/read.py",),
        files_modified=(f"src/{WORDS}/modified.py", "src/shared.py"),
        files_added=(f"src/{WORDS}/modified.py",),
        files_deleted=(f"src/{WORDS}/deleted.py",),
        renames=(Rename(f"src/{WORDS}/old.py", "src/new.py"),),
        reference=f"{WORDS}-reference",
        notes=(f"{WORDS} note",),
    )


def plain(id: str, *files: str, at: float = 1.0) -> Observation:
    return Observation(
        id=id, session="s", at=at, title="Plain work", files_modified=files or ("src/shared.py",)
    )


def count(database: Database, query: str) -> int:
    with database.read() as connection:
        return int(connection.execute(query).fetchone()[0])


@pytest.mark.parametrize("before", [True, False])
def test_what_is_forgotten_leaves_no_word_in_any_file(tmp_path: Path, before: bool) -> None:
    journal = Journal(tmp_path / "journal.db")
    database = open_derived(tmp_path / "derived.db")
    journal.append([plain(f"o{n}", f"src/{n}.py", "src/shared.py") for n in range(30)], 1.0)
    journal.append([secretive(f"secret-{n}") for n in range(3)], 1.0)
    if before:
        catch_up(journal, database)
        assert count(database, "SELECT COUNT(*) FROM text WHERE text MATCH 'zebrafish'") == 3
    for number in range(3):
        journal.forget(f"secret-{number}", 2.0)
    catch_up(journal, database)
    journal.close()
    database.close()
    left = {file.name: file.read_bytes().lower() for file in tmp_path.iterdir()}
    assert set(left) == {"journal.db", "derived.db"}
    for name, content in left.items():
        assert WORDS.lower().encode() not in content, name
        assert b"shared.py" in content, name


def test_what_only_the_forgotten_named_is_no_longer_there() -> None:
    journal, database = in_memory()
    journal.append([plain("o1"), secretive("gone")], 1.0)
    catch_up(journal, database)
    journal.forget("gone", 2.0)
    catch_up(journal, database)
    for table in ("session", "actor", "file", "path", "kin", "observation", "text"):
        assert count(database, f"SELECT COUNT(*) FROM {table}") == 1, table
    assert count(database, "SELECT COUNT(*) FROM contract") == 0
    assert count(database, "SELECT MIN(uses) FROM concept") == 1
    assert count(database, "SELECT value FROM meta WHERE key = 'observations'") == 1


def test_the_watermark_counts_entries_and_removals() -> None:
    journal, database = in_memory()
    assert watermark(database) == Watermark(0, 0)
    journal.append([plain(f"o{n}") for n in range(3)], 1.0)
    journal.forget("o1", 2.0)
    assert catch_up(journal, database)
    assert watermark(database) == Watermark(3, 1)
    assert not catch_up(journal, database), "nothing is carried over twice"
    with database.read() as connection:
        assert applied(connection) == 2, "what was forgotten before it was seen never gets there"


def test_a_stop_ends_between_batches_and_the_next_run_goes_on() -> None:
    journal, database = in_memory()
    journal.append([plain(f"o{n}", f"{n}.py") for n in range(1_200)], 1.0)
    done: list[int] = []
    catch_up(journal, database, done.append, lambda: len(done) == 1)
    assert sum(done) == watermark(database).entries < 1_200
    catch_up(journal, database, done.append)
    assert sum(done) == count(database, "SELECT COUNT(*) FROM observation") == 1_200


def test_a_path_is_mentioned_once_and_by_what_was_done_to_it() -> None:
    observation = Observation(
        id="o",
        session="s",
        at=1.0,
        files_read=("m", "d", "n", "r"),
        files_modified=("m", "a"),
        files_added=("a",),
        files_deleted=("d",),
        renames=(Rename("o", "n"),),
    )
    assert mentions_of(observation) == [
        Mention(Change.RENAMED, "n", "o"),
        Mention(Change.DELETED, "d"),
        Mention(Change.MODIFIED, "m"),
        Mention(Change.ADDED, "a"),
        Mention(Change.READ, "r"),
    ]


@pytest.mark.parametrize(
    ("files", "type", "pairs"), [(100, "change", 1), (101, "change", 0), (2, "snapshot", 0)]
)
def test_bulk_and_snapshots_are_kept_and_link_nothing(files: int, type: str, pairs: int) -> None:
    journal, database = in_memory()
    names = tuple(f"src/{n}.py" for n in range(files))
    journal.append([Observation(id="o", session="s", at=1.0, type=type, files_modified=names)], 1.0)
    catch_up(journal, database)
    with database.read() as connection:
        assert connection.execute("SELECT size, pairs FROM observation").fetchone() == (files, pairs)


@settings(max_examples=60)
@given(st.lists(st.text(max_size=60), min_size=6, max_size=6), st.sampled_from(NOISY))
def test_no_text_whatever_stops_the_following(texts: list[str], noise: str) -> None:
    title, narrative, fact, concept, path, other = (storable(text) or "x" for text in texts)
    odd = Observation(
        id="odd",
        session=concept,
        at=1.0,
        title=f"{title} {noise}",
        narrative=f"{noise}{narrative}",
        facts=(Fact(fact + noise),),
        concepts=(concept, noise),
        files_read=(path,),
        files_modified=(f"{path}/{other}",),
        renames=(Rename(f"{other}.old", f"{path}.new"),),
    )
    journal, database = Journal(None), open_derived(None)
    journal.append([odd, plain("o1")], 1.0)
    assert catch_up(journal, database)
    journal.forget("odd", 2.0)
    catch_up(journal, database)
    assert count(database, "SELECT COUNT(*) FROM observation") == 1
    journal.close()
    database.close()


def test_an_observation_of_the_greatest_size_is_taken() -> None:
    journal, database = in_memory()
    huge = Observation(
        id="o",
        session="s",
        at=1.0,
        title="模" * 21_845,
        narrative="token " * 10_922,
        facts=tuple(Fact(f"fact {n} " * 100) for n in range(200)),
        concepts=tuple(f"concept {n}" for n in range(200)),
        files_modified=tuple(f"src/{n}/模块.py" for n in range(2_000)),
    )
    journal.append([huge], 1.0)
    catch_up(journal, database)
    assert count(database, "SELECT COUNT(*) FROM file") == 2_000
    assert count(database, "SELECT COUNT(*) FROM text WHERE text MATCH '\"fact\"'") == 1
