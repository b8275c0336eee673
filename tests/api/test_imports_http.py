"""Imports through the running service: streamed, repeatable, stopped when their client goes away."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from api.imports import Imports, Progress
from api.routes_imports import ImportAnswer
from graphmem.model import ImportReport


def lines_of(service: Any, project: str, **body: Any) -> tuple[list[dict[str, Any]], int]:
    with service.client.stream("POST", f"{project}/imports", json=body) as answer:
        lines = [json.loads(line) for line in answer.iter_lines() if line]
        if answer.status_code == 200:
            assert answer.headers["content-type"] == "application/x-ndjson"
        return lines, answer.status_code


@pytest.fixture
def repository(git_repository: Callable[..., Any]) -> Any:
    built = git_repository("history")
    for number in range(6):
        built.touch(f"Change {number} 修改", "src/a.py", "src/b.py", f"src/c{number}.py")
    return built


def test_a_git_history_goes_in_and_an_alert_comes_out(service: Any, repository: Any) -> None:
    project = service.project(repository.path)
    lines, status = lines_of(service, project, source="git", location=str(repository.path))
    assert status == 200
    report = lines[-1]["report"]
    assert (report["source"], report["accepted"], report["stopped"]) == ("git", 6, False)
    assert all(set(line) == {"progress"} for line in lines[:-1])
    found = service.client.get(f"{project}/impact", params={"path": "src/a.py"}).json()
    assert found["affected"][0]["path"] == "src/b.py"
    assert found["affected"][0]["evidence"]["together"] == 6


def test_a_second_import_takes_only_what_is_new(service: Any, repository: Any) -> None:
    project = service.project(repository.path)
    lines_of(service, project, source="git", location=str(repository.path))
    repository.touch("One more", "src/a.py")
    report = lines_of(service, project, source="git", location=str(repository.path))[0][-1]["report"]
    assert report["accepted"] == 1
    assert service.client.get(f"{project}/stats").json()["observations"] == 7


def test_a_jsonl_history_goes_in_and_bad_lines_are_named(service: Any, tmp_path: Path) -> None:
    source = tmp_path / "history.jsonl"
    good = [{"id": f"l{n}", "title": f"t{n}", "files_modified": ["a.py", "b.py"]} for n in range(3)]
    source.write_text(
        "\n".join([json.dumps(good[0]), "{cut", json.dumps(good[1]), "7", json.dumps(good[2])]) + "\n"
    )
    project = service.project(tmp_path / "from-lines")
    report = lines_of(service, project, source="jsonl", location=str(source))[0][-1]["report"]
    assert (report["accepted"], report["rejected"]) == (3, 2)
    assert any("2" in problem for problem in report["problems"])
    assert any("4" in problem for problem in report["problems"])


def test_a_source_that_cannot_be_read_is_a_problem(
    service: Any, tmp_path: Path, git_repository: Callable[..., Any]
) -> None:
    plain = tmp_path / "plain"
    project = service.project(plain)
    for body in (
        {"source": "git", "location": str(plain)},
        {"source": "git", "location": "/no/such/place"},
        {"source": "jsonl", "location": "/no/such/file.jsonl"},
        {"source": "jsonl", "location": str(plain)},
    ):
        lines, status = lines_of(service, project, **body)
        assert status == 422, body
        assert lines[-1]["type"] == "urn:graphmem:problem:source-not-readable"
        assert lines[-1]["detail"].endswith(".")
    assert git_repository("empty")
    lines, status = lines_of(service, project, source="git", location=str(tmp_path / "empty"))
    assert "report" in lines[-1] or status == 422


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"source": "svn"}, "source"),
        ({"source": None}, "source"),
        ({"location": "relative"}, "location"),
        ({"location": ""}, "location"),
        ({"location": None}, "location"),
        ({"include": "*"}, "include"),
        ({"source": "jsonl", "ref": "main"}, "ref"),
    ],
)
def test_a_wrong_question_is_refused_by_name(
    service: Any, tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    project = service.project(tmp_path / "wrong")
    answer = service.client.post(
        f"{project}/imports", json={"source": "git", "location": str(tmp_path)} | change
    )
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


@pytest.mark.parametrize("ref", ["no-such-branch", "--upload-pack=touch /tmp/x", "-x", "a..b", "\x00"])
def test_a_ref_that_is_none_is_a_problem_and_no_option(service: Any, repository: Any, ref: str) -> None:
    project = service.project(repository.path)
    lines, status = lines_of(service, project, source="git", location=str(repository.path), ref=ref)
    assert status == 422
    assert lines[-1]["detail"]


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    source = tmp_path / "long.jsonl"
    with source.open("w") as out:
        for number in range(60_000):
            out.write(
                json.dumps({"id": f"l{number}", "title": f"t{number}", "files_modified": ["a.py"]}) + "\n"
            )
    return source


def test_a_client_that_goes_away_stops_its_import_and_the_next_goes_on(
    start_service: Any, tmp_path: Path, long_file: Path, eventually: Any
) -> None:
    service = start_service()
    project = service.project(tmp_path / "long")
    body = {"source": "jsonl", "location": str(long_file)}
    with service.client.stream("POST", f"{project}/imports", json=body) as answer:
        first = next(answer.iter_lines())
        assert set(json.loads(first)) == {"progress"}

    def count() -> int:
        return int(service.client.get(f"{project}/stats").json()["observations"])

    seen = [count()]

    def still() -> bool:
        seen.append(count())
        return len(seen) > 8 and len(set(seen[-8:])) == 1

    eventually(still)
    assert 0 < seen[-1] < 60_000
    report = lines_of(service, project, **body)[0][-1]["report"]
    assert report["accepted"] == 60_000 - seen[-1]
    assert count() == 60_000


def test_a_service_that_is_stopped_stops_its_imports_and_keeps_what_they_stored(
    start_service: Any, tmp_path: Path, long_file: Path
) -> None:
    service = start_service()
    project = service.project(tmp_path / "long")
    body = {"source": "jsonl", "location": str(long_file)}
    with service.client.stream("POST", f"{project}/imports", json=body) as answer:
        stream = answer.iter_lines()
        next(stream)
        service.process.terminate()
        last = json.loads(list(stream)[-1])
    assert last["report"]["stopped"] is True
    assert service.process.wait(20) == 0
    again = start_service(service.home)
    stored = again.client.get(f"{project}/stats").json()["observations"]
    assert stored == last["report"]["accepted"]
    assert 0 < stored < 60_000


def test_a_client_that_is_gone_before_the_first_line_stops_the_import_too() -> None:
    async def sent() -> tuple[bool, bool]:
        def work(progress: Progress, stop: threading.Event) -> ImportReport:
            return ImportReport("git", "/history", stopped=stop.wait(20))

        async def receive() -> dict[str, str]:
            return {"type": "http.disconnect"}

        async def send(message: object) -> None:
            raise OSError("the connection is closed")

        run = Imports().start(work)
        with contextlib.suppress(OSError, ClientDisconnect):
            await ImportAnswer(run)({"type": "http", "asgi": {"spec_version": "2.4"}}, receive, send)
        await asyncio.to_thread(run.thread.join, 20)
        return run.ended, run.report is not None and run.report.stopped

    assert asyncio.run(sent()) == (True, True)
