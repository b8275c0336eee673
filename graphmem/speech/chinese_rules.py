"""Owns the Chinese wording of rules, wishes, tasks and decisions.

It is not the English one (that is `english_rules`) nor values (that is `fact_values`). Precision comes before
completeness: an order for the work at hand is no rule. Sentences are bounded by the caller.
"""

from __future__ import annotations

import re

from graphmem.model import FactKind, Scope, TaskState
from graphmem.speech.ruling import Ruling, any_of
from graphmem.text import HAN

TENTATIVE = any_of(
    r"暂时|暂定|暂且|先这样|不一定|[之以]后再[看说定议]|(?<![不尽])可能|大概|也许|或许|估计|说不定|不确定"
    r"|没准",
    r"先试|试试看|试一下|试用一段|(?<!优)先(?:用|按|凑合|跑一段|采用|使用)|到时候再|回头再[看说]|目前先"
    r"|临时(?:用|先|决定|采用|方案)|应该是",
)
_SPACED = re.compile(rf"(?<=[{HAN}])\s+|\s+(?=[{HAN}])")
_LEAD = re.compile(
    r"(?:(?:请|麻烦|另外|还有|注意|记住|对了|好的?|嗯|行|然后|而且|并且|但是?|不过|所以|那么?|最后|首先"
    r"|其次|总之|顺便"
    r"|暂时|可能|大概|也许|目前)\s?[，,：:。]?\s?)+"
)
_QUESTION = any_of(
    r"[?？][\"”』」)）\s]*$",
    r"(?:吗|呢|么)[。!！~\s]*$",
    r"^(?:为什么|为何|怎么|怎样|如何|是否|能不能|可不可以|要不要|有没有|是不是|谁|哪|什么|多少|你觉得"
    r"|你认为|请问)",
    r"^(?!.*(?:(?:别|不要|不用|无需)\S{0,3}问|再[看说定议])).*(?:是什么|怎么办|怎么回事|什么意思|哪个|哪些"
    r"|哪一|要不要"
    r"|能不能|可不可以|是不是|该不该|用不用|有没有办法)(?!都)[^，,]{0,12}$",
)
_HEARSAY = re.compile(r"(?:你|他|她|他们|用户|老板|同事)(?:说|觉得|认为|提到)")
_HERE = re.compile(
    r"这|那(?!么)|它|此(?!外)|刚才|刚刚|现在(?!起|开始)|今天|本次|上面|下面|以下|统一一下"
    r"|第[一二三四五六七八九十\d]+[个行步条]|选中|附件"
)
_PROJECT = re.compile(
    r"(?:在)?(?:这个|本|该|我们(?:的)?|整个)(?:项目|仓库|代码库|团队|工程)(?:里面?|中|内)?[，,]?"
)

# ---- tasks --------------------------------------------------------------------------------------

