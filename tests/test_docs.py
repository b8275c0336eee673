"""The documentation holds: every command runs, every link leads somewhere, what is shown comes out."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md")),
    ROOT / "fixtures" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
RUN_LANGUAGES = {"sh", "console", "python"}
SHOWN_LANGUAGES = {"", "json", "text", "toml", "http", "xml", "jsonl"}

# Words that stand for something of the reader's own, and what the test puts there.
PLACEHOLDERS = {
    "/path/to/repository": "{shop}",
    "/src/shop": "{shop}",
    "7832": "{port}",
    "8c1f0a2b3d4e5f60": "$(first-edge)",
}
# The id of one edge of the shop, the same each time: a reader takes it from `graphmem edges`.
FIRST_EDGE = """#!/usr/bin/env python
import json, pathlib, subprocess
kept = pathlib.Path.home() / "first-edge"
if not kept.exists():
    subprocess.run(["graphmem", "infer"], check=True, stdout=subprocess.DEVNULL)
    page = subprocess.run(["graphmem", "edges", "--json"], check=True, capture_output=True).stdout
    kept.write_text(json.loads(page)["items"][0]["id"])
print(kept.read_text())
"""
# What a document takes for granted before its first command.
TURN = '{"id": "turn-80", "session": "s-42", "title": "Read the code", "files_read": ["src/auth/token.ts"]}'
BEFORE = {
    "docs/http.md": f"""graphmem import git . && echo '{TURN}' >turns.jsonl &&
        graphmem import jsonl turns.jsonl && graphmem serve --detach""",
}
# Commands that a test can't or needn't run, each with what is checked in its place.
INSTEAD = {
    r"make (\S+)": "the target exists",
    r"(pipx|uv tool|python3? -m pip) install \.": "the packaging tests build the wheel",
    r"python3? -m venv .*": "every other test runs in one",
    r"graphmem open": "opens a browser",
    r"git clone .*": "the checkout is there already",
    r"graphmem evaluate jsonl histories/.*": "takes minutes; docs/cli.md evaluates a small file",
    r"python -m bench\..*": "takes minutes; the tests of the benchmarks run them on small histories",
    r"curl .*/open\?code=.*": "the code is good once and made up here",
}


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its text, and where it begins."""

    language: str
    text: str
    line: int


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(document: Path) -> list[Block]:
    text = document.read_text(encoding="utf-8")
    return [
        Block(match[1], match[2], text.count("\n", 0, match.start()) + 1) for match in FENCE.finditer(text)
    ]


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a shell block with the output shown beneath it."""
    if block.language == "console":
        command: str | None = None
        shown: list[str] = []
        for line in block.text.splitlines():
            if line.startswith("$ "):
                if command is not None:
                    yield command, shown
                command, shown = line[2:], []
            elif line.startswith("> ") and command is not None and not shown:
                command += "\n" + line[2:]
            elif line.strip():
                shown.append(line)
        if command is not None:
            yield command, shown
        return
    pending = ""
    for line in block.text.splitlines():
        if pending or (line.strip() and not line.lstrip().startswith("#")):
            pending += line + "\n"
            if not line.endswith("\\") and balanced(pending):
                yield pending.strip(), []
                pending = ""


def balanced(command: str) -> bool:
    """Return whether no quote is open; a JSON body may run over several lines."""
    return subprocess.run(["bash", "-n", "-c", command], capture_output=True).returncode == 0


def replaced(command: str) -> str | None:
    """Return why a command is not run, or None."""
    bare = re.sub(r"\s+#.*$", "", command.strip())
    return next((reason for pattern, reason in INSTEAD.items() if re.fullmatch(pattern, bare)), None)


@dataclass(frozen=True, slots=True)
class Ran:
    """One command, what the document shows beneath it, and what came of it."""

    where: str
    shown: list[str]
    status: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A home, a small repository of a shop, and a shell in it that knows `graphmem`."""

    home: Path
    shop: Path
    port: int
    path: str

    def filled(self, text: str) -> str:
        for placeholder, value in PLACEHOLDERS.items():
            text = text.replace(placeholder, value.format(shop=self.shop, port=self.port))
        return text

    def run(self, commands: list[tuple[str, str, list[str]]]) -> list[Ran]:
        """Run commands (where they stand, text, shown output) one after the other in one shell."""
        folder = self.home / "runs"
        folder.mkdir(exist_ok=True)
        script = ["set -o pipefail"]
        for number, (_, command, _) in enumerate(commands):
            script.append(f"{{ {self.filled(command)}\n}} >{folder}/{number}.out 2>{folder}/{number}.err")
            script.append(f"echo $? >{folder}/{number}.status")
        home = self.home / ".local" / "share" / "graphmem"
        changes = {"HOME": str(self.home), "PATH": self.path, "GRAPHMEM_HOME": str(home)}
        environment = {**os.environ, **changes, "GRAPHMEM_PORT": str(self.port)}
        subprocess.run(
            ["bash", "-c", "\n".join(script)],
            cwd=self.shop,
            env=environment,
            stdin=subprocess.DEVNULL,
            check=True,
            timeout=300,
        )
        return [
            Ran(where, shown, *(self.read(folder, number)))
            for number, (where, _, shown) in enumerate(commands)
        ]

    def read(self, folder: Path, number: int) -> tuple[int, str, str]:
        out, err = ((folder / f"{number}.{kind}").read_text(encoding="utf-8") for kind in ("out", "err"))
        return int((folder / f"{number}.status").read_text()), out, err


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def sandbox(tmp_path: Path, installation: Any, git_repository: Callable[..., Any]) -> Iterator[Sandbox]:
    repository = git_repository("shop")
    for number in range(6):
        # Two sittings of one author lie more than two hours apart.
        at = repository.now + 4 * 3600
        repository.touch(f"Token format {number}", "src/auth/token.ts", "src/checkout/session.ts", at=at)
        repository.touch(f"Page {number}: 修复购物车", "src/app.py", "tests/test_app.py")
    repository.touch("Refresh with retry", "src/auth/refresh.ts")
    home, tools = tmp_path / "user", tmp_path / "tools"
    home.mkdir()
    tools.mkdir()
    shutil.copy(Path(os.environ["GIT_CONFIG_GLOBAL"]), home / ".gitconfig")
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("platform: the documentation's HTTP examples need curl")
    # An example that is answered with an error must not pass for one that works.
    (tools / "curl").write_text(f'#!/bin/sh\nexec {curl} --fail-with-body "$@"\n', encoding="utf-8")
    (tools / "curl").chmod(0o755)
    (tools / "first-edge").write_text(FIRST_EDGE, encoding="utf-8")
    (tools / "first-edge").chmod(0o755)
    path = os.pathsep.join((str(tools), str(installation.script.parent), os.environ["PATH"]))
    box = Sandbox(home, repository.path, free_port(), path)
    yield box
    box.run([("the end", "graphmem stop || true", [])])


