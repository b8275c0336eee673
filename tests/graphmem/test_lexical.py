"""`graphmem.recall.lexical`: pieces found by their words, on one scale, within filters, moments and time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Fact, FactKind, Observation
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.question import Filters
from graphmem.recall.filtering import allowed
from graphmem.recall.lexical import LexicalHit, matches

TOLD = (
    Observation(
        id="jwt",
        session="one",
        at=1_000.0,
        source="claude-code",
        type="bugfix",
        title="Fix JWT refresh",
        narrative="The refreshToken expired too early.",
        facts=(
            Fact("access_token TTL: 3600 -> 900"),
            Fact("always back up before a schema change", FactKind.PREFERENCE),
        ),
        concepts=("auth",),
        files_modified=("src/auth/token_store.ts",),
    ),
    Observation(
        id="pay", session="two", at=2_000.0, source="git", title="支付超时", narrative="用户身份校验失败。"
    ),
    Observation(
        id="cart", session="two", at=3_000.0, source="git", title="Cart total", narrative="token counts"
    ),
)


@pytest.fixture(scope="module")
def postings() -> Iterator[Postings]:
    with closing(Journal(None)) as journal, closing(open_derived(None)) as database:
        journal.append(list(TOLD), 0.0)
        catch_up(journal, database)
        yield Postings(database)


def found(
    postings: Postings, text: str, where: Filters | None = None, as_of: float | None = None
) -> list[tuple[int, int]]:
    with postings.view(as_of) as view:
        return [(hit.seq, hit.ord) for hit in matches(view, text, where or Filters()).hits]


def test_a_fact_is_found_by_itself_beside_its_observation(postings: Postings) -> None:
    assert found(postings, "access_token TTL")[:2] == [(1, 0), (1, -1)]
    assert found(postings, "backup before schema changes")[0] == (1, 1)


def test_what_holds_every_word_scores_about_one_and_holds_all(postings: Postings) -> None:
    with postings.view() as view:
        first = matches(view, "cart total", Filters()).hits[0]
    assert first.seq == 3
    assert first.held == pytest.approx(1.0)
    assert 0.9 < first.score < 2.2


def test_a_concept_is_found_under_its_other_language(postings: Postings) -> None:
    assert (2, -1) in found(postings, "payment")
    assert (2, -1) in found(postings, "身份校验")


def test_the_number_of_pieces_is_that_of_observations_and_facts(postings: Postings) -> None:
    with postings.view() as view:
        assert matches(view, "cart", Filters()).documents == 5
    with postings.view(2_500.0) as view:
        assert matches(view, "cart", Filters()).documents == 4


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Filters(), {(1, 0), (1, -1), (3, -1)}),
        (Filters(since=2_000.0), {(3, -1)}),
        (Filters(until=3_000.0), {(1, 0), (1, -1)}),
        (Filters(types=("bugfix",)), {(1, 0), (1, -1)}),
        (Filters(session="two"), {(3, -1)}),
        (Filters(session="nobody's"), set()),
        (Filters(source="git"), {(3, -1)}),
        (Filters(file="src/auth/token_store.ts"), {(1, 0), (1, -1)}),
        (Filters(file="no/such.ts"), set()),
        (Filters(concept="auth"), {(1, 0), (1, -1)}),
        (Filters(kinds=("fact",)), {(1, 0)}),
        (Filters(kinds=("history",)), {(1, -1), (3, -1)}),
        (Filters(kinds=("observation",)), {(1, 0), (1, -1), (3, -1)}),
        (Filters(kinds=("module",)), set()),
    ],
)
def test_filters_bound_what_is_found(
    postings: Postings, where: Filters, expected: set[tuple[int, int]]
) -> None:
    assert set(found(postings, "token", where)) == expected


def test_the_filters_name_the_observations_they_allow(postings: Postings) -> None:
    with postings.view() as view:
        assert allowed(view, Filters()) is None
        assert allowed(view, Filters(source="git")) == {2, 3}
    with postings.view(1_500.0) as view:
        assert allowed(view, Filters()) == {1}


def test_a_past_moment_scores_as_a_memory_of_that_past_would(postings: Postings) -> None:
    with closing(Journal(None)) as journal, closing(open_derived(None)) as database:
        journal.append([TOLD[0]], 0.0)
        catch_up(journal, database)
        with Postings(database).view() as view, postings.view(1_500.0) as past:
            for text in ("token", "jwt refresh ttl", "schema"):
                assert matches(past, text, Filters()) == matches(view, text, Filters())


def test_when_time_is_up_the_answer_says_so(postings: Postings) -> None:
    with closing(Journal(None)) as journal, closing(open_derived(None)) as database:
        many = (
            Observation(id=f"o{number}", session="s", at=float(number), source="git", title="a cache token")
            for number in range(3_000)
        )
        journal.append(list(many), 0.0)
        catch_up(journal, database)
        with Postings(database).view() as view:
            assert not matches(view, "cache token", Filters(), overdue=lambda: True).complete
            assert matches(view, "cache token", Filters(), overdue=lambda: False).complete
            assert len(matches(view, "cache token", Filters(), 10).hits) == 10


@pytest.mark.parametrize(
    "text",
    ["", "   ", "🙂🙂", "???", '" OR NEAR( *', "the of and", "'; DROP TABLE fact; --", "مرحبا بالعالم"],
)
def test_what_names_nothing_finds_nothing(postings: Postings, text: str) -> None:
    assert not [hit for hit in found(postings, text) if hit[0] != 1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(text=st.text())
def test_any_text_gives_scores_in_order(postings: Postings, text: str) -> None:
    with postings.view() as view:
        hits = matches(view, text, Filters()).hits
    assert all(isinstance(hit, LexicalHit) and hit.score > 0.0 for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
