"""What live capture keeps in the journal: events once, open turns, notes; each batch whole or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.captured import Batch, Captured, HelpCounts, NoteRow, NoteState, Outcome, Shown
from graphmem.database import Database, Durability
from graphmem.entries import Stored
from graphmem.events import Moment
from graphmem.journal import MIGRATIONS, Entry, Head, Journal
from graphmem.model import Observation
from graphmem.record import encode

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal(tmp_path / "journal.db")
    yield made
    made.close()


@pytest.fixture
def captured(journal: Journal) -> Captured:
    return journal.captured


def work(id: str, title: str = "Work", **more: Any) -> Observation:
    return Observation(id=id, session="s", at=1.0, title=title, **more)


def note(id: str, path: str, *named: str, at: float = 1.0, session: str = "s", turn: str = "t") -> NoteRow:
    return NoteRow(id, at, session, turn, Moment.READ, path, named, 100)


# ---- events, turns, sessions ---------------------------------------------------------------------


def test_a_key_is_known_from_the_batch_on_that_it_came_in(captured: Captured) -> None:
    assert captured.known(["call:1", "call:2"]) == set()
    captured.settle(Batch(keys=["call:1", "prompt:支付"]), 1.0)
    captured.settle(Batch(keys=["call:1"]), 2.0)
    assert captured.known(["call:1", "call:2", "prompt:支付", "\ud800"]) == {"call:1", "prompt:支付"}


@settings(max_examples=30)
@given(st.sets(st.text(max_size=20), max_size=30), st.sets(st.text(max_size=20), max_size=30))
def test_exactly_the_keys_that_came_in_are_known(first: set[str], others: set[str]) -> None:
    journal = Journal(None)
    journal.captured.settle(Batch(keys=sorted(first)), 1.0)
    assert journal.captured.known(first | others) == first
    journal.close()


def test_more_keys_than_a_statement_takes_are_told_apart(captured: Captured) -> None:
    captured.settle(Batch(keys=[f"call:{number}" for number in range(3_000)]), 1.0)
    assert captured.known(f"call:{number}" for number in range(2_000, 5_000)) == {
        f"call:{number}" for number in range(2_000, 3_000)
    }


def test_an_open_turn_is_kept_until_it_is_over(captured: Captured) -> None:
    captured.settle(Batch(turns={"a": "one", "b": "two"}), 1.0)
    captured.settle(Batch(turns={"a": "three"}), 2.0)
    assert captured.turns() == {"a": "three", "b": "two"}
    captured.settle(Batch(turns={"a": None, "c": None}), 3.0)
    assert captured.turns() == {"b": "two"}


def test_a_session_that_began_afresh_is_remembered(captured: Captured) -> None:
    captured.settle(Batch(begun=["new"]), 1.0)
    captured.settle(Batch(begun=["new"]), 2.0)
    assert captured.began_afresh("new")
    assert not captured.began_afresh("resumed")


def test_what_was_redacted_is_counted_by_kind(captured: Captured) -> None:
    captured.add_redactions({"token": 2})
    captured.add_redactions({})
    captured.settle(Batch(redacted={"token": 1, "card number": 4}), 1.0)
    assert captured.redactions() == {"card number": 4, "token": 3}


def test_sightings_come_in_with_the_batch(journal: Journal) -> None:
    journal.captured.settle(Batch(), 1.0, sighted=["a.py", "b.py"])
    journal.captured.settle(Batch(), 2.0, unsighted=["b.py"])
    assert journal.sighted(["a.py", "b.py"]) == {"a.py"}


def test_capture_is_switched_off_by_session_and_by_project(captured: Captured) -> None:
    assert captured.captures("one")
    captured.set_capturing(False, "one")
    assert (captured.captures("one"), captured.captures("other")) == (False, True)
    captured.set_capturing(False)
    captured.set_capturing(True, "one")
    assert (captured.captures("one"), captured.captures("other")) == (False, False)
    captured.set_capturing(True)
    assert (captured.captures("one"), captured.captures("other")) == (True, True)


# ---- observations --------------------------------------------------------------------------------


def test_a_provisional_observation_gives_way_until_it_is_final(journal: Journal) -> None:
    tell = journal.captured.settle
    assert tell(Batch(observations=[work("a", "one", provisional=True)]), 1.0) == [Stored.INSERTED]
    assert tell(Batch(observations=[work("a", "two", provisional=True)]), 2.0) == [Stored.REVISED]
    assert tell(Batch(observations=[work("a", "three")]), 3.0) == [Stored.REVISED]
    assert tell(Batch(observations=[work("a", "four")]), 4.0) == [Stored.KNOWN]
    assert journal.get("a") == work("a", "three")
    assert journal.count() == 1


def test_the_same_content_again_writes_nothing(journal: Journal) -> None:
    batch = Batch(observations=[work("a", provisional=True)])
    journal.captured.settle(batch, 1.0)
    before = journal.head(), journal.written()
    assert journal.captured.settle(batch, 2.0) == [Stored.KNOWN]
    assert (journal.head(), journal.written()) == before


def test_a_final_part_of_a_turn_is_completed_by_a_differing_one_alone(journal: Journal) -> None:
    tell = journal.captured.settle
    tell(Batch(observations=[work("a", turn="t"), work("b")]), 1.0)
    later = [work("a", turn="t"), work("a", narrative="The answer.", turn="t"), work("b", narrative="x")]
    assert tell(Batch(observations=later), 2.0) == [Stored.KNOWN, Stored.REVISED, Stored.KNOWN]
    assert journal.get("a").narrative == "The answer."


def test_what_is_forgotten_never_comes_back_by_being_told_anew(journal: Journal) -> None:
    journal.captured.settle(Batch(observations=[work("a", provisional=True)]), 1.0)
    journal.forget("a", 2.0)
    told = [work("a", "again", turn="t", provisional=True)]
    assert journal.captured.settle(Batch(observations=told), 3.0) == [Stored.KNOWN]
    assert (journal.count(), journal.entries_after(0, 10)) == (0, [])


def test_other_writers_leave_a_provisional_observation_alone(journal: Journal) -> None:
    journal.captured.settle(Batch(observations=[work("a", provisional=True)]), 1.0)
    assert journal.append([work("a", "other")], 2.0) == [Stored.KNOWN]
    assert journal.get("a").title == "Work"


def test_what_is_told_anew_keeps_its_number_and_is_followed_again(journal: Journal) -> None:
    journal.captured.settle(Batch(observations=[work("a", "one", provisional=True), work("b")]), 1.0)
    assert journal.written() == Head(2, 0)
    journal.captured.settle(Batch(observations=[work("a", "two")]), 2.0)
    assert journal.entries_after(2, 10) == [Entry(1, work("a", "two"), 3)]
    assert [entry.seq for entry in journal.entries_after(0, 10)] == [2, 1]
    assert journal.head() == journal.written() == Head(3, 0)
    journal.forget("a", 3.0)
    assert (journal.count(), journal.head(), journal.written()) == (1, Head(2, 1), Head(3, 1))
    journal.append([work("c")], 4.0)
    assert journal.entries_after(3, 10) == [Entry(3, work("c"), 4)]


def test_forgetting_erases_what_was_told_before_too(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "forgetful.db")
    for number in range(20):
        told = work("a", f"Zebrafish {number}", narrative="zebrafish " * 50 * number, provisional=True)
        body = json.dumps({"prompt": f"Zebrafish {number}"})
        journal.captured.settle(Batch(observations=[told], turns={"s": body}), 1.0)
    given = [note("n1", "zebrafish.py", "b.py"), note("n2", "b.py", "zebrafish.py")]
    journal.captured.settle(Batch(notes=given), 2.0)
    journal.forget("a", 3.0, unseen=["zebrafish.py"])
    assert journal.captured.turns() == {}
    assert [state.note for state in journal.captured.notes()] == [note("n2", "b.py")]
    journal.close()
    assert b"zebrafish" not in (tmp_path / "forgetful.db").read_bytes().lower()


# ---- notes ---------------------------------------------------------------------------------------


def test_what_is_told_of_a_note_adds_up(captured: Captured) -> None:
    given = note("n1", "a.py", "b.py", "c.py")
    captured.settle(Batch(notes=[given, note("n2", "b.py", session="other")]), 1.0)
    captured.settle(Batch(notes=[note("n1", "z.py")], outcomes=[Outcome("n1", opened=("b.py", "x.py"))]), 2.0)
    captured.settle(Batch(outcomes=[Outcome("n1", changed=("c.py",), unnamed=("d.py",)), Outcome("no")]), 3.0)
    assert captured.notes("s") == [NoteState(given, ("b.py",), ("c.py",), missed=True)]
    assert [state.note.id for state in captured.notes()] == ["n2", "n1"]
    assert [state.note.id for state in captured.notes(limit=1)] == ["n2"]


def test_a_note_given_and_taken_up_in_one_batch_counts(captured: Captured) -> None:
    captured.settle(Batch(notes=[note("n", "a.py", "b.py")], outcomes=[Outcome("n", changed=("b.py",))]), 1.0)
    assert captured.shown("a.py", None) == {"b.py": Shown(1, 1)}


def test_help_is_counted_by_note_and_misses_by_turn(captured: Captured) -> None:
    assert captured.help_counts() == HelpCounts()
    notes = [
        note("n1", "a.py", "b.py", "c.py"),
        note("n2", "b.py", "c.py"),
        note("n3", "c.py", "a.py", turn="u"),
        note("n4", "d.py"),
    ]
    outcomes = [
        Outcome("n1", opened=("b.py", "c.py"), changed=("b.py",), unnamed=("x.py",)),
        Outcome("n2", opened=("c.py",), unnamed=("x.py", "y.py")),
        Outcome("n3", opened=("elsewhere.py",), unnamed=("x.py",)),
    ]
    captured.settle(Batch(notes=notes, outcomes=outcomes), 1.0)
    assert captured.help_counts() == HelpCounts(given=4, bytes=400, opened=2, changed=1, helped=2, missed=2)


def test_how_often_a_file_was_named_and_taken_up_is_known_for_every_moment(captured: Captured) -> None:
    notes = [note("n1", "a.py", "b.py", "c.py", at=10.0), note("n2", "a.py", "b.py", at=20.0)]
    captured.settle(Batch(notes=[*notes, note("n3", "z.py", "b.py", at=10.0)]), 30.0)
    taken = [Outcome("n1", opened=("b.py",), at=15.0), Outcome("n1", changed=("b.py",), at=12.0)]
    captured.settle(Batch(outcomes=[*taken, Outcome("n2", changed=("b.py",))]), 40.0)
    assert captured.shown("a.py") == {"b.py": Shown(2, 2), "c.py": Shown(1, 0)}
    assert captured.shown("a.py", 25.0) == {"b.py": Shown(2, 1), "c.py": Shown(1, 0)}
    assert captured.shown("a.py", 11.0) == {"b.py": Shown(1, 0), "c.py": Shown(1, 0)}
    assert captured.shown("a.py", 9.0) == captured.shown("b.py") == {}


# ---- older files, and the end of a process -------------------------------------------------------


def test_an_older_journal_is_lifted_when_it_is_opened(tmp_path: Path) -> None:
    old = Database(tmp_path / "journal.db", MIGRATIONS[:2], Durability.FULL)
    with old.write() as connection:
        for number in range(1, 4):
            row = (f"o{number}", float(number), encode(work(f"o{number}")))
            connection.execute("INSERT INTO observation (id, at, received_at, body) VALUES (?, ?, 0, ?)", row)
        connection.execute("UPDATE observation SET body = NULL WHERE seq = 2")
        connection.execute("INSERT INTO removal (seq, at) VALUES (2, 1.0)")
    old.close()
    journal = Journal(tmp_path / "journal.db")
    assert [(entry.seq, entry.told) for entry in journal.entries_after(0, 10)] == [(1, 1), (3, 3)]
    assert (journal.count(), journal.head(), journal.written()) == (2, Head(3, 1), Head(3, 1))
    told = [work("o2", turn="t"), work("o4", provisional=True)]
    assert journal.captured.settle(Batch(keys=["k"], observations=told), 2.0) == [
        Stored.KNOWN,
        Stored.INSERTED,
    ]
    assert [(entry.seq, entry.told) for entry in journal.entries_after(3, 10)] == [(4, 4)]
    journal.close()


def test_a_batch_that_cannot_be_stored_leaves_nothing(journal: Journal) -> None:
    broken = work("b", title="\ud800")
    batch = Batch(keys=["k"], observations=[work("a"), broken], turns={"s": "open"}, redacted={"token": 1})
    with pytest.raises(UnicodeEncodeError):
        journal.captured.settle(batch, 1.0)
    assert journal.count() == 0
    assert journal.captured.known(["k"]) == set()
    assert (journal.captured.turns(), journal.captured.redactions()) == ({}, {})


SETTLING = """
import sys
from pathlib import Path
from graphmem.captured import Batch, NoteRow, Outcome
from graphmem.events import Moment
from graphmem.journal import Journal
from graphmem.model import Observation

