"""What holds for every path: stable names, agreement of spellings, no escape, no two files in one."""

from __future__ import annotations

import os
import posixpath
import shutil
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from graphmem import spelling
from graphmem.errors import InvalidInputError
from graphmem.identity import PathResolver
from graphmem.repository import locate

# Names as file systems take them, leaning towards what confuses: separators of elsewhere, dots, marks,
# normal forms, bytes that are not UTF-8.
CHARACTERS = st.sampled_from(
    "ab.. -_~%:*?[]()#'\"\\\n\u00e9\u0301e\u4e2d\u6587\u1112\u1161\U0001f9ea\udce9\udcff"
) | st.characters(exclude_characters="/\0", exclude_categories=["Cs"])
NAMES = st.text(CHARACTERS, min_size=1, max_size=6).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join).filter(lambda path: path.strip())
PLAIN = st.from_regex(r"[a-z]{1,3}(/[a-z]{1,3}){0,3}", fullmatch=True)
ANYTHING = st.text(CHARACTERS | st.sampled_from("/\\.\0"), max_size=30)


@dataclass
class Place:
    root: Path
    tree: Path
    link: Path
    common_dir: str


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A repository, a worktree inside it and a link to it; files are only named, never made."""
    import subprocess

    base = tmp_path_factory.mktemp("place")
    root = base / "r"
    root.mkdir()
    run: Callable[..., Any] = lambda *arguments: subprocess.run(["git", *arguments], cwd=root, check=True)  # noqa: E731
    run("init", "--quiet")
    run("commit", "--quiet", "--allow-empty", "-m", "first")
    run("worktree", "add", "--quiet", ".worktrees/x")
    (base / "link").symlink_to(root)
    checkout = locate(root)
    assert checkout is not None
    yield Place(root, root / ".worktrees/x", base / "link", checkout.common_dir)
    shutil.rmtree(base)


def resolver(place: Place, history: set[str]) -> PathResolver:
    return PathResolver([str(place.root)], history.__contains__, place.common_dir, lambda root: None)


def outcome(reader: PathResolver, raw: str, cwd: str | None = None) -> str | None:
    try:
        return reader.resolve(raw, cwd)
    except InvalidInputError:
        return None


def stored(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


@given(raw=ANYTHING, history=st.sets(PLAIN, max_size=3), cwd=st.none() | ANYTHING)
def test_whatever_comes_the_answer_is_a_name_inside_the_root_or_a_refusal(
    place: Place, raw: str, history: set[str], cwd: str | None
) -> None:
    name = outcome(resolver(place, history), raw, cwd)
    if name is not None:
        assert name
        assert not name.startswith("/")
        assert posixpath.normpath(name) == name
        assert name != ".." and not name.startswith("../")
        assert "\0" not in name and not spelling.has_surrogates(name)
        name.encode()


@given(raw=ANYTHING, cwd=st.none() | ANYTHING)
def test_a_name_once_given_is_given_again(place: Place, raw: str, cwd: str | None) -> None:
    history: set[str] = set()
    reader = resolver(place, history)
    name = outcome(reader, raw, cwd)
    assume(name is not None)
    history.add(name or "")
    assert reader.resolve(name or "") == name
    assert reader.resolve(f"{place.root}/{name}") == name
    assert outcome(reader, raw, cwd) == name


@given(path=PATHS, known=st.booleans())
def test_all_spellings_of_a_file_agree(place: Place, path: str, known: bool) -> None:
    assume(not spelling.is_redacted(path) and ("\\" not in path or known))
    assume(not path.startswith(("~/", "file:")) and spelling.absolute(path) is None and ".git" not in path)
    name = stored(path)
    history = {name} if known else set()
    reader = resolver(place, history)
    folder, base = posixpath.split(path)
    expected = name if known else unicodedata.normalize("NFC", name)
    spellings = [
        (path, None),
        (f"./{path}", None),
        (f"{place.root}/{path}", None),
        (f"{place.root}//{folder}/.//{base}", None),
        (f"x/../{path}", None),
        (path, str(place.root)),
        (f"../{path}", f"{place.root}/sub"),
        (f"{place.link}/{path}", None),
        (path, str(place.link)),
        (f"{place.tree}/{path}", None),
        (path, str(place.tree)),
        (f".worktrees/x/{path}", str(place.root)),
    ]
    if folder and "\\" not in folder:
        spellings += [(base, f"{place.root}/{folder}"), (base, f"{place.tree}/{folder}"), (base, folder)]
    if base.strip(" \t\r\n"):
        assert {spelled: reader.resolve(*spelled) for spelled in spellings} == dict.fromkeys(
            spellings, expected
        )


STEPS = st.lists(st.sampled_from(["a", "b", ".", "..", "", "c d"]), min_size=1, max_size=9).map("/".join)


@given(steps=STEPS, folder=st.sampled_from(["", "a", "a/b", "deep/er/still"]))
def test_dots_mean_what_posix_says(place: Place, steps: str, folder: str) -> None:
    assume(steps and not steps.startswith("/"))
    reader = resolver(place, set())
    expected = posixpath.normpath(f"{place.root}/{folder}/{steps}")
    for raw, cwd in (
        (steps, f"{place.root}/{folder}".rstrip("/")),
        (f"{folder}/{steps}" if folder else steps, None),
        (f"{place.root}/{folder}/{steps}", None),
    ):
        if expected.startswith(f"{place.root}/"):
            assert reader.resolve(raw, cwd) == os.path.relpath(expected, place.root)
        else:
            with pytest.raises(InvalidInputError):
                reader.resolve(raw, cwd)


@given(paths=st.sets(PATHS, min_size=2, max_size=6), data=st.data())
def test_two_files_never_get_one_name(place: Place, paths: set[str], data: st.DataObject) -> None:
    """Whatever the history holds apart stays apart, under every spelling of each."""
    names = {path: stored(path) for path in paths}
    assume(len(set(names.values())) == len(paths))
    reader = resolver(place, set(names.values()))
    roots = [str(place.root), str(place.tree), str(place.link)]
    for path, name in names.items():
        root = data.draw(st.sampled_from(roots))
        assert reader.resolve(f"{root}/{path}") == name
        assert reader.resolve(name) == name


@given(paths=st.sets(PATHS, min_size=2, max_size=6))
def test_files_unknown_so_far_merge_only_as_forms_of_one_name(place: Place, paths: set[str]) -> None:
    apart = {path for path in paths if "\\" not in path and not spelling.is_redacted(path)}
    reader = resolver(place, set())
    names = {path: reader.resolve(f"{place.root}/{path}") for path in apart}
    forms = {unicodedata.normalize("NFC", stored(path)) for path in apart}
    assert len(set(names.values())) == len(forms)


WINDOWS_NAMES = st.text(
    st.characters(exclude_characters='/\\:*?"<>|\0', exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5
).filter(lambda name: name.strip(". ") == name and name != "")


@given(
    names=st.lists(WINDOWS_NAMES, min_size=1, max_size=4),
    separators=st.lists(st.sampled_from(["\\", "/", "\\\\", "\\.\\"]), min_size=4, max_size=4),
    root=st.sampled_from(["C:\\Users\\Me\\app", "d:/app", "\\\\Server\\Share\\app"]),
    known=st.booleans(),
)
def test_windows_spellings_agree_with_posix_ones(
    names: list[str], separators: list[str], root: str, known: bool
) -> None:
    path = "/".join(names)
    assume(not spelling.is_redacted(path) and names[0] != "~")
    history = {path} if known else set()
    reader = PathResolver([root], history.__contains__, None, lambda root: None)
    written = names[0] + "".join(
        separator + name for separator, name in zip(separators, names[1:], strict=False)
    )
    expected = path if known else unicodedata.normalize("NFC", path)
    for prefix in (root, root.upper(), root.lower(), root.replace("\\", "/")):
        assert reader.resolve(f"{prefix}\\{written}") == expected
    assert reader.resolve(names[-1], "\\".join([root, *names[:-1]])) == expected
    assert reader.resolve(written, root) == expected


@given(ANYTHING)
def test_escaping_undecodable_bytes_can_be_undone(text: str) -> None:
    raw = text.encode("utf-8", "surrogateescape")
    assume("\\x" not in text)
    assert spelling.escaped(text) == raw.decode("utf-8", "backslashreplace")
    assert os.fsencode(spelling.unescaped(spelling.escaped(text))) == raw


@given(PATHS)
def test_the_forms_of_a_path_are_one_name_under_normalisation(path: str) -> None:
    found = list(spelling.forms(path))
    assert found[0] == path
    assert len(found) == len(set(found)) <= 20
    assert {unicodedata.normalize("NFC", form) for form in found} == {unicodedata.normalize("NFC", path)}