_OPEN_LABEL = re.compile(
    r"(?:待办(?:事项)?|待做|待完成|待处理|待补充?|todo|遗留(?:问题|工作)?|未完成(?:的(?:工作|任务|事项))?"
    r"|剩余(?:工作|任务|部分)?"
    r"|剩下(?:的)?(?:工作|任务|部分|事情)?|下一步(?:工作|计划)?|后续(?:工作|任务|计划)?|还剩(?:下)?|还差"
    r"|尚未完成(?:的)?)"
    r"(?:\s?[:：]\s?|(?:就)?是(?!什么)|还有|是要|要做的是|需要做的是)\s?(?P<t>\S.+?)[。.!！]?$",
    re.IGNORECASE,
)
_OPEN_HEADING = re.compile(
    r"(?:待办(?:事项)?|待做|待完成|待处理|todo|遗留(?:问题|工作)?|未完成(?:的?(?:工作|任务|事项|部分))?"
    r"|剩余(?:工作|任务|事项)?|剩下的?(?:工作|任务|部分)?"
    r"|下一步(?:工作|计划)?|后续(?:工作|任务|计划|步骤)?|还没做的?|尚未完成)$",
    re.IGNORECASE,
)
_DONE_HEADING = re.compile(
    r"(?:已(?:经)?完成(?:的?(?:工作|任务|事项|部分))?|完成(?:情况|的工作)?|已修复|已解决|已做)$"
)
_OPEN = any_of(
    r"还没(?:有)?(?!想|决定|确定|看|到|来|收|人|搞清|弄清|弄明白|搞懂|返回|返|用过|遇|见|试|定|结束|反应|回"
    r"|睡|吃|问题|说|问|听|讨论|关系)[^\s，。了]",
    r"尚未(?!确定|决定|返回|收到|看|发现)\S",
    r"(?:仍|依然|还)未(?:完成|实现|处理|迁移|覆盖|修复|接入|测试|支持)",
    r"[^你请，,]{2,}还(?:需要?|得|要)(?!的|多|不|我|你|看|问|等|是)\S{2,}",
    r"^还(?:需要|得)(?!我|你|看|问|等)(?:补|加|做|写|处理|修|改|实现|优化|迁移|拆|清理|完善|更新|把|给)\S",
    r"(?:下一步|接下来|后续)(?:需要|要|得|计划|准备|打算|应该|再)(?!做什么|怎么|看|跑)\S{2,}",
    r"记得(?:之后|以后|稍后|后面|回头|下次|晚点|改天|上线前|发布前)\S",
    r"(?:留到|放到|等到|推迟到|留待)(?:以后|后面|之后|下次|下一?个?(?:版本?|步|期|迭代)|后续)",
    r"(?:之后|以后|后面|后续|稍后|回头|下次|下个版本|下个迭代)(?:再|还要|需要|要|得)(?:补|加|做|写|处理|修"
    r"|改|实现|优化|迁移|拆|清理|完善|更新|接)",
    r"\S{2,}(?:还|尚)(?:是)?未完成[。.]?$|\S{2,}未完成[。.]?$",
)
_NOT_OPEN = any_of(
    r"还没.{0,8}(?:就|吧)",
    r"^(?:它|这|那)(?:个|些)?还没(?:有)?\S{1,4}[。.]?$",
    r"还要多久|还需要什么|没有(?:待办|遗留)",
)
_DONE_LABEL = re.compile(
    r"(?:已?完成|已?修复|搞定|已解决|done|做完了?)\s?[:：]\s?(?P<t>\S.+?)[。.!！]?$", re.IGNORECASE
)
_ENDED = r"(?:修复|完成|解决|搞定|实现|做完|写完|改完|修好|处理完|迁移完|上线|补上|补齐)"
_WORKED = r"(?:更新|接入|补充|补上|处理|清理|迁移|添加|新增|编写|删除|移除|替换|拆分|部署)"
_DONE = any_of(
    rf"^(?:我|我们)?(?:刚)?(?:已(?:经)?(?:全部)?|成功){_ENDED}了?(?!的|后|时|前)\s?[^。，\s]\S+",
    rf"^[^，,]{{2,40}}?(?:都|均)?(?:已(?:经)?(?:全部)?|都){_ENDED}(?:了|完成|完毕)?[。.!！]?$",
    r"^(?:我|我们)?(?:完成|修复|搞定|解决|实现)了\s?(?!吗|没)\S{2,}",
    r"^[^，,]{2,40}?(?:已)?(?:修复|修改|添加|新增|接入|替换|开发|迁移|重构|编写|测试|部署|优化|清理|升级"
    r"|更新|改造|拆分)(?:全部)?(?:完成"
    r"|完毕|好)了?[。.!！]?$",
    r"^[^，,]{2,40}?(?:搞定|做完|写完|修好|改完|修复|完成)了[。.!！]?$",
    rf"^(?:我|我们)?已(?:经)?(?:全部)?{_WORKED}了?\s?(?!的|后|时|前|到|为|成|至)\S{{2,}}$",
    rf"^[^，,]{{2,40}}?(?:都)?已(?:经)?(?:全部)?{_WORKED}(?:了|完|好了?)?[。.!！]?$",
    rf"^(?:{_WORKED}|补上)了\s?(?!吗|没|一下)\S{{2,}}$",
    rf"^[^，,]{{2,40}}?(?:{_WORKED}|补)(?:好|上)了[。.!！]?$",
)
_NOT_DONE = any_of(
    r"(?:没有?|不(?:会|能|想|要|必|用|再|是)|请|帮[我忙]|需要?|要|如何|怎么|怎样|等|待|能|可以|尚未|未|还没"
    r"|就|才|即将|负责|为了|如果"
    r"|当|一旦|应该|必须|争取|尽快)"
    r"\s?[^，,。]{0,8}" + _ENDED,
    r"(?:完成|修复|解决|实现|搞定)(?:之?后|时|前|度|率|情况|方式|方案|思路)",
    r"^(?:全部|都|已经?|全|这个|它|任务|工作|问题|这些)*(?:已经?)?(?:修复|完成|解决|搞定|做完)了?[。.!！]?$",
)

