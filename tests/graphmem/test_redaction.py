"""The door of the memory: texts lose their secrets, paths and names keep what they are, and it is counted."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.capture.intake import MAX_TEXT
from graphmem.graph import Decision, VerdictKind
from graphmem.model import Fact, FactKind, Observation, Rename
from graphmem.redaction import DiscreetFormatter, redacted

SECRET = "hunter" + "2x9"
TOKEN = "gh" + "p_" + "Ab3" * 12
OBSERVATION = Observation(id="o1", session="s1", at=1.0, title="Fix the login", files_modified=("a.py",))


def test_every_text_is_cleaned_and_counted() -> None:
    told = replace(
        OBSERVATION,
        title=f"password={SECRET}",
        intent=f"token is {TOKEN}",
        narrative=f"postgres://app:{SECRET}@db/shop",
        branch=f"fix/{TOKEN}",
        facts=(Fact(f"密码：{SECRET}", FactKind.DECISION), Fact("uses Redis")),
        concepts=(TOKEN, "login"),
        notes=(f"unknown field {TOKEN!r} ignored",),
    )
    clean, counts = redacted(told)
    assert SECRET not in repr(clean)
    assert TOKEN not in repr(clean)
    assert counts == {"password": 3, "github-token": 4}
    assert clean.facts == (Fact("密码：[redacted:password]", FactKind.DECISION), Fact("uses Redis"))
    assert clean.title == "password=[redacted:password]"


def test_paths_ids_sessions_and_references_stay_as_they_are() -> None:
    told = Observation(
        id=f"id-{TOKEN}",
        session=f"session-{TOKEN}",
        at=1.0,
        title="Move",
        files_read=(f"keys/{TOKEN}.txt",),
        files_modified=(f"src/{TOKEN}.py",),
        files_added=(f"src/{TOKEN}.py",),
        files_deleted=(f"password={SECRET}",),
        renames=(Rename(TOKEN, f"<private>{TOKEN}"),),
        reference=TOKEN,
        turn=TOKEN,
    )
    assert redacted(told) == (told, {})


def test_a_clean_observation_comes_back_itself() -> None:
    clean, counts = redacted(OBSERVATION)
    assert clean is OBSERVATION
    assert not counts


def test_redacting_again_changes_nothing() -> None:
    clean, _ = redacted(
        replace(OBSERVATION, title=f"password={SECRET} <private>x</private>", concepts=(TOKEN,))
    )
    assert redacted(clean) == (clean, {})


def test_what_was_private_as_a_whole_is_left_out() -> None:
    told = replace(
        OBSERVATION,
        facts=(Fact("<private>the client is Acme</private>"), Fact("kept")),
        concepts=("<private>acme</private>", "login"),
        intent="<private>all of it",
    )
    clean, counts = redacted(told)
    assert (clean.facts, clean.concepts, clean.intent) == ((Fact("kept"),), ("login",), "")
    assert counts == {"private": 3}


def test_half_a_secret_at_the_end_of_a_text_that_was_cut_is_left_out(shop: Project) -> None:
    filling = "word " * (MAX_TEXT // 5 - 3)
    shop.observe([{"id": "long", "title": "t", "narrative": filling + TOKEN + " and more" * 50}])
    with shop._access.use() as files:
        kept = files.journal.get("long").narrative
    assert kept.startswith("word word")
    assert "gh" + "p_" not in kept


# ---- at the door -------------------------------------------------------------------------------


def redactions(project: Project) -> dict[str, int]:
    with project._access.use() as files:
        return files.journal.captured.redactions()


def test_mappings_and_finished_observations_pass_the_same_door(shop: Project) -> None:
    mapping = {"id": "m", "title": f"password={SECRET}", "files_modified": ["a.py"]}
    finished = replace(OBSERVATION, id="f", narrative=f"token: {TOKEN}")
    assert shop.observe([mapping, finished]).accepted == 2
    with shop._access.use() as files:
        assert files.journal.get("m").title == "password=[redacted:password]"
        assert files.journal.get("f").narrative == "token: [redacted:github-token]"
    assert redactions(shop) == {"github-token": 1, "password": 1}


def test_what_comes_a_second_time_is_not_counted_again(shop: Project) -> None:
    item = {"id": "m", "title": f"password={SECRET}", "files_modified": ["a.py"]}
    for _ in range(3):
        shop.observe([item])
    shop.forget("m")
    shop.observe([item])
    assert redactions(shop) == {"password": 1}


def test_imports_pass_the_door(memory: Memory, tmp_path: Path, git_repository: Callable[..., Any]) -> None:
    repository = git_repository("shop")
    repository.touch(f"Log in with password={SECRET}\n\nAuthorization: Bearer {TOKEN}", "a.py")
    project = memory.register(repository.path)[0]
    assert project.import_git(str(repository.path)).accepted == 1
    lines = tmp_path / "work.jsonl"
    items = [
        {"id": "j", "title": "t", "facts": [f"口令是 {SECRET}"], "files_modified": ["b.py"]},
        {"ts": "2026-01-01T00:00:00Z", "title": TOKEN, "files": [{"path": "c.py", "status": "M"}]},
    ]
    lines.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    assert project.import_jsonl(str(lines)).accepted == 2
    assert redactions(project) == {"github-token": 2, "password": 2}
    assert project.import_git(str(repository.path)).accepted == 0
    assert redactions(project) == {"github-token": 2, "password": 2}


def test_a_key_in_a_commit_message_is_known_across_its_blank_line(
    memory: Memory, git_repository: Callable[..., Any]
) -> None:
    repository, body = git_repository("shop"), "\n".join(["Zm9v" * 16, "YmFy" * 16, "cXV1eA=="])
    key = f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 2\n\n{body}\n-----END PGP PRIVATE KEY BLOCK-----"
    repository.touch(f"Sign releases\n{key}\nas agreed", "a.py")
    project = memory.register(repository.path)[0]
    project.import_git(str(repository.path))
    assert project.wait_visible()
    (told,) = project.observations().items
    assert (told.title, told.narrative) == ("Sign releases", "[redacted:private-key]\nas agreed")
    assert redactions(project) == {"private-key": 1}


def test_what_stands_for_a_secret_is_no_concept(shop: Project, tell: Callable[..., Any]) -> None:
    titles = ("rotate billing", "rotate billing keys", "billing export")
    tell(shop, *({"id": title, "title": f"{title} {TOKEN}", "files_modified": ["a.py"]} for title in titles))
    names = shop.impact(["a.py"]).concepts
    assert "billing" in names
    assert not {name for name in names if "redacted" in name or "github" in name or "token" in name}


def test_the_note_of_a_verdict_is_cleaned(shop: Project, tell: Callable[..., Any]) -> None:
    items = [
        {"id": f"o{n}", "session": f"s{n}", "title": "t", "files_modified": ["a.py", "b.py"]}
        for n in range(6)
    ]
    tell(shop, *items)
    (edge,) = shop.graph.edges().items
    shop.graph.judge([Decision(edge.id, VerdictKind.CONFIRM, note=f"see postgres://app:{SECRET}@db/shop")])
    with shop._access.use() as files:
        notes = [verdict.note for verdict in files.journal.ledger.history([edge.id])[edge.id]]
    assert notes == ["see postgres://app:[redacted:password]@db/shop"]


# ---- logs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("argument", [f"password={SECRET}", f"https://x:{SECRET}@host/"])
def test_log_lines_hold_no_secret_nor_do_the_faults_they_tell_of(argument: str, tmp_path: Path) -> None:
    logger = logging.Logger("test")
    handler = logging.FileHandler(tmp_path / "log", encoding="utf-8")
    handler.setFormatter(DiscreetFormatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    try:
        raise ValueError(argument)
    except ValueError:
        logger.exception("could not read %s", argument)
    handler.close()
    written = (tmp_path / "log").read_text(encoding="utf-8")
    assert "ERROR could not read" in written
    assert "ValueError" in written
    assert SECRET not in written
