"""The one predictor: which files it ranks, what counts as evidence, and who asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from graphmem.database import Database
from graphmem.derived import open_derived
from graphmem.instant import DAY, HOUR
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.recall.predictor import Asker, Predictions, predict, upcoming

NOW = 100 * DAY


def work(
    number: int, at: float, *files: str, session: str = "", actor: str = "ann", **more: object
) -> Observation:
    return Observation(
        id=f"o{number}", session=session or f"s{number}", at=at, actor=actor, files_modified=files, **more
    )


OPENED: list[Journal | Database] = []


@pytest.fixture(autouse=True)
def closed_afterwards() -> Iterator[None]:
    """Close what a test opened, however many examples it tried."""
    yield
    while OPENED:
        OPENED.pop().close()


def built(*observations: Observation) -> Database:
    journal, database = Journal(None), open_derived(None)
    OPENED.extend((journal, database))
    journal.append(observations, 0.0)
    catch_up(journal, database)
    return database


def predicted(database: Database, *paths: str, actor: str | None = None, at_most: int = 50) -> Predictions:
    with Postings(database).view() as view:
        files = [file for file in map(view.file, paths) if file is not None]
        return predict(view, files, Asker(NOW, actor), at_most)


def names(found: Predictions) -> list[str]:
    return [entry.file.path for entry in found.ranked]


def test_what_changed_along_more_often_and_later_comes_first() -> None:
    database = built(
        *(work(n, n * DAY, "q.py", "x/often.py") for n in range(6)),
        *(work(n, n * DAY, "q.py", "y/twice.py") for n in range(6, 8)),
        work(9, 0.5 * DAY, "q.py", "z/long_ago.py"),
    )
    found = predicted(database, "q.py")
    assert names(found) == ["x/often.py", "y/twice.py", "z/long_ago.py"]
    assert [entry.ranked.together for entry in found.ranked] == [6, 2, 1]
    assert {entry.ranked.of for entry in found.ranked} == {9}
    assert [file.path for file in found.linked] == names(found)


def test_a_large_change_links_less_than_a_small_one() -> None:
    database = built(
        work(1, DAY, "q.py", "s/small.py"),
        work(2, DAY + HOUR, "q.py", *(f"large/{n}.py" for n in range(40))),
    )
    found = predicted(database, "q.py")
    assert names(found)[0] == "s/small.py"
    scores = {entry.file.path: entry.ranked.file_score for entry in found.ranked}
    assert scores["s/small.py"] > 5 * scores["large/0.py"]


def test_gone_files_and_the_asked_ones_are_left_out() -> None:
    database = built(
        work(1, DAY, "q.py", "p.py", "gone.py"),
        Observation(id="d", session="s", at=2 * DAY, files_deleted=("gone.py",)),
    )
    assert names(predicted(database, "q.py")) == ["p.py"]
    assert names(predicted(database, "q.py", "p.py")) == []
    assert [file.path for file in predicted(database, "q.py").linked] == ["p.py"]


def test_a_like_name_or_folder_alone_names_no_file() -> None:
    database = built(
        work(1, DAY, "src/token.ts", "x/evidence.ts"),
        work(2, DAY, "src/sibling.ts", actor="bo"),
        work(3, DAY, "tests/token.test.ts", actor="bo"),
        work(4, DAY, "else/where.ts", actor="bo"),
    )
    found = predicted(database, "src/token.ts")
    assert names(found) == ["x/evidence.ts"]
    assert [file.path for file in found.linked] == ["x/evidence.ts"]


def test_what_was_read_before_an_edit_is_evidence() -> None:
    read = [
        Observation(id=f"r{n}", session=f"s{n}", at=n * DAY, files_read=("doc/spec.md",)) for n in range(5)
    ]
    edit = [work(n, n * DAY + HOUR, "src/impl.ts", session=f"s{n}") for n in range(5)]
    found = predicted(built(*read, *edit), "doc/spec.md")
    assert names(found)[0] == "src/impl.ts"
    assert "read_for" in found.ranked[0].ranked.signals
    assert found.ranked[0].ranked.temporal_score > 0


def test_the_actors_last_work_makes_its_files_likelier() -> None:
    database = built(
        *(work(n, n * DAY, "q.py", "a/one.py", actor="ann") for n in range(3)),
        *(work(n, n * DAY, "q.py", "b/two.py", actor="ann") for n in range(3, 6)),
        *(work(n, 50 * DAY + n, "a/one.py", actor="bo") for n in range(10, 14)),
    )

    def chance(found: Predictions, path: str) -> float:
        return next(entry.ranked.probability for entry in found.ranked if entry.file.path == path)

    anybody, bo = predicted(database, "q.py"), predicted(database, "q.py", actor="bo")
    assert chance(bo, "a/one.py") > chance(anybody, "a/one.py")
    assert chance(predicted(database, "q.py", actor="nobody"), "a/one.py") == chance(anybody, "a/one.py")


def test_upcoming_is_the_following_work_of_the_session_and_lives() -> None:
    items: list[Observation] = []
    for n in range(4):
        items.append(work(2 * n, n * DAY, "schema.sql", session=f"s{n}"))
        items.append(work(2 * n + 1, n * DAY + HOUR, "api.py", "old.py", session=f"s{n}"))
    items.append(Observation(id="d", session="x", at=50 * DAY, actor="bo", files_deleted=("old.py",)))
    database = built(*items)
    found = predicted(database, "schema.sql")
    with Postings(database).view() as view:
        assert [file.path for file, _ in upcoming(view, found.grounds)] == ["api.py"]


def test_no_more_than_asked_for_are_ranked_and_equals_go_by_path() -> None:
    database = built(work(1, DAY, "q.py", *(f"d{n}/f.py" for n in range(6, 0, -1))))
    found = predicted(database, "q.py", at_most=4)
    assert names(found) == [f"d{n}/f.py" for n in range(1, 5)]
    assert len(found.linked) == 6


def test_several_known_files_add_up() -> None:
    database = built(
        *(work(n, n * DAY, "a.py", "x/t.py") for n in range(3)),
        *(work(n, n * DAY, "b.py", "x/t.py") for n in range(3, 6)),
        *(work(n, n * DAY, "a.py", "y/u.py") for n in range(6, 8)),
    )

    def score(paths: Sequence[str]) -> float:
        ranked = predicted(database, *paths).ranked
        return next(entry.ranked.file_score for entry in ranked if entry.file.path == "x/t.py")

    assert score(["a.py", "b.py"]) > max(score(["a.py"]), score(["b.py"]))
