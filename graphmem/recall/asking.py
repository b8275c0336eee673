"""Owns what kind of answer a question wants, told from its words, in English and Chinese.

It is not the answer, and it asks no database: a question about a contract is one by its words here, and by
what is recorded in `contract_question`. A question that fits nothing is a look-up.
"""

from __future__ import annotations

import re
from enum import StrEnum

from graphmem.text import HAN, folded

_LOOKED_AT = 2_000
_HAN = re.compile(f"[{HAN}]")
_LITERAL = re.compile(r"[A-Za-z0-9_]*[./_\-][\w./{}\-]*|\b[A-Z][A-Z0-9]+\b", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]{2,}")


class QuestionKind(StrEnum):
    """What a question is for."""

    LOOKUP = "lookup"
    """What is recorded: a fact, a decision, what was done."""
    CONSEQUENCES = "consequences"
    """What has to change, or is affected, when something changes: files first."""
    CONTRACT = "contract"
    """Who uses a connection point, and who is still on its old version."""
    BROAD = "broad"
    """How a project, or a part of it, is made: modules first."""


_DOING = (
    r"(?:chang|updat|modif|adapt|adjust|edit|touch|rewrit|rework|migrat|mov|renam|remov|delet|drop|replac|switch"
    r"|upgrad|refactor|swap|split)(?:e|es|ed|ing|y|ies|ied|ten|ping|ped|ting|ted|s)?"
)
_ASKER = r"(?:i|we|you|one|somebody)"
_MUST = (
    rf"(?:(?:has|have|needs?|ought)(?:\s{_ASKER})?\sto|must|should|would|will|do|does|might|may|could|can)"
    rf"(?:\s{_ASKER})?(?:\s(?:also|else|all|likely|probably|have\sto|need\sto|be|get)){{0,4}}"
)
_CONSEQUENCES = re.compile(
    rf"\bwhat(?:\s\w+){{0,3}}?\s{_MUST}\s(?:{_DOING}|break|affected|impacted)\b"
    r"|\bwhat(?:\s\w+){0,3}?\s(?:is|are|gets)\s(?:all\s)?(?:affected|impacted|broken)\b"
    r"|\bwhat(?:\selse)?(?:\s(?:would|will|could|might|may|can|all))?\s(?:breaks?|stops?\sworking|goes\swrong|depends)\b"
    rf"|\b(?:which|what)\s(?:\w+\s){{0,3}}?(?:files?|modules?|parts?|places?|code|tests?|components?|services?|pages?)\b"
    rf"(?:\s\w+){{0,4}}?\s(?:affected|impacted|breaks?|depends?|{_MUST}\s{_DOING})\b"
    r"|\b(?:impact|consequences?|effects?|blast\sradius|knock-on|ripples?|fallout)\s(?:of|on|from|if|when)\b"
    rf"|\bwhat\s(?:happens|follows)\s(?:if|when)\s(?:i|we|you|somebody|someone)\s{_DOING}\b"
    r"|\b(?:affected|impacted)\s(?:by|if|when)\b"
    r"|\bwho(?:\selse)?\s(?:is\saffected|depends\son)\b",
    re.IGNORECASE,
)
_CONSEQUENCES_HAN = re.compile(
    r"(?:需要|要|得|必须|应该|应当|还要|该)(?:一起|同时|跟着|同步)?(?:改动|修改|更改|改|调整|更新|动|适配|变)(?:哪|什么|啥|多少)"
    r"|(?:改动?|修改|更改|调整|更新|变更|适配|动)(?:到|及)?(?:哪些|哪里|哪个|什么|啥)"
    r"|(?:哪些|哪里|哪个|什么|啥)(?:文件|地方|模块|代码|部分|服务|页面|测试|组件|东西)?[^,，。?？]{0,12}?"
    r"(?:需要|要|得|必须|应该|会|跟着|也|还|将)(?:一起|同时|跟着|同步|被)?(?:改|修改|调整|更新|变|动|坏|挂|出错|出问题|失效|崩|受影响|影响)"
    r"|(?:影响|波及|牵连|牵涉|涉及)(?:到|了)?(?:哪|什么|谁|多大|范围|面)|受(?:到)?影响|影响(?:范围|面)|有(?:什么|哪些|啥)影响"
    r"|谁(?:会)?依赖|哪些[^,，。?？]{0,8}依赖|连带(?:要|需要|会)?"
)
_USERS = re.compile(
    r"\b(?:who|what|which|where|anyone|anybody|anything|everyone)\b(?:\s\S{1,80}){0,4}?\s"
    r"(?:calls?|calling|uses?|using|used|consumes?|consuming|listens?|listening|subscribes?|subscribed|reads?|writes?"
    r"|emits?|publishes?|hits?|requests?|queries|depends|called|talks?|sends?|sets?|needs?)\b"
    r"|\b(?:callers?|users?|consumers?|clients?|subscribers?|listeners?|usages?)\sof\b"
    r"|\bstill\s(?:on|calls?|uses?|using|calling)\b",
    re.IGNORECASE,
)
_USERS_HAN = re.compile(
    r"(?:谁|哪些|哪个|哪里|什么|还有)[^,，。?？]{0,12}?(?:在?用|使用|调用|依赖|订阅|监听|消费|读取?|写入?|发布|发出|请求|访问)"
    r"|(?:调用方|使用方|消费者|消费方|订阅者|调用者|使用者)|(?:被|由)(?:谁|哪些)"
)
_BROAD = re.compile(
    r"\bhow\s(?:is|are|was|does)\s(?:\w+\s){0,4}?(?:organi[sz]ed|structured|laid\sout|built\sup|divided|arranged|split\sup)\b"
    r"|\b(?:overview|summary|tour|outline|big\spicture|map)\s(?:of|over)\b|^\s*(?:an?\s)?overview\b"
    r"|\b(?:project|repo(?:sitory)?|code\s?base|overall|high[- ]level|general|module|system)\s"
    r"(?:structure|layout|architecture|organi[sz]ation|overview)\b"
    r"|\b(?:what|which)\s(?:are\sthe\s)?(?:(?:main|major|big|largest)\s)?(?:modules|parts|components|areas|subsystems|building\sblocks)\b"
    r"(?:\s(?:are\sthere|exist|does|do|make|is|of|in)\b|\s*\??\s*$)"
    r"|\bwhat\sis\s(?:this|the)\s(?:project|repo(?:sitory)?|code\s?base)\b"
    r"|\b(?:summari[sz]e|describe|explain|introduce)\s(?:me\s)?(?:this|the)\s(?:whole\s)?(?:project|repo(?:sitory)?|code\s?base|architecture|modules?)\b",
    re.IGNORECASE,
)
_BROAD_HAN = re.compile(
    r"(?:项目|工程|仓库|代码库?|系统|整体|整个|总体|模块|目录|程序)(?:的)?(?:整体)?(?:结构|架构|组织|布局|概况|概览|概述|总览|划分|组成|构成)"
    r"|(?:概览|概述|总览|概况|全貌)|(?:有|分成?|包含|包括)(?:了)?(?:哪些|什么|几个|哪几个)(?:主要|大|核心)?的?(?:模块|部分|组件|子系统)"
    r"|(?:主要|核心)(?:的)?模块(?:有|是)|(?:是)?(?:怎么|怎样|如何)(?:组织|划分|组成|构成|分层|搭)"
    r"|(?:介绍|讲讲|说说|总结)(?:一下)?(?:这个|整个|本)?(?:项目|仓库|工程|代码库|系统|模块)"
    r"|(?:项目|仓库|工程|代码库)是(?:做什么|干什么|什么|干嘛)"
)
_REASON = re.compile(
    r"\b(?:why|when|who\s(?:decided|chose))\b|为什么|为何|何时|什么时候|谁决定", re.IGNORECASE
)


