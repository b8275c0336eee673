"""Owns the predictors every figure is printed beside: frequency, same folder, ROSE, Jaccard.

They are not used to answer anybody. ROSE is the confidence of the rule "q changed, so f" over occasions of
at most 30 files (Zimmermann et al., 2005), for one known file the same order as TARMAQ.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from operator import itemgetter

from inference.lineage import Change, Lineage
from inference.metrics import DEPTH
from inference.naming import folder
from inference.replay import Context, Line

ROSE_SIZE = 30


class Counts:
    """What all baselines count: which lines changed which file, and which files a line changed."""

    def __init__(self) -> None:
        self.lineage = Lineage()
        self.lines: list[tuple[int, ...]] = []
        self.changes: dict[int, list[int]] = defaultdict(list)
        self.folder_of: dict[int, str] = {}
        self.members: dict[str, set[int]] = defaultdict(set)

    def observe(self, line: Line) -> None:
        """Count a line."""
        resolved = self.lineage.step(line.mentions)
        files = dict.fromkeys(entry.file for entry in resolved if entry.change is not Change.READ)
        for file in files:
            self.changes[file].append(len(self.lines))
            self._place(file)
        self.lines.append(tuple(files))

    def _place(self, file: int) -> None:
        here = folder(self.lineage.path_of(file))
        before = self.folder_of.get(file)
        if before != here:
            if before is not None:
                self.members[before].discard(file)
            self.members[here].add(file)
            self.folder_of[file] = here

    def frequencies(self, files: Iterable[int]) -> dict[int, float]:
        """Return the share of lines that changed each file."""
        total = max(1, len(self.lines))
        return {file: len(self.changes[file]) / total for file in files}

    def together(self, file: int) -> Counter[int]:
        """Return how often each file changed along with `file` in lines of at most 30 files."""
        counts: Counter[int] = Counter()
        for number in reversed(self.changes[file]):
            if len(self.lines[number]) <= ROSE_SIZE:
                counts.update(self.lines[number])
        counts.pop(file, None)
        return counts

    def answer(self, scores: Mapping[int, float], queried: int | None) -> list[tuple[str, float]]:
        """Return the living files by score, the best fifty; ties keep the order of the mapping."""
        alive = self.lineage.alive
        living = ((file, score) for file, score in scores.items() if file != queried and alive(file))
        best = heapq.nlargest(DEPTH, living, key=itemgetter(1))
        return [(self.lineage.path_of(file), score) for file, score in best]


class GlobalFrequency(Counts):
    """The files that change most often, whatever is asked."""

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return the share of lines that changed each file."""
        return self.answer(self.frequencies(self.changes), self.lineage.file_of(path))


class SameFolder(Counts):
    """The files of the same folder, those that change most often first."""

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return the share of lines that changed each file of the folder."""
        here = sorted(self.members.get(folder(path), ()))
        return self.answer(self.frequencies(here), self.lineage.file_of(path))


class Rose(Counts):
    """The confidence of the association rule."""

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return the share of the file's lines that changed the other one too."""
        file = self.lineage.file_of(path)
        if file is None:
            return []
        total = sum(len(self.lines[number]) <= ROSE_SIZE for number in self.changes[file])
        return self.answer({f: n / total for f, n in self.together(file).items()}, file)


class Jaccard(Counts):
    """Joint lines over lines with either file."""

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return the share of the lines of either file that changed both."""
        file = self.lineage.file_of(path)
        if file is None:
            return []
        own = len(self.changes[file])
        scores = {f: n / (own + len(self.changes[f]) - n) for f, n in self.together(file).items()}
        return self.answer(scores, file)
