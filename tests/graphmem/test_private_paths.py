"""Which paths nothing is told of: names of key files, and `.graphmemignore`, read as git reads its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import private_paths
from graphmem.private_paths import is_private


def words(text: str) -> list[str]:
    return text.split()


PRIVATE = words(r"""
.env .env.local .env.production .env.example .envrc apps/web/.env .ENV certs/server.pem server.key
store.p12 store.pfx android/release.jks app.keystore id_rsa id_rsa.old id_dsa id_ecdsa id_ed25519
id_ed25519_sk putty.ppk .netrc .npmrc .pypirc .git-credentials .htpasswd .ssh/config
home/me/.gnupg/pubring.kbx .aws/credentials .aws C:\Users\me\.ssh\config src\.env ..\.env /srv/app/.env
a/.env/b ./x/../.env deploy/TLS.KEY
""")
OPEN = words(r"""
a.py environment.ts env src/env.d.ts id_rsa.pub .ssh.md keys/README.md monkey.py key pem.go docs/aws.md
aws/main.tf npmrc.md server.key.md id_number.py ssh/config.rs id_ed25519.pub .github/workflows/ci.yml
netrc.py / C:\src\a.py 密钥.md
""")


@pytest.mark.parametrize("path", PRIVATE)
def test_files_of_keys_and_credentials_are_private(path: str, tmp_path: Path) -> None:
    assert is_private(path, str(tmp_path))
    assert is_private(path, None)


@pytest.mark.parametrize("path", ["", *OPEN])
def test_others_are_not(path: str, tmp_path: Path) -> None:
    assert not is_private(path, str(tmp_path))
    assert not is_private(path, None)


# ---- .graphmemignore ---------------------------------------------------------------------------

# One file a line, its lines between bars.
RULES = r"""
secrets/
/secrets
secrets
*.sql
data/*.csv
/data/**
**/tmp
a/**/z
# no rule||  |notes.txt
*.log|!keep.log
!keep.log|*.log
logs/*|!logs/keep.log
logs/|!logs/keep.log
[ab].txt
[!ab].txt
[^ab].txt
[a-c]?.txt
?.txt
\#odd
\!odd
trailing.txt   |
\*.txt
a*b*c
**
*
*|!*/|!*.md
doc/frotz/
**/foo/bar
abc/**
[]x].txt
[a-].txt
dir/**/
/*|!/src
**/**/z
x**y
a/**b/z
src/*/test
客户/*.md
*.md|!a/*.md
[b-]x
/
!
""".strip().split("\n")
PATHS = words(r"""
secrets/a.txt src/secrets/b.txt secrets dump.sql db/dump.sql data/x.csv data/y/x.csv tmp/x src/tmp/x a/z
a/b/z a/b/c/z notes.txt x/notes.txt app.log keep.log logs/keep.log logs/app.log a.txt b.txt c.txt ab.txt
d.txt #odd !odd trailing.txt *.txt axbxc abc a.md doc/frotz/x frotz/x foo/bar x/foo/bar abc/x ].txt -.txt
foo[ dir/x/y src/main.py xy xaay a/cb/z src/one/test 客户/张三.md bx z a/x.md
""")


def test_an_ignore_file_means_what_it_means_to_git(git_repository: Callable[..., Any]) -> None:
    repository = git_repository()
    differing = []
    for rules in RULES:
        for name in (".gitignore", ".graphmemignore"):
            (repository.path / name).write_bytes(rules.replace("|", "\n").encode() + b"\n")
        told = subprocess.run(
            ["git", "check-ignore", "--no-index", "--stdin", "-z"],
            cwd=repository.path,
            input="\0".join(PATHS).encode(),
            capture_output=True,
        ).stdout.decode()
        ours = {path for path in PATHS if is_private(path, str(repository.path))}
        if ours != set(filter(None, told.split("\0"))):
            differing.append((rules, ours, told))
    assert differing == []


def test_a_class_that_is_not_closed_is_the_sign_itself(tmp_path: Path) -> None:
    ignoring(tmp_path, "odd[\n")
    assert is_private("odd[", str(tmp_path))


def ignoring(folder: Path, text: str | bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".graphmemignore").write_bytes(text if isinstance(text, bytes) else text.encode())


def test_files_nearer_to_the_path_have_the_last_word(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    ignoring(tmp_path / "shop", "*.csv\n/local.md\n")
    ignoring(tmp_path / "shop" / "open", "!*.csv\n/local.md\n")
    folder = str(tmp_path / "shop")
    assert [is_private(path, folder) for path in ("a.csv", "open/a.csv", "open/b/a.csv")] == [
        True,
        False,
        False,
    ]
    assert [is_private(path, folder) for path in ("local.md", "open/local.md", "x/local.md")] == [
        True,
        True,
        False,
    ]


def test_nothing_above_the_top_of_a_checkout_counts(tmp_path: Path) -> None:
    ignoring(tmp_path, "*.py\n")
    (tmp_path / "shop" / "src").mkdir(parents=True)
    (tmp_path / "shop" / ".git").write_text("gitdir: elsewhere\n", encoding="utf-8")
    assert not is_private("src/a.py", str(tmp_path / "shop"))
    assert not is_private(str(tmp_path / "shop" / "src" / "a.py"), None)


def test_a_session_in_a_part_of_a_checkout_minds_the_whole_of_it(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    ignoring(tmp_path, "/src/secret/\n")
    assert is_private("secret/a.py", str(tmp_path / "src"))
    assert is_private("../src/secret/a.py", str(tmp_path / "src"))
    assert not is_private("../secret/a.py", str(tmp_path / "src"))


def test_without_a_checkout_the_folder_is_the_top(tmp_path: Path) -> None:
    ignoring(tmp_path, "*.py\n")
    ignoring(tmp_path / "work", "*.md\n")
    assert [is_private(path, str(tmp_path / "work")) for path in ("a.py", "x/a.md")] == [False, True]


def test_windows_separators_reach_the_rules_too(tmp_path: Path) -> None:
    ignoring(tmp_path, "private/\n")
    assert is_private("src\\private\\a.py", str(tmp_path))


def test_a_folder_named_by_a_rule_is_private_itself(tmp_path: Path) -> None:
    ignoring(tmp_path, "customers/\n")
    (tmp_path / "customers").mkdir()
    assert is_private("customers", str(tmp_path))
    assert is_private("elsewhere/customers/", str(tmp_path))
    assert not is_private("elsewhere/customers", str(tmp_path))


@pytest.mark.parametrize(
    "content",
    [b"\xef\xbb\xbf*.py\n", b"*.py", b"*.py\r\n", b"\xff\xfe\n*.py\n", b"\x00\n*.py\n", b"*.py\n" * 20_000],
)
def test_odd_and_huge_ignore_files_give_what_can_be_read(content: bytes, tmp_path: Path) -> None:
    ignoring(tmp_path, content)
    assert is_private("a.py", str(tmp_path))
    assert not is_private("a.md", str(tmp_path))


def test_lines_beyond_64_kib_and_the_one_cut_there_are_not_read(tmp_path: Path) -> None:
    filling = b"#" * (65_536 - 4) + b"\n"
    ignoring(tmp_path, filling + b"*.py\n")
    assert not is_private("a.py", str(tmp_path))
    assert not is_private("a.p", str(tmp_path))


def test_an_ignore_file_that_is_no_file_is_none(tmp_path: Path) -> None:
    (tmp_path / ".graphmemignore").mkdir()
    assert not is_private("a.py", str(tmp_path))
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "sub").mkdir()
        os.rename(tmp_path / "pipe", tmp_path / "sub" / ".graphmemignore")
        assert not is_private("sub/a.py", str(tmp_path))


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="platform: nobody's files are closed to root"
)
def test_an_ignore_file_that_may_not_be_read_is_none(tmp_path: Path) -> None:
    ignoring(tmp_path, "*.py\n")
    (tmp_path / ".graphmemignore").chmod(0)
    assert not is_private("a.py", str(tmp_path))


def test_very_deep_paths_and_names_of_all_signs_are_judged(tmp_path: Path) -> None:
    ignoring(tmp_path, "*.py\n")
    assert is_private("a/" * 40 + "b.py", str(tmp_path))
    assert not is_private("a/" * 2_000 + "b.md", str(tmp_path))
    assert not is_private("a\x00b.md", str(tmp_path))
    assert not is_private("\ud800.md", str(tmp_path))


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_rule_and_any_path_have_an_answer(rule: str, path: str) -> None:
    rules = [(0, [rule])] if rule.strip() else []
    assert private_paths._is_excluded(["", *path.split("/")], rules, False) in (True, False)


def test_stars_do_not_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def fits(pattern: str, sign: str) -> bool:
        nonlocal steps
        steps += 1
        return pattern == "=" + sign

    monkeypatch.setattr(private_paths, "_fits_sign", fits)
    assert not private_paths._fits_name("*a" * 50 + "b", "a" * 1_000)
    assert steps <= 101 * 1_000


def test_a_deep_path_takes_as_many_looks_as_it_has_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignoring(tmp_path, "*.py\nbuild\n")
    looks: list[str] = []
    fits = private_paths._fits_name

    def looked(pattern: str, name: str) -> bool:
        looks.append(name)
        return fits(pattern, name)

    monkeypatch.setattr(private_paths, "_fits_name", looked)
    assert not is_private("a/" * 200 + "b.md", str(tmp_path))
    assert len(looks) == 2 * 201
