"""What will an agent's session edit yet? The score beside popularity, folder, git and all of them fused.

    python -m bench.sessions [PREFIX ...]      the table
    python -m bench.sessions --learn [PREFIX]  how the weights come about, with figures on later sessions

PREFIX.events.jsonl.gz and PREFIX.commits.jsonl.gz are a project's recorded sessions and its commits; where
none is named, those in $GRAPHMEM_DATA/agent-sessions. Figures are means over the sessions with at least two
edited files, the intervals hold 95 of 100 (bootstrap over sessions, differences paired). The weights of the
row "histories only" have never seen a recorded session; "GraphMem" has four numbers that were learned on
the public project, so that its figures there are those of the data that chose them.
"""

from __future__ import annotations

import argparse
import glob
import gzip
import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from bench.served import DATA_VARIABLE
from bench.session_fitting import UNSEEN, Asked, choice, sessions_asked, sittings_asked
from bench.session_memory import SessionMemory, SessionScore
from graphmem.evaluation import lines_of, read_source
from inference.metrics import Interval, bootstrap
from inference.session_baselines import STRONGEST, session_baselines
from inference.session_clues import Clues
from inference.session_replay import (
    Act,
    Commit,
    Session,
    SessionPredictor,
    SessionScores,
    replay_sessions,
    session_means,
)
from inference.session_score import WEIGHTS, strength

Measure = Callable[[SessionScores], float | None]
MEASURES: dict[str, Measure] = {
    "R@10": lambda row: row.later.recall_10,
    "unread R@10": lambda row: None if row.unread is None else row.unread.recall_10,
    "read time R@10": lambda row: row.at_reads,
}


def main() -> None:
    """Print the table, or how the weights come about."""
    parser = argparse.ArgumentParser(description="Measure what is said of a session's further work.")
    parser.add_argument("prefix", nargs="*", help="PREFIX.events.jsonl.gz and PREFIX.commits.jsonl.gz")
    parser.add_argument("--learn", action="store_true", help="learn the weights and print them")
    arguments = parser.parse_args()
    prefixes = arguments.prefix or [str(_data() / "agent-sessions" / "entireio")]
    if arguments.learn:
        _learn(prefixes[0])
        return
    for prefix in prefixes:
        sessions, commits = recorded(prefix)
        memory = SessionMemory()
        predictors: dict[str, SessionPredictor] = {
            **session_baselines(),
            "histories only": SessionScore(partial(strength, weights=_without(WEIGHTS, UNSEEN)), memory),
            "GraphMem": SessionScore(strength, memory),
        }
        print(f"\n{Path(prefix).name}")
        _print(replay_sessions(sessions, commits, predictors))


def _data() -> Path:
    data = os.environ.get(DATA_VARIABLE)
    if not data:
        sys.exit(f"Name a prefix, or set {DATA_VARIABLE} to the public data's folder.")
    return Path(data)


def recorded(prefix: str) -> tuple[list[Session], list[Commit]]:
    """Return a project's sessions and commits; a commit is known when it was both written and applied."""
    acts: dict[int, list[Act]] = defaultdict(list)
    for event in _lines(f"{prefix}.events.jsonl.gz"):
        at = datetime.fromisoformat(event["ts"].replace("Z", "+00:00")).timestamp()
        act = Act(at, event["p"], event["op"] != "read", event["br"] or "", str(event["turn"]))
        acts[event["s"]].append(act)
    sessions = [
        Session(f"session {number}", tuple(sorted(done, key=lambda act: act.at)))
        for number, done in acts.items()
    ]
    commits = [
        Commit(f"commit {commit['h']}", max(commit["at"], commit["ct"]), tuple(commit["f"]))
        for commit in _lines(f"{prefix}.commits.jsonl.gz")
    ]
    return sessions, commits


def _lines(file: str) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _without(weights: Clues, names: Sequence[str]) -> Clues:
    return weights._replace(**dict.fromkeys(names, 0.0))


# ---- the table ----------------------------------------------------------------------------------


def _print(rows: Mapping[str, Sequence[SessionScores]]) -> None:
    means = session_means(rows[STRONGEST])
    if means is None:
        print("no session edits two files")
        return
    print(
        f"{means.sessions} sessions, {means.unread_sessions} with unread targets, {means.reads} questions at "
        f"first reads; {means.known:.2f} of what was right had been seen before"
    )
    print(f"{'':18}" + "".join(f"{name:>16}  less {STRONGEST:20}" for name in MEASURES))
    for name, scores in rows.items():
        cells = []
        for measure in MEASURES.values():
            found = [value for row in scores if (value := measure(row)) is not None]
            mean = sum(found) / len(found) if found else 0.0
            gain = None if name == STRONGEST else bootstrap(_gains(measure, scores, rows[STRONGEST]))
            cells.append(f"{mean:16.3f}  {_interval(gain):25}")
        print(f"{name:18}" + "".join(cells))


def _gains(measure: Measure, scores: Sequence[SessionScores], others: Sequence[SessionScores]) -> list[float]:
    pairs = ((measure(row), measure(other)) for row, other in zip(scores, others, strict=True))
    return [one - other for one, other in pairs if one is not None and other is not None]


def _interval(found: Interval | None) -> str:
    return "" if found is None else f"{found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"


# ---- the weights --------------------------------------------------------------------------------


def _learn(prefix: str) -> None:
    taught = _from_histories()
    shared = choice(taught, [name for name in Clues._fields if name not in UNSEEN])
    print(f"from {len(taught)} sittings of histories: {_told(shared)}")
    sessions, commits = recorded(prefix)
    names = [session.name for session in sorted(sessions, key=lambda session: session.began)]
    half = len(names) // 2
    asked = sessions_asked(sessions, commits, set(names[:half]))
    early = choice(asked, UNSEEN, shared)
    print(f"from {len(asked)} questions of the first half of the sessions: {_told(early)}")
    memory = SessionMemory()
    predictors: dict[str, SessionPredictor] = {
        **session_baselines(),
        "histories only": SessionScore(partial(strength, weights=shared), memory),
        "first half": SessionScore(partial(strength, weights=early), memory),
    }
    later = set(names[half:])
    rows = replay_sessions(sessions, commits, predictors)
    print("figures of the second half, which chose nothing")
    _print({name: [row for row in scores if row.session in later] for name, scores in rows.items()})
    asked = sessions_asked(sessions, commits, set(names))
    print(f"from {len(asked)} questions of all sessions: {_told(choice(asked, UNSEEN, shared))}")


def _from_histories() -> list[Asked]:
    found: list[Asked] = []
    for path in sorted(glob.glob(str(_data() / "histories" / "*.jsonl.gz"))):
        found += sittings_asked(lines_of(read_source("jsonl", path)))
    return found


def _told(weights: Clues) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in weights._asdict().items() if value)


if __name__ == "__main__":
    main()
