"""Questions about a past moment: exactly what a memory would have answered then that knew nothing later."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.model import Observation, Rename
from graphmem.postings import Postings, View
from graphmem.projection import catch_up
from graphmem.recall.impact import impact
from graphmem.recall.surroundings import Question

PATHS = ["a.py", "b.py", "src/a.py", "src/b.py", "src/c.py", "vendor/x.js", "yarn.lock"]
TITLES = ["Fix login", "支付 timeout", "Move POST /api/v1/pay to /api/v2/pay", "Cart total"]
path = st.sampled_from(PATHS)
several = st.lists(path, max_size=3, unique=True).map(tuple)


@st.composite
def stories(draw: st.DrawFn) -> list[Observation]:
    """Observations in order of arrival, which is not the order of time; some share their moment."""
    story = []
    for number in range(draw(st.integers(2, 10))):
        pairs = draw(st.lists(st.tuples(path, path).filter(lambda pair: pair[0] != pair[1]), max_size=2))
        moved = {name for pair in pairs for name in pair}
        deleted = tuple(p for p in draw(several) if p not in moved)
        modified = tuple(p for p in draw(several) if p not in moved and p not in deleted)
        story.append(
            Observation(
                id=f"o{number}",
                session=draw(st.sampled_from(["s1", "s2", "s3"])),
                at=draw(st.integers(0, 12)) * 6 * 3600.0,
                actor=draw(st.sampled_from(["ann", "bo"])),
                title=draw(st.sampled_from(TITLES)),
                files_read=draw(several),
                files_modified=modified,
                files_added=modified[: draw(st.integers(0, 2))],
                files_deleted=deleted,
                renames=tuple(Rename(old, new) for old, new in pairs),
            )
        )
    return story


OPENED: list[Journal | Database] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close what a test opened, however many examples it tried."""
    yield
    while OPENED:
        OPENED.pop().close()


def built(story: Sequence[Observation], one_by_one: bool = False) -> Database:
    journal, database = Journal(None), open_derived(None)
    OPENED.extend((journal, database))
    for batch in [[observation] for observation in story] if one_by_one else [story]:
        journal.append(batch, 0.0)
        catch_up(journal, database)
    return database


def seen(view: View, now: float) -> dict[str, Any]:
    """Everything a view tells, by names: row numbers are nobody's business."""
    found: dict[str, Any] = {"total": view.total()}
    for name in PATHS:
        file = view.file(name)
        if file is None:
            found[name] = None
            continue
        profile = view.profiles([file.id])[file.id]
        names, counts = view.concept_names(profile), view.frequencies(profile)
        found[name] = (
            (file.path, file.alive, file.noise),
            view.heat([file.id], now)[file.id],
            {names[concept]: (weight, counts[concept]) for concept, weight in profile.items()},
            view.gone_since(file.id),
        )
    for actor in ("ann", "bo", "nobody"):
        recent = view.recent_of(actor)
        found[actor] = [head.id for head in view.heads(occasion.key for occasion in recent)]
    return found


def answers(view: View, now: float) -> list[object]:
    questions = [(name,) for name in PATHS] + [("a.py", "src/b.py")]
    return [
        impact(view, Question(paths, "s1", "ann", limit), now, lambda paths: set())
        for paths in questions
        for limit in (1, 10)
    ]


@pytest.mark.slow
@settings(max_examples=30)
@given(stories(), st.booleans(), st.data())
def test_the_past_is_what_a_memory_knew_then(
    story: list[Observation], one_by_one: bool, data: st.DataObject
) -> None:
    moment = data.draw(st.sampled_from(sorted({observation.at for observation in story})))
    moment += data.draw(st.sampled_from([0.0, 1.0]))
    whole = built(story, one_by_one)
    then = built([observation for observation in story if observation.at <= moment])
    with Postings(whole).view(moment) as past, Postings(then).view() as present:
        assert seen(past, moment) == seen(present, moment)
        assert answers(past, moment) == answers(present, moment)
        assert seen(past, moment) != {} and len(answers(past, moment)) == 2 * len(PATHS) + 2


@pytest.mark.slow
@settings(max_examples=25)
@given(stories())
def test_a_moment_after_everything_is_the_present(story: list[Observation]) -> None:
    now = max(observation.at for observation in story)
    with Postings(built(story)).view() as present:
        known = seen(present, now), answers(present, now)
    with Postings(built(story)).view(now) as past:
        assert (seen(past, now), answers(past, now)) == known


@pytest.mark.slow
@settings(max_examples=25)
@given(stories(), st.permutations(range(10)))
def test_answers_do_not_depend_on_the_order_of_arrival(
    story: list[Observation], order: Sequence[int]
) -> None:
    distinct = [  # the order of arrival is what orders observations of the same moment
        Observation(**{**{f: getattr(o, f) for f in o.__dataclass_fields__}, "at": o.at + number})
        for number, o in enumerate(story)
    ]
    shuffled = [distinct[place] for place in order if place < len(distinct)]
    now = max(observation.at for observation in distinct)
    with Postings(built(distinct)).view() as one, Postings(built(shuffled, True)).view() as other:
        assert answers(one, now) == answers(other, now)


def test_while_the_past_is_read_anew_an_answer_says_so() -> None:
    with Postings(built([])).view() as view:
        answer = impact(view, Question(("a.py",)), 1.0, lambda paths: set(), behind=(3, 10))
    assert answer.reason == answer.degraded
    assert answer.degraded == (
        "the history is being read anew and only 3 of 10 entries are in; ask again in a moment"
    )


def test_equals_are_cut_off_alike_whatever_came_first() -> None:
    """Sixty files that nothing tells apart, of which ten are asked for: the same ten after a rebuild."""
    names = [f"part{number:02}/{number * 37 % 60:02}.py" for number in range(60)]
    reads = [
        Observation(id=name, session=name, at=1_000.0 - place, title="Look", files_read=(name,))
        for place, name in enumerate(names)
    ]
    together = Observation(
        id="all", session="s", at=2_000.0, title="Sweep", files_modified=("q.py", *names[::-1])
    )
    answered = []
    for one_by_one in (True, False):
        with Postings(built([*reads, together], one_by_one)).view() as view:
            answered.append(impact(view, Question(("q.py",)), 3_000.0, lambda paths: set()))
    assert answered[0] == answered[1]
    assert len(answered[0].affected) == 10
