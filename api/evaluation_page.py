"""Owns an evaluation as one HTML page: self-contained, without a script, light or dark as the reader has it.

It is not the drawings (`api.evaluation_chart`) nor the sentences (`api.evaluation_words`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from api.evaluation_chart import alerts_drawing, reliability_drawing
from api.evaluation_words import (
    BASELINE_REMARK,
    COLUMN_REMARK,
    QUESTION,
    SESSION_REMARK,
    STRONGEST_RIVAL,
    TITLE_REMARK,
    WITH_TITLE,
    advice,
    alert_rows,
    asked,
    calibration,
    difference,
    figure,
    lead,
    remarks,
    session_rows,
    session_words,
)
from api.screen import percent
from api.terminal_text import one_line
from graphmem.evaluation import GRAPHMEM, Evaluation
from inference.replay import Outcome

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6472; --paper: #ffffff; --band: #f3f5f8;
  --rule: #d9dee6; --ours: #1f6feb; --worded: #0f8a5f; --rival: #b4532a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #9aa4b2; --paper: #14171c;
  --band: #1d2229; --rule: #343b46; --ours: #6cb0ff; --worded: #4fd1a1; --rival: #f0986c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; font-size: 16px; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p { margin: .5rem 0; max-width: 46rem; }
.soft { color: var(--soft); font-size: .9rem; }
.remark { border-left: 4px solid var(--rival); background: var(--band); padding: .5rem .8rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem;
  margin: 1.2rem 0; }
.card { background: var(--band); border-radius: .5rem; padding: .7rem .9rem; }
.card b { display: block; font-size: 1.6rem; font-variant-numeric: tabular-nums; line-height: 1.25; }
.card span { color: var(--soft); font-size: .85rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .32rem .6rem; border-bottom: 1px solid var(--rule); text-align: right;
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
th { color: var(--soft); font-weight: 600; white-space: normal; vertical-align: bottom; }
.few { max-width: 24rem; }
tr.ours td { font-weight: 600; }
.bar { display: block; width: 7rem; height: .65rem; background: var(--band); border-radius: .2rem; }
.bar i { display: block; height: 100%; background: var(--rival); border-radius: .2rem; }
.ours .bar i { background: var(--ours); }
.worded .bar i { background: var(--worded); }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1.2rem; }
figure { margin: 0; }
figcaption { font-size: .9rem; color: var(--soft); }
svg { width: 100%; max-width: 26rem; height: auto; display: block; }
svg text { fill: var(--soft); font-size: 12px; }
svg .mark { fill: var(--ink); }
.grid { stroke: var(--rule); stroke-width: .7; }
.line { fill: none; stroke-width: 2; }
.ideal { stroke: var(--soft); stroke-dasharray: 4 4; stroke-width: 1; }
.line.ours { stroke: var(--ours); } .line.worded { stroke: var(--worded); }
.line.rival { stroke: var(--rival); }
.dot { stroke: var(--paper); stroke-width: 1; }
.dot.ours { fill: var(--ours); } .dot.worded { fill: var(--worded); } .dot.rival { fill: var(--rival); }
.key { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%; margin: 0 .25rem 0 .6rem; }
@media (max-width: 34rem) { .bar { width: 3.5rem; } th, td { padding: .3rem .35rem; }
  table { font-size: .85rem; } }
@media print { .cards, .charts { break-inside: avoid; } }
"""


def page(evaluation: Evaluation, location: str) -> str:
    """Return the page; `location` is where the source lies."""
    body = [
        f"<h1>How good are the alerts? {escape(one_line(location))}</h1>",
        *(f'<p class="remark">{_prose(each)}</p>' for each in remarks(evaluation)),
    ]
    if evaluation.outcomes[GRAPHMEM].scores is not None:
        body.insert(1, f'<p class="soft">{_prose(asked(evaluation))}</p>')
        body += [*_cards(evaluation), *_ranking(evaluation), *_charts(evaluation), *_warnings(evaluation)]
        body += _reliability(evaluation.outcomes[GRAPHMEM])
    body += _sessions(evaluation)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>GraphMem: {escape(one_line(location))}</title><style>{_STYLE}</style></head>\n"
        "<body><main>\n" + "\n".join(body) + "\n</main></body></html>\n"
    )


def _cards(evaluation: Evaluation) -> Iterable[str]:
    ours, rival = evaluation.outcomes[GRAPHMEM], evaluation.outcomes[STRONGEST_RIVAL]
    cards = [(_map(ours), "MAP without the task's words")]
    if ours.worded is not None:
        cards.append((_map(ours.worded), "MAP with the title as the task"))
    cards.append((_map(rival), f"MAP of {STRONGEST_RIVAL}, rule confidence"))
    if ours.given is not None:
        precision = ours.given.precision
        right = "-" if precision is None else percent(precision)
        cards += [
            (right, "of the files named in notes did change along"),
            (f"{ours.given.alerts_per_100:.1f}", "edits in 100 would have drawn a note"),
        ]
    yield '<div class="cards">'
    yield from (
        f'<div class="card"><b>{value}</b><span>{escape(words)}</span></div>' for value, words in cards
    )
    yield "</div>"


