"""What is worth telling before an edit: what makes a note, whom it names, and what keeps it silent."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import pytest

from graphmem.captured import Batch, NoteRow, Outcome
from graphmem.events import Moment
from graphmem.instant import DAY, HOUR
from graphmem.model import Fact, Observation
from graphmem.recall.alert import Alert, alert
from graphmem.recall.impact import impact
from graphmem.recall.predictor import ONE_SITTING
from graphmem.recall.surroundings import Question

NOW = 100 * DAY
DEPENDS = {"status": "confirmed", "relation": "depends_on", "direction": "forward"}


def work(number: int, *files: str, at: float | None = None, **more: Any) -> Observation:
    fields: dict[str, Any] = {"session": f"s{number}"} | more
    return Observation(id=f"o{number}", at=number * DAY if at is None else at, files_modified=files, **fields)


def together(*files: str, sessions: int = 12, **more: Any) -> list[Observation]:
    """Twelve occasions on the same files, in so many sessions."""
    fields = [{"session": f"s{day % sessions}"} | more for day in range(12)]
    return [work(day + 1, *files, **each) for day, each in enumerate(fields)]


def told(
    memory: Any, *paths: str, session: str | None = "mine", seen: Collection[str] = (), now: float = NOW
) -> Alert | None:
    with memory.view() as view:
        return alert(view, Question(paths, session), now, lambda _: set(), memory.journal, seen)


# ---- what makes a note -------------------------------------------------------------------------


def test_a_likely_companion_makes_a_note(recorded: Callable[..., Any]) -> None:
    found = told(recorded(*together("a.py", "b.py")), "a.py")
    assert found is not None
    assert (found.path, found.named, found.is_confirmed) == ("a.py", ("b.py",), False)
    assert 0.7 <= found.strongest < 1.0
    assert "- b.py " in found.text


def test_a_confirmed_dependent_makes_a_note(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a.py"), work(2, "b.py"))
    assert told(memory, "a.py") is None
    memory.edge("e1", "b.py", "a.py", probability=0.31, together=0, **DEPENDS)
    found = told(memory, "a.py")
    assert found is not None
    assert (found.named, found.strongest, found.is_confirmed) == (("b.py",), 0.31, True)
    assert told(memory, "b.py") is None, "what a file depends on need not follow it"


def test_another_session_at_this_file_makes_a_note_which_names_no_file(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a.py", at=NOW - 720, session="theirs", actor="codex"))
    found = told(memory, "a.py")
    assert found is not None
    assert found.text.split("\n")[1:-1] == [
        "At work in the last 2 hours:",
        "- codex (session theirs) on this file, 12 min ago",
        *found.text.split("\n")[3:-1],
    ]
    assert (found.named, found.strongest, found.is_confirmed) == ((), 0.0, False)


@pytest.mark.parametrize(
    "changed",
    [
        {"session": "mine"},
        {"at": NOW - 2 * HOUR - 1},
        {"reference": "1f3870be274f6c49b3e31a0c6728957f", "session": "ann@12"},
    ],
    ids=["it is the asking one", "it is over two hours ago", "it is a sitting of a history"],
)
def test_work_that_is_no_other_session_going_on_makes_none(
    recorded: Callable[..., Any], changed: dict[str, Any]
) -> None:
    item: dict[str, Any] = {"at": NOW - 720, "session": "theirs"} | changed
    assert told(recorded(work(1, "a.py", **item)), "a.py") is None


def test_who_asks_without_a_session_can_not_be_told_apart_from_others(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a.py", at=NOW - 720, session="perhaps-mine"))
    assert told(memory, "a.py", session=None) is None


def test_a_session_at_a_weak_neighbour_makes_none_at_a_strong_one_it_is_told(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(
        *together("a.py", "b.py"),
        work(20, "a.py", "weak.py"),
        work(30, "b.py", at=NOW - HOUR, session="on b"),
        work(31, "weak.py", at=NOW - HOUR, session="on weak"),
    )
    found = told(memory, "a.py")
    assert found is not None
    assert "(session on b)" not in found.text and 'session "on b" on b.py, 1 h ago' in found.text
    assert "weak.py" not in found.text
    assert told(memory, "weak.py", session="on weak") is None


def test_a_superseded_contract_that_work_on_the_file_used_makes_a_note(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        work(
            1,
            "src/checkout/session.ts",
            title="Checkout calls POST /api/v1/auth/refresh",
            concepts=("checkout",),
        ),
        work(2, "src/auth/routes.ts", facts=(Fact("POST /api/v1/auth/refresh moved to v2"),)),
        work(3, "src/auth/new.ts", facts=(Fact("Served at POST /api/v2/auth/refresh"),)),
    )
    found = told(memory, "src/checkout/session.ts")
    assert found is not None
    assert (
        '- "POST /api/v1/auth/refresh" (superseded by "POST /api/v2/auth/refresh"; used by checkout, '
        "last 1970-01-03)" in found.text
    )
    assert told(memory, "src/auth/routes.ts") is None, "it only said that the contract was replaced"
    assert told(memory, "src/auth/new.ts") is None, "it uses the new one"


def test_a_superseded_contract_makes_none_once_the_file_has_moved_on_or_the_contract_is_back(
    recorded: Callable[..., Any],
) -> None:
    old, new = "POST /auth/login", "POST /session/login"
    before = [
        work(1, "src/checkout/session.ts", title=f"Checkout calls {old}"),
        work(2, "src/auth/routes.ts", facts=(Fact(f"{old} moved to {new}"),)),
    ]
    moved = work(3, "src/checkout/session.ts", title=f"Checkout calls {new}")
    back = work(3, "src/auth/routes.ts", facts=(Fact(f"{new} moved to {old}"),))
    again = work(4, "src/checkout/session.ts", title=f"Checkout calls {old} again")
    for more, is_told in (([], True), ([moved], False), ([moved, again], True), ([back], False)):
        memory = recorded(*before, *more)
        assert (told(memory, "src/checkout/session.ts") is not None) is is_told, more


def test_contracts_and_domains_alone_make_none_and_stand_in_one_that_is_made(
    recorded: Callable[..., Any],
) -> None:
    use = {"title": "Checkout calls POST /api/v1/auth/refresh", "concepts": ("checkout",)}
    alone = recorded(work(99, "token.ts", **use))
    assert told(alone, "token.ts") is None
    found = told(recorded(*together("token.ts", "b.ts"), work(99, "token.ts", **use)), "token.ts")
    assert found is not None
    assert 'Contracts:\n- "POST /api/v1/auth/refresh" (used by checkout, last 1970-04-10)\n' in found.text
    assert "Sessions that touched it in 30 days, by domain: auth 1, checkout 1\n" in found.text
    order = [found.text.index(words) for words in ("Contracts", "Usually", "Sessions that", "More: ")]
    assert order == sorted(order)


def test_a_lock_file_alone_makes_none(recorded: Callable[..., Any]) -> None:
    assert told(recorded(*together("package.json", "package-lock.json")), "package.json") is None


def test_an_unknown_and_a_gone_file_are_silent(recorded: Callable[..., Any]) -> None:
    memory = recorded(*together("a.py", "b.py"), work(20, "c.py", files_deleted=("a.py",)))
    assert told(memory, "a.py") is None
    assert told(memory, "new.py") is None


# ---- what was seen already ---------------------------------------------------------------------


def test_what_the_session_has_seen_is_not_named(recorded: Callable[..., Any]) -> None:
    memory = recorded(*together("a.py", "b.py", "c.py"))
    both, one = told(memory, "a.py"), told(memory, "a.py", seen={"b.py"})
    assert both is not None and both.named == ("b.py", "c.py")
    assert one is not None and one.named == ("c.py",)
    assert "b.py" not in one.text
    assert told(memory, "a.py", seen={"b.py", "c.py"}) is None


def test_a_confirmed_dependent_that_was_seen_is_not_named_and_does_not_count(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(work(1, "a.py"), work(2, "b.py"), work(30, "b.py", at=NOW - HOUR, session="theirs"))
    memory.edge("e1", "b.py", "a.py", **DEPENDS)
    assert told(memory, "a.py") is not None
    assert told(memory, "a.py", seen=["b.py"]) is None


def test_what_the_asking_session_is_stored_to_have_read_is_marked_and_left_out(
    recorded: Callable[..., Any],
) -> None:
    read = work(40, at=NOW - HOUR, session="mine", files_read=("b.py",))
    memory = recorded(*together("a.py", "b.py"), read)
    with memory.view() as view:
        answers = [
            impact(view, Question(("a.py",), session), NOW, lambda _: set(), journal=memory.journal)
            for session in ("mine", "theirs", None)
        ]
    assert [[entry.read for entry in answer.affected] for answer in answers] == [[True], [False], [False]]
    assert [answer.warning is None for answer in answers] == [True, False, False]


def test_the_asked_file_may_be_seen_itself(recorded: Callable[..., Any]) -> None:
    memory = recorded(*together("a.py", "b.py"))
    assert told(memory, "a.py", seen=("a.py",)) == told(memory, "a.py")


def test_the_answer_and_the_alert_say_the_same(recorded: Callable[..., Any]) -> None:
    memory = recorded(*together("a.py", "b.py"), work(30, "b.py", at=NOW - HOUR, session="theirs"))
    memory.edge("e1", "b.py", "a.py", **DEPENDS)
    found = told(memory, "a.py")
    with memory.view() as view:
        answer = impact(view, Question(("a.py",), "mine"), NOW, lambda _: set(), journal=memory.journal)
    assert found is not None and answer.warning == found.text


# ---- how much evidence -------------------------------------------------------------------------


def test_what_one_session_alone_has_seen_is_not_named(recorded: Callable[..., Any]) -> None:
    assert told(recorded(*together("a.py", "b.py", sessions=1)), "a.py") is None
    assert told(recorded(*together("a.py", "b.py", sessions=2)), "a.py") is not None


def test_what_a_history_recorded_may_be_named_after_one_sitting_if_it_is_sure(
    recorded: Callable[..., Any],
) -> None:
    day = [
        work(n, "a.py", "b.py", at=90 * DAY + n, session="ann@1", reference=f"{n:040x}") for n in range(40)
    ]
    found = told(recorded(*day), "a.py")
    assert found is not None and found.named == ("b.py",)
    assert found.strongest >= ONE_SITTING
    assert "40 of 40 times, 1 session, " in found.text
    assert told(recorded(*day[:12]), "a.py") is None, "twelve in one sitting are not that sure"


# ---- what notes led to -------------------------------------------------------------------------


def test_how_notes_turned_out_moves_what_is_told(recorded: Callable[..., Any]) -> None:
    memory = recorded(*together("a.py", "b.py"))
    plain = told(memory, "a.py")
    assert plain is not None

    def after(count: int, *, taken: bool) -> float | None:
        notes = [
            NoteRow(f"{taken}-{n}", NOW, "s", f"t{n}", Moment.READ, "a.py", ("b.py",), 100)
            for n in range(count)
        ]
        outcomes = [Outcome(note.id, changed=("b.py",)) for note in notes if taken]
        memory.journal.captured.settle(Batch(notes=notes, outcomes=outcomes), NOW)
        found = told(memory, "a.py")
        return None if found is None else found.strongest

    assert after(0, taken=True) == plain.strongest
    assert after(20, taken=True) == pytest.approx((20 * plain.strongest + 20) / 40)
    assert after(60, taken=False) is None
    with memory.view(NOW - 1) as view:
        answer = impact(view, Question(("a.py",)), NOW, lambda _: set(), journal=memory.journal)
    assert answer.affected[0].probability == plain.strongest, "of a past moment nothing later counts"
