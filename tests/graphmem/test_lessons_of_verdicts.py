"""Verdicts move the ranking of their project at once, and not a trace of one that is undone stays behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Memory, Project
from graphmem.decisions import decide
from graphmem.derived import open_derived
from graphmem.graph import Decision, EdgeFilter, VerdictKind
from graphmem.instant import DAY
from graphmem.journal import Journal
from graphmem.lessons import lessons_of
from graphmem.model import Observation
from graphmem.nodes import NodeTable, table_of
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.promotion import promote, settle_verdicts
from graphmem.recall.predictor import Asker, Taught, predict
from inference.lessons import BOUND, UNTAUGHT, End, Lessons

CONFIRM, REJECT, UNDO = VerdictKind.CONFIRM, VerdictKind.REJECT, VerdictKind.UNDO
FILES = ("src/cart.py", "src/stock.py", "tests/test_cart.py", "tests/test_stock.py", "docs/cart.md")
NOW = 100 * DAY
Ranking = dict[str, list[tuple[str, float]]]
sequences = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([CONFIRM, REJECT, UNDO])), max_size=8)


def history() -> list[Observation]:
    """Three pairs of work by turns, and now and then all of the files."""
    groups = [FILES[:3:2], FILES[1:4:2], (FILES[0], FILES[4]), FILES]
    return [
        Observation(id=f"o{n}", session=f"s{n}", at=DAY * (n + 1), files_modified=tuple(groups[n % 4]))
        for n in range(16)
    ]


class Judged:
    """A journal and its derived file, promoted; verdicts are settled as soon as they are given."""

    def __init__(self) -> None:
        self.journal, self.database = Journal(None), open_derived(None)
        self.journal.append(history(), 0.0)
        catch_up(self.journal, self.database)
        promote(self.journal, self.database, "p")
        self.now = NOW
        with self.database.read() as connection:
            # Edges to concepts are judged too, but teach nothing of files.
            rows = connection.execute("SELECT id, source, target FROM edge ORDER BY id").fetchall()
            ends = {id: (table_of(one), table_of(other)) for id, one, other in rows}
            self.edges = [id for id, tables in ends.items() if tables == (NodeTable.FILE, NodeTable.FILE)]

    def close(self) -> None:
        self.journal.close()
        self.database.close()

    def judge(self, edge: str, verdict: VerdictKind) -> None:
        self.now += DAY
        with self.database.read() as connection:
            decide(self.journal.ledger, connection, [Decision(edge, verdict)], self.now)
        catch_up(self.journal, self.database)
        settle_verdicts(self.database)

    def rebuild(self) -> None:
        self.database.close()
        self.database = open_derived(None)
        catch_up(self.journal, self.database)
        promote(self.journal, self.database, "p")

    def lessons(self, as_of: float | None = None) -> Lessons:
        with Postings(self.database).view(as_of) as view:
            return lessons_of(view, self.journal.ledger)

    def ranking(self, taught: bool = True) -> Ranking:
        found: Ranking = {}
        with Postings(self.database).view() as view:
            lessons = lessons_of(view) if taught else UNTAUGHT
            for path in FILES:
                file = view.file(path)
                assert file is not None
                ranked = predict(view, [file], Asker(NOW), 50, Taught(lessons)).ranked
                found[path] = [(entry.file.path, entry.ranked.probability) for entry in ranked]
        return found


def run(judged: Judged, steps: list[tuple[int, VerdictKind]]) -> dict[str, int]:
    """Give the verdicts that change anything; return how many of each edge can be undone."""
    given: dict[str, list[VerdictKind]] = {}
    for at, verdict in steps:
        edge = judged.edges[at % len(judged.edges)]
        stack = given.setdefault(edge, [])
        if verdict is UNDO:
            if stack:
                stack.pop()
                judged.judge(edge, UNDO)
        elif not stack or stack[-1] is not verdict:
            stack.append(verdict)
            judged.judge(edge, verdict)
    return {edge: len(stack) for edge, stack in given.items()}


@pytest.fixture
def judged() -> Iterator[Judged]:
    with closing(Judged()) as made:
        yield made


@settings(max_examples=10)
@given(sequences)
def test_after_any_verdicts_a_rebuild_ranks_the_same_and_undoing_them_gives_the_first_ranking(
    steps: list[tuple[int, VerdictKind]],
) -> None:
    with closing(Judged()) as judged:
        before = judged.ranking()
        left = run(judged, steps)
        after = judged.ranking()
        assert bool(judged.lessons()) == any(left.values())
        judged.rebuild()
        assert judged.ranking() == after
        for edge, count in left.items():
            for _ in range(count):
                judged.judge(edge, UNDO)
        assert judged.ranking() == before == judged.ranking(taught=False)
        assert judged.lessons() == UNTAUGHT


@settings(max_examples=6)
@given(st.dictionaries(st.integers(0, 5), st.booleans(), min_size=2), st.randoms())
def test_verdicts_on_different_pairs_may_come_in_any_order(said: dict[int, bool], draw: Any) -> None:
    steps = [(at, CONFIRM if yes else REJECT) for at, yes in said.items()]
    shuffled = list(steps)
    draw.shuffle(shuffled)
    with closing(Judged()) as one, closing(Judged()) as other:
        last = {at % len(one.edges): entry for at, entry in ((at, (at, kind)) for at, kind in steps)}
        run(one, [entry for entry in steps if entry in last.values()])
        run(other, [entry for entry in shuffled if entry in last.values()])
        assert one.ranking() == other.ranking()


def test_a_verdict_moves_its_pair_and_those_like_it(judged: Judged) -> None:
    before = judged.ranking()
    with judged.database.read() as connection:
        files = dict(
            connection.execute("SELECT name, file.id FROM file JOIN path ON path.id = file.path").fetchall()
        )
        query = "SELECT id FROM minted WHERE source IN (?1, ?2) AND target IN (?1, ?2)"
        ends = (4 * files["src/cart.py"], 4 * files["tests/test_cart.py"])
        (edge,) = connection.execute(query, ends).fetchone()
    judged.judge(edge, REJECT)
    after, lessons = judged.ranking(), judged.lessons()
    moved = {
        (path, name) for path in FILES for name, chance in after[path] if dict(before[path])[name] > chance
    }
    assert {("src/cart.py", "tests/test_cart.py"), ("tests/test_cart.py", "src/cart.py")} <= moved
    assert ("src/stock.py", "tests/test_stock.py") in moved, "it lies in the same folders"
    assert ("src/cart.py", "docs/cart.md") not in moved
    cart, test = (End(files[name], name) for name in ("src/cart.py", "tests/test_cart.py"))
    assert -BOUND <= lessons.offset(cart, test) < 0.0


def test_a_past_moment_is_taught_by_the_verdicts_of_then(judged: Judged) -> None:
    edge = judged.edges[0]
    judged.judge(edge, REJECT)
    no = judged.lessons()
    judged.judge(edge, CONFIRM)
    yes = judged.lessons()
    judged.judge(edge, UNDO)
    assert judged.lessons() == no
    assert [judged.lessons(NOW + days * DAY + 1.0) for days in range(4)] == [UNTAUGHT, no, yes, no]


def test_a_retired_edge_teaches_nothing(judged: Judged) -> None:
    judged.judge(judged.edges[0], CONFIRM)
    judged.judge(judged.edges[0], VerdictKind.RETIRE)
    assert judged.lessons() == UNTAUGHT


def test_a_file_that_is_gone_teaches_nothing_more(judged: Judged) -> None:
    for edge in judged.edges:
        judged.judge(edge, CONFIRM)
    assert judged.lessons()
    judged.journal.append([Observation(id="end", session="s", at=NOW + 50 * DAY, files_deleted=FILES)], 0.0)
    catch_up(judged.journal, judged.database)
    promote(judged.journal, judged.database, "p")
    assert judged.lessons() == UNTAUGHT


# ---- through the memory --------------------------------------------------------------------------


@pytest.fixture
def twins(memory: Memory, tmp_path: Path, tell: Callable[..., Any]) -> tuple[Project, Project]:
    """Two projects with the same history."""
    found = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        project, _ = memory.register(tmp_path / name)
        tell(project, *history())
        project.graph.infer()
        found.append(project)
    return found[0], found[1]


def answers(project: Project) -> Ranking:
    return {
        path: [(entry.path, entry.probability) for entry in project.impact([path]).affected] for path in FILES
    }


def test_another_project_does_not_learn_of_it(twins: tuple[Project, Project]) -> None:
    one, other = twins
    before = answers(one)
    assert answers(other) == before
    edges = one.graph.edges(EdgeFilter()).items
    one.graph.judge([Decision(edge.id, REJECT) for edge in edges])
    assert answers(one) != before
    assert answers(other) == before
    one.graph.judge([Decision(edge.id, UNDO) for edge in edges])
    assert answers(one) == before


def test_the_list_by_value_is_the_same_again_and_its_pages_hold_everything_once(
    twins: tuple[Project, Project],
) -> None:
    one, other = twins

    def listed(project: Project, limit: int) -> list[tuple[str, str, float]]:
        found, cursor = [], None
        while True:
            page = project.graph.edges(EdgeFilter(), limit, cursor)
            found += [(edge.source.name, edge.target.name, edge.value) for edge in page.items]
            cursor = page.next_cursor
            if cursor is None:
                return found

    whole = listed(one, 200)
    assert len(whole) == len({entry[:2] for entry in whole}) > 2
    assert listed(one, 200) == whole
    assert listed(one, 1) == listed(one, 3) == whole
    assert sorted(entry[:2] for entry in listed(other, 3)) == sorted(entry[:2] for entry in whole)
