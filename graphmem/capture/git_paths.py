"""Owns the text form of git's paths: bytes become names without loss, composed where git allows it.

It is not path identity across checkouts (`graphmem.identity`): names from git are relative to the root.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from graphmem.capture.git_log import LoggedCommit


def path_text(raw: bytes) -> str:
    r"""Return a path as text; a byte that is not UTF-8 becomes `\xe9`, which no other byte sequence does."""
    return raw.decode("utf-8", "backslashreplace")


class GitNames:
    """Names of one repository's files, each stored in NFC unless git holds both forms of it.

    Args:
        held: tells which of some paths exist in the tree of a commit (`GitOrigin.held`).
        tip: the commit whose tree counts as the present.
    """

    def __init__(self, held: Callable[[str, Sequence[str]], frozenset[str]], tip: str) -> None:
        self._held = held
        self._tip = tip
        self._stored: dict[str, str] = {}

    def of(self, commit: LoggedCommit) -> dict[bytes, str]:
        """Return the stored name of each path the commit mentions."""
        texts: dict[bytes, str] = {}
        for change in commit.changes:
            texts[change.path] = path_text(change.path)
            if change.old is not None:
                texts[change.old] = path_text(change.old)
        odd = [text for text in texts.values() if not text.isascii()]
        if not odd:
            return texts
        loose = [text for text in odd if not unicodedata.is_normalized("NFC", text)]
        if not loose:
            return texts
        self._settle(commit.sha, [text for text in loose if text not in self._stored])
        return {raw: self._stored.get(text, text) for raw, text in texts.items()}

    def _settle(self, sha: str, paths: Sequence[str]) -> None:
        """Decide once for each path; both forms must lie side by side, then or now, to be two files."""
        composed = {path: unicodedata.normalize("NFC", path) for path in paths}
        both = [*composed, *composed.values()]
        trees = [self._held(tree, both) for tree in (sha, self._tip)] if both else []
        for path, other in composed.items():
            two = any(path in tree and other in tree for tree in trees)
            self._stored[path] = path if two else other
