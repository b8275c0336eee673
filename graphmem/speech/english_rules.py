"""Owns the English wording of rules, wishes, tasks and decisions.

It is not the Chinese one (that is `chinese_rules`) nor values (that is `fact_values`). Precision comes before
completeness: an order for the work at hand is no rule. Sentences are bounded by the caller.
"""

from __future__ import annotations

import re

from graphmem.model import FactKind, Scope, TaskState
from graphmem.speech.ruling import Ruling, any_of

TENTATIVE = any_of(
    r"\b(?:for now|for the (?:moment|time being)|maybe|perhaps|probably|possibly|might|may be"
    r"|tentative(?:ly)?"
    r"|temporar(?:y|ily)|let'?s try|not sure|i think|we could|could be|until further notice"
    r"|provisional(?:ly)?"
    r"|as an experiment|experimentally|i guess|i suppose|presumably)\b"
)
_LEAD = re.compile(
    r"(?:(?:please|ok(?:ay)?|also|and|but|so|note(?: that)?|remember(?: that)?(?!\s+to\b)|reminder"
    r"|important|btw|fyi|hi|hey"
    r"|yes|no(?=[,:])|well|then|finally|for now|maybe|perhaps|probably|i think|one more thing|in general"
    r"|generally"
    r"|as (?:a|an) (?:rule|reminder))"
    r"[,:!]?\s+)+",
    re.IGNORECASE,
)
_QUESTION = any_of(
    r"\?[\"')\s]*$",
    r"^(?:what|why|how|when(?!.*,)|where(?!.*,)|who|which|whose|can|could|would|will|should|shall|do|does"
    r"|did|is"
    r"|are|was|were|has|have|any|am|isn't|aren't|doesn't)\s"
    r"(?:i|you|we|it|they|he|she|the|this|that|there|these|those|a|an|our|my|any|anyone|idea|do|does|is|are"
    r"|was"
    r"|to|\w+ (?:do|does|is|are|should|can|we|i))\b(?!.*\bmust\b)",
)
_HEARSAY = re.compile(
    r"^(?:you|he|she|they)\s(?:said|say|says|told|mentioned|claimed|wrote)\b", re.IGNORECASE
)
_HERE = re.compile(
    r"\b(?:the|this|that|these|those|it|them|yet|now|here|again|until|today|anything|my|your|above|below"
    r"|line \d+"
    r"|attached|first|second|so|too)\b",
    re.IGNORECASE,
)
_PROJECT = re.compile(
    r"\s*\b(?:in|for|throughout|across|of|within) (?:this|the|our|the whole|the entire) (?:repo|repository"
    r"|project"
    r"|code ?base|team|workspace)\b",
    re.IGNORECASE,
)

# ---- tasks --------------------------------------------------------------------------------------

