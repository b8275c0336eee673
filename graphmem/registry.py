"""Owns the table of projects: which repository or folder is which project, and under which roots it was seen.

It is not what a project remembers (its journal) nor how a file's path is read (`graphmem.identity`).
A project's identity is the real path of its git common dir, so that all worktrees of a repository are one;
for a folder outside git it is the folder's own real path.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from graphmem.database import Database, Durability
from graphmem.errors import ConflictError, HomeError, InvalidInputError, NotFoundError
from graphmem.home import Home
from graphmem.model import ProjectInfo
from graphmem.repository import Checkout, is_main, locate, worktrees

_MIGRATIONS = (
    """
    CREATE TABLE projects (
        id TEXT PRIMARY KEY,
        slug TEXT NOT NULL UNIQUE COLLATE NOCASE,
        identity TEXT NOT NULL UNIQUE,
        root TEXT NOT NULL,
        created_at REAL NOT NULL
    ) STRICT;
    CREATE TABLE roots (
        project_id TEXT NOT NULL REFERENCES projects (id),
        path TEXT NOT NULL,
        kind TEXT NOT NULL,
        seen_at REAL NOT NULL,
        PRIMARY KEY (project_id, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX roots_by_path ON roots (path);
    """,
)
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NOT_IN_SLUG = re.compile(r"[^a-z0-9._]+")
_SLUG_LENGTH = 40


class RootKind(StrEnum):
    """How a root came to be known; `LEARNED` ones were told from the paths of events."""

    MAIN = "main"
    WORKTREE = "worktree"
    CLONE = "clone"
    LEARNED = "learned"


class Registry:
    """The projects of one home, safe to share between threads.

    Args:
        home: a prepared home.
        clock: the present moment in epoch seconds.

    Raises:
        HomeError: the file can't be made.
        StorageError: `registry.db` is damaged or was written by a newer version.
    """

    def __init__(self, home: Home, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        _make_private(home.registry_file)
        self._database = Database(home.registry_file, _MIGRATIONS, Durability.FULL)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._database.close()

    # ---- registration --------------------------------------------------------------------------

    def register(self, root: str | os.PathLike[str], slug: str | None = None) -> tuple[ProjectInfo, bool]:
        """Return the project of `root` and whether it is new.

        Inside a git checkout the project is the whole repository, whatever subfolder was named. A checkout
        that spans the user's home folder or the whole disk (dotfiles, /etc under git) is a project only
        when it is named itself.

        Raises:
            InvalidInputError: `root` is relative, missing, a file, the file system's root or the home folder
                (outside git), or `slug` is not 1 to 64 of letters, digits, ".", "_", "-".
            ConflictError: `slug` belongs to another root. A known project keeps the slug it has.
        """
        folder = _folder(root)
        if slug is not None and not _SLUG.fullmatch(slug):
            raise InvalidInputError(
                f"The slug {slug!r} is not usable; take 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', "
                "beginning with a letter or digit.",
                "slug",
            )
        checkout = _own_checkout(folder)
        if checkout is None:
            _refuse_too_wide(folder)
        identity, top, name = _identity(folder, checkout)
        with self._database.write() as connection:
            known = connection.execute(
                "SELECT id, slug FROM projects WHERE identity = ?", (identity,)
            ).fetchone()
            if slug is not None:
                self._refuse_foreign_slug(connection, slug, known)
            project = known[0] if known else self._insert(connection, identity, top, name, slug)
            for path, kind in _first_roots(top, checkout):
                self._see(connection, project, path, kind)
        return self.project(project), known is None

    def _insert(
        self, connection: sqlite3.Connection, identity: str, top: str, name: str, slug: str | None
    ) -> str:
        digest = hashlib.sha256(identity.encode()).hexdigest()
        project = f"{digest[:12]}{secrets.token_hex(2)}"
        connection.execute(
            "INSERT INTO projects (id, slug, identity, root, created_at) VALUES (?, ?, ?, ?, ?)",
            (
                project,
                slug or _free_slug(connection, name, digest),
                identity,
                top,
                self._clock(),
            ),
        )
        return project

    @staticmethod
    def _refuse_foreign_slug(
        connection: sqlite3.Connection, slug: str, known: tuple[str, str] | None
    ) -> None:
        owner = connection.execute("SELECT id, root FROM projects WHERE slug = ?", (slug,)).fetchone()
        if owner is not None and (known is None or owner[0] != known[0]):
            raise ConflictError(f"The slug {slug} belongs to the project at {owner[1]}; choose another slug.")

    # ---- roots ---------------------------------------------------------------------------------

    def add_root(self, project: str, path: str, kind: RootKind | None = None) -> None:
        """Remember that the project with that id was seen under `path`; a known root keeps its kind.

        Without `kind` the disk tells: a worktree of the project, a checkout of another copy, or neither.

        Raises:
            NotFoundError: there is no such project.
            InvalidInputError: `path` holds bytes that are not UTF-8.
        """
        identity = self.identity(project)
        if not _is_storable(path):
            raise InvalidInputError(f"The root {path!a} is not valid UTF-8; it can't be kept.", "root")
        with self._database.write() as connection:
            self._see(connection, project, path, kind or _kind_of(path, identity))

    def roots(self, project: str) -> tuple[str, ...]:
        """Return every known root of the project with that id: the registered one, then in order of kind."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT path FROM roots WHERE project_id = ? ORDER BY "
                "CASE kind WHEN 'main' THEN 0 WHEN 'worktree' THEN 1 WHEN 'clone' THEN 2 ELSE 3 END, path",
                (project,),
            ).fetchall()
            first = connection.execute("SELECT root FROM projects WHERE id = ?", (project,)).fetchone()
        listed = [path for (path,) in rows]
        return tuple(dict.fromkeys([first[0], *listed] if first else listed))

    def _see(self, connection: sqlite3.Connection, project: str, path: str, kind: RootKind) -> None:
        connection.execute(
            "INSERT INTO roots (project_id, path, kind, seen_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (project_id, path) DO UPDATE SET seen_at = excluded.seen_at",
            (project, path, kind.value, self._clock()),
        )

    # ---- questions -----------------------------------------------------------------------------

    def projects(self) -> list[ProjectInfo]:
        """Return all projects, by slug."""
        with self._database.read() as connection:
            rows = connection.execute("SELECT id FROM projects ORDER BY slug, id").fetchall()
        return [self.project(project) for (project,) in rows]

    def project(self, project: str) -> ProjectInfo:
        """Return the project with that id.

        Raises:
            NotFoundError: there is none.
        """
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT id, slug, root, created_at FROM projects WHERE id = ?", (project,)
            ).fetchone()
        if row is None:
            raise NotFoundError(f"There is no project with the id {project}; see `graphmem projects`.")
        return ProjectInfo(id=row[0], slug=row[1], root=row[2], roots=self.roots(row[0]), created_at=row[3])

    def identity(self, project: str) -> str:
        """Return the real path that tells the project with that id from all others.

        Raises:
            NotFoundError: there is none.
        """
        with self._database.read() as connection:
            row = connection.execute("SELECT identity FROM projects WHERE id = ?", (project,)).fetchone()
        if row is None:
            raise NotFoundError(f"There is no project with the id {project}; see `graphmem projects`.")
        return str(row[0])

    def owner(self, identity: str) -> str | None:
        """Return the id of the project with that identity (a git common dir or a folder), if any."""
        with self._database.read() as connection:
            row = connection.execute("SELECT id FROM projects WHERE identity = ?", (identity,)).fetchone()
        return None if row is None else str(row[0])

    def by_reference(self, reference: str) -> ProjectInfo:
        """Return the project that `reference` names: its slug, or an absolute path inside it.

        A path belongs to the project of its checkout; a path outside git, or one that is gone, to the
        longest known root around it. A checkout nobody registered belongs to none, even inside a root.

        Raises:
            NotFoundError: there is none; the sentence names the nearest slugs.
        """
        if "\0" in reference or not _is_storable(reference):
            raise NotFoundError(f"There is no project {reference!a}; see `graphmem projects`.")
        with self._database.read() as connection:
            row = connection.execute("SELECT id FROM projects WHERE slug = ?", (reference,)).fetchone()
        if row is not None:
            return self.project(row[0])
        if os.path.isabs(reference):
            found = self._around(os.path.normpath(reference))
            if found is not None:
                return self.project(found)
            raise NotFoundError(
                f"No project holds {reference}; register its folder first, "
                f"as with `graphmem import git {reference}`."
            )
        slugs = [info.slug for info in self.projects()]
        near = difflib.get_close_matches(reference, slugs, n=3, cutoff=0.4) or slugs[:3]
        hint = f"did you mean {' or '.join(near)}?" if near else "none is registered yet."
        raise NotFoundError(f"There is no project {reference}: {hint}")

    def _around(self, path: str) -> str | None:
        checkout = _own_checkout(path)
        floor = None
        if checkout is not None:
            owner = self.owner(checkout.common_dir)
            if owner is not None:
                return owner
            floor = checkout.root or checkout.common_dir
        real_floor = None if floor is None else os.path.realpath(floor)
        for spelling, lowest in ((path, floor), (os.path.realpath(path), real_floor)):
            for folder in _upwards(spelling, lowest):
                owner = self._at_root(folder)
                if owner is not None:
                    return owner
        return None

    def _at_root(self, folder: str) -> str | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT project_id FROM roots JOIN projects ON id = project_id "
                "WHERE path = ? ORDER BY root = path DESC, kind = 'main' DESC, seen_at DESC, id LIMIT 1",
                (folder,),
            ).fetchone()
        return None if row is None else str(row[0])


