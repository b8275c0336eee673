"""Owns the tables `kin`, `path`, `file`, `claim`, `state`, `touch`: which file each mention of a path meant.

It is not the rule of lineage (that is `inference.lineage`), only its bookkeeping. Paths that renames ever
linked are *kin*. A mention that is newer than everything its kin knows moves the lineage forward; a late
one on a path without relatives is simply put in; any other late one takes the kin's mentions out and tells
the story again in order, so that the result equals a rebuild.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from graphmem.lifting import lift, warm
from graphmem.noise import noise_of
from graphmem.recognition import Told, recognised
from inference.lineage import Change, FileState, Lineage, Mention

REPEATED = 1
"""`touch.repeated` of a further mention of a file within its observation."""
_ALWAYS = -1.0e18
_TOUCH = (
    "INSERT INTO touch (file, at, seq, ord, change, repeated, path, old_path, occasion)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?3)"
)


@dataclass(frozen=True, slots=True)
class MentionRow:
    """One mention with its place in time: `(at, seq)` orders observations, `ord` the mentions in one."""

    at: float
    seq: int
    ord: int
    mention: Mention

    @property
    def place(self) -> tuple[float, int, int]:
        """The sort key."""
        return self.at, self.seq, self.ord


@dataclass(slots=True)
class _Kin:
    """A set of related paths; `stored` holds the numbers of its rows in the table."""

    stored: set[int] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    stored_paths: int = 0
    newest: tuple[float, int] = (_ALWAYS, 0)
    rows: list[MentionRow] = field(default_factory=list)


@dataclass(slots=True)
class _Story:
    """What a stretch of story adds to the tables."""

    touches: list[tuple[int, float, int, int, int, bool, int, int | None]] = field(default_factory=list)
    states: list[tuple[int, float, int, int, bool]] = field(default_factory=list)
    claims: list[tuple[int, float, int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Disturbance:
    """What became of files that were known before.

    `altered` got another name or life, or gave mentions away; `vanished` are numbers no file has any more;
    `shifted` are observations of which a mention means another file now. `claimed` are all names, new ones
    too, that mean another file than before, now or in the past.
    """

    altered: set[int] = field(default_factory=set)
    vanished: set[int] = field(default_factory=set)
    shifted: set[int] = field(default_factory=set)
    claimed: set[str] = field(default_factory=set)


class Genealogy:
    """The lineage tables behind one open transaction.

    `disturbance` grows with what is told, and so do `told`, the observations whose mentions were written.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._former: dict[int, Told] = {}
        self._held: dict[tuple[int, int], tuple[int, bool]] = {}
        self._cold: set[int] = set()
        self.told: set[int] = set()
        self.disturbance = Disturbance()

    def replace(self, numbers: Sequence[int], rows: Iterable[MentionRow]) -> None:
        """Forget the mentions of these observations and put others in their place in time."""
        gone = set(numbers)
        left = self._leave(gone) if gone else []
        self._insert([*left, *rows])
        warm(self._connection, self._cold)
        self._cold = set()

    def _insert(self, rows: Sequence[MentionRow]) -> None:
        forward: list[_Kin] = []
        again: list[MentionRow] = []
        for kin in self._gather(rows):
            if all((row.at, row.seq) > kin.newest for row in kin.rows):
                forward.append(kin)
            elif len(kin.paths) == 1 and kin.stored_paths == 1:
                self._insert_late(kin)
            else:
                again += self._take_out(kin.stored)
                again += kin.rows
        if again:
            forward += self._gather(again)
        if forward or self._former:
            self._tell(forward)

    def _leave(self, gone: set[int]) -> list[MentionRow]:
        """Take out the mentions of observations; return those of others that have to be told again."""
        again, cold = lift(self._connection, gone)
        self._cold |= cold
        left = [row for row in self._take_out(again) if row.seq not in gone]
        # What leaves is not looked at again: it comes back otherwise or not at all.
        self._held = {key: held for key, held in self._held.items() if key[0] not in gone}
        return left

    def _gather(self, rows: Iterable[MentionRow]) -> list[_Kin]:
        """Group rows by kin, joined with what is stored of these paths; rows end up in order."""
        leader: dict[str, str] = {}

        def find(path: str) -> str:
            while leader[path] != path:
                leader[path] = leader[leader[path]]
                path = leader[path]
            return path

        listed = list(rows)
        for row in listed:
            path, old = row.mention.path, row.mention.old_path
            leader.setdefault(path, path)
            if old is not None:
                leader.setdefault(old, old)
                leader[find(path)] = find(old)
        stored = self._stored_kin(leader)
        first: dict[int, str] = {}
        for path, number in stored.items():
            if number in first:
                leader[find(path)] = find(first[number])
            else:
                first[number] = path
        kins: dict[str, _Kin] = {}
        for path in leader:
            kin = kins.setdefault(find(path), _Kin())
            kin.paths.add(path)
            if path in stored and stored[path] not in kin.stored:
                kin.stored.add(stored[path])
                at, seq, paths = self._connection.execute(
                    "SELECT at, seq, paths FROM kin WHERE id = ?", (stored[path],)
                ).fetchone()
                kin.newest = max(kin.newest, (at, seq))
                kin.stored_paths += paths
        for row in sorted(listed, key=lambda row: row.place):
            kins[find(row.mention.path)].rows.append(row)
        return list(kins.values())

    def _stored_kin(self, paths: Iterable[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for path in paths:
            row = self._connection.execute("SELECT kin FROM path WHERE name = ?", (path,)).fetchone()
            if row is not None:
                found[path] = row[0]
        return found

    def _insert_late(self, kin: _Kin) -> None:
        """Add mentions of a path without relatives: it has one file for ever, only `alive` may change."""
        (name,) = kin.paths
        path, file, was_alive = self._connection.execute(
            "SELECT path.id, file, alive FROM path JOIN file ON file.id = file WHERE name = ?", (name,)
        ).fetchone()
        seen: set[int] = set()
        for row in kin.rows:
            repeated = row.seq in seen
            seen.add(row.seq)
            touch = (file, row.at, row.seq, row.ord, row.mention.change, repeated, path, None)
            self._connection.execute(_TOUCH, touch)
        self.told |= seen
        last = kin.rows[-1]
        newest = max(kin.newest, (last.at, last.seq))
        (number,) = kin.stored
        self._connection.execute("UPDATE kin SET at = ?, seq = ? WHERE id = ?", (*newest, number))
        change = self._connection.execute(
            "SELECT change FROM touch WHERE file = ? AND change != ? AND repeated != ?"
            " ORDER BY at DESC, seq DESC, ord DESC LIMIT 1",
            (file, Change.READ, REPEATED),
        ).fetchone()
        alive = change is None or change[0] != Change.DELETED
        self._connection.execute("UPDATE file SET alive = ? WHERE id = ?", (alive, file))
        if alive != was_alive:
            self.disturbance.altered.add(file)
        self._relive(file, path)
        self._cold.add(file)

    def _relive(self, file: int, path: int) -> None:
        """Write anew when a file of one name lived: from its first mention, but for deletions."""
        states: list[tuple[float, int, bool]] = []
        for at, seq, change in self._connection.execute(
            "SELECT at, seq, change FROM touch WHERE file = ? AND repeated != ? ORDER BY at, seq",
            (file, REPEATED),
        ):
            alive = states[-1][2] if states and change == Change.READ else change != Change.DELETED
            if not states or states[-1][2] != alive:
                states.append((at, seq, alive))
        self._connection.execute("DELETE FROM state WHERE file = ?", (file,))
        self._connection.executemany(
            "INSERT INTO state VALUES (?, ?, ?, ?, ?)",
            [(file, at, seq, path, alive) for at, seq, alive in states],
        )

    def _take_out(self, stored: Iterable[int]) -> list[MentionRow]:
        """Delete these kins and return every mention they held; their files are kept in mind."""
        rows: list[MentionRow] = []
        for number in stored:
            names = dict(
                self._connection.execute("SELECT id, name FROM path WHERE kin = ?", (number,)).fetchall()
            )
            self.disturbance.claimed.update(names.values())
            files = self._connection.execute(
                "SELECT id, first_path, path, alive FROM file WHERE kin = ?", (number,)
            ).fetchall()
            for file, first, last, alive in files:
                self._former[file] = Told(file, names[first], names[last], bool(alive))
                for at, seq, ord, change, repeated, path, old in self._connection.execute(
                    "SELECT at, seq, ord, change, repeated, path, old_path FROM touch WHERE file = ?", (file,)
                ):
                    mention = Mention(Change(change), names[path], names.get(old))
                    rows.append(MentionRow(at, seq, ord, mention))
                    self._held[seq, ord] = file, repeated == REPEATED
                self._connection.execute("DELETE FROM touch WHERE file = ?", (file,))
                self._connection.execute("DELETE FROM state WHERE file = ?", (file,))
            self._connection.executemany("DELETE FROM claim WHERE path = ?", [(path,) for path in names])
            for table, column in (("file", "kin"), ("path", "kin"), ("kin", "id")):
                self._connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (number,))
        return rows

    def _tell(self, kins: Sequence[_Kin]) -> None:
        """Move the lineage of these kins forward over their rows, which are newer than all that is stored."""
        kin_of = self._settle(kins)
        paths, lineage = self._load(kin_of)
        stored_files = frozenset(lineage.files)
        claimed = dict(lineage.names)
        before = {file: (state.path, state.alive) for file, state in lineage.files.items()}
        standing = dict(before)
        told = _Story()
        for kin in kins:
            for (at, seq), rows in groupby(kin.rows, key=lambda row: (row.at, row.seq)):
                mentioned = list(rows)
                names = _names(mentioned)
                met = {lineage.names[name] for name in names if name in lineage.names}
                resolved = lineage.step([row.mention for row in mentioned])
                for row, entry in zip(mentioned, resolved, strict=True):
                    path, old = paths[row.mention.path], row.mention.old_path
                    old_id = None if old is None else paths[old]
                    touch = (entry.file, at, seq, row.ord, row.mention.change, entry.repeated, path, old_id)
                    told.touches.append(touch)
                for file in sorted(met | {entry.file for entry in resolved}):
                    now = (lineage.path_of(file), lineage.alive(file))
                    if standing.get(file) != now:
                        told.states.append((file, at, seq, paths[now[0]], now[1]))
                        standing[file] = now
                for name in names:
                    claimant = lineage.names.get(name)
                    if claimant is None or claimed.get(name) == claimant:
                        continue
                    own = name not in claimed and lineage.births.get(claimant) == name
                    told.claims.append((paths[name], *((_ALWAYS, 0) if own else (at, seq)), claimant))
                    claimed[name] = claimant
                    self.disturbance.claimed.add(name)
        self._recognise(lineage, told, before)
        self._write(kin_of, paths, lineage, stored_files)
        self._write_story(told)

    def _recognise(self, lineage: Lineage, story: _Story, before: dict[int, tuple[str, bool]]) -> None:
        """Give files that were taken out their numbers back, and note what became of all that were known."""
        told = [
            Told(file, first, lineage.path_of(file), lineage.alive(file))
            for file, first in lineage.births.items()
        ]
        number = recognised(self._former.values(), told) if self._former else {}
        if number:
            story.touches = [(number.get(row[0], row[0]), *row[1:]) for row in story.touches]
            story.states = [(number.get(row[0], row[0]), *row[1:]) for row in story.states]
            story.claims = [(*row[:3], number.get(row[3], row[3])) for row in story.claims]
            lineage.names = {name: number.get(file, file) for name, file in lineage.names.items()}
            lineage.files = {number.get(file, file): state for file, state in lineage.files.items()}
            lineage.births = {number.get(file, file): first for file, first in lineage.births.items()}
        disturbance = self.disturbance
        disturbance.vanished |= self._former.keys() - number.values()
        for file, seq, ord, repeated in ((row[0], row[2], row[3], row[5]) for row in story.touches):
            held = self._held.get((seq, ord))
            if held is not None and held != (file, repeated):
                disturbance.shifted.add(seq)
                disturbance.altered.add(held[0])
        before.update((former.file, (former.path, former.alive)) for former in self._former.values())
        disturbance.altered.update(
            file
            for file, state in lineage.files.items()
            if file in before and before[file] != (state.path, state.alive)
        )
        self._former, self._held = {}, {}

    def _write_story(self, told: _Story) -> None:
        self._connection.executemany(_TOUCH, told.touches)
        self._connection.executemany("INSERT INTO state VALUES (?, ?, ?, ?, ?)", told.states)
        self._connection.executemany("INSERT OR REPLACE INTO claim VALUES (?, ?, ?, ?)", told.claims)
        self._cold.update(touch[0] for touch in told.touches)
        self.told.update(touch[2] for touch in told.touches)

    def _settle(self, kins: Sequence[_Kin]) -> dict[str, int]:
        """Give each kin one stored row, merging those that a rename joined; return every path's kin."""
        connection = self._connection
        number = connection.execute("SELECT COALESCE(MAX(id), 0) FROM kin").fetchone()[0]
        kin_of: dict[str, int] = {}
        for kin in kins:
            if kin.stored:
                keep = min(kin.stored)
                for gone in kin.stored - {keep}:
                    connection.execute("UPDATE path SET kin = ? WHERE kin = ?", (keep, gone))
                    connection.execute("UPDATE file SET kin = ? WHERE kin = ?", (keep, gone))
                    connection.execute("DELETE FROM kin WHERE id = ?", (gone,))
                stored = connection.execute("SELECT name FROM path WHERE kin = ?", (keep,))
                kin.paths.update(row[0] for row in stored)
            else:
                number += 1
                keep = number
            kin_of.update(dict.fromkeys(kin.paths, keep))
            at, seq = max(kin.newest, (kin.rows[-1].at, kin.rows[-1].seq))
            connection.execute(
                "INSERT OR REPLACE INTO kin VALUES (?, ?, ?, ?)", (keep, at, seq, len(kin.paths))
            )
        return kin_of

    def _load(self, kin_of: dict[str, int]) -> tuple[dict[str, int], Lineage]:
        """Return the paths' numbers, new ones included, and the lineage as it stands."""
        connection = self._connection
        paths: dict[str, int] = {}
        names: dict[str, int] = {}
        files: dict[int, FileState] = {}
        next_path = connection.execute("SELECT COALESCE(MAX(id), 0) + 1 FROM path").fetchone()[0]
        next_file = connection.execute("SELECT COALESCE(MAX(id), 0) + 1 FROM file").fetchone()[0]
        # A number that is about to be given back must not be taken.
        next_file = max([next_file, *(file + 1 for file in self._former)])
        for name in kin_of:
            row = connection.execute(
                "SELECT path.id, path.file, file.alive, own.name FROM path JOIN file ON file.id = path.file"
                " JOIN path AS own ON own.id = file.path WHERE path.name = ?",
                (name,),
            ).fetchone()
            if row is None:
                paths[name] = next_path
                next_path += 1
            else:
                paths[name], names[name] = row[0], row[1]
                files[row[1]] = FileState(row[3], bool(row[2]))
        return paths, Lineage(names, files, next_file)

    def _write(
        self, kin_of: dict[str, int], paths: dict[str, int], lineage: Lineage, stored_files: frozenset[int]
    ) -> None:
        self._connection.executemany(
            "INSERT INTO path VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET file = excluded.file",
            [(paths[name], name, kin_of[name], lineage.names[name]) for name in kin_of],
        )
        new, known = [], []
        for file, state in lineage.files.items():
            noise = noise_of(state.path)
            row = (paths[state.path], state.alive, None if noise is None else noise.value)
            if file in stored_files:
                known.append((*row, file))
            else:
                new.append((file, *row, paths[lineage.births[file]], kin_of[state.path]))
        self._connection.executemany("UPDATE file SET path = ?, alive = ?, noise = ? WHERE id = ?", known)
        self._connection.executemany(
            "INSERT INTO file (id, path, alive, noise, first_path, kin, heat, heat_at)"
            " VALUES (?, ?, ?, ?, ?, ?, 0, 0)",
            new,
        )


def _names(rows: Iterable[MentionRow]) -> list[str]:
    names = (name for row in rows for name in (row.mention.path, row.mention.old_path) if name is not None)
    return list(dict.fromkeys(names))
