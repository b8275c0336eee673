"""Owns how edges look to a person: both names, what is known of them in words, their status and history.

It is not the edges (`api.schemas_graph.EdgeOut`); it takes that shape as plain data. The words for relations
and kinds are here for the other views too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from api.screen import Screen, counted, day, minute, percent, worded
from api.terminal_text import clean, one_line

Shape = Mapping[str, Any]
_INDENT = 8
_RELATIONS = {
    "depends_on": "depends on",
    "tests": "tests",
    "documents": "documents",
    "configures": "configures",
    "implements": "implements",
}
_TIMES = {
    "read_for": "read, then the other changed,",
    "followed_by": "changed one after the other,",
    "about": "came up",
    "related": "came up together",
}
_SCORES = {"file": "changed together", "concept": "same subject", "temporal": "order in time"}
_SEEN = "also seen in the code: one file imports the other"
_HIDDEN = "not seen in the code: neither file imports the other"


def name_of(node: Shape) -> str:
    """Return a node as it is shown: a file by its path, anything else with its type; a lost one says so."""
    named = node["name"] if node["type"] == "file" else f"{node['type']} {node['name']}"
    return named if node["status"] == "known" else f"{named} ({node['status']})"


def relation_words(relation: str) -> str:
    """Return a relation as a verb, such as `depends on`."""
    return _RELATIONS.get(relation, relation)


def guess_words(edge: Shape) -> str:
    """Return what is proposed, with its cue: `Perhaps the first tests the second: a is named after b`."""
    guess = {"relation": edge["proposed_relation"], "direction": edge["proposed_direction"]}
    return f"Perhaps {_meaning(guess)}: {clean(edge['proposed_because'])}"


def statement(edge: Shape, first: str, second: str) -> str:
    """Return what an edge or a verdict says of the ends `first` and `second`, such as `a depends on b`."""
    verb = relation_words(edge["relation"]) if edge["relation"] else ""
    match edge["direction"] if verb else None:
        case "backward":
            return f"{second} {verb} {first}"
        case "both":
            return f"{first} {verb} {second}, and the other way round"
        case None:
            return f"{first} and {second} belong together"
    return f"{first} {verb} {second}"


def chance(edge: Shape) -> str:
    """Return how likely an edge is, or a dash where somebody's word alone stands behind it."""
    return percent(edge["probability"]) if edge["evidence"]["together"] or edge["probability"] else "-"


def why_words(evidence: Shape, kind: str) -> str:
    """Return why two nodes are linked, such as `changed together 7 of 9 times, 5 sessions, last ...`."""
    if not evidence["together"]:
        return "declared by somebody" if kind == "declared" else "never changed together"
    return (
        f"{_TIMES.get(kind, 'changed together')} {evidence['together']} of "
        f"{counted(evidence['of'], 'time')}, {counted(evidence['sessions'], 'session')}, "
        f"last {day(evidence['last_seen'])}"
    )


def show_lack(screen: Screen, degraded: str | None) -> None:
    """Print what an answer lacks just now, where it lacks something."""
    if degraded:
        screen.line((f"Not all of it: {degraded.rstrip('.')}.", "yellow"))


def show_edges(screen: Screen, page: Shape, nothing: str) -> None:
    """Print a page of edges, each as one question with its why; `nothing` is said of an empty one."""
    show_lack(screen, page["degraded"])
    if not page["items"]:
        if not page["degraded"]:
            screen.line(nothing)
        return
    asked = any(edge["status"] == "candidate" for edge in page["items"])
    if asked:
        screen.line("Do these belong together?", ("  The answers most worth having come first.", "dim"))
        screen.gap()
    for edge in page["items"]:
        screen.grid([(Text(chance(edge)), _question(screen, edge))])
        screen.gap()
    if asked:
        screen.line("Answer with `graphmem confirm ID --relation depends_on` or `graphmem reject ID`;")
        if any(edge["proposed_relation"] for edge in page["items"]):
            screen.line("`graphmem confirm ID --as-proposed` takes what is proposed;")
        screen.line("`graphmem why ID` tells more.")
    if page["next_cursor"]:
        screen.line((f"There are more: add --limit {2 * len(page['items'])}", "dim"))


