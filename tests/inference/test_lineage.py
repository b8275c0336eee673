"""The identity of files through renames, deletions and re-creations."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inference.lineage import Change, Lineage, Mention

PATHS = st.sampled_from(["a", "b", "c", "d"])
MENTIONS = st.one_of(
    st.builds(Mention, st.sampled_from([Change.READ, Change.MODIFIED, Change.ADDED, Change.DELETED]), PATHS),
    st.tuples(PATHS, PATHS)
    .filter(lambda pair: pair[0] != pair[1])
    .map(lambda pair: Mention(Change.RENAMED, pair[1], pair[0])),
)


def mention(change: Change, path: str, old: str | None = None) -> list[Mention]:
    return [Mention(change, path, old)]


def test_a_rename_keeps_the_file_and_leaves_its_old_name_as_an_alias() -> None:
    lineage = Lineage()
    (born,) = lineage.step(mention(Change.ADDED, "a"))
    lineage.step(mention(Change.RENAMED, "b", "a"))
    (later,) = lineage.step(mention(Change.MODIFIED, "a"))
    assert born.file == later.file == lineage.file_of("b")
    assert lineage.path_of(born.file) == "b"


def test_an_old_name_created_anew_is_another_file() -> None:
    lineage = Lineage()
    (born,) = lineage.step(mention(Change.ADDED, "a"))
    lineage.step(mention(Change.RENAMED, "b", "a"))
    (anew,) = lineage.step(mention(Change.ADDED, "a"))
    assert anew.file != born.file
    assert (lineage.path_of(born.file), lineage.path_of(anew.file)) == ("b", "a")


def test_a_chain_of_renames_is_one_file() -> None:
    lineage = Lineage()
    (born,) = lineage.step(mention(Change.ADDED, "a"))
    lineage.step(mention(Change.RENAMED, "b", "a"))
    lineage.step(mention(Change.RENAMED, "c", "b"))
    assert {lineage.file_of(name) for name in "abc"} == {born.file}


def test_a_deleted_file_is_gone_and_lives_again_when_created_again() -> None:
    lineage = Lineage()
    (born,) = lineage.step(mention(Change.ADDED, "a"))
    lineage.step(mention(Change.DELETED, "a"))
    assert not lineage.alive(born.file)
    (again,) = lineage.step(mention(Change.ADDED, "a"))
    assert again.file == born.file
    assert not again.existed
    assert lineage.alive(born.file)


def test_two_files_that_swap_names_in_one_observation_stay_two() -> None:
    lineage = Lineage()
    a, b = lineage.step([Mention(Change.ADDED, "a"), Mention(Change.ADDED, "b")])
    lineage.step([Mention(Change.RENAMED, "b", "a"), Mention(Change.RENAMED, "a", "b")])
    assert (lineage.path_of(a.file), lineage.path_of(b.file)) == ("b", "a")
    assert lineage.alive(a.file)
    assert lineage.alive(b.file)


def test_a_file_overwritten_by_a_rename_is_gone() -> None:
    lineage = Lineage()
    a, b = lineage.step([Mention(Change.ADDED, "a"), Mention(Change.ADDED, "b")])
    lineage.step(mention(Change.RENAMED, "b", "a"))
    assert lineage.file_of("b") == a.file
    assert not lineage.alive(b.file)


def test_reading_does_not_revive_a_deleted_file() -> None:
    lineage = Lineage()
    (born,) = lineage.step(mention(Change.ADDED, "a"))
    lineage.step(mention(Change.DELETED, "a"))
    lineage.step(mention(Change.READ, "a"))
    assert not lineage.alive(born.file)


@given(st.lists(st.lists(MENTIONS, min_size=1, max_size=4), max_size=12))
def test_no_two_living_files_share_a_name(story: list[list[Mention]]) -> None:
    lineage = Lineage()
    for mentions in story:
        lineage.step(mentions)
        named = [state.path for state in lineage.files.values() if state.alive]
        assert len(named) == len(set(named))


@given(st.lists(st.lists(MENTIONS, min_size=1, max_size=4), max_size=12))
def test_every_mention_is_resolved_to_a_known_file(story: list[list[Mention]]) -> None:
    lineage = Lineage()
    for mentions in story:
        resolved = lineage.step(mentions)
        assert len(resolved) == len(mentions)
        assert all(entry.file in lineage.files for entry in resolved)


def test_a_second_mention_of_a_renames_target_is_the_file_that_moved_there() -> None:
    lineage = Lineage()
    modified, renamed = lineage.step([Mention(Change.MODIFIED, "b"), Mention(Change.RENAMED, "b", "a")])
    assert modified.file == renamed.file
    assert modified.repeated
    assert not renamed.repeated


def test_a_file_moved_twice_in_one_observation_ends_at_the_last_name() -> None:
    lineage = Lineage()
    (born,) = lineage.step(mention(Change.ADDED, "a"))
    first, second = lineage.step([Mention(Change.RENAMED, "b", "a"), Mention(Change.RENAMED, "c", "b")])
    assert first.file == second.file == born.file
    assert (first.repeated, second.repeated) == (False, True)
    assert lineage.path_of(born.file) == "c"


def test_a_shift_in_one_observation_moves_each_by_one() -> None:
    lineage = Lineage()
    a, b = lineage.step([Mention(Change.ADDED, "a"), Mention(Change.ADDED, "b")])
    lineage.step([Mention(Change.RENAMED, "b", "a"), Mention(Change.RENAMED, "c", "b")])
    assert (lineage.path_of(a.file), lineage.path_of(b.file)) == ("b", "c")
    assert lineage.alive(a.file)
    assert lineage.alive(b.file)


def test_a_name_moved_from_and_begun_anew_in_one_observation_is_another_file() -> None:
    lineage = Lineage()
    (born,) = lineage.step(mention(Change.ADDED, "a"))
    _, anew = lineage.step([Mention(Change.RENAMED, "b", "a"), Mention(Change.ADDED, "a")])
    assert anew.file != born.file
    assert (lineage.path_of(born.file), lineage.path_of(anew.file)) == ("b", "a")


def test_deleting_a_former_name_leaves_the_file_that_moved_away() -> None:
    lineage = Lineage()
    (born,) = lineage.step(mention(Change.ADDED, "a"))
    lineage.step(mention(Change.RENAMED, "b", "a"))
    lineage.step(mention(Change.DELETED, "a"))
    assert lineage.alive(born.file)
    lineage.step(mention(Change.DELETED, "b"))
    assert not lineage.alive(born.file)
