"""A file of JSON lines comes in whatever state it is in: good lines are kept, bad ones named by number."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.capture.jsonl import JsonlImporter
from graphmem.capture.source import Batch, ImportTally
from graphmem.errors import SourceError
from graphmem.model import FieldProblem, Observation, Receipt, Rejection, Rename

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_800_000_000.0
MIB = 1024 * 1024

OBSERVATION = {"id": "o-1", "title": "Fix the login", "files_modified": ["src/a.py"]}
COMMIT = {
    "id": "shop-00001",
    "ts": "2026-05-01T12:00:00Z",
    "ats": "2026-04-30T12:00:00Z",
    "author": "a1",
    "session": "a1-s1",
    "title": "Move the login",
    "files": [
        {"path": "src/new.py", "status": "R", "old_path": "src/old.py"},
        {"path": "src/added.py", "status": "A"},
        {"path": "src/changed.py", "status": "M"},
        {"path": "src/gone.py", "status": "D"},
        {"path": "src/copy.py", "status": "C", "old_path": "src/changed.py"},
        {"path": "src/link", "status": "T"},
    ],
}


def line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def read(path: Path, content: bytes) -> list[Batch]:
    path.write_bytes(content)
    return list(JsonlImporter(str(path), clock=lambda: NOW).batches())


def items(batches: list[Batch]) -> list[Any]:
    return [item for batch in batches for item in batch.items]


def problems(batches: list[Batch]) -> list[str]:
    return [problem for batch in batches for problem in batch.problems]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lines.jsonl"


# ---- the two shapes ----------------------------------------------------------------------------


def test_an_observation_line_is_passed_on_as_it_is(file: Path) -> None:
    (batch,) = read(file, line(OBSERVATION) + line({"title": "改登录", "extra": [1, None]} | {"id": "o-2"}))
    assert batch.items == (OBSERVATION, {"title": "改登录", "extra": [1, None], "id": "o-2"})
    assert batch.positions == (1, 2)
    assert (batch.done, batch.total, batch.seen) == (2, 2, 2)


def test_a_history_line_is_one_commit(file: Path) -> None:
    (item,) = items(read(file, line(COMMIT)))
    assert item == Observation(
        id="shop-00001",
        session="a1-s1",
        at=1_777_636_800.0,
        source="history",
        actor="a1",
        type="commit",
        title="Move the login",
        files_modified=("src/added.py", "src/changed.py", "src/copy.py", "src/link"),
        files_added=("src/added.py", "src/copy.py"),
        files_deleted=("src/gone.py",),
        renames=(Rename("src/old.py", "src/new.py"),),
        reference="shop-00001",
    )


def test_a_line_without_an_id_gets_one_from_its_content(tmp_path: Path) -> None:
    plain = {"title": "No id", "files_modified": ["a.py"]}
    commit = {name: value for name, value in COMMIT.items() if name != "id"}
    other_order = dict(reversed(plain.items()))
    first = items(read(tmp_path / "one.jsonl", line(plain) + line(commit)))
    again = items(read(tmp_path / "two.jsonl", b"\n" + line(commit) + line(other_order)))
    assert first[0]["id"] == again[1]["id"]
    assert first[1].id == again[0].id
    assert first[0]["id"] != items(read(tmp_path / "x.jsonl", line(plain | {"title": "Other"})))[0]["id"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"ts": None}, "ts"),
        ({"ts": "yesterday"}, "ts"),
        ({"ts": 5}, "ts"),
        ({"ts": "1969-12-31T23:59:59Z"}, "ts"),
        ({"ts": "2999-01-01T00:00:00Z"}, "ts"),
        ({"ts": "0001-01-01T00:00:00+14:00"}, "ts"),
        ({"files": "a.py"}, "files"),
        ({"files": ["a.py"]}, "files.0"),
        ({"files": [{"path": "a.py"}]}, "files.0.status"),
        ({"files": [{"path": "a.py", "status": ""}]}, "files.0.status"),
        ({"files": [{"path": "a.py", "status": "Q"}]}, "files.0.status"),
        ({"files": [{"path": "b.py", "status": "A"}, {"path": 7, "status": "A"}]}, "files.1.path"),
        ({"files": [{"path": "", "status": "A"}]}, "files.0.path"),
        ({"files": [{"path": "a" * 5_000, "status": "A"}]}, "files.0.path"),
        ({"files": [{"path": "/etc/passwd", "status": "M"}]}, "files.0.path"),
        ({"files": [{"path": "../a.py", "status": "M"}]}, "files.0.path"),
        ({"files": [{"path": "a/../../b.py", "status": "M"}]}, "files.0.path"),
        ({"files": [{"path": "a/..", "status": "M"}]}, "files.0.path"),
        ({"files": [{"path": "a.py", "status": "R"}]}, "files.0.old_path"),
        ({"files": [{"path": "a.py", "status": "R", "old_path": "/b"}]}, "files.0.old_path"),
        ({"title": 7}, "title"),
        ({"author": ["a"]}, "author"),
        ({"id": 7}, "id"),
        ({"id": "x" * 201}, "id"),
        ({"session": "x" * 201}, "session"),
        ({"title": None, "files": []}, "title"),
    ],
)
def test_a_wrong_history_line_is_named_with_its_field(
    file: Path, change: Mapping[str, Any], field: str
) -> None:
    batches = read(file, line(COMMIT) + line(COMMIT | {"id": "bad"} | change) + line(COMMIT | {"id": "good"}))
    assert [item.id for item in items(batches)] == ["shop-00001", "good"]
    (problem,) = problems(batches)
    assert problem.startswith(f"line 2: {field}: ")


def test_odd_characters_in_a_history_line_become_readable(file: Path) -> None:
    odd = COMMIT | {"title": "a\0b\ud800c", "files": [{"path": "./x//cafe\u0301.py", "status": "M100"}]}
    file.write_text(json.dumps(odd) + "\n")
    (item,) = items(list(JsonlImporter(str(file)).batches()))
    assert item.title == "a\ufffdb\ufffdc"
    assert item.notes == ("title: NUL or a lone surrogate was replaced",)
    assert item.files_modified == ("x/café.py",)


def test_a_history_line_may_hold_more_files_than_a_request(file: Path) -> None:
    many = COMMIT | {"files": [{"path": f"f{number}.py", "status": "A"} for number in range(5_000)]}
    assert len(items(read(file, line(many)))[0].files_added) == 5_000


def test_the_public_histories_come_in_without_a_fault(data_folder: Any) -> None:
    batches = list(JsonlImporter(str(data_folder.file("histories/flask.jsonl.gz"))).batches())
    assert problems(batches) == []
    assert len({item.id for item in items(batches)}) == batches[-1].done > 3_000


# ---- the state of the file ---------------------------------------------------------------------

BAD_LINES = {
    "cut": (
        b'{"title": "x", "fi',
        "not valid JSON (Unterminated string starting at character 16); correct it",
    ),
    "no JSON": (b"hello", "not valid JSON"),
    "two objects": (b'{"id": "a"} {"id": "b"}', "not valid JSON"),
    "array": (b"[1, 2]", "an array instead of a JSON object"),
    "text": (b'"x"', "a text instead of a JSON object"),
    "number": (b"17", "a number instead of a JSON object"),
    "null": (b"null", "true, false or null instead of a JSON object"),
    "not a number": (b'{"at": NaN}', "NaN is no JSON value"),
    "huge number": (
        b'{"at": ' + b"9" * 5_000 + b"}",
        "(Exceeds the limit (4300 digits) for integer string conversion); ",
    ),
    "latin-1": (b'{"title": "caf\xe9"}', "not UTF-8"),
    "deep": (b"[" * 100_000, "nested too deeply"),
    "control": (
        b'{"title": "a\x01b"}',
        "not valid JSON (Invalid control character at character 13); correct it",
    ),
    "only NUL bytes": (b"\0" * 4_096, "only NUL bytes"),
    "over 8 MiB": (b'{"title": "' + b"x" * 9 * MIB + b'"}', "longer than 8 MiB"),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize(("bad", "words"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_named_and_the_good_ones_are_kept(
    file: Path, bad: bytes, words: str, packed: bool
) -> None:
    content = line(OBSERVATION) + bad + b"\n" + line(OBSERVATION | {"id": "o-2"})
    batches = read(file, gzip.compress(content) if packed else content)
    assert [item["id"] for item in items(batches)] == ["o-1", "o-2"]
    assert [place for batch in batches for place in batch.positions] == [1, 3]
    (problem,) = problems(batches)
    assert problem.startswith("line 2: ")
    assert words in problem


def test_a_cut_last_line_is_said_and_taken_once_it_is_complete(file: Path) -> None:
    whole = line(OBSERVATION) + line(OBSERVATION | {"id": "o-2"})
    for cut in (len(whole) - 2, len(line(OBSERVATION)) + 1):
        batches = read(file, whole[:cut])
        assert [item["id"] for item in items(batches)] == ["o-1"]
        assert problems(batches) == ["line 2: cut off before its end; it is taken once it is complete"]
    again = list(JsonlImporter(str(file)).batches(batches[-1].cursor))
    assert [item["id"] for item in items(again)] == ["o-1"]
    file.write_bytes(whole)
    completed = list(JsonlImporter(str(file)).batches(batches[-1].cursor))
    assert [item["id"] for item in items(completed)] == ["o-1", "o-2"]


def test_a_last_line_without_an_end_is_taken_when_it_is_whole(file: Path) -> None:
    assert items(read(file, line(OBSERVATION)[:-1])) == [OBSERVATION]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + line(OBSERVATION),
        line(OBSERVATION).replace(b"\n", b"\r\n"),
        b"\n\n  \n\t\n" + line(OBSERVATION) + b"\r\n\n",
        b"\0" * 100_000 + line(OBSERVATION),
        b"\0" * 9 * MIB + line(OBSERVATION),
        line(OBSERVATION)[:-1] + b"\0" * 5_000 + b"\n",
        b"  " + line(OBSERVATION),
    ],
    ids=["BOM", "CRLF", "blank lines", "NUL before", "much NUL before", "NUL behind", "indented"],
)
def test_what_surrounds_a_line_does_no_harm(file: Path, content: bytes) -> None:
    batches = read(file, content)
    assert items(batches) == [OBSERVATION]
    assert problems(batches) == []


def test_records_that_a_block_of_nul_bytes_ran_together_are_parted(file: Path) -> None:
    second = line(OBSERVATION | {"id": "o-2"})
    batches = read(file, line(OBSERVATION)[:20] + b"\0" * 900 + second[:-1] + b"\0" * 9 + line(OBSERVATION))
    assert [item["id"] for item in items(batches)] == ["o-2", "o-1"]
    assert len(problems(batches)) == 1


def test_an_empty_file_is_said(file: Path) -> None:
    (batch,) = read(file, b"")
    assert [remark.sentence() for remark in batch.remarks] == ["The file has no lines."]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_utf16_is_refused_with_the_remedy(file: Path, encoding: str) -> None:
    mark = b"" if encoding == "utf-16" else b"\xff\xfe"
    file.write_bytes(mark + json.dumps(OBSERVATION).encode(encoding))
    with pytest.raises(SourceError, match="convert it to UTF-8"):
        list(JsonlImporter(str(file)).batches())


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "absent", tmp_path / "absent" / "x", "nul\0byte"):
        with pytest.raises(SourceError, match="can't be opened"):
            list(JsonlImporter(str(place)).batches())


@pytest.mark.parametrize("damage", ["cut", "garbled"])
def test_a_damaged_gzip_keeps_what_came_before(file: Path, damage: str) -> None:
    draw = random.Random(7)
    lines = b"".join(
        line({"id": f"o-{number}", "title": draw.randbytes(60).hex()}) for number in range(5_000)
    )
    packed = bytearray(gzip.compress(lines))
    if damage == "cut":
        del packed[len(packed) // 2 :]
    else:
        packed[len(packed) // 2 : len(packed) // 2 + 4_000] = b"\xff" * 4_000
    file.write_bytes(packed)
    kept: list[Any] = []
    with pytest.raises(SourceError, match="the lines before are kept"):
        for batch in JsonlImporter(str(file)).batches():
            kept += batch.items
    # Garbled data unpacks to something for a while before it is noticed: only what lies before is sure.
    assert [item["id"] for item in kept[:2_400]] == [f"o-{number}" for number in range(2_400)]


def test_a_pipe_is_read_too(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(line(OBSERVATION) * 3),))
    writer.start()
    batches = list(JsonlImporter(str(pipe)).batches())
    writer.join()
    assert len(items(batches)) == 3
    assert batches[-1].total is None


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from([line(OBSERVATION), line(COMMIT)]) | st.binary(max_size=40), max_size=12))
def test_whatever_stands_in_a_file_every_line_is_kept_or_named(file: Path, parts: list[bytes]) -> None:
    content = b"".join(part if part.endswith(b"\n") else part + b"\n" for part in parts)
    if content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b")):
        return
    batches = read(file, content)
    good = parts.count(line(OBSERVATION)) + parts.count(line(COMMIT))
    assert len(items(batches)) >= good
    assert all(problem.startswith("line ") for problem in problems(batches))
    assert batches[-1].done == content.count(b"\n")


# ---- large files, and the report ---------------------------------------------------------------


def test_a_large_file_is_handed_on_in_pieces_and_can_be_stopped(file: Path) -> None:
    content = b"".join(line(OBSERVATION | {"id": f"o-{number}"}) for number in range(1_200))
    assert [len(batch.items) for batch in read(file, content)] == [500, 500, 200]
    stop = threading.Event()
    stream = JsonlImporter(str(file)).batches(None, stop)
    first = next(stream)
    stop.set()
    rest = list(stream)
    assert len(first.items) + len(items(rest)) == 500
    assert first.total == 1_200
    large = b"".join(line(OBSERVATION | {"narrative": "x" * 3 * MIB}) for _ in range(6))
    assert [len(batch.items) for batch in read(file, large)] == [3, 3, 0]


@pytest.mark.slow
def test_memory_stays_bounded_with_a_line_of_60_mb(file: Path, peak_memory: str) -> None:
    with file.open("wb") as out:
        for number in range(150):
            out.write(line({"id": f"o-{number}", "title": "t", "narrative": "x" * 1_000_000}))
        out.write(b'{"title": "')
        out.writelines(b"QUJD" * 250_000 for _ in range(60))
        out.write(b'"}\n' + line(OBSERVATION))
    script = f"""{peak_memory}
