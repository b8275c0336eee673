"""Which pairs become candidates: of the story, of busy files, of files nobody writes, of what is ignored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.derived import open_derived
from graphmem.edge_rows import SELECT_EDGE, EdgeRow, Settled, read_row
from graphmem.instant import DAY
from graphmem.journal import Journal
from graphmem.model import Observation
from graphmem.projection import catch_up
from graphmem.promotion import promote, settle_verdicts
from inference.promotion import DEGREE_CAP

STORY = Path(__file__).resolve().parents[2] / "fixtures" / "story"
EXPECTED: dict[str, Any] = json.loads((STORY / "expectations.json").read_text(encoding="utf-8"))


class Promoted:
    """A journal and its derived file."""

    def __init__(self, journal: Journal | None = None) -> None:
        self.journal = Journal(None) if journal is None else journal
        self.database = open_derived(None)

    def tell(self, observations: Iterable[Observation]) -> None:
        self.journal.append(list(observations), 0.0)
        catch_up(self.journal, self.database)

    def promote(self, *ignore: str) -> Settled:
        return promote(self.journal, self.database, "p", ignore)

    def edges(self) -> dict[frozenset[str], EdgeRow]:
        with self.database.read() as connection:
            names = dict(
                connection.execute("SELECT file.id * 4, name FROM file JOIN path ON path.id = file.path")
            )
            rows = [read_row(row) for row in connection.execute(SELECT_EDGE)]
        files = [row for row in rows if row.kind not in ("about", "related")]
        return {frozenset((names[row.source], names[row.target])): row for row in files}

    def pairs(self) -> set[frozenset[str]]:
        return set(self.edges())

    def close(self) -> None:
        self.journal.close()
        self.database.close()


@pytest.fixture
def promoted() -> Iterator[Promoted]:
    made = Promoted()
    yield made
    made.close()


def days(*groups: Sequence[str], first: int = 1, session: str | None = None) -> list[Observation]:
    """One observation for each group of files, each in a session of its own, too far apart to follow."""
    return [
        Observation(
            id=f"o{number}",
            session=session or f"s{number}",
            at=3 * DAY * number,
            title="Work",
            files_modified=tuple(group),
        )
        for number, group in enumerate(groups, first)
    ]


def pair(*paths: str) -> frozenset[str]:
    return frozenset(paths)


# ---- the story ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[frozenset[str], EdgeRow]]:
    folder = tmp_path_factory.mktemp("story")
    (folder / "shop").mkdir()
    with Memory(folder / "memory") as memory:
        memory.register(str(folder / "shop"))[0].import_jsonl(str(STORY / "observations.jsonl"))
    (journal,) = (folder / "memory").rglob("journal.db")
    made = Promoted(Journal(journal))
    made.tell([])
    made.promote()
    yield made.edges()
    made.close()


@pytest.mark.parametrize(
    "case", EXPECTED["linked"], ids=lambda case: f"{case['path']} {case['to']}" if case else ""
)
def test_what_the_story_links_is_a_candidate(
    story: dict[frozenset[str], EdgeRow], case: dict[str, Any]
) -> None:
    row = story[pair(case["path"], case["to"])]
    assert row.status == "candidate"
    assert row.sessions >= 2
    assert 2 <= row.together <= case["together"]
    assert 1 <= len(row.keys) <= 3


@pytest.mark.parametrize("kind", ["read_for", "followed_by"])
def test_what_the_story_puts_in_order_is_a_candidate_of_that_kind(
    story: dict[frozenset[str], EdgeRow], kind: str
) -> None:
    row = story[pair(EXPECTED[kind]["path"], EXPECTED[kind]["to"])]
    assert (row.kind, row.status) == (kind, "candidate")


@pytest.mark.parametrize("case", EXPECTED["apart"], ids=lambda case: case["why"])
def test_false_friends_are_no_candidates(story: dict[frozenset[str], EdgeRow], case: dict[str, str]) -> None:
    assert pair(case["path"], case["to"]) not in story


@pytest.mark.parametrize(
    "path", [*EXPECTED["bulk_only"], EXPECTED["noise"]["file"], "src/payment/paypal_legacy.ts"]
)
def test_bulk_work_lock_files_and_files_gone_have_no_edge(
    story: dict[frozenset[str], EdgeRow], path: str
) -> None:
    assert [sorted(ends) for ends in story if path in ends] == []


# ---- support -----------------------------------------------------------------------------------


def test_one_session_however_long_is_no_support(promoted: Promoted) -> None:
    promoted.tell(days(*[("a", "b")] * 9, session="s"))
    assert promoted.promote() == Settled()
    promoted.tell(days(("a", "b"), first=10))
    assert promoted.promote() == Settled(created=1)


def test_a_run_with_nothing_new_does_nothing(promoted: Promoted) -> None:
    promoted.tell(days(("a", "b"), ("a", "b")))
    assert promoted.promote() == Settled(created=1)
    assert promoted.promote() == Settled()


def test_more_evidence_updates_and_fading_evidence_retires(promoted: Promoted) -> None:
    promoted.tell(days(("a", "b"), ("a", "b")))
    promoted.promote()
    promoted.tell(days(("a", "b"), first=3))
    assert promoted.promote() == Settled(updated=1)
    promoted.tell(days(*[("a",), ("b",)] * 25, first=4))
    assert promoted.promote() == Settled(retired=1)
    assert promoted.pairs() == set()


def test_an_edge_that_comes_back_has_the_id_it_had(promoted: Promoted) -> None:
    promoted.tell(days(("a", "b"), ("a", "b")))
    promoted.promote()
    (before,) = promoted.edges().values()
    promoted.tell(days(*[("a",), ("b",)] * 25, first=3))
    promoted.promote()
    promoted.tell(days(*[("b", "a")] * 20, first=60))
    promoted.promote()
    (after,) = promoted.edges().values()
    assert (after.id, after.source, after.target) == (before.id, before.source, before.target)


# ---- caps and noise ----------------------------------------------------------------------------


def test_a_busy_file_keeps_a_bounded_number_of_edges(promoted: Promoted) -> None:
    partners = [f"part/{number:03}" for number in range(80)]
    promoted.tell(days(*[("hub", partner) for partner in partners for _ in range(3)]))
    promoted.promote()
    degrees: dict[str, int] = {}
    for ends in promoted.pairs():
        for path in ends:
            degrees[path] = degrees.get(path, 0) + 1
    assert 0 < degrees["hub"] <= DEGREE_CAP
    assert max(degrees.values()) <= DEGREE_CAP


@pytest.mark.parametrize(
    "noise", ["yarn.lock", "node_modules/x/index.js", "dist/app.js", "src/api_pb2.py", "web/app.min.js"]
)
def test_files_that_nobody_writes_have_no_edges(promoted: Promoted, noise: str) -> None:
    promoted.tell(days(*[("a", "b", noise)] * 4))
    promoted.promote()
    assert promoted.pairs() == {pair("a", "b")}


@pytest.mark.parametrize("pattern", ["b", "src/*", "src", "src/**/b.py", "*.py"])
def test_what_the_user_ignores_has_no_edges_until_it_is_no_more_ignored(
    promoted: Promoted, pattern: str
) -> None:
    promoted.tell(days(*[("a", "c", "src/b/b.py")] * 4))
    assert promoted.promote() == Settled(created=3)
    assert promoted.promote(pattern) == Settled(retired=2)
    assert promoted.pairs() == {pair("a", "c")}
    assert promoted.promote(pattern) == Settled()
    assert promoted.promote() == Settled(created=2)


def test_the_order_of_ignored_patterns_means_nothing(promoted: Promoted) -> None:
    promoted.tell(days(*[("a", "b", "c")] * 4))
    promoted.promote("b", "c")
    assert promoted.promote("c", "b", "c") == Settled()


# ---- the run -----------------------------------------------------------------------------------


@pytest.mark.parametrize("after", range(1, 8))
def test_a_stopped_run_goes_on_at_the_next(promoted: Promoted, after: int) -> None:
    groups = [(f"{number}/a", f"{number}/b") for number in range(300)]
    promoted.tell(days(*groups, *groups))
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) >= after

    first = promote(promoted.journal, promoted.database, "p", (), stop)
    second = promoted.promote()
    assert first.created + second.created == 300
    assert len(promoted.pairs()) == 300


def test_what_happens_under_way_is_looked_at_by_the_next_run(promoted: Promoted) -> None:
    promoted.tell(days(("a", "b"), ("a", "b"), ("x", "y"), ("x", "y")))
    told: list[int] = []

    def meanwhile() -> bool:
        if not told:
            told.append(1)
            promoted.tell(days(("c", "d"), ("c", "d"), first=5))
            promoted.journal.forget("o1", 0.0)
            catch_up(promoted.journal, promoted.database)
        return False

    promote(promoted.journal, promoted.database, "p", (), meanwhile)
    promoted.promote()
    assert promoted.pairs() == {pair("x", "y"), pair("c", "d")}


def test_settling_verdicts_leaves_what_was_only_minted_to_the_run(promoted: Promoted) -> None:
    promoted.tell(days(("a", "b"), ("a", "b")))
    promoted.promote()
    rebuilt = Promoted(promoted.journal)
    rebuilt.tell([])
    assert settle_verdicts(rebuilt.database) == Settled()
    assert rebuilt.pairs() == set()
    assert rebuilt.promote() == Settled(created=1)
    assert rebuilt.pairs() == {pair("a", "b")}
    rebuilt.database.close()