def is_chinese(text: str) -> bool:
    """Return whether to answer in Chinese: more Chinese characters than English words, names left out."""
    cut = _LITERAL.sub(" ", text[:_LOOKED_AT])
    return len(_HAN.findall(cut)) > len(_LETTER.findall(cut))


def asks_for_consequences(text: str) -> bool:
    """Return whether the question is what has to change, or what is affected."""
    cut = _plain(text)
    return _CONSEQUENCES.search(cut) is not None or _CONSEQUENCES_HAN.search(cut) is not None


def asks_for_users(text: str) -> bool:
    """Return whether the question is who uses something."""
    cut = _plain(text)
    return _USERS.search(cut) is not None or _USERS_HAN.search(cut) is not None


def asks_broadly(text: str) -> bool:
    """Return whether the question is how a project or a part of it is made; why it is so is a look-up."""
    cut = _plain(text)
    if _REASON.search(cut):
        return False
    return _BROAD.search(cut) is not None or _BROAD_HAN.search(cut) is not None


def kind_by_words(text: str, *, names_contract: bool = False) -> QuestionKind:
    """Return what a question is for.

    `names_contract` says that it names a contract that is recorded, see
    `graphmem.recall.contract_question.named_contracts`.
    """
    affected = asks_for_consequences(text)
    if names_contract and (affected or asks_for_users(text)):
        return QuestionKind.CONTRACT
    if affected:
        return QuestionKind.CONSEQUENCES
    return QuestionKind.BROAD if asks_broadly(text) else QuestionKind.LOOKUP


def _plain(text: str) -> str:
    return " ".join(folded(text[:_LOOKED_AT]).split())
