"""Owns sessions as they are asked about from a chronicle alone: what was told, and questions in its numbers.

It is not the protocol (`inference.session_replay`) nor the product's way to the same answer, which begins at
a journal. What a ranker says comes from the closed form (`inference.ranking`) on the same chronicle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from graphmem.task_words import path_words
from inference.chronicle import NO_PAIR_SIZE, Chronicle, State, Step
from inference.cochange import MAX_SIZE
from inference.evidence import Standing
from inference.ranking import rank
from inference.session_clues import Asking, Clues, Touch, candidates, clues
from inference.session_replay import Commit, Moment, Session

Formula = Callable[[Clues], float]


class SessionMemory:
    """Everything that was told of a project, for one replay; predictors may share it."""

    def __init__(self) -> None:
        self.chronicle = Chronicle(path_words)
        self.numbers: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        self._branches: dict[str, int] = {}
        self._at = 0.0
        self._told: Session | Commit | None = None
        self._asked: tuple[str, Moment] | None = None
        self._found: dict[int, Clues] = {}

    def observe(self, told: Session | Commit) -> None:
        """Learn a session that has ended, as one occasion, or a commit; once, whoever tells of it again."""
        if told is self._told:
            return
        self._told, self._asked = told, None
        match told:
            case Session():
                edited = tuple(dict.fromkeys(act.path for act in told.acts if act.changed))
                read = tuple(dict.fromkeys(act.path for act in told.acts if not act.changed))
                self._push(told.ended, told.name, edited, read, told.acts[-1].branch)
            case Commit():
                self._push(told.at, told.name, told.paths)

    def forget(self, at: float, paths: Iterable[str]) -> None:
        """Learn that files are gone; those never met stay unknown."""
        states = [State(self.numbers[path], path, False) for path in paths if path in self.numbers]
        self._step(at, "gone", (), (), tuple(states), "")

    def _push(
        self, at: float, name: str, edited: Sequence[str], read: Sequence[str] = (), branch: str = ""
    ) -> None:
        met = dict.fromkeys((*edited, *read))
        states = tuple(State(self._number(path), path, True) for path in met)
        changed = set(edited)
        files = tuple(self._number(path) for path in dict.fromkeys(edited))
        only_read = tuple(self._number(path) for path in read if path not in changed)
        self._step(at, name, files, only_read, states, branch)

    def _step(
        self,
        at: float,
        name: str,
        edited: tuple[int, ...],
        read: tuple[int, ...],
        states: tuple[State, ...],
        branch: str,
    ) -> None:
        self._at = max(self._at, at)
        session = self._sessions.setdefault(name, len(self._sessions) + 1)
        number = len(self.chronicle) + 1
        size = len(edited) if len(edited) <= MAX_SIZE else NO_PAIR_SIZE
        place = self._branches.setdefault(branch, len(self._branches) + 1) if branch else 0
        self.chronicle.push(
            Step(number, number, self._at, session, 0, size, edited, read, states=states, branch=place)
        )

    def _number(self, path: str) -> int:
        return self.numbers.setdefault(path, len(self.numbers) + 1)

    def asking(self, path: str, moment: Moment) -> Asking:
        """Return a question in the chronicle's numbers."""
        return Asking(
            (self._touch(path),),
            moment.at,
            tuple(map(self._touch, moment.read)),
            tuple(map(self._touch, moment.edited)),
            branch=self._branches.get(moment.branch, 0) if moment.branch else 0,
        )

    def _touch(self, path: str) -> Touch:
        return Touch(path, self.numbers.get(path, -1))

    def clues(self, path: str, moment: Moment) -> dict[int, Clues]:
        """Return the clues of all candidates, what the closed form says of each among them."""
        if self._asked != (path, moment):
            asking = self.asking(path, moment)
            ranked = self._ranked(asking, candidates(self.chronicle, asking))
            self._asked, self._found = (path, moment), clues(self.chronicle, asking, ranked)
        return self._found

    def _ranked(self, asking: Asking, files: Sequence[int]) -> dict[int, float]:
        known = [self.chronicle.history(touch.file) for touch in asking.files if touch.file >= 0]
        if not known:
            return {}
        trails = self.chronicle.files
        together = (file for history in known for edit in history.edits for file in edit.edited)
        wanted = [file for file in dict.fromkeys((*together, *files)) if trails[file].alive]
        heat = self.chronicle.heat(wanted, asking.now)
        standings = {file: Standing(trails[file].path, heat[file]) for file in wanted}
        found = rank(known, {}, standings, at_most=len(wanted))
        return {entry.file: entry.probability for entry in found}


class SessionScore:
    """The predictor that is measured: the clues, weighed.

    Args:
        formula: what the clues come to; the larger the better.
        memory: what it learns from; shared by those that differ in the formula alone.
    """

    def __init__(self, formula: Formula, memory: SessionMemory) -> None:
        self._formula = formula
        self._memory = memory

    def observe(self, told: Session | Commit) -> None:
        """Learn a session that has ended, or a commit."""
        self._memory.observe(told)

    def predict(self, path: str, moment: Moment) -> list[tuple[str, float]]:
        """Return what the session may edit yet, best first, equals by name."""
        trails = self._memory.chronicle.files
        found = self._memory.clues(path, moment)
        scored = [(trails[file].path, self._formula(clue)) for file, clue in found.items()]
        return sorted(scored, key=lambda entry: (-entry[1], entry[0]))
