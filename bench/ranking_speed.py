"""How long one ranked answer takes, in the library by its parts, and over HTTP beside an empty route.

    python -m bench.ranking_speed                    # generated: 10,000 observations of 5,000 files
    python -m bench.ranking_speed HISTORY.jsonl.gz ...    # histories instead
    ... [--questions 300] [--no-http]

Asked is about files as often as the last changes changed them, and about as many that any change did, each
as an author who is at work, every second time with a task's words. *Library* is the predictor that answers
`/impact`, without the rest of that answer; its parts are timed where they are called, each without what it
calls of the others: finding (histories and candidates), features, the model (or the closed form with its
evidence), evidence, and what is left, such as names. Milliseconds of the thread's own work, so that other
load on the machine counts little, and, where it is said so, as they are waited for; which predictor stood is
printed.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import urlencode

from bench.served import histories, percentile, served
from graphmem.evaluation import lines_of, read_source
from graphmem.evaluation_predictor import RecallPredictor
from graphmem.model import Observation
from inference.replay import Context

OBSERVATIONS = 10_000
FILES = 5_000
AUTHORS = 25
PART = 40
SKEW = 1.1
SEED = 5
HOUR = 3_600.0
START = 1_700_000_000.0
WARM_UP = 30
WORDS = (
    "fix",
    "cache",
    "login",
    "parser",
    "report",
    "test",
    "route",
    "index",
    "query",
    "retry",
    "token",
    "page",
)
REST = "the rest"
PARTS = {
    "finding": (
        "graphmem.recall.predictor:gather",
        "inference.ranker:candidates",
        "inference.ranker:signals",
        "inference.chronicle:Chronicle.history",
    ),
    "features": ("inference.ranker:columns",),
    "model": ("graphmem.ranking_model:RankingModel.order", "graphmem.ranking_model:RankingModel.chance"),
    "closed form": ("graphmem.recall.predictor:rank",),
    "evidence": ("graphmem.recall.predictor:evidence",),
    "session": ("graphmem.recall.predictor:session_scores",),
}
"""What is timed of each part; what is not there (any more) is passed over."""


class Asked(NamedTuple):
    """One question."""

    path: str
    actor: str
    session: str
    task: str | None


class Taken(NamedTuple):
    """Seconds of one question."""

    worked: float
    waited: float


class Stopwatch:
    """Adds up the own seconds of each part, without what it calls of the others."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._open: list[float] = []

    def timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, timed."""

        @wraps(function)
        def run(*given: Any, **named: Any) -> Any:
            self._open.append(0.0)
            began = time.thread_time()
            try:
                return function(*given, **named)
            finally:
                taken = time.thread_time() - began
                self.seconds[part] = self.seconds.get(part, 0.0) + taken - self._open.pop()
                if self._open:
                    self._open[-1] += taken

        return run

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time the parts while this is open."""
        with ExitStack() as stack:
            for part, places in PARTS.items():
                for place in places:
                    holder, name = _found(place)
                    if holder is not None and hasattr(holder, name):
                        stack.enter_context(
                            patch.object(holder, name, self.timed(part, getattr(holder, name)))
                        )
            yield


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description="Time ranked answers, in the library and over HTTP.")
    parser.add_argument("histories", nargs="*", help="history files; default: generated work")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--no-http", action="store_true", help="only in the library")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="graphmem-bench-") as name:
        files = histories(arguments.histories) if arguments.histories else [written(Path(name))]
        for file in files:
            observations = read_source("jsonl", str(file))
            asked = questions(observations, arguments.questions)
            paths = {path for each in observations for path in each.files_modified}
            print(f"{file.name.partition('.')[0]}: {len(observations)} observations, {len(paths)} files")
            in_library(observations, asked)
            if not arguments.no_http:
                over_http(file, asked)


