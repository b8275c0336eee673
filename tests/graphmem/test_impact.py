"""The answer before an edit, through the whole memory: standing, warning, neighbours, what goes on around."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Project
from graphmem.errors import InvalidInputError
from graphmem.instant import DAY, HOUR
from graphmem.model import FileStatus, Impact, Noise, Tier

Tell = Callable[..., Any]


@pytest.fixture
def work(clock: Any) -> Callable[..., Iterator[dict[str, Any]]]:
    """Days of work on the same files, each day a session of its own, the last one yesterday."""

    def days(*files: str, days: int = 6, ago: int = 1, **more: Any) -> Iterator[dict[str, Any]]:
        for day in range(days, 0, -1):
            at = clock.now - (day + ago - 1) * DAY
            yield {"session": f"day-{day + ago - 1}", "at": at, "files_modified": list(files), **more}

    return days


def names(answer: Impact) -> list[str]:
    return [entry.path for entry in answer.affected]


# ---- standing ----------------------------------------------------------------------------------


def test_in_an_empty_project_the_reason_says_that_nothing_is_recorded(shop: Project) -> None:
    answer = shop.impact(["src/a.py"])
    assert (answer.status, answer.warning, answer.affected) == (FileStatus.UNKNOWN, None, ())
    assert answer.reason is not None and "nothing is recorded" in answer.reason
    assert "graphmem import git" in answer.reason


def test_an_unknown_file_is_unknown_with_another_reason(shop: Project, tell: Tell) -> None:
    tell(shop, {"files_modified": ["src/a.py"]}, {"title": "thought about it"})
    answer = shop.impact(["src/b.py"])
    assert answer.status is FileStatus.UNKNOWN
    assert answer.reason is not None
    assert "none of the 2 recorded observations mentions src/b.py" in answer.reason
    assert "not known" in answer.reason


def test_a_file_that_was_only_read_is_known_as_that(shop: Project, tell: Tell) -> None:
    tell(shop, {"files_read": ["src/a.py"]})
    answer = shop.impact(["src/a.py"])
    assert answer.status is FileStatus.KNOWN
    assert answer.reason == "it was read, but no change of it is recorded"


def test_a_file_of_bulk_changes_only_is_known_and_links_nothing(shop: Project, tell: Tell) -> None:
    tell(shop, *({"files_modified": [f"src/{n}.py" for n in range(150)]} for _ in range(3)))
    answer = shop.impact(["src/7.py"])
    assert answer.status is FileStatus.KNOWN
    assert answer.reason == "it was changed in bulk changes only, which link nothing"
    assert answer.warning is None
    assert all(entry.evidence.together == 0 for entry in answer.affected)
    assert (answer.recent.sessions, answer.active) == (0, ())


def test_a_file_with_a_linked_change_needs_no_reason(shop: Project, tell: Tell) -> None:
    tell(shop, {"files_modified": ["src/a.py", "src/b.py"]})
    assert (shop.impact(["src/a.py"]).status, shop.impact(["src/a.py"]).reason) == (FileStatus.KNOWN, None)


def test_an_old_name_is_answered_for_the_file_it_became(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("src/a.py", "src/x.py"), {"renames": [{"from": "src/a.py", "to": "lib/b.py"}]})
    for asked, reason in (("src/a.py", "now named lib/b.py"), ("lib/b.py", None)):
        answer = shop.impact([asked])
        assert (answer.status, answer.reason) == (FileStatus.KNOWN, reason)
        assert names(answer)[0] == "src/x.py"
        assert answer.affected[0].evidence.together == 6
    assert names(shop.impact(["src/x.py"])) == ["lib/b.py"]


def test_a_deleted_file_is_gone_with_its_day_and_in_no_answer(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("src/a.py", "src/b.py", "src/c.py"), {"files_deleted": ["src/b.py"]})
    gone = shop.impact(["src/b.py"])
    assert (gone.status, gone.warning) == (FileStatus.GONE, None)
    assert gone.reason == "it was deleted on 2026-05-01"
    whole = shop.impact(["src/a.py"], limit=200)
    assert "src/b.py" not in names(whole)
    assert "src/b.py" not in [entry.path for entry in whole.next]
    assert "src/b.py" not in (whole.warning or "")
    assert "src/b.py" not in shop.busiest_files()
    assert all("src/b.py" not in (link.a, link.b) for link in shop.strongest_links())


def test_what_is_created_again_is_back_with_its_history(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("src/a.py", "src/b.py"), {"files_deleted": ["src/b.py"]})
    tell(shop, {"files_modified": ["src/b.py"]})
    assert shop.impact(["src/b.py"]).status is FileStatus.KNOWN
    found = shop.impact(["src/a.py"]).affected[0]
    assert (found.path, found.evidence.together) == ("src/b.py", 6)


def test_reading_or_naming_does_not_bring_a_deleted_file_back(shop: Project, tell: Tell) -> None:
    tell(shop, {"files_modified": ["a.py", "b.py"]}, {"files_deleted": ["b.py"]}, {"files_read": ["b.py"]})
    assert shop.impact(["b.py"]).status is FileStatus.GONE
    assert names(shop.impact(["a.py"])) == []


def test_what_an_observation_moved_twice_and_began_anew_is_told_apart(shop: Project, tell: Tell) -> None:
    tell(
        shop,
        {"files_modified": ["a.py", "x.py"]},
        {
            "renames": [{"from": "a.py", "to": "b.py"}, {"from": "b.py", "to": "c.py"}],
            "files_added": ["a.py"],
        },
        {"files_modified": ["a.py", "y.py"]},
    )
    assert shop.impact(["b.py"]).reason == "now named c.py"
    for path, partners in (("c.py", {"x.py", "a.py"}), ("a.py", {"y.py", "c.py"})):
        answer = shop.impact([path], limit=200)
        assert {entry.path for entry in answer.affected if entry.evidence.together} == partners


def test_deleting_a_former_name_does_not_end_the_file_that_moved_away(shop: Project, tell: Tell) -> None:
    tell(
        shop,
        {"files_modified": ["a.py", "x.py"]},
        {"renames": [{"from": "a.py", "to": "b.py"}]},
        {"files_deleted": ["a.py"]},
    )
    assert shop.impact(["b.py"]).status is FileStatus.KNOWN
    assert names(shop.impact(["x.py"])) == ["b.py"]


# ---- the disk ----------------------------------------------------------------------------------


@pytest.fixture
def on_disk(tmp_path: Path) -> Callable[..., None]:
    """Write empty files of the shop."""

    def write(*files: str) -> None:
        for name in files:
            (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "shop" / name).write_text("")

    return write


def test_a_folder_deleted_while_nothing_ran_is_gone_and_absence_alone_proves_nothing(
    shop: Project, tell: Tell, work: Any, on_disk: Callable[..., None], tmp_path: Path
) -> None:
    on_disk("src/a.py", "old/b.py", "old/c.py")
    tell(shop, *work("src/a.py", "old/b.py", "old/c.py", "src/a_test.py", days=12))
    for name in ("old/b.py", "old/c.py"):
        (tmp_path / "shop" / name).unlink()
    (tmp_path / "shop" / "old").rmdir()
    gone = shop.impact(["old/b.py"])
    assert (gone.status, gone.warning) == (FileStatus.GONE, None)
    assert gone.reason == "it was seen on the disk before and is there no more"
    assert shop.impact(["src/a_test.py"]).status is FileStatus.KNOWN
    answer = shop.impact(["src/a.py"])
    assert names(answer) == ["src/a_test.py"]
    assert answer.warning is not None and "old/" not in answer.warning and "weak" not in answer.warning
    assert sorted(shop.busiest_files()) == ["src/a.py", "src/a_test.py"]
    assert [(link.a, link.b) for link in shop.strongest_links()] == [("src/a.py", "src/a_test.py")]
    on_disk("old/b.py")
    assert shop.impact(["old/b.py"]).status is FileStatus.KNOWN
    assert sorted(names(shop.impact(["src/a.py"]))) == ["old/b.py", "src/a_test.py"]


def test_a_renamed_file_that_is_lost_is_gone_under_both_names(
    shop: Project, tell: Tell, on_disk: Callable[..., None], tmp_path: Path
) -> None:
    on_disk("b.py")
    tell(shop, {"files_modified": ["a.py", "x.py"]}, {"renames": [{"from": "a.py", "to": "b.py"}]})
    assert shop.impact(["a.py"]).reason == "now named b.py"
    (tmp_path / "shop" / "b.py").unlink()
    assert shop.impact(["b.py"]).status is FileStatus.GONE
    old = shop.impact(["a.py"])
    assert old.status is FileStatus.GONE
    assert old.reason is not None and "now named b.py" in old.reason


def test_a_project_folder_that_is_away_proves_nothing(
    shop: Project, tell: Tell, work: Any, on_disk: Callable[..., None], tmp_path: Path
) -> None:
    on_disk("a.py", "b.py")
    tell(shop, *work("a.py", "b.py"))
    (tmp_path / "shop").rename(tmp_path / "unmounted")
    assert shop.impact(["a.py"]).status is FileStatus.KNOWN
    assert names(shop.impact(["a.py"])) == ["b.py"]
    assert sorted(shop.busiest_files()) == ["a.py", "b.py"]


def test_what_work_changed_elsewhere_after_it_was_lost_here_lives(
    shop: Project, tell: Tell, on_disk: Callable[..., None], tmp_path: Path
) -> None:
    on_disk("a.py", "b.py")
    tell(shop, {"files_modified": ["a.py", "b.py"]})
    (tmp_path / "shop" / "b.py").unlink()
    assert shop.impact(["b.py"]).status is FileStatus.GONE
    tell(shop, {"files_modified": ["b.py"]})
    assert shop.impact(["b.py"]).status is FileStatus.KNOWN


def test_a_dangling_link_is_a_file_that_is_there(shop: Project, tell: Tell, tmp_path: Path) -> None:
    os.symlink("nowhere", tmp_path / "shop" / "link.py")
    tell(shop, {"files_modified": ["link.py"]})
    assert shop.impact(["link.py"]).status is FileStatus.KNOWN


def test_the_disk_says_nothing_about_the_past(
    shop: Project, tell: Tell, work: Any, clock: Any, on_disk: Callable[..., None], tmp_path: Path
) -> None:
    on_disk("a.py", "b.py")
    tell(shop, *work("a.py", "b.py"))
    (tmp_path / "shop" / "b.py").unlink()
    assert names(shop.impact(["a.py"])) == []
    assert names(shop.impact(["a.py"], as_of=clock.now)) == ["b.py"]


# ---- the warning -------------------------------------------------------------------------------


def test_what_changes_along_in_several_sessions_is_warned_of(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("src/a.py", "src/b.py", days=9))
    answer = shop.impact(["src/a.py"])
    assert answer.affected[0].tier is Tier.LIKELY
    assert answer.warning == (
        "src/a.py, from recorded history:\n"
        "Usually changes along:\n"
        "- src/b.py 80 %: 9 of 9 times, 9 sessions, last 2026-04-30\n"
        "More: graphmem impact src/a.py"
    )


def test_one_session_alone_warns_of_nothing(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *({**item, "session": "the same"} for item in work("src/a.py", "src/b.py", days=9)))
    answer = shop.impact(["src/a.py"])
    assert answer.affected[0].probability >= 0.7
    assert answer.warning is None


def test_a_lock_file_is_listed_and_never_warned_of(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("package.json", "package-lock.json", days=12))
    answer = shop.impact(["package.json"])
    assert (names(answer), answer.affected[0].noise) == (["package-lock.json"], Noise.LOCK)
    assert answer.warning is None


def test_a_lock_file_is_not_even_counted_in_the_warning(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("package.json", "package-lock.json", "deps.ts", days=12))
    warning = shop.impact(["package.json"]).warning
    assert warning is not None and "deps.ts" in warning
    assert "lock" not in warning and "weak" not in warning


def test_a_hub_with_one_strong_neighbour_is_one_line_and_a_count(
    shop: Project, tell: Tell, work: Any
) -> None:
    tell(
        shop,
        *(
            {**item, "files_modified": ["hub.py", "strong.py", f"w/{number}.py"]}
            for number, item in enumerate(work("hub.py", days=86))
        ),
    )
    warning = shop.impact(["hub.py"]).warning
    assert warning is not None
    assert warning.splitlines() == [
        "hub.py, from recorded history:",
        "Usually changes along (and 86 weak):",
        "- strong.py 90 %: 86 of 86 times, 86 sessions, last 2026-04-30",
        "More: graphmem impact hub.py",
    ]


def test_a_hub_without_a_strong_neighbour_is_silent(shop: Project, tell: Tell, clock: Any) -> None:
    tell(
        shop,
        *(
            {"session": f"s{n}", "at": clock.now - n * HOUR, "files_modified": ["hub.py", f"w/{n}.py"]}
            for n in range(87)
        ),
    )
    answer = shop.impact(["hub.py"])
    assert answer.warning is None
    assert len(answer.affected) == 10


@pytest.mark.parametrize("limit", [1, 2, 10, 200])
def test_the_warning_does_not_depend_on_how_many_are_listed(
    shop: Project, tell: Tell, work: Any, limit: int
) -> None:
    tell(shop, *work("a.py", "b.py", "c.py", days=12))
    answer = shop.impact(["a.py"], limit=limit)
    assert len(answer.affected) == min(limit, 2)
    assert answer.warning is not None
    assert [line.split()[1] for line in answer.warning.splitlines()[2:4]] == ["b.py", "c.py"]
    assert "weak" not in answer.warning


@pytest.mark.parametrize("limit", [0, -1, 201])
def test_a_limit_out_of_range_is_refused_by_name(shop: Project, limit: int) -> None:
    with pytest.raises(InvalidInputError) as refused:
        shop.impact(["a.py"], limit=limit)
    assert refused.value.field == "limit"


# ---- several files -----------------------------------------------------------------------------


def test_a_set_is_answered_as_one_and_never_names_its_own(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("a.py", "b.py", "c.py", days=9))
    answer = shop.impact(["a.py", "b.py"])
    assert (answer.path, answer.paths, answer.status) == (None, ("a.py", "b.py"), FileStatus.KNOWN)
    assert names(answer) == ["c.py"]
    assert answer.warning is not None
    assert answer.warning.startswith("these 2 files, from recorded history:\nUsually change along:\n- c.py ")


def test_two_spellings_of_one_file_are_one_question(shop: Project, tell: Tell, tmp_path: Path) -> None:
    tell(shop, {"files_modified": ["src/a.py", "b.py"]})
    answer = shop.impact(["src/a.py", str(tmp_path / "shop" / "src" / "a.py"), "src\\a.py"])
    assert (answer.path, answer.paths) == ("src/a.py", ())


def test_two_names_of_one_file_count_its_evidence_once(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("a.py", "x.py", days=4), {"renames": [{"from": "a.py", "to": "b.py"}]})
    alone, both = shop.impact(["b.py"]), shop.impact(["a.py", "b.py"])
    assert both.affected == alone.affected
    assert both.paths == ("a.py", "b.py")


def test_of_a_set_the_known_ones_answer_and_the_rest_is_told(shop: Project, tell: Tell, work: Any) -> None:
    tell(shop, *work("a.py", "b.py"), {"files_modified": ["old.py"]}, {"files_deleted": ["old.py"]})
    answer = shop.impact(["a.py", "never.py"])
    assert answer.status is FileStatus.KNOWN
    assert answer.reason is not None and "never.py" in answer.reason
    assert names(answer) == ["b.py"]
    assert shop.impact(["never.py", "old.py"]).status is FileStatus.GONE
    assert shop.impact(["never.py", "nor.py"]).status is FileStatus.UNKNOWN


def test_no_path_is_refused(shop: Project) -> None:
    with pytest.raises(InvalidInputError) as refused:
        shop.impact([])
    assert refused.value.field == "path"


def test_a_path_outside_the_root_is_refused(shop: Project, tmp_path: Path) -> None:
    for outside in ("/etc/passwd", "../other/a.py", str(tmp_path / "other" / "a.py")):
        with pytest.raises(InvalidInputError, match="outside"):
            shop.impact(["a.py", outside])


# ---- next, and the past ------------------------------------------------------------------------


def test_next_names_what_the_following_piece_of_work_changes(shop: Project, tell: Tell, clock: Any) -> None:
    for day in range(5, 0, -1):
        at = clock.now - day * DAY
        tell(
            shop,
            {"session": f"d{day}", "at": at, "files_modified": ["schema.sql"]},
            {"session": f"d{day}", "at": at + HOUR, "files_modified": ["api.py"]},
        )
    answer = shop.impact(["schema.sql"])
    assert [entry.path for entry in answer.next] == ["api.py"]
    assert 0 < answer.next[0].probability < 1


def test_the_answer_says_for_which_moment_it_is(shop: Project, tell: Tell, clock: Any) -> None:
    tell(shop, {"files_modified": ["a.py", "b.py"], "at": clock.now - DAY})
    assert shop.impact(["a.py"]).as_of == clock.now
    then = shop.impact(["a.py"], as_of=clock.now - 2 * DAY)
    assert (then.as_of, then.status) == (clock.now - 2 * DAY, FileStatus.UNKNOWN)
    assert then.reason is not None and "nothing is recorded" in then.reason


def test_the_past_knows_a_file_by_the_name_it_had(shop: Project, tell: Tell, work: Any, clock: Any) -> None:
    tell(shop, *work("a.py", "x.py"), {"renames": [{"from": "a.py", "to": "vendor/b.py"}]})
    tell(shop, {"files_deleted": ["x.py"]})
    then = shop.impact(["x.py"], as_of=clock.now - HOUR)
    assert (then.status, names(then)) == (FileStatus.KNOWN, ["a.py"])
    assert then.affected[0].noise is None
    assert shop.impact(["vendor/b.py"], as_of=clock.now - HOUR).status is FileStatus.UNKNOWN
    assert shop.impact(["x.py"], as_of=clock.now + 1).status is FileStatus.GONE
