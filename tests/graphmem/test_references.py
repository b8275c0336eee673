"""Names of nodes: what each spelling means, then and now, and which names are offered for an unknown one."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError, NotFoundError, UnknownNameError
from graphmem.graph import NodeName, NodeType
from graphmem.identity import PathResolver
from graphmem.model import FileStatus, Observation, Rename
from graphmem.nearness import closeness, nearest
from graphmem.nodes import NodeTable, table_of
from graphmem.references import References, split

TOKEN = "src/auth/token.ts"


def work(number: int, *files: str, **more: Any) -> Observation:
    return Observation(id=f"o{number}", session=f"s{number}", at=float(number), files_modified=files, **more)


def told() -> list[Observation]:
    return [
        work(1, TOKEN, "src/auth/refresh.ts", title="Fix POST /api/v1/auth/refresh", concepts=("auth",)),
        work(2, "src/checkout/cart.ts", "src/页面/登录.vue", title="Cart of the shop", concepts=("退款",)),
        work(3, "docs/auth.md", concepts=("refresh-token",)),
        work(4, renames=(Rename("src/checkout/cart.ts", "src/checkout/basket.ts"),)),
        work(5, files_deleted=("docs/auth.md",)),
    ]


def resolver(recorded: Any) -> Callable[[str], str]:
    def knows(path: str) -> bool:
        with recorded.view() as view:
            return bool(view.knows(path))

    paths = PathResolver(["/somewhere/shop"], knows, None, lambda root: None)
    return lambda text: str(paths.resolve(text))


def found(recorded: Any, reference: str, as_of: float | None = None) -> str:
    """Return the reference of the node that `reference` means."""
    with recorded.view(as_of) as view:
        references = References(view)
        number = references.find(reference, resolver(recorded))
        return references.nodes([number])[number].ref


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        (TOKEN, f"file:{TOKEN}"),
        (f"file:{TOKEN}", f"file:{TOKEN}"),
        (f"FILE:./{TOKEN}", f"file:{TOKEN}"),
        ("src\\auth\\token.ts", f"file:{TOKEN}"),
        ("file:src\\auth\\token.ts", f"file:{TOKEN}"),
        (f"/somewhere/shop/{TOKEN}", f"file:{TOKEN}"),
        (f"file:///somewhere/shop/{TOKEN}", f"file:{TOKEN}"),
        ("src/页面/登录.vue", "file:src/页面/登录.vue"),
        ("src/checkout/cart.ts", "file:src/checkout/basket.ts"),
        ("docs/auth.md", "file:docs/auth.md"),
        ("concept:auth", "concept:auth"),
        ("concept:Refund", "concept:refund"),
        ("concept: 退款", "concept:refund"),
        ("concept:refund", "concept:refund"),
        ("concept:refreshToken", "concept:refresh-token"),
        ("contract:POST /api/v1/auth/refresh", "contract:POST /api/v1/auth/refresh"),
        ("contract:post  /api/v1/auth/refresh", "contract:POST /api/v1/auth/refresh"),
    ],
)
def test_a_node_is_found_by_every_spelling_of_its_name(
    recorded: Callable[..., Any], reference: str, meant: str
) -> None:
    assert found(recorded(*told()), reference) == meant


def test_what_only_a_declaration_names_is_found_too(recorded: Callable[..., Any]) -> None:
    memory = recorded(*told())
    numbers = [memory.number("feature:Sign up"), memory.number("contract:GET /new"), memory.number("old.py")]
    assert {table_of(number) for number in numbers} == {NodeTable.NAMED}
    assert found(memory, "feature:Sign up") == "feature:Sign up"
    assert found(memory, "contract:get /new") == "contract:GET /new"
    assert found(memory, "file:old.py") == "file:old.py"


@pytest.mark.parametrize(
    "reference", ["feature:Caf\u00e9", "contract:GET /caf\u00e9", "concept:\u00e9\u00df\ud55c"]
)
def test_a_name_is_the_same_in_every_form_of_unicode(recorded: Callable[..., Any], reference: str) -> None:
    with recorded(*told()).view() as view:
        references = References(view)
        names = {str(references.name(unicodedata.normalize(form, reference), str)) for form in ("NFC", "NFD")}
    assert len(names) == 1
    (name,) = names
    assert unicodedata.is_normalized("NFC", name)


def test_a_deleted_file_and_one_no_observation_names_any_more_are_gone(recorded: Callable[..., Any]) -> None:
    memory = recorded(*told())
    numbers = [
        memory.number(name) for name in ("docs/auth.md", "lost.py", TOKEN, "feature:f", "concept:auth")
    ]
    with memory.view() as view:
        nodes = References(view).nodes(numbers)
    gone = {node.ref for node in nodes.values() if node.status is FileStatus.GONE}
    assert gone == {"file:docs/auth.md", "file:lost.py"}
    assert list(nodes) and len(nodes) == 5


def test_a_name_is_looked_up_as_of_the_moment_asked_about(recorded: Callable[..., Any]) -> None:
    memory = recorded(*told())
    assert found(memory, "src/checkout/cart.ts", as_of=3.0) == "file:src/checkout/cart.ts"
    assert found(memory, "concept:refresh-token", as_of=3.0) == "concept:refresh-token"
    for reference in ("concept:refresh-token", "file:docs/auth.md"):
        with pytest.raises(NotFoundError):
            found(memory, reference, as_of=2.0)
    with pytest.raises(NotFoundError):
        found(memory, "contract:POST /api/v1/auth/refresh", as_of=0.5)
    with memory.view(2.0) as view:
        node = memory.number("docs/auth.md")
        assert References(view).nodes([node]) == {}


def test_nodes_that_nobody_knows_are_left_out(recorded: Callable[..., Any]) -> None:
    with recorded(*told()).view() as view:
        assert References(view).nodes(range(4_000, 8_000)) == {}


@pytest.mark.parametrize(
    ("reference", "offered"),
    [
        ("file:src/auth/tokne.ts", f"file:{TOKEN}"),
        ("file:lib/token.py", f"file:{TOKEN}"),
        ("file:src\\auth\\tok", f"file:{TOKEN}"),
        ("file:src/页面/登陆.vue", "file:src/页面/登录.vue"),
        ("file:登录页.vue", "file:src/页面/登录.vue"),
        ("file:checkout", "file:src/checkout/basket.ts"),
        ("concept:auht", "concept:auth"),
        ("concept:refresh tokens expire", "concept:refresh-token"),
        ("contract:GET /api/v2/auth/refresh", "contract:POST /api/v1/auth/refresh"),
        ("feature:sing up", "feature:sign up"),
        ("module:m1234", "module:m1235"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(
    recorded: Callable[..., Any], reference: str, offered: str
) -> None:
    memory = recorded(*told())
    memory.number("feature:sign up")
    memory.module("m1235", "auth", TOKEN)
    with pytest.raises(NotFoundError, match="nearest") as refused:
        found(memory, reference)
    assert refused.value.candidates[0] == offered
    assert len(refused.value.candidates) <= 3
    assert all(repr(name) in str(refused.value) for name in refused.value.candidates)


@pytest.mark.parametrize(
    "reference", ["feature:zzz", "concept:qqqq", "file:src/nope.ts", "file:%__%", "module:?", "contract:\0"]
)
def test_where_nothing_is_near_nothing_is_offered(recorded: Callable[..., Any], reference: str) -> None:
    with pytest.raises(NotFoundError, match="graphmem search") as refused:
        found(recorded(*told()), reference)
    assert refused.value.candidates == ()


def test_bare_text_names_files_only_and_offers_whatever_else_has_that_name(
    recorded: Callable[..., Any],
) -> None:
    with pytest.raises(UnknownNameError) as refused:
        found(recorded(*told()), "auth")
    assert refused.value.candidates[0] == "concept:auth"
    assert refused.value.field == "node"
    assert f"file:{TOKEN}" in refused.value.candidates


def test_bare_text_that_is_nearly_a_concept_offers_it_too(recorded: Callable[..., Any]) -> None:
    with pytest.raises(UnknownNameError) as refused:
        found(recorded(*told()), "refnud")
    assert refused.value.candidates[-1] == "concept:refund"


def test_a_past_moment_is_offered_no_name_that_came_later(recorded: Callable[..., Any]) -> None:
    memory = recorded(*told(), work(9, "src/auth/tokens.ts"))
    for as_of, offered in ((None, "file:src/auth/tokens.ts"), (4.0, f"file:{TOKEN}")):
        with pytest.raises(NotFoundError) as refused:
            found(memory, "file:src/auth/tokens.tsx", as_of)
        assert refused.value.candidates[0] == offered


def test_a_module_has_members_to_ask_about_instead(recorded: Callable[..., Any]) -> None:
    memory = recorded(*told())
    memory.module("m1", "auth", TOKEN, "concept:auth")
    with pytest.raises(InvalidInputError, match="members") as refused:
        found(memory, "module:m1")
    assert set(refused.value.candidates) == {f"file:{TOKEN}", "concept:auth"}


@pytest.mark.parametrize("reference", ["", "  ", "file:", "concept: ", "/elsewhere/x.py", "a\0b", "file:.."])
def test_what_can_be_no_name_is_refused_by_its_field(recorded: Callable[..., Any], reference: str) -> None:
    memory = recorded(*told())
    with memory.view() as view, pytest.raises(InvalidInputError) as refused:
        References(view).find(reference, resolver(memory), "to")
    assert refused.value.field == "to"


def test_a_drive_letter_is_no_type() -> None:
    assert split("C:\\shop\\a.ts") == (None, "C:\\shop\\a.ts")
    assert split("Feature: Sign  up ") == (NodeType.FEATURE, "Sign up")


def test_any_text_is_found_or_refused_with_a_sentence(recorded: Callable[..., Any]) -> None:
    memory = recorded(*told())
    prefixes = ["", *(f"{type}:" for type in NodeType)]

    @given(st.text(max_size=60), st.sampled_from(prefixes))
    def ask(text: str, prefix: str) -> None:
        try:
            assert ":" in found(memory, prefix + text)
        except (NotFoundError, InvalidInputError) as refused:
            assert str(refused).endswith(".")

    ask()


def test_a_name_is_looked_for_among_fifty_thousand_files_at_once(recorded: Callable[..., Any]) -> None:
    memory = recorded(*told())
    with memory.database.write() as connection:
        connection.executemany(
            "INSERT INTO path VALUES (?, ?, ?, ?)",
            [(n, f"packages/shop{n % 97}/src/part{n % 11}/unit-{n}.ts", n, n) for n in range(100, 50_100)],
        )
        connection.executemany(
            "INSERT INTO file VALUES (?, ?, ?, ?, 1, NULL, 0, 0)", [(n, n, n, n) for n in range(100, 50_100)]
        )
    with memory.view() as view:
        references = References(view)
        began = time.perf_counter()
        near = references.nearest(NodeName(NodeType.FILE, "packages/shop5/src/part2/unti-4079.ts"))
        took = time.perf_counter() - began
    assert near
    assert took < 1.0


def test_closeness_prefers_the_same_stem_in_the_same_folder() -> None:
    names = ["src/auth/token.test.ts", "lib/token.ts", "src/auth/tokens.ts", "src/cart/session.ts"]
    assert nearest(names, "src/auth/token.js", 4) == [
        "src/auth/token.test.ts",
        "src/auth/tokens.ts",
        "lib/token.ts",
    ]
    assert closeness("a/b.py", "a/b.py") > closeness("a/b.py", "c/b.py") > closeness("a/b.py", "a/zq.py")
