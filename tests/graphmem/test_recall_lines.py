"""Which pieces a context holds, read from its lines as they stand in docs/context.md and in plain lists."""

from __future__ import annotations

import pytest

from graphmem.instant import DAY
from graphmem.model import Fact, Observation
from graphmem.question import Piece, PieceKind, Standing, Successor
from graphmem.recall.packing import pack
from graphmem.recall_lines import Catalogue, shown_for
from graphmem.recall_set import OWN_TEXT, Part, PieceName, SetQuestion, Subject, Tongues
from inference.recall_metrics import Shown

AT = 1_767_225_600.0
LONG = "The exporter writes " + " and ".join(f"column {number}" for number in range(60))


def observation(id: str, day: int, title: str, narrative: str = "", *facts: str) -> Observation:
    return Observation(
        id=id,
        session="s",
        source="codex",
        actor="a",
        title=title,
        narrative=narrative,
        facts=tuple(Fact(text=text) for text in facts),
        at=AT + (day - 1) * DAY,
    )


CATALOGUE = Catalogue(
    [
        observation("o-1", 1, "主题", "First light. The window opens.", "默认主题是浅色"),
        observation("o-2", 2, "A port", "", "The API listens on port 8000", "Find a broker"),
        observation("o-3", 3, "Moved", "", "The API listens on port 8001 now", "Find a broker"),
        observation("o-30", 4, 'Quotes "inside" <b>', "", LONG, "moved; superseded by nobody"),
    ]
)
PORT, NEW_PORT = PieceName("o-2", 0), PieceName("o-3", 0)


def own(id: str) -> PieceName:
    return PieceName(id, OWN_TEXT)


@pytest.mark.parametrize(
    ("context", "shown"),
    [
        ("", []),
        ("Recorded history of this project, not an instruction:", []),
        ('- fact: "The API listens on port 8000" (codex, 2026-01-02, current, id o-2)', [(PORT, False)]),
        ('- "The API listens on port 8000" (codex, 2026-01-02)', [(PORT, False)]),
        ("- The API listens on port 8000 (codex, 2026-01-02)", [(PORT, False)]),
        ('- history: "主题" "First light." (codex, 2026-01-01, current, id o-1)', [(own("o-1"), False)]),
        ('- 事实："默认主题是浅色" (codex, 2026-01-01, 有效, id o-1)', [(PieceName("o-1", 0), False)]),
        ('- task: "Find a broker" (codex, 2026-01-03, current, id o-3)', [(PieceName("o-3", 1), False)]),
        ('- task: "Find a broker" (codex, 2026-01-02)', [(PieceName("o-2", 1), False)]),
        (
            '- fact: "The API listens on port 8000" (codex, 2026-01-02, id o-2)'
            ' superseded by "The API listens on port 8001 now" (2026-01-03, id o-3)',
            [(PORT, True), (NEW_PORT, False)],
        ),
        (
            '- 事实："The API listens on port 8000" (codex, 2026-01-02, id o-2)'
            ' 已被 "The API listens on port 8001 now" 取代 (2026-01-03, id o-3)',
            [(PORT, True), (NEW_PORT, False)],
        ),
        (
            '- fact: "moved; superseded by nobody" (codex, 2026-01-04, current, id o-30)',
            [(PieceName("o-30", 1), False)],
        ),
        (
            '- history: "Quotes &quot;inside&quot; &lt;b>" (codex, 2026-01-04, current, id o-30)',
            [(own("o-30"), False)],
        ),
        (f'- fact: "{LONG[:59]}…" (codex, 2026-01-04, current, id o-30)', [(PieceName("o-30", 0), False)]),
        ('- file src/a.ts: "changes with src/b.ts"', [(None, False)]),
    ],
)
def test_a_line_names_its_piece(context: str, shown: list[tuple[PieceName | None, bool]]) -> None:
    assert shown_by(context) == [Shown(*each) for each in shown]


def shown_by(context: str) -> list[Shown]:
    return [shown for entry in CATALOGUE.entries(context) for shown in entry.shown]


def question(*answer: str) -> SetQuestion:
    return SetQuestion(
        id="q",
        project="p",
        part=Part.REPORT,
        subject=Subject.FACTS,
        tongue=Tongues.ENGLISH,
        text="?",
        needs=(frozenset({own("o-1")}),),
        forbidden=frozenset(),
        answer=answer,
        tags=(),
    )


OLD = '- fact: "The API listens on port 8000" (codex, 2026-01-02, id o-2)'
FIRST = '- history: "主题" (codex, 2026-01-01, current, id o-1)'


def test_a_piece_on_two_entries_counts_once_and_is_unmarked_if_one_of_them_is() -> None:
    marked = f'{OLD} superseded by "x" (2026-01-03, id o-3)'
    assert shown_for(question(), CATALOGUE.entries(f"{marked}\n{OLD}")) == (Shown(PORT, False),)
    assert shown_for(question(), CATALOGUE.entries(f"{marked}\n{marked}")) == (Shown(PORT, True),)


def test_sentences_below_an_entry_are_part_of_it() -> None:
    (entry,) = CATALOGUE.entries(f'a head\n{FIRST}\n  "The window opens &amp; closes."')
    assert entry.shown == (Shown(own("o-1")),)
    assert entry.text.endswith('"The window opens & closes."')


@pytest.mark.parametrize(
    ("answer", "below", "shown"),
    [
        ((), "", Shown(own("o-1"))),
        (("window",), "", Shown(None)),
        (("Window",), '\n  "The window opens."', Shown(own("o-1"))),
    ],
)
def test_an_expected_piece_counts_where_its_entry_says_the_answer(
    answer: tuple[str, ...], below: str, shown: Shown
) -> None:
    assert shown_for(question(*answer), CATALOGUE.entries(FIRST + below)) == (shown,)


@pytest.mark.parametrize("chinese", [False, True], ids=["english", "chinese"])
@pytest.mark.parametrize("budget", [1_000, 90])
def test_every_piece_that_was_packed_is_read_back_from_the_text(chinese: bool, budget: int) -> None:
    successor = Successor("o-3", "The API listens on port 8001 now", AT + 2 * DAY)
    pieces = [
        piece("o-3", 3, 0, "The API listens on port 8001 now"),
        piece("o-1", 1, 0, "默认主题是浅色"),
        piece("o-30", 4, 0, LONG),
        piece("o-1", 1, OWN_TEXT, "First light.", title="主题", kind=PieceKind.HISTORY),
        piece("o-2", 2, 0, "The API listens on port 8000", Standing.SUPERSEDED, successor),
    ]
    packed = pack(pieces, (), budget, chinese=chinese)
    read = {(shown.piece, shown.marked) for shown in shown_by(packed.text)}
    old = {piece.seq for piece in pieces if piece.standing is Standing.SUPERSEDED}
    names = {(piece.seq, piece.ord): PieceName(piece.id, piece.ord) for piece in pieces}
    wanted = {(names[key], key[0] in old) for key in packed.told}
    assert len(wanted) >= 2
    assert read - {(NEW_PORT, False)} == wanted - {(NEW_PORT, False)}


def piece(
    id: str,
    day: int,
    ord: int,
    text: str,
    standing: Standing = Standing.CURRENT,
    successor: Successor | None = None,
    *,
    title: str = "",
    kind: PieceKind = PieceKind.FACT,
) -> Piece:
    at = AT + (day - 1) * DAY
    return Piece(day, ord, id, kind, title, text, at, "codex", 1.0, standing=standing, successor=successor)
