"""Owns `graphmem demo`: a story and a real history go in, and what an agent would be told is shown.

Everything happens in a throw-away home. It is not an import (`api.cli_import`), nor the look of the demo
(`api.demo_view`), and decides nothing about what is linked; it only chooses what is worth showing.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from api.backend import HistorySource, Shape
from api.backend_graph import EdgeQuestion, WalkQuestion
from api.backend_local import LocalBackend
from api.progress import ProgressBar
from api.schemas import ImpactOut
from api.shipped import shipped
from graphmem import Memory, Project
from graphmem.errors import SourceError
from graphmem.graph import Decision, Direction, EdgeOrder, Relation, VerdictKind
from graphmem.home import Home
from graphmem.instant import HOUR, from_iso
from graphmem.repository import locate

STORY = "observations.jsonl"
_STORY_PACKAGE = "graphmem_story"
_EDGES = 3
_MODULES = 4
_LINKS = 3
_CANDIDATES = 20
_DIGEST_TOKENS = 200


@dataclass(frozen=True, slots=True)
class Showing:
    """What there is to show of one history: what went in, the answer about one file, edges, modules.

    `confirmed` is an edge that the demo itself has confirmed, `dependents` the exact answer since then, and
    `overview` the digest; these are of the story alone.
    """

    report: Shape
    sessions: int
    files: int
    answer: Shape | None
    edges: tuple[Shape, ...]
    modules: tuple[Shape, ...]
    confirmed: Shape | None = None
    dependents: Shape | None = None
    overview: Shape | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the demo; without a showing, `sentence` says why there is none."""

    name: str
    title: str
    showing: Showing | None = None
    sentence: str = ""


def story_file() -> Path:
    """Return the story's file: beside the packages in a source tree, else as installed with them.

    Raises:
        SourceError: this installation came without it.
    """
    return shipped("story", _STORY_PACKAGE, STORY, "or try `graphmem import git .` in a repository of yours.")


@contextmanager
def demo_home(keep: Path | None) -> Iterator[Path]:
    """Provide the home of the demo: `keep`, which stays, or a temporary one, which is removed."""
    if keep is not None:
        Home(keep).prepare()
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="graphmem-demo-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def parts(home: Path, repository: Path | None, *, insist: bool) -> Iterator[Part]:
    """Yield the story, then the history of `repository`, each as soon as it is imported.

    Raises:
        SourceError: the story is missing, or, with `insist`, the repository can't be read.
    """
    yield Part("story", "1. A story: people and agents build a web shop", _story(home))
    if repository is None:
        sentence = "There is none around the current folder: name one with --repo PATH."
        yield Part("history", "2. A real history", None, sentence)
        return
    title = f"2. A real history: {repository.name}"
    source = HistorySource("git", str(repository))
    try:
        part = Part("history", title, _history(home, repository, source))
    except SourceError as error:
        if insist:
            raise
        part = Part("history", title, None, str(error))
    yield part


def _story(home: Path) -> Showing:
    """Import the story as if it were the evening of its last day, and choose what to show."""
    source = story_file()
    with source.open(encoding="utf-8") as lines:
        last = max(from_iso(json.loads(line)["at"]) for line in lines)
    shop = home / "shop"
    shop.mkdir(exist_ok=True)
    with _imported(home, shop, HistorySource("jsonl", str(source)), lambda: last + HOUR) as imported:
        found = imported.showing()
        return imported.judged(found)


def _history(home: Path, repository: Path, source: HistorySource) -> Showing:
    with _imported(home, repository, source, time.time) as imported:
        return imported.showing()


@dataclass(frozen=True, slots=True)
class _Imported:
    """A project with a history in it, to choose from."""

    backend: LocalBackend
    project: Project
    slug: str
    report: Shape

    def showing(self) -> Showing:
        """Return what is worth showing of it."""
        graph = self.backend.graph
        graph.infer(self.slug)
        stats = self.project.stats()
        question = EdgeQuestion(order=EdgeOrder.VALUE, limit=_EDGES)
        return Showing(
            self.report,
            stats.sessions,
            stats.files,
            _worth_showing(self.project),
            tuple(graph.edges(self.slug, question)["items"]),
            tuple(graph.modules(self.slug, 0, _MODULES, None)["items"]),
        )

    def judged(self, found: Showing) -> Showing:
        """Confirm that the foremost neighbour depends on the file shown, and return what is exact now."""
        if found.answer is None or not found.answer["affected"]:
            return found
        node = f"file:{found.answer['path']}"
        other = f"file:{found.answer['affected'][0]['path']}"
        graph = self.backend.graph
        edges = graph.edges(self.slug, EdgeQuestion(node=node, limit=_CANDIDATES))["items"]
        chosen = [edge for edge in edges if other in {edge["from"]["ref"], edge["to"]["ref"]}]
        if not chosen:
            return found
        direction = Direction.BACKWARD if chosen[0]["from"]["ref"] == node else Direction.FORWARD
        decision = Decision(chosen[0]["id"], VerdictKind.CONFIRM, Relation.DEPENDS_ON, direction, by="you")
        (confirmed,) = graph.judge(self.slug, [decision])["items"]
        return replace(
            found,
            confirmed=confirmed,
            dependents=graph.depends(self.slug, WalkQuestion(node)),
            overview=graph.overview(self.slug, _DIGEST_TOKENS),
        )


@contextmanager
def _imported(
    home: Path, root: Path, source: HistorySource, clock: Callable[[], float]
) -> Iterator[_Imported]:
    memory = Memory(home, clock=clock)
    with LocalBackend(memory) as backend, ProgressBar("Reading the history") as progress:
        slug = backend.register(str(root))["slug"]
        report = backend.import_history(slug, source, progress)
        if report["stopped"]:
            raise KeyboardInterrupt
        yield _Imported(backend, memory.project(slug), slug, report)


def _worth_showing(project: Project) -> Shape | None:
    """Return the impact of the busiest file with an alert, or else of the one with the surest neighbour."""
    linked = [file for link in project.strongest_links(_LINKS) for file in (link.a, link.b)]
    best: Shape | None = None
    for file in dict.fromkeys([*project.busiest_files(_CANDIDATES), *linked]):
        answer = ImpactOut.of(project.impact([file])).model_dump(mode="json")
        if answer["warning"]:
            return answer
        if answer["affected"] and _surest(answer) > (_surest(best) if best else 0.0):
            best = answer
    return best


def _surest(answer: Shape) -> float:
    return max(float(item["probability"]) for item in answer["affected"])


def repository_around(folder: Path) -> Path | None:
    """Return the top of the repository around `folder`, or None."""
    checkout = locate(folder)
    return None if checkout is None else Path(checkout.root or checkout.common_dir)


def plain(part: Part) -> Shape:
    """Return one part of the demo as plain data, in HTTP's shapes."""
    found = part.showing
    if found is None:
        return {"reason": part.sentence}
    told = {"report": found.report, "impact": found.answer}
    graph = {"edges": list(found.edges), "modules": list(found.modules)}
    use = {"confirmed": found.confirmed, "dependents": found.dependents, "overview": found.overview}
    return told | graph | {name: shape for name, shape in use.items() if shape is not None}
