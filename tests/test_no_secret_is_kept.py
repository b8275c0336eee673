"""No way in keeps a secret: none is in a file under the home, whatever door it came by, nor in an answer."""

from __future__ import annotations

import json
import random
import re
import string
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SETS = ROOT / "tests" / "graphmem" / "secret_sets"
HOOK = ROOT / "graphmem" / "hook_program.py"
LETTERS = {
    "A": string.ascii_uppercase,
    "d": string.digits,
    "h": "0123456789abcdef",
    "w": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
}
IN_A_TEXT = 8
FIRST_LINE = "export AWS_ACCESS_KEY_ID="


def planted(door: str) -> tuple[list[str], set[str]]:
    """Return texts that hold secrets of all kinds, and the secrets, other ones for each door."""
    chance, secrets, texts = random.Random(door), set(), []

    def secret(match: re.Match[str]) -> str:
        made = "".join(
            "".join(chance.choices(LETTERS[noise[1]], k=int(noise[2])))
            if (noise := re.fullmatch(r"\*([Adhwb])(\d+)", piece))
            else piece
            for piece in match[1].split("|")
        )
        secrets.add(made)
        return made

    for name in ("planted_first.txt", "planted_second.txt"):
        lines = (SETS / name).read_text(encoding="utf-8").splitlines()
        chunks = ("\n".join(lines[at : at + IN_A_TEXT]) for at in range(0, len(lines), IN_A_TEXT))
        texts += [re.sub("⟦(.*?)⟧", secret, chunk).replace("⏎", "\n") for chunk in chunks]
    return texts, {each for each in secrets if len(each) >= 8}