def _folder(root: str | os.PathLike[str]) -> str:
    text = os.fspath(root)
    if not text or "\0" in text or not os.path.isabs(text):
        raise InvalidInputError(f"The root {text!r} is not an absolute path; give it in full.", "root")
    folder = os.path.normpath(text)
    folder = folder[1:] if folder.startswith("//") else folder
    if not _is_storable(folder):
        raise InvalidInputError(
            f"The root {folder!a} is not valid UTF-8; rename the folder and try again.", "root"
        )
    if not os.path.lexists(folder):
        raise InvalidInputError(f"The root {folder} does not exist; check its spelling.", "root")
    if not os.path.isdir(folder):
        raise InvalidInputError(f"The root {folder} is not a folder; name the folder that holds it.", "root")
    return folder


def _is_storable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:  # bytes that are not UTF-8: neither SQLite nor JSON can carry them
        return False
    return True


def _own_checkout(path: str) -> Checkout | None:
    """Return the checkout of `path`, unless it is one that only spans it by spanning everything."""
    checkout = locate(path)
    if checkout is None or checkout.root is None or not _too_wide(checkout.root):
        return checkout
    return checkout if os.path.realpath(path) == os.path.realpath(checkout.root) else None


def _identity(folder: str, checkout: Checkout | None) -> tuple[str, str, str]:
    """Return (identity, top folder, name) of the project that `folder` lies in.

    A linked worktree stands for its repository: the project is named after the main worktree, or after the
    bare repository, whose folder may be hidden (`shop/.bare`).
    """
    if checkout is None:
        return os.path.realpath(folder), folder, os.path.basename(folder)
    common = checkout.common_dir
    top = checkout.root
    if top is None or not is_main(top, common):
        top = next((path for path in worktrees(common) if is_main(path, common)), None)
    if top is not None:
        return common, top, os.path.basename(top)
    hidden = os.path.basename(common).startswith(".")
    name = os.path.basename(os.path.dirname(common)) if hidden else os.path.basename(common)
    return common, checkout.root or common, name.removesuffix(".git")


