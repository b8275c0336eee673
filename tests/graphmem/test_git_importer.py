"""A git history becomes observations: what is in one, which belong together, and what a second run adds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem.capture.git import GitImporter
from graphmem.model import Observation, Rename

HOUR = 3_600
DAY = 86_400


def everything(run: Any) -> list[tuple[str, ...]]:
    """What a journal would hold of a run, whatever the order."""
    return sorted((item.id, item.title, *item.files_modified) for item in run.known.values())


def all_files(observation: Observation) -> set[str]:
    return {*observation.files_modified, *observation.files_deleted, *(r.new for r in observation.renames)}


# ---- one commit --------------------------------------------------------------------------------


def test_one_commit_is_one_observation(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "a\n" * 30, "b.py": "b\n", "c.py": "c\n"})
    repository.git("mv", "a.py", "lib.py")
    body = "Move the login\ninto lib\n\nUsers were logged out.\n\nReviewed-by: Bo <bo@example.invalid>"
    sha = repository.commit(body, {"b.py": None, "c.py": "c2\n", "d.py": "d\n"}, author="Mei 梅")
    run = imports(GitImporter(str(repository.path)))
    found = run.new[-1]
    assert found.title == "Move the login into lib"
    assert found.narrative == "Users were logged out.\n\nReviewed-by: Bo <bo@example.invalid>"
    assert (found.source, found.type, found.actor, found.reference) == ("git", "commit", "Mei 梅", sha)
    assert found.at == repository.now
    assert found.files_modified == ("c.py", "d.py")
    assert found.files_added == ("d.py",)
    assert found.files_deleted == ("b.py",)
    assert found.renames == (Rename("a.py", "lib.py"),)
    assert run.new[0].files_added == run.new[0].files_modified == ("a.py", "b.py", "c.py")
    assert (run.report.seen, run.report.accepted, run.report.duplicates) == (2, 2, 0)
    assert (run.batches[-1].done, run.batches[-1].total) == (2, 2)


@pytest.mark.parametrize(
    ("title", "type"),
    [
        ("fix: a leak", "bugfix"),
        ("fix(auth)!: a leak", "bugfix"),
        ("FEAT: carts", "feature"),
        ("docs(readme): say more", "docs"),
        ("refactor: split", "refactor"),
        ("tests: more", "test"),
        ("ci: faster", "chore"),
        ("Fix a leak", "commit"),
        ("snapshot: of the page", "commit"),
        ("http://a.example is down", "commit"),
    ],
)
def test_the_type_comes_from_a_conventional_prefix_only(
    git_repository: Callable[..., Any], imports: Any, title: str, type: str
) -> None:
    repository = git_repository()
    repository.commit(title, {"a.py": "a\n"})
    assert imports(GitImporter(str(repository.path))).new[0].type == type


def test_time_is_the_commit_time_not_the_author_time(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    repository.commit("Rebased", {"a.py": "a\n"}, at=1_700_000_000, author_at=1_700_000_000 - DAY)
    assert imports(GitImporter(str(repository.path))).new[0].at == 1_700_000_000


def test_an_absurd_time_is_moved_to_the_nearest_bound_and_said(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    repository.commit("From the future", {"a.py": "a\n"}, at=4_000_000_000)
    repository.commit("Of today", {"a.py": "b\n"}, at=1_700_000_000)
    run = imports(GitImporter(str(repository.path), clock=lambda: 1_700_000_100.0))
    assert [item.at for item in run.new] == [1_700_000_100 + DAY, 1_700_000_000]
    assert [remark for remark in run.report.remarks if "1 commit has a time outside 1970" in remark]


def test_merges_are_left_out_and_their_branches_are_not(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "a\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("On the side", {"side.py": "s\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit("On main", {"main.py": "m\n"})
    repository.git("merge", "--quiet", "--no-ff", "side", "--message", "Merge side")
    run = imports(GitImporter(str(repository.path)))
    assert [item.title for item in run.new] == ["Begin", "On the side", "On main"]
    assert json.loads(run.cursor)["tips"] == [repository.git("rev-parse", "HEAD")]


def test_parents_come_before_children_whatever_the_clocks_said(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    for number, at in enumerate([1_700_000_000, 1_600_000_000, 1_800_000_000, 1_500_000_000]):
        repository.commit(f"Number {number}", {"a.py": f"{number}\n"}, at=at)
    run = imports(GitImporter(str(repository.path), clock=lambda: 1_800_000_000.0))
    assert [item.title for item in run.new] == [f"Number {number}" for number in range(4)]


def test_a_commit_without_files_is_kept_for_its_words(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    repository.commit("Release 1.0")
    repository.git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", "")
    repository.git("commit", "--quiet", "--allow-empty", "--message", "Release 1.1")
    run = imports(GitImporter(str(repository.path)))
    assert [item.title for item in run.new] == ["Release 1.0", "Release 1.1"]
    assert [remark for remark in run.report.remarks if "neither a message nor files" in remark]


def test_a_changed_mode_or_type_is_a_modification(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("Begin", {"run.sh": "x\n", "link": "x\n"})
    (repository.path / "run.sh").chmod(0o755)
    (repository.path / "link").unlink()
    (repository.path / "link").symlink_to("run.sh")
    repository.commit("Change what they are")
    found = imports(GitImporter(str(repository.path))).new[-1]
    assert set(found.files_modified) == {"run.sh", "link"}
    assert found.files_added == ()


def test_a_long_text_is_cut_and_noted(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.write({"a.py": "a\n"})
    repository.git("add", ".")
    repository.git("commit", "--quiet", "--file=-", input=("Long\n\n" + "漢" * 60_000).encode())
    found = imports(GitImporter(str(repository.path))).new[0]
    assert len(found.narrative.encode()) <= 64 * 1024
    assert set(found.narrative) == {"漢"}
    assert found.notes == ("narrative: cut to 64 KiB",)


# ---- sittings ----------------------------------------------------------------------------------


def test_a_sitting_is_an_authors_commits_at_most_two_hours_apart(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    start = 1_700_000_000
    plan = [("A", 0), ("A", 2 * HOUR), ("B", 2 * HOUR), ("A", 4 * HOUR), ("A", 6 * HOUR + 1), ("B", 9 * HOUR)]
    for number, (author, after) in enumerate(plan):
        repository.commit(f"{number}", {"a.py": f"{number}\n"}, author=author, at=start + after)
    sessions = [item.session for item in imports(GitImporter(str(repository.path))).new]
    assert sessions[0] == sessions[1] == sessions[3]
    assert len({sessions[0], sessions[2], sessions[4], sessions[5]}) == 4


def test_a_sitting_goes_on_in_the_next_run(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("First", {"a.py": "1\n"}, at=1_700_000_000)
    first = imports(GitImporter(str(repository.path)))
    repository.commit("Second", {"a.py": "2\n"}, at=1_700_000_000 + HOUR)
    second = imports(GitImporter(str(repository.path)), first)
    assert second.named("Second").session == first.named("First").session


def test_the_mailmap_joins_an_authors_names(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("Under the old name", {"a.py": "1\n"}, author="anna.k", at=1_700_000_000)
    before = imports(GitImporter(str(repository.path)))
    mailmap = {".mailmap": "Anna König <author@example.invalid>\n"}
    repository.commit("Say who is who", mailmap, at=1_700_000_100)
    run = imports(GitImporter(str(repository.path)))
    assert {item.actor for item in run.new} == {"Anna König"}
    assert len({item.session for item in run.new}) == 1
    assert set(before.known) < set(run.known), "a name by mailmap must not make another commit of it"


# ---- what a second run adds --------------------------------------------------------------------


def test_a_second_run_takes_only_what_is_new(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("First", {"a.py": "1\n"})
    first = imports(GitImporter(str(repository.path)))
    again = imports(GitImporter(str(repository.path)), first)
    assert (again.report.seen, again.new) == (0, [])
    repository.commit("Second", {"a.py": "2\n"})
    third = imports(GitImporter(str(repository.path)), again)
    assert (third.report.seen, [item.title for item in third.new]) == (1, ["Second"])
    assert (third.batches[-1].done, third.batches[-1].total) == (1, 1)


def test_a_branch_merged_later_is_taken_then(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("Side", {"side.py": "1\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit("Main", {"main.py": "1\n"})
    first = imports(GitImporter(str(repository.path)))
    repository.git("merge", "--quiet", "--no-ff", "side", "--message", "Merge")
    assert [item.title for item in imports(GitImporter(str(repository.path)), first).new] == ["Side"]


def test_a_rebased_branch_counts_once(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("One", {"one.py": "1\n"})
    repository.commit("Two", {"two.py": "1\n"})
    first = imports(GitImporter(str(repository.path)))
    repository.git("checkout", "--quiet", "main")
    repository.commit("Meanwhile", {"main.py": "1\n"})
    repository.git("checkout", "--quiet", "side")
    repository.git("rebase", "--quiet", "main")
    again = imports(GitImporter(str(repository.path)), first)
    assert [item.title for item in again.new] == ["Meanwhile"]
    assert again.report.duplicates == 2
    assert everything(again) == everything(imports(GitImporter(str(repository.path))))


@pytest.mark.parametrize("arguments", [(), ("-x",)], ids=["plain", "with its origin in the message"])
def test_a_picked_commit_counts_once(
    git_repository: Callable[..., Any], imports: Any, arguments: tuple[str, ...]
) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    repository.git("checkout", "--quiet", "-b", "release")
    fix = repository.commit("Fix the leak", {"leak.py": "1\n"})
    repository.git("checkout", "--quiet", "main")
    repository.commit("Go on", {"b.py": "1\n"})
    repository.git("cherry-pick", *arguments, fix)
    repository.git("merge", "--quiet", "release", "--message", "Merge")
    run = imports(GitImporter(str(repository.path)))
    assert [item.title for item in run.new].count("Fix the leak") == 1
    assert (run.report.seen, run.report.duplicates) == (4, 1)


def test_a_forced_push_that_lost_the_old_commits_is_survived(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    repository.commit("Lost", {"b.py": "1\n"})
    first = imports(GitImporter(str(repository.path)))
    repository.git("reset", "--quiet", "--hard", "HEAD~1")
    repository.git("reflog", "expire", "--expire=now", "--all")
    repository.git("gc", "--quiet", "--prune=now")
    repository.commit("In its place", {"c.py": "1\n"})
    again = imports(GitImporter(str(repository.path)), first)
    assert [item.title for item in again.new] == ["In its place"]


def test_the_same_words_in_the_same_second_on_top_of_each_other_are_separate_work(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    content = iter(range(100))

    def change(title: str) -> None:
        repository.commit(title, {"x.py": f"{next(content)}\n"}, at=1_700_000_000)

    for title in ("begin", "wip", "wip", "other", "wip"):
        change(title)
    first = imports(GitImporter(str(repository.path)))
    assert len(first.new) == 5
    change("wip")
    second = imports(GitImporter(str(repository.path)), first)
    assert len(second.new) == 1
    assert everything(second) == everything(imports(GitImporter(str(repository.path))))


@pytest.mark.parametrize("cursor", ["", "nonsense", "[]", '{"version": 0}', '{"version": 1}', "null", '"x"'])
def test_a_cursor_nobody_wrote_counts_as_the_beginning(
    git_repository: Callable[..., Any], cursor: str
) -> None:
    repository = git_repository()
    repository.commit("First", {"a.py": "1\n"})
    (batch,) = GitImporter(str(repository.path)).batches(cursor)
    assert [item.title for item in batch.items] == ["First"]


def test_another_ref_is_read_beside_what_is_known(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("Side", {"side.py": "1\n"})
    repository.git("checkout", "--quiet", "main")
    first = imports(GitImporter(str(repository.path), ref="main"))
    second = imports(GitImporter(str(repository.path), ref="side"), first)
    assert [item.title for item in second.new] == ["Side"]
    assert imports(GitImporter(str(repository.path), ref="main"), second).report.seen == 0


# ---- vendored paths ----------------------------------------------------------------------------


def vendored(repository: Any) -> None:
    repository.commit("Begin", {"src/a.py": "1\n", "vendor/x/x.go": "1\n", "js/app.min.js": "1\n"})
    repository.commit("Update them", {"vendor/x/x.go": "2\n", "node_modules/y/y.js": "1\n"})
    repository.commit("Fix", {"src/a.py": "2\n", "vendor/x/x.go": "3\n"})


def test_vendored_paths_are_left_out_and_counted_once_each(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    vendored(repository)
    run = imports(GitImporter(str(repository.path)))
    assert [(item.title, all_files(item)) for item in run.new] == [
        ("Begin", {"src/a.py"}),
        ("Fix", {"src/a.py"}),
    ]
    assert dict(run.report.left_out) == {"vendor/": 1, "*.min.js": 1, "node_modules/": 1}
    assert run.report.seen == 3
    assert any("3 vendored or generated paths left out" in remark for remark in run.report.remarks)
    assert any("1 commit skipped" in remark for remark in run.report.remarks)
    assert run.new[0].notes == ("2 vendored or generated paths left out",)


def test_an_include_pattern_takes_them_in(git_repository: Callable[..., Any], imports: Any) -> None:
    repository = git_repository()
    vendored(repository)
    run = imports(GitImporter(str(repository.path), include=["vendor/**"]))
    assert all_files(run.named("Fix")) == {"src/a.py", "vendor/x/x.go"}
    assert dict(run.report.left_out) == {"*.min.js": 1, "node_modules/": 1}


def test_an_include_pattern_given_later_brings_in_what_was_left_out(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    vendored(repository)
    first = imports(GitImporter(str(repository.path)))
    repository.commit("Later", {"src/a.py": "3\n", "vendor/x/x.go": "4\n"})
    wider = GitImporter(str(repository.path), include=["vendor/**"])
    second = imports(wider, first)
    found = {(item.title, tuple(sorted(all_files(item)))) for item in second.new}
    assert found == {
        ("Begin", ("vendor/x/x.go",)),
        ("Update them", ("vendor/x/x.go",)),
        ("Fix", ("vendor/x/x.go",)),
        ("Later", ("src/a.py", "vendor/x/x.go")),
    }
    assert imports(wider, second).new == []
    repository.commit("Last", {"vendor/x/x.go": "5\n"})
    third = imports(GitImporter(str(repository.path)), second)
    assert [item.files_modified for item in third.new] == [("vendor/x/x.go",)], "a pattern stays in force"
    assert imports(wider, third).new == []


def test_a_rename_across_the_border_of_a_rule_is_half_a_rename(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    text = "line\n" * 40
    repository.commit("Begin", {"vendor/x.py": text, "own.py": "own\n" * 40, "keep.py": "1\n"})
    Path(repository.path, "lib").mkdir()
    repository.git("mv", "vendor/x.py", "lib/x.py")
    Path(repository.path, "vendor").mkdir(exist_ok=True)
    repository.git("mv", "own.py", "vendor/own.py")
    repository.commit("Move both")
    found = imports(GitImporter(str(repository.path))).named("Move both")
    assert (found.files_added, found.files_deleted, found.renames) == (("lib/x.py",), ("own.py",), ())
