"""How a path may be written: backslashes, Windows forms, normal forms of Unicode, bytes, redaction."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.errors import InvalidInputError
from graphmem.identity import PathResolver

Resolver = Callable[..., PathResolver]

COMPOSED, DECOMPOSED = "caf\u00e9.md", "cafe\u0301.md"


# ---- backslashes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cwd", [None, "", "src"])
@pytest.mark.parametrize("where", ["history", "disk"])
def test_a_file_really_named_with_a_backslash_stays(
    tmp_path: Path, resolver: Resolver, where: str, cwd: str | None
) -> None:
    (tmp_path / "src").mkdir()
    name = "src/a\\b" if cwd == "src" else "a\\b"
    if where == "disk":
        (tmp_path / name).write_text("x")
    reader = resolver(tmp_path, {name} if where == "history" else ())
    assert reader.resolve("a\\b", cwd) == name
    assert reader.resolve(f"{tmp_path}/{name}") == name
    assert reader.resolve("a\\c", cwd) == name.replace("a\\b", "a/c")


def test_a_file_named_like_a_windows_path_or_a_home_stays(tmp_path: Path, resolver: Resolver) -> None:
    for name in ("C:\\x", "\\x", "~"):
        (tmp_path / name).write_text("x")
        assert resolver(tmp_path).resolve(name) == name
    assert resolver(tmp_path, {"D:/x"}).resolve("D:/x") == "D:/x"
    assert resolver(tmp_path, {"~/x"}).resolve("~/x") == "~/x"


WINDOWS_ROOTS = {
    "C:\\Users\\Me\\app": [
        "C:\\Users\\Me\\app\\src\\a.ts",
        "c:\\Users\\Me\\app\\src\\a.ts",
        "C:/Users/Me/app/src/a.ts",
        "c:/users/me/APP/src/a.ts",
        "C:\\Users/Me\\app/lib\\..\\src\\.\\a.ts",
        "\\\\?\\C:\\Users\\Me\\app\\src\\a.ts",
        "file:///C:/Users/Me/app/src/a.ts",
        "file:///c%3A/Users/Me/app/src/a.ts",
        "/mnt/c/Users/Me/app/src/a.ts",
        "/c/Users/Me/app/src/a.ts",
        "src\\a.ts",
        "src/a.ts",
    ],
    "\\\\Server\\Share\\app": [
        "\\\\Server\\Share\\app\\src\\a.ts",
        "\\\\server\\SHARE\\app\\src\\a.ts",
        "//Server/Share/app/src/a.ts",
        "\\\\?\\UNC\\Server\\Share\\app\\src\\a.ts",
        "file://server/share/app/src/a.ts",
        "src\\a.ts",
    ],
    "/mnt/c/app": ["C:\\app\\src\\a.ts", "c:/app/src/a.ts", "/mnt/c/app/src/a.ts"],
    "/c/app": ["C:\\app\\src\\a.ts", "/c/app/src/a.ts"],
    "/home/me/app": [
        "\\\\wsl$\\Ubuntu\\home\\me\\app\\src\\a.ts",
        "\\\\wsl.localhost\\Debian\\home\\me\\app\\src\\a.ts",
        "\\home\\me\\app\\src\\a.ts",
    ],
}


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("root", "raw"), [(root, raw) for root, spellings in WINDOWS_ROOTS.items() for raw in spellings]
)
def test_a_windows_spelling_is_understood(resolver: Resolver, root: str, raw: str, known: bool) -> None:
    reader = resolver(root, {"src/a.ts"} if known else ())
    assert reader.resolve(raw) == "src/a.ts"
    assert reader.resolve("a.ts", raw.rpartition("a.ts")[0]) == "src/a.ts"


def test_a_windows_root_is_no_other_drives(resolver: Resolver) -> None:
    reader = resolver("C:\\app")
    for raw in ("D:\\app\\a.ts", "C:\\apple\\a.ts", "C:\\app\\..\\a.ts", "C:\\app", "\\\\c\\app\\a.ts"):
        with pytest.raises(InvalidInputError):
            reader.resolve(raw)


# ---- normal forms --------------------------------------------------------------------------------


def test_a_decomposed_event_meets_a_composed_history(tmp_path: Path, resolver: Resolver) -> None:
    assert resolver(tmp_path, {COMPOSED}).resolve(DECOMPOSED) == COMPOSED


def test_a_composed_event_meets_a_decomposed_history(tmp_path: Path, resolver: Resolver) -> None:
    reader = resolver(tmp_path, {DECOMPOSED})
    assert reader.resolve(COMPOSED) == DECOMPOSED
    assert reader.resolve(DECOMPOSED) == DECOMPOSED


def test_two_forms_that_the_history_holds_are_two_files(tmp_path: Path, resolver: Resolver) -> None:
    reader = resolver(tmp_path, {COMPOSED, DECOMPOSED})
    assert reader.resolve(COMPOSED) == COMPOSED
    assert reader.resolve(f"{tmp_path}/{DECOMPOSED}") == DECOMPOSED


def test_an_unknown_name_is_stored_composed(tmp_path: Path, resolver: Resolver) -> None:
    assert resolver(tmp_path).resolve(f"docs/{DECOMPOSED}") == f"docs/{COMPOSED}"


def test_forms_may_differ_from_folder_to_file(tmp_path: Path, resolver: Resolver) -> None:
    stored = f"u\u0308/{COMPOSED}"
    assert resolver(tmp_path, {stored}).resolve(f"\u00fc/{DECOMPOSED}") == stored


def test_the_disks_form_counts_before_the_history_knows_the_file(tmp_path: Path, resolver: Resolver) -> None:
    (tmp_path / DECOMPOSED).write_text("x")
    stored = DECOMPOSED if DECOMPOSED in os.listdir(tmp_path) else COMPOSED
    assert resolver(tmp_path).resolve(COMPOSED) == resolver(tmp_path).resolve(DECOMPOSED)
    if not (tmp_path / COMPOSED).exists():
        assert resolver(tmp_path).resolve(COMPOSED) == stored


# ---- bytes that are not UTF-8 --------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw", [b"caf\xe9.md", b"\xff\xfe/x", b"\x80", b"\xc3\xa9\xe9.md", "模块".encode("gbk")]
)
def test_an_undecodable_name_is_what_the_git_importer_makes_of_it(
    tmp_path: Path, resolver: Resolver, raw: bytes
) -> None:
    text = raw.decode("utf-8", "backslashreplace")
    event = raw.decode("utf-8", "surrogateescape")
    assert resolver(tmp_path).resolve(event) == text
    assert resolver(tmp_path, {text}).resolve(event) == text
    assert resolver(tmp_path, {text}).resolve(text) == text
    assert resolver(tmp_path, {text}).resolve(f"{tmp_path}/{text}") == text


def test_an_escaped_name_is_recognised_by_the_disk(tmp_path: Path, resolver: Resolver) -> None:
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "wb"):
        pass
    assert resolver(tmp_path).resolve("caf\\xe9.md") == "caf\\xe9.md"
    assert resolver(tmp_path).resolve("caf\udce9.md") == "caf\\xe9.md"


def test_bytes_torn_apart_by_an_ascii_locale_are_joined(tmp_path: Path, resolver: Resolver) -> None:
    assert resolver(tmp_path, {COMPOSED}).resolve("caf\udcc3\udca9.md") == COMPOSED


def test_a_surrogate_that_stands_for_no_byte_becomes_the_replacement_mark(
    tmp_path: Path, resolver: Resolver
) -> None:
    assert resolver(tmp_path).resolve("a\ud800b.ts") == "a\ufffdb.ts"


# ---- redaction -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        "REDACTED.md",
        "docs/REDACTED.md",
        "REDACTED",
        "REDACTED/x.ts",
        "REDACTED_PATH.ts",
        "[REDACTED]",
        "[REDACTED].md",
        "src/[REDACTED:api-key]/x.ts",
        "src/<redacted>.ts",
        "{{REDACTED}}.py",
        "**REDACTED**.md",
        "***",
        "src/***.ts",
        "src/****/a.ts",
        "{root}/REDACTED.md",
        "/home/[REDACTED]/x",
        "██████.md",
    ],
)
def test_a_name_that_a_redactor_wrote_over_is_dropped(tmp_path: Path, resolver: Resolver, raw: str) -> None:
    assert resolver(tmp_path, {"src/a.ts"}).resolve(raw.replace("{root}", str(tmp_path))) is None


def test_a_file_really_named_so_is_kept(tmp_path: Path, resolver: Resolver) -> None:
    (tmp_path / "REDACTED.md").write_text("x")
    assert resolver(tmp_path).resolve("REDACTED.md") == "REDACTED.md"
    assert resolver(tmp_path, {"docs/REDACTED.md"}).resolve("docs/REDACTED.md") == "docs/REDACTED.md"


@pytest.mark.parametrize(
    "raw", ["src/redacted.py", "UNREDACTED.md", "REDACTEDNESS.md", "src/**/x.ts", "a[0].ts", "(a)/b.ts"]
)
def test_a_name_that_only_resembles_redaction_is_kept(tmp_path: Path, resolver: Resolver, raw: str) -> None:
    assert resolver(tmp_path).resolve(raw) == raw


def test_a_redacted_home_does_not_hide_a_known_file(tmp_path: Path, resolver: Resolver) -> None:
    reader = resolver(tmp_path, {"src/a.ts"})
    assert reader.resolve("/home/[REDACTED]/app/src/a.ts") == "src/a.ts"


# ---- git's quoting -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quoted", "name"),
    [
        ('"src/\\346\\250\\241\\345\\235\\227.py"', "src/模块.py"),
        ('"Eink\\303\\244ufe/t.ts"', "Eink\u00e4ufe/t.ts"),
        ('"quo\\"te.ts"', 'quo"te.ts'),
        ('"tab\\there.ts"', "tab\there.ts"),
        ('"caf\\351.md"', "caf\\xe9.md"),
    ],
)
def test_a_name_in_gits_quotes_is_the_real_one(
    tmp_path: Path, resolver: Resolver, quoted: str, name: str
) -> None:
    assert resolver(tmp_path, {name}).resolve(quoted) == name
    assert resolver(tmp_path).resolve(quoted) == name
    assert resolver(tmp_path, {quoted}).resolve(quoted) == quoted, "a file really named with quotes stays"


@pytest.mark.parametrize("name", ['"', '""', '"half', 'half"', 'a "b" c'])
def test_quotes_that_are_not_gits_belong_to_the_name(tmp_path: Path, resolver: Resolver, name: str) -> None:
    assert resolver(tmp_path).resolve(name) == name


def test_a_root_in_another_normal_form_is_the_same_root(resolver: Resolver) -> None:
    reader = resolver("/srv/caf\u00e9/app", {"src/a.ts"})
    assert reader.resolve("/srv/cafe\u0301/app/src/a.ts") == "src/a.ts"
    assert reader.resolve("/srv/cafe\u0301/app/README.md") == "README.md"
