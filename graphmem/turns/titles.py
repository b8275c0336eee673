"""Owns the titles of turns: the first words of a prompt or an answer that say something, or the files.

It is not a summary: a title is a cut of what was written, without its markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from graphmem.text import HAN

LONGEST_TITLE = 80
_MOST_LOOKED_AT = 4_096
_NAMED_FILES = 2
_LONGEST_NAME = 28

_FENCE = re.compile(r"\s*(?:```|~~~)")
_TAG = re.compile(r"</?[A-Za-z][\w:.-]{0,40}(?:\s[^<>]{0,200})?/?>")
_LINE_MARK = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)、]\s*|\|)+")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_EMPHASIS = re.compile(r"(?<![\w/*])(\*{1,3}|~~)(?=[^\s*])(.{1,200}?)(?<=[^\s*/])\1(?!\w)|`+")
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://([^\s/?#]*)[^\s，。)]*", re.IGNORECASE)
_FOLDERS = re.compile(r"(?<![\w.])@?(?:[A-Za-z]:[\\/]|~?[\\/])(?:[^\s\\/:*?\"'<>|]+[\\/])+(?=[^\s\\/])")
_SENTENCE_END = re.compile(r"(?<=[。！？；])|(?<=[.!?])(?=\s)")
_ABBREVIATED = re.compile(r"(?:^|\s)(?:e\.g|i\.e|etc|vs|cf|no|approx|\d+|[A-Za-z])\.$", re.IGNORECASE)
_UNSEEN = re.compile(
    r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_EDGES = " \t*:：,，;；、.。…-–—>|"
_QUOTED = re.compile(r"[\"'“‘「『](.*)[\"'”’」』]")
_WORD = re.compile(rf"[{HAN}]|[^\W_]+(?:'[a-z]+)?")
_ONE_NAME = re.compile(r"@?[\w.~-]*[\\/.][\w.\\/~:-]*|/[\w:-]+")
_HAN = re.compile(f"[{HAN}]")
# What a pasted plan or report begins with; what it is about comes below.
_HEADING = re.compile(
    r"(?:(?:the|my|our|full|detailed|implementation|project|development|technical|executive|problem|task)\s+)*"
    r"(?:plan|tasks?|overview|summary|context|background|goals?|introduction|description|objectives?|todo"
    r"|requirements?|instructions?|steps?|spec(?:ification)?|details?|notes?|design|proposal|statement|prd|rfc)"
    r"|(?:实施|实现|开发|项目|技术|详细|任务|总体|需求|设计|背景|问题)*"
    r"(?:计划|方案|背景|目标|概述|概览|总结|简介|说明|任务|需求|步骤|要求|上下文|描述|设计|文档|前言|引言)",
    re.IGNORECASE,
)

# Who the agent is to be, and that there is a plan; what is to be done comes after it.
_PREAMBLE = re.compile(
    r"(?:(?:i want you to |please )?act as|you are|you're|imagine you|pretend)\b.{0,120}"
    r"|(?:please |now |let's |you should )*"
    r"(?:implement|execute|follow|apply|carry out|work on|complete|do|here is|see)"
    r" (?:the|this|these|my|our) (?:(?:following|below|attached|whole|entire) )?"
    r"(?:plan|tasks?|steps|changes|spec(?:ification)?|instructions|requirements?|prd)"
    r"(?: (?:below|exactly|step by step))?"
    r"|你(?:现在)?是(?:一[个名位])?.{0,30}(?:专家|工程师|助手|开发者?|程序员|架构师)"
    r"|(?:请|现在)?(?:按照?|根据|执行|实现|完成)?(?:以下|下面|上面|上述|这个|如下)的?"
    r"(?:计划|方案|任务|步骤|要求|需求)(?:来?(?:实现|执行|做|修改|开发|完成))?",
    re.IGNORECASE,
)
_TRACE = re.compile(r"\s*(?:Traceback \(most recent call last\)|File \"[^\"]*\", line \d+|at [\w.$<>]+ ?\()")

_POOR = """
a again agreed ahead all alright and are been carry complete completed continue do done everything exactly
fine finished first go going good great has have hello hey hi is it keep lets let's let now next ok okay on
perfect please pls proceed ready resume retry right same second set start successfully sure thank thanks
that the then third this too try was yeah yep yes you y n no nope option
"""
_POOR_WORDS = frozenset(_POOR.split())
_POOR_CHINESE = re.compile(
    "(?:请|你|您|再|就|那|先|一下|吧|了|的|啊|呢|嗯|哦|继续|接着|往下|下一步|做|改|来|执行|开始|干|好|行|可以|是|对|没错|"
    "没问题|不错|谢谢|多谢|同意|确认|重试|试试|第|个|方案|一|二|三|四|你好|您好|hi|ok)+",
    re.IGNORECASE,
)


def title_of(text: str) -> str:
    """Return the first sentence of a text that says something, at most 80 characters; "" if none does."""
    for line in _lines(text[:_MOST_LOOKED_AT]):
        for sentence in _sentences(_plain(_LINE_MARK.sub("", line))):
            title = _unquoted(sentence.strip(_EDGES)).strip(_EDGES)
            if _says_something(title):
                return shortened(title)
    return ""


def title_of_files(verb: str, paths: Sequence[str]) -> str:
    """Return a title such as "Change a.ts, b.ts and 3 more"; "" without files."""
    if not paths:
        return ""
    names = list(dict.fromkeys(re.split(r"[\\/]", path.rstrip("\\/"))[-1] for path in paths))
    rest = len(names) - _NAMED_FILES
    named = ", ".join(shortened(name, _LONGEST_NAME) for name in names[:_NAMED_FILES])
    return f"{verb} {named} and {rest} more" if rest > 0 else f"{verb} {named}"


def shortened(text: str, most: int = LONGEST_TITLE) -> str:
    """Return the text cut to `most` characters, at a word's end where one is near."""
    if len(text) <= most:
        return text
    head = text[: most - 1]
    space = head.rfind(" ")
    if space > most * 2 // 3:
        head = head[:space]
    return head.rstrip(_EDGES) + "…"


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that are the writer's own words: no code, no quotation, no frame of a trace."""
    is_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and not line.lstrip().startswith(">") and not _TRACE.match(line):
            yield line


def _sentences(line: str) -> Iterator[str]:
    """Yield the sentences of a line; an abbreviation's full stop ends none."""
    held = ""
    for piece in _SENTENCE_END.split(line):
        held += piece
        if not _ABBREVIATED.search(held):
            yield held
            held = ""
    if held:
        yield held


def _plain(line: str) -> str:
    """Return a line without markup, with addresses cut to their hosts and absolute paths to their names."""
    text = _LINK.sub(r"\1", _TAG.sub(" ", _UNSEEN.sub(" ", line)))
    text = _FOLDERS.sub("", _ADDRESS.sub(r"\1", text))
    text = _EMPHASIS.sub(lambda found: found[2] or "", text)
    return " ".join(text.split())


def _unquoted(sentence: str) -> str:
    whole = _QUOTED.fullmatch(sentence)
    return whole[1] if whole else sentence


def _says_something(title: str) -> bool:
    words = [word.lower() for word in _WORD.findall(title)]
    if not words or any(pattern.fullmatch(title) for pattern in (_ONE_NAME, _HEADING, _PREAMBLE)):
        return False
    if _HAN.search(title):
        rest = "".join(words)
        return _POOR_CHINESE.fullmatch(rest) is None
    telling = [word for word in words if word not in _POOR_WORDS and not word.isdigit()]
    return bool(telling) and len("".join(telling)) > 1
