"""Owns the identity of files through time: which file a path meant at each step of an ordered history.

It is not storage and not path normalisation: paths are opaque keys here, and the caller supplies the order.
A rename carries the file along and leaves its old name as an alias (work on parallel branches still uses
it); a name that is created anew after its file moved away means a new file; a deleted file that is created
again is the same file, revived.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum


class Change(IntEnum):
    """What an observation did to a path. The numbers are stored: never renumber."""

    READ = 0
    MODIFIED = 1
    ADDED = 2
    DELETED = 3
    RENAMED = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """One path in one observation; `old_path` only for a rename, whose `path` is the new name."""

    change: Change
    path: str
    old_path: str | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """The file a mention meant. `repeated` marks a second mention of that file in the same observation."""

    file: int
    change: Change
    existed: bool
    path: str
    repeated: bool


@dataclass(slots=True)
class FileState:
    """A file's present name and whether it exists."""

    path: str
    alive: bool


class Lineage:
    """The names of a set of files, moved forward one observation at a time.

    Args:
        names: path to file, as far as known before the first step.
        files: the state of every file that `names` points at.
        first_id: the number that the next new file gets.

    Attributes:
        births: the first name of every file that came up in a step, by file.
    """

    def __init__(
        self,
        names: dict[str, int] | None = None,
        files: dict[int, FileState] | None = None,
        first_id: int = 0,
    ) -> None:
        self.names: dict[str, int] = names if names is not None else {}
        self.files: dict[int, FileState] = files if files is not None else {}
        self.next_id = first_id
        self.births: dict[int, str] = {}

    def file_of(self, path: str) -> int | None:
        """Return the file that `path` means now, old names included, or None when it was never seen."""
        return self.names.get(path)

    def path_of(self, file: int) -> str:
        """Return the present name of `file`."""
        return self.files[file].path

    def alive(self, file: int) -> bool:
        """Return whether `file` exists, as far as observed."""
        return self.files[file].alive

    def step(self, mentions: Sequence[Mention]) -> list[Resolved]:
        """Resolve the mentions of one observation against the state before it, then apply them all.

        Renames come first whatever the order: another mention of a new name means the file that moved there.
        A rename from a name that only this observation gave moves that file on; an old name created anew
        in the same observation is a new file.
        """
        order = sorted(range(len(mentions)), key=lambda index: mentions[index].change is not Change.RENAMED)
        arrivals: dict[str, int] = {}
        departed: set[str] = set()
        resolved: dict[int, Resolved] = {}
        seen: set[int] = set()
        for index in order:
            mention = mentions[index]
            file = self._resolve(mention, arrivals, departed)
            if mention.change is Change.RENAMED:
                arrivals[mention.path] = file
                departed.add(mention.old_path or mention.path)
            state = self.files[file]
            named = mention.change in (Change.RENAMED, Change.ADDED)
            path = mention.path if named else state.path
            resolved[index] = Resolved(file, mention.change, state.alive, path, file in seen)
            seen.add(file)
        self._apply([(mentions[index], resolved[index]) for index in order])
        return [resolved[index] for index in range(len(mentions))]

    def _resolve(self, mention: Mention, arrivals: dict[str, int], departed: set[str]) -> int:
        if mention.change is Change.RENAMED:
            return self._moving(mention.old_path or mention.path, arrivals)
        file = arrivals.get(mention.path, self.names.get(mention.path))
        if file is None:
            return self._new(mention.path, alive=mention.change is not Change.ADDED)
        moved_away = mention.path not in arrivals and (
            self.files[file].path != mention.path or mention.path in departed
        )
        if mention.change is Change.ADDED and moved_away:
            return self._new(mention.path, alive=False)
        return file

    def _moving(self, source: str, arrivals: dict[str, int]) -> int:
        """Return the file that a rename takes along: what stood there before, else what just arrived."""
        file = self.names.get(source)
        stood = file is not None and self.files[file].alive and self.files[file].path == source
        if not stood and source in arrivals:
            return arrivals[source]
        return file if file is not None else self._new(source, alive=True)

    def _new(self, path: str, *, alive: bool) -> int:
        file = self.next_id
        self.next_id += 1
        self.names[path] = file
        self.files[file] = FileState(path, alive)
        self.births[file] = path
        return file

    def _apply(self, entries: Iterable[tuple[Mention, Resolved]]) -> None:
        chosen = [
            (mention, entry)
            for mention, entry in entries
            if not entry.repeated or mention.change is Change.RENAMED
        ]
        moving = {entry.file for mention, entry in chosen if mention.change is Change.RENAMED}
        for mention, entry in chosen:
            state = self.files[entry.file]
            match mention.change:
                case Change.DELETED:
                    # Who deletes a former name means what stands there, not the file that moved away.
                    state.alive = state.alive and state.path != mention.path
                case Change.RENAMED:
                    moving.discard(entry.file)
                    self._bury(mention.path, entry.file, moving)
                    self.names[mention.path] = entry.file
                    state.path, state.alive = mention.path, True
                case Change.MODIFIED | Change.ADDED:
                    if self.names[state.path] != entry.file:
                        # Another file took its name; what was changed under an old name lives there.
                        state.path = mention.path
                    state.alive = self.names[state.path] == entry.file
                case Change.READ:
                    pass

    def _bury(self, path: str, file: int, moving: set[int]) -> None:
        """Mark the file that a rename overwrote as gone, unless it is still to move away itself."""
        other = self.names.get(path)
        if other is None or other == file or other in moving:
            return
        if self.files[other].path == path:
            self.files[other].alive = False
