"""Owns how a path is written: POSIX, Windows and URL forms, normal forms of Unicode, undecodable bytes.

It is not the question which file of which project a path means; that is `graphmem.identity`. Nothing here
looks at the disk.
"""

from __future__ import annotations

import itertools
import posixpath
import re
import unicodedata
import urllib.parse
from collections.abc import Iterator

_DRIVE = re.compile(r"[A-Za-z]:(?=[\\/]|$)")
_DEVICE = re.compile(r"[\\/]{2}[?.][\\/](?:UNC[\\/])?", re.IGNORECASE)
_LINUX_SHARE = re.compile(r"//wsl(?:\$|\.localhost)/[^/]+(?=/|$)", re.IGNORECASE)
_FILE_URL = re.compile(
    r"file:(?://(?P<host>[^/\\]*))?(?P<path>/.*?)(?:#L?\d+(?:[-:,]L?\d+)*)?", re.IGNORECASE | re.DOTALL
)
_QUOTED = re.compile(r'"(?:[^"\\]|\\[abfnrtv"\\]|\\[0-3][0-7]{2})+"')
_QUOTED_PART = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))", re.DOTALL)
_LETTERS = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_ESCAPED_BYTE = re.compile(r"\\x([89a-f][0-9a-f])")
_VARIED_PARTS = 4
_REDACTED = re.compile(
    r"[\[<{(][^\[\]<>{}()/]*redacted[^\[\]<>{}()/]*[\]>})]"  # [REDACTED], <redacted:key>
    r"|(?:^|/)[^/A-Za-z0-9]*(?-i:REDACTED)(?-i:[_-][A-Z0-9_-]+)?[^/A-Za-z0-9.]*(?:\.[^/]*)?(?=/|$)"
    r"|\*{3,}|█{2,}|•{3,}",
    re.IGNORECASE,
)


def is_windows(path: str) -> bool:
    """Return whether a canonical absolute path is a Windows one: `c:/...` or `//server/share/...`."""
    return not path.startswith("/") or path.startswith("//")


def absolute(text: str) -> str | None:
    r"""Return `text` as a canonical absolute path, or None if it is relative.

    Canonical: `/` between names, `.` and `..` resolved, no trailing `/`; a drive letter is lower case; a
    UNC path begins with `//` and its server and share are lower case. A POSIX path keeps its backslashes:
    they may belong to names.
    """
    if text.startswith(("\\\\", "//?/", "//./")):
        return _unc(text)
    if _DRIVE.match(text):
        return _drive(text)
    if text.startswith("/"):
        return "/" + posixpath.normpath(text).lstrip("/")
    return None


def share(text: str) -> str | None:
    """Return `//server/share/...` as a canonical UNC path, which on POSIX is otherwise read as `/...`."""
    return _unc(text) if text.startswith("//") and not text.startswith("///") else None


def joined(folder: str, rest: str) -> str:
    """Return the canonical absolute path of the relative `rest` below a canonical absolute folder."""
    text = f"{folder.rstrip('/')}/{rest}"
    return (share(text) if folder.startswith("//") else absolute(text)) or text


def _drive(text: str) -> str:
    rest = posixpath.normpath("/" + text[2:].replace("\\", "/")).lstrip("/")
    return f"{text[0].lower()}:/{rest}"


def _unc(text: str) -> str:
    device = _DEVICE.match(text)
    if device is not None:
        text = text[device.end() :]
        if _DRIVE.match(text):
            return _drive(text)
        text = "//" + text
    text = "//" + text.replace("\\", "/").lstrip("/")
    linux = _LINUX_SHARE.match(text)
    if linux is not None:
        return posixpath.normpath("/" + text[linux.end() :].lstrip("/"))
    server, _, rest = text[2:].partition("/")
    name, _, rest = rest.partition("/")
    inside = posixpath.normpath("/" + rest).lstrip("/")
    return f"//{server.lower()}/{name.lower()}/{inside}".rstrip("/")


