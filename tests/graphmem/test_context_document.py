"""What docs/context.md shows of a packed context is what comes out, line by line."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from graphmem.graph import NodeType
from graphmem.instant import from_iso
from graphmem.model import Tier
from graphmem.question import FoundNode, Piece, PieceKind, Standing, Successor
from graphmem.recall.context_lines import CHINESE, ENGLISH, Size
from graphmem.recall.packing import FULL_HEAD, Added, pack

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "context.md").read_text(encoding="utf-8")
BLOCKS = [match[1].rstrip("\n") for match in re.finditer(r"^```text\n(.*?)^```$", DOCUMENT, re.M | re.S)]


def said(number: int, kind: PieceKind, text: str, **more: object) -> Piece:
    ord = -1 if kind is PieceKind.HISTORY else 0
    at = from_iso(f"2026-05-{number + 1:02}")
    made = Piece(number, ord, f"turn-{number}", kind, "", text, at, "claude-code", 1.0)
    return replace(made, **more)  # type: ignore[arg-type]


def linked(name: str, tier: Tier, text: str) -> FoundNode:
    return FoundNode(NodeType.FILE, f"file:{name}", name, text, 1.0, tier=tier)


def old(text: str, by: str) -> Piece:
    successor = Successor("turn-8", by, from_iso("2026-05-09"))
    return said(7, PieceKind.FACT, text, standing=Standing.SUPERSEDED, successor=successor)


HISTORY = said(6, PieceKind.HISTORY, "It tries six times.", title="Carrier client")


def repeated(piece: Piece) -> list[Piece]:
    """Return what was stated three times, last as `piece`."""
    return [piece, *(replace(piece, seq=seq, at=piece.at - seq) for seq in (100, 101))]


def test_the_english_template_is_what_comes_out() -> None:
    pieces = [
        said(1, PieceKind.PREFERENCE, "answer in short sentences"),
        *repeated(said(2, PieceKind.CONVENTION, "back up before a schema change")),
        said(3, PieceKind.TASK, "write the migration", source="codex", standing=Standing.TENTATIVE),
        said(4, PieceKind.DECISION, "sessions live in Redis"),
        said(5, PieceKind.FACT, "access_token TTL: 3600 -> 900", flags=("files changed since",)),
        HISTORY,
        old("API base is /v1", "moved to /v2"),
    ]
    token = "changed together with src/auth/token.ts"
    nodes = [
        linked("src/api/session.ts", Tier.CONFIRMED, "depends on src/auth/token.ts (confirmed)"),
        linked("src/checkout/session.ts", Tier.LIKELY, f"often {token} (likely)"),
        linked("src/app.ts", Tier.POSSIBLE, f"sometimes {token} (possible)"),
    ]
    assert pack(pieces, nodes, 10_000).text == BLOCKS[0]


def test_the_chinese_template_is_what_comes_out() -> None:
    pieces = [
        said(1, PieceKind.PREFERENCE, "回答要简短"),
        *repeated(said(2, PieceKind.CONVENTION, "改表结构前先备份")),
        old("接口前缀是 /v1", "改成 /v2"),
    ]
    nodes = [linked("src/checkout/session.ts", Tier.LIKELY, "常与 src/auth/token.ts 一起修改 (很可能)")]
    assert pack(pieces, nodes, 10_000, chinese=True).text == BLOCKS[1]


def test_the_sentences_that_follow_are_what_comes_out() -> None:
    added = Added(further={(6, -1): ["The pause doubles each time."]})
    assert pack([HISTORY], [], 1_000, added=added).text.partition("\n")[2] == BLOCKS[2]


def test_the_short_heads_and_the_numbers_are_those_of_the_code() -> None:
    assert BLOCKS[3:] == [ENGLISH.heads[1], CHINESE.heads[1]]
    for number in (FULL_HEAD, *Size):
        assert f" {number} " in DOCUMENT.replace("(", " "), number
