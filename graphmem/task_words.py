"""Owns the words by which a task is matched against past titles and against paths.

It is not the text index (that is `graphmem.text`, which keeps every word) and not the concepts of an
observation (`graphmem.concepts`, which names and weighs them). What comes out is a key for comparing, never
shown to anybody: endings are cut so that `caching`, `cached` and `cache` are one word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from graphmem.text import STOP_WORDS, tokens

MOST_WORDS = 40
"""A task's further distinct words are left out: what it is about comes first."""

_LONGEST_TASK = 4_000
_ENGLISH_COMMON = """
fix bugfix hotfix add update merge use remove delete make change improve improvement feat feature chore
allow ensure support implement implementation introduce handle need want new old also minor small misc wip
tweak instead issue problem bug work try better correct proper properly way thing using used
"""
_CHINESE_COMMON = """
修复 修正 修改 添加 增加 新增 更新 删除 移除 去除 去掉 使用 合并 改进 改善 优化 完善 调整 支持 实现 处理 解决
问题 功能 提交 相关 部分 进行 改为 修 加 改 删 新 增
"""
_NO_WORDS = re.compile(
    r"\[redacted:[a-z-]{2,20}\]|\w{2,10}://\S+"
    r"|^merge (?:pull request \S+ from [^\s/]+/|(?:remote-tracking )?branch(?:es)? )"
    r"|^[a-z-]{2,30}-by:.*$|^(?:this reverts|cherry picked from) commit\b.*$"
    r"|\b(?:(?:close|fixe|resolve)[sd]? )?(?:\b(?:gh|pr|mr|issue)[-\s]?|[#!])\d+\b",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBER = re.compile(r"[\d\u02d1]+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}")
_ENDING = re.compile(r"(?<!e)(?:ed|ing)$")
_VOWEL = re.compile("[aeiouy]")
_KEEP_ENDING = frozenset({"embed", "string", "hundred", "sibling", "ceiling", "infrared"})
_SHORTEST_STEM = 3


def task_words(text: str) -> tuple[str, ...]:
    """Return the distinct words that say what a task or a title is about, in order, at most `MOST_WORDS`.

    Identifiers count whole and in parts, Chinese by its words. Stop words, words that most titles hold
    (`fix`, `update`, `修复`), numbers, hashes, addresses and the numbers of issues are left out; where
    nothing else is said nothing is returned.
    """
    return _chosen(tokens(_NO_WORDS.sub(" ", text[:_LONGEST_TASK])))


def path_words(path: str) -> tuple[str, ...]:
    """Return the distinct words of a path's parts, comparable with `task_words`; its ending is left out."""
    folder, slash, name = path.rpartition("/")
    stem, point, ending = name.rpartition(".")
    shown = f"{folder}{slash}{stem}" if stem and ending.isalnum() and point else path
    whole = tokens(name)[:1]
    return _chosen([*tokens(shown), *whole])


def _chosen(found: Iterable[str]) -> tuple[str, ...]:
    chosen: dict[str, None] = {}
    for token in found:
        word = _key(token)
        if word is not None:
            chosen[word] = None
            if len(chosen) == MOST_WORDS:
                break
    return tuple(chosen)


@lru_cache(maxsize=16_384)
def _key(token: str) -> str | None:
    """Return what a token is compared by, None for one that says nothing."""
    if token in STOP_WORDS or _NUMBER.fullmatch(token) or (len(token) == 1 and token.isascii()):
        return None
    word = _bare(token)
    return None if word in _COMMON else word


def _bare(word: str) -> str:
    """Take `ed`, `ing` and a last `e` off an English word of which enough is left, and undo its doubling."""
    if not (word.isascii() and word.isalpha()) or word in _KEEP_ENDING:
        return word
    stem = _ENDING.sub("", word)
    if len(stem) < _SHORTEST_STEM or not _VOWEL.search(stem):
        return word
    if stem != word and stem[-1] == stem[-2] and stem[-1] not in "lsz" and len(stem) > _SHORTEST_STEM:
        stem = stem[:-1]
    return stem[:-1] if stem[-1] == "e" and len(stem) > _SHORTEST_STEM else stem


_COMMON = frozenset(map(_bare, f"{_ENGLISH_COMMON} {_CHINESE_COMMON}".split()))
