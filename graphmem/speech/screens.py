"""Owns the wordings by which a sentence claims nothing surely: supposed, planned, past, denied, or mere talk.

It is not how values are read (that is `claims`). Patterns only, English and Chinese.
"""

from __future__ import annotations

import re

_CHANGE_WORDS = """
move moved moves change changed changes switch switched switches migrate migrated migrates increase
increased decrease decreased raise raised raises lower lowered reduce reduced bump bumped bumps upgrade
upgraded upgrades downgrade downgraded extend extended shorten shortened update updated updates went cut
doubled halved reset flip flipped convert converted revert reverted rolled set sets fixed instead rather
place lieu longer more anymore used was were stopped dropped abandoned phased favour favor replaced
replaces replace supersedes superseded succeeded swap swapped substituted rename renamed now called named
known starting over not
"""
_PLAIN_WORDS = """
is are uses use runs run listens lives stored hosted written built deployed served connects talks reads
writes will remains
"""
_OTHER_WORDS = """
built kept sent made run cut held written done driven drawn our port called color colour theme font enabled
disabled off platform indent indented indents indentation prefer quotes quotes. spaces spaces. tabs tabs.
expires expire lasts last valid times gives has have calls hits requests starts fires happens scheduled
binds answers serves exposed version on at is are store storage manager broker provider bundler linter
formatter orm runner registry cache directory shown given taken known put read under uses
"""
_CHANGE_WORD_SET = frozenset(_CHANGE_WORDS.split())
_PLAIN_WORD_SET = frozenset(_PLAIN_WORDS.split())
_OTHER_WORD_SET = frozenset(_OTHER_WORDS.split())
_HAN_CHANGED = re.compile(r"[改换迁切升降调设变增减缩延提转移搬不停废弃淘下代替取从由重更现目如今回]")
_HAN_PLAIN = re.compile(r"[是为等于用依基部运跑存放监缩端过失走采选]|[:：=]")


def may_change(words: frozenset[str], text: str) -> bool:
    """Return whether a text of these folded words could say in English that something changed; fast."""
    return not _CHANGE_WORD_SET.isdisjoint(words) or "->" in text or "→" in text or "=>" in text


def may_be(words: frozenset[str], text: str) -> bool:
    """Return whether a text could say in English what something is."""
    return not _PLAIN_WORD_SET.isdisjoint(words) or ":" in text or "=" in text


def may_be_otherwise(words: frozenset[str]) -> bool:
    """Return whether a text could say what something is in words of its own: runs on port, expires after."""
    return not _OTHER_WORD_SET.isdisjoint(words)


def may_change_in_chinese(text: str) -> bool:
    """Return whether a text with Chinese in it could say that something changed."""
    return _HAN_CHANGED.search(text) is not None or "->" in text or "→" in text


def may_be_in_chinese(text: str) -> bool:
    """Return whether a text with Chinese in it could say what something is."""
    return _HAN_PLAIN.search(text) is not None


HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|presumably|tentatively|provisionally|temporarily|for\snow"
    r"|(?:we|it)\s(?:might|may|could)(?=\s(?:be|move|switch|use)\b)"
    r"|i\s(?:think|guess|suppose)(?:\sthat)?)\b,?\s?|暂时|暂定|暂且|大概|可能|也许|或许|估计|说不定"
    r"|应该(?=是)|(?:我们)?(?:计划|打算|准备|考虑|建议)(?=[把将])",
    re.IGNORECASE,
)
"""Words that make a sentence tentative and say nothing else."""

