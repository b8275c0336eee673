"""Owns what is said of modules: label, concepts, summary, what is newest in them; all of it from the work.

It is not which files form a module (`graphmem.modules`). Nothing is worded anew: a summary is made of titles,
each with the id of its observation. Titles are data; whoever shows them escapes them.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from posixpath import commonpath
from typing import NamedTuple, TypeVar

from graphmem.concepts import presentable
from graphmem.work import Work, WorkLog
from inference.labels import labels, term_weights

SUMMARY_WORDS = 60
LABEL_TERMS = 2
CONCEPTS = 5
"""So many concepts a module has at most."""
KEY_FILES = 5
RECENT = 5
CONTRACTS = 5

_SENTENCES = 3
_LEAST_GAIN = 0.05
_LOOKED_AT = 300
_PRESENTABLE = 12
_TOLD = 8
_CLEARLY = 0.5
_TITLE_WORDS = 24
_TITLE_LENGTH = 200
_BLANK = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_WORD = re.compile(r"[^\s\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+")
Key = TypeVar("Key")

_END = ".;:!?。；：！？、，, "


class Group(NamedTuple):
    """The files of a module: id to present path, and id to the link weight it has inside the module."""

    id: str
    paths: Mapping[int, str]
    weights: Mapping[int, float]


class Told(NamedTuple):
    """What stays said of a module while it has the same files.

    `terms` are the concepts that the label is made of, `cites` the ids of the summary's observations.
    """

    label: str
    terms: tuple[str, ...]
    concepts: tuple[str, ...]
    cites: tuple[str, ...]


class Current(NamedTuple):
    """What is newest in a module, and its most linked files."""

    key_files: tuple[str, ...]
    contracts: tuple[str, ...]
    recent: tuple[str, ...]


class _Share(NamedTuple):
    """A piece of work in a module, and which share (0..1] of the files it changed lie there."""

    work: Work
    share: float


class Portraits:
    """The modules of one level and the work on them.

    Args:
        log: the last work in the project.
        total: the number of its observations.
        groups: all modules of the level.
    """

    def __init__(self, log: WorkLog, total: int, groups: Sequence[Group]) -> None:
        self._log = log
        self._total = total
        self._groups = {group.id: group for group in groups}
        home = {file: group.id for group in groups for file in group.paths}
        self._work: dict[str, list[_Share]] = {group.id: [] for group in groups}
        for work in log.works:
            inside: dict[str, int] = defaultdict(int)
            for file in work.files:
                if file in home:
                    inside[home[file]] += 1
            for id, count in inside.items():
                self._work[id].append(_Share(work, count / len(work.files)))

    # ---- what is newest -------------------------------------------------------------------------

    def current(self, id: str) -> Current:
        """Return what changes in a module although its files are the same."""
        group = self._groups[id]
        order = sorted(group.paths, key=lambda file: (-group.weights.get(file, 0.0), group.paths[file]))
        key_files = tuple(group.paths[file] for file in order[:KEY_FILES])
        works = [share.work for share in self._work[id]]
        recent = tuple(cited(work.title, work.id) for work in works[:RECENT])
        own = [share.work for share in self._work[id][:_LOOKED_AT] if share.share >= _CLEARLY]
        replaced: dict[str, bool] = {}
        for contract in self._log.contracts(own):
            replaced.setdefault(contract.name, contract.superseded_by is not None)
        contracts = [name for name, gone in replaced.items() if not gone]
        return Current(key_files, tuple(contracts[:CONTRACTS]), recent)

    # ---- what stays -----------------------------------------------------------------------------

    def told(self, kept: Mapping[str, Told]) -> dict[str, Told]:
        """Tell of the modules that are not in `kept`, so that no two have the same label or concept."""
        new = sorted(self._groups.keys() - kept.keys())
        if not new:
            return {}
        classes = self._classes()
        weighed = term_weights(classes)
        chosen = labels(classes, LABEL_TERMS, {id: told.terms for id, told in kept.items() if told.terms})
        taken = {concept for told in kept.values() for concept in told.concepts}
        totals: dict[str, float] = defaultdict(float)
        for weights in classes.values():
            for concept, weight in weights.items():
                totals[concept] += weight
        found: dict[str, Told] = {}
        for id in new:
            concepts = tuple(
                concept
                for concept in list(weighed[id])[:CONCEPTS]
                if concept not in taken and classes[id][concept] > _CLEARLY * totals[concept]
            )
            label = " / ".join(chosen[id]) or self._place(id)
            found[id] = Told(label, chosen[id], concepts, self._cites(id, weighed[id]))
        return found

    def _classes(self) -> dict[str, dict[str, float]]:
        """Return what the work in each module was about, as far as it is worth showing somewhere."""
        about: dict[str, dict[str, float]] = {id: defaultdict(float) for id in self._groups}
        concepts = {work.seq: uses for work, uses in self._log.concepts(self._log.works)}
        for id, shares in self._work.items():
            for work, share in shares:
                for concept, weight in concepts[work.seq].items():
                    about[id][concept] += weight * share
        counts = self._log.uses({name for weights in about.values() for name in weights})
        shown = {
            name
            for weights in about.values()
            for name in presentable(weights, counts, self._total, _PRESENTABLE)
        }
        return {
            id: {name: weight for name, weight in weights.items() if name in shown}
            for id, weights in about.items()
        }

    def _place(self, id: str) -> str:
        """Return the folder a module's files share, else the name of the file it centres on."""
        shared = commonpath([path.rpartition("/")[0] for path in self._groups[id].paths.values()])
        return shared or self.current(id).key_files[0].rpartition("/")[2]

    def _cites(self, id: str, concepts: Mapping[str, float]) -> tuple[str, ...]:
        """Return the observations whose titles together cover most of a module's concepts and files."""
        group = self._groups[id]
        shares = [share for share in self._work[id][:_LOOKED_AT] if _flat(share.work.title)]
        about = dict(self._log.concepts(share.work for share in shares))
        uncovered = {f"concept {name}": weight for name, weight in _normal(_first(concepts, _TOLD)).items()}
        weights = {file: group.weights.get(file, 0.0) for file in group.paths}
        uncovered |= {f"file {file}": weight for file, weight in _normal(weights).items()}
        titles = [
            _Title(
                share,
                frozenset(
                    [f"concept {name}" for name in about[share.work]]
                    + [f"file {file}" for file in share.work.files]
                ),
            )
            for share in shares
        ]
        return _covering(titles, uncovered)


