"""Owns what kind of thing a value is, its plain form, and whether two values say the same.

It is not where values stand in a sentence (that is `fact_values` and `changes`).
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from graphmem.text import folded, stem


class Shape(StrEnum):
    """What kind of thing a value is."""

    NUMBER = "number"
    DURATION = "duration"
    SIZE = "size"
    TIME = "time"
    VERSION = "version"
    PATH = "path"
    METHOD = "method"
    SWITCH = "switch"
    WORD = "word"


class Value(NamedTuple):
    """A value in plain form; `number` is in seconds or bytes where `unit` names such, None where none is."""

    text: str
    shape: Shape
    number: float | None = None
    unit: str = ""


_MEASURES = frozenset({Shape.NUMBER, Shape.DURATION, Shape.SIZE, Shape.TIME, Shape.VERSION})
_NAMES = frozenset({Shape.PATH, Shape.WORD, Shape.VERSION})
_SECONDS = {
    "ms": 0.001, "millisecond": 0.001, "msec": 0.001, "毫秒": 0.001,
    "s": 1.0, "sec": 1.0, "second": 1.0, "秒": 1.0, "秒钟": 1.0,
    "m": 60.0, "min": 60.0, "minute": 60.0, "分": 60.0, "分钟": 60.0,
    "h": 3_600.0, "hr": 3_600.0, "hour": 3_600.0, "小时": 3_600.0, "个小时": 3_600.0,
    "d": 86_400.0, "day": 86_400.0, "天": 86_400.0, "日": 86_400.0,
    "week": 604_800.0, "周": 604_800.0, "星期": 604_800.0,
}  # fmt: skip
_BYTES = {
    "b": 1.0, "byte": 1.0, "字节": 1.0, "kb": 1e3, "k": 1e3, "mb": 1e6, "m": 1e6, "gb": 1e9, "g": 1e9,
    "tb": 1e12, "kib": 1024.0, "mib": 1024.0**2, "gib": 1024.0**3,
}  # fmt: skip
_EMPTY_UNITS = frozenset({"time", "次", "个", "条", "项", "item", "x"})
_SWITCHES = {
    "true": "on", "on": "on", "enabled": "on", "yes": "on", "开启": "on", "启用": "on",
    "打开": "on", "开": "on",
    "false": "off", "off": "off", "disabled": "off", "关闭": "off", "禁用": "off", "停用": "off", "关": "off",
}  # fmt: skip
_UNBOUNDED = frozenset({"none", "null", "unlimited", "infinite", "infinity", "不限", "无限", "无限制", "off"})
_METHODS = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_QUANTITY = re.compile(r"(?P<n>\d[\d,_]*(?:\.\d+)?)\s?(?P<u>%|[a-z\u4e00-\u9fff][\w\u4e00-\u9fff ]*)?$")
_TIME = re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?:\s?(?:am|pm|utc))?$")
_VERSION = re.compile(r"v?\d+(?:\.\d+)+(?:[-+.][\w.]+)?$|v\d+$")
_NAMED_VERSION = re.compile(r"(?:version|release|版本)\s?v?(?=\d)")
_PURE_VERSION = re.compile(r"/?(?:api/)?(v\d+)/?$")
_EDGES = " \t`\"'“”‘’「」『』*.。!！，,；;:："
_ARTICLE = re.compile(r"(?:the|a|an|our)\s+")


@lru_cache(maxsize=4_096)
def shaped(text: str) -> Value:
    """Return a value in plain form: folded case, without quotes; `shaped` of its text is itself again."""
    plain = " ".join(folded(text).casefold().split()).strip(_EDGES)
    plain = _ARTICLE.sub("", plain, count=1) if _ARTICLE.match(plain) else plain
    if _NAMED_VERSION.match(plain):
        plain = _NAMED_VERSION.sub("v", plain, count=1)
    if pure := _PURE_VERSION.match(plain):
        return Value(pure[1], Shape.VERSION)
    if len(plain) > 1:
        plain = plain.rstrip("/") or "/"
    if plain in _METHODS:
        return Value(plain, Shape.METHOD)
    if plain in _SWITCHES:
        return Value(_SWITCHES[plain], Shape.SWITCH)
    if _TIME.match(plain):
        return Value(plain, Shape.TIME)
    if _VERSION.match(plain) and not re.fullmatch(r"\d+\.\d+", plain):
        return Value(plain, Shape.VERSION)
    if (found := _QUANTITY.match(plain)) is not None:
        return _quantity(found)
    if "/" in plain or re.match(r"[\w-]+\.\w{1,5}$|[\w.-]+:\d+", plain):
        return Value(plain, Shape.PATH)
    return Value(plain, Shape.WORD)


def _quantity(found: re.Match[str]) -> Value:
    number = float(found["n"].replace(",", "").replace("_", ""))
    words = (found["u"] or "").split()
    unit = " ".join(stem(word) for word in words)
    shown = f"{number:.10g}"
    if not unit or unit in _EMPTY_UNITS:
        return Value(shown, Shape.NUMBER, number)
    for units, shape in ((_SECONDS, Shape.DURATION), (_BYTES, Shape.SIZE)):
        if unit in units:
            return Value(f"{shown} {unit}", shape, number * units[unit], shape)
    if unit in ("space", "空格", "个空格"):
        return Value(f"{shown} space", Shape.WORD)
    return Value(f"{shown} {unit}", Shape.NUMBER, number, unit)


@lru_cache(maxsize=16_384)
def same(one: str, other: str) -> bool:
    """Return whether two values in plain form say the same: 15 minutes and 900 s, 3600 and 3600 seconds."""
    if one == other:
        return True
    first, second = shaped(one), shaped(other)
    if first.number is None or second.number is None:
        return first.text == second.text or _bare(first) == _bare(second)
    if first.unit == second.unit:
        return abs(first.number - second.number) <= 1e-9 * max(first.number, second.number)
    # One of them leaves its unit out: the numbers as they were written have to agree.
    return "" in (first.unit, second.unit) and first.text.split()[0] == second.text.split()[0]


def _bare(value: Value) -> str:
    """Return a version without its letter: Node 20 and v20 are one."""
    if value.shape is Shape.VERSION:
        return value.text.removeprefix("v")
    return value.text if value.shape is not Shape.NUMBER or value.unit else f"{value.number:g}"


def exchangeable(newer: str, older: str) -> bool:
    """Return whether one value can stand where the other stood: numbers of one unit, names, switches."""
    first, second = shaped(newer), shaped(older)
    if first.text in _UNBOUNDED and second.shape in _MEASURES:
        return True
    if second.text in _UNBOUNDED and first.shape in _MEASURES:
        return True
    if first.shape is second.shape:
        return first.unit == second.unit or "" in (first.unit, second.unit)
    pair = {first.shape, second.shape}
    if pair <= _NAMES:
        return True
    if pair <= _MEASURES:
        return Shape.NUMBER in pair and Shape.TIME not in pair and "" in (first.unit, second.unit)
    return False
