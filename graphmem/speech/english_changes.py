"""Owns the English sentences which say that a value took another's place: from, to, instead, no longer.

It is not the Chinese ones (`chinese_changes`) nor plain statements (`fact_values`). Names and values are
given as they stand in the sentence; what they are is `claims`' to say.
"""

from __future__ import annotations

from collections.abc import Iterator

from graphmem.speech.changing import Change, first_of, forms

_S = r"(?P<s>[^,;:=]{1,70}?)"
_O = r"(?P<o>[^,;:]{1,50}?)"
_V = r"(?P<v>[^;]{1,90})$"
_F = r"(?:\s(?:for|in|as|on|during)\s(?P<f>[^,;]{1,50}))?"
_MOVED = (
    r"(?:changed|moved|switched|migrated|increased|decreased|raised|lowered|reduced|bumped|upgraded"
    r"|downgraded"
    r"|extended|shortened|updated|went|cut|doubled|halved|reset|flipped|converted|rolled\sback|reverted)"
)
_MOVE = (
    r"(?:change|move|switch|migrate|increase|decrease|raise|lower|reduce|bump|upgrade|downgrade|extend"
    r"|shorten"
    r"|update|set|flip|revert|cut|convert)"
)
_OVER = r"(?:\s(?:over|back|away))?"
_DONE = r"(?:(?:is|was|were|are|has\sbeen|have\sbeen|got|gets)\s)"
_ADVERB = r"(?:(?:now|just|also|already|recently|finally|since|officially|then|therefore|today)\s)?"
_WE = r"(?:(?:i|we)(?:'ve|\shave)?\s)"
_USE = (
    r"(?:uses?|using|runs?\son|calls?|sends?|takes?|expects?|speaks?|relies\son|depends\son"
    r"|talks?\sto|reads\sfrom|writes\sto|goes\sthrough|is\son|are\son)"
)
_INSTEAD = r"(?:instead\sof|rather\sthan|in\splace\sof|in\slieu\sof|(?:,\s)?(?:and\s)?not|(?:,\s)?no\slonger)"
_FAVOUR = r"(?:in\sfavou?r\sof|superseded\sby|replaced\s(?:by|with)|succeeded\sby)"
_AUX = r"(?:(?:is|are|has|have|does|do)\s)"
_NO_LONGER = r"(?:no\slonger|not\s(?=[^,;]{1,60}\sany\s?more\b))"
_DONE_WITH = r"(?:\w{2,}ed|built|kept|sent|made|held|written|shown)\s(?:with|by|in|on|from|to|through|via)"
_ITS = r"(?:(?:it|this|that|they|we)(?:\s|'s\s|'ve\s))"

