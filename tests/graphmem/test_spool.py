"""The spool: what many put in, one takes out, once it is stored."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from graphmem import hook_program
from graphmem.errors import StorageError
from graphmem.spool import Spool, counts


def line(id: str, text: str = "hello") -> bytes:
    event: dict[str, object] = {"prompt": text}
    return hook_program.line("claude-code", event, id, 5.0, {"password": 1})


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def test_what_is_put_is_read_in_order_and_stays_until_it_is_cleared(spool: Spool, tmp_path: Path) -> None:
    for id in ("a", "b"):
        assert spool.put(line(id))
    assert spool.waiting()
    found = spool.read()
    assert [(each.id, each.at, each.client) for each in found] == [
        ("a", 5.0, "claude-code"),
        ("b", 5.0, "claude-code"),
    ]
    assert (found[0].event, found[0].redacted) == ({"prompt": "hello"}, {"password": 1})
    assert [each.id for each in Spool(tmp_path / "spool").read()] == ["a", "b"]
    assert not spool.read()
    assert spool.clear()
    assert (spool.file.stat().st_size, spool.waiting()) == (0, False)


def test_what_came_since_is_not_cleared_away(spool: Spool) -> None:
    spool.put(line("a"))
    spool.read()
    spool.put(line("b"))
    assert not spool.clear()
    assert [each.id for each in spool.read()] == ["b"]
    assert spool.clear()


def test_nothing_is_cleared_while_somebody_writes(spool: Spool) -> None:
    spool.put(line("a"))
    spool.read()
    writer = os.open(spool.file, os.O_RDWR)
    try:
        fcntl.flock(writer, fcntl.LOCK_SH)
        assert not spool.clear()
    finally:
        os.close(writer)
    assert spool.clear()


def test_after_a_fault_everything_not_cleared_comes_again(spool: Spool) -> None:
    spool.put(line("a"))
    spool.read()
    spool.put(line("b"))
    spool.rewind()
    assert [each.id for each in spool.read()] == ["a", "b"]


@pytest.mark.parametrize(
    "torn", [b'\n{"id": "torn", "at": 5, "cli', b"\x00" * 500, b"\nnot json\n", b"\n[1]\n", b"\n{}\n"]
)
def test_a_torn_line_harms_no_other(spool: Spool, torn: bytes) -> None:
    spool.put(line("a"))
    with spool.file.open("ab") as file:
        file.write(torn)
    spool.put(line("b"))
    assert [each.id for each in spool.read()] == ["a", "b"]
    assert spool.clear()


def test_a_line_still_being_written_is_left_for_later(spool: Spool) -> None:
    whole = line("a")
    spool.put(whole[:-10])
    assert spool.read() == []
    with spool.file.open("ab") as file:
        file.write(whole[-10:])
    assert [each.id for each in spool.read()] == ["a"]


def test_a_torn_end_that_nobody_writes_any_more_goes_with_the_rest(spool: Spool) -> None:
    spool.put(line("a"))
    spool.put(line("b")[:-5])
    assert [each.id for each in spool.read()] == ["a"]
    assert spool.clear()
    assert spool.file.stat().st_size == 0


def test_a_line_longer_than_any_of_ours_is_passed_over(spool: Spool) -> None:
    spool.put(b"\n" + b"x" * 3_000_000 + b"\n")
    spool.put(line("a"))
    found = []
    while spool.waiting():
        found += spool.read()
    assert [each.id for each in found] == ["a"]


def test_a_spool_that_was_emptied_by_others_is_read_from_its_beginning(spool: Spool) -> None:
    spool.put(line("a", "a long text " * 20))
    spool.read()
    spool.file.write_bytes(line("b"))
    assert [each.id for each in spool.read()] == ["b"]


def test_a_folder_that_is_none_keeps_nothing_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("in the way")
    spool = Spool(tmp_path / "spool")
    assert not spool.put(line("a"))
    assert (spool.read(), spool.clear(), spool.waiting()) == ([], True, False)


def test_a_note_is_told_from_an_event(spool: Spool) -> None:
    spool.put(b"\n" + json.dumps({"id": "n", "at": 7, "note": {"path": "a"}}).encode() + b"\n")
    assert [each.note for each in spool.read()] == [{"path": "a"}]


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"[1, null]"])
def test_damaged_knowledge_of_open_turns_is_none(spool: Spool, content: bytes) -> None:
    spool.set_active(["p1", "p2"])
    assert spool.active() == ["p1", "p2"]
    (spool.file.parent / "active.json").write_bytes(content)
    assert spool.active() == []


@pytest.mark.parametrize(
    "moment", ["NaN", "Infinity", "-Infinity", "1e400", "1" + "0" * 400, "9" * 5000, '"5"', "null", "[5]"]
)
def test_a_line_of_no_moment_is_passed_over_and_the_next_is_read(spool: Spool, moment: str) -> None:
    head = '{"id": "odd", "at": ' + moment
    for rest in ('"client": "claude-code", "event": {}', '"note": {}'):
        spool.put(f"\n{head}, {rest}}}\n".encode())
    spool.put(line("a"))
    assert [each.id for each in spool.read()] == ["a"]


@pytest.mark.parametrize(
    ("told", "counted"),
    [
        ({"password": 2}, {"password": 2}),
        ({"password": True, "jwt": "3", "card": 10**40, "url": -1, "token": 1.5}, {}),
        ({"k" * 5_000: 1}, {"k" * 60: 1}),
        (["password"], {}),
        (None, {}),
    ],
)
def test_counts_that_are_none_are_left_out(told: object, counted: dict[str, int]) -> None:
    assert counts(told) == counted


def test_what_can_not_be_set_aside_is_said_so_and_must_stay(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.put(line("a"))
    (tmp_path / "set-aside.jsonl").mkdir()
    with pytest.raises(StorageError, match=r"set-aside\.jsonl can't be written \(Is a directory\)"):
        spool.set_aside(spool.read())


def test_a_pipe_in_the_spools_place_holds_nobody(spool: Spool) -> None:
    spool.file.parent.mkdir()
    os.mkfifo(spool.file)
    assert (spool.waiting(), spool.read(), spool.clear()) == (False, [], True)
    spool.file.unlink()
    spool.put(line("a"))
    assert [each.id for each in spool.read()] == ["a"]


def test_a_spool_that_can_not_be_emptied_is_read_once(
    spool: Spool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(file: int, size: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "ftruncate", refuse)
    spool.put(line("a"))
    for expected in (["a"], []):
        assert [each.id for each in spool.read()] == expected
        assert spool.clear()
    assert caplog.text.count("can't be emptied") == 1
    spool.put(line("b"))
    assert [each.id for each in spool.read()] == ["b"]


def test_what_was_read_makes_room_before_all_of_it_is(spool: Spool) -> None:
    ids = [f"{number:04}" for number in range(700)]
    for id in ids:
        spool.put(line(id, "a long text " * 300))
    before = spool.file.stat().st_size
    found: list[str] = []
    while lines := spool.read():
        found += [each.id for each in lines]
        spool.make_room()
        if len(found) < len(ids):
            spool.put(line(f"later {len(found)}"))
    later = [id for id in found if id.startswith("later")]
    assert later and [id for id in found if id not in later] == ids
    assert spool.file.stat().st_size < before / 2
    assert spool.clear()
    assert not spool.waiting()


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.99])
def test_whoever_is_killed_while_making_room_loses_nothing(
    spool: Spool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    class KilledError(Exception):
        pass

    ids = [f"{number:04}" for number in range(1_000)]
    for id in ids:
        spool.put(line(id, "a long text " * 300))
    stored = {each.id for each in spool.read()}
    left = int((spool.file.stat().st_size - 1024 * 1024) * share)
    write = os.pwrite

    def write_some(file: int, data: bytes, at: int) -> int:
        write(file, data[: max(left - at, 0)], at)
        if at + len(data) > left:
            raise KilledError
        return len(data)

    monkeypatch.setattr(os, "pwrite", write_some)
    with pytest.raises(KilledError):
        spool.make_room()
    after = Spool(tmp_path / "spool")
    while lines := after.read():
        stored |= {each.id for each in lines}
    assert stored == set(ids)


def test_where_lines_are_taken_away_more_of_them_have_room(spool: Spool) -> None:
    spool.put(line("a"))
    os.truncate(spool.file, (16 << 20) + 1)
    assert not hook_program.append(str(spool.file), line("b"))
    assert spool.put(b"\n" + line("c"))