def questions(observations: Sequence[Observation], count: int) -> list[Asked]:
    """Return what is asked: half of it about what was changed last, half about anything that ever was."""
    chance = random.Random(SEED)
    named = [(path, each) for each in observations for path in each.files_modified]
    late = named[-max(1, len(named) // 10) :]
    drawn = [chance.choice(pool) for pool in (late, named) for _ in range(count // 2)]
    chance.shuffle(drawn)
    return [
        Asked(path, each.actor, f"question {place}", each.title if place % 2 else None)
        for place, (path, each) in enumerate(drawn)
    ]


def in_library(observations: Sequence[Observation], asked: Sequence[Asked]) -> None:
    """Print the times of the predictor and of its parts."""
    lines = lines_of(observations)
    now = max(line.at for line in lines) + HOUR
    with closing(RecallPredictor(observations)) as recall:
        began = time.process_time()
        for line in lines:
            recall.observe(line)
        _ask(recall, asked[:WARM_UP], now)
        print(f"  learned in {time.process_time() - began:.1f} s of own work")
        taken = _ask(recall, asked, now)
        stopwatch = Stopwatch()
        with stopwatch.watching():
            whole = sum(each.worked for each in _ask(recall, asked, now))
    predictor = "the ranking model" if "model" in stopwatch.seconds else "the closed form"
    print(f"  library, {predictor:20} {_times([each.worked for each in taken])}")
    print(f"    as waited for               {_times([each.waited for each in taken])}")
    parts = stopwatch.seconds | {REST: whole - sum(stopwatch.seconds.values())}
    shown = (f"{part} {1_000 * seconds / len(asked):.2f}" for part, seconds in parts.items())
    print(f"    mean of the parts: {', '.join(shown)}")


def _ask(recall: RecallPredictor, asked: Sequence[Asked], now: float) -> list[Taken]:
    taken = []
    for question in asked:
        context = Context(now, question.session, question.actor, question.task)
        worked, waited = time.thread_time(), time.perf_counter()
        recall.predict(question.path, context)
        taken.append(Taken(time.thread_time() - worked, time.perf_counter() - waited))
    return taken


def over_http(file: Path, asked: Sequence[Asked]) -> None:
    """Print the times of whole answers in a real service, and of its empty route between them."""
    impact: list[float] = []
    empty: list[float] = []
    with served() as service:
        project = service.project(file.name.partition(".")[0])
        service.import_jsonl(project, file)
        service.ask("POST", f"{project}/infer")
        for number, question in enumerate((*asked[:WARM_UP], *asked)):
            given = {"path": question.path, "actor": question.actor, "session": question.session}
            given |= {} if question.task is None else {"intent": question.task}
            for route, times in ((f"{project}/impact?{urlencode(given)}", impact), ("/healthz", empty)):
                began = time.perf_counter()
                status, answer = service.raw("GET", route)
                if status != 200:
                    raise SystemExit(f"{route}: {status} {answer[:300]!r}")
                if number >= WARM_UP:
                    times.append(time.perf_counter() - began)
    ratio = percentile(impact, 0.5) / percentile(empty, 0.5)
    print(f"  HTTP, as waited for           {_times(impact)}   {ratio:.1f}x the empty route")
    print(f"    an empty route              {_times(empty)}")


def _times(seconds: list[float]) -> str:
    shown = (f"p{share} {1_000 * percentile(seconds, share / 100):6.2f} ms" for share in (50, 95, 99))
    return "   ".join(shown)


def _found(place: str) -> tuple[Any, str]:
    module, _, name = place.partition(":")
    try:
        holder: Any = importlib.import_module(module)
    except ModuleNotFoundError:
        return None, name
    *classes, name = name.split(".")
    for each in classes:
        holder = getattr(holder, each, None)
    return holder, name


# ---- generated work ------------------------------------------------------------------------------


def written(folder: Path) -> Path:
    """Write the generated work as a history file and return it."""
    file = folder / "generated.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, generated())).encode()))
    return file


def generated(observations: int = OBSERVATIONS, files: int = FILES) -> Iterator[dict[str, Any]]:
    """Yield lines: first each part of the project comes up, then sittings of authors, each in one part.

    Few files and few authors do most of it. Half of the changes are of one or two files, one in a hundred is
    of many, every tenth changes the log, too.
    """
    chance = random.Random(SEED)
    shares = [1.0 / (place + 1) ** SKEW for place in range(files)]
    parts: dict[int, list[int]] = {}
    for file in range(files):
        parts.setdefault(chance.randrange(1 + files // PART), []).append(file)
    part_of = {file: part for part, members in parts.items() for file in members}
    names = [f"src/part{part_of[file]}/{WORDS[file % len(WORDS)]}_{file}.py" for file in range(files)]
    at = START
    for number, (part, members) in enumerate(sorted(parts.items())):
        at += HOUR
        yield _line(number, at, 0, f"begin part{part}", [names[file] for file in members], "A")
    authors = [1.0 / (place + 1) for place in range(AUTHORS)]
    number = len(parts)
    while number < observations:
        (author,) = chance.choices(range(AUTHORS), authors)
        (busy,) = chance.choices(range(files), shares)
        members = parts[part_of[busy]]
        weights = [shares[file] for file in members]
        at += chance.expovariate(1.0 / (4 * HOUR))
        for _ in range(min(chance.randint(1, 6), observations - number)):
            at += chance.uniform(60.0, HOUR)
            size = PART if chance.random() < 0.01 else 1 + int(chance.expovariate(0.5))
            paths = sorted({names[file] for file in chance.choices(members, weights, k=size)})
            if chance.random() < 0.1:
                paths.append("CHANGES.md")
            title = f"{chance.choice(WORDS)} {chance.choice(WORDS)} of part{part_of[busy]}"
            yield _line(number, at, author, title, paths, "M")
            number += 1


def _line(
    number: int, at: float, author: int, title: str, paths: Sequence[str], status: str
) -> dict[str, Any]:
    return {
        "id": f"c{number}",
        "ts": _iso(at),
        "author": f"a{author}",
        "session": f"a{author}-{int(at // (24 * HOUR))}",
        "title": title,
        "files": [{"path": path, "status": status} for path in paths],
    }


def _iso(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


if __name__ == "__main__":
    main()
