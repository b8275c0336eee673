"""What verdicts change in the answer before an edit: confirmed links lead, what was ruled out is silent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem.graph import Decision, Direction, NodeName, NodeType, Relation, VerdictKind
from graphmem.instant import DAY
from graphmem.ledger import MintRequest
from graphmem.model import Affected, Impact, ModuleName, Observation, Tier
from graphmem.recall.impact import impact
from graphmem.recall.note import MAX_BYTES
from graphmem.recall.surroundings import Question

NOW = 100 * DAY
DEPENDS = {"status": "confirmed", "relation": "depends_on", "direction": "forward"}


def work(number: int, *files: str, **more: Any) -> Observation:
    return Observation(id=f"o{number}", session=f"s{number}", at=number * DAY, files_modified=files, **more)


@pytest.fixture
def shop(recorded: Callable[..., Any]) -> Any:
    """`token` and `refresh` change together always, `token` and `docs` once; `cart` and `stock` are apart."""
    days = [work(day, "token", "refresh") for day in range(1, 13)]
    return recorded(*days, work(15, "token", "docs"), work(18, "cart"), work(20, "stock"))


def asked(
    memory: Any, *paths: str, as_of: float | None = None, missing: Any = None, limit: int = 10
) -> Impact:
    with memory.view(as_of) as view:
        now = NOW if as_of is None else as_of
        lost = missing or (lambda candidates: set())
        return impact(view, Question(paths, limit=limit), now, lost, journal=memory.journal)


def entry(answer: Impact, path: str) -> Affected:
    return next(entry for entry in answer.affected if entry.path == path)


def names(answer: Impact) -> list[str]:
    return [entry.path for entry in answer.affected]


def test_without_edges_the_answer_is_what_history_says(shop: Any) -> None:
    answer = asked(shop, "token")
    assert names(answer) == ["refresh", "docs"]
    assert entry(answer, "refresh").tier is Tier.LIKELY
    assert {entry.edge_id for entry in answer.affected} == {None}
    assert answer.warning is not None
    assert answer.warning.startswith(
        "token, from recorded history:\nUsually changes along (and 1 weak):\n- refresh 76 %: "
    )


def test_a_candidate_is_named_by_its_edge_and_changes_nothing_else(shop: Any) -> None:
    before = asked(shop, "token")
    shop.edge("e1", "token", "refresh", probability=0.1)
    after = asked(shop, "token")
    assert entry(after, "refresh").edge_id == "e1"
    assert (after.warning, names(after)) == (before.warning, names(before))
    assert entry(after, "refresh").probability == entry(before, "refresh").probability
    assert entry(after, "refresh").tier is Tier.LIKELY


def test_a_confirmed_link_leads_even_where_history_knows_nothing_of_it(shop: Any) -> None:
    shop.edge("e1", "cart", "token", probability=0.2, keys="14 13", together=2, **DEPENDS)
    answer = asked(shop, "token")
    assert names(answer) == ["cart", "refresh", "docs"]
    first = answer.affected[0]
    assert (first.tier, first.relation, first.direction, first.edge_id) == (
        Tier.CONFIRMED,
        "depends_on",
        "forward",
        "e1",
    )
    assert (first.probability, first.evidence.observations) == (0.2, ("o18", "o15"))
    assert answer.warning is not None
    assert answer.warning.split("\n") == [
        "token, from recorded history:",
        "Confirmed:",
        "- cart depends on it: 2 of 4 times, 2 sessions, last 1970-01-01",
        "Usually changes along (and 1 weak):",
        "- refresh 76 %: 12 of 13 times, 12 sessions, last 1970-01-13",
        "More: graphmem impact token",
    ]


def test_a_confirmed_link_that_history_knows_keeps_what_history_says(shop: Any) -> None:
    before = entry(asked(shop, "token"), "docs")
    shop.edge("e1", "token", "docs", probability=0.01, status="confirmed")
    after = entry(asked(shop, "token"), "docs")
    assert names(asked(shop, "token"))[0] == "docs"
    assert (after.tier, after.edge_id, after.relation) == (Tier.CONFIRMED, "e1", None)
    assert (after.probability, after.evidence, after.signals) == (
        before.probability,
        before.evidence,
        before.signals,
    )
    shop_warning = asked(shop, "token").warning
    assert (
        shop_warning is not None and "Confirmed:\n- docs linked: 1 of 13 times, 1 session, " in shop_warning
    )


@pytest.mark.parametrize(
    ("relation", "direction", "words"),
    [
        (Relation.DEPENDS_ON, Direction.FORWARD, None),
        (Relation.DEPENDS_ON, Direction.BACKWARD, "depends on it"),
        (Relation.DEPENDS_ON, Direction.BOTH, "depends on it"),
        (Relation.TESTS, Direction.BACKWARD, "tests it"),
        (Relation.DOCUMENTS, Direction.BACKWARD, "documents it"),
        (Relation.CONFIGURES, Direction.BACKWARD, "configures it"),
        (Relation.IMPLEMENTS, Direction.BACKWARD, "implements it"),
        (None, None, "linked"),
    ],
)
def test_the_warning_names_what_depends_on_the_file_not_what_it_depends_on(
    shop: Any, relation: Relation | None, direction: Direction | None, words: str | None
) -> None:
    shop.edge("e1", "stock", "cart", status="confirmed", relation=relation, direction=direction, together=0)
    answer = asked(shop, "stock")
    assert entry(answer, "cart").tier is Tier.CONFIRMED
    if words is None:
        assert answer.warning is None
    else:
        assert answer.warning == (
            f"stock, from recorded history:\nConfirmed:\n- cart {words}\nMore: graphmem impact stock"
        )


@pytest.mark.parametrize("status", ["rejected", "retired"])
def test_what_was_ruled_out_is_neither_listed_nor_warned_of_nor_counted(shop: Any, status: str) -> None:
    shop.edge("e1", "refresh", "token", status=status)
    answer = asked(shop, "token")
    assert names(answer) == ["docs"]
    assert answer.warning is None
    shop.edge("e2", "docs", "token", status=status)
    assert asked(shop, "token").affected == ()


def test_what_was_ruled_out_with_one_file_is_listed_for_another_it_is_linked_to(shop: Any) -> None:
    shop.edge("e1", "refresh", "token", status="rejected")
    shop.edge("e2", "cart", "refresh")
    answer = asked(shop, "token", "cart")
    assert entry(answer, "refresh").edge_id == "e2"


def test_a_stale_edge_confirms_nothing_any_more(shop: Any) -> None:
    shop.edge("e1", "token", "refresh", **{**DEPENDS, "status": "stale"})
    shop.edge("e2", "token", "cart", **{**DEPENDS, "status": "stale"})
    answer = asked(shop, "token")
    assert names(answer) == ["refresh", "docs"]
    assert entry(answer, "refresh").tier is Tier.LIKELY


def test_a_confirmed_neighbour_that_is_gone_or_missing_is_not_listed(shop: Any) -> None:
    shop.edge("e1", "token", "cart", **DEPENDS)
    shop.edge("e2", "token", "stock", **DEPENDS)
    shop.tell(Observation(id="gone", session="s", at=30 * DAY, files_deleted=("cart",)))
    assert "stock" in names(asked(shop, "token"))
    answer = asked(shop, "token", missing=lambda paths: {"stock"} & set(paths))
    assert not {"cart", "stock"} & set(names(answer))


def test_the_first_entries_are_the_confirmed_ones_within_the_limit(shop: Any) -> None:
    for number in range(6):
        shop.tell(work(30 + 2 * number, f"page{number}"))
        shop.edge(f"e{number}", f"page{number}", "token", probability=number / 10, **DEPENDS)
    answer = asked(shop, "token", limit=4)
    assert names(answer) == ["page5", "page4", "page3", "page2"]
    assert answer.warning is not None and "Confirmed (and 3 more):" in answer.warning


def test_long_names_of_confirmed_dependents_keep_the_warning_bounded(shop: Any) -> None:
    paths = [f"{'very-long-folder/' * 12}file-{number}.ts" for number in range(5)]
    for number, path in enumerate(paths):
        shop.tell(work(30 + number, path))
        shop.edge(f"e{number}", path, "token", **DEPENDS)
    warning = asked(shop, "token").warning
    assert warning is not None
    assert len(warning.encode()) <= MAX_BYTES
    assert "depends on it" in warning


def test_several_files_share_what_is_confirmed_of_one(shop: Any) -> None:
    shop.edge("e1", "cart", "token", together=0, **DEPENDS)
    answer = asked(shop, "token", "stock")
    assert answer.affected[0].path == "cart"
    assert answer.warning is not None and answer.warning.startswith(
        "these 2 files, from recorded history:\nConfirmed:\n- cart depends on it\n"
    )


def test_the_module_of_most_files_is_named(shop: Any) -> None:
    shop.module("m1", "auth", "token", "refresh")
    shop.module("m2", "cart", "cart")
    shop.module("m3", "all", "token", "refresh", "cart", level=1)
    assert asked(shop, "token").module == ModuleName("m1", "auth")
    assert asked(shop, "cart", "token", "refresh").module == ModuleName("m1", "auth")
    assert asked(shop, "stock").module is None
    assert asked(shop, "token", as_of=5 * DAY).module is None


# ---- past moments ------------------------------------------------------------------------------


Given = tuple[float, VerdictKind, Relation | None, Direction | None]


def judged(memory: Any, source: str, target: str, *verdicts: Given) -> str:
    """Mint an edge and give verdicts on it, each at its own time."""
    pair = MintRequest(NodeName(NodeType.FILE, source), NodeName(NodeType.FILE, target))
    (id,) = memory.journal.ledger.mint([pair], "shop", 25 * DAY)
    for at, kind, relation, direction in verdicts:
        memory.journal.ledger.judge([Decision(id, kind, relation, direction)], at, {})
    memory.tell()
    return str(id)


def test_a_past_moment_knows_the_verdicts_given_by_then(shop: Any) -> None:
    id = judged(
        shop,
        "cart",
        "token",
        (30 * DAY, VerdictKind.CONFIRM, Relation.DEPENDS_ON, Direction.FORWARD),
        (50 * DAY, VerdictKind.REJECT, None, None),
        (60 * DAY, VerdictKind.UNDO, None, None),
    )
    assert "cart" not in names(asked(shop, "token", as_of=29 * DAY))
    confirmed = asked(shop, "token", as_of=35 * DAY).affected[0]
    assert (confirmed.path, confirmed.tier, confirmed.edge_id) == ("cart", Tier.CONFIRMED, id)
    assert (confirmed.relation, confirmed.direction, confirmed.evidence.together) == (
        "depends_on",
        "forward",
        0,
    )
    assert "cart" not in names(asked(shop, "token", as_of=55 * DAY))
    assert asked(shop, "token", as_of=65 * DAY).affected[0].path == "cart"
    warning = asked(shop, "token", as_of=35 * DAY).warning
    assert warning is not None and "Confirmed:\n- cart depends on it\n" in warning


def test_a_past_moment_before_a_rejection_lists_the_pair(shop: Any) -> None:
    judged(shop, "refresh", "token", (30 * DAY, VerdictKind.REJECT, None, None))
    assert "refresh" in names(asked(shop, "token", as_of=25 * DAY))
    assert "refresh" not in names(asked(shop, "token", as_of=30 * DAY))


def test_a_file_that_did_not_exist_yet_or_no_more_is_no_neighbour_of_a_past_moment(shop: Any) -> None:
    shop.tell(work(22, "late"), Observation(id="gone", session="s", at=33 * DAY, files_deleted=("late",)))
    judged(shop, "late", "token", (5 * DAY, VerdictKind.CONFIRM, Relation.DEPENDS_ON, Direction.FORWARD))
    assert "late" not in names(asked(shop, "token", as_of=21 * DAY))
    assert "late" in names(asked(shop, "token", as_of=24 * DAY))
    assert "late" not in names(asked(shop, "token", as_of=35 * DAY))
