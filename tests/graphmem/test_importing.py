"""Driving an importer: every batch durable with its cursor, stopped and broken sources, many at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from graphmem import Project
from graphmem.capture.importing import run_import
from graphmem.capture.intake import Intake
from graphmem.capture.source import Batch
from graphmem.errors import SourceError
from graphmem.follower import Follower
from graphmem.journal import Journal
from graphmem.model import Observation


@dataclass
class Numbers:
    """A source of numbered observations, three a batch; `fails_at` is where it can't be read further."""

    last: int = 9
    fails_at: int | None = None
    source: str = "numbers"
    location: str = "here"
    ended: list[str] = field(default_factory=list)

    def batches(
        self, cursor: str | None = None, stop: threading.Event | None = None
    ) -> Generator[Batch, None, None]:
        try:
            for first in range(int(cursor or 0), self.last, 3):
                if stop is not None and stop.is_set():
                    return
                if self.fails_at is not None and first >= self.fails_at:
                    raise SourceError(f"number {first} can't be read; mend it.")
                upto = min(first + 3, self.last)
                items = tuple(
                    Observation(id=f"n{n}", session="s", at=float(n), files_modified=(f"{n}.py", "hub.py"))
                    for n in range(first, upto)
                )
                yield Batch(items, str(upto), upto, self.last, len(items))
        finally:
            self.ended.append("closed")


@dataclass
class Desk:
    """A journal with its follower, and imports into it."""

    journal: Journal
    follower: Follower

    def run(self, importer: Numbers, **more: Any) -> Any:
        intake = Intake(lambda raw, cwd: raw, 1e9)
        return run_import(importer, self.journal, self.follower, intake.accept_all, **more)


@pytest.fixture
def desk(tmp_path: Path) -> Generator[Desk, None, None]:
    journal = Journal(tmp_path / "journal.db")
    follower = Follower(journal, tmp_path / "derived.db")
    yield Desk(journal, follower)
    follower.close()
    journal.close()


def test_everything_is_in_and_can_be_asked_for_when_it_returns(desk: Desk) -> None:
    done: list[tuple[int, int | None]] = []
    report = desk.run(Numbers(), progress=lambda *state: done.append(state))
    assert (report.seen, report.accepted, report.duplicates, report.stopped) == (9, 9, 0, False)
    assert done == [(3, 9), (6, 9), (9, 9)]
    assert desk.follower.applied() == 9
    assert desk.journal.cursor("numbers:here") == "9"
    assert report.took_ms > 0


def test_a_second_run_takes_only_what_is_new(desk: Desk) -> None:
    desk.run(Numbers())
    report = desk.run(Numbers(last=11))
    assert (report.seen, report.accepted) == (2, 2)
    assert desk.run(Numbers(last=11)).seen == 0


def test_another_place_has_a_cursor_of_its_own(desk: Desk) -> None:
    desk.run(Numbers())
    report = desk.run(Numbers(location="there"))
    assert (report.accepted, report.duplicates) == (0, 9)


def test_a_stop_ends_at_the_next_batch_and_the_next_run_goes_on(desk: Desk) -> None:
    stop = threading.Event()
    importer = Numbers()
    report = desk.run(importer, stop=stop, progress=lambda done, total: stop.set() if done == 6 else None)
    assert (report.accepted, report.stopped, importer.ended) == (6, True, ["closed"])
    assert desk.journal.count() == 6
    assert desk.run(Numbers()).accepted == 3


def test_a_source_that_breaks_keeps_what_came_before(desk: Desk) -> None:
    with pytest.raises(SourceError, match="number 6 can't be read"):
        desk.run(Numbers(fails_at=6))
    assert (desk.journal.count(), desk.follower.applied()) == (6, 6)
    assert desk.run(Numbers()).accepted == 3


def test_whatever_fails_around_it_the_source_is_closed_at_once(desk: Desk) -> None:
    importer = Numbers()

    def fail(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.run(importer, progress=fail)
    assert importer.ended == ["closed"]
    assert desk.journal.cursor("numbers:here") == "3", "the batch before is stored"
    assert desk.run(Numbers()).accepted == 6


# ---- through a project -------------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path: Path) -> Callable[[str, Sequence[Any]], str]:
    def write(name: str, rows: Sequence[Any]) -> str:
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(tmp_path / name)

    return write


def test_lines_pass_the_intake_and_bad_ones_are_named(shop: Project, lines: Any) -> None:
    rows = [
        {"id": "a", "files_modified": ["a.py", "b.py"], "at": "2026-04-01T00:00:00Z"},
        {"id": "b", "title": "t", "at": "2036-04-01T00:00:00Z"},
        {"id": "c", "files_modified": ["/etc/passwd"], "at": "2026-04-01T00:00:00Z"},
        {"id": "d", "title": "x", "at": "2026-04-02T00:00:00Z"},
    ]
    report = shop.import_jsonl(lines("rows.jsonl", rows))
    assert (report.accepted, report.rejected) == (2, 2)
    assert [problem.split(":")[0] for problem in report.problems] == ["line 2", "line 3"]
    assert "at" in report.problems[0] and "files_modified.0" in report.problems[1]
    assert shop.impact(["a.py"]).affected[0].path == "b.py"


def test_names_of_earlier_lines_are_known_to_later_ones(shop: Project, lines: Any) -> None:
    rows = [
        row
        for n in range(200)
        for row in (
            {"id": f"a{n}", "files_modified": [f"src/m{n}/x.py"], "at": 1_000 + n},
            {"id": f"b{n}", "files_modified": [f"/somewhere/clone{n}/src/m{n}/x.py"], "at": 2_000 + n},
        )
    ]
    report = shop.import_jsonl(lines("rows.jsonl", rows))
    assert (report.accepted, report.rejected, report.problems) == (400, 0, ())
    assert shop.stats().files == 200


def test_imported_files_on_the_disk_count_as_seen(shop: Project, lines: Any, tmp_path: Path) -> None:
    (tmp_path / "shop" / "here.py").write_text("")
    shop.import_jsonl(lines("rows.jsonl", [{"files_modified": ["here.py", "never.py"], "at": 1_000}]))
    (tmp_path / "shop" / "here.py").unlink()
    assert shop.impact(["here.py"]).status.value == "gone"
    assert shop.impact(["never.py"]).status.value == "known"


def test_several_imports_and_observers_at_once_lose_nothing(shop: Project, lines: Any) -> None:
    def rows(file: int) -> list[dict[str, Any]]:
        touched = [f"{file}.py", "hub.py"]
        return [{"id": f"{file}-{n}", "files_modified": touched, "at": n} for n in range(150)]

    files = [lines(f"rows{file}.jsonl", rows(file)) for file in range(3)]
    with ThreadPoolExecutor(6) as pool:
        imports = [pool.submit(shop.import_jsonl, file) for file in files for _ in range(2)]
        for number in range(20):
            shop.observe([{"id": f"live-{number}", "files_modified": ["hub.py", "live.py"]}])
            shop.impact(["hub.py"])
        reports = [run.result() for run in imports]
    assert sum(report.accepted for report in reports) == 450
    assert shop.wait_visible()
    assert shop.stats().observations == shop.info.observations == shop.applied() == 470
