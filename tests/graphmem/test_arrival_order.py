"""Promise: whatever the order of arrival, parts and revisions too, derived.db ends as a rebuild makes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.captured import Batch
from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Fact, FactKind, Observation, Rename
from graphmem.projection import catch_up

FACTS = [
    (),
    (Fact("table orders gets a column"),),
    (Fact("cache TTL: 900"), Fact("never push", FactKind.CONVENTION)),
]
PATHS = ["a.py", "b.py", "c.py", "d/e.py", "package-lock.json"]
path = st.sampled_from(PATHS)
several = st.lists(path, max_size=3, unique=True).map(tuple)


@st.composite
def observations(draw: st.DrawFn, distinct_times: bool = False) -> list[Observation]:
    count = draw(st.integers(1, 9))
    times = draw(
        st.lists(
            st.integers(1, 40 if distinct_times else 5), min_size=count, max_size=count, unique=distinct_times
        )
    )
    made = []
    numbers = draw(st.permutations(range(count)))
    for number, at in zip(numbers, times, strict=True):
        pairs = draw(st.lists(st.tuples(path, path).filter(lambda pair: pair[0] != pair[1]), max_size=2))
        renames = tuple(Rename(old, new) for old, new in pairs)
        moved = {name for rename in renames for name in (rename.old, rename.new)}
        deleted = tuple(p for p in draw(several) if p not in moved)
        modified = tuple(p for p in draw(several) if p not in moved and p not in deleted)
        turn = draw(st.sampled_from(["", "t1", "t2"]))
        made.append(
            Observation(
                id=f"o{number}",
                session=draw(st.sampled_from(["s1", "s2"])),
                at=float(at),
                actor=draw(st.sampled_from(["ann", "bo"])),
                type=draw(st.sampled_from(["change", "snapshot"])),
                title=draw(
                    st.sampled_from(["Fix login", "支付 timeout", "Move POST /api/v1/pay to /api/v2/pay"])
                ),
                facts=draw(st.sampled_from(FACTS)),
                files_read=draw(several),
                files_modified=modified,
                files_added=modified[:1] if draw(st.booleans()) else (),
                files_deleted=deleted,
                renames=renames,
                turn=turn,
                reference=draw(st.sampled_from([None, "sha"])) if turn == "" else None,
            )
        )
    return made


def snapshot(database: Database, *, by_id: bool = False) -> dict[str, list[Any]]:
    """Everything in derived.db by content: names instead of row numbers."""
    order = "observation.id" if by_id else "touch.seq"
    queries = {
        "path": "SELECT path.name, own.name, first.name, alive, noise FROM path"
        " JOIN file ON file.id = path.file JOIN path AS own ON own.id = file.path"
        " JOIN path AS first ON first.id = file.first_path",
        "file": "SELECT own.name, first.name, alive, noise, (SELECT COUNT(*) FROM touch WHERE file = file.id)"
        " FROM file JOIN path AS own ON own.id = file.path JOIN path AS first ON first.id = file.first_path",
        "claim": "SELECT path.name, at, own.name FROM claim JOIN path ON path.id = claim.path"
        " JOIN file ON file.id = claim.file JOIN path AS own ON own.id = file.first_path",
        "touch": f"SELECT {order}, ord, change, repeated, lead.id, path.name, old.name, own.name, first.name"
        " FROM touch JOIN observation ON observation.seq = touch.seq JOIN path ON path.id = touch.path"
        " JOIN observation AS lead ON lead.seq = touch.occasion"
        " LEFT JOIN path AS old ON old.id = touch.old_path JOIN file ON file.id = touch.file"
        " JOIN path AS own ON own.id = file.path JOIN path AS first ON first.id = file.first_path",
        "state": f"SELECT first.name, {order.replace('touch', 'state')}, path.name, state.alive"
        " FROM state JOIN observation ON observation.seq = state.seq JOIN path ON path.id = state.path"
        " JOIN file ON file.id = state.file JOIN path AS first ON first.id = file.first_path",
        "kin": "SELECT at, paths, (SELECT GROUP_CONCAT(name) FROM (SELECT name FROM path WHERE kin = kin.id"
        " ORDER BY name)) FROM kin",
        "observation": "SELECT one.id, one.at, session.name, actor.name, one.type, one.title, one.size,"
        " one.pairs, one.turn, lead.id FROM observation AS one JOIN session ON session.id = one.session"
        " JOIN actor ON actor.id = one.actor JOIN observation AS lead ON lead.seq = one.occasion",
        "concept": "SELECT name, uses FROM concept",
        "concept_use": "SELECT observation.id, name, weight, repeated, lead.id FROM concept_use"
        " JOIN observation USING (seq) JOIN concept ON concept.id = concept"
        " JOIN observation AS lead ON lead.seq = concept_use.occasion",
        "fact": "SELECT observation.id, ord, kind, state, scope, fact.text, subject, attribute, value,"
        " tentative, everywhere, fact.at, fact.actor, words FROM fact JOIN observation USING (seq)"
        " JOIN fact_text ON fact_text.rowid = fact.id",
        "statement": "SELECT observation.id, ord, part, subject, attribute, value, old, old_bare, reach,"
        " tentative, statement.actor, statement.at, text, whole FROM statement JOIN observation USING (seq)",
        "heat": "SELECT own.name, ROUND(heat, 9), heat_at FROM file JOIN path AS own ON own.id = file.path",
        "meta": "SELECT key, value FROM meta WHERE key IN ('observations', 'parts')",
        "contract_use": "SELECT observation.id, name, superseded_by FROM contract_use"
        " JOIN observation USING (seq) JOIN contract ON contract.id = contract",
        "text": "SELECT observation.id, text.title, body, concepts, paths FROM text"
        " JOIN observation ON observation.seq = text.rowid",
        "task": "SELECT observation.id, words FROM task LEFT JOIN observation USING (seq)",
        "session": "SELECT name FROM session",
        "actor": "SELECT name FROM actor",
    }
    with database.read() as connection:
        return {name: sorted(map(repr, connection.execute(query))) for name, query in queries.items()}


OPENED: list[Journal | Database] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close what a test opened, however many examples it tried."""
    yield
    while OPENED:
        OPENED.pop().close()