def from_url(text: str) -> str:
    """Return the path that a `file:` URL names; any other text as it is.

    Percent-encoding is resolved; a line anchor such as `#L10` is cut; any other `#` or `?`
    belongs to the name.
    """
    found = _FILE_URL.fullmatch(text)
    if found is None:
        return text
    path = urllib.parse.unquote_to_bytes(found["path"]).decode("utf-8", "surrogateescape")
    host = found["host"] or ""
    if host.lower() not in ("", "localhost"):
        return f"\\\\{host}{path}"
    return path[1:] if _DRIVE.match(path[1:]) else path


def unquoted(text: str) -> str:
    """Return the name that git wrote in quotes, as it does by default with anything but ASCII."""
    if _QUOTED.fullmatch(text) is None:
        return text
    raw = _QUOTED_PART.sub(_quoted_byte, text[1:-1].encode("utf-8", "surrogatepass"))
    return raw.decode("utf-8", "surrogateescape")


def _quoted_byte(found: re.Match[bytes]) -> bytes:
    octal, letter = found.groups()
    return bytes([int(octal, 8) & 0xFF]) if octal else _LETTERS.get(letter, letter)


def aliases(path: str) -> Iterator[str]:
    """Yield other spellings of a canonical absolute path: a drive under WSL and Git Bash, and back."""
    if path[1:2] == ":":
        yield f"/mnt/{path[0]}{path[2:]}"
        yield f"/{path[0]}{path[2:]}"
        return
    for prefix in ("/mnt/", "/"):
        letter, after = path[len(prefix) : len(prefix) + 1], path[len(prefix) + 1 :]
        if path.startswith(prefix) and "a" <= letter <= "z" and after.startswith("/"):
            yield f"{letter}:{after}"


def forms(path: str) -> Iterator[str]:
    """Yield the spellings under which a path may be stored: as it is, composed, decomposed, then mixed."""
    yield path
    if path.isascii():
        return
    seen = {path}
    for form in ("NFC", "NFD"):
        whole = unicodedata.normalize(form, path)
        if whole not in seen:
            seen.add(whole)
            yield whole
    for mixed in _mixed(path):
        if mixed not in seen:
            seen.add(mixed)
            yield mixed


def _mixed(path: str) -> Iterator[str]:
    choices = [
        tuple(dict.fromkeys((unicodedata.normalize("NFC", part), unicodedata.normalize("NFD", part))))
        for part in path.split("/")
    ]
    if 1 < sum(len(choice) > 1 for choice in choices) <= _VARIED_PARTS:
        yield from ("/".join(parts) for parts in itertools.product(*choices))


def composed(path: str) -> str:
    """Return the path in NFC, the form that is stored when nothing says otherwise."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def has_surrogates(text: str) -> bool:
    """Return whether the text holds lone surrogates, as Python makes of bytes that are not UTF-8."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def encodable(path: str) -> str:
    """Return the path as a file system can be asked for it: surrogates that stand for no byte are U+FFFD."""
    return _NO_BYTE.sub("\ufffd", path) if has_surrogates(path) else path


def escaped(path: str) -> str:
    r"""Return the path without lone surrogates: a byte that is not UTF-8 becomes `\xe9`.

    The same that decoding git's bytes as UTF-8 with "backslashreplace" gives. A surrogate that stands for
    no byte becomes U+FFFD.
    """
    if not has_surrogates(path):
        return path
    raw = encodable(path).encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "backslashreplace")


def unescaped(path: str) -> str:
    r"""Return the path with each `\xe9` turned back to the byte it stands for."""
    return _ESCAPED_BYTE.sub(lambda found: chr(0xDC00 + int(found[1], 16)), path)


def is_redacted(path: str) -> bool:
    """Return whether a redactor wrote over a name of the path, so that it no longer tells files apart."""
    return _REDACTED.search(path) is not None
