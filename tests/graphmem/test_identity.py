"""Which file a path means: relative and absolute, working folders, refusals, copies that are gone. No git."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem.errors import InvalidInputError
from graphmem.identity import PathResolver

Resolver = Callable[..., PathResolver]


# ---- relative, absolute, working folder ---------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "cwd"),
    [
        ("src/a.ts", None),
        ("./src/a.ts", None),
        ("src//a.ts", None),
        ("src/./a.ts", None),
        ("lib/../src/a.ts", None),
        ("src/a.ts", "{root}"),
        ("src/a.ts", "{root}/"),
        ("a.ts", "{root}/src"),
        ("a.ts", "src"),
        ("../src/a.ts", "{root}/lib"),
        ("src/a.ts", "{root}/lib"),
        ("{root}/src/a.ts", None),
        ("{root}/src/a.ts", "/somewhere/else"),
        ("{root}/lib/../src/./a.ts", None),
        ("/{root}/src/a.ts", None),
        ("file://{root}/src/a.ts", None),
        ("file://localhost{root}/src/%61.ts", None),
        ("file:{root}/src/a.ts#L10-L12", None),
        ("a.ts", "file://{root}/src"),
        ("src\\a.ts", None),
        (".\\src\\a.ts", None),
        ("..\\src\\a.ts", "{root}/lib"),
        ("{root}\\src\\a.ts", None),
    ],
)
@pytest.mark.parametrize("where", ["history", "disk", "nowhere"])
def test_every_spelling_of_a_file_is_one_name(
    tmp_path: Path, resolver: Resolver, raw: str, cwd: str | None, where: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "lib").mkdir()
    if where == "disk":
        (tmp_path / "src/a.ts").write_text("x")
    elif cwd == "{root}/lib" and not raw.startswith(".."):
        where = "history"  # root-relative in a subfolder: needs somebody who knows the file
    history = {"src/a.ts"} if where == "history" else set()
    reader = resolver(tmp_path, history)
    said = None if cwd is None else cwd.replace("{root}", str(tmp_path))
    assert reader.resolve(raw.replace("{root}", str(tmp_path)), said) == "src/a.ts"


def test_a_relative_path_is_the_working_folders_before_the_roots(tmp_path: Path, resolver: Resolver) -> None:
    assert resolver(tmp_path, {"a.ts", "src/a.ts"}).resolve("a.ts", f"{tmp_path}/src") == "src/a.ts"


def test_a_relative_path_known_only_at_the_root_is_the_roots(tmp_path: Path, resolver: Resolver) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "b.ts").write_text("x")
    reader = resolver(tmp_path, {"a.ts"})
    assert reader.resolve("a.ts", f"{tmp_path}/src") == "a.ts"
    assert reader.resolve("b.ts", f"{tmp_path}/src") == "b.ts"


def test_a_new_relative_path_is_the_working_folders(tmp_path: Path, resolver: Resolver) -> None:
    assert resolver(tmp_path).resolve("new.ts", f"{tmp_path}/src") == "src/new.ts"


def test_a_working_folder_of_another_machine_means_the_root(tmp_path: Path, resolver: Resolver) -> None:
    reader = resolver(tmp_path / "app", {"src/a.ts"})
    for cwd in ("/nowhere/app", "C:\\nowhere\\app"):
        assert reader.resolve("src/a.ts", cwd) == "src/a.ts"
        assert reader.resolve("src/new.ts", cwd) == "src/new.ts"


def test_a_file_of_a_working_folder_outside_is_not_the_projects(tmp_path: Path, resolver: Resolver) -> None:
    (tmp_path / "app/src").mkdir(parents=True)
    (tmp_path / "other/src").mkdir(parents=True)
    (tmp_path / "other/src/a.ts").write_text("x")
    reader = resolver(tmp_path / "app", {"src/a.ts", "src/b.ts"})
    with pytest.raises(InvalidInputError, match="outside"):
        reader.resolve("src/a.ts", str(tmp_path / "other"))
    with pytest.raises(InvalidInputError, match="outside"):
        reader.resolve("new.ts", str(tmp_path / "other"))
    assert reader.resolve("src/b.ts", str(tmp_path / "other")) == "src/b.ts"


def test_a_path_from_the_home_folder_is_absolute(own_world: Path, resolver: Resolver) -> None:
    assert resolver(own_world / "app").resolve("~/app/src/a.ts") == "src/a.ts"
    assert resolver(own_world / "app").resolve("a.ts", "~/app/src") == "src/a.ts"


def test_a_root_may_be_the_whole_disk(resolver: Resolver) -> None:
    reader = resolver("/", {"etc/hosts"})
    assert reader.resolve("/etc/hosts") == "etc/hosts"
    assert reader.resolve("etc/new") == "etc/new"


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw",
    [
        "",
        " ",
        "\n",
        "nul\0byte",
        "a" * 5000,
        "{root}",
        "{root}/",
        ".",
        "./",
        "src/..",
        "..",
        "../x",
        "../../../../../../../../../../../x",
        "src/../../x",
        "{root}/../x",
        "{root}x/a.ts",
        "/",
        "//",
        "/x",
        "/etc/passwd",
        "file:///etc/passwd",
        "file:///%2e%2e/x",
        "C:\\",
        "C:\\x",
        "C:/x/y",
        "\\\\server\\share\\x",
        "..\\x",
        "~/x",
    ],
)
def test_what_is_not_a_file_of_the_project_is_refused_by_field(
    tmp_path: Path, resolver: Resolver, raw: str
) -> None:
    root = tmp_path / "app"
    root.mkdir()
    with pytest.raises(InvalidInputError) as refusal:
        resolver(root).resolve(raw.replace("{root}", str(root)), field="files_read")
    assert refusal.value.field == "files_read"
    assert str(refusal.value).endswith(".")
    assert "\0" not in str(refusal.value) and len(str(refusal.value)) < 400


# ---- names ---------------------------------------------------------------------------------------

ODD_NAMES = [
    "src/模块.py",
    "Eink\u00e4ufe/t.ts",
    "🧪 a b.txt",
    "a 'quoted' \"name\".ts",
    "two\nlines.ts",
    "-rf",
    "--help/x",
    " leading",
    "trailing ",
    "a:b.ts",
    "x:y/z.ts",
    "%41%20.ts",
    "a?b#c.ts",
    "$(x);&|.sh",
    "...",
    "..a/b..",
    ".git-ish/x",
    "app/[slug]/(group)/page.tsx",
    "a*b.ts",
    "redacted/notes.md",
    "UPPER.TS",
    "tab\there",
    "\u200bzero width.md",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_odd_name_is_kept(tmp_path: Path, resolver: Resolver, name: str) -> None:
    for history in ({name}, set[str]()):
        reader = resolver(tmp_path, history)
        assert reader.resolve(name) == name
        assert reader.resolve(f"{tmp_path}/{name}") == name
        assert reader.resolve(name, str(tmp_path)) == name


def test_case_is_significant(tmp_path: Path, resolver: Resolver) -> None:
    reader = resolver(tmp_path, {"README.md"})
    assert reader.resolve("readme.md") == "readme.md"
    assert reader.resolve(f"{tmp_path}/Readme.md") == "Readme.md"


# ---- copies that are gone ------------------------------------------------------------------------


def test_a_gone_copy_is_recognised_by_two_names_and_becomes_a_root(
    tmp_path: Path, resolver: Resolver, learned: list[str]
) -> None:
    reader = resolver(tmp_path, {"src/a.ts", "lib/src/a.ts"})
    assert reader.resolve("/gone/app-feature/lib/src/a.ts") == "lib/src/a.ts"
    assert learned == ["/gone/app-feature"]
    assert reader.resolve("/gone/app-feature/new.ts") == "new.ts"
    assert reader.roots() == (str(tmp_path), "/gone/app-feature")
    assert reader.resolve("D:\\code\\app\\src\\a.ts") == "src/a.ts"
    assert reader.resolve("/app/src/a.ts") == "src/a.ts"
    assert learned[1:] == ["d:/code/app", "/app"]


def test_a_slash_too_many_is_forgiven_and_teaches_nothing(
    tmp_path: Path, resolver: Resolver, learned: list[str]
) -> None:
    assert (
        resolver(tmp_path, {"no-such-folder/a.ts"}).resolve("/no-such-folder/a.ts") == "no-such-folder/a.ts"
    )
    assert learned == []


@pytest.mark.parametrize(
    "raw",
    [
        "/etc/README.md",
        "/etc/gone/docs/README.md",
        "/usr/share/gone/docs/README.md",
        "/home/gone/docs/README.md",
        "/Users/gone/docs/README.md",
        "C:\\Users\\gone\\docs\\README.md",
        "C:\\docs\\README.md",
        "/mnt/c/Users/gone/docs/README.md",
        "/tmp/docs/README.md",
        "/gone/README.md",
        "{parent}/docs/README.md",
        "{parent}/exists/docs/README.md",
    ],
)
def test_a_file_elsewhere_is_no_copy_of_a_common_name(
    tmp_path: Path, resolver: Resolver, learned: list[str], raw: str
) -> None:
    root = tmp_path / "app"
    root.mkdir()
    (tmp_path / "exists").mkdir()
    reader = resolver(root, {"README.md", "docs/README.md"})
    with pytest.raises(InvalidInputError, match="outside"):
        reader.resolve(raw.replace("{parent}", str(tmp_path)))
    assert learned == []


def test_a_file_below_a_root_is_never_merged_by_its_last_names(tmp_path: Path, resolver: Resolver) -> None:
    reader = resolver(tmp_path, {"src/index.ts"})
    assert reader.resolve(f"{tmp_path}/packages/ui/src/index.ts") == "packages/ui/src/index.ts"


def test_the_longest_root_whose_rest_is_known_wins_else_the_longest(
    tmp_path: Path, resolver: Resolver
) -> None:
    inner = f"{tmp_path}/trees/x"
    reader = resolver(tmp_path, {"src/a.ts", "trees/x/notes.md"}, inner)
    assert reader.resolve(f"{inner}/src/a.ts") == "src/a.ts"
    assert reader.resolve(f"{inner}/notes.md") == "trees/x/notes.md"
    assert reader.resolve(f"{inner}/new.ts") == "new.ts"


@pytest.mark.parametrize("folder", [".worktrees/x", ".claude/worktrees/z", "packages/ui/.codex/worktrees/y"])
def test_a_worktree_folder_that_is_gone_is_still_a_worktree(
    tmp_path: Path, resolver: Resolver, learned: list[str], folder: str
) -> None:
    reader = resolver(tmp_path, {"src/a.ts"})
    assert reader.resolve(f"{tmp_path}/{folder}/src/a.ts") == "src/a.ts"
    assert reader.resolve(f"{folder}/src/new.ts") == "src/new.ts"
    assert learned == [f"{tmp_path}/{folder}"]


def test_a_plain_folder_named_like_worktrees_is_the_projects_own(tmp_path: Path, resolver: Resolver) -> None:
    (tmp_path / ".worktrees/notes").mkdir(parents=True)
    assert resolver(tmp_path, {"a.md"}).resolve(".worktrees/notes/a.md") == ".worktrees/notes/a.md"
    assert resolver(tmp_path).resolve(".git/worktrees/x/HEAD") == ".git/worktrees/x/HEAD"


@pytest.mark.parametrize("cwd", ["\0", "a\0b", "/" * 5000])
def test_a_working_folder_that_cannot_be_is_refused_by_its_field(
    tmp_path: Path, resolver: Resolver, cwd: str
) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        resolver(tmp_path).resolve("a.ts", cwd)
    assert refusal.value.field == "cwd"


def test_an_empty_working_folder_is_none(tmp_path: Path, resolver: Resolver) -> None:
    assert resolver(tmp_path).resolve("a.ts", "") == "a.ts"


@pytest.mark.parametrize(
    ("cwd", "raw"),
    [
        ("/nowhere/app", "/nowhere/app/README.md"),
        ("C:\\nowhere\\app", "C:\\nowhere\\app\\README.md"),
        ("C:\\nowhere\\app", "c:/nowhere/app/README.md"),
    ],
)
def test_a_path_below_a_working_folder_of_another_machine_means_the_root(
    tmp_path: Path, resolver: Resolver, cwd: str, raw: str
) -> None:
    reader = resolver(tmp_path / "app", {"README.md"})
    assert reader.resolve(raw, cwd) == "README.md"
    with pytest.raises(InvalidInputError, match="outside"):
        reader.resolve(raw)
    with pytest.raises(InvalidInputError, match="outside"):
        reader.resolve(raw, "/nowhere/else")
