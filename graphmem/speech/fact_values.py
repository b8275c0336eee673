"""Owns how a sentence gives something a value: subject, attribute and value, English and Chinese.

It is not whether the sentence is worth keeping as something else (that is `facts`). Where it could as well be
talk, nothing is found. Sentences are bounded by the caller, so the patterns are.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from graphmem.text import HAN, stem


class Assignment(NamedTuple):
    """What has which value: `access_token`, `ttl`, `900`; a bare subject has the attribute `value`."""

    subject: str
    attribute: str
    value: str


_ATTRIBUTE_WORDS = """
address algorithm base baseurl batch branch bucket budget cache capacity channel count currency database db
deadline default delay depth domain duration encoding endpoint engine expiration expiry format framework
frequency host hostname index interval key language length level library license lifetime limit locale
location maintainer mode name owner parent password path period policy port prefix protocol queue quota rate
region retries retry root runtime schedule schema size strategy suffix table threshold timeout timezone
topic ttl uri url user username version width window zone
"""
_HAN_ATTRIBUTE_WORDS = """
过期时间 超时时间 重试次数 默认值 基础路径 根路径 并发数 有效期 负责人 前缀 后缀 时间 端口 地址 版本 超时
上限 下限 路径 格式 名称 名字 数量 大小 周期 间隔 频率 长度 分支 数据库 语言 时区 域名 主机 密钥 编码 目录
阈值 次数 容量 限额 区域 框架 引擎 币种 精度 队列 主题 模式 级别 期限 单位 协议 深度 宽度 配额 策略 位置
"""
_LABEL_WORDS = """
answer caution commit e.g error example failed failure fix feat chore docs refactor style test perf build ci
expected actual fyi goal hint idea important info input issue note notes output problem question reason
reminder result results steps step summary task tip title todo update usage warning context prompt user
assistant system file files path url see ps edit cause status plan decision rule background
"""
_ATTRIBUTES = frozenset(_ATTRIBUTE_WORDS.split())
_HAN_ATTRIBUTES = _HAN_ATTRIBUTE_WORDS.split()
_LABELS = frozenset(_LABEL_WORDS.split())
_NO_SUBJECT = re.compile(
    r"(?:it|this|that|these|those|which|what|there|here|he|she|they|i|you|who|everything|something|nothing"
    r"|one"
    r"|add|fix|remove|test|rename|update|change|make|support|allow|drop|bump|handle|run|try|help|merge"
    r"|replace|use"
    r"|move|switch|convert|create|delete|implement|refactor|improve|ensure|check|avoid|feat|chore|revert"
    r"|please"
    r"|my|your|let|if|when|once|after|before|because|since|while|although|make|so|then)\b"
    r"|[这那它此你他她把将让被如先再若已]|请(?!求)|等(?!待|级)|当(?!前)",
    re.IGNORECASE,
)
NO_VALUE = re.compile(
    r"(?:not|no|wrong|missing|broken|too|very|being|been|also|same|the|a|an|fine|correct|ok|okay|used|set"
    r"|defined"
    r"|required|needed|important|unclear|still|only|always|never|in|on|at|by|to|for|from|with|what|how|why"
    r"|where"
    r"|that|this|it|more|less|slow|fast|empty|full|good|bad|up|down|out|ready|done|just|set|optional|unknown"
    r"|different|great|here|there|like|about|something|anything|nothing)\b|[什怎哪谁不没]|多少",
    re.IGNORECASE,
)
TELLING = re.compile(r"[/\\_@#\d]|[A-Z]|\w\.\w|^[`\"'“]|^(?:true|false|null|none|enabled|disabled)$")
_NO_USER = re.compile(
    r"(?:\b(?:will|would|should|shall|can|could|may|might|must|to|please|not|never|always|i|you|and|or|now)"
    r"|统一|以后都?|一律|必须|优先|建议|可以|应该|不要|.*把.*)$",
    re.IGNORECASE,
)
_NO_NAME = re.compile(r"[总都就不还也才但或要只说候可算并]$|^[是在]")
_NEGATED = re.compile(r"\b(?:not|never|no|dont|don't|doesn't|isn't|actually)\b", re.IGNORECASE)
_STRONG = re.compile(r"(?:(?:GET|POST|PUT|PATCH|DELETE)\s)?/\w|https?://|\d")
_PARTICIPLE = re.compile(r"\w+(?:ing|ed)$")
_TAIL = re.compile(
    r"(?:[,;，；]\s*|\s[-—]+\s|\s(?:because|since|as|so|but|which|when|if|in order|instead of"
    r"|rather than)\s|[（(])"
)
_EDGES = " \t`\"'“”‘’「」*.。!！，,；;"
_ARROW = re.compile(
    r"(?P<s>[^:：=]{1,80}?)(?:\s*[:：=]\s*|\s+)(?P<a>[^\s:：=]{1,40})\s*(?:->|→|=>)\s*(?P<v>.{1,80})$"
)
_MOVES = (
    r"(?:changed|moved|switched|increased|decreased|raised|lowered|reduced|bumped|upgraded|downgraded"
    r"|extended"
    r"|shortened|updated|renamed|went|cut)"
)
_CHANGED = re.compile(
    rf"(?P<s>[^,;:]{{1,80}}?)\s(?:(?:is|was|were|has been|have been|got)\s(?:now\s)?(?:{_MOVES}|set|fixed)"
    rf"|{_MOVES})"
    r"\s(?:from\s.{1,40}?\s)?to\s(?P<v>.{1,80})$"
)
_ACTIVE = re.compile(
    rf"(?:i|we)(?:'ve| have)?\s(?:now\s|just\s|also\s)?(?:{_MOVES}|set)\s(?P<s>[^,;:]{{1,80}}?)"
    r"\s(?:from\s.{1,40}?\s)?to\s(?P<v>.{1,80})$",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    rf"(?:also\s|now\s|just\s)?(?!cut\b){_MOVES}\s(?P<s>[^,;:]{{1,80}}?)\s(?:from\s.{{1,40}}?\s)?to\s(?P<v>.{{1,80}})$",
    re.IGNORECASE,
)
_EQUALS = re.compile(r"(?P<s>[^=:：<>!]{1,60}?)\s*(?:=|==|:=)\s*(?P<v>[^=].{0,79})$")
_COLON = re.compile(r"(?P<s>[^:：]{1,40}?)\s*[:：]\s*(?P<v>[^:：\s].{0,79})$")
_HEDGE = r"(?:now |currently |probably |maybe |still |always |temporarily |for now )?"
_IS = re.compile(rf"(?P<s>[^,;:]{{1,80}}?)\s(?:is|are|will be|remains)\s{_HEDGE}(?P<v>.{{1,80}})$")
_USES = re.compile(
    r"(?P<s>[^,;:]{1,60}?)\s(?:now\s|currently\s|probably\s)?(?P<r>uses?|runs? on|listens? on|lives? in"
    r"|(?:is|are) (?:now )?(?:stored in|hosted on|written in|built with|deployed (?:on|to|with)|served by)"
    r"|connects? to|talks? to|reads? from|writes? to)\s(?P<v>.{1,60})$"
)
_HAN_CHANGED = re.compile(
    r"(?P<s>[^，,：:。]{1,40}?)\s?(?:已经?|现在|目前|大概|可能)?(?:从\s?[^，,]{1,30}?\s?)?"
    r"(?:改为|改成|改到|调整[为到成]|调[到成]|设[为成]|设置[为成]|设定为|变[成为]|升级?[到为]|降[到为低]到?"
    r"|提高到"
    r"|缩短[到为]|延长[到为]|迁移?到|换成|切换?到|更新[为到])了?\s?(?P<v>.{1,60})$"
)
_HAN_IS = re.compile(
    r"(?P<s>[^，,：:。]{1,40}?)\s?(?:就|现在|目前|默认|大概|可能|应该|暂时|暂定|仍然?|还)?(?:是|为"
    r"|等于)\s?(?P<v>.{1,60})$"
)
_HAN_USES = re.compile(
    r"(?P<s>[^，,：:。]{1,30}?)\s?(?:现在|目前|大概|可能|暂时)?(?P<r>使用|用的是|采用的是|基于|依赖于?"
    r"|部署在|运行在|跑在|存放?在"
    r"|存储在|放在|监听在?)(?:的是)?\s?(?P<v>[^，,]{1,60})$"
)
_HAN_RELATIONS = {"用的是": "使用", "采用的是": "使用", "跑在": "运行在", "放在": "存放在", "存在": "存放在"}
_HAN_ANY = re.compile(f"[{HAN}]")
_ARTICLE = re.compile(r"(?:the|a|an|our|its|current|new|all)\s+", re.IGNORECASE)
_OF = re.compile(r"(?P<a>[^\s]+(?:\s[^\s]+)?)\s(?:of|for|in)\s(?P<s>.+)$")
_HAN_LEAD = re.compile(
    r"(?:目前|现在|当前|另外|其中|我们的|项目的|注意)\s?|(?:我们?)?(?:已经?|刚刚?才?)(?:成功)?[把将]\s?"
)
_HAN_ORDER = re.compile(r"(?:请|麻烦|帮|你|给我|先|再)[^，,]{0,6}[把将]")
_HAN_END = re.compile(r"\s?(?:了|啦|吧|哦|呢)$")


def assigned(sentence: str) -> Assignment | None:
    """Return what a sentence gives which value, None where it gives none; the value is the new one."""
    said = sentence.strip().rstrip("。.!！；;").strip()
    for pattern in (_ARROW, _CHANGED, _ACTIVE, _REPORTED, _EQUALS, _USES, _COLON, _IS):
        found = pattern.match(said)
        if found is not None and (made := _made(found, pattern)) is not None:
            return made
    if not _HAN_ANY.search(said) or _HAN_ORDER.match(said):
        return None
    led = _HAN_LEAD.sub("", said, count=1) if _HAN_LEAD.match(said) else said
    for pattern in (_HAN_CHANGED, _HAN_USES, _HAN_IS):
        found = pattern.match(led)
        if found is not None and (made := _made(found, pattern)) is not None:
            return made
    return None


def _made(found: re.Match[str], pattern: re.Pattern[str]) -> Assignment | None:
    name = found["s"].strip(_EDGES)
    value = value_of(found["v"])
    if not value or not is_name(name) or len(value.split()) > 8:
        return None
    if pattern in (_EQUALS, _COLON, _ARROW) and name.casefold().split()[-1] in _LABELS:
        return None
    relation = found.groupdict().get("r")
    if relation is not None:
        return _related(name, relation, value)
    made = Assignment(*named(name), value)
    return made if _fits(made, name, pattern) else None


def is_name(text: str) -> bool:
    """Return whether a sentence's beginning can be the name of something that has a value."""
    if not text or len(text.split()) > 7 or _NEGATED.search(text):
        return False
    return not (_NO_SUBJECT.match(text) or _NO_NAME.search(text))