from graphmem.capture.jsonl import JsonlImporter
seen, problems = 0, []
for batch in JsonlImporter(sys.argv[1]).batches():
    seen += len(batch.items)
    problems += batch.problems
print(seen, problems, round(peak()))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(file)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    said, megabytes = done.stdout.strip().rsplit(" ", 1)
    assert said == "151 ['line 151: longer than 8 MiB; split it']"
    assert int(megabytes) < 150


def test_the_report_names_refused_items_by_their_line(file: Path) -> None:
    batches = read(file, b"\n" + line(OBSERVATION) + b"oops\n" + line({"title": 7}))
    tally = ImportTally("jsonl", str(file))
    refused = Rejection(1, (FieldProblem("title", "must be a text; correct it"),))
    for batch in batches:
        tally.add(batch, Receipt(accepted=1, rejected=(refused,)))
    report = tally.report()
    assert (report.seen, report.accepted, report.rejected) == (3, 1, 2)
    assert report.problems[0].startswith("line 3: not valid JSON")
    assert report.problems[1] == "line 4: title: must be a text; correct it"


def test_the_report_counts_the_problems_it_does_not_list(file: Path) -> None:
    tally = ImportTally("jsonl", str(file))
    for batch in read(file, b"oops\n" * 1_234):
        tally.add(batch, Receipt())
    report = tally.report()
    assert report.rejected == 1_234
    assert len(report.problems) == 201
    assert report.problems[-1] == "and 1,034 more that are not listed"
