"""What two names tell of a relation: conventions of many languages, both ways round, and saying nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.relations import BACKWARD, FORWARD, RULES, Proposal, name_of, proposal

TESTS = [
    ("tests/test_token.py", "token.py"),
    ("tests/test_token.py", "shop/token.py"),
    ("tests/auth/test_token.py", "src/shop/auth/token.py"),
    ("shop/auth/tests/test_token.py", "shop/auth/token.py"),
    ("shop/token_test.py", "shop/token.py"),
    ("pkg/auth/token_test.go", "pkg/auth/token.go"),
    ("src/auth/token.test.ts", "src/auth/token.ts"),
    ("src/auth/token.spec.js", "src/auth/token.js"),
    ("src/auth/user-service.test.tsx", "src/auth/userService.tsx"),
    ("src/auth/__tests__/token.js", "src/auth/token.js"),
    ("src/auth/__tests__/Token.test.jsx", "src/auth/Token.jsx"),
    ("src/test/java/org/shop/TokenTest.java", "src/main/java/org/shop/Token.java"),
    ("src/test/scala/org/shop/TokenSpec.scala", "src/main/scala/org/shop/Token.scala"),
    ("src/test/kotlin/shop/TokenTests.kt", "src/main/kotlin/shop/Token.kt"),
    ("tests/token.rs", "src/token.rs"),
    ("test/shop/token_test.exs", "lib/shop/token.ex"),
    ("spec/models/token_spec.rb", "lib/models/token.rb"),
    ("tests/Auth/TokenTest.php", "src/Auth/Token.php"),
    ("tests\\auth\\test_token.py", "src\\auth\\token.py"),
    ("tests/auth/test_token.py", "src\\auth\\token.py"),
    ("tests/test_登录.py", "商店/登录.py"),
    ("src/支付/结算.test.ts", "src/支付/结算.ts"),
]
OTHERS = [
    (
        "tests/test_auth_token.py",
        "shop/auth/token.py",
        "tests",
        "test_auth_token.py is named after the folder and the name of token.py",
    ),
    ("docs/rules/no-loop.md", "lib/rules/no-loop.js", "documents", "no-loop.md is named after no-loop.js"),
    (
        "web/__snapshots__/menu.test.ts.snap",
        "web/menu.test.ts",
        "depends_on",
        "menu.test.ts.snap is a snapshot of menu.test.ts",
    ),
    ("src/lib.rs", "src/heap.rs", "depends_on", "lib.rs is the root or parent of the module heap.rs"),
    ("src/heap.c", "src/heap.h", "implements", "heap.c is the source of the header heap.h"),
    (
        "src/shop/heap.cpp",
        "include/shop/heap.hpp",
        "implements",
        "heap.cpp is the source of the header heap.hpp",
    ),
    ("src\\heap.cc", "src/heap.h", "implements", "heap.cc is the source of the header heap.h"),
    ("api/order_pb2.py", "api/order.proto", "depends_on", "order_pb2.py is generated from order.proto"),
    (
        "gen/api/order.pb.go",
        "proto/api/order.proto",
        "depends_on",
        "order.pb.go is generated from order.proto",
    ),
    ("web/page.min.js", "web/page.js", "depends_on", "page.min.js is generated from page.js"),
    ("web/page.css", "web/page.scss", "depends_on", "page.css is generated from page.scss"),
    ("package-lock.json", "package.json", "depends_on", "package-lock.json is generated from package.json"),
    ("服务/go.sum", "服务/go.mod", "depends_on", "go.sum is generated from go.mod"),
]
UNRELATED = [
    ("tests/test_token.py", "src/session.py"),
    ("tests/test_token.py", "src/token.ts"),
    ("tests/test_token.py", "docs/token.png"),
    ("tests/auth/test_token.py", "src/checkout/token.py"),
    ("tests/test_token.py", "tests/test_token.py"),
    ("tests/test_token.py", "tests/token.py"),
    ("src/token.py", "src/token.go"),
    ("src/a.py", "src/b.py"),
    ("", ""),
    ("", "a.py"),
    (".", ".."),
    ("test_.py", "_.py"),
    ("CHANGELOG.md", "pyproject.toml"),
    ("web/package-lock.json", "package.json"),
    ("tests/__init__.py", "shop/__init__.py"),
    ("tests/test_token.py", "examples/token.py"),
    ("src/auth/tests/token.test.ts", "auth/token.ts"),
    ("test/token_test.go", "token/token.go"),
    ("src/bin/main.rs", "src/bin/tool.rs"),
    ("README.md", "src/readme.py"),
    ("src/heap.c", "other/heap.h"),
    ("web/page.min.js", "app/page.js"),
    ("docs/en/docs/index.md", "docs/es/docs/index.md"),
    ("服务.py", "支付.py"),
]
LETTERS = st.text(st.sampled_from("abcxyzABC_-.登录é"), min_size=1, max_size=8)
PATHS = st.lists(
    st.one_of(LETTERS, st.sampled_from(["src", "tests", "__tests__", "lib"])), max_size=4
).flatmap(
    lambda folders: st.builds(
        lambda mark, stem, end: "/".join([*folders, mark.format(stem) + end]),
        st.sampled_from(["{}", "test_{}", "{}_test", "{}.test", "{}Test"]),
        LETTERS,
        st.sampled_from([".py", ".ts", ".go", ".java", ".h", ".c", ".rs", ".md", ""]),
    )
)


@pytest.mark.parametrize(("test", "subject"), TESTS)
def test_a_test_is_proposed_to_test_what_it_is_named_after(test: str, subject: str) -> None:
    files = [path.replace("\\", "/").rpartition("/")[2] for path in (test, subject)]
    because = f"{files[0]} is named after {files[1]}"
    assert proposal(test, subject) == Proposal("tests", FORWARD, because)
    assert proposal(subject, test) == Proposal("tests", BACKWARD, because)


@pytest.mark.parametrize(("one", "other", "relation", "because"), OTHERS)
def test_what_is_made_from_or_for_another_file_is_proposed_with_its_cue(
    one: str, other: str, relation: str, because: str
) -> None:
    assert proposal(one, other) == Proposal(relation, FORWARD, because)
    assert proposal(other, one) == Proposal(relation, BACKWARD, because)


@pytest.mark.parametrize(("one", "other"), UNRELATED)
def test_nothing_is_proposed_for_names_that_tell_nothing(one: str, other: str) -> None:
    assert proposal(one, other) is None
    assert proposal(other, one) is None


@given(PATHS, PATHS)
def test_with_the_ends_swapped_only_the_direction_is_swapped(one: str, other: str) -> None:
    there, back = proposal(one, other), proposal(other, one)
    swapped = {FORWARD: BACKWARD, BACKWARD: FORWARD}
    assert (there is None) == (back is None)
    if there is not None and back is not None:
        assert back == there._replace(direction=swapped[there.direction])


@given(PATHS)
def test_a_file_is_not_related_to_itself(path: str) -> None:
    assert proposal(path, path) is None


@given(PATHS, PATHS)
def test_the_separator_and_the_way_a_letter_is_composed_tell_nothing(one: str, other: str) -> None:
    found = proposal(one, other)
    assert proposal(one.replace("/", "\\"), other) == found
    assert proposal(unicodedata.normalize("NFD", one), other) == found


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_a_name(one: str, other: str) -> None:
    found = proposal(one, other)
    assert found is None or found.because


def test_the_cue_names_both_files() -> None:
    found = proposal("src/x/token.go", "src/x/token_test.go")
    assert found is not None
    assert found.because == "token_test.go is named after token.go"


def test_a_name_is_taken_apart() -> None:
    name = name_of("src\\Auth\\UserService.test.TS")
    assert name.folders == ("src", "auth")
    assert (name.file, name.stem, name.plain, name.ending) == (
        "UserService.test.TS",
        "UserService",
        "userservice",
        "ts",
    )
    assert name.is_test


def test_each_cue_has_one_rule_and_words_that_name_both_ends() -> None:
    assert len({rule.cue for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert "{0}" in rule.words and "{1}" in rule.words
