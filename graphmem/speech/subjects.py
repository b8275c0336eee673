"""Owns what a statement's subject and attribute are beyond their wording: words without order, one name each.

It is not where they stand in a sentence (that is `claims`). Two wordings are one only where the vocabulary
(`graphmem.aliases`) or the short list here says so.
"""

from __future__ import annotations

import re
from functools import lru_cache

from graphmem.aliases import BREAK, matches, units
from graphmem.speech.fact_values import is_attribute, named
from graphmem.speech.facts import root
from graphmem.text import HAN, STOP_WORDS, stem

VAGUE = frozenset({"value", "use", "run on", "talk to", "depend on", "is on", "endpoint", "route", ""})
"""Attributes that say nothing of what is had; a value of a telling kind says it in their place."""

MANY = frozenset({"use", "run on", "talk to", "depend on"})
"""What something may have several of at a time: one more takes no other's place."""

ONE_PLACE = frozenset(
    {"stored in", "kept in", "saved in", "written in", "hosted on", "cut from", "released from"}
)
"""What is done with something in one way at a time."""

_SAME = {
    "有效期": "ttl", "lifetime": "ttl", "time to live": "ttl", "时效": "ttl", "存活时间": "ttl",
    "过期时间": "ttl", "expiry": "ttl", "expiration": "ttl",
    "端口": "port", "端口号": "port", "版本": "version", "版本号": "version", "分支": "branch",
    "超时": "timeout", "超时时间": "timeout", "前缀": "prefix", "后缀": "suffix", "地址": "address",
    "基础路径": "base", "根路径": "base", "baseurl": "base", "base url": "base", "base path": "base",
    "路径": "path", "数据库": "database", "db": "database", "语言": "language", "时区": "timezone",
    "域名": "domain", "主机": "host", "hostname": "host", "密钥": "key", "编码": "encoding",
    "阈值": "threshold", "上限": "limit", "限额": "limit", "区域": "region", "框架": "framework",
    "引擎": "engine", "币种": "currency", "货币": "currency", "队列": "queue", "模式": "mode",
    "级别": "level", "协议": "protocol", "格式": "format", "间隔": "interval", "大小": "size",
    "长度": "length", "深度": "depth", "宽度": "width", "配额": "quota", "策略": "strategy",
    "重试次数": "retry", "最大重试次数": "retry", "负责人": "owner", "maintainer": "owner",
    "默认值": "default", "名称": "name", "名字": "name", "容量": "capacity", "目录": "directory",
    "folder": "directory", "colour": "color", "颜色": "color", "主题": "theme",
    "字体": "font", "平台": "platform",
    "存储": "store", "storage": "store", "包管理器": "manager", "构建工具": "bundler",
    "缓存": "cache", "使用": "use", "uses": "use", "用": "use", "using": "use", "依赖": "depend on",
    "依赖于": "depend on", "基于": "use", "采用": "use", "运行在": "run on", "部署在": "run on",
    "runs on": "run on", "deployed on": "run on", "hosted on": "run on", "connects to": "talk to",
    "talks to": "talk to", "reads from": "talk to", "writes to": "talk to", "listens on": "port",
    "listen on": "port", "监听": "port", "监听在": "port", "存放在": "stored in", "存储在": "stored in",
    "保存在": "stored in", "托管在": "hosted on",
    "存在": "stored in", "lives in": "stored in",
}  # fmt: skip
_ROLE_WORDS = """
store storage manager broker provider bundler linter formatter orm driver cache database queue framework
engine library runner registry directory theme color colour font platform 存储 包管理器 构建工具 缓存
数据库 消息队列 队列 框架 引擎 存放位置 构建器 平台 主题色 颜色 字体 主题
"""
_ROLES = frozenset(_ROLE_WORDS.split())
"""What of one thing there is one at a time, so that using another is using it instead."""

