"""Owns the facts about a git checkout: where its repository lies, its root, its branch, its worktrees.

It is not the reading of history (`graphmem.capture.git`). The facts come from git's own small files, as
described in gitrepository-layout(5), because they are asked for on the way to every edit; git itself is
started only where those files don't tell.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphmem.errors import SourceError

_TIMEOUT = 10.0
_KIN_TIMEOUT = 5.0
_SMALL = 65_536
_CONFIG_LINE = re.compile(
    r"^\s*(?:\[\s*(?P<section>[^\]]*?)\s*\]\s*)?(?:(?P<key>[A-Za-z][\w-]*)\s*(?:=\s*(?P<value>.*?))?\s*)?$"
)
_TRUE = frozenset({"true", "yes", "on", "1", ""})


@dataclass(frozen=True, slots=True)
class Checkout:
    """Where a path stands in git.

    `common_dir` is the real path of the folder that all worktrees of a repository share: the repository's
    identity. `root` is the worktree's top folder as the path spelled it, None for a bare repository;
    `git_dir` the worktree's own git folder; `branch` None on a detached head.
    """

    common_dir: str
    root: str | None
    git_dir: str
    bare: bool
    branch: str | None


def locate(path: str | os.PathLike[str]) -> Checkout | None:
    """Return the checkout that holds `path`, or None; `path` need not exist, its nearest folder counts.

    Only git's files are read. A submodule is a checkout of its own, and so is a clone inside another.
    A worktree whose own git folder has been pruned still belongs to its repository.
    """
    for folder in _ancestors(os.path.abspath(os.fspath(path))):
        checkout = _checkout_at(folder)
        if checkout is not None:
            return checkout
    return None


def checkout_root(path: str, above: str | None = None) -> tuple[str, str] | None:
    """Return (root, common_dir) of the nearest checkout that holds the absolute `path`, or None.

    The cheap half of `locate`: no branch, no bare repositories. The folder `above` and what lies over it
    are not looked at.
    """
    for folder in _ancestors(path):
        if folder == above:
            return None
        git_dir = _linked_git_dir(folder)
        if git_dir is not None:
            return folder, _common_dir(git_dir)
    return None


def worktrees(common_dir: str) -> tuple[str, ...]:
    """Return the top folders of all worktrees of a repository, the main one first; bare ones have none.

    Folders that are gone are left out.
    """
    found: list[str] = []
    main = _main_root(common_dir)
    if main is not None:
        found.append(main)
    listing = os.path.join(common_dir, "worktrees")
    try:
        names = sorted(os.listdir(listing))
    except OSError:
        names = []
    for name in names:
        text = _first_text(os.path.join(listing, name, "gitdir"))
        if text:
            link = os.path.normpath(os.path.join(listing, name, text))
            if os.path.lexists(link):
                found.append(os.path.dirname(link))
    return tuple(dict.fromkeys(found))


def is_main(root: str, common_dir: str) -> bool:
    """Return whether `root` is the repository's main worktree, not a linked one."""
    main = _main_root(common_dir)
    if main is not None and os.path.realpath(main) == os.path.realpath(root):
        return True
    git_dir = _linked_git_dir(root)
    return git_dir is not None and os.path.realpath(git_dir) == common_dir and not _says_bare(common_dir)


def remotes(common_dir: str) -> frozenset[str]:
    """Return the addresses of the repository's remotes, local folders as real paths."""
    found = set()
    for section, key, value in _settings(common_dir):
        if section.startswith("remote ") and key == "url" and value:
            local = os.path.join(os.path.dirname(common_dir), os.path.expanduser(value))
            found.add(os.path.realpath(local) if os.path.isdir(local) else _address(value))
    return frozenset(found)


def is_repository(folder: str) -> bool:
    """Return whether `folder` is a git common dir itself, such as `/r/.git` or a bare `/srv/app.git`."""
    return _is_git_dir(folder)


def are_related(ours: str, theirs: str) -> bool:
    """Return whether two repositories (by common dir) are copies of one: by a remote or by a root commit.

    Starts git where the remotes don't tell; a repository too big to answer within seconds counts as another.
    """
    our_remotes, their_remotes = remotes(ours), remotes(theirs)
    if our_remotes & their_remotes or their_remotes & _places(ours) or our_remotes & _places(theirs):
        return True
    return bool(_root_commits(ours) & _root_commits(theirs))


