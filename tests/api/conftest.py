"""Owns what the tests of the command line share: the program run as a process, and histories to run it on."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.cli import run

PATIENCE = 120.0
STORY = Path(__file__).resolve().parents[2] / "fixtures" / "story" / "observations.jsonl"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run of the program did."""

    status: int
    out: str
    err: str

    @property
    def shape(self) -> Any:
        """The JSON on standard output."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Program:
    """`graphmem`, run as a process with a home of its own."""

    installation: Any
    home: Path

    def command(self, *arguments: str | bytes | Path) -> list[str | bytes | Path]:
        """Return the command line of a run."""
        return [self.installation.script, *arguments]

    def environment(self, **changes: str | None) -> dict[str, str]:
        """Return the environment of a run; None takes a variable out."""
        found = {**os.environ, "GRAPHMEM_HOME": str(self.home), **changes}
        found.setdefault("PYTHONPATH", None)
        return {name: value for name, value in found.items() if value}

    def __call__(
        self,
        *arguments: str | bytes | Path,
        cwd: Path | None = None,
        input: str | None = None,
        environment: Mapping[str, str | None] | None = None,
        prefix: Sequence[str] = (),
    ) -> Outcome:
        """Run and return what came of it; a fault of its own fails the test whatever was asked for."""
        done = subprocess.run(
            [*prefix, *self.command(*arguments)],
            cwd=cwd or self.home.parent,
            env=self.environment(**(environment or {})),
            input=input,
            capture_output=True,
            timeout=PATIENCE,
            encoding="utf-8",
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "fault of its own" not in done.stderr, done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    def good(self, *arguments: str | bytes | Path, cwd: Path | None = None) -> Outcome:
        """Run what must succeed."""
        outcome = self(*arguments, cwd=cwd)
        assert outcome.status == 0, outcome.err
        return outcome


@pytest.fixture
def graphmem(installation: Any, tmp_path: Path) -> Program:
    """The program with a new home; `graphmem("impact", "a.py", cwd=...)` runs it."""
    return Program(installation, tmp_path / "home")


@dataclass(frozen=True, slots=True)
class Imported:
    """A repository that was imported, to ask about from inside; nobody changes it or its home."""

    program: Program
    path: Path

    def __call__(self, *arguments: str | bytes | Path, cwd: Path | None = None, **more: Any) -> Outcome:
        """Run the program in the repository."""
        return self.program(*arguments, cwd=cwd or self.path, **more)

    def good(self, *arguments: str | bytes | Path, cwd: Path | None = None) -> Outcome:
        """Run in the repository what must succeed."""
        return self.program.good(*arguments, cwd=cwd or self.path)


def commit_stream(commits: Sequence[tuple[str, Sequence[str]]], start: int = 1_767_225_600) -> bytes:
    """Return what `git fast-import` makes into commits (title, files changed), each a session by itself."""
    stream = [b"feature done\n"]
    for number, (title, files) in enumerate(commits, 1):
        words = title.encode()
        stream.append(b"commit refs/heads/main\nmark :%d\n" % number)
        stream.append(b"committer Test <test@example.invalid> %d +0000\n" % (start + number * 4 * 3600))
        stream.append(b"data %d\n%s\n" % (len(words), words))
        stream += [b"from :%d\n" % (number - 1)] if number > 1 else []
        content = b"%d" % number
        stream += [b"M 100644 inline %s\ndata %d\n%s\n" % (f.encode(), len(content), content) for f in files]
    return b"".join([*stream, b"done\n"])


@pytest.fixture(scope="session")
def make_history() -> Callable[..., Path]:
    """A maker of real repositories from (title, files changed) in one go: `make_history(folder, commits)`."""

    def make(folder: Path, commits: Sequence[tuple[str, Sequence[str]]]) -> Path:
        folder.mkdir(parents=True)
        run = subprocess.run
        run(["git", "init", "--quiet", "--initial-branch=main"], cwd=folder, check=True)
        run(["git", "fast-import", "--quiet"], cwd=folder, input=commit_stream(commits), check=True)
        run(["git", "reset", "--quiet", "--hard", "main"], cwd=folder, check=True)
        return folder

    return make


@pytest.fixture(scope="session")
def shop(
    installation: Any,
    make_history: Callable[..., Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Imported:
    """An imported repository: token and token_test change together, 模块 once along with token, c alone."""
    folder = tmp_path_factory.mktemp("imported")
    commits = [
        (f"Change {number} of the token", ["src/token.py", "src/token_test.py"]) for number in range(20)
    ]
    commits += [("用户身份校验", ["src/模块.py", "src/token.py"]), ("Alone", ["src/c.py"])]
    path = make_history(folder / "shop", commits)
    program = Program(installation, folder / "home")
    program.good("import", "git", path)
    return Imported(program, path)


@pytest.fixture
def program_on(installation: Any) -> Callable[[Path], Program]:
    """The program on a home of the test's choice."""
    return lambda home: Program(installation, home)


