"""Owns the line on how a node is linked to another, in English and Chinese.

It is not the finding of links. What somebody confirmed is said as it is; what was inferred always with how
sure it is.
"""

from __future__ import annotations

from graphmem.graph import Direction, EdgeKind, EdgeStatus, Relation
from inference.ranking import WARNING_THRESHOLD

_LONGEST = 120
_INFERRED = {
    EdgeKind.CO_CHANGES: ("{often} changed together with {other}", "{often}与 {other} 一起修改"),
    EdgeKind.READ_FOR: (
        "{often} read for, or edited after reading, {other}",
        "{often}与 {other} 一前一后阅读和修改",
    ),
    EdgeKind.FOLLOWED_BY: ("{often} changed before or after {other}", "{often}在 {other} 前后修改"),
    EdgeKind.ABOUT: ("work on it is {often} about {other}", "相关工作{often}涉及 {other}"),
    EdgeKind.RELATED: ("{often} comes up with {other}", "{often}与 {other} 一起出现"),
    EdgeKind.DECLARED: ("linked to {other}", "与 {other} 有关联"),
}
_DOES = {
    Relation.DEPENDS_ON: ("depends on {0}", "依赖 {0}"),
    Relation.TESTS: ("tests {0}", "测试 {0}"),
    Relation.DOCUMENTS: ("documents {0}", "说明 {0}"),
    Relation.CONFIGURES: ("configures {0}", "配置 {0}"),
    Relation.IMPLEMENTS: ("implements {0}", "实现 {0}"),
}
_IS_DONE = {
    Relation.DEPENDS_ON: ("{0} depends on it", "{0} 依赖它"),
    Relation.TESTS: ("{0} tests it", "{0} 测试它"),
    Relation.DOCUMENTS: ("{0} documents it", "{0} 说明它"),
    Relation.CONFIGURES: ("{0} configures it", "{0} 配置它"),
    Relation.IMPLEMENTS: ("{0} implements it", "{0} 实现它"),
}


def inferred_line(kind: EdgeKind, probability: float, other: str, *, chinese: bool) -> str:
    """Return the line on a link that nobody confirmed."""
    likely = probability >= WARNING_THRESHOLD
    often = ("常" if likely else "有时") if chinese else ("often" if likely else "sometimes")
    told = _INFERRED[kind][chinese].format(often=often, other=_named(other))
    sure = ("很可能" if likely else "可能") if chinese else ("likely" if likely else "possible")
    return f"{told} ({sure})"


def confirmed_line(
    relation: Relation | None, direction: Direction | None, other: str, *, from_it: bool, chinese: bool
) -> str:
    """Return the line on a confirmed link; `from_it` says that the node is the edge's source."""
    sure = "已确认" if chinese else "confirmed"
    if relation is None:
        return f"{_INFERRED[EdgeKind.DECLARED][chinese].format(other=_named(other))} ({sure})"
    does = direction is Direction.BOTH or from_it is not (direction is Direction.BACKWARD)
    words = (_DOES if does else _IS_DONE)[relation][chinese]
    return f"{words.format(_named(other))} ({sure})"


def line_on(
    kind: EdgeKind,
    status: EdgeStatus,
    probability: float,
    other: str,
    said: tuple[Relation | None, Direction | None, bool],
    *,
    chinese: bool,
) -> str:
    """Return the line on a link; `said`: relation, direction, and whether the node is the edge's source."""
    if status is EdgeStatus.CONFIRMED:
        relation, direction, from_it = said
        return confirmed_line(relation, direction, other, from_it=from_it, chinese=chinese)
    return inferred_line(kind, probability, other, chinese=chinese)


def _named(name: str) -> str:
    flat = " ".join(name.split())
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"
