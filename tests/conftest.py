"""Owns what all tests share: a world of their own (home, git settings), public data, git builder, service.

It is not a place for stand-ins of our own parts: tests run the real ones.
"""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
import sysconfig
import threading
import time
import venv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("patient"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "patient")

Answer = TypeVar("Answer")
ROOT = Path(__file__).resolve().parents[1]
DATA_VARIABLE = "GRAPHMEM_DATA"
PLATFORM = "platform: "
"""A skip whose reason begins so is about the machine (its user, system or file system), not about data."""


# ---- the world the tests live in ---------------------------------------------------------------


@pytest.fixture(scope="session", autouse=True)
def own_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home folder and git settings nobody else has; nothing of the caller's settings reaches a test."""
    home = tmp_path_factory.mktemp("home")
    gitconfig = home / ".gitconfig"
    gitconfig.write_text(
        "[user]\n\tname = Test Author\n\temail = author@example.invalid\n"
        "[init]\n\tdefaultBranch = main\n"
        "[commit]\n\tgpgSign = false\n"
        "[gc]\n\tauto = 0\n"
        '[protocol "file"]\n\tallow = always\n'
        "[advice]\n\tdetachedHead = false\n",
        encoding="utf-8",
    )
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(("GIT_", "XDG_", "GRAPHMEM_")) and name != DATA_VARIABLE:
                patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("GIT_CONFIG_GLOBAL", str(gitconfig))
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        patch.setenv("GIT_TERMINAL_PROMPT", "0")
        patch.setenv("GIT_EDITOR", "true")
        patch.setenv("NO_COLOR", "1")
        for name in ("FORCE_COLOR", "COLUMNS", "LINES", "PYTHONSAFEPATH"):
            patch.delenv(name, raising=False)
        yield home


# ---- public data -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The folder named by GRAPHMEM_DATA; a file that should be in it and isn't fails the test."""

    path: Path

    def file(self, name: str) -> Path:
        """Return the file `name` ("histories/flask.jsonl.gz"), which must exist."""
        found = self.path / name
        if not found.is_file():
            pytest.fail(f"{DATA_VARIABLE} is set, but {name} is not in {self.path}.")
        return found


@pytest.fixture(scope="session")
def data_folder() -> DataFolder:
    """The public data; without GRAPHMEM_DATA the test is skipped, with it everything must be there."""
    named = os.environ.get(DATA_VARIABLE)
    if not named:
        pytest.skip(f"needs the public data: set {DATA_VARIABLE} to its folder")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"{DATA_VARIABLE} names {named}, which is no folder.")
    return DataFolder(folder)


def _must_not_skip(reason: str) -> bool:
    return bool(os.environ.get(DATA_VARIABLE)) and PLATFORM not in reason


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    return str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """With the public data at hand nothing is left out: a skip for data or a library is a failure."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and _must_not_skip(_reason(report)):
        report.outcome = "failed"
        report.longrepr = f"{DATA_VARIABLE} is set, so this must run, but was skipped: {_reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """The same for a whole module that skips itself, as `importorskip` does."""
    report = yield
    if report.skipped and _must_not_skip(_reason(report)):
        report.outcome = "failed"
        report.longrepr = f"{DATA_VARIABLE} is set, so this must run, but was skipped: {_reason(report)}"
    return report


# ---- git ---------------------------------------------------------------------------------------


@dataclass(slots=True)
class GitRepository:
    """A real repository under a test's folder; commits come at steps of an hour, so the result is fixed."""

    path: Path
    now: int = 1_767_225_600  # 2026-01-01T00:00:00Z
    environment: dict[str, str] = field(default_factory=dict)

    def git(self, *arguments: str, input: bytes | None = None, **environment: str) -> str:
        """Run git here and return what it printed; a failure fails the test with git's own words."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            input=input,
            capture_output=True,
            env={**os.environ, **self.environment, **environment},
        )
        if done.returncode:
            pytest.fail(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="surrogateescape").strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files by relative path; None removes one."""
        for name, content in files.items():
            target = self.path / name
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(
        self,
        title: str,
        files: Mapping[str, str | bytes | None] | None = None,
        *,
        author: str = "Test Author",
        at: int | None = None,
        author_at: int | None = None,
    ) -> str:
        """Write `files`, commit everything and return the hash; an hour passes unless `at` is given."""
        self.write(files or {})
        self.now = self.now + 3600 if at is None else at
        self.git("add", "--all")
        self.git(
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            title,
            GIT_AUTHOR_NAME=author,
            GIT_AUTHOR_DATE=f"{self.now if author_at is None else author_at} +0000",
            GIT_COMMITTER_DATE=f"{self.now} +0000",
        )
        return self.git("rev-parse", "HEAD")

    def touch(self, title: str, *names: str, author: str = "Test Author", at: int | None = None) -> str:
        """Commit a change of each named file (a new line at its end), creating it where it is missing."""
        content: dict[str, str | bytes | None] = {}
        for name in names:
            target = self.path / name
            before = target.read_text(encoding="utf-8") if target.exists() else ""
            content[name] = f"{before}{title} {self.now}\n"
        return self.commit(title, content, author=author, at=at)


