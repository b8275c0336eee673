"""Owns a project's work in order of time, in memory, as ranking needs it: who changed what, and its names.

It is not storage and not a view of it: whoever feeds it keeps it in step, and takes the last steps out again
before something that belongs among them is put in. It answers for the moment of its last step; numbers of
files, sessions, actors and concepts are the caller's.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from inference.activity import busyness, cooled
from inference.evidence import FileHistory, Occasion
from inference.naming import Name, named
from inference.wordbook import MAX_SIZE as FEW
from inference.wordbook import Wordbook

EDITS = 100
FOLLOWED = 30
LATER = 10
RECENT = 20
DAY = 86_400.0
PROFILE_OCCASIONS = 5
HEAT_CHANGES = 400
_CACHED = 20_000
NO_PAIR_SIZE = 1_000_000
"""Size of an occasion that links nothing: bulk work, or a snapshot."""


class State(NamedTuple):
    """A file's name, and whether it exists, from a step on."""

    file: int
    path: str
    alive: bool


class Step(NamedTuple):
    """One observation; the parts of a turn are steps of one `occasion`, the number of the first.

    `size` is how many files the occasion changed, 0 for a later part and for what changed none. It `links`
    nothing when it is bulk work or a snapshot; a size of `NO_PAIR_SIZE` says the same. `edited` and `read`
    hold each file where it counts for the occasion, once in all its parts. `words` are the distinct words it
    was told with, `concepts` pairs of concept and weight, `states` what it did to names. `committed`: a
    history recorded it. `branch` is 0 where it is not known.
    """

    key: int
    occasion: int
    at: float
    session: int
    actor: int
    size: int
    edited: tuple[int, ...]
    read: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    concepts: tuple[tuple[int, float], ...] = ()
    states: tuple[State, ...] = ()
    committed: bool = True
    branch: int = 0
    links: bool = True


class Trail:
    """One file: its name now, and the places of the occasions that changed or read it, in order of time."""

    __slots__ = ("alive", "edits", "file", "heat", "name", "path", "reads", "times", "touched", "words")

    def __init__(self, file: int) -> None:
        self.file = file
        self.path = ""
        self.alive = False
        self.name: Name = named("")
        self.edits: list[int] = []
        self.times: list[float] = []
        self.reads: list[int] = []
        self.touched: list[int] = []
        self.heat: float | None = None
        self.words: frozenset[str] | None = None


class _Done(NamedTuple):
    """What has to be known to take a step out again: what was there before it; no place: it was early."""

    step: Step
    place: int | None
    before: Occasion | None
    told: tuple[str, ...]
    names: tuple[State, ...]