_ARROWS = (
    # TTL: 3600 -> 900
    rf"(?P<s>[^:：=]{{1,70}}?)(?:\s*[:：=]\s*|\s+)(?P<o>[^\s:：=]{{1,40}}|[^:：=]{{1,40}}?)\s*(?:->|→"
    rf"|=>|-->)\s*{_V}",
)
_BEFORE_AND_NOW = (
    # the limit was 10, now it is 20; the port used to be 8000 but is now 8001
    rf"{_S}\s(?:was|were|used\sto\sbe|used\sto\suse|had\sbeen)\s{_O}(?:,|;|\sbut|\sand)+\s"
    rf"(?:(?:it|they)(?:'s|\sis|\sare)?\s|is\s|are\s|uses\s)?now\s(?:(?:it|they)(?:'s|\sis|\sare)\s"
    rf"|is\s|are\s|uses\s)?{_V}",
)
_INSTEADS = (
    # search uses GET instead of POST; the port is 8001 instead of 8000
    rf"{_S}\s(?:now\s)?(?P<r>{_USE}|is|are|listens\son|lives\sin)\s(?:now\s)?(?P<v>[^;]{{1,60}}?)"
    rf",?\s{_INSTEAD}\s(?P<o>[^,;]{{1,60}})$",
    # default branch: main instead of master
    rf"(?P<s>[^:：=]{{1,60}}?)\s*[:：=]\s*(?P<v>[^;:]{{1,60}}?)\s{_INSTEAD}\s(?P<o>[^,;]{{1,60}})$",
    # use pnpm rather than npm (for installing)
    rf"(?:(?P<s>we|i)(?:'ve|\shave)?\s|please\s)?{_ADVERB}(?:decided\sto\s|agreed\sto\s"
    rf"|chose\sto\s)?(?P<r>use|uses|using|used"
    rf"|prefer|chose|choose|pick(?:ed)?"
    rf"|adopt(?:ed)?|go(?:ing)?\swith|went\swith|settled\son)\s(?P<v>[^;]{{1,60}}?),?\s(?:{_INSTEAD}"
    rf"|over)\s{_O}{_F}$",
    # for search, use GET instead of POST
    rf"for\s(?P<f>[^,;]{{1,50}}),?\s(?:we\s)?{_ADVERB}(?P<r>use|prefer)\s(?P<v>[^;]{{1,60}}?)"
    rf",?\s{_INSTEAD}\s(?P<o>[^,;]{{1,60}})$",
)
_ENDS = (
    # search no longer uses POST but GET; search no longer uses POST for queries
    rf"{_S}\s{_AUX}?{_NO_LONGER}\s?(?P<r>{_USE}|{_DONE_WITH}|use|is|are|in|on|be)?\s?(?P<o>[^,;]{{1,50}}?)"
    rf"(?:\sany\s?more)?,?\s"
    rf"(?:but|and|instead|rather|now|it(?:'s|\sis|\suses))(?:\s(?:is|uses?|rather|instead|now|it|on)"
    rf")*\s(?P<v>[^,;]{{1,60}})$",
    rf"{_S}\s{_AUX}?{_NO_LONGER}\s?(?P<r>{_USE}|{_DONE_WITH}|use|is|are|in|on"
    rf"|be)?\s?(?P<o>[^,;]{{1,50}}?){_F}(?:\sany\s?more)?$",
    # we stopped using Redis for sessions; dropped moment in favour of date-fns
    rf"(?:(?P<s>[^,;:]{{1,50}}?)\s)?{_ADVERB}stopped\susing\s{_O}{_F}$",
)
_FAVOURS = (
    rf"(?:{_WE})?{_ADVERB}(?P<r>dropped|abandoned"
    rf"|phased\sout)\s{_O}\sin\sfavou?r\sof\s(?P<v>[^,;]{{1,50}}?){_F}$",
    # /v1/search is deprecated in favour of /v2/search
    rf"(?P<d>[^,;:=]{{1,70}}?)\s(?:{_DONE}|have\s)?{_ADVERB}(?:been\s)?(?:deprecated|dropped|retired"
    rf"|abandoned|sunset|removed|superseded)?,?\s?{_FAVOUR}\s{_V}",
)
_REPLACED = (
    # replaced POST with GET in search
    rf"(?:{_WE})?{_ADVERB}(?P<r>replaced|swapped)\s(?P<o>[^,;]{{1,50}}?)\s(?:with|by|for)"
    rf"\s(?P<v>[^,;]{{1,50}}?){_F}$",
    rf"(?:{_WE})?{_ADVERB}(?P<r>substituted)\s(?P<v>[^,;]{{1,50}}?)\sfor\s(?P<o>[^,;]{{1,50}}?)"
    rf"(?:\sin\s(?P<f>[^,;]{{1,50}}))?$",
    # GET replaces POST in search
    rf"(?P<v>[^,;:]{{1,50}}?)\s(?:now\s|has\s|have\s)?(?P<r>replace[sd]|supersede[sd]"
    rf"|took\sthe\splace\sof|takes\sthe\splace\sof|took\sover\sfrom)"
    rf"\s(?P<o>[^,;]{{1,50}}?){_F}$",
)
_RENAMED = (
    # renamed the users table to accounts; master was renamed to main
    rf"(?:{_WE})?{_ADVERB}(?P<r>renamed|rename)\s{_S}\s(?:from\s{_O}\s)?(?:to|into|as)\s{_V}",
    rf"{_S}\s{_DONE}{_ADVERB}(?P<r>renamed)\s(?:from\s(?P<o>[^,;:]{{1,50}}?)\s)?(?:to|into|as)\s{_V}",
    rf"{_S}\s(?:is|are)\snow\s(?P<r>called|named|known\sas)\s{_V}",
)
_MOVES = (
    # we moved the API base from /v1 to /v2; the limit was raised to 20; raised the limit to 20 from 10
    rf"(?:{_WE}){_ADVERB}(?P<m>{_MOVED}|set){_OVER}\s{_S}\s(?:back\s)?from\s{_O}\s(?:back\s)?to\s{_V}",
    rf"{_ADVERB}(?P<m>{_MOVED}){_OVER}\s(?!from\b){_S}\s(?:back\s)?from\s{_O}\s(?:back\s)?to\s{_V}",
    rf"(?:{_WE})?{_ADVERB}(?P<m>{_MOVED}){_OVER}\s(?!to\b"
    rf"|from\b){_S}\s(?:back\s)?to\s(?P<v>[^;,]{{1,60}}?)\sfrom\s(?P<o>[^,;]{{1,40}})$",
    rf"{_S}\s(?:{_DONE})?{_ADVERB}(?P<m>{_MOVED}|set|fixed){_OVER}\sfrom\s{_O}\s(?:back\s)?to\s{_V}",
    rf"{_S}\s(?:{_DONE})?{_ADVERB}(?P<m>{_MOVED}){_OVER}\sto\s(?P<v>[^;,]{{1,60}}?)"
    rf"\sfrom\s(?P<o>[^,;]{{1,40}})$",
    rf"{_S}\s(?:{_DONE})?{_ADVERB}(?P<m>{_MOVED}){_OVER}\sto\s{_V}",
    rf"{_S}\s{_DONE}(?:now\s)?(?P<m>set){_OVER}\sto\s{_V}",
    # switched from npm to pnpm (for the workspace)
    rf"(?:{_WE})?{_ADVERB}(?P<m>switched|moved|migrated|changed|upgraded"
    rf"|went){_OVER}\sfrom\s{_O}\sto\s(?P<v>[^,;]{{1,60}}?)"
    rf"(?:\s(?:for|in|as)\s(?P<f>[^,;]{{1,50}}))?$",
    rf"(?:{_WE}){_ADVERB}(?P<m>{_MOVED}|set){_OVER}\s(?!to\b){_S}\sto\s{_V}",
    rf"{_ADVERB}(?P<m>{_MOVED}){_OVER}\s(?!to\b){_S}\sto\s{_V}",
    # moved to /v2
    rf"(?:{_ITS})?(?:{_DONE}|{_AUX})?{_ADVERB}(?P<e>moved|switched|migrated|upgraded|changed"
    rf"|bumped){_OVER}\sto\s{_V}",
)
_NOW = (
    # the limit is now 20
    rf"{_S}\s(?:is|are)\snow\s(?:at\s|on\s|set\sto\s)?{_V}",
    rf"(?:from\snow\son|as\sof\s\w+|starting\s\w+|now),?\s{_S}\s(?:is|are)\s{_V}",
    rf"{_S}\s(?:is|are)\s(?P<v>[^;]{{1,90}}?)\snow$",
)
_TITLES = (
    rf"(?P<m>{_MOVE}){_OVER}\s(?!to\b|from\b){_S}\s(?:back\s)?from\s{_O}\s(?:back\s)?to\s{_V}",
    rf"(?P<m>{_MOVE}){_OVER}\s(?!to\b|from\b){_S}\s(?:back\s)?to\s(?P<v>[^;,]{{1,60}}?)"
    rf"\sfrom\s(?P<o>[^,;]{{1,40}})$",
    rf"(?P<m>switch|move|migrate|change|upgrade){_OVER}\sfrom\s{_O}\sto\s(?P<v>[^,;]{{1,60}}?){_F}$",
    rf"(?P<m>{_MOVE}){_OVER}\s(?!to\b|from\b){_S}\sto\s{_V}",
    rf"(?P<e>move|switch|migrate|upgrade){_OVER}\sto\s{_V}",
)
_REPLACING = (rf"(?P<r>replace|swap)\s(?P<o>[^,;]{{1,50}}?)\s(?:with|by|for)\s(?P<v>[^,;]{{1,50}}?){_F}$",)


def changes(said: str, *, is_title: bool) -> Iterator[Change]:
    """Yield what a sentence may say of a value in another's place, the surest reading first.

    A title that orders something (`Raise the limit to 20`) reports that it was done.
    """
    return first_of(_TITLED if is_title else _SAID, said)


_SAID = (
    forms(_ARROWS, "->", "→", "=>"),
    forms(_BEFORE_AND_NOW, "now"),
    forms(_INSTEADS, "instead", "rather", "place of", "lieu of", "not ", "no longer", " over "),
    forms(_ENDS, "longer", "any more", "anymore", "stopped"),
    forms(_FAVOURS, "favo", "superseded", "replaced", "succeeded"),
    forms(_REPLACED, "replace", "swapped", "substituted", "supersede", "place of", "over from"),
    forms(_RENAMED, "rename", "now"),
    forms(_MOVES, " to "),
    forms(_NOW, "now", "as of", "starting"),
)
_TITLED = (*_SAID, forms(_TITLES, " to "), forms(_REPLACING, "replace", "swap"))
