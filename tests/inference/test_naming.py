from __future__ import annotations

import pytest

from inference.naming import folder, stem


@pytest.mark.parametrize(
    "path",
    [
        "src/token.ts",
        "test/token.test.ts",
        "src/token.spec.tsx",
        "tests/test_token.py",
        "pkg/token_test.go",
        "spec/token_spec.rb",
        "token-test.js",
        "src/main/java/TokenTest.java",
        "src/Token.vue",
        "docs/token.md",
    ],
)
def test_a_file_and_its_test_share_a_stem(path: str) -> None:
    assert stem(path) == "token"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".gitignore", ".gitignore"),
        ("test.py", "test"),
        ("src/latest.py", "latest"),
        ("src/Contest.java", "contest"),
        ("测试/登录.py", "登录"),
        ("src/a.b.c", "a"),
        ("", ""),
    ],
)
def test_a_stem_is_not_cut_where_no_test_is_meant(path: str, expected: str) -> None:
    assert stem(path) == expected


def test_the_folder_is_all_before_the_name() -> None:
    assert folder("src/auth/token.ts") == "src/auth"
    assert folder("README.md") == ""
