"""An import ends cleanly whenever it is told to, goes on from there, and stays small on a large history."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem.capture.git import GitImporter

ROOT = Path(__file__).resolve().parents[2]

NO_CHILD_LEFT = """
import os
try:
    print("left:", os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("clean")
"""


def stream(count: int, merge_every: int = 0) -> Iterator[bytes]:
    """Commits for `git fast-import`, three files each; now and then one on a side branch, merged next."""
    for number in range(count):
        at = 1_300_000_000 + number * 1_800
        who = b"Author %d <a%d@example.invalid> %d +0000" % (number % 7, number % 7, at)
        head = b"author %s\ncommitter %s\ndata <<M\nNumber %d\nM\n" % (who, who, number)
        files = b"".join(
            b"M 100644 inline dir%d/file%d.py\ndata <<D\n%d %d\nD\n" % (part % 40, part, number, part)
            for part in {number % 997, number * 7 % 1009, number * 13 % 2003}
        )
        if merge_every and number and number % merge_every == 0:
            yield b"commit refs/heads/side\n" + head + b"from refs/heads/main\n" + files
            who = b"Merger <m@example.invalid> %d +0000" % (at + 60)
            yield b"commit refs/heads/main\nauthor %s\ncommitter %s\ndata <<M\nMerge\nM\n" % (who, who)
            yield b"merge refs/heads/side\n\n"
        else:
            yield b"commit refs/heads/main\n" + head + files
    yield b"done\n"


@pytest.fixture
def long_repository(git_repository: Callable[..., Any]) -> Callable[..., Any]:
    def build(count: int, merge_every: int = 0) -> Any:
        repository = git_repository("long", "--bare")
        repository.git("fast-import", "--quiet", "--done", input=b"".join(stream(count, merge_every)))
        return repository

    return build


def python(script: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def answer(process: subprocess.Popen[str]) -> str:
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert err == ""
    assert process.returncode == 0
    return out.strip()


# ---- batches and cursors -----------------------------------------------------------------------


def test_a_run_that_broke_off_anywhere_is_completed_by_the_next(
    long_repository: Callable[..., Any], imports: Any
) -> None:
    location = str(long_repository(1_700, merge_every=10).path)
    whole = imports(GitImporter(location))
    assert [len(batch.items) for batch in whole.batches] == [500, 500, 500, 200]
    assert [batch.done for batch in whole.batches] == [500, 1_000, 1_500, 1_700]
    assert whole.batches[-1].total == 1_700
    for broken_at in range(1, 5):
        part = imports(GitImporter(location), at_most=broken_at)
        rest = imports(GitImporter(location), part)
        assert rest.report.seen == 1_700 - part.report.seen
        assert rest.report.duplicates == 0
        assert [*part.new, *rest.new] == whole.new
        assert rest.cursor == whole.cursor
        assert max(len(batch.cursor) for batch in rest.batches) < 20_000


def test_a_batch_of_large_commits_is_handed_on_sooner(
    git_repository: Callable[..., Any], imports: Any
) -> None:
    repository = git_repository()
    parts = [b"blob\nmark :1\ndata 1\nx\n"]
    for title, count in (("small", 1), ("large", 25_000), ("after", 1)):
        who = b"A <a@example.invalid> 1700000000 +0000\n"
        head = b"commit refs/heads/main\nauthor " + who + b"committer " + who
        files = b"".join(b"M 100644 :1 %s/%d.py\n" % (title.encode(), number) for number in range(count))
        parts.append(head + b"data 5\n" + title.encode() + b"\n" + files)
    repository.git("fast-import", "--quiet", "--done", input=b"".join([*parts, b"done\n"]))
    batches = imports(GitImporter(str(repository.path))).batches
    assert [[item.title for item in batch.items] for batch in batches] == [["small", "large"], ["after"]]
    assert len(batches[0].items[1].files_added) == 25_000


# ---- the end of it -----------------------------------------------------------------------------


def test_a_stop_ends_the_run_and_loses_nothing(long_repository: Callable[..., Any], imports: Any) -> None:
    location = str(long_repository(3_000).path)
    stop = threading.Event()
    stream = GitImporter(location).batches(None, stop)
    first = next(stream)
    stop.set()
    stopped = [first, *stream]
    done = sum(batch.seen for batch in stopped)
    assert 500 <= done < 3_000
    rest = list(GitImporter(location).batches(stopped[-1].cursor))
    titles = [item.title for batch in (*stopped, *rest) for item in batch.items]
    assert titles == [f"Number {number}" for number in range(3_000)]


def test_a_stop_before_the_first_commit_is_heeded(long_repository: Callable[..., Any]) -> None:
    stop = threading.Event()
    stop.set()
    (batch,) = GitImporter(str(long_repository(10).path)).batches(None, stop)
    assert batch.items == ()


@pytest.mark.parametrize("end", ["stream.close()", "del stream", "stop.set(); list(stream)", "list(stream)"])
def test_no_process_is_left_behind(long_repository: Callable[..., Any], end: str) -> None:
    script = f"""
import sys, threading
from graphmem.capture.git import GitImporter
stop = threading.Event()
stream = GitImporter(sys.argv[1]).batches(None, stop)
next(stream)
{end}
{NO_CHILD_LEFT}
"""
    assert answer(python(script, str(long_repository(2_000).path))) == "clean"


def test_ctrl_c_reaches_the_import_and_not_git(long_repository: Callable[..., Any]) -> None:
    script = f"""
import signal, sys, threading
from graphmem.capture.git import GitImporter
stop = threading.Event()
signal.signal(signal.SIGINT, lambda *_: stop.set())
stream = GitImporter(sys.argv[1]).batches(None, stop)
seen = next(stream).seen
print("begun", flush=True)
stop.wait()
seen += sum(batch.seen for batch in stream)
print(500 <= seen < 2_000)
{NO_CHILD_LEFT}
"""
    process = python(script, str(long_repository(2_000).path), start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    os.killpg(process.pid, signal.SIGINT)
    assert answer(process) == "True\nclean"


def test_a_git_that_complains_a_lot_does_not_block(
    long_repository: Callable[..., Any], imports: Any, tmp_path: Path
) -> None:
    repository = long_repository(200)
    alternates = "".join(f"{tmp_path}/nowhere/{'x' * 100}/{number}\n" for number in range(2_000))
    (repository.path / "objects" / "info" / "alternates").write_text(alternates)
    complaints = subprocess.run(
        ["git", "log", "-1"], cwd=repository.path, capture_output=True, check=True
    ).stderr
    assert len(complaints) > 1 << 18
    run = imports(GitImporter(str(repository.path)))
    assert run.fault is None
    assert len(run.new) == 200


def test_a_git_that_is_killed_is_said_and_what_came_before_is_kept(
    long_repository: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, imports: Any
) -> None:
    repository = long_repository(1_200)
    whole = imports(GitImporter(str(repository.path)))
    found = shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    # Cuts the history in the midst of a commit and dies, as under the system's memory killer.
    wrapper.write_text(
        f'#!/bin/sh\ncase "$*" in *" log "*) {found} "$@" | head -c 150000; kill -9 $$;; esac\n'
        f'exec {found} "$@"\n'
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    run = imports(GitImporter(str(repository.path)))
    assert "git fsck" in str(run.fault)
    assert 0 < len(run.new) < 1_200
    monkeypatch.undo()
    rest = imports(GitImporter(str(repository.path)), run)
    assert rest.report.duplicates == 0
    assert [*run.new, *rest.new] == whole.new


def test_a_missing_git_is_said(
    git_repository: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, imports: Any, tmp_path: Path
) -> None:
    repository = git_repository()
    repository.commit("Begin", {"a.py": "1\n"})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "install it" in str(imports(GitImporter(str(repository.path))).fault)


@pytest.mark.slow
def test_a_large_history_stays_small_in_memory(long_repository: Callable[..., Any], peak_memory: str) -> None:
    script = f"""{peak_memory}
from graphmem.capture.git import GitImporter
begun = seen = 0
for batch in GitImporter(sys.argv[1]).batches():
    seen += batch.seen
    begun = begun or peak()
print(seen, round(peak() - begun))
"""
    location = str(long_repository(20_000, merge_every=50).path)
    seen, grown = answer(python(script, location)).split()
    assert int(seen) == 20_000
    assert int(grown) < 20
