"""Connection points of every kind, wherever they are named: who uses them, when last, and what took over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem.contracts import read_contracts
from graphmem.instant import DAY
from graphmem.model import ContractUse, Fact, FactKind, Observation, TaskState
from graphmem.recall.activity import contracts

OLD, NEW = "POST /api/v1/auth/refresh", "POST /api/v2/auth/refresh"


def observed(number: int = 1, **fields: Any) -> Observation:
    return Observation(id=f"o{number}", session=f"s{number}", at=number * DAY, **fields)


def names(**fields: Any) -> list[str]:
    return [mention.name for mention in read_contracts(observed(**fields))]


def replaced(text: str) -> dict[str, str]:
    mentions = read_contracts(observed(facts=(Fact(text),)))
    return {mention.name: mention.superseded_by for mention in mentions if mention.superseded_by}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Checkout calls POST /api/v1/auth/refresh", OLD),
        ("the `orders` table got a column", "table orders"),
        ("emits `order.paid`", "event order.paid"),
        ("reads `DATABASE_URL`", "setting DATABASE_URL"),
        ("the config key `session.ttl` is 900", "setting session.ttl"),
        ("结账调用 POST /api/v1/auth/refresh", OLD),
        ("orders 表加了一列", "table orders"),
        ("发布事件 `order.paid`", "event order.paid"),
        ("环境变量 DATABASE_URL", "setting DATABASE_URL"),
        ("配置项 session.ttl 为 900", "setting session.ttl"),
    ],
)
@pytest.mark.parametrize("field", ["title", "intent", "narrative", "facts"])
def test_a_contract_of_each_kind_is_read_from_each_text(text: str, name: str, field: str) -> None:
    assert names(**{field: (Fact(text),) if field == "facts" else text}) == [name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("needs DATABASE_URL to start", ["setting DATABASE_URL"]),
        ("需要 REDIS_HOST", ["setting REDIS_HOST"]),
        ("Set SERVER_PORT by scheme", ["setting SERVER_PORT"]),
        ("add config option keyring.enabled", ["setting keyring.enabled"]),
        ("the virtualenvs.in-project setting", ["setting virtualenvs.in-project"]),
        ('New config value "keep_warnings"', ["setting keep_warnings"]),
        ("配置键 `cache.max-age`", ["setting cache.max-age"]),
        ("the new setting server.maxBodySize", ["setting server.maxBodySize"]),
    ],
)
def test_environment_variables_and_keys_of_a_configuration_are_settings(
    text: str, expected: list[str]
) -> None:
    assert names(title=text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Update config.yaml",
        "Update configuration.rst",
        "Add discovery to configure.ac",
        "Add Configuration.from and use it",
        "Setting user.name to null",
        "the settings.py file",
        "config option verbose",
        "needs STATE_MASK",
        "read MAX_RETRIES times",
        "the window.location setting",
        "a well-known config",
        "配置文件 app.yaml",
    ],
)
def test_files_attributes_and_plain_words_are_no_settings(text: str) -> None:
    assert names(title=text) == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app/api/teams/[teamId]/links/route.ts", ["/api/teams/{teamId}/links"]),
        ("app/(shop)/api/cart/route.js", ["/api/cart"]),
        ("pages/api/users/[id].ts", ["/api/users/{id}"]),
        ("src/pages/api/teams/index.ts", ["/api/teams"]),
        ("database/migrations/2014_10_12_000000_create_users_table.php", ["table users"]),
        ("db/migrate/20240102030405_create_orders.rb", ["table orders"]),
        ("store/migration/sqlite/0.26/03__alter_user_role.sql", ["table user_role"]),
        ("src/app/api/client.ts", []),
        ("src/pages/api/teams/_join.ts", []),
        ("src/pages/shop/index.ts", []),
        ("services/api/users.py", []),
        ("db/migrate/20240102030405_add_index.rb", []),
        ("docs/create_users_table.md", []),
    ],
)
def test_layouts_that_frameworks_prescribe_name_contracts(path: str, expected: list[str]) -> None:
    assert names(files_modified=(path,)) == expected
    assert names(files_read=(path,)) == [], "who reads a file changes nothing of what it serves"


def test_a_route_named_by_its_path_is_the_one_that_the_text_names_with_a_method() -> None:
    found = names(title="GET /api/users/:id is slow", files_modified=("pages/api/users/[id].ts",))
    assert found == ["GET /api/users/{id}"]


@pytest.mark.parametrize(
    "text",
    [
        f"{OLD} moved from v1 to v2",
        f"{OLD} was moved from `v1` to `v2` in March",
        f"Moved {OLD} from v1 to v2",
        f"{NEW} moved from v1 to v2",
        f"Migrated the endpoint {OLD} to v2",
        f"{OLD} moved to v2",
        f"{OLD} 从 v1 迁移到 v2",
        f"{OLD} 已从 v1 升级到 v2",
        f"把 {OLD} 从 v1 迁到 v2",
        f"{OLD} 改到 {NEW}",
    ],
)
def test_moved_from_one_version_to_the_next_is_understood(text: str) -> None:
    assert replaced(text) == {OLD: NEW}


def test_an_event_moves_from_one_version_to_the_next_too() -> None:
    assert replaced("event order.paid.v1 moved from v1 to v2") == {
        "event order.paid.v1": "event order.paid.v2"
    }


@pytest.mark.parametrize(
    "text",
    [
        f"{OLD} will be moved from v1 to v2",
        f"We plan to move {OLD} from v1 to v2",
        f"{OLD} differs from v1 to v2",
        f"{OLD} moved from v2 to v1",
        f"{OLD} moved from v3 to v4",
        f"{OLD} 计划从 v1 迁移到 v2",
        f"{OLD} moved from v1 to v2.1",
        "POST /api/auth/refresh moved from v1 to v2",
    ],
)
def test_what_has_not_happened_or_fits_no_version_replaces_nothing(text: str) -> None:
    assert replaced(text) == {}


def test_an_open_task_to_move_has_moved_nothing() -> None:
    task = Fact(f"Move {OLD} to v2", FactKind.TASK, TaskState.OPEN)
    assert [mention.superseded_by for mention in read_contracts(observed(facts=(task,)))] == [None]


def test_who_uses_a_contract_and_when_last_is_told_with_what_took_over(recorded: Callable[..., Any]) -> None:
    memory = recorded(
        observed(1, title=f"Checkout calls {OLD}", concepts=("checkout",), files_modified=("pay.ts",)),
        observed(2, narrative=f"Signed in with {OLD}", concepts=("mobile",), files_modified=("app.ts",)),
        observed(
            3, facts=(Fact(f"{OLD} 从 v1 迁移到 v2"),), concepts=("gateway",), files_modified=("auth.ts",)
        ),
    )
    with memory.view() as view:
        (found,) = contracts(view, [view.file("pay.ts").id])
    assert found.use == ContractUse(OLD, found.use.used_by, 3 * DAY, NEW)
    assert {"checkout", "mobile"} <= set(found.use.used_by)
    assert "gateway" not in found.use.used_by, "who replaced it does not use it"
    assert found.is_outdated
