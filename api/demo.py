"""Owns `graphmem demo`: a story and a real history go in, and what an agent would be told is shown.

Everything happens in a throw-away home. It is not an import (`api.cli_import`) and decides nothing about
what is linked; it only chooses what is worth showing.
"""

from __future__ import annotations

import importlib.util
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.text import Text

from api.backend import HistorySource, Shape
from api.backend_local import LocalBackend
from api.impact_view import affected_row
from api.isolation import own_root
from api.progress import ProgressBar
from api.schemas import ImpactOut, LinkOut
from api.screen import Screen, counted, evidence_words, percent
from graphmem import Memory, Project
from graphmem.errors import SourceError
from graphmem.home import Home
from graphmem.instant import HOUR, from_iso
from graphmem.repository import locate

STORY = "observations.jsonl"
_STORY_PACKAGE = "graphmem_story"
_LINKS = 3
_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Showing:
    """What there is to show of one history: what went in, the answer about one file, the strongest links."""

    report: Shape
    sessions: int
    files: int
    answer: Shape | None
    links: tuple[Shape, ...]


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
    beside = Path(own_root(), "fixtures", "story", STORY)
    if beside.is_file():
        return beside
    spec = importlib.util.find_spec(_STORY_PACKAGE)
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if Path(folder, STORY).is_file():
            return Path(folder, STORY)
    raise SourceError(
        "The demo's story is not part of this installation: install GraphMem anew, "
        "or try `graphmem import git .` in a repository of yours."
    )


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
        part = Part("history", title, _showing(home, repository, source, time.time))
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
    return _showing(home, shop, HistorySource("jsonl", str(source)), lambda: last + HOUR)


def _showing(home: Path, root: Path, source: HistorySource, clock: Callable[[], float]) -> Showing:
    memory = Memory(home, clock=clock)
    with LocalBackend(memory) as backend, ProgressBar("Reading the history") as progress:
        slug = backend.register(str(root))["slug"]
        report = backend.import_history(slug, source, progress)
        if report["stopped"]:
            raise KeyboardInterrupt
        project = memory.project(slug)
        stats = project.stats()
        links = tuple(LinkOut.of(link).model_dump(mode="json") for link in project.strongest_links(_LINKS))
        return Showing(report, stats.sessions, stats.files, _worth_showing(project, links), links)


def _worth_showing(project: Project, links: Sequence[Shape]) -> Shape | None:
    """Return the impact of the busiest file with an alert, or else of the one with the surest neighbour."""
    linked = [link[end] for link in links for end in ("a", "b")]
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


def show(screen: Screen, part: Part) -> None:
    """Print one part of the demo."""
    screen.heading(part.title)
    found = part.showing
    if found is None:
        screen.line(part.sentence, indent=2)
        return
    report = found.report
    taken = counted(report["accepted"], "commit" if report["source"] == "git" else "observation")
    known = f"{counted(found.sessions, 'session')}, {counted(found.files, 'file')}"
    screen.line(f"{taken}, {known}", (f"  in {report['took_ms'] / 1000:.1f} s", "dim"), indent=2)
    for item in report["left_out"]:
        screen.line((f"{counted(item['count'], 'file')} left out: {item['reason']}", "dim"), indent=2)
    for remark in report["remarks"]:
        screen.line((remark, "dim"), indent=2)
    screen.gap()
    if found.answer is None:
        screen.line("Little history yet: no two files have changed together often enough.", indent=2)
        return
    _show_alert(screen, found.answer)
    _show_links(screen, found.links)


def _show_alert(screen: Screen, answer: Shape) -> None:
    file = screen.path(answer["path"], screen.width - 40, "bold")
    if answer["warning"]:
        screen.line("Before an edit of ", file, " an agent is told:", indent=2)
        screen.panel("", answer["warning"], indent=2)
        return
    screen.line("Before an edit of ", file, " an agent is told nothing:", indent=2)
    likely = any(item["tier"] != "possible" for item in answer["affected"][:_LINKS])
    reason = "what is likely was seen in one session only" if likely else "no file is linked strongly enough"
    screen.line(f"{reason}. The nearest ones:", indent=2)
    screen.grid([affected_row(screen, item) for item in answer["affected"][:_LINKS]])


def _show_links(screen: Screen, links: Sequence[Shape]) -> None:
    if not links:
        return
    screen.gap()
    screen.line("Strongest links", indent=2)
    room = (screen.width - 13) // 2
    screen.grid(
        (
            Text(percent(link["probability"])),
            Text.assemble(
                screen.path(link["a"], room),
                ("  and  ", "dim"),
                screen.path(link["b"], room),
                (f"\n{evidence_words(link['evidence'])}", "dim"),
            ),
        )
        for link in links
    )


def plain(part: Part) -> Shape:
    """Return one part of the demo as plain data, in HTTP's shapes."""
    found = part.showing
    if found is None:
        return {"reason": part.sentence}
    return {"report": found.report, "impact": found.answer, "links": list(found.links)}