def _kind_of(path: str, identity: str) -> RootKind:
    checkout = locate(path)
    if checkout is None or checkout.root != path:
        return RootKind.LEARNED
    return RootKind.WORKTREE if checkout.common_dir == identity else RootKind.CLONE


def _first_roots(top: str, checkout: Checkout | None) -> list[tuple[str, RootKind]]:
    roots = [(top, RootKind.MAIN), (os.path.realpath(top), RootKind.MAIN)]
    if checkout is not None:
        known = worktrees(checkout.common_dir)
        roots += [(path, RootKind.WORKTREE) for path in (*known, checkout.root) if path is not None]
    seen: dict[str, RootKind] = {}
    for path, kind in roots:
        if _is_storable(path):
            seen.setdefault(path, kind)
    return list(seen.items())


def _too_wide(folder: str) -> bool:
    real = os.path.realpath(folder)
    return real == os.path.dirname(real) or real == os.path.realpath(Path.home())


def _refuse_too_wide(folder: str) -> None:
    if _too_wide(folder):
        raise InvalidInputError(
            f"The root {folder} holds everything, not one project; name the project's own folder.", "root"
        )


def _upwards(path: str, floor: str | None) -> list[str]:
    """Return `path` and its ancestors, the nearest first, down to the checkout's root `floor`."""
    folders = [path]
    while path != floor and (parent := os.path.dirname(path)) != path:
        path = parent
        folders.append(path)
    return folders


def _free_slug(connection: sqlite3.Connection, name: str, digest: str) -> str:
    """Return a slug from the name; a hash of the identity follows where the name is lost or taken."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    slug = _NOT_IN_SLUG.sub("-", plain).strip("-._")[:_SLUG_LENGTH].rstrip("-._")
    lossless = bool(slug) and name.isascii() and len(plain) <= _SLUG_LENGTH
    if lossless and not _taken(connection, slug):
        return slug
    for length in range(6, len(digest)):
        candidate = f"{slug or 'project'}-{digest[:length]}"
        if not _taken(connection, candidate):
            return candidate
    return f"{slug or 'project'}-{secrets.token_hex(8)}"


def _taken(connection: sqlite3.Connection, slug: str) -> bool:
    return connection.execute("SELECT 1 FROM projects WHERE slug = ?", (slug,)).fetchone() is not None


def _make_private(file: Path) -> None:
    """Create the file readable by its owner only; SQLite gives its companions the same mode."""
    try:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as fault:
        raise HomeError(
            f"The file {file} can't be made ({os.strerror(fault.errno or 0)}); check the home's permissions."
        ) from fault
