"""A file of lines goes into the memory: what is stored, what is named; a second time adds nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.errors import SourceError


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Any]:
    root = tmp_path / "shop"
    root.mkdir()
    with Memory(tmp_path / "memory-home") as memory:
        yield memory.register(str(root))[0]


def observation(number: int, **more: Any) -> dict[str, Any]:
    at = f"2026-01-{1 + number % 28:02d}T12:00:00Z"
    return {"title": f"Number {number}", "at": at, "files_modified": ["a.py", "b.py"], **more}


def commit(number: int, **more: Any) -> dict[str, Any]:
    files = [{"path": name, "status": "M"} for name in ("c.py", "d.py")]
    ts = f"2026-02-{1 + number % 28:02d}T12:00:00Z"
    return {
        "id": f"h-{number}",
        "ts": ts,
        "author": "a1",
        "title": f"Commit {number}",
        "files": files,
        **more,
    }


def lines(*values: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def test_both_kinds_of_lines_are_learnt_and_a_second_run_adds_nothing(project: Any, tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    file.write_bytes(lines(*(observation(n) for n in range(3)), *(commit(n) for n in range(3))))
    report = project.import_jsonl(str(file))
    assert (report.seen, report.accepted, report.rejected, report.problems) == (6, 6, 0, ())
    assert project.wait_visible(60)
    for path, other in (("a.py", "b.py"), ("c.py", "d.py")):
        (entry,) = [entry for entry in project.impact([path]).affected if entry.evidence.together]
        assert (entry.path, entry.evidence.together) == (other, 3)
    file.rename(tmp_path / "moved.jsonl")
    again = project.import_jsonl(str(tmp_path / "moved.jsonl"))
    assert (again.seen, again.accepted, again.duplicates) == (6, 0, 6)


def test_every_refused_line_is_named_and_every_good_one_is_stored(project: Any, tmp_path: Path) -> None:
    file = tmp_path / "mixed.jsonl"
    bad = [
        b"{not json\n",
        lines(observation(1, files_modified=["../outside.py"])),
        lines(observation(2, files_modified="a.py")),
        lines(observation(3, at="2999-01-01T00:00:00Z")),
        lines({"concepts": ["nothing"]}),
        lines(commit(4, files=[{"path": "/etc/passwd", "status": "M"}])),
        b'{"title": "' + b"x" * 9 * 1024 * 1024 + b'"}\n',
    ]
    good = [lines(observation(n)) if n % 2 else lines(commit(n)) for n in range(10, 10 + len(bad))]
    mixed = b"".join(part for pair in zip(bad, good, strict=True) for part in pair)
    file.write_bytes(mixed + b'{"title": "cut')
    report = project.import_jsonl(str(file))
    assert (report.accepted, report.rejected) == (len(good), len(bad) + 1)
    named = [int(problem.split(":")[0].removeprefix("line ")) for problem in report.problems]
    assert named == [1, 3, 5, 7, 9, 11, 13, 15]
    assert not any(".;" in problem for problem in report.problems)
    assert project.stats().observations == len(good)

    file.write_bytes(mixed + lines({"title": "cut no more"}))
    completed = project.import_jsonl(str(file))
    assert (completed.accepted, completed.duplicates) == (1, len(good))


def test_a_file_that_is_not_there_is_said(project: Any, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"absent\.jsonl"):
        project.import_jsonl(str(tmp_path / "absent.jsonl"))
    assert project.stats().observations == 0
