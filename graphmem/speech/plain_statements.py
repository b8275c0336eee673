"""Owns sentences that say what something is in other words than "is" or "=": runs on port, has a limit of.

It is not the usual ones (that is `fact_values`) nor those of a change (`english_changes`, `chinese_changes`).
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Plain(NamedTuple):
    """A name, what it has, and the value, as they were said."""

    name: str
    attribute: str
    value: str


_S = r"(?P<s>[^,;:=，。：]{1,60}?)"
_NOW = r"(?:(?:now|currently|still|always|also)\s)?"
_TIME = r"\d+(?:\.\d+)?\s?(?:ms|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|weeks?)"
_ROLE = (
    r"(?:store|storage|(?:package|session|secrets?)\smanager|broker|provider|bundler|linter|formatter"
    r"|orm|(?:test\s)?runner"
    r"|registry|cache|directory|theme|colou?r|font|platform)"
)
_PARTICIPLE = (
    r"(?:\w{2,}ed|built|kept|sent|made|run|cut|held|written|done|driven|drawn|shown|given|taken|known"
    r"|put|read)"
    r"\s(?:with|by|in|on|from|as|to|through|via|into|under)"
)
_ROLE_ALONE = (
    r"(?:store|storage|manager|broker|provider|bundler|linter|formatter|orm|runner|registry|cache"
    r"|database|queue"
    r"|framework|engine|library|platform|branch|language)"
)
_FORMS = (
    (rf"{_S}\s{_NOW}(?:runs?|listens?|serves?|starts?|is\s(?:served|running|available|exposed|reachable"
     rf"|bound)|binds?|uses?|is|sits|lives|answers?)"
     r"\s(?:now\s)?(?:on\s|at\s|to\s)?(?:the\s)?(?:port\s|(?:localhost|127\.0\.0\.1|0\.0\.0\.0)?:)"
     r"(?P<v>\d{2,5})$", "port"),
    (r"(?:the\s)?(?P<s>(?:[\w-]+\s){0,4}?)port\s(?:now\s)?(?P<v>\d{2,5})$", "port"),
    (rf"port\s(?P<v>\d{{2,5}})\s(?:is\s)?(?:for|used\sby|belongs\sto|of)\s{_S}$", "port"),
    (rf"{_S}\s{_NOW}(?:runs?|starts?|fires?|happens|is\s(?:scheduled|run|triggered|due))\s{_NOW}(?:at"
     rf"|for|every)\s(?P<v>\d{{1,2}}:\d\d\S*|{_TIME})$", "schedule"),
    (rf"{_S}\s(?:is|are)\s{_NOW}(?:on|at|still\son)\s(?:version\s)?(?P<v>v?\d+(?:\.\d+)*)$", "version"),
    (rf"{_S}\s(?:expires?|lasts?|(?:is|are|stays?)\svalid|lives?)\s{_NOW}(?:after|for"
     rf"|in)?\s?(?P<v>{_TIME})$", "ttl"),
    (rf"{_S}\s(?:times?\sout|gives?\sup)\s{_NOW}(?:after|in)\s(?P<v>{_TIME})$", "timeout"),
    (rf"{_S}\s(?:has|have)\s{_NOW}an?\s(?P<a>[\w-]+(?:\s[\w-]+)?)\sof\s(?P<v>\S+(?:\s\S+){{0,3}})$", ""),
    (rf"(?P<s>(?:[\w-]+\s){{0,4}}{_ROLE})\s?(?:is|are|=|:)\s{_NOW}(?P<v>[\w./@-]+(?:\s[\w./@-]+)?)$", "role"),
    (rf"{_S}\s{_NOW}(?:calls?|hits|requests)\s(?P<v>(?:(?:GET|POST|PUT|PATCH|DELETE)\s)?/\S+)$", "use"),
    (rf"{_S}\s(?:is|are)\s(?:now\s|currently\s|always\s)?(?P<v>{_PARTICIPLE}\s(?!the\s(?:fly|way|end"
     rf"|time|same)\b)\S+(?:\s\S+){{0,3}})$", "value"),
    (rf"(?P<v>[A-Z`][\w.+`-]{{1,30}}(?:\s\d[\w.]*)?)\s(?:is|remains)\s(?:now\s)?(?:the|our)"
     rf"\s(?P<s>(?:[\w-]+\s){{0,3}}{_ROLE_ALONE})$", "value"),
    (rf"{_S}\s(?:is|are)\s(?:at|under)\s(?P<v>(?:/|v)\S+)$", "value"),
    (r"(?P<s>[A-Z][A-Z\d]*(?:_[A-Z\d]+)+|[A-Za-z]\w*(?:\.\w+)+)\s?[=:]\s?(?P<v>[^\s=:]{1,60})$", "value"),
    (rf"{_S}\s{_NOW}uses\s(?P<v>[\w./@+-]+(?:\s[A-Z\d][\w.]*)?)$", "use"),
    (rf"{_S}\s(?:is|are)\s(?:now\s)?(?P<v>(?:(?:GET|POST|PUT|PATCH|DELETE)\s)?/\S+)$", "value"),
    (rf"{_S}\s(?:lives?|is\s(?:served|reachable|mounted|available)|sits)\s{_NOW}(?:at|under|on)"
     rf"\s(?P<v>/\S+)$", "value"),
    (r"(?:the\s)?(?:feature\s)?(?:flag\s|setting\s|option\s)?(?P<s>[A-Za-z]\w*[_.-]\w[\w.-]*"
     r"|[A-Z][A-Z\d]{2,})(?:\s(?:flag|setting|option))?"
     r"\s(?:is|:|=)\s(?:now\s|currently\s)?(?P<v>on|off|enabled|disabled|true|false)$", "value"),
    (r"(?P<s>[^，,：:。]{0,20}?(?:存储|包管理器|构建工具|缓存|数据库|消息队列|队列|框架|引擎|平台"
     r"|主题色?|颜色|字体|编辑器|构建器))"
     r"\s?(?:现在|默认|目前|仍然?)?(?:是|为|用的是|使用|采用|用"
     r"|[:：])\s?(?P<v>[\w./@-]{1,30}(?:\s[\w./@-]{1,20})?)$", "role"),
    (r"(?P<s>)(?:please\s|always\s|we\s|i\s|i'd\s|code\s(?:is|should\sbe)\s)*(?:indent(?:ed"
     r"|s)?(?:\s(?:code|files|everything))?\s(?:with|by|using)|indentation\s?(?:is|:|uses|=))"
     r"\s(?P<v>tabs?|spaces|(?:\d+|two|four|eight)[\s-]spaces?|\d)$", "indent"),
    (r"(?P<s>)(?:please\s|always\s|we\s|i\s|i'd\s)*(?:use|prefer|uses)\s(?P<v>tabs|spaces|(?:\d+|two"
     r"|four)[\s-]spaces?)"
     r"(?:\s(?:over|instead\sof|rather\sthan|not)\s(?:tabs|spaces))?(?:\sfor\sindent(?:ation|ing)"
     r"(?:\sof\s.{1,20})?)?$", "indent"),
    (r"(?P<s>)(?:please\s|always\s|we\s|i\s|i'd\s)*(?:use|prefer|uses)\s(?P<v>single|double)[\s-]quotes?"
     r"(?:\s(?:over|instead\sof|rather\sthan|not)\s(?:single"
     r"|double)[\s-]quotes?)?(?:\sfor\sstrings)?$", "quotes"),
    (r"(?P<s>)(?:统一|请|一律|代码)*缩进\s?(?:统一|一律)*(?:使用|采用|用|为|是|[:：])\s?(?P<v>(?:\d+|两"
     r"|四)\s?个?空格|制表符|tab|Tab|TAB|空格)$", "indent"),
    (r"(?P<s>)(?:统一|请|一律|我们|我)*(?:更喜欢|喜欢|偏好|优先)?(?:使用|采用|用)\s?(?P<v>(?:\d+|两|四)"
     r"\s?个?空格|制表符|tab|Tab|TAB|空格)\s?缩进$", "indent"),
    (r"(?P<s>[^，,：:。]{1,40}?)\s?(?:现在|目前|默认)?(?:运行|监听|部署|启动|跑|开)"
     r"在?\s?(?:端口\s?(?P<v>\d{2,5})|(?P<w>\d{2,5})\s?端口)上?$", "port"),
    (r"(?P<s>[^，,：:。]{1,40}?)\s?(?:使用|用的是|用)\s?(?:端口\s?(?P<v>\d{2,5})|(?P<w>\d{2,5})\s?端口)"
     r"$", "port"),
    (r"(?P<s>[^，,：:。]{1,40}?)\s?监听\s?(?P<v>\d{2,5})$", "port"),
    (r"(?P<s>[^，,：:。]{0,40}?)\s?端口\s?(?P<v>\d{2,5})$", "port"),
    (r"(?P<s>[^，,：:。]{1,40}?)\s?(?:在|于)?\s?(?:\d+\s?)?(?P<v>\d+\s?(?:毫秒|秒钟?|分钟?|小时|天|周))"
     r"后?(?:过期|失效)$", "ttl"),
    (r"(?P<s>[^，,：:。]{1,30}?)\s?(?:默认|目前|现在)?(?<![改换转不停])(?:使用|走|采用|选用|用)"
     r"\s?(?P<v>GET|POST|PUT"
     r"|PATCH|DELETE|[A-Z/][\w./@-]{1,30})(?:\s?(?:方法|请求|方式))?$", "use"),
)  # fmt: skip
_COMPILED = tuple((re.compile(form, re.IGNORECASE), attribute) for form, attribute in _FORMS)
_NUMBERS = {"two": "2", "four": "4", "eight": "8", "两": "2", "四": "4", "制表符": "tab", "空格": "space"}


def plainly(said: str) -> Plain | None:
    """Return what a sentence says something is, None where it is none of these forms."""
    for form, attribute in _COMPILED:
        if (found := form.match(said)) is not None:
            parts = found.groupdict()
            value = (parts["v"] or parts.get("w") or "").strip()
            if attribute in ("role", "value"):
                return Plain(parts["s"].strip(), "", value)
            if attribute == "indent":
                value = _indent(value)
            return Plain((parts["s"] or "").strip(), attribute or (parts.get("a") or "").casefold(), value)
    return None


def _indent(value: str) -> str:
    words = value.casefold().replace("-", " ").replace("个", "").replace("空格", " space").split()
    plain = [_NUMBERS.get(word, word) for word in words]
    if plain[0].isdigit():
        return f"{plain[0]} space"
    return plain[0].removesuffix("s")
