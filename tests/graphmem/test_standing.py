"""Whether what was recorded still holds: what takes a statement's place, and what never does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.supersession import is_replaced, read, tallied
from graphmem.derived import open_derived
from graphmem.instant import DAY, from_iso
from graphmem.journal import Journal
from graphmem.model import Fact, FactKind, Observation, Scope, TaskState
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.question import Layer, Standing
from graphmem.recall.standing import PieceStanding, standings

START = from_iso("2026-01-05T12:00:00Z")
CURRENT, SUPERSEDED, TENTATIVE = Standing.CURRENT, Standing.SUPERSEDED, Standing.TENTATIVE


def said(day: float, *facts: Fact | str, session: str = "", actor: str = "ann", **more: Any) -> Observation:
    stated = tuple(Fact(fact) if isinstance(fact, str) else fact for fact in facts)
    name = f"day {day:g}"
    values: dict[str, Any] = {"source": "claude-code", "actor": actor, "facts": stated} | more
    return Observation(id=name, session=session or name, at=START + day * DAY, **values)


def stand(memory: Any, day: float, ord: int = 0, as_of: float | None = None, **more: Any) -> PieceStanding:
    """How the piece of that day stands."""
    with memory.view(None if as_of is None else START + as_of * DAY) as view:
        query = "SELECT seq FROM observation WHERE id = ?"
        (seq,) = view.connection.execute(query, (f"day {day:g}",)).fetchone()
        return standings(view, [(seq, ord)], **more)[seq, ord]


# ---- the sets -----------------------------------------------------------------------------------


def test_the_first_set_comes_out_as_it_was_labelled() -> None:
    found = tallied("first")
    assert (found.precision, found.recall) == (1.0, 1.0)


def test_of_pairs_that_no_rule_has_seen_most_are_known_and_none_wrongly() -> None:
    found = tallied("third")
    assert found.wrong == []
    assert found.recall >= 0.65


@pytest.mark.parametrize("told_as", ["fact", "title"])
def test_nothing_is_retired_by_talk_by_others_or_by_what_is_only_planned(told_as: str) -> None:
    wrongly = [pair for pair in read("negative") if is_replaced(pair, told_as)]
    assert wrongly == []


# ---- one thing over time ------------------------------------------------------------------------


def test_what_moved_is_superseded_by_where_it_moved_to_and_still_held_in_january(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(said(0, "API base is /v1"), said(60, "API base moved to /v2"))
    now = stand(memory, 0)
    assert now.standing is SUPERSEDED
    assert now.successor is not None
    assert (now.successor.id, now.successor.text) == ("day 60", "API base moved to /v2")
    assert now.successor.at == START + 60 * DAY
    assert stand(memory, 60).standing is CURRENT
    assert stand(memory, 0, as_of=30).standing is CURRENT


def test_the_successor_is_what_holds_now_however_many_came_between(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        said(0, "search endpoint uses POST"),
        said(10, "search uses GET instead of POST"),
        said(20, "search is now QUERY instead of GET"),
        said(30, "搜索接口用 PUT 代替 GET"),
        said(40, "search uses PUT"),
    )
    successors = [stand(memory, day).successor for day in (0, 10)]
    assert [one and one.id for one in successors] == ["day 40", "day 40"]
    assert stand(memory, 30).standing is CURRENT
    assert stand(memory, 0, as_of=35).successor == stand(memory, 10, as_of=35).successor


def test_the_same_said_again_is_no_successor_and_what_came_back_holds(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        said(0, "The token TTL is 3600 seconds"),
        said(10, "token TTL: 900"),
        said(20, "The token TTL is 1 hour"),
    )
    assert [stand(memory, day).standing for day in (0, 10, 20)] == [CURRENT, SUPERSEDED, CURRENT]
    assert [stand(memory, day).repeated for day in (0, 10, 20)] == [True, False, False]
    assert stand(memory, 0, as_of=15).standing is SUPERSEDED


def test_what_is_no_longer_so_is_superseded_by_the_sentence_that_says_it(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(said(0, "Checkout uses Stripe"), said(9, "Checkout no longer uses Stripe"))
    found = stand(memory, 0)
    assert found.standing is SUPERSEDED
    assert found.successor is not None
    assert found.successor.text == "Checkout no longer uses Stripe"


def test_a_tentative_statement_takes_no_firm_ones_place_and_a_firm_one_takes_a_tentative_ones(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(
        said(0, "The dev port is 8000"),
        said(5, "Maybe the dev port is 8001"),
        said(6, "for now the admin port is 9000"),
        said(8, "The admin port is 9001"),
    )
    assert [stand(memory, day).standing for day in (0, 5, 6, 8)] == [CURRENT, TENTATIVE, SUPERSEDED, CURRENT]


def test_one_actors_taste_takes_the_place_of_that_actors_only(recorded: Callable[..., Any]) -> None:
    taste = Fact("I prefer tabs", FactKind.PREFERENCE, scope=Scope.ACTOR)
    memory = recorded(
        said(0, taste, actor="ann"),
        said(1, taste, actor="ben"),
        said(2, Fact("Indent with tabs", FactKind.CONVENTION)),
        said(9, Fact("I prefer spaces", FactKind.PREFERENCE, scope=Scope.ACTOR), actor="ann"),
    )
    assert [stand(memory, day).standing for day in (0, 1, 2)] == [SUPERSEDED, CURRENT, CURRENT]


def test_a_task_that_is_done_takes_the_place_of_the_open_one(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        said(0, Fact("Rotate the signing keys", FactKind.TASK, TaskState.OPEN)),
        said(5, Fact("Finished rotating the signing keys", FactKind.TASK, TaskState.DONE)),
    )
    assert [stand(memory, day).standing for day in (0, 5)] == [SUPERSEDED, CURRENT]
    assert stand(memory, 0, as_of=3).standing is CURRENT


def test_a_version_that_stands_beside_a_name_is_known_to_be_gone(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        said(0, "The app is built on Tauri 1.6", "The app is built on Rust 1.80"),
        said(5, "Tauri upgraded from 1.6 to 2.1"),
    )
    assert [stand(memory, 0, ord).standing for ord in (0, 1)] == [SUPERSEDED, CURRENT]


@pytest.mark.parametrize(
    ("others", "standing"),
    [((), SUPERSEDED), (("The mail API is on v1",), CURRENT), (("The mail port is 25",), SUPERSEDED)],
)
def test_moved_to_v2_is_about_the_only_thing_that_had_a_version(
    recorded: Callable[..., Any], others: tuple[str, ...], standing: Standing
) -> None:
    memory = recorded(said(0, "API base is /v1"), *(said(1, one) for one in others), said(30, "moved to /v2"))
    assert stand(memory, 0).standing is standing


@pytest.mark.parametrize(
    "update",
    [
        {"title": "API base", "facts": (Fact("moved to /v2"),)},
        {"title": "API base moved to /v2"},
        {"title": "Move the API base to /v2", "source": "git"},
        {"narrative": "The API base was /v1 for a year, now it is /v2. Clients were told."},
        {"facts": (Fact("Raised the API base from /v1 to /v2", FactKind.TASK, TaskState.DONE),)},
    ],
)
def test_a_change_is_known_wherever_an_observation_tells_it(
    recorded: Callable[..., Any], update: dict[str, Any]
) -> None:
    memory = recorded(said(0, "API base is /v1"), said(1, "The mail API is on v1"), said(30, **update))
    assert stand(memory, 0).standing is SUPERSEDED


# ---- titles and narratives ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "older",
    [
        {"title": "API base is /v1"},
        {"title": "API base is /v1", "narrative": "All clients know it."},
        {"narrative": "API base is /v1."},
        {"title": "API base", "narrative": "The API base is /v1"},
    ],
)
def test_an_observation_that_says_one_thing_is_superseded_as_a_whole(
    recorded: Callable[..., Any], older: dict[str, Any]
) -> None:
    memory = recorded(said(0, **older), said(30, "API base moved to /v2"))
    assert stand(memory, 0, -1).standing is SUPERSEDED
    assert stand(memory, 0, -1, as_of=20).standing is CURRENT


@pytest.mark.parametrize(
    "older",
    [
        {"title": "Rewrite the client", "narrative": "It retries now. The API base is /v1. Tests are green."},
        {"title": "Rewrite the client", "narrative": "The API base is /v1."},
        {"title": "API base is /v1", "narrative": "One. Two went well. Three went badly. Four is left."},
    ],
)
def test_a_longer_text_with_one_outdated_sentence_stands_and_is_flagged(
    recorded: Callable[..., Any], older: dict[str, Any]
) -> None:
    memory = recorded(said(0, **older), said(30, "API base moved to /v2"))
    found = stand(memory, 0, -1)
    assert (found.standing, found.successor) == (CURRENT, None)
    (outdated,) = found.outdated
    assert "/v1" in outdated.text
    assert outdated.successor.text == "API base moved to /v2"
    (flag,) = found.flags
    assert flag.startswith("outdated: ")
    assert "/v2" in flag


def test_a_commits_message_states_nothing_but_the_change_in_its_title(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        said(0, "API base is /v1", "The token TTL is 3600"),
        said(5, title="Fix typo", narrative="The API base is /v9.", source="git"),
        said(6, title="Lower the token TTL from 3600 to 900", source="git"),
    )
    assert [stand(memory, 0, ord).standing for ord in (0, 1)] == [CURRENT, SUPERSEDED]


# ---- how well settled ---------------------------------------------------------------------------


def test_what_two_sessions_state_or_somebody_confirmed_is_durable_and_the_last_week_working(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(
        said(0, "The API base is /v1", "Never log tokens", "A remark"),
        said(1, "API base: /v1", "never log tokens."),
        said(20, "The dev port is 8000"),
    )
    pieces = [stand(memory, *key) for key in ((0, 0), (0, 1), (0, 2), (20, 0))]
    assert [one.layer for one in pieces] == [Layer.DURABLE, Layer.DURABLE, None, Layer.WORKING]
    assert [one.sessions for one in pieces] == [2, 2, 1, 1]
    with memory.view() as view:
        (seq,) = view.connection.execute("SELECT seq FROM observation WHERE id = 'day 0'").fetchone()
    confirmed = stand(memory, 0, 2, confirmed={seq})
    assert (confirmed.layer, confirmed.confirmed) == (Layer.DURABLE, True)
    assert stand(memory, 20, now=START + 40 * DAY).layer is None
    early = stand(memory, 0, 0, as_of=0.5)
    assert (early.layer, early.sessions) == (Layer.WORKING, 1)


def test_one_session_that_repeats_itself_does_not_make_it_durable(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        said(0, "The API base is /v1", session="s"), said(9, "API base is /v1", session="s"), said(30)
    )
    assert stand(memory, 0).layer is None


# ---- whatever the order -------------------------------------------------------------------------

SENTENCES = (
    "API base is /v1", "API base moved to /v2", "moved to /v3", "maybe the API base is /v4",
    "接口前缀改为 /v5",
    "The dev port is 8000", "dev port: 8000 -> 8001", "the port is 8002", "端口改成 8003", "We use npm",
    "Use pnpm instead of npm", "we no longer use npm", "The app is built on Tauri 1.6",
    "Tauri upgraded from 1.6 to 2.1", "search is POST /search", "search uses GET instead of POST", "nothing",
)  # fmt: skip


def told_of(history: list[tuple[str, str, int]]) -> list[Observation]:
    return [
        said(
            day,
            *((sentence,) if kind == "fact" else ()),
            session=f"s{day % 3}",
            **({} if kind == "fact" else {kind: sentence}),
        )
        for day, (sentence, kind, _) in enumerate(history)
    ]


def all_standings(batches: list[list[Observation]], as_of: float | None = None) -> dict[Any, PieceStanding]:
    """How every piece stands, by observation and place, after the batches arrived one after the other."""
    journal, database = Journal(None), open_derived(None)
    try:
        for batch in batches:
            journal.append(batch, 0.0)
            catch_up(journal, database)
        with Postings(database).view(as_of) as view:
            names = dict(view.connection.execute("SELECT seq, id FROM observation").fetchall())
            places = view.connection.execute("SELECT seq, ord FROM fact").fetchall()
            keys = [*places, *((seq, -1) for seq in names)]
            return {(names[seq], ord): one for (seq, ord), one in standings(view, keys).items()}
    finally:
        journal.close()
        database.close()


HISTORIES = st.lists(
    st.tuples(
        st.sampled_from(SENTENCES), st.sampled_from(["fact", "fact", "title", "narrative"]), st.integers(0, 9)
    ),
    min_size=1,
    max_size=9,
)


@settings(max_examples=25, deadline=None)
@given(HISTORIES, st.data())
def test_the_order_of_arrival_makes_no_difference(history: list[tuple[str, str, int]], data: Any) -> None:
    observations = told_of(history)
    shuffled = data.draw(st.permutations(observations))
    cut = data.draw(st.integers(0, len(shuffled)))
    assert all_standings([shuffled[:cut], shuffled[cut:]]) == all_standings([observations])


@settings(max_examples=25, deadline=None)
@given(HISTORIES, st.integers(0, 9))
def test_a_past_moment_is_what_a_memory_of_only_that_past_says(
    history: list[tuple[str, str, int]], day: int
) -> None:
    observations = told_of(history)
    moment = START + day * DAY
    known = [one for one in observations if one.at <= moment]
    assert all_standings([observations], moment) == all_standings([known], moment)


def test_what_is_forgotten_takes_nobodys_place_any_more_and_leaves_no_word(
    recorded: Callable[..., Any],
) -> None:
    memory = recorded(said(0, "API base is /v1"), said(60, title="API base moved to /v2 by Zebrafish"))
    assert stand(memory, 0).standing is SUPERSEDED
    memory.journal.forget("day 60", 0.0)
    memory.tell()
    assert stand(memory, 0).standing is CURRENT
    with memory.view() as view:
        left = view.connection.execute("SELECT COUNT(*) FROM statement WHERE text LIKE '%Zebrafish%'")
        assert left.fetchone()[0] == 0


def test_pieces_that_are_not_known_or_not_yet_are_left_out(recorded: Callable[..., Any]) -> None:
    memory = recorded(said(0, "API base is /v1"), said(60, "API base moved to /v2"))
    with memory.view(START + DAY) as view:
        numbers = dict(view.connection.execute("SELECT id, seq FROM observation").fetchall())
        keys = [(numbers["day 60"], 0), (numbers["day 0"], 7), (999, -1), (numbers["day 0"], -1)]
        assert list(standings(view, keys)) == [(numbers["day 0"], -1)]
        assert standings(view, []) == {}
