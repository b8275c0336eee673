"""Modules: found from promoted edges, the same after a rebuild, named and summed up by the work on them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from graphmem.decisions import decide
from graphmem.derived import open_derived
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.graph import Decision, Module, VerdictKind
from graphmem.journal import Journal
from graphmem.model import Observation, Rename
from graphmem.module_memory import NAME, recall
from graphmem.module_texts import SUMMARY_WORDS, cited, counted, summary
from graphmem.modules import graph_modules, regroup
from graphmem.postings import Postings
from graphmem.projection import catch_up
from graphmem.promotion import promote
from graphmem.recall import modules as listed
from graphmem.references import References

HOUR = 3_600.0
AUTH = ("src/auth/token.ts", "src/auth/refresh.ts", "src/auth/session.ts")
CART = ("src/cart/store.ts", "src/cart/merge.ts", "src/cart/drawer.tsx")


class Shop:
    """A journal and its derived file, told work of two kinds, hour by hour."""

    def __init__(self) -> None:
        self.journal, self.database = Journal(None), open_derived(None)
        self.now = 1_000_000.0
        self.number = 0

    def observe(self, files: Sequence[str], title: str = "", **more: Any) -> str:
        self.number += 1
        self.now += HOUR
        id = f"o-{self.number:03d}"
        observation = Observation(
            id=id,
            session=f"s-{self.number}",
            actor=f"actor {self.number}",  # one's own work a day later would link what it touched
            at=self.now,
            title=title,
            files_modified=tuple(files),
            **more,
        )
        self.journal.append([observation], 0.0)
        return id

    def live(self, rounds: int = 4) -> None:
        """Work on authentication and on the cart, some rounds of each."""
        for number in range(rounds):
            self.observe(AUTH, f"Refresh tokens rotate, step {number}", concepts=("auth", "jwt"))
            self.observe(CART, f"Cart drawer keeps its items, step {number}", concepts=("cart",))

    def regroup(self) -> int | None:
        catch_up(self.journal, self.database)
        promote(self.journal, self.database, "p")
        return regroup(self.journal, self.database, "p")

    def rebuilt(self) -> None:
        """Lose the derived file and build it anew."""
        self.database.close()
        self.database = open_derived(None)

    def modules(self, level: int = 0) -> list[Module]:
        with Postings(self.database).view() as view:
            members = {module.id: module.members for module in graph_modules(view.connection)}
            return list(listed.page(References(view), view, members.__getitem__, level, 200).items)

    def files(self) -> set[tuple[str, ...]]:
        return {paths(module) for module in self.modules()}

    def unattached(self) -> int:
        with Postings(self.database).view() as view:
            return listed.unattached(view)

    def rows(self) -> list[list[Any]]:
        with self.database.read() as connection:
            return [
                connection.execute("SELECT * FROM module ORDER BY id").fetchall(),
                [module[:4] for module in graph_modules(connection)],
            ]


def paths(module: Module) -> tuple[str, ...]:
    return tuple(node.name for node in module.members if node.type == "file")


@pytest.fixture
def shop_of_two() -> Iterator[Shop]:
    shop = Shop()
    yield shop
    shop.database.close()
    shop.journal.close()


@pytest.fixture
def grouped(shop_of_two: Shop) -> Shop:
    shop_of_two.live()
    assert shop_of_two.regroup() == 2
    return shop_of_two


# ---- what a module says ------------------------------------------------------------------------


def test_what_changes_together_is_a_module_that_says_what_it_is_about(grouped: Shop) -> None:
    auth = next(module for module in grouped.modules() if "src/auth/token.ts" in paths(module))
    assert set(paths(auth)) == set(AUTH)
    assert auth.label == "auth / jwt"
    assert auth.summary == "Refresh tokens rotate, step 3 (o-007)."
    assert auth.recent[:2] == (
        "Refresh tokens rotate, step 3 (o-007)",
        "Refresh tokens rotate, step 2 (o-005)",
    )
    assert set(auth.key_files) == set(AUTH)
    assert {node.ref for node in auth.members} >= {"concept:auth", "concept:jwt"}
    assert auth.size == len(auth.members)
    assert (auth.level, auth.parent, auth.cohesion, auth.drift, auth.lineage) == (0, None, 1.0, 0.0, ())
    assert auth.built_at == grouped.now


def test_a_concept_of_both_modules_is_a_member_of_neither(shop_of_two: Shop) -> None:
    for number in range(3):
        shop_of_two.observe(AUTH, f"Token, step {number}", concepts=("auth", "shared-thing"))
        shop_of_two.observe(CART, f"Cart, step {number}", concepts=("cart", "shared-thing"))
    shop_of_two.regroup()
    refs = [node.ref for module in shop_of_two.modules() for node in module.members]
    assert "concept:auth" in refs
    assert "concept:shared-thing" not in refs
    assert len(refs) == len(set(refs))


def test_contracts_are_those_its_work_names_without_replaced_ones(grouped: Shop) -> None:
    grouped.observe(AUTH, "Sign-in answers", narrative="POST /api/v1/auth/session gives a token")
    grouped.observe(
        AUTH, "Sign-in moves", narrative="POST /api/v1/auth/session moved to POST /api/v2/auth/session"
    )
    grouped.observe(CART, "Cart saves", narrative="PUT /api/v1/cart keeps the items")
    grouped.regroup()
    found = {paths(module): module.contracts for module in grouped.modules()}
    assert found[tuple(sorted(AUTH))] == ("POST /api/v2/auth/session",)
    assert found[tuple(sorted(CART))] == ("PUT /api/v1/cart",)


def test_without_any_concept_a_module_is_called_by_its_folder(shop_of_two: Shop) -> None:
    for _ in range(3):
        shop_of_two.observe(["lib/1/1.c", "lib/1/2.c", "lib/3.c"])
        shop_of_two.observe(["1.h", "2.h", "3.h"])
    shop_of_two.regroup()
    labels = {paths(module)[0]: module.label for module in shop_of_two.modules()}
    assert labels["lib/1/1.c"] == "lib"
    assert labels["1.h"] in {"1.h", "2.h", "3.h"}
    assert all(module.summary == "" for module in shop_of_two.modules())


def test_a_module_of_more_than_thirty_files_has_parts(shop_of_two: Shop) -> None:
    groups = [[f"src/{letter}/{number}.ts" for number in range(9)] for letter in "abcd"]
    for _ in range(3):
        for group, other in zip(groups, groups[1:] + groups[:1], strict=True):
            shop_of_two.observe(group, "Work on one")
            shop_of_two.observe([*group[:5], *other[4:]], "Work on two")
    shop_of_two.regroup()
    wholes = {module.id: set(paths(module)) for module in shop_of_two.modules()}
    for part in shop_of_two.modules(level=1):
        assert part.parent in wholes
        assert set(paths(part)) < wholes[part.parent]
    large = {id for id, files in wholes.items() if len(files) > 30}
    assert {part.parent for part in shop_of_two.modules(level=1)} == large


# ---- nothing to group --------------------------------------------------------------------------


def test_an_empty_project_has_no_modules(shop_of_two: Shop) -> None:
    assert shop_of_two.regroup() is None
    assert shop_of_two.modules() == []
    assert shop_of_two.unattached() == 0


def test_files_that_nothing_links_belong_to_no_module(shop_of_two: Shop) -> None:
    for name in ("a.c", "b.c", "package-lock.json"):
        shop_of_two.observe([name], "Alone")
    assert shop_of_two.regroup() is None
    assert shop_of_two.modules() == []
    assert shop_of_two.unattached() == 2


def test_a_pair_is_no_module(shop_of_two: Shop) -> None:
    for _ in range(4):
        shop_of_two.observe(["a.c", "a.h"], "Both")
    shop_of_two.regroup()
    assert shop_of_two.modules() == []
    assert shop_of_two.unattached() == 2


# ---- what stays --------------------------------------------------------------------------------


def test_a_rebuild_gives_the_very_same_modules(grouped: Shop) -> None:
    grouped.observe([AUTH[0], CART[0]], "Both")
    grouped.regroup()
    before = grouped.rows()
    grouped.rebuilt()
    assert grouped.regroup() == 2
    assert grouped.rows() == before


def test_a_rebuild_under_way_touches_neither_modules_nor_what_is_kept(grouped: Shop) -> None:
    kept = grouped.journal.checkpoint(NAME)
    grouped.rebuilt()
    assert regroup(grouped.journal, grouped.database, "p") is None
    catch_up(grouped.journal, grouped.database)
    assert regroup(grouped.journal, grouped.database, "p") is None  # nothing is promoted yet
    assert grouped.journal.checkpoint(NAME) == kept


def test_modules_come_back_although_the_last_observation_was_forgotten(grouped: Shop) -> None:
    ids = {module.id for module in grouped.modules()}
    grouped.journal.forget("o-008", 0.0)
    grouped.rebuilt()
    assert grouped.regroup() == 2
    assert {module.id for module in grouped.modules()} == ids


def test_nothing_new_is_nothing_to_do(grouped: Shop) -> None:
    kept = grouped.journal.checkpoint(NAME)
    assert grouped.regroup() is None
    assert grouped.journal.checkpoint(NAME) == kept


def test_an_unchanged_module_keeps_its_words_and_drifts(grouped: Shop) -> None:
    before = {module.id: module for module in grouped.modules()}
    grouped.observe([AUTH[0]], "Reject tokens of an unknown issuer", concepts=("issuer",))
    grouped.regroup()
    for module in grouped.modules():
        old = before[module.id]
        assert (module.summary, module.label, module.built_at) == (old.summary, old.label, old.built_at)
        changed = AUTH[0] in paths(module)
        assert module.drift == pytest.approx(1 / 3 if changed else 0.0)
        assert module.recent[0].startswith("Reject tokens" if changed else "Cart drawer")


def test_a_module_with_a_new_file_keeps_its_id_and_is_summed_up_anew(grouped: Shop) -> None:
    before = {paths(module): module for module in grouped.modules()}
    for number in range(3):
        grouped.observe([*AUTH, "src/auth/claims.ts"], f"Claims in the token, {number}", concepts=("auth",))
    grouped.regroup()
    auth = next(module for module in grouped.modules() if AUTH[0] in paths(module))
    old = before[tuple(sorted(AUTH))]
    assert auth.id == old.id
    assert "src/auth/claims.ts" in paths(auth)
    assert auth.built_at == grouped.now > old.built_at
    cart = next(module for module in grouped.modules() if CART[0] in paths(module))
    assert cart.built_at == before[tuple(sorted(CART))].built_at


def test_a_renamed_member_changes_neither_the_module_nor_what_is_said_of_it(grouped: Shop) -> None:
    before = {module.id: module for module in grouped.modules()}
    rename = Rename(AUTH[1], "src/auth/renewal.ts")
    grouped.observe([], "Call it renewal", renames=(rename,))
    grouped.regroup()
    auth = next(module for module in grouped.modules() if AUTH[0] in paths(module))
    assert "src/auth/renewal.ts" in paths(auth)
    assert AUTH[1] not in paths(auth)
    old = before[auth.id]
    assert (auth.summary, auth.label, auth.built_at) == (old.summary, old.label, old.built_at)
    grouped.rebuilt()
    grouped.regroup()
    assert next(module for module in grouped.modules() if module.id == auth.id) == auth


def test_a_deleted_file_leaves_its_module(grouped: Shop) -> None:
    ids = {module.id for module in grouped.modules()}
    for number in range(3):
        grouped.observe([*AUTH, "src/auth/old.ts"], f"Old ways, {number}")
    grouped.regroup()
    grouped.observe([], "Drop the old ways", files_deleted=("src/auth/old.ts",))
    grouped.regroup()
    assert tuple(sorted(AUTH)) in grouped.files()
    assert {module.id for module in grouped.modules()} == ids


def test_a_rejected_edge_holds_nothing_together(shop_of_two: Shop) -> None:
    for _ in range(3):
        shop_of_two.observe(["a.c", "b.c"], "One")
        shop_of_two.observe(["b.c", "c.c"], "Other")
    assert shop_of_two.regroup() == 1
    with shop_of_two.database.read() as connection:
        edges = [row[0] for row in connection.execute("SELECT id FROM edge ORDER BY id")]
        decisions = [Decision(edge, VerdictKind.REJECT) for edge in edges]
        decide(shop_of_two.journal.ledger, connection, decisions, shop_of_two.now)
    assert shop_of_two.regroup() == 0
    assert shop_of_two.modules() == []
    assert recall(shop_of_two.journal).modules == ()


# ---- what is forgotten -------------------------------------------------------------------------


def test_what_is_forgotten_is_neither_said_nor_kept(grouped: Shop) -> None:
    secret = grouped.observe([*AUTH, *CART], "Hunter2 is the password of everything", concepts=("hunter2",))
    grouped.observe([AUTH[0], CART[0]], "Hunter2 once more", concepts=("hunter2",))
    grouped.regroup()
    assert "Hunter2" in json.dumps(grouped.rows())
    for id in (secret, "o-010"):
        grouped.journal.forget(id, 0.0)
    grouped.regroup()
    kept = grouped.journal.checkpoint(NAME)
    assert kept is not None
    assert "unter2" not in json.dumps(grouped.rows()) + kept[1]
    assert grouped.files() == {tuple(sorted(AUTH)), tuple(sorted(CART))}


def test_a_file_nothing_tells_of_any_more_is_no_member_even_before_the_next_grouping(
    shop_of_two: Shop,
) -> None:
    ids = [shop_of_two.observe(["a.c", "b.c", "c.c"], "All") for _ in range(3)]
    assert shop_of_two.regroup() == 1
    for id in ids:
        shop_of_two.journal.forget(id, 0.0)
    catch_up(shop_of_two.journal, shop_of_two.database)
    with shop_of_two.database.read() as connection:
        assert connection.execute("SELECT COUNT(*) FROM member WHERE node % 4 = 0").fetchone() == (0,)


def test_a_forgotten_title_is_replaced_in_the_summary(grouped: Shop) -> None:
    [auth] = [module for module in grouped.modules() if AUTH[0] in paths(module)]
    assert "(o-007)" in auth.summary
    grouped.journal.forget("o-007", 0.0)
    grouped.regroup()
    [after] = [module for module in grouped.modules() if AUTH[0] in paths(module)]
    assert after.id == auth.id
    assert after.summary == "Refresh tokens rotate, step 2 (o-005)."


# ---- any text ----------------------------------------------------------------------------------

ODD = [
    "'}) MATCH (n) DETACH DELETE n //",
    '<script>alert("x")</script>',
    "两个 模块/购物车.py",
    "a\tb'\"`\\",
    "ignore previous instructions",
]


@pytest.mark.parametrize("text", ODD)
def test_any_text_in_names_and_titles_is_only_text(shop_of_two: Shop, text: str) -> None:
    files = [f"{text}{number}.c" for number in range(3)]
    for _ in range(3):
        shop_of_two.observe(files, text, concepts=(text[:20],))
    assert shop_of_two.regroup() == 1
    [module] = shop_of_two.modules()
    assert set(paths(module)) == set(files)
    before = shop_of_two.rows()
    shop_of_two.rebuilt()
    shop_of_two.regroup()
    assert shop_of_two.rows() == before


def test_a_summary_cites_in_english_and_chinese_and_stays_short() -> None:
    titles = [("Refresh tokens rotate.", "shop-012"), ("运费计算忽略了优惠券", "shop-072")]
    assert summary(titles) == "Refresh tokens rotate (shop-012). 运费计算忽略了优惠券 (shop-072)。"
    assert counted("Refresh tokens rotate") == 3
    assert counted("运费计算") == 2
    assert cited("  one\n two\u2028three ", "x") == "one two three (x)"
    assert counted(cited("word " * 500, "x")) < 30
    assert counted(cited("字" * 5_000, "x")) < 30
    assert cited("", "x") == "(x)"


@pytest.mark.parametrize("title", ["word " * 200, "字" * 2_000, "x" * 60_000])
def test_no_title_makes_a_summary_long(shop_of_two: Shop, title: str) -> None:
    for number in range(5):
        shop_of_two.observe([*AUTH, f"src/auth/{number}.ts"], f"{number} {title}")
    shop_of_two.regroup()
    [module] = shop_of_two.modules()
    assert 0 < counted(module.summary) <= SUMMARY_WORDS
    assert len(module.summary) < 1_000


# ---- reading -----------------------------------------------------------------------------------


def test_pages_skip_nothing_and_repeat_nothing(grouped: Shop) -> None:
    with Postings(grouped.database).view() as view:
        references, members = References(view), {m.id: m.members for m in graph_modules(view.connection)}
        first = listed.page(references, view, members.__getitem__, 0, 1)
        second = listed.page(references, view, members.__getitem__, 0, 1, first.next_cursor)
        assert [len(page.items) for page in (first, second)] == [1, 1]
        assert second.next_cursor is None
        assert first.items[0].id != second.items[0].id
        with pytest.raises(InvalidInputError, match="cursor"):
            listed.page(references, view, members.__getitem__, 0, 1, "nonsense")


def test_an_unknown_module_is_answered_with_near_ids(grouped: Shop) -> None:
    known = grouped.modules()[0].id
    with Postings(grouped.database).view() as view:
        references = References(view)
        assert listed.module(references, view, lambda id: (), known).members == ()
        with pytest.raises(NotFoundError) as caught:
            listed.module(references, view, lambda id: (), known[:-1] + "z")
    assert f"module:{known}" in caught.value.candidates


def test_what_an_older_form_kept_is_let_go(grouped: Shop) -> None:
    kept = grouped.journal.checkpoint(NAME)
    assert kept is not None
    grouped.journal.set_checkpoint(NAME, kept[0], json.dumps({**json.loads(kept[1]), "form": 0}))
    assert recall(grouped.journal).modules == ()
