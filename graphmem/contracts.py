"""Owns the connection points an observation names, and which of them its words say were replaced.

It is not the shapes themselves (`graphmem.endpoints`, `graphmem.mentions`). What a text says is data: a
contract comes from its wording alone, and precision goes before completeness.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from graphmem.endpoints import Endpoint, endpoints, version_of, with_version, without_foreign_urls
from graphmem.mentions import Mention, mentions, named
from graphmem.model import Observation, TaskState
from graphmem.path_contracts import path_contracts
from graphmem.tables import is_database_file

MOST_CONTRACTS = 50
_MOST_POINTS = 200

_PLACEHOLDER = "{version}"
_VERSION_ENDING = re.compile(r"(?<=[.@:_\-])[vV](\d{1,3})$")
_GAP = 80
_SENTENCE_END = re.compile(r"[。！？!?\n]|\.\s")
_NOUN = r"(?:endpoint|route|table|event|topic|setting|接口|表|事件)"
_CLOSE = r"[`\"'”」*\s]{0,6}"
_OPEN = rf"\s{{0,2}}(?:(?:the|new|old)\s|(?:新|旧)的?\s?|{_NOUN}\s?){{0,4}}[`\"'“「*\s]{{0,6}}"
_ADVERBS = rf"(?:(?:has|have|is|was|are|were|been|be|now|{_NOUN}|现在|已经?|已全部)\s?){{0,5}}"
_RENAMED_TO = (
    r"(?:(?:changes?|changed|renamed)\s(?:in)?to|(?:replaced|superseded)\s(?:by|with)"
    r"|deprecated\sin\sfavou?r\sof|deprecated\s?[,;:]\s?(?:please\s)?use"
    r"|改为|改成|改用|改名为|重命名为|替换为|替换成|换成|(?:废弃|弃用)\s?[,，;；]?\s?(?:请)?(?:改用|使用))"
)
_MOVED_TO = (
    r"(?:(?:moves?|moved|migrates?|migrated|switched|upgraded)\s(?:over\s)?to"
    r"|迁移到|迁移至|迁移为|迁到|迁至|移到|升级到|升级为|切换到|切换为|切到|改到)"
)
_FORWARD = re.compile(rf"[,，]?{_CLOSE}{_ADVERBS}(?:{_RENAMED_TO}|{_MOVED_TO}){_OPEN}", re.IGNORECASE)
# A table or an event that moves somewhere (a schema, a file) is still the same; one that is renamed isn't.
_RENAMED = re.compile(rf"[,，]?{_CLOSE}{_ADVERBS}{_RENAMED_TO}{_OPEN}", re.IGNORECASE)
_BACKWARD = re.compile(
    rf"{_CLOSE}(?:now\s)?(?:replaces|supersedes|instead\sof|取代了?|替代了?|代替了?|替换了?){_OPEN}",
    re.IGNORECASE,
)
_ARROW = re.compile(rf"{_CLOSE}(?:-{{1,2}}>|=>|→|⇒){_OPEN}")
_TO = re.compile(rf"{_CLOSE}(?:to|as|-{{1,2}}>|→|到|至|为){_OPEN}", re.IGNORECASE)
_MOVED_FROM = re.compile(
    r"(?:(?:mov|migrat|switch|chang|upgrad)\w{1,4}(?:\s\w{1,20}){0,4}\sfrom|(?:mov|migrat|switch|upgrad)\w{1,3}"
    r"|renam\w{1,3}(?:\s(?:the\s)?\w{1,12})?)\s[`\"'*]*$",
    re.IGNORECASE,
)
_BY = re.compile(rf"{_CLOSE}(?:已|现在)?(?:由|被)\s?{_OPEN}")
_DEPRECATED_BEFORE = re.compile(
    r"(?:deprecate[sd]?|deprecating|废弃|弃用)\s?(?:the\s|了\s?)?[`\"'*\s]*$", re.IGNORECASE
)
_USE = re.compile(
    rf"{_CLOSE}[,;，；]?\s?(?:and\s)?(?:please\s)?(?:use|call|switch\sto|改用|请用|请使用|使用){_OPEN}",
    re.IGNORECASE,
)
_INSTEAD = re.compile(r"instead\sof", re.IGNORECASE)
_TAKEN = re.compile(rf"{_CLOSE}(?:取代|替代|代替|替换)")
_TO_VERSION = re.compile(rf"(?:{_FORWARD.pattern}|{_ARROW.pattern})v(\d{{1,3}})(?![\w./])", re.IGNORECASE)
_VERSION_PAIR = r"[`\"']?v(\d{1,3})[`\"']?"
_FROM_VERSION = re.compile(
    rf"{_CLOSE}{_ADVERBS}(?P<verb>(?:moved|migrated|switched|upgraded|changed)\s(?:over\s)?)?"
    rf"from\s{_VERSION_PAIR}\s?(?:to|-{{1,2}}>|→)\s?{_VERSION_PAIR}(?![\w./])"
    rf"|{_CLOSE}{_ADVERBS}(?P<han>从|由)\s?{_VERSION_PAIR}\s?(?:迁移|升级|切换|改|迁|移|换)(?:到|至|为|成)\s?"
    rf"{_VERSION_PAIR}(?![\w./])",
    re.IGNORECASE,
)
_ONLY_TO_VERSION = re.compile(rf"{_CLOSE}(?:over\s)?to\s{_VERSION_PAIR}(?![\w./])", re.IGNORECASE)
_MOVED_BEFORE = re.compile(
    r"(?:mov(?:ed|es|ing)|migrat(?:ed|es|ing)|switch(?:ed|es|ing)|upgrad(?:ed|es|ing))\s"
    r"(?:(?:the|our)\s)?(?:\w{1,20}\s){0,2}[`\"'*]{0,3}$",
    re.IGNORECASE,
)
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}(?:[.:\-][A-Za-z0-9_]{1,60}){0,6}")
_UNDONE = re.compile(
    r"\b(?:not|never|will|shall|should|could|might|may|would|must|plan(?:s|ned)?|todo|if|when|until|before|don't|won't)\b"
    r"|计划|打算|准备|考虑|尚未|还没|没有|不要|不会|不再|未来|如果|之前|是否",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ContractMention:
    """A contract named by an observation; `superseded_by` the one its words say took over."""

    name: str
    superseded_by: str | None = None


_Point = Endpoint | Mention


def read_contracts(observation: Observation) -> tuple[ContractMention, ...]:
    """Give the contracts named in texts and paths of changed files, in order of appearance, at most 50.

    An endpoint named with a method and without one is the same; open tasks replace nothing yet.
    """
    database_around = any(is_database_file(path) for path in observation.files_modified)
    points: list[_Point] = []
    replaced: dict[str, _Point] = {}
    for text, is_done in _texts(observation):
        plain = without_foreign_urls(text)
        if found := _points(plain, database_around):
            points.extend(found)
            for old, new in _replacements(plain, found) if is_done else ():
                points += (old, new)
                replaced.pop(new.name, None)
                if new.name != old.name:
                    replaced[old.name] = new
    points.extend(path_contracts(observation.files_modified[:_MOST_POINTS]))
    return _mentions(points, replaced)


def version_family(name: str) -> tuple[str, int] | None:
    """Give the name with its version taken out, and the version; None for a name without one.

    `POST /api/v2/auth/session` is version 2 of `POST /api/{version}/auth/session`, the event
    `order.paid.v2` of `order.paid.{version}`.
    """
    if (slash := name.find("/")) >= 0:
        version = version_of(name[slash:])
        if version is None:
            return None
        return name[:slash] + with_version(name[slash:], _PLACEHOLDER), version
    if ending := _VERSION_ENDING.search(name):
        return name[: ending.start()] + _PLACEHOLDER, int(ending[1])
    return None


def _texts(observation: Observation) -> Iterator[tuple[str, bool]]:
    """Yield the texts, each with whether what it says has been done."""
    yield observation.title, True
    yield observation.intent, True
    for fact in observation.facts:
        yield fact.text, fact.state is not TaskState.OPEN
    yield observation.narrative, True


def _points(text: str, database_around: bool) -> list[_Point]:
    found: list[_Point] = list(islice(endpoints(text), _MOST_POINTS)) if "/" in text else []
    found.extend(islice(mentions(text, database_around), _MOST_POINTS))
    return sorted(found, key=lambda point: (point.start, point.end))


def _replacements(text: str, points: Sequence[_Point]) -> Iterator[tuple[_Point, _Point]]:
    """Yield old and new of each replacement the text states, among neighbours of one kind in one sentence."""
    groups = _groups(points)
    for at, group in enumerate(groups):
        head = group[0]
        before = _SENTENCE_END.split(text[max(0, head.start - _GAP) : head.start])[-1]
        if moved := _read_versions(text[head.end : head.end + _GAP], before):
            if not _UNDONE.search(before + moved.words):
                yield from _new_versions(group, moved)
            continue
        if isinstance(head, Mention) and (new := _new_label(text, head)):
            if not _UNDONE.search(before + text[head.end : new.start]):
                yield head, new
            continue
        following = groups[at + 1] if at + 1 < len(groups) else None
        if following is None or not _are_comparable(head, following[0]):
            continue
        between = text[head.end : following[0].start]
        if not 0 < len(between) <= _GAP or _SENTENCE_END.search(between) or _UNDONE.search(before + between):
            continue
        after = text[following[0].end : following[0].end + 12]
        if _says_moved(before, between, after) or (
            _ARROW.fullmatch(between) and _is_newer(head, following[0])
        ):
            yield from _paired(group, following)
        elif _BACKWARD.fullmatch(between) and (not _INSTEAD.search(between) or _is_newer(following[0], head)):
            yield from _paired(following, group)


class _Versions(NamedTuple):
    """What `moved from v1 to v2` says; `old` is None where only the new one is told."""

    old: int | None
    new: int
    words: str


def _read_versions(after: str, before: str) -> _Versions | None:
    """Read the versions right after a name; the verb stands there too, or right before the name."""
    if found := _TO_VERSION.match(after):
        return _Versions(None, int(found[1]), found.group())
    if (found := _FROM_VERSION.match(after)) and (
        found["verb"] or found["han"] or _MOVED_BEFORE.search(before)
    ):
        old, new = (int(text) for text in found.groups() if text and text.isdigit())
        return _Versions(old, new, found.group())
    if (found := _ONLY_TO_VERSION.match(after)) and _MOVED_BEFORE.search(before):
        return _Versions(None, int(found[1]), found.group())
    return None


def _new_label(text: str, old: Mention) -> Mention | None:
    """Read the new name right after `renamed to` and the like, if it is written as the old one is."""
    renamed = _RENAMED.match(text, old.end)
    if renamed is None or (label := _LABEL.match(text, renamed.end())) is None:
        return None
    quoted = text[renamed.end() - 1] == "`" and text[label.end() : label.end() + 1] == "`"
    marks = {char for char in old.label if char in "._:-"}
    alike = marks and marks == {char for char in label[0] if char in "._:-"}
    if not (quoted or alike) or label[0].isupper() != old.label.isupper():
        return None
    return named(old.kind, label[0], label.start(), label.end())


def _says_moved(before: str, between: str, after: str) -> bool:
    if _FORWARD.fullmatch(between):
        return True
    if _TO.fullmatch(between):
        return _MOVED_FROM.search(before) is not None
    if _BY.fullmatch(between):
        return _TAKEN.match(after) is not None
    return _USE.fullmatch(between) is not None and _DEPRECATED_BEFORE.search(before) is not None


def _groups(points: Sequence[_Point]) -> list[list[_Point]]:
    """Put the methods of one path (`GET|POST /a`) together."""
    groups: list[list[_Point]] = []
    for point in points:
        if groups and (groups[-1][0].start, groups[-1][0].end) == (point.start, point.end):
            groups[-1].append(point)
        else:
            groups.append([point])
    return groups


def _are_comparable(one: _Point, other: _Point) -> bool:
    if isinstance(one, Mention):
        return isinstance(other, Mention) and one.kind is other.kind
    return isinstance(other, Endpoint)


def _is_newer(old: _Point, new: _Point) -> bool:
    """Say whether both are versions of one path, whatever the method, the second the later one."""
    if isinstance(old, Endpoint) and isinstance(new, Endpoint):
        before, after = version_family(old.path), version_family(new.path)
    else:
        before, after = version_family(old.name), version_family(new.name)
    return before is not None and after is not None and before[0] == after[0] and before[1] < after[1]


def _new_versions(group: Sequence[_Point], moved: _Versions) -> Iterator[tuple[_Point, _Point]]:
    """Pair each point with itself in the other version, whichever of both the text names."""
    for point in group:
        family = version_family(point.name)
        if family is None:
            continue
        if family[1] < moved.new and moved.old in (None, family[1]):
            yield point, _in_version(point, moved.new)
        elif family[1] == moved.new and moved.old is not None and moved.old < moved.new:
            yield _in_version(point, moved.old), point


def _in_version(point: _Point, version: int) -> _Point:
    if isinstance(point, Endpoint):
        return replace(point, path=with_version(point.path, f"v{version}"))
    return replace(point, label=_VERSION_ENDING.sub(f"v{version}", point.label))


def _paired(old: Sequence[_Point], new: Sequence[_Point]) -> Iterator[tuple[_Point, _Point]]:
    """Pair the methods of two paths; a new path without a method has the old one's."""
    for point in old:
        if isinstance(point, Mention):
            yield point, new[0]
            continue
        targets = [target for target in new if isinstance(target, Endpoint)]
        same = next((target for target in targets if target.method == point.method), targets[0])
        yield point, Endpoint(same.method or point.method, same.path, same.start, same.end)


def _mentions(points: Sequence[_Point], replaced: dict[str, _Point]) -> tuple[ContractMention, ...]:
    """Name each contract once; a path without a method stands for those it is named with elsewhere."""
    methods: dict[str, list[str]] = {}
    for point in points:
        if isinstance(point, Endpoint) and point.method and point.name not in methods.get(point.path, ()):
            methods.setdefault(point.path, []).append(point.name)
    found: dict[str, str | None] = {}
    for point in points:
        names = [point.name]
        if isinstance(point, Endpoint) and not point.method:
            names = methods.get(point.path, names)
        for name in names:
            new = replaced.get(name) or replaced.get(point.name)
            found[name] = found.get(name) or (new.name if new else None)
    return tuple(ContractMention(name, new if new != name else None) for name, new in found.items())[
        :MOST_CONTRACTS
    ]