def projected(
    batches: Sequence[Sequence[Observation]], forget: Sequence[str] = ()
) -> tuple[Journal, Database]:
    journal, database = Journal(None), open_derived(None)
    OPENED.extend((journal, database))
    for batch in batches:
        journal.append(batch, 0.0)
        catch_up(journal, database)
    for id in forget:
        journal.forget(id, 0.0)
        catch_up(journal, database)
    return journal, database


def rebuilt(journal: Journal) -> Database:
    database = open_derived(None)
    OPENED.append(database)
    catch_up(journal, database)
    return database


relaxed = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.slow
@relaxed
@given(observations(), st.data())
def test_any_cut_into_batches_equals_a_rebuild(made: list[Observation], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(0, len(made)))))
    edges = [0, *cuts, len(made)]
    journal, database = projected([made[a:b] for a, b in pairwise(edges)])
    assert snapshot(database) == snapshot(rebuilt(journal))


@pytest.mark.slow
@relaxed
@given(observations(distinct_times=True), st.data())
def test_any_permutation_of_arrival_gives_the_same_state(
    made: list[Observation], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations(made))
    _, one = projected([[observation] for observation in shuffled])
    _, other = projected([sorted(made, key=lambda observation: observation.at)])
    assert snapshot(one, by_id=True) == snapshot(other, by_id=True)


@pytest.mark.slow
@relaxed
@given(observations(), st.data())
def test_forgetting_leaves_what_a_rebuild_without_it_makes(
    made: list[Observation], data: st.DataObject
) -> None:
    ids = [observation.id for observation in made]
    forgotten = data.draw(st.lists(st.sampled_from(ids), unique=True, min_size=1))
    journal, database = projected([made], forgotten)
    assert snapshot(database) == snapshot(rebuilt(journal))


@pytest.mark.slow
@relaxed
@given(observations(), observations(), st.data())
def test_telling_anew_and_forgetting_in_any_order_equals_a_rebuild(
    made: list[Observation], others: list[Observation], data: st.DataObject
) -> None:
    journal, database = Journal(None), open_derived(None)
    OPENED.extend((journal, database))
    kept = {observation.id: observation for observation in made}
    for _ in range(data.draw(st.integers(1, 12))):
        id = data.draw(st.sampled_from(sorted(kept)))
        told = data.draw(st.sampled_from([*made, *others]))
        if journal.holds(id) and data.draw(st.integers(0, 5)) == 0:
            journal.forget(id, 0.0)
            del kept[id]
        else:
            journal.captured.settle(Batch(observations=[replace(told, id=id, provisional=True)]), 0.0)
        if data.draw(st.booleans()):
            catch_up(journal, database)
        if not kept:
            break
    catch_up(journal, database)
    assert snapshot(database) == snapshot(rebuilt(journal))


@pytest.mark.slow
@relaxed
@given(observations())
def test_sending_everything_twice_changes_nothing(made: list[Observation]) -> None:
    _, once = projected([made])
    _, twice = projected([made, made])
    assert snapshot(once) == snapshot(twice)
