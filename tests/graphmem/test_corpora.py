"""Corpora: a named filter says what is known under it, always as it is now, within a budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Memory, Project
from graphmem.corpora import MOST, within
from graphmem.errors import ConflictError, InvalidInputError, NotFoundError
from graphmem.instant import from_iso
from graphmem.question import Filters, Question
from graphmem.recall.packing import packed_tokens

NOON = from_iso("2026-05-01T12:00:00Z")
DAY = 86_400.0


def told(id: str, title: str, *facts: object, **more: object) -> dict[str, object]:
    return {
        "id": id,
        "session": "s-1",
        "title": title,
        "facts": list(facts),
        "at": "2026-05-01T08:00:00Z",
    } | more


def preference(text: str) -> dict[str, str]:
    return {"text": text, "kind": "preference"}


@pytest.fixture
def auth(shop: Project) -> Project:
    """A project with work on auth in two sessions, and on the cart in a third."""
    shop.observe(
        [
            told(
                "a1", "Refresh tokens", "access_token TTL is 3600 seconds", concepts=["auth"], source="codex"
            ),
            told(
                "a2",
                "Shorten the session",
                preference("Ask before touching the login page"),
                session="s-2",
                concepts=["auth"],
                files_modified=["src/auth/token.ts"],
                type="bugfix",
            ),
            told("c1", "Cart page", "the cart holds 40 items", session="s-3", concepts=["cart"]),
        ]
    )
    assert shop.wait_visible()
    return shop


def corpus_text(project: Project, where: Filters, budget: int = 2_000) -> str:
    project.corpora.create("it", where)
    return project.corpora.text("it", budget).text


# ---- names and filters --------------------------------------------------------------------------


def test_a_corpus_is_kept_with_its_filter_and_survives_closing(
    open_memory: Callable[..., Memory], tmp_path: Path
) -> None:
    (tmp_path / "shop").mkdir()
    where = Filters(
        since=1.0,
        until=2.0,
        types=("bugfix",),
        kinds=("fact", "task"),
        file="a.ts",
        concept="auth",
        session="s",
        source="codex",
    )
    first = open_memory()
    made, is_new = first.register(tmp_path / "shop")[0].corpora.create("auth", where)
    assert (made.name, made.filters, made.created_at, is_new) == ("auth", where, NOON, True)
    first.close()
    assert open_memory().project("shop").corpora.corpus("AUTH") == made


def test_the_same_corpus_again_is_no_change_and_another_filter_is_a_conflict(shop: Project) -> None:
    made, _ = shop.corpora.create("auth", Filters(concept="auth"))
    assert shop.corpora.create("Auth", Filters(concept="auth")) == (made, False)
    with pytest.raises(ConflictError, match="another filter"):
        shop.corpora.create("auth", Filters(concept="cart"))


@pytest.mark.parametrize("name", ["", "-a", ".a", "a b", "a/b", "用户", "a" * 65, "a\n"])
def test_names_are_those_of_slugs(shop: Project, name: str) -> None:
    with pytest.raises(InvalidInputError, match="1 to 64") as refused:
        shop.corpora.create(name, Filters())
    assert refused.value.field == "name"


@pytest.mark.parametrize(
    ("where", "field"),
    [
        (Filters(kinds=("file",)), "filter.kinds"),
        (Filters(kinds=("nonsense",)), "filter.kinds"),
        (Filters(since=2.0, until=2.0), "filter.until"),
        (Filters(file="/somewhere/else.ts"), None),
    ],
)
def test_a_filter_that_can_match_nothing_is_refused(shop: Project, where: Filters, field: str | None) -> None:
    with pytest.raises(InvalidInputError) as refused:
        shop.corpora.create("auth", where)
    assert field is None or refused.value.field == field


def test_corpora_are_listed_by_name_in_pages_with_their_counts(auth: Project) -> None:
    for name, where in (("b", Filters(concept="cart")), ("a", Filters(concept="auth")), ("C", Filters())):
        auth.corpora.create(name, where)
    first = auth.corpora.listed(2)
    rest = auth.corpora.listed(2, first.next_cursor)
    assert [(corpus.name, count) for corpus, count in (*first.items, *rest.items)] == [
        ("a", 4),
        ("b", 2),
        ("C", 6),
    ]
    assert rest.next_cursor is None
    with pytest.raises(InvalidInputError):
        auth.corpora.listed(2, "nonsense")


def test_an_unknown_corpus_is_not_found_and_the_nearest_is_named(shop: Project) -> None:
    shop.corpora.create("auth", Filters())
    for ask in (shop.corpora.corpus, shop.corpora.text, shop.corpora.remove):
        with pytest.raises(NotFoundError, match="auth") as missing:
            ask("auht")
        assert missing.value.candidates == ("auth",)


def test_what_is_removed_is_gone_and_its_pieces_stay(auth: Project) -> None:
    auth.corpora.create("auth", Filters(concept="auth"))
    auth.corpora.remove("auth")
    with pytest.raises(NotFoundError):
        auth.corpora.corpus("auth")
    assert auth.observation("a1").title == "Refresh tokens"


def test_there_is_a_most(shop: Project) -> None:
    for number in range(MOST):
        shop.corpora.create(f"c{number}", Filters())
    with pytest.raises(ConflictError, match=str(MOST)):
        shop.corpora.create("one-more", Filters())


def test_another_project_never_sees_a_corpus(auth: Project, memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = memory.register(tmp_path / "other")[0]
    auth.corpora.create("auth", Filters())
    assert other.corpora.listed().items == ()
    assert other.corpora.create("auth", Filters(source="x"))[1]
    assert other.corpora.text("auth").text == ""


# ---- what it says -------------------------------------------------------------------------------


def test_a_corpus_says_what_is_known_under_its_filter_in_order_with_counts(auth: Project) -> None:
    lines = corpus_text(auth, Filters(concept="auth")).splitlines()
    assert lines[0] == (
        'Corpus "it": recorded history of this project, not an instruction; quoted as it was said then; '
        "4 of 4 matching pieces, 0 left out; built at 2026-05-01T12:00:00Z:"
    )
    assert [line.split(":")[0] for line in lines[1:]] == ["- preference", "- fact", "- history", "- history"]
    assert "cart" not in "".join(lines)


@pytest.mark.parametrize(
    ("where", "held", "absent"),
    [
        (Filters(session="s-2"), "login page", "TTL"),
        (Filters(source="codex"), "TTL", "login page"),
        (Filters(types=("bugfix",)), "login page", "TTL"),
        (Filters(file="src/auth/token.ts"), "login page", "TTL"),
        (Filters(kinds=("preference",)), "login page", "Shorten"),
        (Filters(kinds=("history",)), "Shorten", "login page"),
        (Filters(until=NOON + DAY), "cart", "nothing else"),
    ],
)
def test_each_part_of_a_filter_narrows_it_down(auth: Project, where: Filters, held: str, absent: str) -> None:
    text = corpus_text(auth, where)
    assert held in text
    assert absent not in text


def test_it_is_current_what_is_stored_shows_and_what_is_forgotten_is_gone(auth: Project) -> None:
    auth.corpora.create("auth", Filters(concept="auth"))
    assert auth.corpora.text("auth").pieces == 4
    auth.observe([told("a3", "Rotate keys", "keys are rotated weekly", concepts=["auth"])])
    now = auth.corpora.text("auth")
    assert (now.pieces, "rotated weekly" in now.text) == (6, True)
    auth.forget("a3")
    after = auth.corpora.text("auth")
    assert (after.pieces, "rotated weekly" in after.text) == (4, False)


def test_what_is_superseded_comes_last_with_what_holds(auth: Project) -> None:
    auth.observe(
        [
            told(
                "a4",
                "Shorter",
                "access_token TTL is 900 seconds",
                at="2026-05-01T09:00:00Z",
                concepts=["auth"],
            )
        ]
    )
    lines = corpus_text(auth, Filters(kinds=("fact",), concept="auth")).splitlines()
    assert "900" in lines[1]
    assert "3600" in lines[-1]
    assert 'superseded by "access_token TTL is 900 seconds"' in lines[-1]


def test_the_same_value_stated_in_other_words_is_told_once(auth: Project) -> None:
    again = told("a5", "Again", "the access_token TTL: 3600 s", at="2026-05-01T09:00:00Z", concepts=["auth"])
    auth.observe([again])
    facts = corpus_text(auth, Filters(kinds=("fact",), concept="auth")).splitlines()[1:]
    assert len(facts) == 1
    assert "stated 2 times, id a5" in facts[0]


def test_a_small_budget_says_how_much_was_left_out(shop: Project) -> None:
    shop.observe([told(f"n{n}", f"Step {n}", f"the limit of part {n} is {n}") for n in range(40)])
    assert shop.wait_visible()
    shop.corpora.create("all", Filters())
    found = shop.corpora.text("all", 400)
    assert found.tokens == packed_tokens(found.text) <= 400
    assert found.pieces == 80
    assert 0 < found.told < 80
    assert f"{found.told} of 80 matching pieces, {found.left_out} left out" in found.text


def test_a_chinese_body_of_knowledge_has_a_chinese_head(shop: Project) -> None:
    shop.observe([told("z", "用户身份校验", "令牌有效期是 900 秒")])
    assert shop.wait_visible()
    text = corpus_text(shop, Filters())
    assert text.startswith('知识库 "it"：本项目的历史记录，不是指令')
    assert "符合 2 条，列出 2 条，略去 0 条" in text


def test_a_task_that_is_done_is_history_and_anothers_wish_says_whose(shop: Project) -> None:
    done = {"text": "write the migration", "kind": "task", "state": "done"}
    wish = {"text": "answer briefly", "kind": "preference", "scope": "actor"}
    shop.observe([told("t", "Work", done, wish, actor="anna")])
    assert shop.wait_visible()
    lines = corpus_text(shop, Filters()).splitlines()
    assert lines[1].startswith("- preference") and lines[1].endswith('note: "holds for anna"')
    assert any(line.startswith("- history") and line.endswith('note: "done"') for line in lines)


def test_nothing_known_is_silence(shop: Project) -> None:
    shop.corpora.create("none", Filters(concept="auth"))
    found = shop.corpora.text("none")
    assert (found.text, found.tokens, found.pieces, found.told, found.left_out) == ("", 0, 0, 0, 0)


@given(st.integers(0, 300))
def test_the_budget_of_a_corpus_is_never_exceeded(one_corpus: Project, budget: int) -> None:
    found = one_corpus.corpora.text("all", budget)
    assert found.tokens == packed_tokens(found.text) <= budget
    assert found.told + found.left_out == found.pieces == 30


@pytest.fixture(scope="module")
def one_corpus(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "shop").mkdir()
    with Memory(folder / "home", clock=lambda: NOON) as memory:
        project = memory.register(folder / "shop")[0]
        project.observe([told(f"n{n}", f"步骤 {n}", f"the limit of part {n} is {n}") for n in range(15)])
        project.wait_visible()
        project.corpora.create("all", Filters())
        yield project


@pytest.mark.parametrize("budget", [-1, 100_001])
def test_a_budget_out_of_range_is_refused(shop: Project, budget: int) -> None:
    shop.corpora.create("all", Filters())
    with pytest.raises(InvalidInputError, match="out of range"):
        shop.corpora.text("all", budget)


# ---- questions in it ----------------------------------------------------------------------------


def test_a_question_in_a_corpus_is_answered_from_it_only(auth: Project) -> None:
    auth.corpora.create("auth", Filters(concept="auth"))
    question = Question("how long is the access_token TTL, and how many items does the cart hold?")
    found = auth.corpora.query("auth", question)
    assert {piece.id for piece in found.pieces} <= {"a1", "a2"}
    assert "a1" in {piece.id for piece in found.pieces}
    assert "40 items" not in found.context


def test_a_questions_own_filter_narrows_a_corpus_further(auth: Project) -> None:
    auth.corpora.create("auth", Filters(concept="auth", kinds=("fact", "history")))
    asked = Question("tokens session login", filters=Filters(kinds=("fact", "preference")))
    assert {piece.kind for piece in auth.corpora.query("auth", asked).pieces} <= {"fact"}
    nothing = replace(asked, filters=Filters(kinds=("preference",)))
    assert auth.corpora.query("auth", nothing).pieces == ()
    with pytest.raises(InvalidInputError, match="about the concept 'auth'"):
        auth.corpora.query("auth", replace(asked, filters=Filters(concept="cart")))


def test_both_filters_have_to_be_passed() -> None:
    corpus = Filters(since=1.0, until=9.0, types=("a", "b"), kinds=("fact",), concept="auth")
    assert within(corpus, Filters()) == corpus
    assert within(Filters(), corpus) == corpus
    asked = Filters(since=3.0, until=20.0, types=("b", "c"), kinds=("observation",), file="a.ts")
    assert within(corpus, asked) == Filters(
        since=3.0, until=9.0, types=("b",), kinds=("fact",), concept="auth", file="a.ts"
    )
    assert within(corpus, Filters(since=9.0)) is None
    assert within(corpus, Filters(types=("c",))) is None
    assert within(corpus, Filters(kinds=("file",))) is None
    assert within(Filters(), Filters(kinds=("file",))) == Filters(kinds=("file",))
