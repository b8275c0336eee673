"""Owns the answer to "which file of this project does this path mean": one file, one name.

It is not the table of roots (`graphmem.registry`) nor how a path is written (`graphmem.spelling`). It asks
the history before the disk: a name the project already knows is taken without a look at the file system.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphmem import spelling
from graphmem.errors import InvalidInputError
from graphmem.roots import Roots

_LONGEST = 4096  # no file system takes longer paths
_SHOWN = 120
_BLANK = " \t\r\n"
_FRAMES = 1024
_WORKTREE_FOLDER = re.compile(r"(?:[^/]+/)*?(?:\.worktrees|\.(?!git/)[^/]+/worktrees)/[^/]+(?=/)")


@dataclass(frozen=True, slots=True)
class _Place:
    """A file of the project; `found` says that the history or the disk holds it. A root has the path ""."""

    path: str
    found: bool


@dataclass(frozen=True, slots=True)
class _Frame:
    """A working folder, canonical, and the root that root-relative paths belong to."""

    folder: str
    root: str


class PathResolver:
    """Turns the paths of events into the project's own names, learning new roots on the way.

    Safe to share between threads; keep one for each open project, as it remembers what it found out.

    Args:
        roots: known roots, the registered one first; POSIX or Windows paths.
        known: whether this literal relative path is in the history.
        common_dir: the real path of the repository's common dir; None, or a folder that is no repository,
            for a project outside git.
        learn: told of every root found on the way, once each.
        claimed: whether the repository with this common dir, or this folder, is another project; such a
            one is never taken for a copy of this.
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
        self._roots = Roots(roots, common_dir, learn, claimed)
        self._frames: dict[str, _Frame] = {}

    def resolve(self, raw: str, cwd: str | None = None, field: str = "path") -> str | None:
        r"""Return the project's name of the file that `raw` means: relative, `/`-separated, NFC.

        * A relative path belongs to `cwd` if it exists there (in the history or on the disk), else to the
          root if it exists there, else to `cwd`; to the root if `cwd` is a folder of another machine.
        * An absolute path belongs to the longest known root whose rest is in the history, else to the
          checkout of this repository around it, else to the longest known root.
        * A path of a copy that is gone belongs to the longest end of at least two names that is in the
          history; see `Roots.may_learn_unseen` for what is never taken for a copy.
        * A backslash is a separator unless the history or the disk holds that literal name.
        * The history's normal form of Unicode wins, then the disk's, then NFC.
        * A byte that is not UTF-8 (a lone surrogate here) is stored as `\xe9`.

        None means that a redactor wrote over the name, so that it must be dropped.

        Raises:
            InvalidInputError: the path is empty, holds NUL, is too long, is a root itself, or lies outside;
                with the field "cwd" where the working folder is at fault.
        """
        if (cwd is None or cwd in self._roots) and self._is_known(raw):
            return raw
        if not raw.strip(_BLANK):
            raise InvalidInputError("The path is empty; name a file.", field)
        _refuse_impossible(raw, field)
        _refuse_impossible(cwd or "", "cwd")
        raw, cwd = spelling.encodable(raw), None if cwd is None else spelling.encodable(cwd)
        place = self._read(spelling.from_url(raw), cwd)
        if raw.startswith('"') and not (place is not None and place.found):
            place = self._read(spelling.unquoted(raw), cwd)
        if spelling.is_redacted(raw if place is None else place.path) and not (place and place.found):
            return None
        if place is None:
            raise InvalidInputError(
                f"The path {_shown(raw)} lies outside the project's root {self._roots.primary}; "
                "give a path inside it, or register the repository it belongs to.",
                field,
            )
        if not place.path:
            raise InvalidInputError(
                f"The path {_shown(raw)} is the project's root itself; name a file inside it.", field
            )
        return place.path

    def roots(self) -> tuple[str, ...]:
        """Return every root known by now, the registered one first."""
        return self._roots.all()

    # ---- relative and absolute spellings -------------------------------------------------------

    def _read(self, text: str, cwd: str | None) -> _Place | None:
        if not self._is_absolute(text, cwd):
            return self._relative(text, cwd)
        place = self._absolute(text)
        if place is None and cwd:
            frame = self._frame(cwd)
            inside = _canonical(text).removeprefix(f"{frame.folder}/")
            if not spelling.absolute(inside):
                return self._relative(inside, cwd)
        return place

    def _is_absolute(self, text: str, cwd: str | None) -> bool:
        if text.startswith("/"):
            return True
        if not text.startswith(("\\", "~/")) and spelling.absolute(text) is None:
            return False
        # Such a name may be a file's own, odd as it is.
        frame = self._frame(cwd)
        literal = (self._place(spelling.joined(folder, text), False) for folder in (frame.folder, frame.root))
        return not any(place is not None and place.found for place in literal)

    def _absolute(self, text: str) -> _Place | None:
        text = os.path.expanduser(text) if text.startswith("~/") else text
        if self._roots.has_shares and (share := spelling.share(text)) is not None:
            return self._place(share) or self._place(_canonical(text))
        literal = spelling.absolute(text)
        if literal is not None and "\\" in literal:
            place = self._place(literal, may_be_gone=False)
            if place is not None and place.found:
                return place
        return self._place(literal if literal and "\\" not in literal else _canonical(text))

    def _relative(self, text: str, cwd: str | None) -> _Place | None:
        frame = self._frame(cwd)
        own = self._under(frame.folder, text)
        if frame.folder == frame.root or (own is not None and own.found):
            return own
        if own is None and os.path.lexists(posixpath.join(frame.folder, text)):
            return None
        other = self._under(frame.root, text)
        if (
            other is not None
            and other.path
            and (other.found or (own is None and not os.path.isdir(frame.folder)))
        ):
            return other
        return own

    def _under(self, folder: str, text: str) -> _Place | None:
        """Return the place of the relative `text` below `folder`."""
        if "\\" in text:
            place = self._place(spelling.joined(folder, text), may_be_gone=False)
            if place is not None and place.found:
                return place
        return self._place(spelling.joined(folder, text.replace("\\", "/")))

    def _frame(self, cwd: str | None) -> _Frame:
        if not cwd:
            return _Frame(self._roots.primary, self._roots.primary)
        frame = self._frames.get(cwd)
        if frame is None:
            folder = self._folder(spelling.from_url(cwd))
            self._roots.discover(folder)
            around = self._roots.around(folder)
            if not around and not spelling.is_windows(folder):
                around = self._roots.around(os.path.realpath(folder))
            frame = _Frame(folder, around[0][0] if around else self._roots.primary)
            if os.path.isdir(folder):  # else it may still become a worktree
                if len(self._frames) >= _FRAMES:
                    self._frames.clear()
                self._frames[cwd] = frame
        return frame

    def _folder(self, text: str) -> str:
        text = os.path.expanduser(text) if text.startswith("~/") else text
        if self._roots.has_shares and (share := spelling.share(text)) is not None:
            return share
        folder = spelling.absolute(text) or spelling.joined(self._roots.primary, text)
        if "\\" in folder and not os.path.isdir(folder):
            separated = text.replace("\\", "/")
            return spelling.absolute(separated) or spelling.joined(self._roots.primary, separated)
        return folder

    # ---- from an absolute path to a place ------------------------------------------------------

    def _place(self, path: str, may_be_gone: bool = True) -> _Place | None:
        """Return where the canonical absolute `path` lies in the project, None if outside."""
        place = self._remembered(path)
        if place is not None:
            return place
        views = [path] if spelling.is_windows(path) else list(_views(path))
        for view in views:
            if self._roots.discover(view) or view != path:
                place = self._remembered(view)
                if place is not None:
                    return place
        # Git tracks nothing beyond a symlink, so the last view, the real folder, is the better name.
        for view in reversed(views):
            around = self._roots.around(view)
            if around:
                return self._unseen(*around[0])
        return self._gone(path) if may_be_gone else None

    def _remembered(self, path: str) -> _Place | None:
        """Return the place under the longest root whose rest is in the history; or that of a root."""
        around = self._roots.around(path)
        for _, rest in around:
            if rest and (form := self._in_history(rest)) is not None:
                return _Place(form, True)
        return _Place("", True) if around and not around[0][1] else None

    def _unseen(self, root: str, rest: str) -> _Place:
        """Return the place of a file that the history doesn't hold."""
        holder = _WORKTREE_FOLDER.match(rest)
        if holder is not None and not _on_disk(root, holder[0]):
            # A worktree that is gone: agents make theirs in such folders, and remove them.
            self._roots.learn(posixpath.join(root, holder[0]))
            rest = rest[holder.end() + 1 :]
            form = self._in_history(rest)
            return _Place(form or _final(rest), form is not None)
        for form in dict.fromkeys((spelling.composed(rest), *spelling.forms(rest))):
            if _on_disk(root, form):
                return _Place(spelling.escaped(form), True)
        return _Place(_final(rest), "\\" in rest and _on_disk(root, spelling.unescaped(rest)))

    def _gone(self, path: str) -> _Place | None:
        """Return the place of a file of a copy that is gone, by the longest end that is in the history."""
        parts = path.split("/")
        for start in range(1, len(parts) - 1):
            form = self._in_history("/".join(parts[start:]))
            if form is None:
                continue
            root = "/".join(parts[:start])
            if not root:  # written from the root, with a slash too many
                return None if os.path.lexists(f"/{parts[1]}") else _Place(form, True)
            if not self._roots.may_learn_unseen(root) or self._roots.is_in_a_checkout(path):
                return None
            self._roots.learn(root)
            return _Place(form, True)
        return None

    # ---- history -------------------------------------------------------------------------------

    def _is_known(self, path: str) -> bool:
        if not path or "\0" in path or spelling.has_surrogates(path):
            return False
        return self._known(path)

    def _in_history(self, rest: str) -> str | None:
        return next((form for form in spelling.forms(spelling.escaped(rest)) if self._known(form)), None)


def _views(path: str) -> Iterator[str]:
    """Yield the path as it is, then with the symlinks of its folders resolved; a symlinked file stays."""
    yield path
    real = posixpath.join(os.path.realpath(posixpath.dirname(path)), posixpath.basename(path))
    if real != path:
        yield real


def _canonical(text: str) -> str:
    separated = text.replace("\\", "/")
    return spelling.absolute(separated) or separated


def _final(rest: str) -> str:
    return spelling.composed(spelling.escaped(rest))


def _on_disk(root: str, rest: str) -> bool:
    return not spelling.is_windows(root) and os.path.lexists(f"{root.rstrip('/')}/{rest}")


def _refuse_impossible(raw: str, field: str) -> None:
    if "\0" in raw:
        raise InvalidInputError(f"The path {_shown(raw)} holds a NUL character; no file can have it.", field)
    if len(raw) > _LONGEST:
        raise InvalidInputError(
            f"The path {_shown(raw)} is longer than {_LONGEST} characters; no file can have it.", field
        )


def _shown(raw: str) -> str:
    text = spelling.escaped(raw)
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
