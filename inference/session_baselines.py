"""Owns what every figure about agents' sessions is printed beside: popularity, folder, git, sessions, fused.

They answer nobody. Pairs are counted per session, and per commit of 2 to 30 files; a share is taken of one
more than was seen, so that a single sighting is no certainty. Lists are joined by reciprocal ranks (Cormack
et al., 2009: weight / (10 + rank) over the first thirty of each) whose weights nothing was tuned on.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from inference.naming import folder
from inference.session_replay import Commit, Moment, Session, SessionPredictor

LARGEST = 30
_KEPT = 200
_FUSED = 30
_PLACE = 10
_TEST = re.compile(r"^test_|(?:_test|\.test|\.spec)$")

Answer = list[tuple[str, float]]
Part = tuple[Callable[[str], Answer], float]


class SessionCounts:
    """What all of them count: edits by session and by commit, and which files were in one together."""

    def __init__(self) -> None:
        self.sessions = 0
        self.edits: Counter[str] = Counter()
        self.edited_with: dict[str, Counter[str]] = defaultdict(Counter)
        self.commits: Counter[str] = Counter()
        self.paired: Counter[str] = Counter()
        self.committed_with: dict[str, Counter[str]] = defaultdict(Counter)
        self.folder_commits: Counter[str] = Counter()
        self.members: dict[str, set[str]] = defaultdict(set)
        self.named: dict[str, set[str]] = defaultdict(set)

    def observe(self, told: Session | Commit) -> None:
        """Count a session or a commit."""
        match told:
            case Session():
                files = {act.path for act in told.acts if act.changed}
                self.sessions += bool(files)
                self.edits.update(files)
                _pair(self.edited_with, files)
            case Commit():
                self._count(set(told.paths))

    def _count(self, files: set[str]) -> None:
        self.commits.update(files)
        self.folder_commits.update({folder(path) for path in files})
        for path in files:
            self.members[folder(path)].add(path)
            self.named[path.rpartition("/")[2]].add(path)
        if 2 <= len(files) <= LARGEST:
            self.paired.update(files)
            _pair(self.committed_with, files)

    def popular(self, path: str) -> Answer:
        """Return the share of sessions that edited each file."""
        return _best({name: count / self.sessions for name, count in self.edits.items()}, path)

    def beside(self, path: str) -> Answer:
        """Return the share of the folder's commits that changed each of its files."""
        here = folder(path)
        shares = {name: self.commits[name] / self.folder_commits[here] for name in self.members.get(here, ())}
        return _best(shares, path)

    def from_git(self, path: str) -> Answer:
        """Return the share of the file's commits that changed each other one."""
        counts: Mapping[str, int] = self.committed_with.get(path, {})
        return _best({name: count / (self.paired[path] + 1) for name, count in counts.items()}, path)

    def from_sessions(self, path: str) -> Answer:
        """Return the share of the sessions that edited the file which edited each other one."""
        counts: Mapping[str, int] = self.edited_with.get(path, {})
        return _best({name: count / (self.edits[path] + 1) for name, count in counts.items()}, path)

    def twins(self, path: str) -> Answer:
        """Return the file's tests, or what it tests, by name, the nearest folder first."""
        home, _, name = path.rpartition("/")
        base, dot, extension = name.rpartition(".") if "." in name[1:] else (name, "", "")
        bare = _TEST.sub("", base)
        ending = dot + extension
        forms = (f"{base}_test", f"{base}.test", f"{base}.spec", f"test_{base}") if bare == base else (bare,)
        found = {twin for form in forms for twin in self.named.get(form + ending, ())}

        def distance(twin: str) -> tuple[bool, int, int, str]:
            return folder(twin) != home, -_shared(folder(twin), home), -self.commits[twin], twin

        return [(twin, 1.0) for twin in sorted(found - {path}, key=distance)]

    def fused(self, path: str, parts: Sequence[Part]) -> Answer:
        """Return lists joined by reciprocal ranks, as a share of what first places everywhere would give."""
        most = sum(weight for _, weight in parts) / _PLACE
        scores: dict[str, float] = defaultdict(float)
        for answer, weight in parts:
            for place, (name, _) in enumerate(answer(path)[:_FUSED]):
                scores[name] += weight / (_PLACE + place) / most
        return _best(scores, path)


class Popularity(SessionCounts):
    """The most edited files, whatever is asked."""

    def predict(self, path: str, moment: Moment) -> Answer:
        """Return the share of sessions that edited each file."""
        return self.popular(path)


class FolderOfSession(SessionCounts):
    """The files of the same folder, those committed most often first."""

    def predict(self, path: str, moment: Moment) -> Answer:
        """Return the share of the folder's commits that changed each file."""
        return self.beside(path)


class GitCoChange(SessionCounts):
    """What commits changed along with the file."""

    def predict(self, path: str, moment: Moment) -> Answer:
        """Return the share of the file's commits."""
        return self.from_git(path)


class SessionCoEdit(SessionCounts):
    """What sessions edited along with the file."""

    def predict(self, path: str, moment: Moment) -> Answer:
        """Return the share of the file's sessions."""
        return self.from_sessions(path)


class GitFolderTwin(SessionCounts):
    """Commits, folder and the test's name joined: what can be said without having seen one session."""

    def predict(self, path: str, moment: Moment) -> Answer:
        """Return joined ranks, no probabilities."""
        return self.fused(path, ((self.from_git, 1.0), (self.beside, 0.5), (self.twins, 1.5)))


class AllFused(SessionCounts):
    """The same with the sessions' own behaviour."""

    def predict(self, path: str, moment: Moment) -> Answer:
        """Return joined ranks, no probabilities."""
        parts = ((self.from_sessions, 1.0), (self.from_git, 1.0), (self.beside, 0.5), (self.twins, 1.5))
        return self.fused(path, parts)


STRONGEST = "git + folder + twin"
"""The baseline that differences are taken to."""


def session_baselines() -> dict[str, SessionPredictor]:
    """Return the baselines by name, none of which has been told anything yet."""
    return {
        "most edited": Popularity(),
        "same folder": FolderOfSession(),
        "git co-change": GitCoChange(),
        "session co-edit": SessionCoEdit(),
        STRONGEST: GitFolderTwin(),
        "all fused": AllFused(),
    }


def _pair(counts: dict[str, Counter[str]], files: set[str]) -> None:
    for file in files:
        counts[file].update(files - {file})


def _shared(one: str, other: str) -> int:
    """Return how many folders two folders have in common from the root on."""
    count = 0
    for left, right in zip(one.split("/"), other.split("/"), strict=False):
        if left != right:
            break
        count += 1
    return count


def _best(scores: Mapping[str, float], queried: str) -> Answer:
    """Return the best by score, equals by name, without the queried file."""
    found = [(name, score) for name, score in scores.items() if name != queried and score > 0.0]
    return sorted(found, key=lambda entry: (-entry[1], entry[0]))[:_KEPT]