# ---- decisions ----------------------------------------------------------------------------------

_DECIDED = any_of(
    r"(?<![未没取])决定(?!权|性|于|因素|是否|要不要|怎么|如何|哪|什么|谁|不了|的|吧|[。.!！]?$)\S",
    r"^(?:决定|决策|结论)\s?[:：]\s?\S",
    r"(?:敲定|商定|拍板|达成一致|说好|定下来)(?:了|用|采用|使用|要|：|:|，)?\S{2,}",
    r"(?:最终|最后|一致|已经)?(?:确定|定)(?:了)?(?:用|使用|采用|选用)\S",
)
_CHOSEN = any_of(
    r"(?:^|我们|最终|最后|项目|团队|[，,；\s]|[^，,把将要请应该]{2,12})(?:都|还是|直接|正式)?(?:采用|改用"
    r"|选用|沿用|换用)(?!了?吗|哪|什么|的)\S",
    r"(?:选择|选定|选)了?\s?\S.{0,30}(?:而不是|而非|没有用|没用|不用|作为|来代替|代替|替代)",
    r"(?:我们|最终|最后|团队)(?:都|还是)?选(?:择|定)?了\s?\S{2,}",
    r"(?:我们|最终)(?:将|会|就)?(?:用|使用)\s?\S.{0,30}(?:而不是|而非|代替|替代|取代|，?不再用|，?不用)",
)
_FOR_A_WHILE = re.compile(r"(?:^|我们|[，,])先(?:用|采用|按)\S{1,30}[，,]\S{0,6}?再(?:看|说|改|换|定|议)")
_NOT_DECIDED = any_of(
    r"(?:还没|没有?|未|尚未|待|再|来|自己|你|需要|帮我|由.{1,10}|让.{1,10})(?:有)?(?:决定|选择|确定)",
    r"(?:用户|可以|能够?|请|下拉|允许|支持|默认|应该|是否|要不要|建议|考虑|可|打算"
    r"|如果)\s?(?:\S{0,4})(?:选择|采用|改用|选用|换用)",
)

# ---- preferences and conventions ----------------------------------------------------------------

