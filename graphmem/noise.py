"""Owns the rules that say by its path alone which file is noise: lock files, vendored code, generated code.

It is not the damping itself: recall lowers lock files and generated files, and importers leave out only
what nobody in the project writes (`left_out`). Paths are relative to the project root, `/`-separated.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphmem.model import Noise


@dataclass(frozen=True, slots=True)
class NoiseRule:
    """One rule: the label people see ("node_modules/"), the kind, whether imports leave such files out."""

    label: str
    kind: Noise
    left_out: bool


_LOCK = NoiseRule("lock files", Noise.LOCK, left_out=False)

_LOCK_NAMES = frozenset(
    {
        # JavaScript
        *("package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "bun.lockb", "shrinkwrap.yaml"),
        # Python, Go
        *("pylock.toml", "conda-lock.yml", "go.sum", "go.work.sum"),
        # Ruby, Perl, Julia
        *("gems.locked", "cpanfile.snapshot", "Manifest.toml"),
        # Haskell, D, Swift
        *("cabal.project.freeze", "dub.selections.json", "Package.resolved", "Cartfile.resolved"),
        # JVM, .NET, infrastructure
        *("gradle.lockfile", "packages.lock.json", ".terraform.lock.hcl"),
    }
)
# Cargo.lock, yarn.lock, poetry.lock, uv.lock, Gemfile.lock, composer.lock, mix.lock and their like.
_LOCK_ENDINGS = (".lock", ".gradle.lockfile", "-gradle.lockfile", ".opam.locked")

_VENDORED_FOLDERS = frozenset(
    {
        *("node_modules", "bower_components", "jspm_packages", "web_modules", ".pnpm-store"),
        *("vendor", "Vendor", "vendored", "_vendor", "_vendored"),
        *("third_party", "third-party", "thirdparty", "ThirdParty", "3rdparty", "3rd_party", "3rd-party"),
        *("Godeps", "Pods", "Carthage", "elm-stuff", ".bundle"),
        *("site-packages", ".venv", "virtualenv", ".tox", ".nox", ".eggs"),
    }
)
_VENDORED_PAIRS = frozenset(
    {(".yarn", name) for name in ("releases", "plugins", "cache", "sdks", "unplugged", "versions")}
)
# Beneath these somebody wrote the "vendored" files by hand, as input of a test.
_FIXTURE_FOLDERS = frozenset(
    {"tests", "test", "__tests__", "spec", "fixtures", "fixture", "__fixtures__", "testdata", "test-data"}
)
_MADE_FOLDERS = frozenset({"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".next", ".nuxt"})

# The first ending that fits names the rule, so the longer ones stand first.
_MADE_ENDINGS = (
    *(".js.map", ".mjs.map", ".cjs.map", ".css.map"),
    *(".min.js", ".min.mjs", ".min.cjs", "-min.js", ".min.css", "-min.css", ".min.html"),
    *(".bundle.js", ".bundle.mjs", ".bundle.css", ".chunk.js", ".chunk.css"),
    *(".pyc", ".pyo", ".class", ".o", ".so", ".dylib", ".dll"),
)
_MADE_NAMES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".pnp.cjs", ".pnp.loader.mjs", ".pnp.js"})

_GENERATED_FOLDERS = frozenset({"dist", "__generated__", "generated"})
_GENERATED_ENDINGS = (
    *("_pb2.py", "_pb2.pyi", "_pb2_grpc.py", "_pb2_grpc.pyi", ".pb.go", ".pb.gw.go", ".pb.cc", ".pb.h"),
    *(".pb.swift", ".pbobjc.h", ".pbobjc.m", "_pb.js", "_pb.d.ts", "_pb.ts", "_pb.rb"),
    *(".g.dart", ".freezed.dart", ".gr.dart", ".mocks.dart", ".g.cs", ".g.i.cs", ".Designer.cs"),
    *(".gen.go", ".gen.ts", ".gen.js", ".gen.rs", ".tsbuildinfo"),
)
_GENERATED_NAME = re.compile(r"(?:[._](?:generated|autogen)\.[^.]+|^zz_generated\..*|^bindata\.go)$")


@lru_cache(maxsize=1 << 15)
def _folder_rule(folder: str) -> NoiseRule | None:
    """Return the rule for everything beneath `folder`; the outermost telling segment decides."""
    generated: NoiseRule | None = None
    fixture = False
    before = ""
    for segment in folder.split("/"):
        if segment in _VENDORED_FOLDERS and not fixture:
            return NoiseRule(f"{segment}/", Noise.VENDORED, left_out=True)
        if (before, segment) in _VENDORED_PAIRS:
            return NoiseRule(f"{before}/{segment}/", Noise.VENDORED, left_out=True)
        if segment in _MADE_FOLDERS:
            return NoiseRule(f"{segment}/", Noise.GENERATED, left_out=True)
        if segment in _GENERATED_FOLDERS and generated is None:
            generated = NoiseRule(f"{segment}/", Noise.GENERATED, left_out=False)
        fixture = fixture or segment in _FIXTURE_FOLDERS
        before = segment
    return generated


@lru_cache(maxsize=1 << 15)
def _name_rule(name: str) -> NoiseRule | None:
    if name in _MADE_NAMES:
        return NoiseRule(name, Noise.GENERATED, left_out=True)
    if name.endswith(_MADE_ENDINGS):
        ending = next(ending for ending in _MADE_ENDINGS if name.endswith(ending))
        return NoiseRule(f"*{ending}", Noise.GENERATED, left_out=True)
    if name in _LOCK_NAMES or name.endswith(_LOCK_ENDINGS):
        return _LOCK
    if name.endswith(_GENERATED_ENDINGS) or _GENERATED_NAME.search(name):
        return NoiseRule("generated files", Noise.GENERATED, left_out=False)
    return None


def rule_of(path: str) -> NoiseRule | None:
    """Return the strongest rule for `path`: one that leaves it out, else a lock file, else generated."""
    folder, _, name = path.rpartition("/")
    by_folder = _folder_rule(folder) if folder else None
    if by_folder is not None and by_folder.left_out:
        return by_folder
    return _name_rule(name) or by_folder


def noise_of(path: str) -> Noise | None:
    """Return why the file at `path` is damped, or None for a file that somebody writes by hand."""
    rule = rule_of(path)
    return None if rule is None else rule.kind


@lru_cache(maxsize=1 << 16)
def left_out_rule(path: str, include: tuple[str, ...] = ()) -> NoiseRule | None:
    """Return the rule by which an import leaves `path` out; `include` are patterns that overrule it."""
    rule = rule_of(path)
    if rule is None or not rule.left_out:
        return None
    return None if include and included(path, include) else rule


def left_out(path: str, include: Sequence[str] = ()) -> Noise | None:
    """Return the kind of noise for which an import leaves `path` out, or None when it is taken.

    `include` are patterns in the manner of gitignore: `*` and `?` stay within a segment, `**` crosses
    segments, `[...]` is a class. A pattern without a slash fits a file or folder of that name anywhere; one
    with a slash starts at the root; a folder that fits brings everything beneath it.
    """
    rule = left_out_rule(path, tuple(include))
    return None if rule is None else rule.kind


def included(path: str, patterns: tuple[str, ...]) -> bool:
    """Return whether `path`, or a folder it lies in, fits one of the patterns (see `left_out`)."""
    expression = _compiled(patterns)
    return expression is not None and expression.match(path) is not None


@lru_cache(maxsize=64)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str] | None:
    branches = [branch for branch in map(_branch, patterns) if branch]
    return re.compile(f"(?:{'|'.join(branches)})(?:/.*)?\\Z", re.DOTALL) if branches else None


def _branch(pattern: str) -> str:
    """Translate one pattern; the empty text stands for a pattern that says nothing."""
    cleaned = pattern.strip().replace("\\", "/").removeprefix("./")
    body = cleaned.strip("/")
    if not body:
        return ""
    anchored = cleaned.startswith("/") or "/" in body
    return ("" if anchored else "(?:.*/)?") + _translated(body)


def _translated(body: str) -> str:
    parts: list[str] = []
    place = 0
    while place < len(body):
        rest = body[place:]
        klass = re.match(r"\[([!^]?)(\]?[^\]/]*)\]", rest)
        if rest.startswith("**/"):
            parts.append("(?:.*/)?")
            place += 3
        elif rest.startswith("**"):
            parts.append(".*")
            place += 2
        elif rest[0] in "*?":
            parts.append("[^/]*" if rest[0] == "*" else "[^/]")
            place += 1
        elif klass and klass.group(2):
            # Only a range may keep its dash; everything else in a class stands for itself.
            inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", klass.group(2))
            parts.append(f"[{'^/' if klass.group(1) else ''}{inner}]")
            place += klass.end()
        else:
            parts.append(re.escape(rest[0]))
            place += 1
    return "".join(parts)