CLAUSES = re.compile(r"[，,；;]\s*(?:and\s|but\s|while\s|而且|并且|同时|而|但)?")
LEAD = re.compile(
    r"(?:(?:decision|decided|note|update|fyi|fact|changed?|info|reminder|heads[- ]up|important|决定"
    r"|注意|更新|备注|结论|变更)\s?[:：]\s*)"
    r"|(?:(?:we|i)(?:'ve|\shave)?\s)?(?:decided|agreed|chose)\s(?:that\s|to\s|on\s)"
    r"|(?:我们)?(?:最终)?(?:决定|商定|约定)(?:了)?[:：]?\s?"
    r"|(?:(?:as\sof|since)\s(?:today|now|this\s\w+|v?[\d.]+),?\s)|(?:从(?:今天|现在)起[，,]?\s?)"
    r"|(?:另外|此外|同时|also|and|so|then|finally)[，,]?\s",
    re.IGNORECASE,
)
CONVENTIONAL = re.compile(r"(?P<t>[a-z]{2,10})(?:\((?P<s>[^)]{1,40})\))?!?:\s+")
NEGATED = re.compile(
    r"\b(?:not|never|cannot|without|neither|nor|nobody|nothing|fail(?:s|ed)?|forgot|refus\w+|reject\w+"
    r"|against|wrong(?:ly)?|bug|avoid)\b|n't\b"
    r"|没有?|未能?|并非|不是|(?<![级类区个分特性])别|不要|无需|不用|不应|不能|不会|拒绝|忘了|错误地",
    re.IGNORECASE,
)
SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|assuming|suppose|imagine|when(?:ever)?|until|otherwise|except|only"
    r"|per\stenant|depending|either|e\.g|for\s(?:example|instance)"
    r"|like|such\sas|says?|said|claims?|thinks|heard|wonder\w*|pretend\w*|mock\w*|hypothetically|wish"
    r"|(?<!\.)example(?!\.\w)|sample|todo|fixme)\b"
    r"|如果|假如|假设|除非|若|当[^前]|的话|是否|例如|比如|据说|听说|以为|取决于|示例|待办|要不",
    re.IGNORECASE,
)
PLANNED = re.compile(
    r"\b(?:will|would|should|shall|plan(?:s|ned|ning)?|propos\w+|consider\w*|suggest\w*|wants?|wanted"
    r"|going\sto|intend\w*|try|trying|tried|experiment\w*"
    r"|discuss\w*|could|may|might|rfc|draft|idea|soon|next\s(?:week|month|release|quarter|sprint|year)"
    r"|eventually|later|tomorrow|ought|needs?\sto"
    r"|once|pending|proposal|prototype|branch\sonly|temporar\w+|about\sto)\b"
    r"|打算|计划|准备|考虑|建议|将会?(?!\s?[\w/ ]{0,40}(?:改|换|调|设|升|降))|提议|讨论|尝试|试着|试试"
    r"|下(?:周|个月|个?版|季度)|以后再|应该|明天|稍后|临时|方案",
    re.IGNORECASE,
)
PAST = re.compile(
    r"^(?:previously|formerly|originally|historically|in\sthe\spast|back\sthen|earlier|at\sfirst"
    r"|initially|once|before|(?:之前|以前|原来|原先|曾经|过去|最初|当初|早期))",
    re.IGNORECASE,
)
ADJECTIVE = re.compile(
    r"(?:\w+(?:able|ible|ful|less|ous|ive|ish|ary|ory|ant|ent|ical|ed|ing|ly)|huge|small|large|big|long"
    r"|short|high|low|old|new|late|early|odd|weird|hard|easy"
    r"|unique|safe|stable|simple|complex|heavy|flaky|random|dynamic|static|stale|null"
    r"|nil|private|public|mandatory|random|shared|local"
    r"|global|live|dead|alive|strict|loose|many|few|enough|fine|gone|ours|theirs|better|worse|cheap"
    r"|clean|dirty|nice|ugly|tricky|risky|fixed"
    r"|healthy|busy|crowded|rather|quite|pretty|so|somewhat|almost|nearly|about|around|roughly|over"
    r"|under|above|below|between)\b"
    r"|.*(?:的|很|太|过|较|非常|不够|有点)|唯一|必填|可选|正常|合理|稳定",
    re.IGNORECASE,
)
HEAD = re.compile(
    r"(?P<v>\S+(?:\s\S+)?)\s(?P<j>for|in|on|during|under|within|at|across|when)\s(?P<p>.{2,60})$"
)
AND = re.compile(
    r"\s(?:by|and|but|while|which|that|because|since|so)\s|(?<=[\w/])(?:并且|而且|以及|因为|所以)|\.\s"
    r"|[，,。;；]"
)
TYPED = re.compile(
    r"(?P<a>port|version|branch|端口|版本|分支)\s?[:：]?\s?(?P<v>v?\d[\w.]*|[A-Za-z][\w./-]*)$"
    r"|(?P<w>\d{2,5})\s?(?P<b>端口)$",
    re.IGNORECASE,
)
PLACE = re.compile(
    r"(?:for|in|on|during|under|within|at)\s(?P<p>[^,，]{2,40})$|在?(?P<h>[^,，]{1,12}?)(?:[里中下上]|环境)$",
    re.IGNORECASE,
)
JOINED = re.compile(
    r"\b(?:from|by|in|on|at|as|to|with|of|for|be|have|has|was|were|is|are|it|them|this|that|you|we|they"
    r"|use|used)\b",
    re.IGNORECASE,
)
PARTICIPLE = re.compile(
    r"(?P<a>(?:\w{2,}ed|built|kept|sent|made|run|cut|held|written|set|done|driven|drawn|shown|given"
    r"|taken|known|put|read)"
    r"\s(?:with|by|in|on|from|as|to|at|through|via|into|under))\s(?P<v>.+)$",
    re.IGNORECASE,
)
VERSIONED = re.compile(r"(?P<s>[a-z][\w.+#-]*[a-z+#])\s(?P<v>v?\d+(?:\.\d+)*)$")
METHOD_AND_PATH = re.compile(r"(?P<m>get|post|put|patch|delete)\s/\S+$")
VALUE_TAIL = re.compile(
    r"\s(?:instead|now|again|already|today|everywhere|too|as\swell|by\sdefault|everywhere\selse"
    r"|per\sdefault)$|(?:了|吧|啦)$",
    re.IGNORECASE,
)
OLD_TAIL = re.compile(
    r"\s(?:for|because|since|in\sorder|to|so|anymore|any\smore|everywhere|now)\b.*$|[（(].*$|了$",
    re.IGNORECASE,
)
UPGRADE = re.compile(r"up(?:grade|date)|downgrad|bump|升|降级|更新")
_OF_SOMETHING_WORDS = """
name path url uri key index length level size count type table column parent root format mode version
label status state address value user directory
"""
OF_SOMETHING = frozenset(_OF_SOMETHING_WORDS.split())
"""What hardly anything is without saying of what: `the size is 20` may be about anything."""