_OPEN_LABEL = re.compile(
    r"(?:(?:to ?do|todo|to-do|fixme)(?:\([^)]{0,40}\))?\s*[:：-]\s*"
    r"|todo(?:\([^)]{0,40}\))?\s+|(?:still (?:to ?do|open|missing|pending|outstanding)|left to do"
    r"|what'?s left|remaining"
    r"(?: work| tasks?| items?| steps?)?|next(?: steps?| up| tasks?)?|follow[- ]?ups?|open (?:tasks?|items?"
    r"|points?|todos?)"
    r"|not (?:yet )?done(?: yet)?|outstanding|pending|backlog|unfinished|for later)\s*(?:[:：]|\s-"
    r"|\sis to\s|\sare to\s)\s*)"
    r"(?P<t>\S.{2,})$",
    re.IGNORECASE,
)
_OPEN_HEADING = any_of(
    r"^(?:to ?do|todos?|to-dos?|still (?:to ?do|open|missing|pending)|left(?: to do| open)?|what'?s (?:left"
    r"|next|missing)"
    r"|remaining(?: \w+)?|next steps?|follow[- ]?ups?|open (?:tasks?|items?|points?|todos?)"
    r"|not (?:yet )?done(?: yet)?"
    r"|outstanding(?: \w+)?|pending(?: \w+)?|unfinished(?: \w+)?|backlog)$"
)
_DONE_HEADING = any_of(r"^(?:done|completed(?: \w+)?|finished(?: \w+)?|fixed|resolved)$")
_OPEN = any_of(
    r"\bnext step (?:is|would be|will be) to\s\w",
    r"\b(?:we|i|you|they|\w+s?) still (?:needs?|has|have) to (?:be )?\w",
    r"\bstill (?:needs|lacks) (?:a|an|some|to)?\s*\w",
    r"\bremains? to be (?:\w+ed|done|written|built)",
    r"\b(?:is|are) still (?:missing|pending|unfinished|outstanding|to be done|to do|todo)\b",
    r"\b(?:is|are|has|have)(?:n't| not) (?:been )?(?:\w+ed|done|written|built|in place"
    r"|covered)\b.{0,40}\byet\b",
    r"\b(?:is|are|has|have) not yet (?:been )?(?:\w+ed|done|written|built|in place)\b",
    r"\b(?:haven't|hasn't|have not|has not) yet \w+ed\b",
    r"\b(?:left|leaving|leave|postponed|deferred|moved)\b.{1,80}\b(?:for|until|to) (?:later|another (?:day"
    r"|time)"
    r"|next (?:week|sprint|time|release)|a (?:later|separate|follow-?up) \w+)",
    r"\b(?:as|in) (?:a )?(?:separate )?follow[- ]?up\b",
    r"\bneeds? (?:a )?follow[- ]?up\b",
    r"^remind me to\s\w",
)
_NOT_OPEN = any_of(
    r"\b(?:n't|not|yet) (?:yet )?(?:been )?(?:decided|looked|seen|tried|checked|read|found|heard|happened"
    r"|released"
    r"|arrived|responded|replied|returned|started|finished reading)\b",
    r"\bno (?:todos?|remaining|follow|open)",
    r"\b(?:todo|fixme) (?:comments?|list|app|items? in)\b",
    r"^(?:it|this|that|they|these)\s(?:is|are|has|have|still)\b",
    r"\byou still (?:need|have) to\b",
    r"^(?:if|unless|once|until|in case|as long as)\b",
)
_DONE_LABEL = re.compile(
    r"(?:done|completed|finished|fixed|resolved)\s*(?:[:：✓✅]|\s-)\s*(?P<t>\S.{2,})$", re.IGNORECASE
)
_OBJECT = (
    r"(?!(?:it|that|this|them|these|those|everything|all|now|already|up|the (?:work|task|job|issue|problem)"
    r"|(?:width|size|length|point|position|number|amount|rate|cost|in|by|at|with|on|for|as))\W*(?:now"
    r"|already)?\W*$)"
    r"(?!(?:width|size|length|point|position|number|amount|rate|cost|in|by|at|on|as|it|them|that|this)\b)"
)
_DONE = any_of(
    rf"^(?:(?:i|we)(?:'ve| have)?\s)?(?:now |just |also |successfully |already |finally )?"
    rf"(?:finished|completed|fixed|resolved|implemented)\s{_OBJECT}\w\S*(?:\s.*)?$",
    rf"^(?:(?:i|we)(?:'ve| have)?\s)?(?:now |just |also |already |finally )?"
    rf"(?:added|wrote|written|documented|migrated|covered|cleaned up|wired up|hooked up)\s"
    rf"{_OBJECT}\w\S*(?:\s.*)?$",
    rf"^(?:removed|replaced|deleted|dropped)\s{_OBJECT}\w\S*(?:\s.*)?$",
    rf"^(?:i'm|i am|we're|we are) (?:now |all )?(?:done|finished) with\s{_OBJECT}\w\S*(?:\s.*)?$",
)
_PASSIVE_DONE = re.compile(
    r"(?P<s>[^,;:]{3,90}?)\s(?:is|are|has been|have been)\s(?:now |all |fully |successfully |already "
    r"|finally )?"
    r"(?:fixed|done|finished|completed|complete|resolved|implemented)(?:\snow|\stoo|\sas well)?[.!]*$",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"(?:it|that|this|these|those|they|all|everything|(?:the )?(?:work|task|job|changes?|issue|problem)"
    r"|which|what)$"
    r"|(?:if|when|once|after|until|before|unless|as soon as|make sure|check|see|tell me|whether|wait)\b"
    r"|.*\b(?:not|n't|never|must|should|be)$",
    re.IGNORECASE,
)

# ---- decisions ----------------------------------------------------------------------------------

