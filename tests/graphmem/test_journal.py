"""The truth of a project: stored once, durable, forgotten without a trace; cursors stand with their batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.database import NewerFormatError
from graphmem.errors import NotFoundError, StorageError
from graphmem.journal import Head, Journal, Removal, Stored
from graphmem.model import Fact, Observation


def observation(id: str, title: str = "", at: float = 1.0) -> Observation:
    return Observation(id=id, session="s", at=at, title=title or id)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal.db")
    yield made
    made.close()


def test_what_was_stored_comes_back_whole(journal: Journal) -> None:
    whole = Observation(id="a", session="s", at=1.25, facts=(Fact("支付 fact"),), files_modified=("模块.py",))
    assert journal.append([whole], 2.0) == [Stored.INSERTED]
    assert journal.get("a") == whole


def test_an_id_is_stored_once_and_the_first_one_stays(journal: Journal) -> None:
    first, second = observation("a", "first"), observation("a", "second")
    assert journal.append([first, second], 1.0) == [Stored.INSERTED, Stored.KNOWN]
    assert journal.append([second, observation("b")], 2.0) == [Stored.KNOWN, Stored.INSERTED]
    assert journal.get("a").title == "first"
    assert journal.count() == 2


def test_entries_are_numbered_in_order_of_arrival(journal: Journal) -> None:
    journal.append([observation("late", at=9.0), observation("early", at=1.0)], 1.0)
    journal.append([observation("middle", at=5.0)], 1.0)
    entries = journal.entries_after(0, 10)
    assert [(entry.seq, entry.observation.id) for entry in entries] == [
        (1, "late"),
        (2, "early"),
        (3, "middle"),
    ]
    assert [entry.seq for entry in journal.entries_after(1, 1)] == [2]
    assert list(journal.numbered([3, 1, 7])) == [3, 1]
    assert journal.head() == Head(3, 0)


def test_what_is_forgotten_stays_taken(journal: Journal) -> None:
    journal.append([observation("a"), observation("b")], 1.0)
    journal.forget("b", 2.0)
    assert journal.append([observation("b", "again")], 3.0) == [Stored.KNOWN]
    with pytest.raises(NotFoundError, match="no observation 'b'; list them"):
        journal.get("b")
    with pytest.raises(NotFoundError):
        journal.forget("b", 4.0)
    assert journal.count() == 1
    assert (journal.head(), journal.written()) == (Head(1, 1), Head(2, 1))
    assert journal.removals_after(0) == [Removal(1, 2)]
    assert [entry.seq for entry in journal.entries_after(0, 10)] == [1]


def test_a_number_is_never_given_twice(journal: Journal) -> None:
    journal.append([observation("a")], 1.0)
    journal.forget("a", 2.0)
    journal.append([observation("b")], 3.0)
    assert [entry.seq for entry in journal.entries_after(0, 10)] == [2]


def test_a_cursor_stands_or_falls_with_its_batch(journal: Journal) -> None:
    assert journal.cursor("git:/r") is None
    journal.append([observation("a")], 1.0, ("git:/r", "one"))
    assert journal.cursor("git:/r") == "one"
    broken = Observation(id="b", session="s", at=1.0, title="\ud800")
    with pytest.raises(UnicodeEncodeError):
        journal.append([observation("c"), broken], 1.0, ("git:/r", "two"))
    assert (journal.cursor("git:/r"), journal.count()) == ("one", 1)
    assert journal.cursor("git:/other") is None


def test_sightings_are_kept_until_they_no_longer_count(journal: Journal) -> None:
    journal.append([], 1.0, sighted=["a", "b", "a"])
    journal.append([], 2.0, sighted=["b", "c"])
    assert journal.sighted(["a", "b", "c", "d"]) == {"a", "b", "c"}
    journal.append([], 3.0, unsighted=["a", "d"])
    assert journal.sighted(["a", "b"]) == {"b"}


def test_settings_are_kept(journal: Journal) -> None:
    assert journal.setting("key") is None
    journal.set_setting("key", "one")
    journal.set_setting("key", "two")
    assert journal.setting("key") == "two"


def test_the_last_checkpoint_of_a_name_is_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db")
    assert journal.checkpoint("modules") is None
    journal.set_checkpoint("modules", 1.5, "first")
    journal.set_checkpoint("modules", 2.5, "第二")
    journal.set_checkpoint("other", 9.0, "")
    journal.close()
    again = Journal(tmp_path / "journal.db")
    assert again.checkpoint("modules") == (2.5, "第二")
    assert again.checkpoint("other") == (9.0, "")
    again.close()


def test_everything_survives_being_closed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db")
    journal.append([observation("a"), observation("b")], 1.0, ("git:/r", "one"), sighted=["x"])
    journal.forget("b", 2.0)
    identity = journal.identity()
    journal.close()
    again = Journal(tmp_path / "journal.db")
    assert (again.get("a").title, again.cursor("git:/r"), again.sighted(["x"])) == ("a", "one", {"x"})
    assert (again.written(), again.identity()) == (Head(2, 1), identity)
    again.close()
    other = Journal(tmp_path / "other.db")
    assert other.identity() != identity
    other.close()


def test_a_forgotten_text_is_in_no_byte_of_the_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.db")
    words = [f"zebrafish{number} " * 300 for number in range(20)]
    journal.append([observation(f"id{n}", text) for n, text in enumerate(words)], 1.0, sighted=["quagga.py"])
    journal.append([observation("kept", "wombat " * 300)], 1.0)
    for number in range(20):
        journal.forget(f"id{number}", 2.0, ["quagga.py"])
    for file in sorted(tmp_path.iterdir()):
        content = file.read_bytes()
        assert b"zebrafish" not in content, file.name
        assert b"quagga" not in content, file.name
    journal.close()
    assert [file.name for file in tmp_path.iterdir()] == ["journal.db"]
    assert b"zebrafish" not in (tmp_path / "journal.db").read_bytes()
    assert b"wombat" in (tmp_path / "journal.db").read_bytes()


def test_a_journal_of_a_newer_version_is_refused_in_one_sentence(tmp_path: Path) -> None:
    Journal(tmp_path / "journal.db").close()
    raw = sqlite3.connect(tmp_path / "journal.db")
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(NewerFormatError, match=r"journal\.db was written by a newer GraphMem .*install"):
        Journal(tmp_path / "journal.db")


def test_a_damaged_journal_is_said_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "journal.db").write_bytes(b"\x00damaged\xff" * 1_000)
    before = (tmp_path / "journal.db").read_bytes()
    with pytest.raises(StorageError, match=r"journal\.db is damaged .*restore it from a backup"):
        Journal(tmp_path / "journal.db")
    assert (tmp_path / "journal.db").read_bytes() == before


steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(st.sampled_from("abcdef"), max_size=5)),
        st.tuples(st.just("forget"), st.sampled_from("abcdef").map(list)),
    ),
    max_size=15,
)


@settings(max_examples=60)
@given(steps)
def test_ids_are_new_once_whatever_happens(story: list[tuple[str, list[str]]]) -> None:
    journal = Journal(None)
    ever: set[str] = set()
    living: set[str] = set()
    for step, ids in story:
        if step == "append":
            outcome = journal.append([observation(id) for id in ids], 1.0)
            for id, stored in zip(ids, outcome, strict=True):
                assert (stored is Stored.INSERTED) == (id not in ever)
                living |= {id} - ever
                ever.add(id)
        elif ids[0] in living:
            journal.forget(ids[0], 1.0)
            living.discard(ids[0])
        else:
            with pytest.raises(NotFoundError):
                journal.forget(ids[0], 1.0)
        assert journal.count() == len(living)
        assert {entry.observation.id for entry in journal.entries_after(0, 100)} == living
    journal.close()