_COMPLAINT = re.compile(
    r"(?:总是|始终|永远|每次|一直).{0,8}?(?:报|失败|返回|超时|卡|出现|崩|挂|为空|不对|不行|得到|显示|抛"
    r"|是\s?(?:空|null|0)|变成|丢"
    r"|很?慢|看到|提示|没有|没|无法|不能(?!超过|大于)|打不开|登不上|出错|弹|跳)"
)
_AGENT = r"(?:回答|回复|问我|询问|解释|道歉|总结|确认|告诉我|沟通|交流|给我看|对话|说明给我|啰嗦|废话|表情)"
_TONGUE = r"(?:中文|英文|英语|汉语|简体中文|繁体中文|日语|德语|法语)"
_PREFERENCE = any_of(
    r"我们?(?:个人)?(?:更|比较|很|最|还是|一般|通常|平时|一直)?(?:喜欢|偏好|倾向于?|习惯|偏爱|讨厌|不喜欢"
    r"|不习惯)(?!这|那|它|你|吗)\S",
    r"(?<!最)优先(?!级|队列|顺序|权|修复|处理|做|解决|完成|看|排查|检查|搞)(?:使用|用|考虑|选择?|采用|复用"
    r"|走|调用|写|\S)\S",
    r"尽量(?:都)?(?:用|使用|复用|避免|保持|不要?|少|写|选|别|采用)\S",
    rf"(?:总是|一律|以后|今后|别再?|不要再?|每次|始终|必须|千万|从现在起).{{0,12}}{_AGENT}",
    rf"(?:用|使用|说)\s?{_TONGUE}\s?(?:来)?(?:跟我|和我)?(?:{_AGENT}|说话|聊)",
    rf"用\s?{_TONGUE}\s?写.{{0,12}}(?:给我|说明|解释)",
    rf"{_AGENT}\S{{0,6}}(?:用|使用)\s?{_TONGUE}",
    r"^偏好\s?[:：]\s?\S",
)
_RULE = any_of(
    r"(?<!不)一律\S",
    r"统一(?:都)?(?:使用|用|采用|改用|放|按|走|返回|写|以|为|命名|叫|存|由|通过|加|遵循|格式化?|成|走|调用"
    r"|抛|转|缩进)\S",
    r"(?:严禁|禁止)(?!词|列表|状态|访问(?:错误|页)|了)\S",
    r"(?:绝对?|千万|永远|任何时候都?|无论如何都?|任何情况下都?)(?:都)?(?:不要|不能|不得|不可以?|不许|别"
    r"|不)\S",
    r"(?:绝不|从不|决不|永不)(?!会|出错)\S{2,}",
    r"(?:不允许|不得|不许|不准|切勿)(?!不)\S{2,}",
    r"(?:从现在(?:起|开始)|今后|往后|以后)[，,]?\s?(?!再|可能|可以|会|有|就)\S{3,}",
    r"每次\S{0,20}(?:都|必须|要|先)\S",
    r"(?:所有|全部|任何|每个|每一个|每条|每张|凡是|各个?)(?!测试)\S[^，,]{0,30}?(?:必须|都要|都得|应该|应当"
    r"|都应|都用|都放|不得|不能|要有|需要|须|都走|都加|要加|都写)\S",
    r"(?:总是|始终|永远)\S{2,}",
    r"必须(?!是?这|那)\S{2,}",
    r"(?:别再|不要再|别总|不要总)\S{2,}",
    r"务必.{0,12}(?:每|所有|都)",
    r"^(?:约定|规范|规则|原则|编码规范|代码规范)\s?[:：]\s?\S",
    r"约定(?:是|俗成)|按照?约定",
)
_PROHIBITED = re.compile(
    r"(?:^|[，,；]\s?)(?:\S{0,12}?)(?:不要|别|不准|避免)"
    r"(?:在[^，,]{1,20}(?:里|中|内|上|下|层)|用|使用|直接|硬编码|引入|提交|依赖|吞掉?|打印|手动|手工|跳过"
    r"|随意|随便|滥用|捕获|混用|省略"
    r"|裸|写(?:死|到|进|入)|存(?:到|进|入)|放(?:到|进)|写魔法|嵌套|拼接|重复)(?P<r>\S.*)$"
)
_ONE_OFF = any_of(
    r"必须(?:能|要能|可以)?(?:编译|跑通|全部通过|通过|跑起来|能|修好|解决|搞定|今天|马上|立刻|尽快|先修"
    r"|改好|完成)",
    r"^(?:代码|测试|它|这|那|构建|编译)\S{0,6}必须",
    r"测试\S{0,4}(?:必须|都要|都得|需要)\S{0,4}通过",
    r"(?:以后|今后)(?:再说|再看|可能|会|也许|有空)",
)
_EVERYWHERE = any_of(
    rf"{_AGENT}|提交|推送|[跑运]行?\S{{0,4}}测试|测试再|{_TONGUE}|分支|合并|变更日志|\bpush\b|\bcommit\b"
    rf"|\bPR\b"
)
_IDENTIFIER = re.compile(r"`|[A-Za-z]/[A-Za-z]|\w_\w|\w?\.\w")
_ABSOLUTE = any_of(
    r"总是|一律|每次|所有|任何|永远|绝不|决不|从不|禁止|严禁|以后|今后|从现在|别再|不要|始终|统一|必须|不得"
    r"|都"
    rf"|用\s?{_TONGUE}\s?(?:来)?{_AGENT}"
)


