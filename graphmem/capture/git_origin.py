"""Owns what has to be asked of a repository around an import: the tip, what is missing, what a tree holds.

It is not the history itself (`graphmem.capture.git_log`) and not the checkout (`graphmem.repository`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem.capture.git_log import log_arguments
from graphmem.errors import SourceError
from graphmem.repository import git_output

_AT_ONCE = 200
_NAMED = 3


@dataclass(frozen=True, slots=True)
class GitOrigin:
    """A readable repository with at least one commit.

    `tip` is the hash of the commit to read from; `shallow` the boundary commits of a shallow clone, whose
    parents are missing; `partial` says that contents may be missing; `mailmap` is the tip's mailmap, which
    git by itself would take from the current folder, where a bare repository has none.
    """

    location: str
    tip: str
    shallow: tuple[str, ...]
    partial: bool
    mailmap: str | None

    def log(self, tips: Sequence[str], known: Sequence[str] = ()) -> list[str]:
        """Return git's arguments for the commits of `tips` without those that `known` reach."""
        return log_arguments(tips, known, exact_renames=self.partial, mailmap=self.mailmap)

    def count(self, known: Sequence[str] = ()) -> list[str]:
        """Return git's arguments for the number of commits, merges not counted."""
        return ["rev-list", "--count", "--no-merges", self.tip, *(["--not", *known] if known else []), "--"]

    def existing(self, commits: Iterable[str]) -> tuple[str, ...]:
        """Return those commits that are still in the repository; a rebase leaves some behind."""
        asked = tuple(commits)
        if not asked:
            return ()
        try:
            listed = git_output(
                self.location, ["rev-list", "--no-walk=unsorted", "--ignore-missing", *asked, "--"]
            )
        except SourceError:
            # A damaged commit among them: the ids catch what is read twice.
            return ()
        found = frozenset(listed.decode("ascii").split())
        return tuple(commit for commit in asked if commit in found)

    def held(self, commit: str, paths: Sequence[str]) -> frozenset[str]:
        """Return those of `paths` that exist in the commit's tree, exactly so spelled."""
        found: set[str] = set()
        for place in range(0, len(paths), _AT_ONCE):
            # On macOS git would compose the names it is given.
            arguments = ["--literal-pathspecs", "-c", "core.precomposeUnicode=false", "ls-tree", "-z"]
            asked = ["--name-only", "--full-tree", commit, "--", *paths[place : place + _AT_ONCE]]
            listed = git_output(self.location, [*arguments, *asked])
            found.update(name.decode("utf-8", "backslashreplace") for name in listed.split(b"\0") if name)
        return frozenset(found)


def open_origin(location: str, ref: str) -> GitOrigin:
    """Return the repository around `location`, ready to be read from `ref`.

    Raises:
        SourceError: no such folder, not a repository, no commits, no such ref, a commit that can't be read.
    """
    if not os.path.isdir(location):
        what = "is not a folder" if os.path.lexists(location) else "does not exist"
        raise SourceError(f"{location!r} {what}; name the folder of a git repository.")
    if not ref.strip() or ref.startswith("-") or not ref.isprintable():
        raise SourceError(f"{ref!r} can't be the name of a branch, tag or commit; correct it.")
    answer = git_output(location, ["rev-parse", "--is-shallow-repository", "--git-path", "shallow"])
    is_shallow, _, file = os.fsdecode(answer).rstrip("\n").partition("\n")
    tip = _object(location, f"{ref}^{{commit}}") or _explain(location, ref)
    return GitOrigin(
        location=location,
        tip=tip,
        shallow=_boundary(os.path.join(location, file)) if is_shallow == "true" else (),
        partial=_is_partial(location),
        mailmap=_object(location, f"{tip}:.mailmap"),
    )


def _object(location: str, name: str) -> str | None:
    try:
        return git_output(location, ["rev-parse", "--verify", "--quiet", name]).decode("ascii").strip()
    except SourceError:
        return None


def _explain(location: str, ref: str) -> str:
    """Say why `ref` names no commit that can be read; never returns."""
    branches = git_output(location, ["for-each-ref", "--format=%(refname:short)", "refs/heads/"])
    names = branches.decode("utf-8", "backslashreplace").split()
    named = _object(location, ref)
    if named is not None:
        raise SourceError(
            f"{location} can't be read from {ref}, as the object {named[:12]} is missing or damaged or is no"
            f" commit; run `git -C {location} fsck` to see what is wrong."
        )
    if ref == "HEAD" and names:
        branch = os.fsdecode(git_output(location, ["symbolic-ref", "--short", "HEAD"])).strip()
        others = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        raise SourceError(
            f"The branch {branch!r} of {location} has no commits yet; commit something first, or name"
            f" another branch ({others})."
        )
    if not names and not git_output(location, ["rev-list", "--all", "--max-count=1"]):
        raise SourceError(f"{location} has no commits yet; commit something first.")
    raise SourceError(
        f"{location} has no branch, tag or commit named {ref!r}; `git branch --all` lists the branches."
    )


def _boundary(file: str) -> tuple[str, ...]:
    try:
        with open(file, encoding="ascii") as lines:
            return tuple(sorted(lines.read().split()))
    except FileNotFoundError:
        return ()


def _is_partial(location: str) -> bool:
    try:
        asked = r"^(extensions\.partialclone|remote\..*\.promisor)$"
        return bool(git_output(location, ["config", "--get-regexp", asked]))
    except SourceError:
        # Git's way to say that no such setting exists.
        return False
