"""The commands that ask: options anywhere, paths from the current folder, answers for people and machines."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

QUESTIONS = (
    ("projects",),
    ("observations",),
    ("sessions",),
    ("stats",),
    ("search", "change"),
    ("impact", "src/token.py"),
)


def test_the_alert_comes_first_and_then_the_files_with_their_evidence(shop: Any) -> None:
    answer = shop.good("impact", "src/token_test.py", "--json").shape
    shown = shop.good("impact", "src/token_test.py").out
    assert answer["warning"]
    for line in answer["warning"].splitlines():
        assert line in shown
    assert "20 of 20 times" in shown
    assert "likely" in shown
    assert shown.index("What an agent is told") < shown.index("Files that may need a change too")


def test_what_the_asking_actor_had_in_hand_is_likelier(shop: Any) -> None:
    def chance(*more: str) -> float:
        affected = shop.good("impact", "src/token_test.py", "--json", *more).shape["affected"]
        return next((entry["probability"] for entry in affected if entry["path"] == "src/c.py"), 0.0)

    assert chance("--actor", "Test") > chance("--actor", "nobody") == chance()


def test_paths_are_read_from_the_current_folder(shop: Any) -> None:
    inside = shop.good(
        "impact", "token_test.py", "./c.py", "../src/token.py", "--json", cwd=shop.path / "src"
    ).shape
    assert inside["paths"] == ["src/token_test.py", "src/c.py", "src/token.py"]
    absolute = shop.good("impact", str(shop.path / "src" / "token_test.py"), "--json").shape
    assert absolute["path"] == "src/token_test.py"


def test_a_path_that_is_only_there_from_the_root_is_taken_from_there(shop: Any) -> None:
    def path(argument: str) -> str:
        found = shop.good("impact", argument, "--json", cwd=shop.path / "src").shape
        return str(found["path"])

    assert path("src/token.py") == "src/token.py"
    assert path("src/new.py") == "src/src/new.py"
    (shop.path / "src" / "src").mkdir()
    (shop.path / "src" / "src" / "token.py").touch()
    assert path("src/token.py") == "src/src/token.py"


def test_a_named_project_takes_paths_from_its_root_when_asked_from_outside(shop: Any) -> None:
    outside = shop.path.parent
    for reference in ("shop", str(shop.path), "./shop", f"{shop.path}/src"):
        found = shop.good("impact", "src/token_test.py", "--json", "--project", reference, cwd=outside).shape
        assert (found["path"], found["status"]) == ("src/token_test.py", "known")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question[0])
def test_shared_options_stand_before_or_after_the_command(
    shop: Any, tmp_path: Path, question: tuple[str, ...]
) -> None:
    (tmp_path / "outside").mkdir()
    options = ("--project", "shop", "--json", "--home", str(shop.program.home))
    elsewhere = {"GRAPHMEM_HOME": str(tmp_path / "no-home")}
    after = shop(*question, *options, cwd=tmp_path / "outside", environment=elsewhere)
    before = shop(*options, *question, cwd=tmp_path / "outside", environment=elsewhere)
    assert (before.status, before.err) == (after.status, after.err) == (0, "")
    assert before.shape.keys() == after.shape.keys()


def test_the_option_after_the_command_wins(shop: Any) -> None:
    assert shop.good("--project", "nobody", "stats", "--project", "shop", "--json").shape["files"] == 4
    outcome = shop("--project", "shop", "stats", "--project", "nobody")
    assert (outcome.status, outcome.out) == (1, "")


@pytest.mark.parametrize("question", QUESTIONS[1:], ids=lambda question: question[0])
def test_an_unknown_repository_is_told_to_be_imported_first(
    graphmem: Any, git_repository: Callable[..., Any], question: tuple[str, ...]
) -> None:
    outcome = graphmem(*question, cwd=git_repository("fresh").path)
    assert (outcome.status, outcome.out) == (1, "")
    assert "run `graphmem import git .` first" in outcome.err


def test_outside_any_repository_the_remedy_is_to_name_a_project(graphmem: Any, tmp_path: Path) -> None:
    outcome = graphmem("stats", cwd=tmp_path)
    assert outcome.status == 1
    assert "--project" in outcome.err


def test_an_unknown_file_says_unknown_and_why(shop: Any) -> None:
    outcome = shop.good("impact", "src/nobody.py")
    assert "Unknown: " in outcome.out
    assert "unknown is not the same as safe" in outcome.out


def test_a_deleted_file_says_gone(graphmem: Any, git_repository: Callable[..., Any]) -> None:
    repository = git_repository("shop")
    for number in range(3):
        repository.touch(f"Change {number}", "src/token.py", "src/token_test.py")
    repository.commit("Remove b", {"src/token_test.py": None})
    graphmem.good("import", "git", cwd=repository.path)
    assert "Gone: " in graphmem.good("impact", "src/token_test.py", cwd=repository.path).out
    assert graphmem.good("impact", "src/token.py", "--json", cwd=repository.path).shape["affected"] == []


def test_a_path_outside_the_project_is_refused(shop: Any) -> None:
    for path in ("/etc/passwd", "../../../../../../etc/passwd"):
        outcome = shop("impact", path)
        assert (outcome.status, outcome.out) == (1, "")
        assert "outside" in outcome.err


@pytest.mark.parametrize(
    "argument",
    [b"\xff.py", b"caf\xe9.py", "模块.py", "🧪 a b.txt", "a\nb", "-", "a\tb", "\u202ereversed", "é" * 300],
)
def test_any_file_name_is_answered(shop: Any, argument: str | bytes) -> None:
    arguments = ("impact", "--", argument, b"src/\xff\xfe") if argument == "-" else ("impact", "--", argument)
    for form in ((), ("--json",)):
        outcome = shop(arguments[0], *form, *arguments[1:])
        assert outcome.status == 0, outcome.err
        assert "unknown" in outcome.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", b"caf\xe9"),
        ("observations", "--concept", b"\xff"),
        ("observations", "--session", b"\xff", "--type", b"\xfe", "--file", b"\xfd"),
        ("impact", "src/token.py", "--intent", b"\xff", "--session", b"\xfe"),
        ("observations", b"\xff"),
        ("sessions", b"\xff"),
        ("sessions", "--cursor", b"\xff"),
        ("stats", "--project", b"\xff"),
        ("stats", "--project", b"/\xff"),
        ("import", "git", b"\xff"),
        ("import", "git", ".", "--ref", b"\xff"),
        ("import", "jsonl", b"\xff"),
        ("projects", "--home", b"\xff-home"),
    ],
)
def test_text_that_is_not_utf_8_is_taken_or_refused_with_a_sentence(
    shop: Any, tmp_path: Path, arguments: tuple[str | bytes, ...]
) -> None:
    outcome = shop(*arguments, cwd=tmp_path if "--home" in arguments else None)
    assert outcome.status in {0, 1}
    assert outcome.err.count("\n") == outcome.status


def test_a_name_that_is_not_utf_8_is_the_one_git_holds(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    repository = git_repository("latin")
    for number in range(3):
        for name in (b"caf\xe9.py", b"other.py"):
            with open(os.path.join(os.fsencode(repository.path), name), "wb") as file:
                file.write(b"%d" % number)
        repository.commit(f"Change {number}")
    graphmem.good("import", "git", cwd=repository.path)
    found = graphmem.good("impact", b"caf\xe9.py", "--json", cwd=repository.path).shape
    assert found["status"] == "known"
    assert found["affected"][0]["path"] == "other.py"


def test_a_text_is_searched_in_both_languages(shop: Any) -> None:
    found = shop.good("search", "身份校验", "--json").shape
    assert [item["title"] for item in found["results"]] == ["用户身份校验"]
    assert "用户身份校验" in shop.good("search", "用户").out
    assert "Nothing stored speaks of" in shop.good("search", "nonsense").out
    assert "say in a few words what to look for" in shop.good("search", "  ").out.replace("\n", " ")
    assert "no word to search by" in shop.good("search", "?!").out.replace("\n", " ")


def test_a_list_goes_on_where_the_cursor_says(shop: Any) -> None:
    first = shop.good("observations", "--limit", "6", "--json").shape
    rest = shop.good("observations", "--cursor", first["next_cursor"], "--json").shape
    assert (len(first["items"]), len(rest["items"]), rest["next_cursor"]) == (6, 16, None)
    assert "--cursor" in shop.good("observations", "--limit", "6").out


def test_one_observation_and_one_session_are_shown_whole(shop: Any) -> None:
    item = shop.good("observations", "--limit", "1", "--json").shape["items"][0]
    shown = shop.good("observations", item["id"]).out
    assert "Alone" in shown
    assert "src/c.py" in shown
    assert "Files" in shop.good("sessions", item["session"]).out
    for command in ("observations", "sessions"):
        outcome = shop(command, "nobody")
        assert (outcome.status, outcome.out) == (1, "")


def test_observations_of_one_file_are_listed(shop: Any) -> None:
    found = shop.good("observations", "--file", "c.py", "--json", cwd=shop.path / "src").shape
    assert [item["title"] for item in found["items"]] == ["Alone"]


def test_as_of_answers_from_what_was_known_then(shop: Any) -> None:
    early = shop.good("impact", "src/c.py", "--as-of", "2026-01-01T05:00:00Z", "--json")
    assert early.shape["status"] == "unknown"
    assert early.shape["as_of"] == "2026-01-01T05:00:00Z"


WRONG = {
    "no command of that name": ("bogus",),
    "no argument": ("impact",),
    "no text": ("search",),
    "no source": ("import", "jsonl"),
    "no such source": ("import", "svn", "."),
    "no such option": ("stats", "--colour"),
    "no time": ("observations", "--since", "yesterday"),
    "a time before all times": ("observations", "--since", "1890-01-01"),
    "no number": ("impact", "a.py", "--limit", "many"),
    "too few": ("impact", "a.py", "--limit", "0"),
    "too many": ("impact", "a.py", "--limit", "201"),
    "no port": ("status", "--port", "70000"),
    "a port in words": ("--port", "eighty", "status"),
    "one argument too many": ("stats", "src"),
}


@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_wrong_use_is_one_sentence_and_status_2(graphmem: Any, arguments: tuple[str, ...]) -> None:
    outcome = graphmem(*arguments)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert "--help" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(("statz",), "stats"), (("uninstal", "--yes"), "uninstall"), (("stats", "--jsn"), "--json")],
)
def test_a_word_nearly_right_is_answered_with_the_right_one(
    graphmem: Any, arguments: tuple[str, ...], meant: str
) -> None:
    outcome = graphmem(*arguments)
    assert outcome.status == 2
    assert f"Did you mean '{meant}'? See `graphmem" in outcome.err


def test_without_a_command_the_help_is_shown_and_it_counts_as_wrong_use(graphmem: Any) -> None:
    outcome = graphmem()
    assert (outcome.status, outcome.out) == (2, "")
    assert "Commands:" in outcome.err


def test_what_goes_into_a_pipe_is_whole_and_plain(graphmem: Any, git_repository: Callable[..., Any]) -> None:
    deep = "/".join(["a-rather-long-folder-name"] * 8)
    repository = git_repository("deep")
    for number in range(4):
        repository.touch(f"Change {number}", f"{deep}/one.py", f"{deep}/two.py")
    graphmem.good("import", "git", cwd=repository.path)
    shown = graphmem(
        "impact", f"{deep}/one.py", cwd=repository.path, environment={"NO_COLOR": None, "COLUMNS": None}
    ).out
    assert f"{deep}/two.py" in shown
    assert "\x1b" not in shown
    assert not any(line.endswith(" ") for line in shown.splitlines())


@pytest.mark.parametrize("columns", [80, 60, 120])
def test_everything_fits_the_width_it_is_given(
    graphmem: Any, git_repository: Callable[..., Any], columns: int
) -> None:
    deep = "/".join(["一个很长的文件夹名字", "and-a-long-one-in-latin-letters"] * 3)
    repository = git_repository("wide")
    for number in range(4):
        repository.touch(f"把令牌的有效期改短 {number} " * 8, f"{deep}/模块.py", f"{deep}/token.py")
    graphmem.good("import", "git", cwd=repository.path)
    for arguments in (*QUESTIONS[:5], ("impact", f"{deep}/模块.py")):
        outcome = graphmem(*arguments, cwd=repository.path, environment={"COLUMNS": str(columns)})
        assert outcome.status == 0, outcome.err
        assert max(cell_len(line) for line in outcome.out.splitlines()) <= columns


def test_a_name_with_a_line_end_in_it_never_looks_like_two(graphmem: Any, tmp_path: Path) -> None:
    line = {"id": "odd", "title": "One\nTwo", "files_modified": ["a.py", "b\nc.py"]}
    turns = (json.dumps(line | {"id": f"odd-{number}"}) for number in range(3))
    (tmp_path / "turns.jsonl").write_text("\n".join(turns))
    graphmem.good("import", "jsonl", tmp_path / "turns.jsonl", cwd=tmp_path)
    (session,) = graphmem.good("sessions", "--json", cwd=tmp_path).shape["items"]
    for arguments in (
        ("observations",),
        ("observations", "odd-1"),
        ("sessions",),
        ("sessions", session["id"]),
        ("search", "One"),
        ("impact", "a.py"),
    ):
        shown = [text.strip() for text in graphmem.good(*arguments, cwd=tmp_path).out.splitlines()]
        assert not [text for text in shown if text.startswith(("Two", "c.py"))]
        assert any("\\x0a" in text for text in shown)


def test_a_long_title_is_wrapped_beside_its_time(graphmem: Any, git_repository: Callable[..., Any]) -> None:
    repository = git_repository("long")
    repository.touch(
        "把令牌的有效期改短 and say so at length " * 5, *(f"f{number}.py" for number in range(25))
    )
    graphmem.good("import", "git", cwd=repository.path)
    for arguments, indent in ((("observations",), 18), (("sessions",), 18), (("search", "length"), 12)):
        outcome = graphmem(*arguments, cwd=repository.path, environment={"COLUMNS": "80"})
        first, *others = outcome.out.splitlines()
        assert first[0] == "2"
        assert len(others) > 3
        assert {len(line) - len(line.lstrip()) for line in others} == {indent}
    assert "1 observation, 20 files or more" in " ".join(
        graphmem.good("sessions", cwd=repository.path).out.split()
    )


def test_control_characters_of_the_data_never_reach_the_terminal(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    repository = git_repository("evil")
    for number in range(4):
        repository.touch(f"\x1b[31mred\x07 {number}\u202e", "a\x1b[2J.py", "b.py")
    graphmem.good("import", "git", cwd=repository.path)
    for arguments in (("observations",), ("sessions",), ("search", "red"), ("impact", "b.py"), ("stats",)):
        shown = graphmem.good(*arguments, cwd=repository.path).out
        assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_of_a_pasted_plan_the_list_of_sessions_shows_the_beginning(graphmem: Any, tmp_path: Path) -> None:
    plan = "# Plan\n\n" + "\n".join(f"{step}. Move module {step} to the new interface" for step in range(500))
    line = {"session": "s1", "title": "Plan", "intent": plan, "files_modified": ["a.py"]}
    (tmp_path / "turns.jsonl").write_text(json.dumps(line))
    graphmem.good("import", "jsonl", tmp_path / "turns.jsonl", cwd=tmp_path)
    shown = " ".join(graphmem.good("sessions", cwd=tmp_path).out.split())
    assert "# Plan 0. Move module 0 to the new interface" in shown
    assert len(shown) < 400
    assert "\\x0a" not in shown