PAIRS = {
    "pair": (1, 6, ["src/auth/token.ts", "src/checkout/session.ts"]),
    "cart": (11, 5, ["src/cart/page.ts", "src/cart/style.css"]),
    "login": (21, 4, ["src/auth/token.ts", "src/auth/login.ts"]),
    "mail": (26, 5, ["src/mail/send.ts", "src/mail/queue.ts", "src/mail/template.ts"]),
}


@pytest.fixture(scope="session")
def make_suggestions(service: Any) -> Callable[..., str]:
    """A maker of projects with suggested edges in the shared service, or in another: its path comes back.

    In May 2026 token and session changed together on the first six days, cart's page and style on five from
    the 11th on, token and login on four from the 21st on, three files of mail on five from the 26th on, each
    time in another session.
    """

    def make(folder: Path, running: Any = service) -> str:
        project = str(running.project(folder))
        batch: list[dict[str, Any]] = [
            {
                "id": f"{name}-{n}",
                "session": f"{name}-session-{n}",
                "actor": f"{name}-agent",
                "title": f"Change the {name}, part {n}",
                "concepts": [name],
                "files_modified": files,
                "at": f"2026-05-{first + n:02}T08:00:00Z",
            }
            for name, (first, times, files) in PAIRS.items()
            for n in range(times)
        ]
        answer = running.client.post(f"{project}/observations?wait=visible", json=batch)
        assert answer.json()["accepted"] == len(batch)
        assert running.client.post(f"{project}/infer").status_code == 200
        return project

    return make


@pytest.fixture(scope="session")
def story(installation: Any, tmp_path_factory: pytest.TempPathFactory) -> Imported:
    """The story of the web shop with its edges and modules, to ask about from inside; nobody changes it."""
    folder = tmp_path_factory.mktemp("story")
    shop = folder / "shop"
    shop.mkdir()
    program = Program(installation, folder / "home")
    program.good("import", "jsonl", STORY, cwd=shop)
    program.good("infer", cwd=shop)
    return Imported(program, shop)


@pytest.fixture
def own_story(story: Imported, tmp_path: Path) -> Imported:
    """The same in a home of the test's own, for verdicts."""
    home = shutil.copytree(story.program.home, tmp_path / "home")
    return Imported(Program(story.program.installation, home), story.path)


# ---- init, uninstall, and the doctor's look at the agents ----------------------------------------


@dataclass(frozen=True, slots=True)
class Desk:
    """A user's home folder, a repository to stand in, and the program."""

    user: Path
    shop: Path
    memory: Path
    capture: Any

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Run the program here and return its status and both outputs."""
        status = run(list(arguments))
        out, err = self.capture.readouterr()
        assert "fault of its own" not in err, err
        return status, out, err

    def good(self, *arguments: str) -> Any:
        """Run what must succeed, and return its JSON."""
        status, out, err = self(*arguments, "--json")
        assert status == 0, err
        return json.loads(out)

    def put(self, name: str, content: str | bytes) -> Path:
        """Write a file of the repository."""
        path = self.shop / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def tree(self, *roots: Path) -> dict[str, Any]:
        """Everything below these folders: bytes and mode of files, targets of links."""
        found: dict[str, Any] = {}
        for path in (path for root in roots for path in sorted(root.rglob("*"))):
            if ".git" not in path.parts and path.suffix not in {".db", ".db-wal", ".db-shm"}:
                content = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
                found[str(path)] = (path.lstat().st_mode, content)
        return found

    def everything(self) -> dict[str, Any]:
        """All that a user has, without GraphMem's own home."""
        return self.tree(self.user, self.shop)


@pytest.fixture
def desk(
    tmp_path: Path,
    git_repository: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Desk:
    repository = git_repository("shop")
    repository.touch("Begin", "a.py")
    user, memory = tmp_path / "user", tmp_path / "memory"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("GRAPHMEM_HOME", str(memory))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("git", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.chdir(repository.path)
    return Desk(user, repository.path, memory, capsys)