def _map(outcome: Outcome) -> str:
    return figure(None if outcome.scores is None else outcome.scores.average_precision)


def _ranking(evaluation: Evaluation) -> Iterable[str]:
    rows: list[tuple[str, Sequence[str]]] = []
    for name, outcome in evaluation.outcomes.items():
        rows.append(_ranking_row("ours" if name == GRAPHMEM else "", name, outcome))
        if outcome.worded is not None:
            rows.append(_ranking_row("worded", WITH_TITLE, outcome.worded))
    yield f"<h2>{escape(QUESTION)}</h2>"
    yield _table(("predictor", "", "MAP", "hit@1", "hit@5", "recall@10"), rows)
    yield f"<p>GraphMem less ROSE, MAP: <b>{difference(lead(evaluation))}</b> in 95 of 100 cases.</p>"
    yield f'<p class="soft">{_prose(TITLE_REMARK)}</p>'
    yield f'<p class="soft">{_prose(BASELINE_REMARK)}</p>'


def _ranking_row(kind: str, name: str, outcome: Outcome) -> tuple[str, Sequence[str]]:
    scores = outcome.scores
    if scores is None:
        return kind, (escape(name), "", "-", "-", "-", "-")
    shown = (scores.average_precision, scores.hit_1, scores.hit_5, scores.recall_10)
    bar = f'<span class="bar"><i style="width:{100 * scores.average_precision:.1f}%"></i></span>'
    return kind, (escape(name), bar, *map(figure, shown))


def _charts(evaluation: Evaluation) -> Iterable[str]:
    keys = "".join(
        f'<span class="key" style="background:var(--{kind})"></span>{words}'
        for kind, words in (("ours", "GraphMem"), ("worded", WITH_TITLE), ("rival", STRONGEST_RIVAL))
    )
    drawings = (
        (
            alerts_drawing(evaluation.outcomes, STRONGEST_RIVAL),
            "A point for each threshold, from 50 to 90 %.",
        ),
        (
            reliability_drawing(evaluation.outcomes[GRAPHMEM]),
            "On the dashed line a probability is what it says.",
        ),
    )
    yield "<h2>What alerts cost, and whether probabilities are honest</h2>"
    yield f'<p class="soft">{keys}</p><div class="charts">'
    yield from (f"<figure>{drawing}<figcaption>{words}</figcaption></figure>" for drawing, words in drawings)
    yield "</div>"


def _warnings(evaluation: Evaluation) -> Iterable[str]:
    rows = []
    for row in alert_rows(evaluation.outcomes):
        tally = row.tally
        shown = (tally.precision, tally.day_precision, tally.recall, tally.single_alarms)
        cells = (escape(row.name), row.since, f"{tally.alerts_per_100:.1f}", *map(figure, shown))
        rows.append(("ours" if row.told else "", cells))
    yield "<h2>If everything from a probability on had been an alert</h2>"
    yield _table(("predictor", "from", "in 100 edits", "right", "in 24 h", "found", "alone"), rows)
    yield f"<p>{_prose(advice(evaluation))}</p>"
    yield f'<p class="soft">{_prose(COLUMN_REMARK)}</p>'


def _reliability(ours: Outcome) -> Iterable[str]:
    rows = [("", (percent(each.said), percent(each.came_true), f"{each.entries:,}")) for each in ours.bins]
    yield "<h2>When GraphMem says a probability, how often does it come true?</h2>"
    yield _table(("said", "came true", "entries"), rows, "few")
    yield f"<p>{_prose(calibration(ours))}</p>"


def _sessions(evaluation: Evaluation) -> Iterable[str]:
    if evaluation.sessions is None:
        return
    rows = [
        ("ours" if name == GRAPHMEM else "", (escape(name), *map(escape, figures)))
        for name, *figures in session_rows(evaluation.sessions)
    ]
    yield "<h2>Agents' sessions: what is edited later?</h2>"
    yield f'<p class="soft">{_prose(session_words(evaluation.sessions))}</p>'
    yield _table(("predictor", "R@10", "MAP", "unread", "at reads", "difference of R@10"), rows)
    yield f'<p class="soft">{_prose(SESSION_REMARK)}</p>'


def _prose(words: str) -> str:
    """Return a sentence as HTML; a number stays beside its percent sign."""
    return escape(words).replace(" %", "&nbsp;%")


def _table(headings: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], kind: str = "") -> str:
    """Return a table of cells that are HTML already, each row with its class."""
    head = "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    lines = (
        f'<tr class="{kind}">' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
        for kind, cells in rows
    )
    body = "".join(lines)
    shape = f' class="{kind}"' if kind else ""
    head_row = f"<thead><tr>{head}</tr></thead>"
    return f'<div class="wide"><table{shape}>{head_row}<tbody>{body}</tbody></table></div>'