def _fits(made: Assignment, name: str, pattern: re.Pattern[str]) -> bool:
    """Return whether the value looks like one, the less the wording says so the more strictly."""
    telling = bool(TELLING.search(made.value))
    has_attribute = made.attribute != "value"
    if pattern is _REPORTED and len(made.value.split()) > 1 and not _STRONG.match(made.value):
        return False  # what was done to it, not what it is
    if pattern in (_ARROW, _EQUALS, _CHANGED, _HAN_CHANGED, _ACTIVE, _REPORTED):
        return telling or (has_attribute and not NO_VALUE.match(made.value))
    words = made.value.split()
    if NO_VALUE.match(made.value) or _PARTICIPLE.match(made.value):
        return False
    if has_attribute or (is_attribute(made.subject) and pattern is not _COLON):
        return telling or (len(words) <= 3 and not made.value.endswith("的"))
    strong = bool(_STRONG.match(made.value)) and len(words) <= 4
    return (
        strong
        if pattern is _COLON
        else (strong and len(name) <= 12) or (telling and _is_identifier(name) and len(words) <= 4)
    )


def _related(name: str, relation: str, value: str) -> Assignment | None:
    if _NO_USER.search(name) or name.casefold().endswith(" we"):
        return None
    of_project = plain(name) in ("we", "我们", "项目", "本项目")
    if not TELLING.search(value) and not (of_project and len(value.split()) <= 2):
        return None
    if NO_VALUE.match(value) and not re.search(r"[A-Z\d/]", value):
        return None
    words = relation.casefold().removeprefix("is ").removeprefix("are ").removeprefix("now ").split()
    attribute = " ".join(
        [words[0] if words[0].endswith(("d", "n", "t")) else stem(words[0]) + "s", *words[1:]]
    )
    if _HAN_ANY.search(relation):
        attribute = _HAN_RELATIONS.get(relation, relation)
    value = re.sub(r"(?<=[^\u4e00-\u9fff])\s?[上里中内]面?$", "", value)
    return Assignment("project" if of_project else plain(name), attribute, value)


