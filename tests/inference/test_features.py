"""The columns of a candidate: a small history by hand, and nothing of what comes after a question."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inference.chronicle import Chronicle, State, Step
from inference.evidence import FileHistory
from inference.features import COLUMNS, TASK_COLUMNS, columns
from inference.signals import signals
from inference.table import Hearing, Question

DAY = 86_400.0
NOW = 40 * DAY
PATHS = {1: "src/a.py", 2: "src/b.py", 3: "tests/test_a.py", 4: "docs/x.md", 5: "登录/页面.py"}
OTHERS = (2, 3, 4, 5)


def words(path: str) -> list[str]:
    return path.replace(".", "/").replace("_", "/").split("/")


def step(day: int, *edited: int, **more: Any) -> Step:
    fields: dict[str, Any] = {"occasion": day, "at": day * DAY, "session": day, "actor": 1}
    states = tuple(State(file, path, True) for file, path in PATHS.items()) if day == 10 else ()
    fields |= {"size": len(edited), "edited": edited, "words": ("login",), "states": states}
    return Step(day, **fields | more)


SMALL = (
    step(10, 1, 2),
    step(20, 1, 3, actor=2, words=("cart",)),
    step(30, 1, 2, 4, words=("login", "token")),
)


def told(*steps: Step) -> Chronicle:
    chronicle = Chronicle(words)
    for one in steps:
        chronicle.push(one)
    return chronicle


def matrix(chronicle: Chronicle, /, **more: Any) -> np.ndarray[Any, Any]:
    question = Question(**{"file": 1, "path": "src/a.py", "now": NOW, "actor": 1} | more)
    history = FileHistory(-1) if question.file is None else chronicle.history(question.file)
    recent = () if question.actor is None else chronicle.recent_of(question.actor)
    hearing = Hearing(history, signals((history,), recent), recent)
    return columns(chronicle, question, hearing, [file for file in OTHERS if file in chronicle.files])


def described(chronicle: Chronicle, row: int, /, **more: Any) -> dict[str, float]:
    values = matrix(chronicle, **more)[OTHERS.index(row)].tolist()
    return dict(zip((*COLUMNS, *TASK_COLUMNS), values, strict=False))


DECAY = 1 + 0.93 + 0.93**2
FADE = {days: sum(2 ** (-age / days) for age in (10, 20, 30)) for days in (90, 180, 365)}
BUSY = {file: sum(2 ** (-age / 90) for age in ages) for file, ages in ((1, (10, 20, 30)), (2, (10, 30)))}
YEAR = {
    2: (2 ** (-10 / 365) / 2 + 2 ** (-30 / 365)) / (FADE[365] + 0.25),
    3: 2 ** (-20 / 365) / (FADE[365] + 0.25),
    4: 2 ** (-10 / 365) / 2 / (FADE[365] + 0.25),
}

BY_HAND = {
    "geom": (1 + 0.93**2) / (DECAY + 0.25),
    "geom_share": 1.0,
    "geom_best": (1 + 0.93**2) / (DECAY + 0.25),
    "firm": (1 + 0.93**2) / (DECAY + 2),
    "geom_actor": (1 + 0.93**2) / (1 + 0.93**2 + 2),
    "seldom_year": YEAR[2],
    "seldom_half_year": (2 ** (-10 / 180) / 2 + 2 ** (-30 / 180)) / (FADE[180] + 0.25),
    "plain_quarter": (2 ** (-10 / 90) + 2 ** (-30 / 90)) / (FADE[90] + 0.25),
    "confidence": 2 / 3,
    "npmi": 0.0,  # both in two of three, and the queried file in all
    "together": math.log1p(2),
    "weighted": math.log1p(1.5),
    "company": (math.log(3) + 0.93 * math.log(2) + 0.93**2 * math.log(2)) / DECAY,
    "expected": sum(YEAR.values()),
    "joint_k": 0.0,
    "joint_size": 3.0,
    "days_since": math.log1p(10),
    "fresh": 1 + 0.7**2,
    "query_changes": math.log1p(3),
    "file_changes": math.log1p(2),
    "heat": math.log(BUSY[2] + 0.05),
    "query_heat": math.log(BUSY[1] + 0.05),
    "file_days": math.log1p(10),
    "file_steps": math.log1p(1),
    "file_age": math.log1p(30),
    "query_days": math.log1p(10),
    "steps": math.log1p(3),
    "same_folder": 1.0,
    "depth": 1.0,
    "distance": 0.0,
    "same_stem": 0.0,
    "stem_part": 0.0,
    "same_extension": 1.0,
    "same_base": 0.0,
    "query_kind": 0.0,
    "file_kind": 0.0,
    "folder_along": 2 / 6,
    "lately": 2.0,
}


def test_the_columns_of_a_pair_are_what_can_be_worked_out_by_hand() -> None:
    found = described(told(*SMALL), 2)
    assert {name: found[name] for name in BY_HAND} == pytest.approx(BY_HAND, rel=1e-5, abs=1e-6)
    assert set(COLUMNS) - set(BY_HAND) == {"at_hand", "followed", "read_for", "about"}


def test_the_columns_of_a_test_say_that_it_is_one() -> None:
    found = described(told(*SMALL), 3)
    expected = {"same_stem": 1, "stem_part": 0.5, "file_kind": 1, "same_folder": 0, "depth": 0, "distance": 2}
    expected |= {"joint_k": 1, "joint_size": 2, "geom_actor": 0, "folder_along": 1 / 6, "fresh": 0.7}
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-5)


def test_what_never_changed_along_is_far_in_every_column() -> None:
    found = described(told(*SMALL), 5)
    nothing = ("geom", "firm", "seldom_year", "confidence", "together", "joint_size", "fresh", "lately")
    assert {found[name] for name in nothing} == {0.0}
    assert (found["joint_k"], found["npmi"], found["file_changes"]) == (99.0, -1.0, 0.0)
    assert found["days_since"] == found["file_days"] == pytest.approx(math.log1p(9_999))


def test_work_of_who_asks_is_at_hand_and_work_told_alike_is_about_it() -> None:
    ann, bo = (described(told(*SMALL), 3, actor=actor) for actor in (1, 2))
    assert ann["at_hand"] == 0.0 < bo["at_hand"]
    assert described(told(*SMALL), 2)["about"] > described(told(*SMALL), 5)["about"] == 0.0


def test_what_followed_the_last_changes_and_reads_is_told_apart() -> None:
    later = (step(31, 5, session=30), step(32, size=0, read=(1,), session=7), step(33, 3, session=7))
    found = {file: described(told(*SMALL, *later), file) for file in (3, 4, 5)}
    assert found[5]["followed"] > 0.0 == found[4]["followed"]
    assert found[3]["read_for"] > 0.0 == found[4]["read_for"]


# ---- the task ------------------------------------------------------------------------------------


def test_a_tasks_words_are_weighed_by_how_rare_they_are() -> None:
    found = described(told(*SMALL), 4, words=("docs", "login"))
    docs, login = math.log1p(3), math.log1p(3 / 3)
    assert found["path_overlap"] == pytest.approx(docs / (docs + login), rel=1e-5)
    assert found["stem_overlap"] == 0.0
    assert found["joint_title"] > 0.0


def test_files_whose_work_was_told_alike_stand_out() -> None:
    chronicle = told(*SMALL)
    cart = {file: described(chronicle, file, words=("cart",)) for file in OTHERS}
    for name in ("task_words", "task_words_share", "titles", "title_best", "titles_share"):
        assert cart[3][name] > 0.0 == cart[2][name]
    assert cart[3]["joint_title"] == pytest.approx(1.0)
    assert (cart[2]["joint_title"], cart[5]["joint_title"]) == (0.0, -1.0)
    # The second of the last three was told in the very word, the others count a tenth.
    weights = (0.1, 0.93 * 1.1, 0.93**2 * 0.1)
    assert cart[3]["geom_told"] == pytest.approx(weights[1] / (sum(weights) + 0.1), rel=1e-5)


def test_chinese_words_are_held_against_titles_and_paths() -> None:
    chronicle = told(*SMALL, step(35, 5, words=("登录", "刷新")))
    found = {file: described(chronicle, file, words=("登录",)) for file in OTHERS}
    assert found[5]["path_overlap"] == 1.0 > found[2]["path_overlap"]
    assert found[5]["task_words"] > 0.0 == found[2]["task_words"]
    assert found[5]["title_best"] > 0.0
    assert described(chronicle, 5, words=("页面",))["stem_overlap"] == 1.0


def test_letters_in_common_with_the_name_count() -> None:
    chronicle = told(step(10, 1, 2, states=(*(State(1, "a.py", True), State(2, "src/tokenizer.py", True)),)))
    found = matrix(chronicle, words=("tokens",))[0].tolist()
    # tok oke ken of tok oke ken eni niz ize zer
    assert found[(*COLUMNS, *TASK_COLUMNS).index("stem_letters")] == pytest.approx(3 / 7, rel=1e-5)


# ---- shape, and time -----------------------------------------------------------------------------


def test_a_new_file_is_described_by_its_name_and_the_task() -> None:
    chronicle = told(*SMALL)
    new = described(chronicle, 2, file=None, path="src/tests/test_b.py", words=("cart",))
    assert (new["geom"], new["query_changes"], new["same_stem"], new["query_kind"]) == (0.0, 0.0, 1.0, 1.0)
    assert new["query_days"] == pytest.approx(math.log1p(9_999))
    assert described(chronicle, 3, file=None, path="new.py", words=("cart",))["task_words"] > 0.0


FILES = st.lists(st.sampled_from([1, 2, 3, 4, 5]), unique=True, max_size=5)
TOLD = st.lists(st.sampled_from(["login", "cart", "登录"]), unique=True).map(tuple)


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    found = [step(10, 1, 2)]
    for day in range(11, 11 + draw(st.integers(0, 10))):
        edited = draw(FILES)
        read = tuple(file for file in draw(FILES) if file not in edited)
        moved = tuple(
            State(file, f"src/{draw(st.sampled_from('xyz'))}{file}.py", draw(st.booleans()))
            for file in draw(FILES)
        )
        more = {"session": draw(st.integers(1, 3)), "actor": draw(st.integers(1, 2)), "words": draw(TOLD)}
        found.append(step(day, *edited, read=read, states=moved, **more))
    return found


@settings(max_examples=40)
@given(histories(), histories(), TOLD)
def test_columns_are_numbers_and_later_work_taken_out_again_leaves_them(
    past: list[Step], later: list[Step], task: tuple[str, ...]
) -> None:
    chronicle = told(*past)
    found = matrix(chronicle, words=task)
    assert found.shape == (len(OTHERS), len(COLUMNS) + (len(TASK_COLUMNS) if task else 0))
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    for number, one in enumerate(later, start=100):
        chronicle.push(one._replace(key=number, occasion=number, at=number * DAY))
    for _ in later:
        chronicle.pop()
    assert matrix(chronicle, words=task).tolist() == found.tolist()


def test_no_candidates_make_an_empty_matrix() -> None:
    chronicle = told(*SMALL)
    hearing = Hearing(chronicle.history(1), signals((chronicle.history(1),)), ())
    for task, width in (((), len(COLUMNS)), (("login",), len(COLUMNS) + len(TASK_COLUMNS))):
        question = Question(1, "src/a.py", NOW, 1, task)
        assert columns(chronicle, question, hearing, []).shape == (0, width)


def test_each_column_has_a_name_of_its_own() -> None:
    assert len({*COLUMNS, *TASK_COLUMNS}) == len(COLUMNS) + len(TASK_COLUMNS)