def _places(common_dir: str) -> frozenset[str]:
    main = _main_root(common_dir)
    return frozenset({common_dir} if main is None else {common_dir, os.path.realpath(main)})


def _root_commits(common_dir: str) -> frozenset[bytes]:
    try:
        printed = git_output(common_dir, ["rev-list", "--max-parents=0", "HEAD"], timeout=_KIN_TIMEOUT)
    except SourceError:
        return frozenset()
    return frozenset(printed.split())


# ---- git itself --------------------------------------------------------------------------------


def git_environment() -> dict[str, str]:
    """Return the environment for git: no prompts, no optional locks, plain English.

    The caller's GIT_DIR and its like are left out: they would turn every question to another repository.
    """
    kept = re.compile(r"(?!GIT_)|GIT_(?:CONFIG_(?!PARAMETERS)|EXEC_PATH$|SSL_)")
    clean = {key: value for key, value in dict(os.environ).items() if kept.match(key)}
    clean |= {
        "LC_ALL": "C",
        "LANGUAGE": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
    }
    return clean


def git_output(folder: str | os.PathLike[str], arguments: Sequence[str], timeout: float = _TIMEOUT) -> bytes:
    """Run git in `folder` and return what it printed.

    Raises:
        SourceError: git is missing, refuses the folder's owner, takes longer than `timeout` seconds, or
            fails; the sentence holds git's own first line.
    """
    try:
        done = subprocess.run(
            ["git", "--no-pager", "-C", os.fspath(folder), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=git_environment(),
            timeout=timeout,
            check=False,
        )
    except FileNotFoundError as fault:
        raise SourceError("git is not installed, or not on the PATH; install it and try again.") from fault
    except subprocess.TimeoutExpired as fault:
        raise SourceError(
            f"git did not answer within {timeout:.0f} s for {os.fspath(folder)}; "
            "try again when the disk is less busy."
        ) from fault
    except OSError as fault:
        raise SourceError(f"git could not be started ({fault.strerror}); check its installation.") from fault
    if done.returncode:
        raise git_fault(os.fspath(folder), done.stderr)
    return done.stdout


def git_fault(folder: str, stderr: bytes) -> SourceError:
    """Translate git's complaint about `folder` into one sentence with the remedy."""
    text = stderr.decode("utf-8", "backslashreplace").strip()
    first = (
        text.splitlines()[0].removeprefix("fatal: ").removeprefix("error: ") if text else "no reason given"
    )
    if "dubious ownership" in text or "safe.directory" in text:
        return SourceError(
            f"git refuses {folder} because another user owns it; if you trust it, run "
            f"`git config --global --add safe.directory {folder}`."
        )
    if "not a git repository" in text:
        return SourceError(f"{folder} is not a git repository; name a folder inside one.")
    if "No such file or directory" in text and "cannot change to" in text:
        return SourceError(f"{folder} does not exist; check its spelling.")
    return SourceError(f"git failed in {folder} ({first}); run `git -C {folder} fsck` to see what is wrong.")


# ---- git's files -------------------------------------------------------------------------------


def _ancestors(path: str) -> Iterator[str]:
    yield path
    while (parent := os.path.dirname(path)) != path:
        path = parent
        yield path


def _checkout_at(folder: str) -> Checkout | None:
    git_dir = _linked_git_dir(folder)
    if git_dir is not None:
        common = _common_dir(git_dir)
        bare = os.path.realpath(git_dir) == common and _says_bare(common)
        return Checkout(common, None if bare else folder, git_dir, bare, _branch(git_dir))
    if not _is_git_dir(folder):
        return None
    common = _common_dir(folder)
    if os.path.basename(folder) == ".git" and not _says_bare(common):
        return Checkout(common, os.path.dirname(folder), folder, False, _branch(folder))
    if os.path.basename(os.path.dirname(folder)) == "worktrees" and common != os.path.realpath(folder):
        link = _first_text(os.path.join(folder, "gitdir"))
        root = os.path.dirname(os.path.normpath(os.path.join(folder, link))) if link else None
        return Checkout(common, root, folder, False, _branch(folder))
    main = _main_root(common)
    return Checkout(common, main, folder, main is None, _branch(folder))


def _linked_git_dir(folder: str) -> str | None:
    """Return the git folder that `folder/.git` is or names, or None."""
    link = os.path.join(folder, ".git")
    try:
        descriptor = os.open(link, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        text = os.fsdecode(os.read(descriptor, _SMALL))
    except OSError:  # a folder can be opened but not read
        return link if _is_git_dir(link) else None
    finally:
        os.close(descriptor)
    if not text.startswith("gitdir: ") or "\0" in text:
        return None
    target = os.path.normpath(os.path.join(folder, text.removeprefix("gitdir: ").rstrip("\r\n")))
    if _is_git_dir(target) or _pruned_common_dir(target) is not None:
        return target
    return None


def _is_git_dir(folder: str) -> bool:
    if not os.path.lexists(os.path.join(folder, "HEAD")):
        return False
    if os.path.isfile(os.path.join(folder, "commondir")):
        return True
    return os.path.isdir(os.path.join(folder, "objects")) and os.path.isdir(os.path.join(folder, "refs"))


def _pruned_common_dir(git_dir: str) -> str | None:
    listing, common = os.path.dirname(git_dir), os.path.dirname(os.path.dirname(git_dir))
    return common if os.path.basename(listing) == "worktrees" and _is_git_dir(common) else None


def _common_dir(git_dir: str) -> str:
    text = _first_text(os.path.join(git_dir, "commondir"))
    if text:
        return os.path.realpath(os.path.join(git_dir, text))
    if not os.path.isdir(git_dir):
        return os.path.realpath(_pruned_common_dir(git_dir) or git_dir)
    return os.path.realpath(git_dir)


def _branch(git_dir: str) -> str | None:
    text = _first_text(os.path.join(git_dir, "HEAD"))
    if not text.startswith("ref: refs/heads/"):
        return None
    name = text.removeprefix("ref: refs/heads/")
    if name != ".invalid":  # what the reftable format writes there
        return name
    try:
        printed = git_output(git_dir, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    except SourceError:
        return None
    return os.fsdecode(printed).strip() or None


def _main_root(common_dir: str) -> str | None:
    for section, key, value in _settings(common_dir):
        if section == "core" and key == "worktree" and value:
            return os.path.normpath(os.path.join(common_dir, value))
    if os.path.basename(common_dir) == ".git" and not _says_bare(common_dir):
        return os.path.dirname(common_dir)
    return None


def _says_bare(common_dir: str) -> bool:
    said = False
    for section, key, value in _settings(common_dir):
        if section == "core" and key == "bare":
            said = value is None or value.lower() in _TRUE
    return said


def _settings(common_dir: str) -> Iterator[tuple[str, str, str | None]]:
    """Yield (section, key, value) of the repository's own config; includes are not followed.

    `config.worktree` is where git moves what belongs to the main worktree once worktrees have their own.
    """
    section = ""
    for name in ("config", "config.worktree"):
        for line in _text(os.path.join(common_dir, name)).splitlines():
            found = _CONFIG_LINE.match(line)
            if found is None:
                continue
            if found["section"] is not None:
                section = found["section"].strip()
                section = section if " " in section else section.lower()
            if found["key"] is not None:
                value = found["value"]
                yield section, found["key"].lower(), None if value is None else value.strip('"')


def _address(url: str) -> str:
    """Return a remote's address without scheme, user and `.git`, so that ssh and https forms agree."""
    text = re.sub(r"^[a-z+]+://", "", url.strip(), flags=re.IGNORECASE)
    text = re.sub(r"^[^@/]+@", "", text)
    text = re.sub(r"^([^/:]+):(?:\d+/)?", r"\1/", text)
    return text.rstrip("/").removesuffix(".git").casefold()


def _text(file: str) -> str:
    """Return the content of one of git's small files, "" when it can't be read."""
    try:
        with open(file, "rb") as source:
            return os.fsdecode(source.read(_SMALL))
    except (OSError, ValueError):
        return ""


def _first_text(file: str) -> str:
    """Return the content of one of git's one-line files without its line end."""
    text = _text(file).rstrip("\r\n")
    return "" if "\0" in text else text