def bare(sentence: str) -> str:
    """Return a sentence without what leads up to it, such as 另外 or 请."""
    found = _LEAD.match(sentence)
    return sentence if found is None else sentence[found.end() :]


def is_question(sentence: str) -> bool:
    """Return whether something is asked, or was said by somebody else."""
    return bool(_QUESTION.search(sentence) or _HEARSAY.match(sentence))


def headed(heading: str) -> Ruling | None:
    """Return what the items of a list under such a heading are."""
    if _OPEN_HEADING.match(heading):
        return Ruling(FactKind.TASK, TaskState.OPEN)
    if _DONE_HEADING.match(heading):
        return Ruling(FactKind.TASK, TaskState.DONE)
    if re.fullmatch(r"(?:关键|主要|技术|设计)?(?:决定|决策|结论)", heading):
        return Ruling(FactKind.DECISION)
    if re.fullmatch(r"(?:项目|编码|代码|团队)?(?:约定|规范|规则)", heading):
        return Ruling(FactKind.CONVENTION)
    if re.fullmatch(r"(?:我的|用户|个人)?偏好", heading):
        return Ruling(FactKind.PREFERENCE, scope=Scope.ACTOR)
    return None


def ruling(sentence: str) -> Ruling | None:
    """Return what a Chinese sentence is, None where it states nothing of these kinds."""
    said = bare(sentence)
    if (labelled := _label(said)) is not None:
        return labelled
    # Whether there is a space between Chinese and other writing is a matter of taste.
    said, whole = _SPACED.sub("", said), _SPACED.sub("", sentence)
    return _decision(said, _DECIDED) or _rule(said, whole) or _task(said, whole) or _decision(said, _CHOSEN)


def is_everywhere(sentence: str, *, is_taste: bool = False) -> bool:
    """Return whether a rule is about the way of working as such; a taste is if it is about how to talk."""
    if _IDENTIFIER.search(sentence):
        return False
    return bool(
        (is_taste and re.search(_AGENT, sentence))
        or (_EVERYWHERE.search(sentence) and _ABSOLUTE.search(sentence))
    )


def _label(said: str) -> Ruling | None:
    for pattern, state in ((_OPEN_LABEL, TaskState.OPEN), (_DONE_LABEL, TaskState.DONE)):
        if (found := pattern.match(said)) is not None:
            return Ruling(FactKind.TASK, state, text=found["t"])
    return None


def _task(said: str, whole: str) -> Ruling | None:
    if _OPEN.search(said) and not _NOT_OPEN.search(said):
        return Ruling(FactKind.TASK, TaskState.OPEN)
    # What is asked for politely is not done yet.
    if _DONE.search(said) and not _NOT_DONE.search(said) and not whole.startswith(("请", "麻烦")):
        return Ruling(FactKind.TASK, TaskState.DONE)
    return None


def _decision(said: str, wording: re.Pattern[str]) -> Ruling | None:
    if wording is _CHOSEN and _FOR_A_WHILE.search(said) and not _HERE.search(said):
        return Ruling(FactKind.DECISION)
    general = _PROJECT.sub("", said)
    if wording.search(general) and not _NOT_DECIDED.search(general) and not _HERE.search(general):
        return Ruling(FactKind.DECISION)
    return None


def _rule(said: str, whole: str) -> Ruling | None:
    general = _PROJECT.sub("", whole)
    if _COMPLAINT.search(general) or _ONE_OFF.search(said):
        return None
    if _PREFERENCE.search(general) and not _HERE.search(general):
        return Ruling(FactKind.PREFERENCE, scope=_scope(general))
    used = general != whole and re.match(r"\S{0,12}(?:使用|采用|用|遵循)\S", general)
    if (used or _RULE.search(general)) and not _HERE.search(general):
        return Ruling(FactKind.CONVENTION)
    prohibited = _PROHIBITED.search(general)
    if prohibited is not None and not _HERE.search(general):
        return Ruling(FactKind.CONVENTION)
    return None


def _scope(said: str) -> Scope:
    """Return whom a preference binds: one's own taste and way of talking, or the project."""
    own = re.search(rf"我(?!们)|{_AGENT}|{_TONGUE}", said)
    return Scope.ACTOR if own else Scope.PROJECT