def to_run(document: Path) -> list[tuple[str, str, list[str]]]:
    """Return what a reader of the document would run, in order."""
    found = [("before the document", BEFORE[name_of(document)], [])] if name_of(document) in BEFORE else []
    python = ""
    for block in blocks(document):
        where = f"{name_of(document)}:{block.line}"
        if block.language == "python":
            python += block.text + "\n"
            found.append((where, f"python - <<'END'\n{python}\nEND", []))
        elif block.language in RUN_LANGUAGES:
            kept = ((command, shown) for command, shown in commands(block) if replaced(command) is None)
            found += [(f"{where} {command}", command, shown) for command, shown in kept]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_command_in_the_documentation_runs(document: Path, sandbox: Sandbox) -> None:
    ran = sandbox.run(to_run(document))
    failed = [f"{one.where}: status {one.status}\n{one.out}{one.err}" for one in ran if one.status]
    lost = [line for one in ran for line in missing(one.shown, one.out, one.where)]
    assert failed + lost == [], "\n".join(failed + lost)


def plain(line: str) -> str:
    """Return a line without what differs from run to run: seconds, dates of today, spacing."""
    return re.sub(r"\s+", " ", re.sub(r"\d+(\.\d+)? m?s\b", "N s", line)).strip()


def missing(shown: list[str], printed: str, where: str) -> list[str]:
    """Return the lines shown in a document that the command did not print; `...` stands for any."""
    lines = {plain(line) for line in printed.splitlines()}
    return [
        f"{where} no longer prints: {line}"
        for line in shown
        if plain(line) not in lines and plain(line) not in {"...", "…"}
    ]


def test_every_block_says_what_it_is() -> None:
    odd = [
        f"{name_of(document)}:{block.line} is {block.language}"
        for document in DOCUMENTS
        for block in blocks(document)
        if block.language not in RUN_LANGUAGES | SHOWN_LANGUAGES
    ]
    assert odd == []


def test_every_make_target_in_the_documentation_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        target
        for document in DOCUMENTS
        for block in blocks(document)
        for target in re.findall(r"^(?:\$ )?make ([a-z]+)", block.text, re.MULTILINE)
    }
    assert {"demo", "test"} <= named
    assert named <= targets


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    lost = []
    for target in LINK.findall(document.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, fragment = target.partition("#")
        place = (document.parent / path).resolve() if path else document
        if not place.exists():
            lost.append(target)
        elif fragment:
            text = place.read_text(encoding="utf-8")
            if fragment not in {anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}:
                lost.append(target)
    assert lost == []


def test_each_document_can_be_reached_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        document = waiting.pop()
        if document in reached or document.suffix != ".md":
            continue
        reached.add(document)
        targets = LINK.findall(document.read_text(encoding="utf-8"))
        waiting += [(document.parent / target.partition("#")[0]).resolve() for target in targets]
    assert set(DOCUMENTS) <= reached
