"""Owns the answer to "which file of this project does this path mean": one file, one name.

It is not the table of roots (`graphmem.registry`) nor how a path is written (`graphmem.spelling`). It asks
the history before the disk: a name the project already knows is taken without a look at the file system.
"""

from __future__ import annotations

import os
import posixpath
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graphmem import spelling
from graphmem.errors import InvalidInputError, SourceError
from graphmem.repository import checkout_root, git_output, remotes

_LONGEST = 4096  # no file system takes longer paths
_FRAMES = 1024
_KIN_TIMEOUT = 5.0
_HOLDER = re.compile(r"(?:[^/]+/)*?(?:\.worktrees|\.[^/]+/worktrees)/[^/]+(?=/)")
_NEVER_A_ROOT = re.compile(
    r"(?:[a-z]:)?"
    r"(?:/(?:home|users|var|opt|tmp|mnt|media|srv|private|volumes|workspaces)?(?:/[^/]*)?"
    r"|/(?:etc|usr|proc|sys|dev|bin|sbin|lib|lib64|boot|run|root|windows|program files[^/]*)(?:/.*)?)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Place:
    """A file of the project; `found` says that the history or the disk holds it under this name."""

    path: str
    found: bool


@dataclass(frozen=True, slots=True)
class _Frame:
    """A working folder: its canonical path, and the root that root-relative paths belong to."""

    folder: str
    root: str


class PathResolver:
    """Turns the paths of events into the project's own names, learning new roots on the way.

    Safe to share between threads.

    Args:
        roots: known roots, the registered one first; POSIX or Windows paths.
        known: whether this literal relative path is in the history.
        common_dir: the real path of the repository's common dir, None for a folder outside git.
        learn: told of every root found on the way, once each.
        claimed: whether the repository with this common dir is a project of its own.
    """

    def __init__(
        self,
        roots: Sequence[str],
        known: Callable[[str], bool],
        common_dir: str | None,
        learn: Callable[[str], None],
        claimed: Callable[[str], bool] = lambda common_dir: False,
    ) -> None:
        self._known = known
        self._common_dir = common_dir
        self._tell = learn
        self._claimed = claimed
        self._lock = threading.Lock()
        self._roots: dict[str, str] = {}
        self._frames: dict[str, _Frame] = {}
        self._kin: dict[str, bool] = {}
        canonical = [spelling.absolute(root) or root for root in roots]
        for root in canonical:
            self._roots[_key(root)] = root
        for root in canonical:
            if not spelling.is_windows(root):
                real = os.path.realpath(root)
                self._roots.setdefault(_key(real), real)
        self._primary = canonical[0] if canonical else ""
        self._shares = any(root.startswith("//") for root in canonical)

    def resolve(self, raw: str, cwd: str | None = None, field: str = "path") -> str | None:
        """Return the project's name of the file that `raw` means: relative, `/`-separated, NFC.

        A relative path belongs to `cwd` if it exists there (in the history or on the disk), else to the
        root if it exists there, else to `cwd`. None means that a redactor wrote over the name, so that it
        must be dropped.

        Raises:
            InvalidInputError: the path is empty, holds NUL, is too long, is a root itself, or lies outside.
        """
        if (cwd is None or cwd in self._roots) and raw and self._is_known(raw):
            return raw
        _refuse_impossible(raw, field)
        text = spelling.from_url(raw)
        place = self._absolute_text(text) if self._is_absolute(text) else self._relative(text, cwd)
        if place is None:
            if spelling.is_redacted(raw):
                return None
            raise InvalidInputError(
                f"The path {_shown(raw)} lies outside the project's root {self._primary}; "
                "give a path inside it, or register the repository it belongs to.",
                field,
            )
        if not place.path:
            raise InvalidInputError(
                f"The path {_shown(raw)} is the project's root itself; name a file inside it.", field
            )
        if not place.found and spelling.is_redacted(place.path):
            return None
        return place.path

    def roots(self) -> tuple[str, ...]:
        """Return every root known by now, the registered one first."""
        return tuple(self._roots.values())

    # ---- relative and absolute -----------------------------------------------------------------

    def _is_absolute(self, text: str) -> bool:
        if text.startswith(("/", "\\")) or text[1:2] == ":" or text.startswith("~/"):
            expanded = _expanded(text)
            if spelling.absolute(expanded) or spelling.absolute(expanded.replace("\\", "/")):
                return expanded.startswith("/") or not self._exists(self._primary, text)
        return False

    def _absolute_text(self, text: str) -> _Place | None:
        text = _expanded(text)
        if self._shares and (share := spelling.share(text)) is not None:
            place = self._place(share)
            if place is not None:
                return place
        literal = spelling.absolute(text)
        if literal is not None and ("\\" not in literal):
            return self._place(literal)
        if literal is not None:
            place = self._place(literal, literally=True)
            if place is not None and place.found:
                return place
        return self._place(spelling.absolute(text.replace("\\", "/")) or text)

    def _relative(self, text: str, cwd: str | None) -> _Place | None:
        frame = self._frame(cwd) if cwd else _Frame(self._primary, self._primary)
        separated = text.replace("\\", "/")
        first: _Place | None = None
        for number, folder in enumerate(dict.fromkeys((frame.folder, frame.root))):
            if separated != text:
                place = self._place(_joined(folder, text), literally=True)
                if place is not None and place.found:
                    return place
            target = _joined(folder, separated)
            place = self._place(target)
            if place is not None and place.found:
                return place
            if number == 0:
                if place is None and (os.path.lexists(target) or os.path.isdir(folder)):
                    first_outside = True
                else:
                    first_outside = False
                first = place
                if first_outside and os.path.lexists(target):
                    return None
            elif first is None and not os.path.isdir(frame.folder):
                first = place
        return first

    def _frame(self, cwd: str) -> _Frame:
        frame = self._frames.get(cwd)
        if frame is not None:
            return frame
        text = _expanded(spelling.from_url(cwd))
        folder = spelling.absolute(text)
        if folder is None or ("\\" in folder and not os.path.isdir(folder)):
            separated = text.replace("\\", "/")
            folder = spelling.absolute(separated) or _joined(self._primary, separated)
        self._discover(folder)
        matches = self._matches(folder)
        frame = _Frame(folder, matches[0][0] if matches else self._primary)
        if spelling.is_windows(folder) or os.path.isdir(folder):
            if len(self._frames) >= _FRAMES:
                self._frames.clear()
            self._frames[cwd] = frame
        return frame

    # ---- from an absolute path to a place ------------------------------------------------------

    def _place(self, path: str, literally: bool = False) -> _Place | None:
        """Return where the canonical absolute `path` lies in the project, None if outside."""
        matches = self._matches(path)
        for _, rest in matches:
            if rest and (form := self._in_history(rest)) is not None:
                return _Place(form, True)
        if spelling.is_windows(path):
            return self._unseen(matches) or self._gone(path)
        if matches and not matches[0][1]:
            return _Place("", True)
        if self._discover(path):
            matches = self._matches(path)
            if not matches[0][1]:
                return _Place("", True)
            for _, rest in matches:
                if rest and (form := self._in_history(rest)) is not None:
                    return _Place(form, True)
        physical = posixpath.join(os.path.realpath(posixpath.dirname(path)), posixpath.basename(path))
        if physical != path and (place := self._physical(physical)) is not None:
            return place
        return self._unseen(matches) or (None if literally else self._gone(path))

    def _physical(self, path: str) -> _Place | None:
        self._discover(path)
        matches = self._matches(path)
        for _, rest in matches:
            if rest and (form := self._in_history(rest)) is not None:
                return _Place(form, True)
        if matches and not matches[0][1]:
            return _Place("", True)
        return self._unseen(matches)

    def _matches(self, path: str) -> list[tuple[str, str]]:
        """Return (root, rest) for every known root around `path`, the longest first."""
        found = self._matches_of(path)
        if not found:
            for alias in spelling.aliases(path):
                found = self._matches_of(alias)
                if found:
                    break
        return found

    def _matches_of(self, path: str) -> list[tuple[str, str]]:
        key = _key(path)
        found = []
        end = len(path)
        while True:
            root = self._roots.get(key[:end])
            if root is not None:
                found.append((root, path[end + 1 :]))
            if end <= 0:
                return found
            end = path.rfind("/", 0, end)
            if end < 0:
                return found

    def _unseen(self, matches: list[tuple[str, str]]) -> _Place | None:
        """Return the place of a file that the history doesn't hold: below the longest root."""
        if not matches:
            return None
        root, rest = matches[0]
        if not rest:
            return _Place("", True)
        holder = _HOLDER.match(rest)
        if holder is not None and not os.path.lexists(posixpath.join(root, holder[0])):
            # A worktree of this repository that is gone by now; agents keep theirs in such folders.
            self._learn(posixpath.join(root, holder[0]))
            rest = rest[holder.end() + 1 :]
            form = self._in_history(rest)
            return _Place(form or _final(rest), form is not None)
        for form in spelling.forms(spelling.composed(rest)):
            if _on_disk(root, form):
                return _Place(spelling.escaped(form), True)
        return _Place(_final(rest), _on_disk(root, rest) or _on_disk(root, spelling.unescaped(rest)))

    def _gone(self, path: str) -> _Place | None:
        """Return the place of a file of a copy that is gone: the longest known end of at least two names.

        The copy's root must not exist here (what exists and is no checkout of this repository is something
        else), must not be a folder that holds many things (a home, /tmp, /etc), and must not lie around a
        known root. So /etc/README.md is never the project's README.md.
        """
        parts = path.split("/")
        for start in range(1, len(parts) - 1):
            form = self._in_history("/".join(parts[start:]))
            if form is None:
                continue
            root = "/".join(parts[:start])
            if not root:
                return None if os.path.lexists(f"/{parts[1]}") else _Place(form, True)
            if not self._may_be_root(root) or checkout_root(path) is not None:
                return None
            self._learn(root)
            return _Place(form, True)
        return None

    def _may_be_root(self, root: str) -> bool:
        if _NEVER_A_ROOT.fullmatch(root) and not re.fullmatch(r"/[^/]+", root):
            return False
        inside = _key(root) + "/"
        if any(key.startswith(inside) for key in self._roots):
            return False
        return spelling.is_windows(root) or not os.path.lexists(root)

    # ---- history, disk, roots ------------------------------------------------------------------

    def _is_known(self, path: str) -> bool:
        return "\0" not in path and not spelling.has_surrogates(path) and self._known(path)

    def _in_history(self, rest: str) -> str | None:
        for form in spelling.forms(spelling.escaped(rest)):
            if self._known(form):
                return form
        return None

    def _exists(self, root: str, rest: str) -> bool:
        return self._is_known(rest) or _on_disk(root, rest)

    def _discover(self, path: str) -> bool:
        """Learn the root of the checkout around `path` if it is one of this repository; return whether."""
        if self._common_dir is None:
            return False
        matches = self._matches_of(path)
        found = checkout_root(path, above=matches[0][0] if matches else None)
        if found is None:
            return False
        root, common_dir = found
        if common_dir != self._common_dir and not self._is_kin(common_dir):
            return False
        self._learn(root)
        return True

    def _is_kin(self, common_dir: str) -> bool:
        """Return whether another repository on this machine is a clone of this one."""
        kin = self._kin.get(common_dir)
        if kin is None:
            kin = not self._claimed(common_dir) and _related(self._common_dir or "", common_dir)
            self._kin[common_dir] = kin
        return kin

    def _learn(self, root: str) -> None:
        with self._lock:
            key = _key(root)
            if key in self._roots:
                return
            self._roots[key] = root
            self._frames.clear()
        if not spelling.has_surrogates(root):
            self._tell(root)


def _key(path: str) -> str:
    """Return what two spellings of one root have in common; Windows names its folders in any case."""
    return path.rstrip("/").casefold() if spelling.is_windows(path) else path.rstrip("/")


def _joined(folder: str, rest: str) -> str:
    joined = f"{folder.rstrip('/')}/{rest}"
    return spelling.absolute(joined) or joined


def _final(rest: str) -> str:
    return spelling.composed(spelling.escaped(rest))


def _on_disk(root: str, rest: str) -> bool:
    return not spelling.is_windows(root) and os.path.lexists(f"{root}/{rest}")


def _expanded(text: str) -> str:
    return os.path.expanduser(text) if text.startswith("~/") else text


def _related(ours: str, theirs: str) -> bool:
    """Return whether two repositories are copies of one: by a remote or by a root commit."""
    our_remotes, their_remotes = remotes(ours), remotes(theirs)
    if our_remotes & their_remotes:
        return True
    if their_remotes & _places(ours) or our_remotes & _places(theirs):
        return True
    return bool(_first_commits(ours) & _first_commits(theirs))


def _places(common_dir: str) -> frozenset[str]:
    return frozenset(
        {common_dir, os.path.dirname(common_dir)} if common_dir.endswith("/.git") else {common_dir}
    )


def _first_commits(common_dir: str) -> frozenset[bytes]:
    try:
        printed = git_output(common_dir, ["rev-list", "--max-parents=0", "HEAD"], timeout=_KIN_TIMEOUT)
    except SourceError:
        return frozenset()
    return frozenset(printed.split())


def _refuse_impossible(raw: str, field: str) -> None:
    if not raw.strip():
        raise InvalidInputError("The path is empty; name a file.", field)
    if "\0" in raw:
        raise InvalidInputError(f"The path {_shown(raw)} holds a NUL character; no file can have it.", field)
    if len(raw) > _LONGEST:
        raise InvalidInputError(
            f"The path {_shown(raw)} is longer than {_LONGEST} characters; no file can have it.", field
        )


def _shown(raw: str) -> str:
    text = spelling.escaped(raw)
    return repr(text if len(text) <= 120 else text[:117] + "...")
