"""Names, authors and messages of any bytes: paths come in without loss, texts readable."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from graphmem.capture.changed_files import ChangedFiles
from graphmem.capture.git import GitImporter
from graphmem.capture.git_commit import commit_text
from graphmem.capture.git_paths import path_text
from graphmem.model import Rename

COMPOSED = "café/menü.md"
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)
ODD_NAMES = [
    *("src/模块.py", "Einkäufe/t.ts", "🧪 a b.txt", "a\\b.txt", "tab\there", "line\nbreak", 'quo"te', "it's"),
    *(
        "-leading",
        "--",
        " lead",
        "trail ",
        "a..b",
        "...",
        "$HOME",
        "%s",
        "*.py",
        "[x]",
        ":(top)a",
        ":a",
        "\x01",
    ),
    *("\x7f", "R100", "ünïcödé/ÿ", "a" * 250, "CON", "x:y", "#", "~", "a;b", "a|b", "{a,b}", "\u202egpj.exe"),
]


def fast_import(repository: Any, *commits: bytes) -> None:
    """Write commits as they are, past every check and conversion of `git commit`."""
    repository.git("fast-import", "--quiet", "--done", input=b"".join(commits) + b"done\n")
    repository.git("symbolic-ref", "HEAD", "refs/heads/main")


def commit(changes: bytes, *, message: bytes = b"m", name: bytes = b"A", at: int = 1_700_000_000) -> bytes:
    who = b"%s <a@example.invalid> %d +0000\n" % (name, at)
    head = b"commit refs/heads/main\nauthor " + who + b"committer " + who
    return head + b"data %d\n%s\n%s\n" % (len(message), message, changes)


def put(path: bytes, content: bytes = b"x\n") -> bytes:
    quoted = path.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    return b'M 100644 inline "%s"\ndata %d\n%s\n' % (quoted, len(content), content)


def test_names_of_every_kind_come_in_as_they_are(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    fast_import(repository, commit(b"".join(put(name.encode()) for name in ODD_NAMES)))
    repository.git("reset", "--quiet", "--hard")
    repository.git("config", "core.quotePath", "true")
    old, new = "line\nbreak", "new\n🧪"
    repository.git("mv", "--", old, new)
    repository.commit("Rename")
    run = imports(GitImporter(str(repository.path)))
    assert set(run.new[0].files_added) == set(ODD_NAMES)
    assert run.new[1].renames == (Rename(old, new),)


def test_bytes_that_are_not_utf8_lose_no_path_and_stop_no_import(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    names = [b"caf\xe9.txt", b"caf\xe8.txt", "café.txt".encode(), b"\xff\xfe/\x80", b"ok.txt"]
    first = commit(b"".join(map(put, names)), message=b"Gr\xfc\xdfe\n\nan alle \xff", name=b"J\xf6rg")
    fast_import(repository, first, commit(put(b"caf\xe9.txt", b"y\n"), message=b"Again"))
    run = imports(GitImporter(str(repository.path)))
    found = run.new[0]
    assert set(found.files_added) == {
        "caf\\xe9.txt",
        "caf\\xe8.txt",
        "café.txt",
        "\\xff\\xfe/\\x80",
        "ok.txt",
    }
    assert (found.title, found.narrative, found.actor) == ("Gr\ufffd\ufffde", "an alle \ufffd", "J\ufffdrg")
    assert run.new[1].files_modified == ("caf\\xe9.txt",)
    assert run.fault is None


@given(st.binary(min_size=1, max_size=20))
@example("模块".encode())
@example(b"caf\xe9")
def test_a_path_can_be_read_back_from_its_text(raw: bytes) -> None:
    text = path_text(raw)
    assert text.encode("utf-8", "strict")
    if b"\\" not in raw:
        back = b"".join(
            bytes([int(part[:2], 16)]) + part[2:].encode() if index else part.encode()
            for index, part in enumerate(text.split("\\x"))
        )
        assert back == raw


@pytest.mark.parametrize("encoding", ["latin-1", "gb18030", "shift-jis", "cp1251"])
def test_a_declared_encoding_is_honoured(
    git_repository: Callable[..., Any], imports: Any, encoding: str
) -> None:
    words = {"latin-1": "Grüße", "gb18030": "修复登录", "shift-jis": "日本語", "cp1251": "Привет"}[encoding]
    repository = git_repository()
    repository.git("config", "i18n.commitEncoding", encoding)
    repository.write({"a.py": "1\n"})
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--file=-", input=words.encode(encoding))
    assert imports(GitImporter(str(repository.path))).new[0].title == words


@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbfBOM\r\n\r\nbody\r\n")
@example(b"\n\n  \n")
def test_any_message_becomes_text_that_can_be_stored(message: bytes) -> None:
    text = commit_text(message)
    assert text.title.encode() is not None
    assert "\n" not in text.title
    assert text.narrative == text.narrative.strip()


def test_a_message_with_nul_bytes_is_survived(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    odd = commit(put(b"a.py"), message=b"before\0after\0:100644 fake\0M\0path")
    fast_import(repository, odd, commit(put(b"b.py"), message=b"next"))
    run = imports(GitImporter(str(repository.path)))
    assert [(item.title, item.files_modified) for item in run.new] == [
        ("before", ("a.py",)),
        ("next", ("b.py",)),
    ]


def test_an_author_without_a_name_is_called_by_the_address(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    fast_import(repository, commit(put(b"a.py"), name=b""))
    assert imports(GitImporter(str(repository.path))).new[0].actor == "a@example.invalid"


# ---- composed and decomposed names -------------------------------------------------------------


def test_a_decomposed_name_is_stored_composed(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    decomposed = DECOMPOSED.encode()
    fast_import(repository, commit(put(decomposed)), commit(put(decomposed, b"y\n"), message=b"n"))
    run = imports(GitImporter(str(repository.path)))
    assert [item.files_modified for item in run.new] == [(COMPOSED,), (COMPOSED,)]


def test_both_forms_are_two_files_where_git_holds_both(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    composed, decomposed = COMPOSED.encode(), DECOMPOSED.encode()
    fast_import(
        repository,
        commit(put(decomposed), message=b"The decomposed one"),
        commit(put(composed), message=b"The composed one beside it"),
        commit(put(decomposed, b"y\n"), message=b"Change the first"),
    )
    run = imports(GitImporter(str(repository.path)))
    assert [item.files_modified for item in run.new] == [(DECOMPOSED,), (COMPOSED,), (DECOMPOSED,)]


def test_both_forms_were_two_files_while_git_held_both(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    composed, decomposed = COMPOSED.encode(), DECOMPOSED.encode()
    fast_import(
        repository,
        commit(put(composed) + put(decomposed), message=b"Both"),
        commit(b'D "%s"\n' % decomposed, message=b"One goes"),
    )
    run = imports(GitImporter(str(repository.path)))
    assert set(run.new[0].files_added) == {COMPOSED, DECOMPOSED}
    assert run.new[1].files_deleted == (DECOMPOSED,)


@pytest.mark.parametrize("similar", [True, False], ids=["as a rename", "as deleted and added"])
def test_composing_a_name_in_git_is_no_change_of_identity(
    git_repository: Callable[..., Any], imports: Any, similar: bool
) -> None:
    repository = git_repository()
    composed, decomposed = COMPOSED.encode(), DECOMPOSED.encode()
    text = b"line\n" * 30
    after = text if similar else b"quite another\n" * 30
    fast_import(
        repository,
        commit(put(decomposed, text)),
        commit(b'D "%s"\n' % decomposed + put(composed, after), message=b"Compose"),
    )
    found = imports(GitImporter(str(repository.path))).new[1]
    assert (found.files_modified, found.files_deleted, found.renames) == ((COMPOSED,), (), ())


def test_many_decomposed_names_are_asked_about_together(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    names = [unicodedata.normalize("NFD", f"{'ordner' * 20}/größe {number}.txt") for number in range(900)]
    fast_import(repository, commit(b"".join(put(name.encode()) for name in names)))
    found = imports(GitImporter(str(repository.path))).new[0]
    assert set(found.files_added) == {unicodedata.normalize("NFC", name) for name in names}


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
        .map(lambda name: unicodedata.normalize("NFC", name))
        .filter(lambda name: name not in (".", "..") and name.casefold() not in (".git", "git~1")),
        min_size=1,
        max_size=8,
        unique=True,
    )
)
def test_whatever_git_can_name_is_named_so(
    git_repository: Callable[..., Any], imports: Any, names: list[str]
) -> None:
    repository = git_repository(f"repository-{os.urandom(6).hex()}")
    # An ending keeps odd names from being caught by a rule, such as `x.o`.
    fast_import(repository, commit(b"".join(put(f"{name}.py".encode()) for name in names)))
    found = imports(GitImporter(str(repository.path))).new[0]
    assert set(found.files_added) == {unicodedata.normalize("NFC", f"{name}.py") for name in names}


# ---- sorting what changed ----------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from("ACDMRT"), st.sampled_from("abcd"), st.sampled_from("abcd"))))
def test_a_path_stands_in_one_list_only(changes: list[tuple[str, str, str]]) -> None:
    files = ChangedFiles()
    for status, path, old in changes:
        files.put(status, path, old)
    targets = {rename.new for rename in files.renames}
    moved = targets | {rename.old for rename in files.renames}
    assert not set(files.modified) & set(files.deleted)
    assert not set(files.modified) & targets
    assert set(files.modified) & moved <= set(files.added)
    assert not set(files.deleted) & moved
    assert set(files.added) <= set(files.modified)
    assert all(rename.old != rename.new for rename in files.renames)
    assert bool(files) == bool(changes)
    assert {path for _, path, _ in changes} <= {*files.modified, *files.deleted, *moved}


def test_a_former_name_created_anew_is_a_new_file() -> None:
    for order in ((("R", "b", "a"), ("A", "a", None)), (("A", "a", None), ("R", "b", "a"))):
        files = ChangedFiles()
        for status, path, old in order:
            files.put(status, path, old)
        assert (files.renames, files.modified, files.added) == ((Rename("a", "b"),), ("a",), ("a",))
