"""How good the alerts are, measured through HTTP with the public replay protocol.

    python -m bench.http_replay [HISTORY.jsonl.gz ...] [--intent]

Each history is told to a real service line by line, and before each line of the test period the service is
asked. Prints hit@1, hit@5, recall@10 and MAP per history and their mean.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from api.schemas import ObservationOut
from bench.served import Served, histories, history_lines, served
from graphmem.capture.history_line import history_observation
from graphmem.capture.intake import MAX_FILES
from graphmem.model import Observation
from inference.lineage import Change, Mention
from inference.metrics import DEPTH
from inference.replay import Context, Line, Rules, replay

_BATCH = 1_000
_PATHS = ("files_modified", "files_added", "files_deleted")
_OWN_FIELDS = {"id", "session", "source", "actor", "type", "title", "renames", "at", *_PATHS}


class HttpPredictor:
    """The service as a predictor: lines are told in batches until a question needs them."""

    def __init__(self, service: Served, project: str, bodies: Sequence[dict[str, Any]]) -> None:
        self._service = service
        self._project = project
        self._bodies = bodies
        self._untold: list[dict[str, Any]] = []

    def observe(self, line: Line) -> None:
        """Take a line; it is told at the next question, or when a batch is full."""
        self._untold.append(self._bodies[line.number])
        if len(self._untold) >= _BATCH:
            self._tell()

    def predict(self, path: str, context: Context) -> Sequence[tuple[str, float]]:
        """Ask the service."""
        if self._untold:
            self._tell()
        answer = self._service.ask(
            "GET",
            f"{self._project}/impact",
            path=_sent(path),
            limit=DEPTH,
            session=context.session,
            actor=context.actor,
            intent=context.title,
        )
        return [(item["path"], item["probability"]) for item in answer["affected"]]

    def _tell(self) -> None:
        receipt = self._service.ask("POST", f"{self._project}/observations?wait=visible", self._untold)
        if receipt["rejected"]:
            raise SystemExit(f"refused: {receipt['rejected'][:3]}")
        self._untold.clear()


def _sent(path: str) -> str:
    """Return a path of git's as one says it to the service, where a leading `~` is the user's home."""
    return f"./{path}" if path.startswith("~") else path


def _body(observation: Observation) -> dict[str, Any]:
    """Return the observation as a body; of a bulk commit only as many files as a body may name."""
    body = ObservationOut.of(observation).model_dump(mode="json", include=_OWN_FIELDS)
    for field in _PATHS:
        body[field] = [_sent(path) for path in body[field][:MAX_FILES]]
    body["renames"] = [
        {end: _sent(path) for end, path in rename.items()} for rename in body["renames"][:MAX_FILES]
    ]
    return body


def _line(number: int, observation: Observation, files: Sequence[dict[str, str]]) -> Line:
    changes = {"A": Change.ADDED, "D": Change.DELETED, "R": Change.RENAMED}
    mentions = tuple(
        Mention(changes.get(entry["status"], Change.MODIFIED), entry["path"], entry.get("old_path"))
        for entry in files
    )
    return Line(number, observation.at, observation.session, observation.actor, observation.title, mentions)


def _run(service: Served, file: Path, rules: Rules) -> tuple[str, tuple[float, float, float, float]]:
    name = file.name.partition(".")[0]
    records = history_lines(file)
    observations = [history_observation(record, time.time()) for record in records]
    bodies = [_body(each) for each in observations]
    lines = [
        _line(number, observation, record["files"])
        for number, (observation, record) in enumerate(zip(observations, records, strict=True))
    ]
    began = time.perf_counter()
    predictor = HttpPredictor(service, service.project(name), bodies)
    outcome = replay(lines, {"http": predictor}, rules)["http"]
    taken = time.perf_counter() - began
    if outcome.scores is None:
        raise SystemExit(f"{name}: too short to be asked about.")
    found = outcome.scores
    figures = (found.hit_1, found.hit_5, found.recall_10, found.average_precision)
    return f"{_row(name, figures)} {outcome.lines:>6} {taken:>6.1f}", figures


def _row(name: str, figures: Sequence[float]) -> str:
    return f"{name:12} " + " ".join(f"{figure:>9.3f}" for figure in figures)


def main() -> None:
    """Run and print one line a history, then the mean."""
    parser = argparse.ArgumentParser(description="Replay histories through HTTP.")
    parser.add_argument("histories", nargs="*", help="history files; default: the eight of GRAPHMEM_DATA")
    parser.add_argument("--intent", action="store_true", help="give the commit's title as the task's words")
    arguments = parser.parse_args()
    print(f"{'history':12} {'hit@1':>9} {'hit@5':>9} {'recall@10':>9} {'MAP':>9} {'lines':>6} {'s':>6}")
    every = []
    with served() as service:
        for file in histories(arguments.histories):
            row, figures = _run(service, file, Rules(intent=arguments.intent))
            print(row, flush=True)
            every.append(figures)
    print(_row("mean", [sum(column) / len(every) for column in zip(*every, strict=True)]))


if __name__ == "__main__":
    main()
