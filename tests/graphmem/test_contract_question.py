"""Who uses a contract: which one is meant, and who comes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem.model import Observation
from graphmem.recall.contract_question import ContractAnswer, contract_users, named_contracts

OLD, NEW = "POST /api/v1/auth/session", "POST /api/v2/auth/session"


def told(number: int, title: str, *files: str, **more: Any) -> Observation:
    return Observation(
        id=f"o{number}", session=f"s{number}", at=float(number), title=title, files_modified=files, **more
    )


MOVED = (
    told(1, f"{OLD} answers with a token", "src/auth.ts", "src/docs.md"),
    told(2, f"App signs in with {OLD}", "src/app.ts"),
    told(3, f"Sign-in: {OLD} -> {NEW}", "src/auth.ts"),
    told(4, f"Old app still calls {OLD}", "src/old_app.ts"),
    told(5, f"Page signs in with {NEW}", "src/page.ts"),
    told(6, "Write orders to the table `orders`", "src/orders.py"),
    told(7, "Emit the event order.paid", "src/pay.py"),
    told(8, "Read SESSION_TTL from the environment variable SESSION_TTL", "src/config.py"),
    told(9, "List with GET /api/v1/products", "src/list.ts"),
)


def named(recorded: Callable[..., Any], text: str, as_of: float | None = None) -> list[str]:
    with recorded(*MOVED).view(as_of) as view:
        return sorted(contract.name for contract in named_contracts(view, text))


def users(recorded: Callable[..., Any], text: str, as_of: float | None = None) -> ContractAnswer:
    with recorded(*MOVED).view(as_of) as view:
        return contract_users(view, named_contracts(view, text), text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"who uses {OLD}?", [OLD]),
        ("what breaks if `/api/v1/auth/session` moves to v2", [OLD]),
        ("谁在用 /api/v1/auth/session", [OLD]),
        ("who uses /api/v1/auth?", [OLD]),
        ("who uses /api/v1?", ["GET /api/v1/products", OLD]),
        ("who still calls v1 of the session API", [OLD]),
        ("who calls the session API", [OLD, NEW]),
        ("which services write to table orders", ["table orders"]),
        ("谁在写 orders 表", ["table orders"]),
        ("who listens to order.paid?", ["event order.paid"]),
        ("where is SESSION_TTL used?", ["setting SESSION_TTL"]),
        ("who uses orders?", []),
        ("who uses POST /api/v9/nothing?", []),
        ("who calls the unknown API", []),
        ("", []),
        ("/", []),
        ("'; DROP TABLE contract; --", []),
        ("'}) DETACH DELETE n //", []),
    ],
)
def test_a_contract_is_known_by_its_name_its_path_or_its_words(
    recorded: Callable[..., Any], text: str, names: list[str]
) -> None:
    assert named(recorded, text) == names


def test_users_of_the_old_one_come_first_those_since_it_was_replaced_before_others(
    recorded: Callable[..., Any],
) -> None:
    answer = users(recorded, f"what breaks if {OLD} goes?")
    assert [node.name for node in answer.nodes] == [
        OLD, "src/old_app.ts", "src/app.ts", "src/docs.md", "src/page.ts", "src/auth.ts", NEW,
    ]  # fmt: skip
    assert [node.superseded_by for node in answer.nodes] == [NEW, *[None] * 6]
    scores = [node.score for node in answer.nodes if node.superseded_by is None]
    assert scores[:4] == sorted(scores[:4], reverse=True)


def test_users_carry_the_contract_they_were_seen_on(recorded: Callable[..., Any]) -> None:
    answer = users(recorded, f"who uses {OLD}?")
    ways = {node.name: node.via[0] for node in answer.nodes if node.via}
    assert (ways["src/old_app.ts"].source, ways["src/old_app.ts"].kind) == (f"contract:{OLD}", "uses")
    assert ways["src/page.ts"].source == f"contract:{NEW}"
    assert answer.nodes[1].text.startswith(f"last seen on {OLD} on 1970-01-01, which is superseded")
    assert "已被" in users(recorded, f"谁还在用 {OLD}").nodes[1].text


def test_the_observations_behind_are_those_of_the_old_one_first(recorded: Callable[..., Any]) -> None:
    made = recorded(*MOVED)
    with made.view() as view:
        answer = contract_users(view, named_contracts(view, OLD), OLD)
        ids = [head.id for head in view.heads(piece.seq for piece in answer.pieces)]
    assert ids == ["o4", "o2", "o1", "o5", "o3"]
    assert all(piece.via[0].kind == "mentions" for piece in answer.pieces)


def test_a_past_moment_knows_the_users_of_then(recorded: Callable[..., Any]) -> None:
    answer = users(recorded, f"who uses {OLD}?", 2.5)
    assert [node.name for node in answer.nodes] == ["src/app.ts", "src/auth.ts", "src/docs.md", OLD]
    assert named(recorded, f"who uses {NEW}?", 2.5) == []


def test_what_names_both_uses_the_new_one(recorded: Callable[..., Any]) -> None:
    made = recorded(*MOVED, told(10, f"Deprecate {OLD}, describe {NEW}", "openapi.yaml"))
    with made.view() as view:
        answer = contract_users(view, named_contracts(view, OLD), OLD)
    (found,) = (node for node in answer.nodes if node.name == "openapi.yaml")
    assert found.via[0].source == f"contract:{NEW}"


def test_files_that_are_gone_use_nothing(recorded: Callable[..., Any]) -> None:
    gone = Observation(id="x", session="x", at=20.0, title="drop", files_deleted=("src/old_app.ts",))
    with recorded(*MOVED, gone).view() as view:
        answer = contract_users(view, named_contracts(view, OLD), OLD)
    assert "src/old_app.ts" not in [node.name for node in answer.nodes]