_DECISION = any_of(
    r"^(?:decisions?|decided|design decision|adr)\s*[:：]\s*\S",
    r"\b(?:we|i|they|the team|team|everyone)(?:'ve| have|'d)?\s(?:just |now |finally |already |jointly "
    r"|also )?decided\s"
    r"(?:to|on|that|against|for|not)\b",
    r"\b(?:was|has been|is) decided (?:to|that|on)\b",
    r"^decided (?:to|on|that|against|for|not to)\b",
    r"\b(?:we|i)(?:'ll| will|'re going to| are going to|'m going to| am going to| shall)\s(?:\w+ly )?(?:use"
    r"|go with|stick"
    r" (?:with|to)|stay with|switch to|adopt|keep|store|move to|build on)\b.+\b(?:instead of|rather than"
    r"|over|in place"
    r" of|and not|, not)\b",
    r"\b(?:we|i|team)(?:'ve| have)?\s(?:chose|chosen|opted for|opted to|settled on|agreed (?:on|to|that)"
    r"|adopted"
    r"|standardi[sz]ed on|picked)\s\w",
    r"^(?:chose|opted for|opted to|settled on|agreed (?:on|to|that)|adopted|picked|went with|going with)\s\w",
    r"^let'?s (?:go with|stick (?:with|to)|settle on|adopt|switch to|standardi[sz]e on)\s\w",
    r"^let'?s (?:use|keep)\s.+\b(?:instead of|rather than)\b",
    r"\bwe(?:'ve| have)?\s(?:switched|moved|migrated)\s(?:away )?(?:from .+ )?to\s\w",
    r"\bwe went with\b",
)
_NOT_DECIDED = any_of(
    r"\b(?:not|n't|never)\s(?:yet\s|really\s)?(?:decided|chosen|agreed|settled)",
    r"\b(?:to be decided|need to decide|until|unless|if|once|when) (?:we|you|i|they|it) (?:\w+ )?(?:decid"
    r"|cho|agree)",
    r"\b(?:go with|stick (?:with|to)|picked|chose|switch to|use|agreed to|going with)\s(?:that|this|it|your"
    r"|option|the"
    r" (?:first|second|third|last|other)|#?\d)\b",
)

# ---- preferences and conventions ----------------------------------------------------------------

