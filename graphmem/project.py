"""Owns one project as a library user sees it: what is stored in it and what is asked of its history.

It is not the set of projects (that is `memory`), nor its graph (that is `project_graph`, at `graph`), nor the
files (that is `access`). Safe to share between threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from graphmem.access import Access, Ground, check_limit
from graphmem.capture.git import GitImporter
from graphmem.capture.importing import Progress, run_import
from graphmem.capture.jsonl import JsonlImporter
from graphmem.capture.source import Importer
from graphmem.errors import InvalidInputError
from graphmem.figures import ProjectStats
from graphmem.journal import Stored
from graphmem.model import (
    Impact,
    ImportReport,
    Link,
    Observation,
    ObservationFilter,
    ObservationPage,
    ProjectInfo,
    Receipt,
    SessionPage,
    SessionSummary,
)
from graphmem.opened import Opened
from graphmem.postings import View
from graphmem.project_advice import ProjectAdvice
from graphmem.project_capture import ProjectCapture
from graphmem.project_code import ProjectCode
from graphmem.project_corpora import ProjectCorpora
from graphmem.project_graph import ProjectGraph
from graphmem.project_keeping import ProjectKeeping
from graphmem.project_query import ProjectQuery
from graphmem.question import Answer, Filters, Piece
from graphmem.question import Question as QuestionInWords
from graphmem.recall import listing, survey
from graphmem.recall.impact import impact, unfinished
from graphmem.recall.surroundings import Question
from graphmem.recall.switches import EVERYTHING, Switches
from graphmem.record import storable
from graphmem.task_words import task_words

_BUSY_FOR = 600.0
_SWITCHES = 1_000


class Project:
    """One project of a memory; get it from `Memory.project` or `Memory.register`."""

    def __init__(self, id: str, ground: Ground, opened: Callable[[Project], None]) -> None:
        self.id = id
        self._access = Access(id, ground, lambda: opened(self))
        self.graph = ProjectGraph(self._access)
        self.code = ProjectCode(self._access)
        # Asked at every event of every session; only this process can change it.
        self._switches: dict[str | None, bool] = {}
        self.capture = ProjectCapture(self._access)
        self.keeping = ProjectKeeping(self._access, self.capture)
        self.advice = ProjectAdvice(self._access)
        self._questions = ProjectQuery(self._access, self.graph.lending.ask)
        self.corpora = ProjectCorpora(self._access, self.resolve, self.query)

    def close(self, *, only_if_idle: bool = False) -> bool:
        """Close the files until the next use; with `only_if_idle` not while somebody uses them."""
        self.graph.rest()
        return self._access.close(only_if_idle=only_if_idle)

    def end(self) -> None:
        """Close the files for good."""
        self._access.end()

    @property
    def info(self) -> ProjectInfo:
        """The project's names and places, and how many observations it holds."""
        return replace(self._access.registry.project(self.id), observations=self._access.count())

    # ---- writing --------------------------------------------------------------------------------

    def observe(self, items: Sequence[Mapping[str, object] | Observation]) -> Receipt:
        """Store observations; what the receipt counts as accepted is on the disk when this returns.

        A mapping has the shape of an observation from outside and passes the intake; the good ones of a
        batch are stored, the bad ones listed by index.
        """
        with self._access.use() as files:
            now = self._access.clock()
            taken, rejected = files.judge(items, now)
            # One that was forgotten must leave nothing when it is sent again.
            new = [observation for observation in taken if not files.journal.holds(observation.id)]
            seen, elsewhere = files.workspace.sightings(new, now)
            outcome = files.journal.append(taken, now, sighted=seen, unsighted=elsewhere)
            files.follower.notify()
            files.curator.notice()
            files.vectors.notice()
        accepted = outcome.count(Stored.INSERTED)
        return Receipt(
            accepted=accepted,
            duplicates=len(outcome) - accepted,
            rejected=tuple(rejected),
            ids=tuple(observation.id for observation in taken),
            notes=tuple(dict.fromkeys(note for observation in taken for note in observation.notes)),
        )

    def forget(self, id: str) -> None:
        """Forget an observation everywhere; its id stays taken.

        Raises:
            NotFoundError: there is none with that id.
        """
        self.keeping.forget((id,))

    def captures(self, session: str | None = None) -> bool:
        """Return whether work is recorded here: the project's, and the session's where one is named."""
        switches = self._switches
        known = switches.get(session)
        if known is None:
            with self._access.use() as files:
                known = files.journal.captured.captures(session or "")
            if len(switches) >= _SWITCHES:
                switches.clear()
            switches[session] = known
        return known

    def set_capturing(self, on: bool, session: str | None = None) -> None:
        """Switch the recording of agents' work on or off, for the project or for one session of it."""
        with self._access.use() as files:
            files.journal.captured.set_capturing(on, session)
        self._switches = {}  # whoever read the former state just now notes it where nobody looks any more

    def wait_visible(self, timeout: float = 30.0) -> bool:
        """Wait until every question sees what is stored now; False when that takes longer (seconds)."""
        with self._access.use() as files:
            return files.follower.wait(timeout)

    def wait_vectors(self, timeout: float = 30.0) -> bool:
        """Wait until what is stored now has its vectors; False when that takes longer or can't be."""
        with self._access.use() as files:
            return files.vectors.wait(timeout)

    def vectors_behind(self) -> str | None:
        """Return what answers lack of vectors, as part of a sentence; None when they lack nothing."""
        with self._access.use() as files:
            return files.vectors.behind()

    def rebuild(self) -> None:
        """Build the derived file anew from the journal."""
        with self._access.use() as files:
            files.follower.rebuild()
            files.follower.wait(_BUSY_FOR)
            files.vectors.notice()

    def import_git(
        self,
        location: str,
        *,
        ref: str = "HEAD",
        include: Sequence[str] = (),
        progress: Progress | None = None,
        stop: threading.Event | None = None,
    ) -> ImportReport:
        """Take in all that is new in a git history, one observation a commit; resumable at every batch.

        Args:
            location: a repository or a folder in one.
            ref: whose history to read.
            include: globs of vendored or generated paths to keep.
            progress: told `(commits done, commits in all or None)`.
            stop: ends the import at the next batch.

        Raises:
            SourceError: no repository, no commits, a corrupt object; what came before is stored.
        """
        return self._import(GitImporter(location, ref=ref, include=include), progress, stop)

    def import_jsonl(
        self,
        location: str,
        *,
        progress: Progress | None = None,
        stop: threading.Event | None = None,
    ) -> ImportReport:
        """Take in a file of observations or history lines, plain or gzip; a second run adds nothing.

        Raises:
            SourceError: the file can't be read.
        """
        return self._import(JsonlImporter(location), progress, stop)

    def _import(
        self, importer: Importer, progress: Progress | None, stop: threading.Event | None
    ) -> ImportReport:
        with self._access.use() as files:
            report = run_import(
                importer,
                files.journal,
                files.follower,
                lambda items: files.judge(items, self._access.clock()),
                progress,
                stop,
            )
            seen = files.workspace.new_sightings(self._access.ask(lambda view, _: survey.living_paths(view)))
            files.journal.append((), self._access.clock(), sighted=seen)
            files.curator.notice(hurry=True)
            files.vectors.notice()
        return report

    # ---- questions ------------------------------------------------------------------------------

    def impact(
        self,
        paths: Sequence[str],
        *,
        intent: str | None = None,
        session: str | None = None,
        actor: str | None = None,
        branch: str | None = None,
        as_of: float | None = None,
        limit: int = 10,
    ) -> Impact:
        """Say what may be affected by a change of `paths`, and what goes on around them.

        The last work of `actor` makes its files likelier, and so do the words of `intent`, the task at hand;
        `branch` is taken for later and changes nothing yet. `as_of` (epoch seconds) answers from what was
        known then.

        Raises:
            InvalidInputError: no path, a path outside the root, or `limit` outside 1 to 200.
        """
        del branch
        check_limit(limit)
        resolved = self.resolve(paths)
        now = self._access.clock() if as_of is None else as_of
        asking, asker = (None if name is None else storable(name) for name in (session, actor))
        question = Question(resolved, asking, asker, limit, task_words(intent or ""))

        def answer(view: View, files: Opened) -> Impact:
            def missing(candidates: Sequence[str]) -> set[str]:
                # The disk only tells of the present.
                return set() if as_of is not None else files.workspace.missing(candidates)

            return impact(view, question, now, missing, files.follower.behind(), files.journal)

        return self._access.ask(answer, as_of)

    def resolve(self, paths: Sequence[str], cwd: str | None = None) -> tuple[str, ...]:
        """Return the paths relative to the root, each once.

        Raises:
            InvalidInputError: there is none, or one lies outside the root.
        """
        with self._access.use() as files, files.workspace.reading() as resolver:
            found = [resolver.resolve(path, cwd) for path in paths]
        kept = tuple(dict.fromkeys(path for path in found if path is not None))
        if not kept:
            raise InvalidInputError("No file was named; give at least one path.", "path")
        return kept

    def observations(
        self, where: ObservationFilter | None = None, limit: int = 20, cursor: str | None = None
    ) -> ObservationPage:
        """Return a page of observations, newest first; the filter's file is resolved as everywhere.

        Raises:
            InvalidInputError: the file lies outside the root, or the cursor or limit is not usable.
        """
        check_limit(limit)
        chosen = where or ObservationFilter()
        if chosen.file is not None:
            chosen = replace(chosen, file=self.resolve([chosen.file])[0])
        return self._access.ask(
            lambda view, files: listing.observations(view, files.journal, chosen, limit, cursor), chosen.as_of
        )

    def observation(self, id: str) -> Observation:
        """Return one observation.

        Raises:
            NotFoundError: there is none with that id.
        """
        return self.keeping.observation(id)

    def sessions(self, limit: int = 20, cursor: str | None = None) -> SessionPage:
        """Return a page of sessions, the latest first."""
        check_limit(limit)
        return self._access.ask(lambda view, files: listing.sessions(view, files.journal, limit, cursor))

    def session(self, id: str) -> SessionSummary:
        """Return one session.

        Raises:
            NotFoundError: there is none of that name.
        """
        return self._access.ask(lambda view, files: listing.session(view, files.journal, storable(id)))

    def search(
        self,
        text: str,
        limit: int = 20,
        since: float | None = None,
        until: float | None = None,
        types: Sequence[str] = (),
    ) -> list[Piece]:
        """Return the best piece of each observation that answers, best first; `query` tells more."""
        kinds = tuple(storable(type) for type in types)
        asked = QuestionInWords(text, limit, filters=Filters(since=since, until=until, types=kinds))
        best: dict[int, Piece] = {}
        for piece in self.query(asked).pieces:
            best.setdefault(piece.seq, piece)
        return list(best.values())

    def query(self, question: QuestionInWords, switches: Switches = EVERYTHING) -> Answer:
        """Return what answers a question in words: pieces, nodes, and a context within its budget.

        Raises:
            InvalidInputError: the limit is out of range, or the filter's file outside the root.
        """
        path = question.filters.file
        if path is not None:
            inside = replace(question.filters, file=self.resolve([path])[0])
            question = replace(question, filters=inside)
        return self._questions.ask(question, switches)

    def degraded(self) -> str | None:
        """Return what answers lack while the derived file is being rebuilt, None when they lack nothing."""
        with self._access.use() as files:
            behind = files.follower.behind()
        return None if behind is None else unfinished(*behind)

    def stats(self) -> ProjectStats:
        """Return counts and sizes."""
        with self._access.use() as files:
            sizes = survey.Sizes(
                files.journal.size_bytes(),
                files.follower.size_bytes(),
                files.follower.lag(),
                files.vectors.stats(),
            )
        return self._access.ask(lambda view, files: survey.stats(view, sizes, files.journal.captured))

    def strongest_links(self, limit: int = 10) -> list[Link]:
        """Return the pairs of files that most surely change together."""
        check_limit(limit)
        now = self._access.clock()
        return self._access.ask(
            lambda view, files: survey.strongest_links(view, limit, now, files.workspace.missing)
        )

    def busiest_files(self, limit: int = 10) -> list[str]:
        """Return the living files that were changed most often, noise left out."""
        check_limit(limit)
        return self._access.ask(
            lambda view, files: survey.busiest_files(view, limit, files.workspace.missing)
        )

    def applied(self) -> int:
        """Return how many journal entries were ever carried into the present derived file."""
        with self._access.use() as files:
            return files.follower.applied()
