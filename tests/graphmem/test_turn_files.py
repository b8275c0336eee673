"""What a part of a turn did to files in the end, whatever the way there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.events import FileChange, FileEdit
from graphmem.turns.turn_files import Step, TurnFiles


def edited(path: str) -> FileEdit:
    return FileEdit(path)


def added(path: str) -> FileEdit:
    return FileEdit(path, FileChange.ADDED)


def deleted(path: str) -> FileEdit:
    return FileEdit(path, FileChange.DELETED)


def moved(old: str, new: str) -> FileEdit:
    return FileEdit(new, FileChange.MOVED, old)


def effect(*steps: Step) -> dict[str, object]:
    files = TurnFiles().after(steps)
    told = {
        "read": list(files.read),
        "modified": files.modified,
        "added": files.added,
        "deleted": list(files.gone),
        "moved": files.moved,
    }
    return {name: value for name, value in told.items() if value}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param((), {}, id="nothing"),
        pytest.param(("a", "b", "a"), {"read": ["a", "b"]}, id="read twice"),
        pytest.param(("a", edited("a")), {"modified": ["a"]}, id="read, then edited"),
        pytest.param((edited("a"), "a"), {"modified": ["a"]}, id="edited, then read"),
        pytest.param((added("a"), edited("a")), {"modified": ["a"], "added": ["a"]}, id="added and edited"),
        pytest.param(("a", added("a")), {"modified": ["a"]}, id="written over after it was read"),
        pytest.param((added("a"), deleted("a")), {}, id="added and deleted"),
        pytest.param((added("a"), "a", deleted("a")), {}, id="added, read and deleted"),
        pytest.param((edited("a"), deleted("a")), {"deleted": ["a"]}, id="edited and deleted"),
        pytest.param(("a", deleted("a"), "a"), {"deleted": ["a"]}, id="read after its end"),
        pytest.param((deleted("a"), added("a")), {"modified": ["a"]}, id="deleted and added again"),
        pytest.param((deleted("a"), edited("a")), {"modified": ["a"]}, id="deleted and written again"),
        pytest.param((moved("a", "b"),), {"moved": [("a", "b")]}, id="moved"),
        pytest.param(("a", moved("a", "b"), "b"), {"moved": [("a", "b")]}, id="moved and read"),
        pytest.param(
            (moved("a", "b"), edited("b")), {"moved": [("a", "b")], "modified": ["b"]}, id="moved and edited"
        ),
        pytest.param(
            (edited("a"), moved("a", "b")), {"moved": [("a", "b")], "modified": ["b"]}, id="edited and moved"
        ),
        pytest.param((moved("a", "b"), moved("b", "c")), {"moved": [("a", "c")]}, id="moved twice"),
        pytest.param((moved("a", "b"), moved("a", "b")), {"moved": [("a", "b")]}, id="told twice"),
        pytest.param((moved("a", "b"), deleted("b")), {"deleted": ["a"]}, id="moved and deleted"),
        pytest.param((moved("a", "b"), deleted("a")), {"moved": [("a", "b")]}, id="old name deleted"),
        pytest.param((moved("a", "b"), moved("b", "a")), {"read": ["a"]}, id="there and back"),
        pytest.param(
            (moved("a", "b"), edited("b"), moved("b", "a")), {"modified": ["a"]}, id="back with an edit"
        ),
        pytest.param(
            (added("a"), moved("a", "b")), {"modified": ["b"], "added": ["b"]}, id="added and moved"
        ),
        pytest.param(
            (moved("a", "b"), added("a")),
            {"moved": [("a", "b")], "modified": ["a"], "added": ["a"]},
            id="a new file under the old name",
        ),
        pytest.param(
            (moved("a", "b"), edited("a")),
            {"moved": [("a", "b")], "modified": ["a"], "added": ["a"]},
            id="written under the old name",
        ),
        pytest.param(
            (moved("a", "b"), added("a"), deleted("b")), {"modified": ["a"]}, id="replaced by a new file"
        ),
        pytest.param(
            (edited("b"), moved("a", "b")), {"modified": ["b"], "deleted": ["a"]}, id="moved onto another"
        ),
        pytest.param(
            (deleted("b"), moved("a", "b")), {"modified": ["b"], "deleted": ["a"]}, id="in a gap"
        ),
        pytest.param(
            (added("b"), moved("a", "b")), {"moved": [("a", "b")]}, id="moved onto a new one"
        ),
        pytest.param(
            (added("n"), edited("b"), moved("n", "b")), {"modified": ["b"]}, id="a new one moved onto another"
        ),
        pytest.param(
            (moved("b", "c"), moved("a", "b")), {"moved": [("b", "c"), ("a", "b")]}, id="moved in a row"
        ),
        pytest.param(
            (moved("a", "t"), moved("b", "a"), moved("t", "b")),
            {"moved": [("b", "a"), ("a", "b")]},
            id="names exchanged",
        ),
        pytest.param((deleted("a"), moved("a", "b")), {"moved": [("a", "b")]}, id="moved after all"),
        pytest.param(
            (moved("a", "c"), moved("b", "c")), {"moved": [("b", "c")], "deleted": ["a"]}, id="ousted"
        ),
        pytest.param((FileEdit("a", FileChange.MOVED),), {"modified": ["a"]}, id="moved from nowhere"),
        pytest.param((moved("a", "a"),), {"modified": ["a"]}, id="moved to itself"),
        pytest.param(
            (moved("b", "a"), FileEdit("b", FileChange.MOVED)),
            {"moved": [("b", "a")], "added": ["b"], "modified": ["b"]},
            id="moved from nowhere to a name that is free",
        ),
    ],
)  # fmt: skip
def test_only_the_net_effect_is_told(steps: tuple[Step, ...], expected: dict[str, object]) -> None:
    assert effect(*steps) == expected


NAMES = st.sampled_from("abcde")
STEPS = st.lists(
    st.one_of(
        NAMES,
        st.builds(FileEdit, NAMES, st.sampled_from(FileChange), st.one_of(st.none(), NAMES)),
    ),
    max_size=25,
)


@given(STEPS)
def test_a_file_stands_in_one_place_and_every_way_of_telling_gives_the_same(steps: list[Step]) -> None:
    whole = TurnFiles().after(steps)
    one_by_one = TurnFiles()
    for step in steps:
        one_by_one = one_by_one.after((step,))
    assert one_by_one == whole
    standing = [file.path for file in whole.standing]
    firsts = [file.first for file in whole.standing if file.first is not None]
    assert len({*standing, *whole.gone, *whole.read}) == len(standing) + len(whole.gone) + len(whole.read)
    assert len(set(firsts)) == len(firsts)
    assert not set(firsts) & {*whole.gone, *whole.read}
    assert all(file.edited for file in whole.standing if file.first in (None, file.path))


def _existing(steps: list[Step]) -> dict[str, str]:
    """Play steps that fit each other on a folder of five files; return its names with their contents."""
    files = {name: name for name in "abcde"}
    for number, step in enumerate(steps):
        match step:
            case FileEdit(path, FileChange.DELETED):
                files.pop(path, None)
            case FileEdit(path, FileChange.MOVED, former) if former in files and former != path:
                files[path] = files.pop(former)
            case FileEdit(path, FileChange.MODIFIED | FileChange.ADDED):
                files[path] = f"{files.get(path, '')}{number}"
    return files


@given(
    st.lists(
        st.one_of(
            st.builds(edited, NAMES),
            st.builds(deleted, NAMES),
            st.builds(moved, NAMES, st.sampled_from("fgh")),
        ),
        max_size=12,
    )
)
def test_the_effect_agrees_with_what_a_folder_would_show(steps: list[FileEdit]) -> None:
    present = {*"abcde"}
    played: list[Step] = []
    for step in steps:  # only what is possible: nothing is done to a file that is not there
        source = step.former if step.change is FileChange.MOVED else step.path
        if source in present:
            present -= {str(source)} if step.change is not FileChange.MODIFIED else set()
            present |= {step.path} if step.change is FileChange.MOVED else set()
            played.append(step)
    files, shown = TurnFiles().after(played), _existing(played)
    gone = {*"abcde"} - shown.keys()
    new = shown.keys() - {*"abcde"}
    assert {*files.gone} | {old for old, _ in files.moved} == gone
    assert {now for _, now in files.moved} == new
    assert {path for path in files.modified if path in "abcde"} == {
        path for path in shown.keys() & {*"abcde"} if shown[path] != path
    }


def test_what_comes_at_once_stays_together_where_it_fits() -> None:
    few = TurnFiles().after(edited(f"{number}") for number in range(3))
    portions = few.portions([edited(f"x{number}") for number in range(18)], 20)
    assert [len(portion) for portion in portions] == [0, 18]


def test_more_files_than_one_part_holds_are_divided() -> None:
    portions = TurnFiles().portions([edited(f"x{number}") for number in range(45)], 20)
    assert [len(portion) for portion in portions] == [20, 20, 5]
    portions = TurnFiles(read=("r",)).portions([edited(f"x{number}") for number in range(45)], 20)
    assert [len(portion) for portion in portions] == [0, 20, 20, 5]


@given(STEPS, STEPS, st.integers(1, 4))
def test_portions_hold_every_step_once_and_keep_to_the_limit(
    before: list[Step], steps: list[Step], most: int
) -> None:
    files = TurnFiles()
    for step in before:
        if files.after((step,)).count <= most:
            files = files.after((step,))
    portions = files.portions(steps, most)
    assert [step for portion in portions for step in portion] == steps
    first, *others = portions
    assert files.after(first).count <= most
    assert all(portion and TurnFiles().after(portion).count <= most for portion in others)
