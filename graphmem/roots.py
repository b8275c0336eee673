"""Owns the known roots of one project while paths are read: which lie around a path, and how more are found.

It is not where roots are kept (`graphmem.registry`), and it gives no names to files (`graphmem.identity`).
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence

from graphmem import spelling
from graphmem.repository import are_related, checkout_root, is_repository

_HOLDS_MANY = re.compile(
    r"/{0,2}|[a-z]:/?|//[^/]+(?:/[^/]+)?"
    r"|(?:[a-z]:)?(?:/(?:home|users|root|tmp|var|opt|srv|mnt|media|volumes|private(?:/tmp|/var)?)"
    r"|(?:/mnt/[a-z])?/(?:home|users|mnt|media|volumes)/[^/]+"
    r"|/usr(?!/(?:local/)?src/).*"
    r"|/(?:etc|proc|sys|dev|s?bin|lib(?:32|64)?|boot|run|windows|program files[^/]*)(?:/.*)?)",
    re.IGNORECASE,
)


class Roots:
    """The roots of one project, safe to share between threads.

    Args:
        paths: the known ones, the registered one first; POSIX or Windows paths.
        common_dir: the real path of the repository's common dir; None, or a folder that is no repository,
            for a project outside git.
        learn: told of every root found on the way, once each.
        claimed: whether the repository with this common dir, or this folder, is another project.
    """

    def __init__(
        self,
        paths: Sequence[str],
        common_dir: str | None,
        learn: Callable[[str], None],
        claimed: Callable[[str], bool],
    ) -> None:
        canonical = [spelling.share(path) or spelling.absolute(path) or path for path in paths]
        self.primary = canonical[0] if canonical else ""
        self.has_shares = any(path.startswith("//") for path in canonical)
        self._common_dir = common_dir if common_dir is not None and is_repository(common_dir) else None
        self._tell = learn
        self._claimed = claimed
        self._lock = threading.Lock()
        self._roots = {_key(path): path for path in canonical}
        self._kin: dict[str, bool] = {}
        for path in canonical:
            if not spelling.is_windows(path):
                real = os.path.realpath(path)
                self._roots.setdefault(_key(real), real)

    def __contains__(self, path: str) -> bool:
        return path in self._roots

    def all(self) -> tuple[str, ...]:
        """Return every root known by now, the registered one first."""
        return tuple(self._roots.values())

    def around(self, path: str) -> list[tuple[str, str]]:
        """Return (root, rest) for every root at or around the absolute, canonical `path`, longest first."""
        found = list(self._exactly_around(path))
        if found:
            return found
        for alias in spelling.aliases(path):
            found = list(self._exactly_around(alias))
            if found:
                return found
        return []

    def _exactly_around(self, path: str) -> Iterator[tuple[str, str]]:
        folded = spelling.is_windows(path) or not path.isascii()
        end = len(path)
        while end >= 0:
            part = path[:end]
            root = self._roots.get(_key(part) if folded and part else part)
            if root is not None:
                yield root, path[end + 1 :]
            end = path.rfind("/", 0, end)

    def discover(self, path: str) -> bool:
        """Learn the root of the checkout around `path` if it is one of this repository; return whether.

        A root is learned by its real path, as a symlink may point elsewhere tomorrow.
        """
        if self._common_dir is None or spelling.is_windows(path):
            return False
        nearest = next(self._exactly_around(path), None)
        found = checkout_root(path, above=None if nearest is None else nearest[0])
        if found is None:
            return False
        root, common_dir = found
        if common_dir != self._common_dir and not self._is_kin(common_dir):
            return False
        return self.learn(os.path.realpath(root))

    def is_in_a_checkout(self, path: str) -> bool:
        """Return whether any checkout is around `path`; after `discover`, one of another project."""
        return not spelling.is_windows(path) and checkout_root(path) is not None

    def learn(self, root: str) -> bool:
        """Take `root` in; return whether it is new."""
        with self._lock:
            if _key(root) in self._roots:
                return False
            if not spelling.has_surrogates(root):
                self._tell(root)
            self._roots[_key(root)] = root
        return True

    def may_learn_unseen(self, root: str) -> bool:
        """Return whether `root`, of which only paths are known, may be a root.

        Not if it exists here, as it would have been recognised; nor if it is a folder that holds many
        things, such as a home, /tmp or /etc; nor if a known root lies in it, or it in another project.
        """
        if _HOLDS_MANY.fullmatch(root):
            return False
        inside = _key(root) + "/"
        if any(key.startswith(inside) for key in list(self._roots)):
            return False
        if spelling.is_windows(root):
            return True
        return not (os.path.lexists(root) or self._belongs_to_another(root))

    def _belongs_to_another(self, folder: str) -> bool:
        while folder.strip("/"):
            if self._claimed(folder) or self._claimed(f"{folder}/.git"):
                return True
            folder = os.path.dirname(folder)
        return False

    def _is_kin(self, common_dir: str) -> bool:
        """Return whether another repository on this machine is a clone of this one."""
        if self._common_dir is None or common_dir.startswith(self._common_dir + "/modules/"):
            return False
        kin = self._kin.get(common_dir)
        if kin is None:
            kin = not self._claimed(common_dir) and are_related(self._common_dir, common_dir)
            self._kin[common_dir] = kin
        return kin


def _key(path: str) -> str:
    """Return what two spellings of one root have in common; Windows names its folders in any case."""
    key = spelling.composed(path.rstrip("/"))
    return key.casefold() if spelling.is_windows(path) else key
