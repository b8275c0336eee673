"""Git's answer is read the same however the pipe cuts it, and whatever stands in names and messages."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from graphmem.capture.git_log import LoggedCommit, LogParser, PathChange

NO_NUL = st.binary(max_size=30).map(lambda raw: raw.replace(b"\0", b"\n"))
NAME = NO_NUL.filter(bool)
SHA = st.binary(min_size=20, max_size=20).map(bytes.hex)
FILE, LINK, NONE = b"100644", b"160000", b"000000"
BLOB = b"0" * 40


class Told(NamedTuple):
    """A commit and what it should be read as."""

    commit: LoggedCommit
    raw: bytes


def meta(old: bytes, new: bytes, status: bytes) -> bytes:
    return b":%s %s %s %s %s\0" % (old, new, BLOB, BLOB, status)


@st.composite
def changes(draw: st.DrawFn) -> tuple[PathChange | None, bytes]:
    path, old = draw(NAME), draw(NAME)
    kind = draw(st.sampled_from(["A", "M", "D", "T", "R", "C", "link", "into link", "out of link"]))
    match kind:
        case "R" | "C":
            raw = meta(FILE, FILE, kind.encode() + b"087") + old + b"\0" + path + b"\0"
            return PathChange(kind, path, old), raw
        case "link":
            return None, meta(LINK, LINK, b"M") + path + b"\0"
        case "into link":
            return PathChange("D", path), meta(FILE, LINK, b"T") + path + b"\0"
        case "out of link":
            return PathChange("A", path), meta(LINK, FILE, b"T") + path + b"\0"
        case _:
            return PathChange(kind, path), meta(FILE, FILE, kind.encode()) + path + b"\0"


@st.composite
def commits(draw: st.DrawFn) -> Told:
    sha, parents = draw(SHA), tuple(draw(st.lists(SHA, max_size=3)))
    author, email, actor, message = draw(NO_NUL), draw(NO_NUL), draw(NO_NUL), draw(NO_NUL)
    listed = draw(st.lists(changes(), max_size=4))
    header = [sha.encode(), " ".join(parents).encode(), author, email, actor, b"1", b"2", message]
    raw = b"\0".join(header) + b"\0"
    if listed:
        raw += b"\n" + b"".join(part for _, part in listed)
    kept = [change for change, _ in listed if change is not None]
    links = sum(b"160000" in part.split(b"\0")[0] for _, part in listed)
    commit = LoggedCommit(sha, parents, author, email, actor, b"1", b"2", message, kept, links)
    return Told(commit, raw)


@given(st.lists(commits(), max_size=5), st.lists(st.integers(0, 2_000), max_size=20))
def test_any_cut_of_the_stream_gives_the_same_commits(history: list[Told], cuts: list[int]) -> None:
    raw = b"".join(told.raw for told in history)
    parser = LogParser()
    found: list[LoggedCommit] = []
    before = 0
    for cut in [*sorted(cuts), len(raw)]:
        found += parser.feed(raw[before:cut])
        before = max(before, cut)
    assert [*found, *parser.finish()] == [told.commit for told in history]


@given(st.lists(commits(), min_size=1, max_size=4), st.data())
def test_a_broken_off_stream_gives_only_whole_commits(history: list[Told], data: st.DataObject) -> None:
    raw = b"".join(told.raw for told in history)
    parser = LogParser()
    found = parser.feed(raw[: data.draw(st.integers(0, len(raw)))])
    assert found == [told.commit for told in history][: len(found)]
    assert len(found) < len(history)