def _question(screen: Screen, edge: Shape) -> Text:
    room = screen.width - _INDENT
    text = both_names(screen, edge, room)
    if edge["status"] != "candidate":
        text.append("\n").append_text(worded(edge["status"]))
        text.append(f", {_meaning(edge)}" if edge["relation"] else "")
    text.append(f"\n{why_words(edge['evidence'], edge['kind'])}", "dim")
    if edge["proposed_relation"]:
        text.append(f"\n{guess_words(edge)}")
    if edge["seen_in_code"]:
        text.append(f"\n{_SEEN}", "dim")
    if edge["reason"]:
        text.append(f"\n{clean(edge['reason'])}", "yellow")
    text.append(f"\n{clean(edge['id'])}")
    if edge["similar"]:
        text.append(f"  and {len(edge['similar'])} like it", "dim")
    return text


def both_names(screen: Screen, edge: Shape, room: int) -> Text:
    """Return both names, below each other where they don't fit beside each other into `room` columns."""
    first, second = (screen.path(name_of(edge[end]), room, "bold") for end in ("from", "to"))
    beside = first.cell_len + second.cell_len + 7 <= room
    return Text.assemble(first, ("  and  ", "dim") if beside else "\n", second)


def _meaning(edge: Shape) -> str:
    return statement(edge, "the first", "the second")


def show_edge(screen: Screen, edge: Shape, titles: Mapping[str, tuple[str, str]]) -> None:
    """Print one edge whole; `titles` gives an observation's time and title by its id."""
    screen.line(both_names(screen, edge, screen.width))
    remark = f"  {edge['kind']}, {chance(edge)}, {edge['origin']}"
    screen.line(worded(edge["status"]), (remark, "dim"))
    if edge["relation"]:
        screen.line(f"{_meaning(edge).capitalize()}.")
    elif edge["proposed_relation"]:
        screen.line(f"{guess_words(edge)}.")
    if edge["reason"]:
        screen.line((f"{edge['reason'].rstrip('.')}.", "yellow"))
    _show_evidence(screen, edge, titles)
    _show_score(screen, edge["score"])
    if edge["seen_in_code"] is not None:
        screen.gap()
        screen.line((_SEEN if edge["seen_in_code"] else _HIDDEN, "dim"))
    _show_verdicts(screen, edge["verdicts"])
    screen.gap()
    if edge["similar"]:
        screen.line(("The same question: ", "dim"), ", ".join(edge["similar"]))
    screen.line((f"id {edge['id']}", "dim"))


def _show_evidence(screen: Screen, edge: Shape, titles: Mapping[str, tuple[str, str]]) -> None:
    words = why_words(edge["evidence"], edge["kind"])
    screen.heading("Why", words)
    for id in edge["evidence"]["observations"]:
        at, title = titles.get(id, (None, "(forgotten)"))
        screen.line((f"{day(at) if at else '':10}  ", "dim"), one_line(title), indent=2)


def _show_score(screen: Screen, score: Shape) -> None:
    screen.heading("Signals", "each from 0 to 1")
    screen.facts((words, f"{score[part]:.2f}", "") for part, words in _SCORES.items())


def _show_verdicts(screen: Screen, verdicts: Sequence[Shape]) -> None:
    if not verdicts:
        return
    screen.heading("Verdicts", "the newest first")
    for verdict in reversed(verdicts):
        words = f"{verdict['verdict']} by {verdict['by'] or 'somebody'}"
        if verdict.get("relation"):
            words += f": {_meaning(verdict)}"
        note = (verdict["note"],) if verdict["note"] else ()
        screen.entry(minute(verdict["at"]), words, *note)


def show_judged(screen: Screen, edges: Sequence[Shape]) -> None:
    """Print what became of edges after a verdict, each on its line."""
    rows = []
    for edge in edges:
        first, second = (one_line(name_of(edge[end])) for end in ("from", "to"))
        said = Text(statement(edge, first, second)).append(f"\n{clean(edge['id'])}", "dim")
        rows.append((worded(edge["status"]), said))
    screen.grid(rows, right=0)