def pieces(secrets: set[str]) -> Iterator[bytes]:
    """Secrets and what half of them would be."""
    for each in secrets:
        yield each.encode()
        if len(each) >= 24:
            yield each[: len(each) // 2].encode()
            yield each[len(each) // 2 :].encode()


def kept_in(folder: Path, secrets: set[str]) -> list[tuple[str, bytes]]:
    contents = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    assert contents
    return [
        (path.relative_to(folder).as_posix(), piece)
        for path, content in contents.items()
        for piece in pieces(secrets)
        if piece in content
    ]


def hook_events(session: str, folder: Path, texts: list[str]) -> Iterator[dict[str, Any]]:
    """What a client tells of a session in which secrets are in the prompt, in commands and in the answer."""
    common = {"session_id": session, "cwd": str(folder), "transcript_path": f"{folder}/t.jsonl"}
    yield common | {"hook_event_name": "SessionStart", "source": "startup"}
    for number, text in enumerate(texts):
        turn = common | {"prompt_id": f"{session}-{number}"}
        call = {
            "tool_name": "Bash",
            "tool_input": {"command": f"echo '{text}'\ncat a.py", "description": text},
        }
        edit = {
            "tool_name": "Edit",
            "tool_input": {"file_path": f"{folder}/a.py", "old_string": text, "new_string": text},
        }
        yield turn | {"hook_event_name": "UserPromptSubmit", "prompt": text}
        for kind, tool in (("run", call), ("edit", edit)):
            id = {"tool_use_id": f"{kind}-{session}-{number}"}
            yield turn | tool | id | {"hook_event_name": "PreToolUse"}
            yield turn | tool | id | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": text}}
        yield turn | {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": text}
    yield common | {"hook_event_name": "SessionEnd", "reason": "exit"}


def through_http(service: Any, project: str, folder: Path, texts: list[str]) -> None:
    items = [
        {
            "id": f"http-{number}",
            "session": f"s{number % 3}",
            "title": text.splitlines()[0],
            "intent": text,
            "narrative": text,
            "facts": [text, {"text": text, "kind": "decision"}],
            "concepts": [line for line in text.splitlines()[:1] if len(line) <= 200],
            "branch": text.splitlines()[0] if len(text.splitlines()[0]) <= 200 else None,
            "files_modified": ["a.py", "b.py"],
        }
        for number, text in enumerate(texts)
    ]
    answer = service.client.post(f"{project}/observations?wait=visible", json=items)
    assert answer.json()["accepted"] == len(texts)


def through_hooks(service: Any, project: str, folder: Path, texts: list[str]) -> None:
    for event in hook_events("live", folder, texts):
        assert service.client.post("/hooks/claude-code", json=event).status_code == 200


def through_git(service: Any, project: str, folder: Path, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        (folder / "a.py").write_text(f"{number}\n", encoding="utf-8")
        for command in (["add", "."], ["commit", "-q", "-F", "-"]):
            subprocess.run(["git", *command], cwd=folder, input=text.encode(), check=True)
    imported(service, project, {"source": "git", "location": str(folder)}, len(texts))


def through_jsonl(service: Any, project: str, folder: Path, texts: list[str]) -> None:
    lines = folder.parent / "lines.jsonl"
    rows = [
        {"ts": "2026-01-01T00:00:00Z", "title": text, "files": [{"path": "c.py", "status": "M"}]}
        for text in texts
    ]
    rows += [{"id": f"json-{n}", "title": "t", "narrative": text} for n, text in enumerate(texts)]
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    imported(service, project, {"source": "jsonl", "location": str(lines)}, len(rows))


def imported(service: Any, project: str, body: dict[str, str], count: int) -> None:
    answer = service.client.post(f"{project}/imports", json=body)
    assert json.loads(answer.text.splitlines()[-1])["report"]["accepted"] == count


def answers(service: Any, project: str) -> str:
    """Everything the memory says of the project."""
    client = service.client
    asked = [
        client.get(f"{project}/observations", params={"limit": 200}),
        client.get(f"{project}/sessions", params={"limit": 200}),
        client.get(f"{project}/stats"),
        client.get(f"{project}/overview", params={"budget_tokens": 4_000}),
        client.post(f"{project}/impact", json={"paths": ["a.py"]}),
        *(client.post(f"{project}/query", json={"text": text}) for text in ("password", "密码", "token key")),
    ]
    assert [answer.status_code for answer in asked] == [200] * len(asked)
    return "\n".join(answer.text for answer in asked)


@pytest.mark.parametrize("door", [through_http, through_hooks, through_git, through_jsonl])
def test_what_came_in_with_secrets_is_kept_without_them(
    door: Callable[..., None],
    start_service: Callable[..., Any],
    git_repository: Callable[..., Any],
    eventually: Callable[..., Any],
    tmp_path: Path,
) -> None:
    texts, secrets = planted(door.__name__)
    folder = git_repository("shop").path
    (folder / "a.py").write_text("1\n", encoding="utf-8")
    service = start_service()
    project = service.project(folder)
    door(service, project, folder, texts)
    said = eventually(lambda: text if FIRST_LINE in (text := answers(service, project)) else None)
    assert [piece for piece in pieces(secrets) if piece in said.encode()] == []
    assert "[redacted:" in said
    assert service.end() == 0
    assert kept_in(service.home, secrets) == []


def test_a_hook_that_finds_no_service_spools_no_secret_and_the_service_keeps_none(
    start_service: Callable[..., Any],
    git_repository: Callable[..., Any],
    eventually: Callable[..., Any],
    tmp_path: Path,
) -> None:
    texts, secrets = planted("spool")
    folder, home = git_repository("shop").path, tmp_path / "home"
    for event in list(hook_events("away", folder, texts[:3]))[1:]:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK), "claude-code", "--home", str(home)],
            input=json.dumps(event).encode(),
            capture_output=True,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    spooled = (home / "spool" / "events.jsonl").read_bytes()
    assert b"[redacted:aws-key-id]" in spooled
    assert kept_in(home, secrets) == []
    service = start_service(home)
    project = service.project(folder)
    assert (
        service.client.post("/hooks/claude-code", json=next(hook_events("on", folder, []))).status_code == 200
    )
    said = eventually(lambda: text if FIRST_LINE in (text := answers(service, project)) else None)
    assert [piece for piece in pieces(secrets) if piece in said.encode()] == []
    assert service.end() == 0
    assert kept_in(home, secrets) == []
