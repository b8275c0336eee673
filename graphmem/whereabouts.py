"""Owns what a folder named by the user stands for: which repository or folder it is, and where that lies.

It is not the table of projects (`graphmem.registry`). Only the disk is asked.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import StrEnum

from graphmem.errors import InvalidInputError
from graphmem.repository import Checkout, is_main, locate, worktrees

_NANOSECONDS = 1_000_000_000


class RootKind(StrEnum):
    """How a root came to be known; `LEARNED` ones were told from the paths of events."""

    MAIN = "main"
    WORKTREE = "worktree"
    CLONE = "clone"
    LEARNED = "learned"


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What a project is on the disk.

    `identity` is the real path of the git common dir, or of the folder outside git; `former` the identity
    the same folder had before it came under git, or while it was. `mark` stays with a repository that is
    moved and is no clone's, None where there is nothing to tell it by.
    """

    identity: str
    former: str
    root: str
    name: str
    roots: tuple[tuple[str, RootKind], ...]
    mark: str | None


def whereabouts(folder: str | os.PathLike[str]) -> Whereabouts:
    """Return what `folder` stands for: the whole repository around it, or the folder itself outside git.

    A linked worktree stands for its repository, which is named after the main worktree, or after the bare
    repository, whose folder may be hidden (`shop/.bare`).

    Raises:
        InvalidInputError: the path is relative, missing, a file, not UTF-8, or holds everything (the file
            system's root or the home folder, unless it is a checkout itself).
    """
    path = _folder(folder)
    checkout = own_checkout(path)
    real = os.path.realpath(path)
    if checkout is None:
        if _holds_everything(path):
            raise InvalidInputError(
                f"The root {path} holds everything, not one project; name the project's own folder.", "root"
            )
        former = os.path.join(real, ".git")
        return Whereabouts(real, former, path, os.path.basename(path), _roots(path, None), None)
    root, name = _main_root(checkout)
    former = os.path.realpath(root)
    identity = checkout.common_dir
    return Whereabouts(identity, former, root, name, _roots(root, checkout), _mark(identity))


def own_checkout(path: str) -> Checkout | None:
    """Return the checkout around `path`, but not one that only spans it by spanning everything.

    A home folder kept in git (dotfiles) or /etc in a repository at / would else swallow every project.
    """
    checkout = locate(path)
    if checkout is None or checkout.root is None or not _holds_everything(checkout.root):
        return checkout
    return checkout if os.path.realpath(path) == os.path.realpath(checkout.root) else None


def kind_of(root: str, identity: str) -> RootKind:
    """Return what the disk says of a root: a worktree of that repository, a copy of it, or neither."""
    checkout = locate(root)
    if checkout is None or checkout.root != root:
        return RootKind.LEARNED
    return RootKind.WORKTREE if checkout.common_dir == identity else RootKind.CLONE


def is_text(path: str) -> bool:
    """Return whether the path is valid UTF-8, which SQLite and JSON need."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _folder(folder: str | os.PathLike[str]) -> str:
    text = os.fspath(folder)
    if not text or "\0" in text or not os.path.isabs(text):
        raise InvalidInputError(f"The root {text!r} is not an absolute path; give it in full.", "root")
    if not is_text(text):
        raise InvalidInputError(f"The root {text!a} is not valid UTF-8; rename the folder.", "root")
    path = "/" + os.path.normpath(text).lstrip("/")
    if not os.path.exists(path):
        raise InvalidInputError(f"The root {path} does not exist; check its spelling.", "root")
    if not os.path.isdir(path):
        raise InvalidInputError(f"The root {path} is not a folder; name the folder that holds it.", "root")
    return path


def _main_root(checkout: Checkout) -> tuple[str, str]:
    """Return (root, name) of the repository that a checkout belongs to."""
    common = checkout.common_dir
    root = checkout.root
    if root is None or not is_main(root, common):
        root = next((path for path in worktrees(common) if is_main(path, common)), None)
    if root is not None:
        return root, os.path.basename(root)
    hidden = os.path.basename(common).startswith(".")
    name = os.path.basename(os.path.dirname(common)) if hidden else os.path.basename(common)
    return checkout.root or common, name.removesuffix(".git")


def _roots(root: str, checkout: Checkout | None) -> tuple[tuple[str, RootKind], ...]:
    roots = [(root, RootKind.MAIN), (os.path.realpath(root), RootKind.MAIN)]
    if checkout is not None:
        listed = (*worktrees(checkout.common_dir), checkout.root)
        roots += [(path, RootKind.WORKTREE) for path in listed if path is not None]
    seen: dict[str, RootKind] = {}
    for path, kind in roots:
        if is_text(path):
            seen.setdefault(path, kind)
    return tuple(seen.items())


def _holds_everything(folder: str) -> bool:
    real = os.path.realpath(folder)
    return real == os.path.dirname(real) or real == os.path.realpath(os.path.expanduser("~"))


def _mark(common_dir: str) -> str | None:
    """Return what tells a repository that was moved: its folder's number and the birth of its description.

    Git writes that file once. A time in whole seconds comes from an archive or a reproducible image, where
    many repositories share it.
    """
    try:
        born = os.stat(os.path.join(common_dir, "description")).st_mtime_ns
        number = os.stat(common_dir).st_ino
    except OSError:
        return None
    return f"{number}-{born}" if born % _NANOSECONDS else None