class Chronicle:
    """The steps of a project's work; `push` adds one, `pop` takes out the last.

    Args:
        path_words: takes the words out of a path, comparable with those that work is told with.

    Attributes:
        occasions: what was done, in order of time; the index of one is its *place*.
        told: the words of each occasion, by place.
        files: the trail of every file met so far.
        words: which words the work was told with; a piece of work is the index of its step.
    """

    def __init__(self, path_words: Callable[[str], Iterable[str]]) -> None:
        self._path_words = path_words
        self._words_by_path: dict[str, frozenset[str]] = {}
        self.occasions: list[Occasion] = []
        self.told: list[tuple[str, ...]] = []
        self.files: dict[int, Trail] = {}
        self.words = Wordbook()
        self.by_folder: dict[str, dict[int, None]] = {}
        self.by_stem: dict[str, dict[int, None]] = {}
        self.along: dict[str, dict[int, int]] = {}
        self.sessions: dict[int, list[int]] = {}
        self.actors: dict[int, list[int]] = {}
        self._done: list[_Done] = []
        self._places: dict[int, int] = {}
        self._concepts: list[dict[int, float]] = []
        self._uses: dict[int, int] = {}
        self._committed: list[int] = []
        self._branches: list[int] = []
        self._early: dict[int, list[Step]] = {}

    def __len__(self) -> int:
        return len(self._done)

    # ---- in and out ------------------------------------------------------------------------------

    def push(self, step: Step) -> None:
        """Add a step that is later than all others: by time, then by number.

        A later part may come before the first, whose files are its own then: what it changed and read is left
        out.
        """
        names = tuple(self._set_state(state) for state in step.states)
        place = self._places.get(step.occasion)
        before = None if place is None else self.occasions[place]
        told: tuple[str, ...] = ()
        if place is not None and before is not None:
            told = self.told[place]
            self._extend(place, before, step)
        elif step.key == step.occasion:
            place = self._begin(step)
        if place is None:
            self._early.setdefault(step.occasion, []).append(step)
        else:
            self._committed[place] += step.committed
            self._concepts[place] = _with(self._concepts[place], step.concepts)
            self._put_in(step, place)
        for concept, _ in step.concepts:
            self._uses[concept] = self._uses.get(concept, 0) + 1
        self._done.append(_Done(step, place, before, told, names))

    def pop(self) -> Step:
        """Take out the last step and return it; raises IndexError when there is none."""
        step, place, before, told, names = self._done.pop()
        for concept, _ in step.concepts:
            self._uses[concept] -= 1
        if place is None:
            self._early[step.occasion].pop()
        else:
            self._take_out(step, place)
            self._committed[place] -= step.committed
            for concept, _ in step.concepts:
                del self._concepts[place][concept]
            if before is None:
                self._unbegin(step)
            else:
                self.occasions[place], self.told[place] = before, told
        for state in reversed(names):
            self._set_state(state)
            trail = self.files[state.file]
            if not (trail.path or trail.edits or trail.reads):
                del self.files[state.file]
        return step

    def _put_in(self, step: Step, place: int) -> None:
        links = self.occasions[place].size != NO_PAIR_SIZE
        for file in step.edited:
            trail = self._trail(file)
            insort(trail.edits, place)
            trail.times.append(step.at)
            trail.heat = None
        for file in step.read:
            insort(self._trail(file).reads, place)
        if links:
            for file in (*step.edited, *step.read):
                self.files[file].touched.append(place)
        self.words.add(len(self._done), step.words, step.edited)
        self._count_along(step.edited, 1)

    def _take_out(self, step: Step, place: int) -> None:
        self._count_along(step.edited, -1)
        self.words.take_out(len(self._done), step.words, step.edited)
        if self.occasions[place].size != NO_PAIR_SIZE:
            for file in (*step.edited, *step.read):
                self.files[file].touched.pop()
        for file in step.edited:
            trail = self.files[file]
            _remove(trail.edits, place)
            trail.times.pop()
            trail.heat = None
        for file in step.read:
            _remove(self.files[file].reads, place)

    def last(self) -> Step | None:
        """Return the last step, None when there is none."""
        return self._done[-1].step if self._done else None

    def step(self, number: int) -> Step:
        """Return the step of that index, as the words count pieces of work."""
        return self._done[number].step

    def _begin(self, step: Step) -> int:
        place = len(self.occasions)
        links = step.links and step.size != NO_PAIR_SIZE
        edited, read = (step.edited, step.read) if links else ((), ())
        size = step.size if links else NO_PAIR_SIZE
        self.occasions.append(Occasion(step.occasion, step.at, step.session, step.actor, size, edited, read))
        self.told.append(step.words)
        self._places[step.occasion] = place
        early = self._early.get(step.occasion, ())
        self._concepts.append(_with({}, [concept for part in early for concept in part.concepts]))
        self._committed.append(sum(part.committed for part in early))
        self._branches.append(step.branch)
        if step.size > 0:
            self.sessions.setdefault(step.session, []).append(place)
            self.actors.setdefault(step.actor, []).append(place)
        return place

    def _extend(self, place: int, before: Occasion, step: Step) -> None:
        if before.size != NO_PAIR_SIZE:
            edited, read = (*before.edited, *step.edited), (*before.read, *step.read)
            self.occasions[place] = before._replace(edited=edited, read=read)
        self.told[place] = tuple(dict.fromkeys((*self.told[place], *step.words)))

    def _unbegin(self, step: Step) -> None:
        self.occasions.pop()
        self.told.pop()
        del self._places[step.occasion]
        for column in (self._concepts, self._committed, self._branches):
            column.pop()
        if step.size > 0:
            for lists, key in ((self.sessions, step.session), (self.actors, step.actor)):
                lists[key].pop()
                if not lists[key]:
                    del lists[key]

    def _trail(self, file: int) -> Trail:
        trail = self.files.get(file)
        if trail is None:
            trail = self.files[file] = Trail(file)
        return trail

    def _set_state(self, state: State) -> State:
        """Set a file's name and life, and return what they were; an empty name stands for no name yet."""
        trail = self._trail(state.file)
        before = State(state.file, trail.path, trail.alive)
        if state.path != trail.path:
            for shelf, key in ((self.by_folder, trail.name.folder), (self.by_stem, trail.name.stem)):
                if trail.path:
                    shelf[key].pop(state.file)
            trail.path, trail.name, trail.words = state.path, named(state.path), None
            for shelf, key in ((self.by_folder, trail.name.folder), (self.by_stem, trail.name.stem)):
                if trail.path:
                    shelf.setdefault(key, {})[state.file] = None
        trail.alive = state.alive
        return before

    def _count_along(self, files: Sequence[int], by: int) -> None:
        """Count how often each file is changed together with anything in a folder, by the names of now."""
        if not 2 <= len(files) <= FEW:
            return
        for folder in {self.files[file].name.folder for file in files}:
            counts = self.along.setdefault(folder, {})
            for file in files:
                counts[file] = counts.get(file, 0) + by
                if not counts[file]:
                    del counts[file]

    # ---- questions -------------------------------------------------------------------------------

    def path_words(self, path: str) -> frozenset[str]:
        """Return the words of a path."""
        words = self._words_by_path.get(path)
        if words is None:
            if len(self._words_by_path) >= _CACHED:
                self._words_by_path.clear()
            words = self._words_by_path[path] = frozenset(self._path_words(path))
        return words

    def words_of(self, trail: Trail) -> frozenset[str]:
        """Return the words of a file's path."""
        if trail.words is None:
            trail.words = self.path_words(trail.path)
        return trail.words

    def history(self, file: int) -> FileHistory:
        """Return what is known of a file, newest first; concepts as they are, not weighted."""
        trail = self.files.get(file)
        if trail is None:
            return FileHistory(file)
        edits = trail.edits[: -EDITS - 1 : -1]
        reads = trail.reads[: -EDITS - 1 : -1]
        return FileHistory(
            file=file,
            edits=tuple(self.occasions[place] for place in edits),
            reads=tuple(self.occasions[place] for place in reads),
            followers=tuple(self._following(place) for place in edits[:FOLLOWED]),
            concepts=self.profile(trail),
            read_followers=tuple(self._later(place) for place in reads[:FOLLOWED]),
            path=trail.path,
        )

    def _following(self, place: int) -> tuple[Occasion, ...]:
        """Return what came next: in the same session, or as the actor's next work within a day."""
        this = self.occasions[place]
        for places, latest in (
            (self.sessions.get(this.session, ()), None),
            (self.actors.get(this.actor, ()), this.at + DAY),
        ):
            after = bisect_right(places, place)
            if after < len(places):
                following = self.occasions[places[after]]
                if latest is None or following.at <= latest:
                    return (following,)
        return ()

    def _later(self, place: int) -> tuple[Occasion, ...]:
        places = self.sessions.get(self.occasions[place].session, ())
        after = bisect_right(places, place)
        return tuple(self.occasions[later] for later in places[after : after + LATER])

    def recent_of(self, actor: int) -> tuple[Occasion, ...]:
        """Return the last changing occasions of an actor, newest first."""
        places = self.actors.get(actor, ())
        return tuple(self.occasions[place] for place in places[: -RECENT - 1 : -1])

    def heat(self, files: Iterable[int], now: float) -> dict[int, float]:
        """Return how busy each file is at `now` (epoch seconds), see `inference.activity`."""
        found: dict[int, float] = {}
        for file in files:
            trail = self.files.get(file)
            if trail is not None:
                since = trail.times[-1] if trail.times else 0.0
                if trail.heat is None:
                    trail.heat = busyness(trail.times[: -HEAT_CHANGES - 1 : -1], since)
                found[file] = cooled(trail.heat, since, now)
        return found

    def profile(self, trail: Trail) -> dict[int, float]:
        """Return the concepts of a file's last occasions, summed weights by concept."""
        weights: dict[int, float] = {}
        for place in trail.touched[: -PROFILE_OCCASIONS - 1 : -1]:
            for concept, weight in self._concepts[place].items():
                weights[concept] = weights.get(concept, 0.0) + weight
        return weights

    def profiles(self, files: Iterable[int]) -> dict[int, dict[int, float]]:
        """Return `profile` of each of these files that is known."""
        return {file: self.profile(self.files[file]) for file in files if file in self.files}

    def frequencies(self, concepts: Iterable[int]) -> dict[int, int]:
        """Return in how many occasions each concept stands."""
        return {concept: self._uses[concept] for concept in concepts if self._uses.get(concept)}

    def total(self) -> int:
        """Return the number of occasions."""
        return len(self.occasions)

    def is_committed(self, place: int) -> bool:
        """Return whether a history recorded the occasion at a place."""
        return self._committed[place] > 0

    def branch(self, place: int) -> int:
        """Return the branch an occasion was made on, 0 where it is not known."""
        return self._branches[place]


def _with(concepts: dict[int, float], more: Sequence[tuple[int, float]]) -> dict[int, float]:
    """Return concepts with more of them, in order of their numbers: sums of floats depend on the order."""
    return dict(sorted((*concepts.items(), *more))) if concepts and more else concepts | dict(more)


def _remove(places: list[int], place: int) -> None:
    """Take a place out of an ordered list; mostly it is the last."""
    del places[bisect_left(places, place)]
