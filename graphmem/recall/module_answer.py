"""Owns the answer to how a project, or a part of it, is made: the modules that a question is about.

It is not the list of modules (`graphmem.recall.modules`) nor how they come about (`graphmem.modules`).
Modules are those of now: a past moment has none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from graphmem.graph import NodeType
from graphmem.postings import View
from graphmem.question import FoundNode
from graphmem.recall.asking import is_chinese
from graphmem.recall.naming import named_in
from graphmem.text import STOP_WORDS, tokens

_LOOKED_AT = 200
_KEY_FILES = 3
_LABEL, _MEMBER, _SUMMARY = 3.0, 2.0, 1.0
_GENERAL_WORDS = """
overview summary structure architecture layout project repo repository code codebase base module modules
organised organized part parts main component components system tour outline picture map high level work
项目 工程 仓库 代码 代码库 结构 架构 组织 概览 概述 总览 模块 整体 系统 介绍 主要 部分 划分 组成
"""
_GENERAL = frozenset(_GENERAL_WORDS.split())


def modules_for(view: View, text: str, limit: int = 5) -> tuple[FoundNode, ...]:
    """Return the modules a question is about, best first; the largest where it names none in particular."""
    if view.as_of != math.inf or limit < 1:
        return ()
    rows = view.connection.execute(
        "SELECT module.id, label, summary, key_files, built_at, COUNT(member.node) AS size FROM module"
        " LEFT JOIN member ON member.module = module.id WHERE module.level = 0"
        " GROUP BY module.id ORDER BY size DESC, module.id LIMIT ?",
        (_LOOKED_AT,),
    ).fetchall()
    wanted = {word for word in tokens(text[:2_000]) if word not in STOP_WORDS and word not in _GENERAL}
    named = _named_members(view, text)
    chinese = is_chinese(text)
    scored = [
        (_score(label, summary, wanted) + _MEMBER * named.get(id, 0), size, id, label, summary, files, at)
        for id, label, summary, files, at, size in rows
    ]
    if any(row[0] for row in scored):
        scored = [row for row in scored if row[0]]
    scored.sort(key=lambda row: (-row[0], -row[1], row[3], row[2]))
    most = max((row[0] for row in scored), default=0.0)
    return tuple(
        FoundNode(
            type=NodeType.MODULE,
            ref=f"{NodeType.MODULE}:{id}",
            name=label,
            text=_line(label, summary, json.loads(files)[:_KEY_FILES], size, chinese),
            score=(score / most if most else 1.0) - 0.001 * place,
            at=at,
            parts={"words": score, "size": float(size)},
        )
        for place, (score, size, id, label, summary, files, at) in enumerate(scored[:limit])
    )


def _score(label: str, summary: str, wanted: set[str]) -> float:
    return _LABEL * len(wanted & set(tokens(label))) + _SUMMARY * len(wanted & set(tokens(summary)))


def _named_members(view: View, text: str) -> Mapping[str, int]:
    """Return how many of the nodes that the question names each module holds."""
    named = named_in(view, text)
    nodes = (*named.exact, *named.concepts)
    rows = view.connection.execute(
        f"SELECT module, COUNT(*) FROM member WHERE level = 0 AND node IN ({','.join('?' * len(nodes))})"
        " GROUP BY module",
        nodes,
    )
    return dict(rows.fetchall())


def _line(label: str, summary: str, files: list[str], size: int, chinese: bool) -> str:
    shown = ", ".join(files)
    head = f"{label}({size} 个成员:{shown})" if chinese else f"{label} ({size} members: {shown})"
    return f"{head} {summary}".strip()
