"""Owns which paths nothing is told of: files of keys and credentials, and what `.graphmemignore` names.

It is not path identity (that is `graphmem.identity`). The hook program loads this file by its path, so it
uses the standard library only and imports nothing at its top.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_IGNORE_FILE = ".graphmemignore"
_IGNORE_BYTES = 64 * 1024
_DEEPEST = 64
_FOLDERS = frozenset((".ssh", ".gnupg", ".aws"))
_FILES = frozenset((".netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd"))
_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk")
_KEY_NAMES = ("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519")


def is_private(path: str, folder: str | None) -> bool:
    """Whether nothing may be told of this path; one that is not absolute lies in `folder`.

    Private are files of keys and credentials by their usual names, and what the `.graphmemignore` files say
    that lie between the path and the top of its checkout, or `folder` where there is no checkout; they read
    as `.gitignore` files do.
    """
    path = path.replace("\\", "/")
    if any(_has_private_name(name) for name in path.lower().split("/")):
        return True
    if not (path.startswith("/") or path[1:3] == ":/"):
        if not folder:
            return False
        path = f"{folder}/{path}".replace("\\", "/")
    import os

    is_folder = path.endswith("/")
    return _is_ignored(os.path.normpath(path).replace("\\", "/"), folder, is_folder)


def _has_private_name(name: str) -> bool:
    if name.startswith(_KEY_NAMES):
        return not name.endswith(".pub")
    return name.startswith(".env") or name in _FILES or name in _FOLDERS or name.endswith(_ENDINGS)


def _is_ignored(path: str, folder: str | None, is_folder: bool) -> bool:
    import os

    names = path.split("/")
    depth, least = len(names) - 1, max(len(names) - _DEEPEST, 1)
    top, given = 0, os.path.normpath(folder).replace("\\", "/").split("/") if folder else None
    for place in range(depth, least - 1, -1):
        if os.path.lexists("/".join((*names[:place], ".git"))):
            top = place
            break
    if not top:
        top = len(given) if given and names[: len(given)] == given else least
    rules = [
        (place, _ignore_lines("/".join((*names[:place], _IGNORE_FILE)))) for place in range(top, depth + 1)
    ]
    if not any(lines for _, lines in rules):
        return False
    is_folder = is_folder or os.path.isdir(path)
    return any(
        _is_excluded(
            names[:end], [(place, lines) for place, lines in rules if place < end], is_folder or end <= depth
        )
        for end in range(top + 1, depth + 2)
    )


def _ignore_lines(path: str) -> list[str]:
    import os

    if not os.path.isfile(path):
        return []
    try:
        with open(path, "rb") as file:
            content = file.read(_IGNORE_BYTES)
    except OSError:
        return []
    lines = content.decode("utf-8-sig", "replace").split("\n")
    whole = lines[:-1] if len(content) == _IGNORE_BYTES else lines
    stripped = (line.rstrip("\r") for line in whole)
    return [line for line in stripped if line.strip() and not line.startswith("#")]


def _is_excluded(names: list[str], rules: list[tuple[int, list[str]]], is_folder: bool) -> bool:
    """What the last line that speaks of it says of a file, or of a folder on the way to it."""
    for place, lines in reversed(rules):
        for line in reversed(lines):
            text = line.rstrip(" ")
            text += " " if text.endswith("\\") and len(text) < len(line) else ""
            negated = text.startswith("!")
            pattern = text[1:] if negated else text
            if pattern.endswith("/") and not is_folder:
                continue
            parts = pattern.rstrip("/").split("/")
            parts = parts[1:] if parts[0] == "" else parts if len(parts) > 1 else ["**", *parts]
            if parts and parts[-1] == "**":
                parts.append("*")
            if parts and _fits_path(parts, names[place:]):
                return not negated
    return False


def _fits_path(parts: list[str], names: list[str]) -> bool:
    if parts[0] != "**" or "**" in parts[1:]:
        return _matches(parts, names, "**", _fits_name)
    # Most patterns stand anywhere, so only the end counts; a deep path is asked of all folders on its way.
    last = names[-len(parts) + 1 :]
    return len(last) == len(parts) - 1 and all(map(_fits_name, parts[1:], last))


def _matches(
    pattern: Sequence[str], items: Sequence[str], star: str, fits: Callable[[str, str], bool]
) -> bool:
    """Whether `items` have the pattern, where `star` stands for any number of them."""
    at = item = 0
    after_star, resumed = -1, 0
    while item < len(items):
        if at < len(pattern) and pattern[at] == star:
            at += 1
            after_star, resumed = at, item
        elif at < len(pattern) and fits(pattern[at], items[item]):
            at, item = at + 1, item + 1
        elif after_star >= 0:
            resumed += 1
            at, item = after_star, resumed
        else:
            return False
    return all(part == star for part in pattern[at:])


def _fits_name(pattern: str, name: str) -> bool:
    if not {"*", "?", "[", "\\"}.intersection(pattern):
        return pattern == name
    return _matches(_signs(pattern), name, "*", _fits_sign)


def _signs(pattern: str) -> list[str]:
    """Cut a name's pattern into `*`, `?`, classes as `[...`, and other signs as `=x`."""
    signs, at = [], 0
    while at < len(pattern):
        sign = pattern[at]
        close = (
            pattern.find("]", at + (3 if pattern[at + 1 : at + 2] in ("!", "^") else 2))
            if sign == "["
            else -1
        )
        if close > 0:
            signs.append(pattern[at:close])
            at = close
        elif sign == "\\":
            at += 1
            signs.append("=" + pattern[at : at + 1])
        else:
            signs.append(sign if sign in "*?" else "=" + sign)
        at += 1
    return signs


def _fits_sign(pattern: str, sign: str) -> bool:
    if not pattern.startswith("["):
        return pattern == "?" or pattern == "=" + sign
    negated = pattern[1:2] in ("!", "^")
    body, at, found = pattern[2 if negated else 1 :], 0, False
    while at < len(body):
        last = body[at + 2] if body[at + 1 : at + 2] == "-" and at + 2 < len(body) else body[at]
        found = found or body[at] <= sign <= last
        at += 3 if last != body[at] or body[at + 1 : at + 3] == "-" + last else 1
    return found != negated