@pytest.fixture
def git_repository(tmp_path: Path) -> Callable[..., GitRepository]:
    """A builder of git repositories: `git_repository("shop")` makes one in the test's own folder."""

    def build(name: str = "repository", *arguments: str) -> GitRepository:
        path = tmp_path / name
        path.mkdir(parents=True)
        repository = GitRepository(path)
        repository.git("init", "--quiet", *arguments)
        return repository

    return build


# ---- the service -------------------------------------------------------------------------------


def wait_until(condition: Callable[[], Answer], seconds: float = 20.0) -> Answer:
    """Return the first true answer of `condition`; fail the test when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds:.0f} s in vain")
        threading.Event().wait(0.02)


@pytest.fixture(scope="session")
def eventually() -> Callable[..., Any]:
    """`eventually(condition)`: wait for something to become true, with a deadline."""
    return wait_until


@dataclass(slots=True)
class RunningService:
    """A real service in a process of its own on a home of its own; `client` carries the token."""

    home: Path
    port: int
    token: str
    process: subprocess.Popen[bytes]
    client: httpx.Client

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stranger(self) -> httpx.Client:
        """Return a client without the token; the caller closes it."""
        return httpx.Client(base_url=self.url, timeout=30, trust_env=False)

    def project(self, root: Path, slug: str | None = None) -> str:
        """Register `root` (made if it is missing) and return the project's path below the service."""
        root.mkdir(parents=True, exist_ok=True)
        answer = self.client.post("/v1/projects", json={"root": str(root), "slug": slug})
        assert answer.status_code in {200, 201}, answer.text
        return f"/v1/projects/{answer.json()['slug']}"

    def end(self) -> int:
        """End the service as `graphmem stop` does and return its exit status."""
        self.client.close()
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(30)


def launch_service(home: Path, port: int = 0) -> RunningService:
    """Start a service and return it once it has said where it listens."""
    root = Path(__file__).parent.parent
    environment = dict(os.environ, GRAPHMEM_HOME=str(home), GRAPHMEM_PORT=str(port), PYTHONPATH=str(root))
    home.mkdir(parents=True, exist_ok=True)
    with (home / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "api.service"],
            env=environment,
            stdout=output,
            stderr=output,
            cwd=home,
        )

    def listening() -> dict[str, Any] | None:
        if process.poll() is not None:
            pytest.fail(f"the service ended at once: {(home / 'output.txt').read_text()}")
        try:
            record: dict[str, Any] = json.loads((home / "service.json").read_text())
        except (OSError, ValueError):
            return None
        return record if record["pid"] == process.pid else None

    record = wait_until(listening, 60)
    token = (home / "token").read_text().strip()
    client = httpx.Client(
        base_url=f"http://127.0.0.1:{record['port']}",
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
        trust_env=False,
    )
    return RunningService(home, record["port"], token, process, client)


@pytest.fixture
def start_service(tmp_path: Path) -> Iterator[Callable[..., RunningService]]:
    """A starter of services of the test's own: `start_service(home, port=0)`; all are ended after it."""
    started: list[RunningService] = []

    def start(home: Path | None = None, port: int = 0) -> RunningService:
        started.append(launch_service(home or tmp_path / "home", port))
        return started[-1]

    yield start
    for service in started:
        service.end()


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """One real service for all tests of this worker; each test takes a project of its own."""
    running = launch_service(tmp_path_factory.mktemp("service"))
    yield running
    assert running.end() == 0


# ---- GraphMem as a user has it -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Installation:
    """A virtual environment that holds GraphMem: its interpreter and the console script."""

    python: Path
    script: Path


@pytest.fixture(scope="session")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """A virtual environment with GraphMem from this tree, made as an editable install makes it."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    outer = [
        entry for entry in (*site.getsitepackages(), sysconfig.get_path("purelib")) if Path(entry).is_dir()
    ]
    lines = [str(ROOT), *(f"import site; site.addsitedir({entry!r})" for entry in dict.fromkeys(outer))]
    Path(paths["purelib"], "graphmem_from_tree.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    python, script = (Path(paths["scripts"], name) for name in ("python", "graphmem"))
    start = "import sys\nfrom graphmem_start import main\nsys.exit(main())\n"
    script.write_text(f"#!{python}\n{start}", encoding="utf-8")
    script.chmod(0o755)
    return Installation(python, script)