def value_of(text: str) -> str:
    """Return a value without quotes and article, cut where its sentence goes on to something else."""
    cut = _HAN_END.sub("", _TAIL.split(text.strip(), maxsplit=1)[0].strip(_EDGES))
    bare = re.sub(r"^(?:called|named|叫做?|名为)\s?", "", cut)
    return _ARTICLE.sub("", bare, count=1) if _ARTICLE.match(bare) else bare


def plain(text: str) -> str:
    """Return a name without article and quotes, in folded case."""
    bare = text.strip(_EDGES)
    if _ARTICLE.match(bare):
        bare = _ARTICLE.sub("", bare, count=1)
    return " ".join(re.sub(r"[`\"'“”]", "", bare).casefold().split())


def named(name: str) -> tuple[str, str]:
    """Return subject and attribute of a name such as `the API base`, `port of the server`, 接口前缀."""
    whole = name.strip(_EDGES)
    for mark in ("'s ", "’s ", "的"):
        owner, _, attribute = whole.rpartition(mark)
        if owner and attribute:
            return plain(owner), plain(attribute)
    found = _OF.match(plain(whole))
    if found is not None and is_attribute(plain(found["a"])):
        return plain(found["s"]), plain(found["a"])
    bare = plain(whole)
    first, _, last = bare.rpartition(" ")
    if first and is_attribute(last):
        return first, last
    for attribute in _HAN_ATTRIBUTES:
        if bare.endswith(attribute) and len(bare) > len(attribute):
            return bare.removesuffix(attribute).strip(), attribute
    return bare, "value"


def is_attribute(word: str) -> bool:
    """Return whether a word, or the last of several, names what things have: a port, a limit, 端口."""
    last = word.split()[-1] if word.split() else ""
    return last in _ATTRIBUTES or stem(last) in _ATTRIBUTES or last in _HAN_ATTRIBUTES


def _is_identifier(name: str) -> bool:
    """Return whether a name is one word that looks like code, or a setting in capitals."""
    return " " not in name and bool(re.search(r"[_.\d]|[a-z][A-Z]|^[A-Z][A-Z\d]+$", name))
