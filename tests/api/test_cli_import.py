"""`graphmem import`: a history goes in, again only what is new, and what was not taken is named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def written(path: Path, *lines: object) -> Path:
    text = "".join(
        f"{line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)}\n" for line in lines
    )
    path.write_text(text, encoding="utf-8")
    return path


def turn(number: int, *files: str) -> dict[str, object]:
    return {
        "id": f"o-{number}",
        "session": f"s-{number}",
        "title": f"Turn {number}",
        "files_modified": list(files),
        "at": f"2026-04-{number % 28 + 1:02d}T12:00:00Z",
    }


def test_a_repository_is_registered_and_imported_once(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    repository = git_repository("shop")
    for number in range(3):
        repository.touch(f"Change {number}", "a.py", "b.py")
    first = graphmem.good("import", "git", ".", cwd=repository.path)
    assert "3 new commits imported into shop" in first.out
    assert first.err == ""
    repository.touch("Change 4", "a.py")
    again = graphmem.good("import", "git", "--json", cwd=repository.path).shape
    assert (again["accepted"], again["source"]) == (1, "git")
    assert [item["slug"] for item in graphmem.good("projects", "--json").shape["items"]] == ["shop"]


def test_a_subfolder_and_a_worktree_are_the_same_project(
    graphmem: Any, git_repository: Callable[..., Any], tmp_path: Path
) -> None:
    repository = git_repository("shop")
    repository.touch("Begin", "src/a.py", "src/b.py")
    graphmem.good("import", "git", cwd=repository.path / "src")
    repository.git("worktree", "add", "--quiet", str(tmp_path / "elsewhere"), "-b", "side")
    found = graphmem.good("impact", "src/a.py", "--json", cwd=tmp_path / "elsewhere").shape
    assert (found["path"], found["status"]) == ("src/a.py", "known")
    assert len(graphmem.good("projects", "--json").shape["items"]) == 1


def test_what_is_no_repository_is_one_sentence_and_registers_nothing(graphmem: Any, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for source in (tmp_path / "plain", tmp_path / "missing", Path("/etc/hostname")):
        outcome = graphmem("import", "git", source)
        assert (outcome.status, outcome.out) == (1, "")
        assert "no git repository" in outcome.err
    assert graphmem.good("projects", "--json").shape["items"] == []


def test_a_repository_without_commits_is_one_sentence(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    outcome = graphmem("import", "git", cwd=git_repository("empty").path)
    assert outcome.status in {0, 1}
    assert "no commits" in (outcome.out + outcome.err).lower()
    assert "Traceback" not in outcome.err


def test_vendored_files_are_left_out_and_counted_unless_included(
    graphmem: Any, git_repository: Callable[..., Any], program_on: Callable[[Path], Any], tmp_path: Path
) -> None:
    repository = git_repository("shop")
    repository.touch("Begin", "a.py", "vendor/x/one.py", "vendor/x/two.py")
    outcome = graphmem.good("import", "git", cwd=repository.path)
    assert "2 files left out" in outcome.out
    other = program_on(tmp_path / "other-home")
    assert "left out" not in other.good("import", "git", "--include", "vendor/**", cwd=repository.path).out


def test_observations_are_imported_into_the_project_of_the_current_folder(
    graphmem: Any, tmp_path: Path
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    source = written(tmp_path / "turns.jsonl", turn(1, "a.ts", "b.ts"), turn(2, "a.ts"))
    outcome = graphmem.good("import", "jsonl", source, cwd=shop)
    assert "2 new observations imported into shop" in outcome.out
    assert graphmem.good("import", "jsonl", source, "--json", cwd=shop).shape["duplicates"] == 2


BAD_LINES = {
    "cut": '{"id": "x", "title": "cut',
    "not JSON": "hello",
    "a list": "[1, 2]",
    "a number": "7",
    "a wrong type": '{"id": "x", "title": "t", "files_modified": 7}',
    "a path outside": '{"id": "x", "title": "t", "files_modified": ["../../etc/passwd"]}',
    "a time out of range": '{"id": "x", "title": "t", "at": "1890-01-01T00:00:00Z"}',
    "nothing in it": "{}",
}


@pytest.mark.parametrize("bad", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_named_by_its_number_and_the_good_ones_are_stored(
    graphmem: Any, tmp_path: Path, bad: str
) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    source = written(tmp_path / "turns.jsonl", turn(1, "a.ts", "b.ts"), bad, turn(2, "a.ts", "b.ts"))
    outcome = graphmem("import", "jsonl", source, cwd=shop)
    assert outcome.status == 1
    assert "line 2" in outcome.err
    assert "1 line could not be taken" in outcome.err
    assert graphmem.good("stats", "--json", cwd=shop).shape["observations"] == 2


def test_of_many_bad_lines_ten_are_named_and_the_others_counted(graphmem: Any, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    source = written(tmp_path / "turns.jsonl", *(["{cut"] * 25), turn(1, "a.ts"))
    outcome = graphmem("import", "jsonl", source, cwd=shop)
    assert outcome.status == 1
    lines = outcome.err.splitlines()
    assert [line.startswith("line ") for line in lines] == [True] * 10 + [False, False]
    assert lines[-2:] == ["and 15 more", "25 lines could not be taken; everything else is stored."]


def test_a_missing_file_is_one_sentence(graphmem: Any, tmp_path: Path) -> None:
    outcome = graphmem("import", "jsonl", "nothing.jsonl", cwd=tmp_path)
    assert (outcome.status, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert "nothing.jsonl" in outcome.err


def test_a_history_line_of_the_public_data_is_understood(graphmem: Any, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    lines = [
        {
            "id": f"c{number}",
            "ts": f"2026-01-{number + 1:02d}T12:00:00+01:00",
            "author": "a0",
            "session": f"s{number}",
            "title": f"Change {number}",
            "files": [{"path": "a.py", "status": "M"}, {"path": "b.py", "status": "M"}],
        }
        for number in range(5)
    ]
    graphmem.good("import", "jsonl", written(tmp_path / "history.jsonl", *lines), cwd=shop)
    found = graphmem.good("impact", "a.py", "--json", cwd=shop).shape
    assert found["affected"][0]["path"] == "b.py"
    assert found["affected"][0]["evidence"]["together"] == 5


@pytest.mark.slow
@pytest.mark.parametrize("through", ["files", "service"])
def test_an_interrupted_import_stops_cleanly_and_goes_on(
    graphmem: Any,
    make_history: Callable[..., Path],
    eventually: Callable[..., Any],
    tmp_path: Path,
    through: str,
) -> None:
    titles = [
        (f"Change {number}", [f"f{number % 50}.py", f"f{number % 50 + 1}.py"]) for number in range(12_000)
    ]
    path = make_history(tmp_path / "long", titles)
    if through == "service":
        graphmem.good("serve", "--detach", "--port", "0")
    running = subprocess.Popen(
        graphmem.command("import", "git", path),
        env=graphmem.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background may have them ignore interrupts, children included.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    with running:
        journals = (graphmem.home / "projects").glob
        eventually(lambda: any(file.stat().st_size > 200_000 for file in journals("*/journal.db*")), 60)
        os.kill(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert "Traceback" not in err
    assert running.returncode == 130, (out, err)
    assert err.splitlines()[-1] == "stopped; run the same command again to go on"
    rest = graphmem.good("import", "git", path, "--json").shape
    assert 0 < rest["accepted"] < len(titles)
    assert graphmem.good("stats", "--json", "--project", "long").shape["observations"] == len(titles)
    graphmem.good("stop")
