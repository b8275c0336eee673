"""Owns the predictors every figure is printed beside: frequency, folder, ROSE, TARMAQ, Jaccard, coupling.

They are not used to answer anybody. All count pairs in lines of at most 30 files. Definitions:

* ROSE (Zimmermann et al., "Mining version histories to guide software changes", 2005): the confidence of the
  rule "q changed, so f changes": lines with both over lines with q.
* TARMAQ (Rolfsnes et al., "Generalizing the analysis of evolutionary coupling", 2016): rules of those
  lines alone that overlap most with all that is known to change; ordered by support, then by confidence.
  With one known file all these lines hold it: support and confidence order alike, and as ROSE does.
* Jaccard: lines with both over lines with either.
* Degree of coupling (code-maat, Tornhill): shared revisions over the average revisions of both, in percent
  there, as a share here. code-maat's default minimums (5 revisions, 5 shared ones, 30 percent) do not apply:
  they would leave most questions without an answer.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from operator import itemgetter

from inference.lineage import Change, Lineage
from inference.metrics import DEPTH
from inference.naming import folder
from inference.replay import Context, Line, Predictor

LARGEST = 30
"""Lines of more files say nothing about pairs (ROSE's limit, and the default of code-maat)."""

Scores = Mapping[int, float]


class Counts:
    """What all baselines count: which lines changed which file, and which files a line changed.

    Several baselines may share one: a line that it has counted already is not counted again.
    """

    def __init__(self) -> None:
        self.lineage = Lineage()
        self.lines: list[tuple[int, ...]] = []
        self.changes: dict[int, list[int]] = defaultdict(list)
        self.pairing: Counter[int] = Counter()
        self.folder_of: dict[int, str] = {}
        self.members: dict[str, set[int]] = defaultdict(set)
        self._pairs: dict[int, Pairs] = {}
        self._last: int | None = None

    def observe(self, line: Line) -> None:
        """Count a line."""
        if line.number == self._last:
            return
        self._last = line.number
        resolved = self.lineage.step(line.mentions)
        files = dict.fromkeys(entry.file for entry in resolved if entry.change is not Change.READ)
        for file in files:
            self.changes[file].append(len(self.lines))
            self._place(file)
        if len(files) <= LARGEST:
            self.pairing.update(files.keys())
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

    def together(self, file: int) -> dict[int, int]:
        """Return how often each file changed along with `file`, those that did last first."""
        pairs = self._pairs.setdefault(file, Pairs())
        pairs.follow(self.changes.get(file, []), self.lines)
        return pairs.counts(file)

    def answer(self, scores: Scores, queried: int | None) -> list[tuple[str, float]]:
        """Return the living files by score, the best fifty; ties keep the order of the mapping."""
        alive = self.lineage.alive
        living = ((file, score) for file, score in scores.items() if file != queried and alive(file))
        best = heapq.nlargest(DEPTH, living, key=itemgetter(1))
        return [(self.lineage.path_of(file), score) for file, score in best]


class Pairs:
    """The companions of one file; what was counted is not counted again when lines have come in."""

    def __init__(self) -> None:
        self._followed = 0
        self._counts: Counter[int] = Counter()
        self._seen: dict[int, tuple[int, int]] = {}

    def follow(self, changes: list[int], lines: list[tuple[int, ...]]) -> None:
        """Count the file's lines that came in since."""
        for number in changes[self._followed :]:
            if len(lines[number]) <= LARGEST:
                self._counts.update(lines[number])
                self._seen.update((file, (-number, place)) for place, file in enumerate(lines[number]))
        self._followed = len(changes)

    def counts(self, file: int) -> dict[int, int]:
        """Return the counts of all but the file itself, the latest companion first."""
        order = sorted((other for other in self._counts if other != file), key=self._seen.__getitem__)
        return {other: self._counts[other] for other in order}


class Baseline:
    """A predictor over counts, which may be shared with other baselines."""

    def __init__(self, counts: Counts | None = None) -> None:
        self.counts = Counts() if counts is None else counts

    def observe(self, line: Line) -> None:
        """Count a line."""
        self.counts.observe(line)

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return (path, share) of what changes along with `path`, best first."""
        file = self.counts.lineage.file_of(path)
        return self.counts.answer({} if file is None else self.scores(file), file)

    def scores(self, file: int) -> Scores:
        """Return a share for each candidate, equals in the order they shall be named in."""
        together = self.counts.together(file)
        return {other: self.share(file, other, count) for other, count in together.items()}

    def share(self, file: int, other: int, together: int) -> float:
        """Return the score of a candidate that changed `together` times along with the file."""
        return 0.0


class GlobalFrequency(Baseline):
    """The files that change most often, whatever is asked."""

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return the share of lines that changed each file."""
        counts = self.counts
        return counts.answer(counts.frequencies(counts.changes), counts.lineage.file_of(path))


class SameFolder(Baseline):
    """The files of the same folder, those that change most often first."""

    def predict(self, path: str, context: Context) -> list[tuple[str, float]]:
        """Return the share of lines that changed each file of the folder."""
        counts = self.counts
        here = sorted(counts.members.get(folder(path), ()))
        return counts.answer(counts.frequencies(here), counts.lineage.file_of(path))


class Rose(Baseline):
    """The confidence of the association rule."""

    def share(self, file: int, other: int, together: int) -> float:
        """Return the share of the file's lines that changed the other one too."""
        return together / self.counts.pairing[file]


class Tarmaq(Baseline):
    """Rules of the lines that overlap most with what is known, by support, then by confidence."""

    def share(self, file: int, other: int, together: int) -> float:
        """Return the confidence of the rule for one known file: what `rules` gives, from the kept counts."""
        return together / self.counts.pairing[file]

    def rules(self, known: Set[int]) -> list[tuple[int, int, float]]:
        """Return (file, support as a count of lines, confidence) of what follows from all known files.

        The rules of one file may have several left sides, the overlaps: the best one counts.
        """
        changes = self.counts.changes
        numbers = {number for file in known for number in changes.get(file, ())}
        lines = [(number, frozenset(self.counts.lines[number])) for number in sorted(numbers, reverse=True)]
        lines = [(number, files) for number, files in lines if len(files) <= LARGEST]
        most = max((len(files & known) for _, files in lines), default=0)
        left: Counter[frozenset[int]] = Counter()
        both: Counter[tuple[frozenset[int], int]] = Counter()
        for number, files in lines:
            overlap = files & known
            if len(overlap) == most:
                left[overlap] += 1
                both.update((overlap, file) for file in self.counts.lines[number] if file not in known)
        best: dict[int, tuple[int, float]] = {}
        for (overlap, file), support in both.items():
            best[file] = max(best.get(file, (0, 0.0)), (support, support / left[overlap]))
        return sorted(((file, *rule) for file, rule in best.items()), key=_strength, reverse=True)


class Jaccard(Baseline):
    """Joint lines over lines with either file."""

    def share(self, file: int, other: int, together: int) -> float:
        """Return the share of the lines of either file that changed both."""
        changes = self.counts.changes
        return together / (len(changes[file]) + len(changes[other]) - together)


class Coupling(Baseline):
    """code-maat's degree of coupling, without its minimums."""

    def share(self, file: int, other: int, together: int) -> float:
        """Return joint lines over the average lines of both, 1 for 100 percent."""
        return 2.0 * together / (self.counts.pairing[file] + self.counts.pairing[other])


def baselines() -> dict[str, Predictor]:
    """Return the baselines by name, the strongest ones first; they share their counts."""
    counts = Counts()
    return {
        "ROSE": Rose(counts),
        "TARMAQ": Tarmaq(counts),
        "Jaccard": Jaccard(counts),
        "coupling": Coupling(counts),
        "same folder": SameFolder(counts),
        "frequency": GlobalFrequency(counts),
    }


def _strength(rule: tuple[int, int, float]) -> tuple[int, float]:
    return rule[1:]
