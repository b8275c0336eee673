"""The list of edges: its order, the first twenty, pages that skip nothing; one edge by any of its ids."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.graph import (
    Decision,
    EdgeFilter,
    EdgeKind,
    EdgeOrder,
    EdgePage,
    EdgeStatus,
    NodeName,
    NodeType,
    Relation,
    VerdictKind,
)
from graphmem.ledger import MintRequest
from graphmem.model import FileStatus, Observation
from graphmem.recall.queue import edge_page
from graphmem.recall.rows import ListedRows, RowFilter, TableRows


def work(number: int, *files: str, **more: Any) -> Observation:
    return Observation(id=f"o{number}", session=f"s{number}", at=float(number), files_modified=files, **more)


@pytest.fixture
def shop(recorded: Callable[..., Any]) -> Any:
    """Files `f0` to `f59` and edges `e01` to `e40` between distinct pairs, `e40` of the highest value."""
    memory = recorded(work(1, *(f"f{number}" for number in range(60))), work(2, "f0", concepts=("auth",)))
    for number in range(1, 41):
        memory.edge(
            f"e{number:02}",
            f"f{number}",
            f"f{(number + 1) % 60}",
            value=number / 10,
            probability=(number * 7 % 41) / 41,
            together=number % 5 + 2,
            updated_at=float(number * 11 % 41),
            keys="1",
        )
    return memory


def asked(
    memory: Any, limit: int = 20, cursor: str | None = None, *, node: str | None = None, **more: Any
) -> EdgePage:
    where = {name: value for name, value in more.items() if name in EdgeFilter.__dataclass_fields__}
    rest = {name: value for name, value in more.items() if name not in where}
    number = None if node is None else memory.number(node)
    with memory.view() as view:
        return edge_page(memory.edges(view, **rest), EdgeFilter(**where), number, limit, cursor)


def ids(page: EdgePage) -> list[str]:
    return [edge.id for edge in page.items]


def paged(
    memory: Any, limit: int, between: Callable[[list[str]], None] | None = None, **more: Any
) -> list[str]:
    """Return the ids of all pages in turn; `between` is told what was shown before each next one."""
    found: list[str] = []
    cursor = None
    while True:
        page = asked(memory, limit, cursor, **more)
        assert len(page.items) <= limit
        found += ids(page)
        cursor = page.next_cursor
        if cursor is None:
            return found
        assert page.items
        if between is not None:
            between(ids(page))


# ---- order -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "key"),
    [
        (EdgeOrder.VALUE, "value"),
        (EdgeOrder.PROBABILITY, "probability"),
        (EdgeOrder.SUPPORT, "together"),
        (EdgeOrder.RECENT, "updated_at"),
    ],
)
def test_each_order_is_highest_first_and_ties_go_by_id(shop: Any, order: EdgeOrder, key: str) -> None:
    edges = asked(shop, 200, order=order).items
    keys = [
        (-float(edge.evidence.together if key == "together" else getattr(edge, key)), edge.id)
        for edge in edges
    ]
    assert len(keys) == 40
    assert keys == sorted(keys)


def test_an_edge_carries_ends_evidence_scores_and_observations(shop: Any) -> None:
    edge = asked(shop, 1).items[0]
    assert (edge.id, edge.source.ref, edge.target.ref) == ("e40", "file:f40", "file:f41")
    assert (edge.evidence.together, edge.evidence.observations) == (2, ("o1",))
    assert (edge.kind, edge.status) == (EdgeKind.CO_CHANGES, EdgeStatus.CANDIDATE)
    assert (edge.value, edge.score.file, edge.verdicts) == (4.0, 0.5, ())


def test_no_file_takes_more_than_three_of_the_first_twenty(shop: Any) -> None:
    for number in range(30):
        shop.edge(f"h{number:02}", "f0", f"f{number + 5}", value=100.0 + number)
    found = asked(shop, 200).items
    first = Counter(node.ref for edge in found[:20] for node in (edge.source, edge.target))
    assert first["file:f0"] == 3
    assert max(first.values()) <= 3
    assert [edge.id for edge in found[:3]] == ["h29", "h28", "h27"]
    rest = [(-edge.value, edge.id) for edge in found[20:]]
    assert rest == sorted(rest)
    assert len({edge.id for edge in found}) == len(found) == 70


def test_of_edges_that_ask_the_same_question_only_the_first_is_among_the_first_twenty(
    recorded: Callable[..., Any],
) -> None:
    files = ("en", "de", "zh", "x", "y")
    more = [f"{letter}{number}" for number in range(30) for letter in "gh"]
    memory = recorded(work(1, *files), work(2, *files), work(3, "x", "en"), work(4, *more))
    for value, (id, source, target) in enumerate(
        [("e1", "de", "zh"), ("e2", "en", "zh"), ("e3", "de", "en"), ("e4", "x", "y")]
    ):
        memory.edge(id, source, target, value=float(value), keys="2 1", together=2)
    memory.edge("e5", "en", "x", value=9.0, keys="3 2 1", together=3)
    found = asked(memory).items
    assert [(edge.id, edge.similar) for edge in found] == [
        ("e5", ()),
        ("e3", ("e2", "e1")),
        ("e4", ()),
        ("e2", ()),
        ("e1", ()),
    ]
    assert [edge.similar for edge in asked(memory, node="zh").items] == [("e1",), ()]
    for number in range(30):
        memory.edge(f"f{number:02}", f"g{number}", f"h{number}", value=0.5)
    assert ids(asked(memory))[:4] == ["e5", "e3", "e4", "f00"]
    assert sorted(ids(asked(memory, 200)))[:5] == ["e1", "e2", "e3", "e4", "e5"]
    with memory.view() as view:
        listed = ListedRows(TableRows(view).listed(RowFilter(tuple(EdgeStatus)), EdgeOrder.VALUE, 100))
        assert edge_page(memory.edges(view, rows=listed), EdgeFilter(), None, 20).items == asked(memory).items
    with memory.database.write() as connection:
        connection.execute("UPDATE edge SET status = 'confirmed' WHERE id = 'e3'")
    assert [(edge.id, edge.similar) for edge in asked(memory).items[:3]] == [
        ("e5", ()),
        ("e4", ()),
        ("e2", ("e1",)),
    ]


def test_where_there_is_only_one_hub_its_edges_follow_all_the_same(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, *(f"f{number}" for number in range(9))))
    for number in range(1, 9):
        memory.edge(f"e{number}", "f0", f"f{number}", value=float(number))
    assert paged(memory, 2) == ["e8", "e7", "e6", "e5", "e4", "e3", "e2", "e1"]


def test_what_is_settled_is_listed_in_plain_order(shop: Any) -> None:
    for number in range(30):
        shop.edge(f"h{number:02}", "f0", f"f{number + 5}", value=100.0 + number, status="rejected")
    assert ids(asked(shop, 5, statuses=(EdgeStatus.REJECTED,))) == ["h29", "h28", "h27", "h26", "h25"]


# ---- filters -----------------------------------------------------------------------------------


def test_suggestions_about_concepts_are_listed_when_asked_for(shop: Any) -> None:
    shop.edge("about", "f3", "concept:auth", kind="about", value=50.0)
    shop.edge("said", "f3", "feature:login", status="confirmed", origin="declared", value=50.0)
    assert "about" not in ids(asked(shop, 200))
    assert ids(asked(shop, kinds=(EdgeKind.ABOUT,))) == ["about"]
    assert ids(asked(shop, node="f3"))[0] == "about"
    assert ids(asked(shop, node="concept:auth")) == ["about"]
    assert ids(asked(shop, statuses=(EdgeStatus.CONFIRMED,))) == ["said"]


def test_statuses_kinds_and_node_narrow_the_list(shop: Any) -> None:
    shop.edge("x1", "f3", "f50", kind="read_for", status="confirmed")
    both = (EdgeStatus.CANDIDATE, EdgeStatus.CONFIRMED)
    assert set(ids(asked(shop, node="f3", statuses=both))) == {"e02", "e03", "x1"}
    assert ids(asked(shop, node="f3", statuses=both, kinds=(EdgeKind.READ_FOR,))) == ["x1"]
    assert ids(asked(shop, node="f59")) == []


def test_suggestions_of_files_that_are_gone_or_missing_are_left_out_but_settled_ones_stay(shop: Any) -> None:
    shop.tell(Observation(id="gone", session="s", at=9.0, files_deleted=("f40",)))
    assert not {"e39", "e40"} & set(ids(asked(shop, 200)))
    found = ids(asked(shop, 200, missing=lambda paths: {"f7"} & set(paths)))
    assert not {"e06", "e07"} & set(found)
    assert len(found) == 36
    shop.edge("stale", "f40", "f2", status="stale", reason="f40 is gone")
    (edge,) = asked(shop, statuses=(EdgeStatus.STALE,)).items
    assert (edge.source.status, edge.reason) == (FileStatus.GONE, "f40 is gone")


def test_a_list_made_for_a_past_moment_answers_as_the_table_does(shop: Any) -> None:
    shop.edge("about", "f3", "concept:auth", kind="about", value=50.0)
    shop.edge("x1", "f3", "f50", kind="read_for", status="confirmed")
    everything = RowFilter(tuple(EdgeStatus))
    with shop.view() as view:
        rows = ListedRows(TableRows(view).listed(everything, EdgeOrder.VALUE, 1_000))
    for where in ({}, {"node": "f3"}, {"statuses": (EdgeStatus.CONFIRMED,)}, {"kinds": (EdgeKind.ABOUT,)}):
        for order in EdgeOrder:
            assert paged(shop, 7, order=order, rows=rows, **where) == paged(shop, 7, order=order, **where)


# ---- pages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 3, 19, 20, 21, 39, 40, 200])
def test_pages_of_any_size_give_the_same_list(shop: Any, limit: int) -> None:
    for number in range(10):
        shop.edge(f"h{number:02}", "f0", f"f{number + 5}", value=100.0 + number)
    assert paged(shop, limit) == ids(asked(shop, 200))


@pytest.mark.parametrize("limit", [1, 4, 20, 25])
@pytest.mark.parametrize("verdict", ["confirmed", "rejected"])
def test_verdicts_between_two_pages_skip_nothing(shop: Any, limit: int, verdict: str) -> None:
    for number in range(10):
        shop.edge(f"h{number:02}", "f0", f"f{number + 5}", value=100.0 + number)

    def judge(shown: list[str]) -> None:
        with shop.database.write() as connection:
            connection.executemany("UPDATE edge SET status = ? WHERE id = ?", [(verdict, id) for id in shown])

    everything = set(ids(asked(shop, 200)))
    found = paged(shop, limit, judge)
    assert set(found) == everything
    assert len(found) == len(everything)


@pytest.mark.parametrize(
    "cursor",
    ["", "?", "bm8", "W10", "x" * 5_000, "\u00e9", base64.urlsafe_b64encode(b"[" * 90_000).decode()],
)
def test_a_foreign_cursor_is_refused(shop: Any, cursor: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        asked(shop, 5, cursor)
    assert refused.value.field == "cursor"


@pytest.mark.parametrize(
    "value",
    [
        ["probability", [], None],
        ["value", ["e1"] * 21, None],
        ["value", [1], None],
        ["value", [], [True, "e1"]],
        ["value", [], [1e300, "e1"]],
        ["value", [], [1.0, 5]],
        ["value", [], [1.0]],
        ["value", ["\ud800"], None],
        {"value": []},
        5,
    ],
)
def test_a_forged_cursor_is_refused(shop: Any, value: object) -> None:
    cursor = base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")
    with pytest.raises(InvalidInputError):
        asked(shop, 5, cursor)


def test_any_text_as_a_cursor_is_a_page_or_a_refusal(shop: Any) -> None:
    @given(st.text(max_size=40))
    def ask(cursor: str) -> None:
        try:
            assert asked(shop, 5, cursor).items
        except InvalidInputError as refused:
            assert refused.field == "cursor"

    ask()


def test_fifty_thousand_suggestions_are_listed_at_once(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, *(f"f{number}" for number in range(90))))
    files = [memory.number(f"f{number}") for number in range(90)]
    rows = [
        (f"{n:016x}", files[n % 90], files[(n * 7 + 1) % 90], n % 997 / 100, float(n % 50))
        for n in range(50_000)
    ]
    with memory.database.write() as connection:
        connection.executemany(
            "INSERT INTO edge VALUES (?, ?, ?, 'co_changes', 'candidate', 'inferred', 0.5, ?, NULL, NULL,"
            " 2, 4, 2, 0.0, '1', 0.5, 0.0, 0.0, ?, NULL)",
            rows,
        )
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return 0

    with memory.view() as view:
        view.connection.set_progress_handler(count, 100_000)
        page = edge_page(memory.edges(view), EdgeFilter(), None, 20)
        view.connection.set_progress_handler(None, 0)
    assert len(page.items) == 20
    # So many times 100,000 steps of SQLite's machine are a few passes over the table, not one for each row.
    assert steps < 200


# ---- one edge ----------------------------------------------------------------------------------


def minted(memory: Any, source: str, target: str) -> str:
    pair = MintRequest(NodeName(NodeType.FILE, source), NodeName(NodeType.FILE, target))
    (id,) = memory.journal.ledger.mint([pair], "shop", 5.0)
    memory.tell()
    return str(id)


def test_an_edge_tells_its_verdicts_in_order(shop: Any) -> None:
    id = minted(shop, "f50", "f52")
    shop.edge(id, "f50", "f52", status="confirmed", relation="tests", direction="forward")
    ledger = shop.journal.ledger
    ledger.judge([Decision(id, VerdictKind.CONFIRM, Relation.TESTS, note="seen", by="ann")], 20.0, {})
    ledger.judge([Decision(id, VerdictKind.REJECT, by="bo")], 30.0, {})
    with shop.view() as view:
        edge = shop.edges(view).edge(id)
    assert [(given.verdict, given.by, given.at, given.note) for given in edge.verdicts] == [
        (VerdictKind.CONFIRM, "ann", 20.0, "seen"),
        (VerdictKind.REJECT, "bo", 30.0, ""),
    ]
    with shop.view(25.0) as view:
        assert len(shop.edges(view).edge(id).verdicts) == 1


def test_a_former_id_of_a_pair_gives_the_pairs_edge(shop: Any) -> None:
    first = minted(shop, "f50", "f52")
    shop.edge(first, "f50", "f52")
    with shop.database.write() as connection:
        ends = connection.execute("SELECT target, source FROM minted WHERE id = ?", (first,)).fetchone()
        connection.execute("INSERT INTO minted VALUES ('other', ?, ?, 99)", ends)
    with shop.view() as view:
        edges = shop.edges(view)
        assert edges.edge("other").id == first
        assert set(edges.by_ids(["other", first, "none"])) == {"other", first}


def test_an_unknown_edge_is_answered_with_ids_that_begin_alike(shop: Any) -> None:
    id = minted(shop, "f50", "f52")
    shop.edge(id, "f50", "f52")
    with shop.view() as view:
        edges = shop.edges(view)
        with pytest.raises(NotFoundError, match=r"file:f50 - file:f52") as refused:
            edges.edge(id[:8])
        assert refused.value.candidates == (id,)
        with pytest.raises(NotFoundError, match="graphmem edges") as refused:
            edges.edge("zzz\ud800")
        assert refused.value.candidates == ()


def test_an_edge_that_faded_is_told_from_one_that_never_was(shop: Any) -> None:
    id = minted(shop, "f50", "f52")
    with shop.view() as view, pytest.raises(NotFoundError, match="faded"):
        shop.edges(view).edge(id)