_HAN_ROLES = tuple(
    sorted((word for word in _ROLES | _SAME.keys() if re.match(f"[{HAN}]", word)), key=len, reverse=True)
)
_GENERIC_WORDS = """
endpoint endpoints route value setting settings config configuration option parameter param variable env
current flag number 接口 端点 设置 配置 参数 项目 仓库 当前 目前 系统
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
PROJECT = frozenset({"project", "repo", "repository", "codebase", "we", "项目", "本项目", "我们", "仓库"})
_JOINTS = frozenset({"with", "by", "in", "on", "from", "as", "to", "at", "through", "via", "into", "under"})
_DONE_ANYHOW = frozenset(
    {"done", "made", "handled", "run", "set", "used", "based", "performed", "powered", "held"}
)
_WORDS = {
    "签名": "sign",
    "签署": "sign",
    "signature": "sign",
    "包管理": "package",
    "消息": "message",
    "服务": "service",
    "接口": "api",
    "默认": "default",
    "最大": "max",
    "最小": "min",
    "maximum": "max",
    "minimum": "min",
}
_HAN = re.compile(f"[{HAN}]")
_HAN_JOINTS = re.compile(r"[的之]|中的?$|里的?$|^在|上的?$")


@lru_cache(maxsize=4_096)
def subject_words(text: str) -> tuple[str, ...]:
    """Return the telling words of a name, sorted: concepts by their name, the plural and articles gone."""
    cut = units(text)
    found: list[str] = []
    at = 0
    for match in matches(cut.words):
        if match.concept:
            found += _loose(cut.words[at : match.start])
            found.append(match.concept)
            at = match.end
    found += _loose(cut.words[at:])
    telling = {word for word in found if word not in STOP_WORDS}
    if len(telling) > 1:
        telling = telling - _GENERIC or telling
    return tuple(sorted({_WORDS.get(word, word) for word in telling}))


def _loose(words: list[str]) -> list[str]:
    """Return words that name no concept, Chinese characters that stand together as one."""
    found: list[str] = []
    run = ""
    for word in [*words, BREAK]:
        if _HAN.match(word):
            run += word
            continue
        if run:
            found += [piece for piece in _HAN_JOINTS.split(run) if piece]
            run = ""
        if word != BREAK:
            found.append(word)
    return found


def subject_of(name: str, attribute: str = "") -> tuple[tuple[str, ...], str]:
    """Return subject and attribute of a name; `attribute` is known already where it is not empty."""
    owner, had = named(name) if not attribute else (name, attribute)
    if had == "value":
        owner, had = _role_of(owner)
    if had == "value" and is_attribute(owner) and " " not in owner:
        owner, had = "", owner
    words = subject_words(owner) if owner else ()
    return tuple(word for word in words if word not in PROJECT or len(words) == 1), one_name(had)


def _role_of(name: str) -> tuple[str, str]:
    first, _, last = name.rpartition(" ")
    if last in _ROLES:
        return first, last
    for role in _HAN_ROLES:
        if name.endswith(role):
            return name.removesuffix(role).strip(), role
    return name, "value"


def one_name(attribute: str) -> str:
    """Return the one name of an attribute's wordings in both languages; an unknown one without its plural."""
    plain = " ".join(attribute.casefold().split())
    return _SAME.get(plain) or _SAME.get(stem(plain)) or stem(plain)


def attribute_words(attribute: str) -> tuple[str, ...]:
    """Return what an attribute tells: nothing of a vague one, of `signed with` what is done."""
    if attribute in VAGUE:
        return ()
    done, space, joint = attribute.partition(" ")
    if not space or joint not in _JOINTS:
        return (attribute,)
    return () if done in _DONE_ANYHOW else (root(done),)


def is_role(attribute: str) -> bool:
    """Return whether of what has this attribute there is one at a time."""
    return attribute in _ROLES


def is_project(words: tuple[str, ...]) -> bool:
    """Return whether the words name nothing but the project itself."""
    return not words or set(words) <= PROJECT