def batch(number):
    turn, part = divmod(number, 4)
    told = Observation(id=f"o{turn}", session="s", at=float(number), title=f"telling {part}",
                       files_modified=tuple(f"f{n}.py" for n in range(part + 1)), turn=f"t{turn}",
                       provisional=part < 3)
    note = NoteRow(f"n{number}", float(number), "s", f"t{turn}", Moment.READ, "a.py", ("b.py",), 10)
    return Batch(keys=[f"{number}:one", f"{number}:two"], observations=[told],
                 turns={"s": str(number)}, notes=[note], outcomes=[Outcome(note.id, changed=("b.py",))],
                 redacted={"token": 1})

journal = Journal(Path(sys.argv[1]))
for number in range(int(sys.argv[2]), 1_000_000):
    if not journal.captured.known(batch(number).keys):
        journal.captured.settle(batch(number), 0.0)
    print(number, flush=True)
"""


def settle_until_killed(path: Path, first: int, after: int) -> int:
    """Settle new batches in a process of its own, kill it after so many; return the last it acknowledged."""
    command = [sys.executable, "-c", SETTLING, str(path), str(first)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(after):
            process.stdout.readline()
        process.kill()
        told = process.stdout.read().split("\n")
    return max([first + after - 1, *(int(line) for line in told[:-1] if line)])


def test_a_killed_process_leaves_every_batch_whole_or_absent(tmp_path: Path) -> None:
    path, first = tmp_path / "journal.db", 0
    for after in (3, 41, 10, 26):
        acknowledged = settle_until_killed(path, first, after)
        journal = Journal(path)
        captured = journal.captured
        done = len(captured.notes(limit=1_000_000))
        assert done in (acknowledged + 1, acknowledged + 2), "none is lost, only one was under way"
        keys = [f"{number}:{which}" for number in range(done + 10) for which in ("one", "two")]
        assert captured.known(keys) == set(keys[: 2 * done])
        assert captured.turns() == {"s": str(done - 1)}
        assert captured.redactions() == {"token": done}
        assert captured.help_counts().helped == done
        entries = {entry.observation.id: entry.observation for entry in journal.entries_after(0, 1_000_000)}
        assert len(entries) == journal.count() == (done + 3) // 4
        for number in range(0, done, 4):
            last = min(number + 3, done - 1)
            assert entries[f"o{number // 4}"].at == float(last)
        journal.close()
        # As if the last acknowledgements had been lost: these come again.
        first = max(0, done - 6)
