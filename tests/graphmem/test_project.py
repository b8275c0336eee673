"""One open project: what a receipt means, forgetting, damage met by a question, many threads at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.errors import GraphMemError, InvalidInputError, NotFoundError, StorageError
from graphmem.model import FileStatus, Observation, ObservationFilter, Receipt

Tell = Callable[..., Receipt]
ODD = [
    *("\ud800", "\udcff", "\x00", "a\x00b", "🧪", "模块", "x" * 500),
    *("' OR 1=1 --", '"', "%", "*", "(", "NEAR/3"),
]


def folder_of(memory: Memory, project: Project) -> Path:
    return memory.home.project_folder(project.id)


# ---- receipts ----------------------------------------------------------------------------------


def test_a_receipt_counts_and_names_every_item(shop: Project) -> None:
    receipt = shop.observe(
        [
            {"id": "a", "title": "one"},
            {"id": "a", "title": "the same id in the same batch"},
            {"title": 7},
            {"id": "b", "title": "x" * 70_000, "tittle": "?"},
            {"id": "c"},
        ]
    )
    assert (receipt.accepted, receipt.duplicates, receipt.ids) == (2, 1, ("a", "a", "b"))
    assert [(bad.index, bad.errors[0].field) for bad in receipt.rejected] == [(2, "title"), (4, "title")]
    assert receipt.notes == ("unknown field 'tittle' ignored", "title: cut to 64 KiB")
    assert shop.observation("a").title == "one"
    again = shop.observe([{"id": "b", "title": "y"}, {"id": "c", "title": "z"}])
    assert (again.accepted, again.duplicates, again.ids) == (1, 1, ("b", "c"))
    assert shop.info.observations == 3


def test_an_empty_batch_is_nothing(shop: Project) -> None:
    assert shop.observe([]) == Receipt()


def test_an_id_made_here_is_in_the_receipt_and_can_be_asked_for(shop: Project) -> None:
    (id,) = shop.observe([{"title": "t"}]).ids
    assert shop.observation(id).title == "t"


def test_what_is_visible_was_waited_for(shop: Project) -> None:
    shop.observe([{"files_modified": [f"{n}.py", "hub.py"]} for n in range(200)])
    assert shop.wait_visible()
    assert shop.stats().observations == 200
    assert shop.stats().behind == 0


def test_the_default_time_and_session_come_from_the_clock(shop: Project, clock: Any) -> None:
    (id,) = shop.observe([{"title": "t", "actor": "ann"}]).ids
    assert (shop.observation(id).at, shop.observation(id).session) == (clock.now, "ann@2026-05-01T12")


def test_a_path_outside_is_refused_and_the_rest_of_the_batch_stored(shop: Project, tmp_path: Path) -> None:
    receipt = shop.observe([{"files_read": [str(tmp_path / "other" / "a.py")]}, {"files_read": ["b.py"]}])
    assert receipt.accepted == 1
    assert receipt.rejected[0].errors[0].field == "files_read.0"
    assert "outside the project's root" in receipt.rejected[0].errors[0].message


def test_names_of_a_batch_are_known_to_the_items_after_them(shop: Project, tmp_path: Path) -> None:
    """A copy that is gone is recognised by names the project knows, however fast the events come."""
    gone = "/somewhere/else/clone"
    receipt = shop.observe([{"files_modified": ["src/a.py"]}, {"files_modified": [f"{gone}/src/a.py"]}])
    assert receipt.rejected == ()
    for number in range(30):
        shop.observe([{"files_modified": [f"src/deep/{number}.py"]}])
        told = shop.observe([{"files_modified": [f"/other/{number}/copy/src/deep/{number}.py"]}])
        assert told.rejected == (), number
    assert shop.wait_visible()
    assert shop.stats().files == 31


# ---- lists by odd words ------------------------------------------------------------------------


@pytest.mark.parametrize("odd", ODD)
def test_no_word_in_a_question_is_a_fault(shop: Project, tell: Tell, odd: str) -> None:
    tell(shop, {"title": "t", "files_modified": ["a.py"], "session": "s"})
    for where in (
        ObservationFilter(concept=odd),
        ObservationFilter(session=odd),
        ObservationFilter(type=odd),
    ):
        assert shop.observations(where).items == ()
    for ask in (shop.observation, shop.session, shop.forget):
        with pytest.raises(NotFoundError):
            ask(odd)
    assert shop.search(odd, types=[odd]) == []
    assert shop.impact(["a.py"], session=odd, actor=odd, intent=odd, branch=odd).status is FileStatus.KNOWN
    for list in (shop.observations, shop.sessions):
        with pytest.raises(InvalidInputError) as refused:
            list(cursor=odd)
        assert refused.value.field == "cursor"


@pytest.mark.parametrize("odd", ["\ud800.py", "\udcff.py", "模块.py", "a b.py", "'.py", "x" * 300])
def test_an_odd_path_is_a_file_like_any_other(shop: Project, tell: Tell, odd: str) -> None:
    tell(shop, {"files_modified": [odd, "b.py"]})
    assert shop.impact([odd]).affected[0].path == "b.py"
    assert len(shop.observations(ObservationFilter(file=odd)).items) == 1


def test_an_id_with_odd_characters_is_found_as_it_was_sent(shop: Project) -> None:
    shop.observe([{"id": "a\ud800", "title": "t", "session": "s\x00"}])
    assert shop.wait_visible()
    assert shop.observation("a\ud800").id == "a\ufffd"
    assert shop.session("s\x00").observations == 1
    assert len(shop.observations(ObservationFilter(session="s\x00")).items) == 1
    assert shop.observe([{"id": "a\ud800", "title": "t"}]).duplicates == 1
    shop.forget("a\ud800")


# ---- forgetting --------------------------------------------------------------------------------


def test_what_is_forgotten_is_in_no_answer_and_in_no_byte(
    memory: Memory, shop: Project, tell: Tell, tmp_path: Path
) -> None:
    (tmp_path / "shop" / "zebrafish").mkdir()
    (tmp_path / "shop" / "zebrafish" / "plan.py").write_text("")
    (tmp_path / "shop" / "kept.py").write_text("")
    for number in range(3):
        tell(shop, {"files_modified": ["kept.py", "other.py"], "session": f"s{number}"})
    tell(
        shop,
        {
            "id": "secret",
            "session": "zebrafish-session",
            "actor": "zebrafish-actor",
            "title": "Zebrafish plan",
            "narrative": "the zebrafish calls POST /zebrafish/login " * 400,
            "facts": ["zebrafish fact"],
            "concepts": ["zebrafish"],
            "files_modified": ["kept.py", "zebrafish/plan.py"],
        },
    )
    shop.rebuild()
    assert [entry.path for entry in shop.impact(["zebrafish/plan.py"]).affected][:1] == ["kept.py"]
    shop.forget("secret")
    assert shop.impact(["zebrafish/plan.py"]).status is FileStatus.UNKNOWN
    assert shop.search("zebrafish") == []
    assert shop.observations(ObservationFilter(concept="zebrafish")).items == ()
    with pytest.raises(NotFoundError):
        shop.session("zebrafish-session")
    assert shop.impact(["kept.py"]).affected[0].evidence.together == 3
    folder = folder_of(memory, shop)
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {"journal.db", "derived.db"} <= set(left)
    for name, content in left.items():
        assert b"zebrafish" not in content.lower(), name
    memory.close()
    for path in folder.iterdir():
        assert b"zebrafish" not in path.read_bytes().lower(), path.name
        assert b"kept.py" in path.read_bytes(), path.name


def test_what_is_forgotten_is_said_of_no_module_any_more(memory: Memory, shop: Project, tell: Tell) -> None:
    files = ["parser/a.py", "parser/b.py", "parser/c.py"]
    told = [
        {"title": "Change the parser", "session": f"s{number}", "files_modified": files} for number in "123"
    ]
    tell(shop, *told, {"id": "secret", "title": "Zebrafish plan", "session": "s4", "files_modified": files})
    shop.graph.infer()
    (before,) = shop.graph.modules().items
    assert any("Zebrafish" in said for said in before.recent)
    shop.forget("secret")
    folder = folder_of(memory, shop)
    assert [p.name for p in folder.iterdir() if b"zebrafish" in p.read_bytes().lower()] == []
    (after,) = shop.graph.modules().items
    assert after.id == before.id
    assert "Zebrafish" not in "".join((after.label, after.summary, *after.recent))


def test_a_name_that_others_use_stays_seen(shop: Project, tell: Tell, tmp_path: Path) -> None:
    (tmp_path / "shop" / "a.py").write_text("")
    tell(shop, {"id": "one", "files_modified": ["a.py"]}, {"id": "two", "files_modified": ["a.py"]})
    shop.forget("one")
    (tmp_path / "shop" / "a.py").unlink()
    assert shop.impact(["a.py"]).status is FileStatus.GONE


def test_a_forgotten_id_stays_a_duplicate(shop: Project, tell: Tell) -> None:
    tell(shop, {"id": "a", "title": "t"}, {"id": "b", "title": "u"})
    shop.forget("a")
    receipt = shop.observe([{"id": "a", "title": "again"}])
    assert (receipt.accepted, receipt.duplicates) == (0, 1)
    with pytest.raises(NotFoundError):
        shop.observation("a")
    with pytest.raises(NotFoundError):
        shop.forget("a")
    assert shop.info.observations == shop.stats().observations == 1


# ---- opening, closing, damage ------------------------------------------------------------------


def test_a_closed_project_opens_again_when_it_is_asked(memory: Memory, shop: Project, tell: Tell) -> None:
    tell(shop, {"files_modified": ["a.py", "b.py"]})
    before = shop.impact(["a.py"])
    for _ in range(3):
        assert shop.close()
        assert sorted(path.name for path in folder_of(memory, shop).iterdir()) == ["derived.db", "journal.db"]
        assert shop.impact(["a.py"]) == before
        assert shop.applied() == 1


def test_a_project_that_is_used_is_not_closed_as_idle(shop: Project, tell: Tell) -> None:
    tell(shop, {"title": "t"})
    asking, goes_on = threading.Event(), threading.Event()

    def slow(done: int, total: int | None) -> None:
        asking.set()
        goes_on.wait(20)

    lines = Path(shop.info.root) / "more.jsonl"
    lines.write_text('{"id": "x", "title": "from a file"}\n')
    importing = threading.Thread(target=shop.import_jsonl, args=(str(lines),), kwargs={"progress": slow})
    importing.start()
    assert asking.wait(20)
    assert not shop.close(only_if_idle=True)
    goes_on.set()
    importing.join(20)
    assert shop.close(only_if_idle=True)
    assert shop.observation("x").title == "from a file"


def test_closing_while_others_ask_and_store_loses_and_breaks_nothing(shop: Project, tell: Tell) -> None:
    tell(shop, {"id": "first", "files_modified": ["a.py", "b.py"]})
    ended = threading.Event()
    stored: list[str] = []

    def use(number: int) -> None:
        turn = 0
        while not ended.is_set():
            turn += 1
            try:
                ids = shop.observe([{"id": f"{number}-{turn}", "files_modified": ["a.py", "b.py"]}]).ids
                stored.extend(ids)
                assert shop.impact(["a.py"]).status is FileStatus.KNOWN
            except StorageError as fault:
                assert "is closed" in str(fault)

    with ThreadPoolExecutor(4) as pool:
        users = [pool.submit(use, number) for number in range(4)]
        for _ in range(12):
            shop.close()
        ended.set()
        for user in users:
            user.result()
    assert shop.wait_visible()
    for id in stored:
        assert shop.observation(id).id == id
    assert shop.applied() == shop.stats().observations == shop.info.observations >= len(stored)


def test_damage_that_a_question_meets_is_mended_for_it(
    memory: Memory, shop: Project, tell: Tell, tmp_path: Path
) -> None:
    tell(shop, *({"files_modified": [f"{n}.py", "hub.py"], "title": f"change {n}"} for n in range(300)))
    before = shop.impact(["hub.py"]), shop.search("change"), shop.sessions()
    derived = folder_of(memory, shop) / "derived.db"
    shop.close()
    status = derived.stat()
    content = bytearray(derived.read_bytes())
    for page in range(8192, len(content) - 4096, 8192):
        content[page : page + 4096] = b"\x5a" * 4096
    derived.write_bytes(content)
    os.utime(derived, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (shop.impact(["hub.py"]), shop.search("change"), shop.sessions()) == before
    assert shop.observe([{"files_modified": ["hub.py"]}]).accepted == 1
    assert shop.wait_visible()


# ---- many at once ------------------------------------------------------------------------------


def test_eight_threads_observe_and_ask_at_once(shop: Project) -> None:
    def work(number: int) -> list[str]:
        ids = []
        for turn in range(12):
            batch = [
                {
                    "id": f"{number}-{turn}-{part}",
                    "session": f"s{number}",
                    "files_modified": [f"src/{number}.py", "hub.py", f"src/{(number + part) % 8}.py"],
                }
                for part in range(2)
            ]
            ids += shop.observe([*batch, {"id": f"shared-{turn}", "files_read": ["hub.py"]}]).ids
            answer = shop.impact(["hub.py"], session=f"s{number}")
            assert answer.status is FileStatus.KNOWN or answer.reason
            shop.observations(limit=5)
            shop.search("hub")
            shop.stats()
        return ids

    with ThreadPoolExecutor(8) as pool:
        told = {id for ids in pool.map(work, range(8)) for id in ids}
    assert shop.wait_visible()
    assert len(told) == 8 * 12 * 2 + 12
    assert shop.stats().observations == shop.info.observations == shop.applied() == len(told)
    live = shop.impact(["hub.py"], limit=200), shop.strongest_links(), shop.busiest_files()
    shop.rebuild()
    assert (shop.impact(["hub.py"], limit=200), shop.strongest_links(), shop.busiest_files()) == live


def test_observations_that_were_made_elsewhere_are_taken_as_they_are(shop: Project) -> None:
    made = Observation(id="made", session="s", at=1_000.0, title="ready", files_modified=("a.py",))
    assert shop.observe([made, {"title": "raw"}]).accepted == 2
    assert shop.observation("made") == made


def test_every_fault_of_a_project_is_ours(shop: Project) -> None:
    for wrong in (lambda: shop.impact(["/etc/x"]), lambda: shop.session("none"), lambda: shop.sessions(0)):
        with pytest.raises(GraphMemError):
            wrong()
