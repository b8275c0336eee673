"""Where the memory and the code moved apart: by the history, and by the working tree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from graphmem import Project
from graphmem.drift import changed_since
from graphmem.graph import Declaration, Edge, Relation
from graphmem.instant import from_iso, to_iso
from graphmem.model import Fact, Observation
from graphmem.working_tree import WorkingTree, gone, needles

NOON = from_iso("2026-05-01T12:00:00Z")
HOUR = 3_600.0


class Piece(NamedTuple):
    seq: int
    ord: int = -1


def work(number: int, *files: str, **more: Any) -> Observation:
    more.setdefault("at", float(number))
    return Observation(id=f"o{number}", session=f"s{number}", files_modified=files, **more)


# ---- pieces -------------------------------------------------------------------------------------


def test_a_piece_says_how_often_its_files_changed_since(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a", "b"), work(2, "a"), work(3, "a", "c"), work(4, files_read=("b",)))
    with memory.view() as view:
        said = changed_since(view, [Piece(1), Piece(1, 0), Piece(2), Piece(3), Piece(99)])
    assert said == {
        (1, -1): "a changed 2 times since",
        (1, 0): "a changed 2 times since",
        (2, -1): "a changed once since",
    }


def test_a_file_that_is_gone_is_said_to_be(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a"), work(2, files_deleted=("a",)))
    with memory.view() as view:
        assert changed_since(view, [Piece(1)]) == {(1, -1): "a is gone"}
    with memory.view(1.5) as view:
        assert changed_since(view, [Piece(1)]) == {}


def test_a_renamed_file_keeps_its_changes(recorded: Callable[..., Any]) -> None:
    from graphmem.model import Rename

    memory = recorded(work(1, "a"), work(2, renames=(Rename("a", "b"),)), work(3, "b"))
    with memory.view() as view:
        assert changed_since(view, [Piece(1)]) == {(1, -1): "b changed 2 times since"}
        assert changed_since(view, []) == {}


def test_many_changes_are_counted_up_to_twenty(recorded: Callable[..., Any]) -> None:
    memory = recorded(*(work(number, "a", "b", "c") for number in range(1, 40)))
    with memory.view() as view:
        assert (
            changed_since(view, [Piece(1)])[1, -1] == "a changed 20+ times since; b changed 20+ times since"
        )


# ---- the whole memory ---------------------------------------------------------------------------


def at(number: float) -> str:
    return to_iso(NOON - (500 - number) * HOUR)


def item(number: int, *files: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"o{number}",
        "session": f"s{number}",
        "at": at(number),
        "files_modified": list(files),
        **more,
    }


def test_files_that_changed_since_the_last_statement_are_listed(shop: Project, tell: Any) -> None:
    tell(
        shop, item(1, "a.py", "b.py", facts=["the cart holds ten items"]), item(2, "b.py", facts=["so it is"])
    )
    tell(shop, *(item(number, "a.py") for number in range(3, 7)), item(7, "b.py"))
    drift = shop.graph.health().drift
    assert drift is not None
    assert [(each.node.name, each.statements, each.changes) for each in drift.changed_files] == [
        ("a.py", 1, 4)
    ]
    assert drift.counts["changed_files"] == 1


def test_consumers_of_a_replaced_contract_are_listed_until_they_move(shop: Project, tell: Any) -> None:
    old, new = "POST /api/v1/auth/session", "POST /api/v2/auth/session"
    tell(
        shop,
        item(1, "cart.py", title=f"Call {old}"),
        item(2, "mail.py", title=f"Call {old}"),
        item(3, "auth.py", title=f"{old} moved to {new}"),
        item(4, "mail.py", title=f"Call {new}"),
    )
    drift = shop.graph.health().drift
    assert drift is not None
    (found,) = drift.outdated_consumers
    assert (found.node.name, found.contract, found.superseded_by) == ("cart.py", old, new)
    tell(shop, item(5, "cart.py", title=f"Call {new}"))
    assert shop.graph.health().drift.outdated_consumers == ()  # type: ignore[union-attr]


def confirmed(shop: Project, tell: Any, *, together: int, alone: int, clock: Any) -> list[Edge]:
    tell(shop, *(item(number, "a.py", "b.py") for number in range(1, 4)))
    clock.now = NOON - 400 * HOUR
    shop.graph.declare([Declaration("file:a.py", "file:b.py", Relation.DEPENDS_ON)])
    clock.now = NOON
    both = (item(number, "a.py", "b.py") for number in range(110, 110 + together))
    single = [item(number, ("a.py", "b.py")[number % 2]) for number in range(200, 200 + 2 * alone)]
    tell(shop, *both, *single)
    shop.graph.infer()
    return list(shop.graph.edges(limit=5).items)


def test_a_confirmed_edge_whose_ends_moved_apart_heads_the_queue(
    shop: Project, tell: Any, clock: Any
) -> None:
    items = confirmed(shop, tell, together=0, alone=10, clock=clock)
    assert items[0].status == "confirmed"
    assert "changed 10 and 10 times, never together" in str(items[0].reason)
    drift = shop.graph.health().drift
    assert drift is not None
    assert [edge.id for edge in drift.apart_edges] == [items[0].id]


@pytest.mark.parametrize(("together", "alone"), [(0, 9), (1, 12), (5, 20)])
def test_an_edge_that_still_holds_is_left_alone(
    shop: Project, tell: Any, clock: Any, together: int, alone: int
) -> None:
    items = confirmed(shop, tell, together=together, alone=alone, clock=clock)
    assert [edge for edge in items if edge.status == "confirmed"] == []
    assert shop.graph.health().drift.apart_edges == ()  # type: ignore[union-attr]


# ---- the working tree ---------------------------------------------------------------------------


def test_a_contract_that_the_tree_names_no_more_is_lost(shop: Project, tell: Any, tmp_path: Path) -> None:
    source = tmp_path / "shop" / "client.py"
    source.write_text('post("/api/v1/orders/checkout")\nget("/api/v1/orders/history")\n')
    texts = ("POST /api/v1/orders/checkout", "GET /api/v1/orders/history", "GET /api/v1/orders/{id}/refunds")
    tell(shop, item(1, "client.py", title="Call the shop", facts=list(texts)))
    assert shop.graph.health().drift.lost_contracts == ()  # type: ignore[union-attr]
    source.write_text('get("/api/v1/orders/history")\n')
    drift = shop.graph.health().drift
    assert drift is not None
    assert [each.name for each in drift.lost_contracts] == ["POST /api/v1/orders/checkout"]
    assert drift.complete


def test_vendored_and_ignored_files_do_not_name_a_contract(
    git_repository: Callable[..., Any], memory: Any, tell: Any
) -> None:
    repository = git_repository("app")
    repository.commit("start", {".gitignore": "out/\n", "main.py": "print()\n"})
    for folder in ("out", "node_modules/x"):
        (repository.path / folder).mkdir(parents=True)
        (repository.path / folder / "a.js").write_text("fetch('/api/v1/orders/checkout')")
    project = memory.register(repository.path)[0]
    tell(project, item(1, "main.py", title="Call POST /api/v1/orders/checkout"))
    assert [each.name for each in project.graph.health().drift.lost_contracts] == [
        "POST /api/v1/orders/checkout"
    ]
    (repository.path / "new.py").write_text("'/api/v1/orders/checkout'")
    assert project.graph.health().drift.lost_contracts == ()


def test_a_tree_that_is_not_looked_through_whole_has_lost_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("nothing")
    assert WorkingTree().lost(str(tmp_path), {"checkout"}) == ({"checkout"}, True)
    assert WorkingTree().lost(str(tmp_path), {"checkout"}, seconds=-1.0) == (set(), False)


def test_files_of_another_branch_are_marked(
    git_repository: Callable[..., Any], memory: Any, tell: Any
) -> None:
    repository = git_repository("app")
    repository.commit("start", {"main.py": "print()\n"})
    repository.git("checkout", "-q", "-b", "other")
    repository.commit("more", {"other.py": "print()\n"})
    project = memory.register(repository.path)[0]
    project.import_git(str(repository.path))
    before = project.graph.health().drift
    assert (before.branch, before.off_branch) == ("other", ())
    repository.git("checkout", "-q", "main")
    (repository.path / "untracked.py").write_text("")
    tell(project, item(1, "untracked.py"))
    after = project.graph.health().drift
    assert (after.branch, [node.name for node in after.off_branch]) == ("main", ["other.py"])


def test_without_git_no_file_is_off_a_branch(shop: Project, tell: Any) -> None:
    tell(shop, item(1, "a.py"))
    drift = shop.graph.health().drift
    assert drift is not None
    assert (drift.branch, drift.off_branch) == (None, ())


def test_links_loops_and_strange_names_in_the_tree_do_no_harm(tmp_path: Path) -> None:
    os.symlink(tmp_path, tmp_path / "loop")
    (tmp_path / "binary.bin").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "空 格\n.py").write_text("checkout")
    os.mkfifo(tmp_path / "pipe")
    assert WorkingTree().lost(str(tmp_path), {"checkout", "\udcff"}) == ({"\udcff"}, True)


@pytest.mark.parametrize(
    ("contract", "found"),
    [
        ("POST /api/v1/auth/session", ("/api/v1/auth/session", "session")),
        ("GET /users/{id}/orders", ("/users", "users")),
        ("GET /users/:id", ("/users", "users")),
        ("table orders", ("orders", "orders")),
        ("event order.paid", ("order.paid", "order.paid")),
        ("GET /", None),
        ("GET /{id}", None),
        ("table t", None),
    ],
)
def test_what_a_contract_is_looked_for_by(contract: str, found: tuple[str, str] | None) -> None:
    assert needles(contract) == found


def test_a_path_put_together_from_pieces_is_not_lost() -> None:
    session, other = "POST /api/auth/session", "GET /api/auth/keys"
    assert gone([session], {"/api/auth/session"}) == []
    assert gone([session], {"/api/auth/session", "session"}) == [session]
    assert gone([session, other], {"/api/auth/session"}) == [session]


def test_statements_are_pieces_too(recorded: Callable[..., Any]) -> None:
    memory = recorded(work(1, "a", facts=(Fact("x is 1"),)), work(2, "a"))
    with memory.view() as view:
        assert changed_since(view, [Piece(1, 0)]) == {(1, 0): "a changed once since"}
