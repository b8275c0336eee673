"""Owns the table of projects: which repository or folder is which project, and under which roots it was seen.

It is not what a project remembers (its journal), nor how a folder is recognised (`graphmem.whereabouts`),
nor how a file's path is read (`graphmem.identity`).
"""

from __future__ import annotations

import difflib
import hashlib
import itertools
import os
import re
import secrets
import sqlite3
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graphmem.database import Database, Durability
from graphmem.errors import ConflictError, HomeError, InvalidInputError, NotFoundError
from graphmem.home import Home
from graphmem.model import ProjectInfo
from graphmem.whereabouts import RootKind, Whereabouts, is_text, kind_of, own_checkout, whereabouts

__all__ = ["Registry", "RootKind"]

_MIGRATIONS = (
    """
    CREATE TABLE projects (
        id TEXT PRIMARY KEY,
        slug TEXT NOT NULL UNIQUE COLLATE NOCASE,
        identity TEXT NOT NULL UNIQUE,
        mark TEXT,
        root TEXT NOT NULL,
        created_at REAL NOT NULL
    ) STRICT;
    CREATE INDEX projects_by_mark ON projects (mark);
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
        self._numbers = itertools.count(1)
        self._revisions: dict[str, int] = {}
        _make_private(home.registry_file)
        self._database = Database(home.registry_file, _MIGRATIONS, Durability.FULL)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._database.close()

    # ---- registration --------------------------------------------------------------------------

    def register(self, root: str | os.PathLike[str], slug: str | None = None) -> tuple[ProjectInfo, bool]:
        """Return the project of `root` and whether it is new; `graphmem.whereabouts` says what that is.

        A known project keeps the slug it has. It is known by its identity: also after the repository was
        moved on its disk, and when a folder comes under git or leaves it.

        Raises:
            InvalidInputError: `root` can't be a project, or `slug` is not 1 to 64 of A-Z, a-z, 0-9, ".",
                "_", "-", beginning with a letter or digit.
            ConflictError: `slug` belongs to another root.
        """
        place = whereabouts(root)
        if slug is not None and not _SLUG.fullmatch(slug):
            raise InvalidInputError(
                f"The slug {slug!r} is not usable; take 1 to 64 of A-Z, a-z, 0-9, '.', '_' and '-', "
                "beginning with a letter or digit.",
                "slug",
            )
        with self._database.write() as connection:
            known = _recognise(connection, place)
            if slug is not None:
                _refuse_foreign_slug(connection, slug, known)
            project = known or self._insert(connection, place, slug)
            self._see_all(connection, project, place)
        self._note_change(project)
        return self.project(project), known is None

    def _insert(self, connection: sqlite3.Connection, place: Whereabouts, slug: str | None) -> str:
        digest = hashlib.sha256(place.identity.encode()).hexdigest()
        project = f"{digest[:12]}{secrets.token_hex(2)}"
        connection.execute(
            "INSERT INTO projects (id, slug, identity, mark, root, created_at) VALUES (?, ?, ?, ?, ?, ?)",
            (
                project,
                slug or _free_slug(connection, place.name, digest),
                place.identity,
                place.mark,
                place.root,
                self._clock(),
            ),
        )
        return project

    # ---- roots ---------------------------------------------------------------------------------

    def add_root(self, project: str, path: str, kind: RootKind | None = None) -> None:
        """Remember that the project with that id was seen under `path`; a known root keeps its kind.

        Without `kind` the disk tells: a worktree of the project, a checkout of another copy, or neither.

        Raises:
            NotFoundError: there is no such project.
            InvalidInputError: `path` holds bytes that are not UTF-8.
        """
        identity = self.identity(project)
        if not is_text(path):
            raise InvalidInputError(f"The root {path!a} is not valid UTF-8; it can't be kept.", "root")
        with self._database.write() as connection:
            self._see(connection, project, path, kind or kind_of(path, identity))
        self._note_change(project)

    def revision(self, project: str) -> int:
        """Return a number that has changed when identity or roots of the project with that id may have."""
        return self._revisions.get(project, 0)

    def _note_change(self, project: str) -> None:
        """Give the project a new revision; after the commit, or a reader would keep what was before it."""
        self._revisions[project] = next(self._numbers)

    def roots(self, project: str) -> tuple[str, ...]:
        """Return every known root of the project with that id: the registered one, then in order of kind."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT path FROM roots JOIN projects ON id = project_id WHERE project_id = ? "
                "ORDER BY path = root DESC, CASE kind WHEN 'main' THEN 0 WHEN 'worktree' THEN 1 "
                "WHEN 'clone' THEN 2 ELSE 3 END, path",
                (project,),
            ).fetchall()
        return tuple(path for (path,) in rows)

    def _see_all(self, connection: sqlite3.Connection, project: str, place: Whereabouts) -> None:
        for path, kind in place.roots:
            self._see(connection, project, path, kind)

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
        row = self._row(project)
        return ProjectInfo(project, row["slug"], row["root"], self.roots(project), row["created_at"])

    def identity(self, project: str) -> str:
        """Return the real path that tells the project with that id from all others.

        That of its git common dir, so that all worktrees of a repository are one, or of its folder.

        Raises:
            NotFoundError: there is none.
        """
        return str(self._row(project)["identity"])

    def owner(self, identity: str) -> str | None:
        """Return the id of the project with that identity (a git common dir or a folder), if any."""
        with self._database.read() as connection:
            row = connection.execute("SELECT id FROM projects WHERE identity = ?", (identity,)).fetchone()
        return None if row is None else str(row[0])

    def by_reference(self, reference: str) -> ProjectInfo:
        """Return the project that `reference` names: its slug, its folder's name, or an absolute path inside.

        A path belongs to the project of its checkout; a path outside git, or one that is gone, to the
        longest known root around it. A checkout nobody registered belongs to none, even inside a root.

        Raises:
            NotFoundError: there is none; the sentence names the nearest slugs.
        """
        if "\0" in reference or not is_text(reference):
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
        everyone = self.projects()
        named = [info for info in everyone if os.path.basename(info.root) == reference]
        if len(named) == 1:
            return named[0]
        slugs = [info.slug for info in named or everyone]
        near = (
            slugs[:3] if named else difflib.get_close_matches(reference, slugs, n=3, cutoff=0.4) or slugs[:3]
        )
        hint = f"did you mean {' or '.join(near)}?" if near else "none is registered yet."
        raise NotFoundError(f"There is no project {reference!r}: {hint}")

    def _row(self, project: str) -> dict[str, Any]:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT slug, identity, root, created_at FROM projects WHERE id = ?", (project,)
            ).fetchone()
        if row is None:
            raise NotFoundError(f"There is no project with the id {project}; see `graphmem projects`.")
        return dict(zip(("slug", "identity", "root", "created_at"), row, strict=True))

    def _around(self, path: str) -> str | None:
        checkout = own_checkout(path)
        floor = None
        if checkout is not None:
            floor = checkout.root or checkout.common_dir
            owner = self.owner(checkout.common_dir) or self._recognised(floor)
            if owner is not None:
                return owner
        real_floor = None if floor is None else os.path.realpath(floor)
        for spelling, lowest in ((path, floor), (os.path.realpath(path), real_floor)):
            for folder in _upwards(spelling, lowest):
                owner = self._at_root(folder)
                if owner is not None:
                    return owner
        return None

    def _recognised(self, folder: str) -> str | None:
        """Return the project of a checkout whose identity has changed since it was registered."""
        try:
            place = whereabouts(folder)
        except InvalidInputError:
            return None
        with self._database.write() as connection:
            project = _recognise(connection, place)
            if project is not None:
                self._see_all(connection, project, place)
        if project is not None:
            self._note_change(project)
        return project

    def _at_root(self, folder: str) -> str | None:
        with self._database.read() as connection:
            row = connection.execute(
                "SELECT project_id FROM roots JOIN projects ON id = project_id "
                "WHERE path = ? ORDER BY root = path DESC, kind = 'main' DESC, seen_at DESC, id LIMIT 1",
                (folder,),
            ).fetchone()
        return None if row is None else str(row[0])


