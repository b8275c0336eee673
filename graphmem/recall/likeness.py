"""Owns how near a recorded statement is to a prompt: the telling words they share, rare ones counting more.

It is not which statements are told (that is `reminders`). Words of rules ("never", 统一) tell nothing of what
a statement is about; words of everyday work ("add", 文件) tell little.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from graphmem.aliases import other_names
from graphmem.postings import View
from graphmem.speech.facts import root
from graphmem.text import MOST_QUERY_TOKENS, STOP_WORDS, tokens

_LOOKED_AT = 8_000
_STATEMENT_WORDS = 48
_LOOKED_FOR = 16
_UNSEEN = 200
_EVERYDAY = 0.3
_OTHER_NAME = 0.8
_VALUE = 0.4
_SUBJECT = 1.5
_DAMPING = 0.5
_COMPOUND = 1.2
_LEAST = 0.05

_RULE_WORDS = """
never always must should shall prefer preferred preference ever please instead rather convention rule decide
decided decision chose chosen choose agree agreed settle settled todo still yet next step remain remaining
follow need done finish finished complete completed go keep now current currently probably maybe temporarily
direct directly let 统一 一律 禁止 必须 不要 不能 不得 总是 别再 别 以后 优先 决定 采用 改用 改为 改成 选择
选用 待办 下一步 还没 没有 未 尚未 完成 已 已经 暂时 可能 大概 先 所有 每次 任何 一定 绝不 永远 从不 使用 用
直接 喜欢 应该 我 写 做 放 加
"""
_EVERYDAY_WORDS = """
add change update fix make use create remove delete write read run show set get put file code function class
method test line error bug issue new old work thing way help look check try find call value name data type
list page user app project module component button feature version default part point time start end open
close move rename store refactor implement handle support want know see think like first last small large
good bad right wrong 添加 增加 修改 修复 更新 删除 实现 处理 文件 代码 函数 方法 类 测试 错误 问题 功能 页面
用户 数据 列表 看 检查 运行 写 改 修 查 失败 一个 帮 新 旧 项目 模块 组件 按钮 版本 默认 时间 名称 接口 服务
部分 显示 支持 重构 设置
"""
_SILENT = STOP_WORDS | {root(word) for word in _RULE_WORDS.split()} | frozenset(_RULE_WORDS.split())
_COMMON = {root(word) for word in _EVERYDAY_WORDS.split()} | frozenset(_EVERYDAY_WORDS.split())


# What is not to be used is not what a rule is about, unless the prompt has it.
_CONTRAST = re.compile(
    r"(?<=.{4})(?:[,，;；]\s*(?:and |而)?"
    r"(?:not|never|no|don't|do not|instead of|rather than|不要用?|别用?|不用|不是|不能用?)"
    r"|\b(?:instead of|rather than)\b|而不是|而非)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Prompt:
    """The telling words of a prompt; `expression` finds the statements that share any (FTS5).

    `weights` says by root how surely the prompt means a word: 1 for its own, less for another name of the
    same. `rarity` is known of these roots only; a statement's other words count as rare.
    """

    expression: str
    weights: Mapping[str, float]
    rarity: Mapping[str, float]

    def likeness(self, text: str, subject: str = "", value: str = "") -> float:
        """Return how near a statement is, 0 or more: its shared weight by the root of all its weight.

            sum of w(t) over the shared words t / (sum of w(t) over all its telling words) ^ .5

        w is the rarity of a word, less for everyday ones; words of the subject count more, figures of the
        value less, as a question about something seldom holds the answer. What a rule forbids counts only
        where it is shared.
        """
        subjects, values = _roots(tokens(subject)), _roots(tokens(value))
        contrast = _CONTRAST.search(text)
        about = _roots(tokens(text[: contrast.start()])) if contrast is not None else {}
        shared = whole = 0.0
        for word, part in self._own_words(text):
            weight = part * self.rarity.get(word, 1.0) * (_EVERYDAY if word in _COMMON else 1.0)
            if word in subjects:
                weight *= _SUBJECT
            elif word in values and not word.isalpha():
                weight *= _VALUE
            if word in self.weights or word in about or not about:
                whole += weight
            shared += weight * self.weights.get(word, 0.0)
        return shared / whole**_DAMPING if whole else 0.0

    def _own_words(self, text: str) -> list[tuple[str, float]]:
        """Return a statement's telling roots; of a compound the whole where the prompt has it."""
        found = list(_roots(tokens(text)))[:_STATEMENT_WORDS]
        shares = dict.fromkeys(found, 1.0)
        for long in sorted(found, key=len, reverse=True):
            parts = [part for part in shares if part != long and len(part) > 1 and part in long]
            if not parts or long not in shares:
                continue
            if long in self.weights:
                for part in parts:
                    del shares[part]
            else:
                del shares[long]
                for part in parts:
                    shares[part] = min(shares[part], _COMPOUND / len(parts))
        return list(shares.items())


def prompt_words(view: View, prompt: str) -> Prompt | None:
    """Return a prompt's telling words, None when there are none."""
    looked_at = prompt[:_LOOKED_AT]
    own = list(_roots(tokens(looked_at)))[:MOST_QUERY_TOKENS]
    # Of names of several words none alone means the same: "sign in" is no "sign".
    names = (name for name in other_names(looked_at) if not name.isascii() or " " not in name)
    others = list(_roots(tokens(" ".join(names))))[:MOST_QUERY_TOKENS]
    weights = dict.fromkeys(others, _OTHER_NAME) | dict.fromkeys(own, 1.0)
    if not any(word not in _COMMON for word in own):
        return None
    counts = {word: _count(view, word) for word in weights}
    # The rarest find what is near; all of them say how near.
    known = sorted((word for word in weights if counts[word]), key=lambda word: counts[word])
    if not known:
        return None
    everything = _UNSEEN + int(view.connection.execute("SELECT COUNT(*) FROM fact").fetchone()[0])
    rarity = {
        word: max(_LEAST, math.log(everything / max(count, 1)) / math.log(everything))
        for word, count in counts.items()
    }
    return Prompt(" OR ".join(map(_prefix, known[:_LOOKED_FOR])), weights, rarity)


def _count(view: View, word: str) -> int:
    """Return how many statements hold a word."""
    query = "SELECT COUNT(*) FROM fact_text WHERE fact_text MATCH ?"
    return int(view.connection.execute(query, (_prefix(word),)).fetchone()[0])


def _prefix(word: str) -> str:
    if not word.isascii() or len(word) < 3:
        return f'"{word}"'
    return f'"{word}" *' if len(word) > 3 else f'"{word}" OR "{word}e"'  # "siz" is the root of "size"


def _roots(words: Iterable[str]) -> dict[str, None]:
    found = (root(word) for word in words if word not in _SILENT)
    return dict.fromkeys(word for word in found if word not in _SILENT)