_VERB = (
    r"(?!(?:mind|mine|been|seen|had|has|is|are|was|were|got|heard|did|does|gets|saw|ran|came|went|true"
    r"|false|the|a|an"
    r"|there|in|on|off|open|empty|null|zero|as|so|such|like|to|about|available|possible|enough|quite|before"
    r"|again)\b)"
    r"(?!\w+ed\b)(?!\w*[a-rt-z0-9]s\b(?<!focus)(?<!canvas))\w+"
)
_START = r"(?:^|[,;:(—–]\s*|\b(?:and|but|so|then|that|please)\s+)"
_AGENT = (
    r"(?:answer|reply|respond|ask|explain|apologi[sz]e|summari[sz]e|show me|tell me|confirm|wait for|speak"
    r"|talk|remind"
    r"|greet|thank|use emojis?)\b"
)
_LANGUAGE = (
    r"(?:english|chinese|mandarin|german|french|spanish|japanese|korean|russian"
    r"|portuguese|italian|dutch|polish|turkish)"
)
_PREFERENCE = any_of(
    r"\b(?:i|we)(?:'d| would)?\s(?:strongly |really |generally |usually |always |much |still )?prefer\b",
    r"\bi(?:'d| would) rather\s",
    r"\bi (?:really )?(?:like|love|hate|dislike|don'?t like|can'?t stand)\s(?!to see|how|what|your)\w",
    r"^(?:always |generally )?prefer\s\w",
    r"\bmy preference\b|\bpreferred (?:style|way|tool|language|editor|approach)\b|^preferences?\s*[:：]\s*\S",
    rf"{_START}(?:always |never |please |don'?t ever |do not ever |stop )+{_AGENT}",
    rf"{_START}(?:don'?t|do not)\s(?:ever )?(?:ask me|apologi[sz]e|explain|use emojis?)\b",
    rf"\b(?:answer|reply|respond|speak|talk)\b.{{0,40}}\bin {_LANGUAGE}\b",
    rf"\b(?:write|give)\b.{{0,20}}\b(?:your|explanations?|answers?|everything|comments"
    rf"|summaries)\b.{{0,20}}\bin {_LANGUAGE}\b",
)
_USE_OVER = re.compile(
    r"(?P<p>please\s)?(?:use|write|choose|pick)\s(?P<o>.{1,80}?)(?:\s(?:instead of|rather than|over)\s"
    r"|,? not\s)(?P<r>.{1,80})$",
    re.IGNORECASE,
)
_NO_TASTE = any_of(
    r"\bprefer(?:red)? (?:the )?(?:first|second|third|latter|former|other|option|that(?! you| we)|this|it"
    r"|your|version"
    r"|not|if you)\b",
    r"\blike (?:it|this|that|the|what|how|to|your|a|an)\b",
    r"\brather (?:not|you)\b",
    r"\b(?:which|what|do you|would you|if you|you) prefer\b",
    r"\blove (?:it|this|that|the|to)\b|\bhate (?:it|this|that|the|to)\b",
)
_CONVENTION = any_of(
    rf"{_START}(?:we |you |you must |you should |we must |we should |must |should )?(?:never"
    rf"|always)\s{_VERB}",
    rf"\b(?:must|should|shall|may|can|need to|has to|have to|are to|is to)\s(?:never|always)\s{_VERB}",
    rf"\b(?:do not|don'?t) ever\s{_VERB}",
    r"^(?:in|for|throughout|across) (?:this|our|the) (?:repo|repository|project|code ?base"
    r"|team),? we\s(?!are|have|will)\w",
    r"^(?!(?:it|this|that|he|she|they|i|which|who|the (?:request|test|page|app|server"
    r"|build))\b)[\w -]{3,60}?\s(?:always|never)\s"
    r"(?:goes?|lives?|belongs?|uses?|imports?|depends?|extends?|inherits?|calls?|reads?|writes?"
    r"|touch(?:es)?|comes?|starts?)"
    r"\s\w",
    r"^no\s(?!(?:problem|worries|need|idea|one|errors?|changes?|difference|reason|way|longer|more|tests?"
    r"|results?|doubt"
    r"|thanks|rush|output|response|luck|clue|matches)\b)[\w.-]+(?:\s[\w.-]+){0,4}?\s(?:in|inside|outside"
    r"|without|from|on)\s\w",
    r"\b(?:must|shall|may) not (?:be|use|contain|have|depend|import|access|call|log|write|read|push|commit"
    r"|rely|leak)\b",
    r"^(?:from now on|going forward|for all future \w+)\b,?\s\S+\s\S+",
    r"^(?:make sure|ensure|be sure|remember to|run|write|add|use|update|check|squash|rebase"
    r"|format)\b.{1,80}\b"
    r"(?:before|after|on) (?:every|each|any)\b",
    r"^(?:before|after|on|with|for) (?:every|each|any)\s\w+,?\s(?:commit|change|release|merge|push|deploy"
    r"|run|you|we)?.{3,}",
    r"^use\s.{1,60}\bfor (?:all|every|each|new|any)\s\w",
    r"^(?:all|every|each|any|no)\s(?!(?:the|these|those|of|this|right|done|good|set|tests?|checks?"
    r"|i)\b)[^,]{2,80}?"
    r"\b(?:must|should|shall|has to|have to|needs? to|may|cannot|can't)\b",
    r"^(?!(?:the|these|those|this|tests?|checks?|all|its|his|yours?)\b)(?:[\w-]+\s){0,3}?[\w-]+[a-rt-z]s\s"
    r"(?:must|shall|may not|should not|shouldn't|mustn't|need to be|have to be|should be)\b",
    r"^(?:rule|convention|guideline|policy|code style|style|standard)s?\s*[:：]\s*\S",
    r"\b(?:is|are) (?:strictly )?(?:forbidden|not allowed|prohibited|mandatory|disallowed)\b",
    r"\b(?:our|the|project|team) (?:convention|policy|rule|guideline|standard) (?:is|says|here is)\b"
    r"|^by convention\b",
)
_PROHIBITED = re.compile(
    r"(?:do not|don'?t|avoid|no more|never again)\s(?:commit|push|hard-?cod|log|us|import|mock|introduc"
    r"|merg|deploy|writ|put"
    r"|return|throw|catch|swallow|rely|mix|force-push|stor|call|expos|duplicat|nest|mutat|suppress|disabl"
    r"|skip|edit|chang)"
    r"(?:e|ing|y)?\s(?P<r>\S.{2,})$",
    re.IGNORECASE,
)
_ONE_OFF = any_of(
    r"\b(?:tests?|code|build|it|checks?|everything|project|app|ci|pipeline|types?)\s(?:must|should"
    r"|needs? to|has to|have to)"
    r"\s(?:still |all )?(?:pass|compile|work|build|succeed|run|be green)\b",
    r"^(?:this|that|these|those|the new|it)\s",
    r"\b(?:i|he|she|they|it|which|who)\s(?:never|always)\b",
    r"\b(?:before|for) (?:this|that|now|today)\b",
    r"\bin the future\b.{0,20}\b(?:may|might|could|can)\b",
)
_EVERYWHERE = any_of(
    r"\b(?:answer|reply|respond|explain|explanations?|ask|confirm|summari[sz]e|speak|commit(?:s|ting)?"
    r"|push(?:ing)?|merg(?:e|ing)"
    r"|(?:without|run(?:ning)?) (?:running )?(?:the |all )?tests?|pull requests?|branch(?:es)?|changelog"
    r"|emojis?)\b"
)
_TALK = re.compile(
    r"\b(?:answers?|repl(?:y|ies)|responses?|explanations?|summar(?:y|ies)|emojis?|small talk|apologies)\b"
    r"(?! (?:body|code|header|time|object|page|endpoint|schema|type|model|format)s?\b)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"`|\w/\w|\w_\w|\w?\.\w")
_ABSOLUTE = any_of(
    r"\b(?:always|never|ever|every|each|all|any|from now on|going forward|do not|don'?t|must)\b",
    rf"\bin {_LANGUAGE}\b",
)


def bare(sentence: str) -> str:
    """Return a sentence without what leads up to it, such as "please" or "note that"."""
    found = _LEAD.match(sentence)
    return sentence if found is None else sentence[found.end() :]


def is_question(sentence: str) -> bool:
    """Return whether something is asked or asked for, or was said by somebody else."""
    return bool(_QUESTION.search(sentence) or _HEARSAY.match(sentence))


def headed(heading: str) -> Ruling | None:
    """Return what the items of a list under such a heading are."""
    if _OPEN_HEADING.search(heading):
        return Ruling(FactKind.TASK, TaskState.OPEN)
    if _DONE_HEADING.search(heading):
        return Ruling(FactKind.TASK, TaskState.DONE)
    if re.search(r"^(?:key |design |technical )?decisions?(?: made)?$", heading, re.IGNORECASE):
        return Ruling(FactKind.DECISION)
    if re.search(r"^(?:\w+ )?(?:conventions|rules|guidelines|coding standards)$", heading, re.IGNORECASE):
        return Ruling(FactKind.CONVENTION)
    if re.search(r"^(?:my |user |working )?preferences$", heading, re.IGNORECASE):
        return Ruling(FactKind.PREFERENCE, scope=Scope.ACTOR)
    return None


def ruling(sentence: str) -> Ruling | None:
    """Return what an English sentence is, None where it states nothing of these kinds."""
    said = bare(sentence)
    return _task(said) or _decision(said) or _rule(said, sentence)


def is_everywhere(sentence: str, *, is_taste: bool = False) -> bool:
    """Return whether a rule is about the way of working as such; a taste is if it is about how to talk."""
    if _IDENTIFIER.search(sentence):
        return False
    return bool(
        (is_taste and _TALK.search(sentence)) or (_EVERYWHERE.search(sentence) and _ABSOLUTE.search(sentence))
    )


def _task(said: str) -> Ruling | None:
    if _NOT_OPEN.search(said):
        return None
    for pattern, state in ((_OPEN_LABEL, TaskState.OPEN), (_DONE_LABEL, TaskState.DONE)):
        if (found := pattern.match(said)) is not None:
            return Ruling(FactKind.TASK, state, text=found["t"])
    if _OPEN.search(said):
        return Ruling(FactKind.TASK, TaskState.OPEN)
    passive = _PASSIVE_DONE.match(said)
    if _DONE.search(said) or (passive is not None and not _NOT_DONE.match(passive["s"])):
        return Ruling(FactKind.TASK, TaskState.DONE)
    return None


def _decision(said: str) -> Ruling | None:
    if _DECISION.search(said) and not _NOT_DECIDED.search(said):
        return Ruling(FactKind.DECISION)
    return None


def _rule(said: str, whole: str) -> Ruling | None:
    if _PREFERENCE.search(said) and not _NO_TASTE.search(said):
        return Ruling(FactKind.PREFERENCE, scope=Scope.PROJECT if _is_of_all(said) else Scope.ACTOR)
    general = _PROJECT.sub("", said)
    for_project = general != said
    bare_rule = general.strip(" ,")
    if (_CONVENTION.search(said) or _CONVENTION.search(bare_rule)) and not _ONE_OFF.search(said):
        return Ruling(FactKind.CONVENTION)
    use = _USE_OVER.match(general)
    if use is not None and not _HERE.search(general):
        polite = whole.casefold().startswith("please") and not for_project
        if polite or for_project or use["o"].endswith("s"):
            return Ruling(FactKind.PREFERENCE if polite else FactKind.CONVENTION)
    prohibited = _PROHIBITED.match(general)
    if prohibited is not None and not _HERE.search(prohibited["r"]):
        return Ruling(FactKind.CONVENTION)
    return None


def _is_of_all(said: str) -> bool:
    """Return whether a preference is the project's, not one person's."""
    lower = said.casefold()
    return (
        lower.startswith(("prefer", "always prefer", "generally prefer", "preference"))
        or "we prefer" in lower
    )