def _recognise(connection: sqlite3.Connection, place: Whereabouts) -> str | None:
    """Return the project that `place` is, and bring its identity up to date where that has changed."""
    row = connection.execute("SELECT id FROM projects WHERE identity = ?", (place.identity,)).fetchone()
    if row is not None:
        return str(row[0])
    candidates = connection.execute(
        "SELECT id, identity FROM projects WHERE identity = ? OR mark = ? ORDER BY created_at, id",
        (place.former, place.mark),
    ).fetchall()
    for project, identity in candidates:
        # A repository that still lies where it was has not been moved here: this is a copy of it.
        if identity == place.former or not os.path.lexists(identity):
            connection.execute(
                "UPDATE projects SET identity = ?, mark = ?, root = ? WHERE id = ?",
                (place.identity, place.mark, place.root, project),
            )
            return str(project)
    return None


def _refuse_foreign_slug(connection: sqlite3.Connection, slug: str, known: str | None) -> None:
    owner = connection.execute("SELECT id, root FROM projects WHERE slug = ?", (slug,)).fetchone()
    if owner is not None and owner[0] != known:
        raise ConflictError(f"The slug {slug} belongs to the project at {owner[1]}; choose another slug.")


def _upwards(path: str, lowest: str | None) -> list[str]:
    """Return `path` and its ancestors, the nearest first, down to the checkout's root `lowest`."""
    folders = [path]
    while path != lowest and (parent := os.path.dirname(path)) != path:
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