class _Title(NamedTuple):
    """A title that may be cited, and the concepts and files it stands for."""

    share: _Share
    covers: frozenset[str]

    @property
    def text(self) -> str:
        return cited(self.share.work.title, self.share.work.id)


def _covering(titles: Sequence[_Title], uncovered: Mapping[str, float]) -> tuple[str, ...]:
    """Choose greedily, of equals the newest, up to the size of a summary, until nothing much is added."""
    chosen: list[str] = []
    words = 0
    while len(chosen) < _SENTENCES:
        gains = [
            (title.share.share * sum(w for key, w in uncovered.items() if key in title.covers), -place, title)
            for place, title in enumerate(titles)
            if words + counted(title.text) <= SUMMARY_WORDS
        ]
        gain, _, best = max(gains, default=(0.0, 0, None), key=lambda entry: entry[:2])
        if best is None or (chosen and gain < _LEAST_GAIN):
            break
        chosen.append(best.share.work.id)
        words += counted(best.text)
        uncovered = {key: weight for key, weight in uncovered.items() if key not in best.covers}
        said = _flat(best.share.work.title)
        titles = [title for title in titles if _flat(title.share.work.title) != said]
    return tuple(chosen)


def summary(titles: Iterable[tuple[str, str]]) -> str:
    """Return titles, given with the ids of their observations, as sentences: `Tokens rotate (shop-012).`."""
    sentences = [cited(title, id) + (_stop(title)) for title, id in titles]
    return " ".join(sentences)


def cited(title: str, id: str) -> str:
    """Return a title in one line with the id of its observation: `Refresh tokens rotate (shop-012)`."""
    words = _flat(title).rstrip(_END)
    if counted(words) > _TITLE_WORDS or len(words) > _TITLE_LENGTH:
        words = _cut(words)
    return f"{words} ({_flat(id)})" if words else f"({_flat(id)})"


def counted(text: str) -> int:
    """Return how many words a text has, two Chinese characters counting as one."""
    return len(_WORD.findall(text)) + math.ceil(len(_WIDE.findall(text)) / 2)


def _cut(text: str) -> str:
    """Return a text without what exceeds the longest title, at the end of a word if it has any."""
    low, high = 0, min(len(text), _TITLE_LENGTH)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if counted(text[:middle]) <= _TITLE_WORDS else (low, middle - 1)
    return text[:low].rstrip(_END) + "…"


def _stop(title: str) -> str:
    return "。" if _WIDE.search(title) else "."


def _flat(text: str) -> str:
    return _BLANK.sub(" ", text).strip()


def _first(weights: Mapping[str, float], count: int) -> dict[str, float]:
    return dict(islice(weights.items(), count))


def _normal(weights: Mapping[Key, float]) -> dict[Key, float]:
    """Return weights that sum to 1, or equal ones where all are 0."""
    total = math.fsum(weights.values())
    if not total:
        return dict.fromkeys(weights, 1.0 / max(1, len(weights)))
    return {key: weight / total for key, weight in weights.items()}
