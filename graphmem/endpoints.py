"""Owns the shape of HTTP endpoints in a text: which slash-led words are routes, and their one way of writing.

It is not a URL parser, and it says nothing of other connection points (that is `graphmem.mentions`).
Every pattern is bounded, so that a hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_METHOD = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_SEGMENT = r"(?:[A-Za-z0-9_.~%@+\-]|:[A-Za-z_]|\{[^{}/\s,]{1,40}\}|<[^<>/\s]{1,40}>)"
_PATH = rf"(?:/{_SEGMENT}{{1,80}}){{1,16}}"
_ENDPOINT = re.compile(
    rf"(?:(?<![A-Za-z0-9_])(?P<methods>(?:{_METHOD})(?:\s?[/|,]\s?(?:{_METHOD})){{0,4}})[\s`\"'*]{{1,4}}"
    rf"|(?<![A-Za-z0-9_./~\-}}\])>%$<\\@\#*]))(?P<path>{_PATH})(?P<rest>/?\*?)"
)
_URL = re.compile(r"(?<![A-Za-z])[A-Za-z][A-Za-z0-9+.\-]{1,15}://([^\s/?#\"'<>`]{0,255})")
_LOCAL_HOST = re.compile(
    r"(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|0\.0\.0\.0|\[::1?\]|[\w.\-]{1,80}\.(?:local|localhost|internal|test)"
    r"|[$%]?\{{1,2}\s?[\w.\-]{1,40}\s?\}{1,2}|\$\w{1,40})(?::\d{1,5}|:\$?\{?\w{1,20}\}?)?"
)
_HOST_VARIABLE = re.compile(
    r"(?<![^\s`\"'(])(?:\$\{?|\{{1,2}\s?)\w{0,20}(?:URL|HOST|BASE|SERVER|ENDPOINT)\w{0,20}\s?\}{0,2}(?=/)",
    re.IGNORECASE,
)
_FOREIGN_REST = re.compile(r"[^\s`\"'<>)\]，。、；]*")
_PARAMETER = re.compile(
    r":([A-Za-z_]\w*)|\{([A-Za-z_][\w.\-]*)(?::[^{}]*)?\??\}|<(?:[A-Za-z_]\w*:)?([A-Za-z_][\w\-]*)>"
)
_SAMPLE_ID = re.compile(r"\d+|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_VERSION = re.compile(r"v(\d{1,3})")
_CODE_FILE = re.compile(
    r"\.(?:tsx?|jsx?|mjs|cjs|pyi?|go|rs|java|kt|rb|php|c|h|cc|cpp|cs|swift|vue|svelte|css|scss|less|sh|sql|md|rst"
    r"|lock|toml|ini|cfg|conf|log|so|jar|exe|ipynb)$"
)
_ANY_FILE = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,5}$")
_ROUTE_ROOTS = frozenset({"api", "apis", "rest", "rpc", "graphql"})
_FOLDERS = """
bin boot dev etc home lib lib64 media mnt opt private proc root run sbin srv sys tmp usr var Users
Applications Library Volumes System Windows
"""
_SYSTEM_FOLDERS = frozenset(_FOLDERS.split())
_ROUTE_BEFORE = re.compile(r"(?:endpoints?|routes?|接口|路由|端点)\s?[:：]?\s?[`\"'「“]?$", re.IGNORECASE)
_ROUTE_AFTER = re.compile(r"[`\"'」”]?\s?(?:endpoint|route|接口|路由|端点)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An endpoint named in a text; `method` is "" when the text gives none."""

    method: str
    path: str
    start: int
    end: int

    @property
    def name(self) -> str:
        """The method and the path, or the path alone."""
        return f"{self.method} {self.path}" if self.method else self.path


def without_foreign_urls(text: str) -> str:
    """Replace URLs of other hosts by a mark; of local ones, and variables for a host, the path stays."""
    pieces: list[str] = []
    at = 0
    for match in _URL.finditer(text):
        if match.start() < at:
            continue
        pieces.append(text[at : match.start()])
        at = match.end()
        if not _LOCAL_HOST.fullmatch(match[1]):
            pieces.append("\ufffc")
            rest = _FOREIGN_REST.match(text, at)
            at = rest.end() if rest else at
    pieces.append(text[at:])
    return _HOST_VARIABLE.sub("", "".join(pieces))


def endpoints(text: str) -> Iterator[Endpoint]:
    """Yield the endpoints in order: any path after a method, else only what is clearly a route."""
    for match in _ENDPOINT.finditer(text):
        path = match["path"].rstrip(".:~-+@%")
        if "*" in match["rest"] or len(path) < 2:
            continue
        end = match.start("path") + len(path)
        segments = path[1:].split("/")
        if segments[0] in _SYSTEM_FOLDERS and len(segments) > 1:
            continue
        if match["methods"]:
            if not _CODE_FILE.search(path) and any(char.isalpha() for char in path):
                for method in re.findall(_METHOD, match["methods"]):
                    yield Endpoint(method, normalised(path), match.start(), end)
        elif _is_route(segments) or _is_called_route(text, match.start("path"), end, path):
            yield Endpoint("", normalised(path), match.start(), end)


def normalised(path: str) -> str:
    """Write parameters as `{name}` and sample numbers or UUIDs as `{id}`."""
    segments = path.strip("/").split("/")
    return "/" + "/".join(
        "{id}" if _SAMPLE_ID.fullmatch(segment) else _PARAMETER.sub(_braced, segment) for segment in segments
    )


def version_of(path: str) -> int | None:
    """Give the number of the path's first version segment (`v2`)."""
    for segment in path.split("/"):
        if version := _VERSION.fullmatch(segment):
            return int(version[1])
    return None


def with_version(path: str, version: str) -> str:
    """Give the path with its first version segment replaced, `version` being what goes there."""
    segments = path.split("/")
    for at, segment in enumerate(segments):
        if _VERSION.fullmatch(segment):
            segments[at] = version
            break
    return "/".join(segments)


def _braced(match: re.Match[str]) -> str:
    return "{" + (match[1] or match[2] or match[3]) + "}"


def _is_route(segments: list[str]) -> bool:
    """Say whether the path alone tells: an API root or a version in front, or a parameter inside."""
    if _ANY_FILE.search(segments[-1]):
        return False
    telling = [part for part in segments if part not in _ROUTE_ROOTS and not _VERSION.fullmatch(part)]
    if not any(char.isalpha() for part in telling for char in part):
        return False
    rooted = segments[0] in _ROUTE_ROOTS or _VERSION.fullmatch(segments[0]) is not None
    return rooted or (len(segments) > 1 and any(_PARAMETER.fullmatch(part) for part in segments))


def _is_called_route(text: str, start: int, end: int, path: str) -> bool:
    """Say whether the words beside the path call it an endpoint or a route."""
    if _ANY_FILE.search(path) or not any(char.isalpha() for char in path):
        return False
    before, after = text[max(0, start - 16) : start], text[end : end + 12]
    return _ROUTE_BEFORE.search(before) is not None or _ROUTE_AFTER.match(after) is not None
