"""Owns the secret table: the shapes of values that must not be kept, and the placeholders they become.

It is not where the gate stands: the hook program loads this file by its path before it writes anything down,
the service passes what it stores through `graphmem.redaction`. So it uses the standard library only, imports
nothing at its top, and compiles a shape when a text first has what that shape begins with.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from re import Match, Pattern

_ROUNDS = 4
_LONGEST, _JUDGED = 400, 80
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-.~%"
_FOLDED = dict.fromkeys(range(ord("1"), ord("9") + 1), "0")
# Kind, check, texts of which one must be there (lower case, digits as 0), pattern; an indented line goes on.
# Every quantifier is capped, possessive or behind a fixed text: the time grows with the length alone.
_SHAPES = r"""
private-key  -  private key  -----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----JUNK*+BASE{16,}+
    (?:JUNK*+(?:BASE{16,}+|BASE{1,15}(?=[ \t\r]{0,8}(?:\n|\Z)|-----|[\\"'])))*+
    (?:JUNK*+-----END [A-Z0-9 ]{0,40}-----)?
private-key  -  private-lines:  Private-Lines: \d{1,3}(?:JUNK*+BASE{16,}+)++
private-key  -  age-secret-key-  AGE-SECRET-KEY-1[A-Z0-9]{20,}
jwt  -  eyj  (?:(?<![\w-])|(?<=%3D))eyJ[\w-]{10,}+\.\.?[\w-]{8,}+(?:\.[\w-]{4,}+){0,3}
aws-secret-key  -  akia|asia  A[KS]IA[A-Z0-9]{16}[\s,:;/|"']{1,5}(?P<v>[A-Za-z0-9/+]{40})(?![\w/+=])
aws-key-id  -  akia|asia|abia|acca  (?<![A-Za-z0-9])(?:A[KS]IA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])
github-token  -  ghp_|gho_|ghs_|ghu_|ghr_|github_pat_  (?:gh[opsur]_|github_pat_)[A-Za-z0-9_]{30,}
gitlab-token  -  glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-  gl(?:pat|[dr]t|cbt|ptt|ft|soat)-[\w.=-]{20,}
slack-token  -  xox|xapp-  xox[a-z](?:\.xox[a-z])?-[\w-]{10,}|xapp-\d-[\w-]{10,}
slack-webhook  -  hooks.slack.com/  (?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/-]{20,}
discord-webhook  -  api/webhooks/  (?<=api/webhooks/)\d{5,25}/[\w-]{30,}
discord-token  -  discord|bot|login|token  [MNO](?<![\w.-].)[\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}
stripe-key  -  k_live_|k_test_|whsec_  (?<![A-Za-z])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_BASE{20,}
google-key  -  aiza|gocspx-|ya00.|0//0
    (?<![\w-])(?:AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|1//0[\w-]{30,})
anthropic-key  -  sk-ant-  sk-ant-[\w-]{16,}
openai-key  -  sk-
    (?<![\w-])sk-(?=[\w-]{0,40}\d)(?:[A-Za-z0-9]{20,}|(?:proj|svcacct|admin|None|or-v1)-[\w-]{16,})
npm-token  -  npm_  (?<!\w)npm_[A-Za-z0-9]{30,}
index-token  -  pypi-|rubygems_|cio
    pypi-[\w-]{40,}|rubygems_[0-9a-f]{40,}|(?<![A-Za-z0-9])cio[A-Za-z0-9]{32}
sendgrid-key  -  sg.  (?<![\w.])SG\.[\w-]{16,}\.[\w-]{16,}
twilio-key  -  twilio|sk0|ac0|ska|skb|skc|skd|ske|skf|aca|acb|acc|acd|ace|acf
    (?:AC|SK)(?<!\w..)[0-9a-f]{32}(?!\w)
telegram-token  -  00000000:  (?:(?<!\w)|(?<=bot))\d{8,10}:[\w-]{35}(?![\w-])
azure-key  -  accountkey=|sharedaccesskey=|sig=
    (?i)(?:accountkey=|sharedaccesskey=|[?&]sig=)(?P<v>[\w+/%=-]{20,})
azure-key  -  q~  (?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,40}
token  -  hf_|gsk_|r0_|sbp_|ntn_|pplx-|xai-|ltai|akid|lin_api_|figd_|nrak-|dapi|key-|_v0_
    (?<![A-Za-z0-9])(?:(?:hf_|gsk_|r8_|pplx-|xai-|lin_api_|ntn_|AKID)[A-Za-z0-9]{28,}|LTAI[A-Za-z0-9]{12,}
    |(?:NRAK-|figd_)[\w-]{20,}|(?:dapi|key-|sbp_|do[oprt]_v1_)[0-9a-f]{32,})
token  -  dckr_pat_|shpat_|shpca_|shppa_|shpss_|sq0|hvs.|hvb.|glsa_|glc_|pmak-|tskey-|atatt0|sntry|nvapi-
    (?<![A-Za-z0-9])(?:dckr_pat_|shp(?:at|[cp]a|ss)_|sq0[a-z]{3}-|hv[sb]\.|glsa_|glc_|PMAK-|tskey-|ATATT3
    |sntry._|nvapi-)(?=[\w.=-]{0,40}\d)[\w.=-]{20,}
password  given  login
    (?i)\b(?:machine[ \t]{1,3}\S{1,100}|default)\s{1,4}login[ \t]{1,3}\S{1,100}\s{1,4}password[ \t]
    (?P<v>\S{3,200})
password  value  identified by  (?i)identified by (?:password )?(?P<q>['"])(?P<v>[^'"\n]{3,200})
password  value  curl|wget
    (?i)[ \t](?:-u|--user|--proxy-user)[ =]{0,2}["']?[^\s:"']{1,60}:(?P<v>[^\s"'$<{]{3,200})
password  value  sshpass|mysql|redis-cli
    (?i)(?:sshpass -p ?|(?:mysql\w{0,8}[^\n|;]{0,80}? -p|redis-cli[^\n|;]{0,80}? -a ))
    ["']?(?P<v>[^\s"']{4,100})
authorization  header  bearer |basic |authorization|auth"|auth'|_auth
    (?i)(?:authorization["'\]]{0,2}[ \t]{0,2}[:=,][ \t]{0,2}["'`]?(?:[a-z]{3,12}[ \t]{1,2})?
    |\b(?:bearer|basic)[ \t]{1,2}|\b_?auth["']?[ \t]{0,2}[:=][ \t]{0,2}["']?)(?P<v>[\w.~+/=-]{8,400})
password  given  ://  ://[^\s/:@"'<>\[]{0,100}:(?P<v>[^\s/"'<>]{1,200})@(?=[^\s@])
password  given  oracle:thin:  thin:[^\s/@]{1,60}/(?P<v>[^\s@/]{1,100})@
token  given  ://  ://(?=[\w-]{0,40}\d)(?P<v>[A-Za-z0-9_-]{20,200})@
iban  iban  iban  \b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b
cn-id  cn  00000000000000000|000000 00000000 000
    (?<!\w)[1-9]\d{5}( ?)(?:19|20)\d\d(?:0\d|1[0-2])[0-3]\d\1\d{3}[\dXx](?!\w)
us-ssn  -  000-00-0000  (?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])
br-cpf  cpf  000.000.000-00  (?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?![\w-])
kr-id  kr  000000-0000000  (?<![\w-])\d\d(?:0\d|1[0-2])[0-3]\d-[1-8]\d{6}(?![\w-])
card  card  0000000000000|0000 0000 0000 0|0000-0000-0000-0|0000 000000 0|0000-000000-0  (?<![\w.])(?<!\d-)
    (?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?:\1\d{3}(?!\d))?|\d{4}([ -])\d{6}\2\d{4,5})(?!\w|[.-]\d)
password  value  密码|口令|密钥|令牌|私钥|秘钥  (?P<w>密码|口令|密钥|令牌|私钥|秘钥)[^\s:：=＝，。；"']{0,8}?
    ["'”」]{0,2}[ \t]{0,3}(?:(?P<s>是|为|成|[:：=＝])|(?=[ \t]))[ \t]{0,3}VALUE
password  value  passw|passphrase|passcode|pwd|_pass|-pass|secret|token|credential|key
    (?:-(?P<o>-)[\w-]{0,20}?|(?=[acelmpstACELMPST]))WORD(?(o)(?:[ \t]{1,2}|=)|(?:\\?["'`\])]){0,3}
    (?:SET|(?=[ \t])(?:[ \t](?:to|was)(?=[ \t]))?))[ \t]{0,4}VALUE
"""
_PARTS = {
    "JUNK": r"(?:[\s\"'+,\\>#*|;(){}]|(?<=\\)[nrt]|-(?!----)|[A-Za-z][\w-]{2,20}: [^\n\\]{0,100})",
    "BASE": r"[A-Za-z0-9+/=]",
    # Its alternatives begin with classes, which are tried much faster than letters of any case.
    "WORD": r"(?P<w>[Pp](?i:ass(?:word|wd|phrase|code)|wd)|[Pp](?<=[_-].)(?i:ass)"
    r"|[Ss](?i:ecret(?:[ _-]?key)?)|[Tt](?i:oken)|[Cc](?i:redentials?|lient[ _-]?key)"
    r"|[Aa](?i:(?:pi|ccess|uth|ccount)[ _-]?key)"
    r"|[Pp](?i:rivate[ _-]?key)|[Ss](?i:igning[ _-]?key)|[Ee](?i:ncryption[ _-]?key)|[Mm](?i:aster[ _-]?key)"
    r"|[Ll](?i:icense[ _-]?key))(?i:[_-]?(?:base|value|prod|dev|test|staging|old|new|\d{1,2}))?",
    "SET": r"(?::?[ \t]{0,2}&?(?:'static )?[Ss]tr(?:ing)?[ \t]{0,2}(?==))?[ \t]{0,4}"
    r"(?P<s>=>|:=|={1,3}|[：＝>为是]|:(?!:)|(?<=[ \t])is:?(?=[ \t])|(?<=[\"']),(?=[ \t]?[\"']))",
    "VALUE": r"(?P<q>\\?[\"'`])?(?P<v>(?(q)(?:(?!(?P=q))(?:\\.|[^\n])){3,400}+(?=(?P=q)|\Z|(?<=.{400}))"
    r"|[^\s\"'`<>，。；、！？（）“”\u4e00-\u9fff]{3,400}))",
}
# What stands for a secret or is read from elsewhere.
_STAND_INS = r"""(?ix)(?:\[redacted:[a-z-]+\])+|(.)\1*|\.*
|[\[(]?(?:your|example|sample|dummy|fake|placeholder|change|insert|enter|replace|my[-_])[\w\])-]*
|[a-z_]*(?:password|passwd|passphrase|pwd|pass|secret|token|keys?|hash|field|input)\d?
|null|none|nil|true|false|undefined|unset|empty|missing|invalid|wrong|expired|masked|redacted|removed|hidden|plain
|\$\w+|[!@:&*%]{1,2}[a-z_]*|%\w+%|[$\#@%]?[({\[].*|\\?\(.*|[),;\]}\s].*|.*(?:%s|%\(|\{\w*\}).*"""
# What also says what a secret has to be like, or computes one.
_HARMLESS = (
    _STAND_INS
    + r"""|[\d.:/tz+-]{1,3}|\d+[.:/-][\d.:/tz+-]*|user|test(?:ing)?
|(?:required|optional|nullable|string|text|bytes?|number|object|varchar|hashed)(?:\W.*)?|1password|bcrypt|disabled
|u?int\d+|float\d+|\w*int8array|(?:sha|md|base|utf-?|oauth|argon|pbkdf|ipv|x|es|hs|rs|aes)-?\d+\w{0,4}
|(?:[a-z]+\d{0,2}|\d{1,4}[a-z]?)(?:[-/_](?:[a-z]+\d{0,2}|\d{1,4}[a-z]?))+|[\w-]+(?:/[\w-]+)*\.[a-z]{1,5}
|\d+(?:ms|s|sec|m|min|h|d|days?|px|em|[kmg]b|chars?)|[a-z][a-z+.-]+://.*|[.~]{0,2}(?:/[a-z_.-]*\d{0,8}[a-z_.-]*)+|[a-z]:\\.*
|[!@:&*$]{0,2}[a-z_]\w*(?:(?:\??\.|::|->)[a-z_]\w*)+!?|\$?[a-z_][\w.?:>$-]*[(\[{].*|@[\w-]+(?:\.[\w-]+|:\d+).*"""
)
_TAIL = r"(?i)&(?=[\w.-]{1,40}=)|;(?=\Z|\w[\w ]{0,40}=)|,(?=\w{1,40}[:=])|\\[nrt\"]|[)\]},;.:]{1,8}\Z"
_BRANDS = (
    r"4(?:\d{12}|\d{15})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}|62\d{14,17}|(?:50|6[37])\d{14}"
)
_SENTENCE = r"(?:\A|\s)[A-Za-z]{2,}[.,!?]?(?:\s)|\s[A-Za-z]{2,}[.,!?]?\Z"
_COMPILED: dict[str, Pattern[str]] = {}
_ROWS: list[list[str]] = []
# The texts of the rows by what they have in common, so that most texts are done with a few looks.
_HINTS: dict[str, list[tuple[str, int]]] = {"000": [], "_": [], "-": [], "/": [], "=": [], ".": [], "": []}


def redact(text: str) -> tuple[str, dict[str, int]]:
    """Return the text with secrets as typed placeholders, and how many of each kind there were.

    `<private>` blocks are left out, an unclosed one to the end. What was redacted before is not touched. Cut
    a text only afterwards: a secret that was cut has no shape any more.
    """
    if not _ROWS:
        _ROWS.extend(_rows())
        for number, row in enumerate(_ROWS):
            for hint in row[2].split("|"):
                _HINTS[next(part for part in _HINTS if part in hint)].append((hint, number))
    counts: dict[str, int] = {}
    for _ in range(_ROUNDS):
        before, folded = text, text.lower().translate(_FOLDED)
        if "private" in folded and "<" in folded:
            text = _without_private(text, counts)
        likely = [hints for part, hints in _HINTS.items() if part in folded]
        for number in sorted({number for hints in likely for hint, number in hints if hint in folded}):
            text = _without_secrets(text, _ROWS[number], counts)
        if text == before:
            break
    return text, counts


def _rows() -> list[list[str]]:
    rows: list[list[str]] = []
    for line in _SHAPES.strip().split("\n"):
        if not line.startswith("    "):
            rows.append(line.split("  ", 3))
        else:
            rows[-1][3:] = ["".join(rows[-1][3:]) + line[4:]]
    return rows


def _compiled(pattern: str) -> Pattern[str]:
    if pattern not in _COMPILED:
        import re

        whole = pattern
        for name, part in _PARTS.items():
            whole = whole.replace(name, part)
        _COMPILED[pattern] = re.compile(whole, re.ASCII)
    return _COMPILED[pattern]


def _without_private(text: str, counts: dict[str, int]) -> str:
    kept, at, depth = "", 0, 0
    for tag in _compiled(r"(?i)<\s{0,3}(/?)\s{0,3}private\s{0,3}>").finditer(text):
        if not tag[1]:
            if depth == 0:
                kept += text[at : tag.start()]
                counts["private"] = counts.get("private", 0) + 1
            depth += 1
        elif depth:
            depth -= 1
            at = tag.end()
    return kept if depth else kept + text[at:]


def _without_secrets(text: str, row: list[str], counts: dict[str, int]) -> str:
    kind, check, _, pattern = row
    shape = _compiled(pattern)
    pieces, at, start = [], 0, 0
    while (match := shape.search(text, start)) is not None:
        begin, end = match.span("v" if "v" in shape.groupindex else 0)
        length = end - begin if check == "-" else _CHECKS[check](match)
        if not length:
            start = max(begin, match.start() + 1)
            continue
        if length >= _LONGEST and check != "-":  # the pattern's cap, not the secret's end
            rest = text[begin + length :]
            length += len(rest) - len(rest.lstrip(_ALPHABET))
        named = "secret" if check == "value" and not _names_password(match) else kind
        pieces += [text[at:begin], f"[redacted:{named}]"]
        at = start = begin + length
        counts[named] = counts.get(named, 0) + 1
    return "".join(pieces) + text[at:]


def _value(match: Match[str]) -> int:
    """Length of the value beside a word that names a secret; 0 for one that is no secret itself."""
    found = match.groupdict()
    value = found["v"]
    if not found.get("q"):
        value = _compiled(_TAIL).split(value, 1)[0]
    begun = value[:_JUDGED]
    if len(value) < 4 or _compiled(_HARMLESS).fullmatch(begun) or _compiled(_SENTENCE).search(begun):
        return 0
    if "s" in found and not (found["s"] or found.get("o") or found["q"]):
        is_secret = _stands_out(match, begun)
    else:
        is_secret = _is_strong(begun) or (_names_password(match) and _is_password(match, begun))
    return len(value) if is_secret else 0


def _stands_out(match: Match[str], value: str) -> bool:
    """Whether a value that merely follows the word is like no other word; a hash is no secret here."""
    if _compiled("[0-9a-f]{7,64}").fullmatch(value) or not _compiled(r"(?=\D*\d).{8}").match(value):
        return False
    has_cases = value.lower() != value != value.upper()
    has_signs = bool(_compiled("[!@#$%^&*]").search(value))
    is_setting = match["w"].isupper() and match["w"].isascii()
    named = _names_password(match) and (has_cases or has_signs or is_setting)
    return named or (len(value) >= 16 and _is_strong(value))


def _names_password(match: Match[str]) -> bool:
    word = match.groupdict().get("w") or "password"
    return word[:4].lower() in {"pass", "pwd", "secr", "密码", "口令"}


def _is_strong(value: str) -> bool:
    # Digits among letters; many letters of one case; or cases that change as they don't in a name of words.
    mixed = _compiled(
        r"(?=\D{0,99}\d)(?=[^A-Za-z]{0,99}[A-Za-z])(?![A-Za-z]*\d{0,4}\Z).{8,}|(?:[a-z]{20,}|[A-Z]{20,})\Z"
        r"|(?=.{12})(?:[A-Za-z]{0,60}?[A-Z][a-z](?=[A-Z])){2}"
    )
    return any(mixed.match(part) for part in _compiled(r"[-_.:@,;\s]+").split(value))


def _is_password(match: Match[str], value: str) -> bool:
    head, quoted = match[0][: match.start("v") - match.start()], bool(match.groupdict().get("q"))
    has_letter = bool(_compiled("[A-Za-z]").search(value))
    if _compiled(r"\d").search(value):
        return has_letter or len(value) >= (4 if head[:1] > "\x7f" else 6)
    if not has_letter or not value.isalpha():
        return has_letter and bool(_compiled("[!@#$%^]" + ("|[&*+=?~]" if quoted else "")).search(value))
    follows = match.string[match.start("v") + len(value) :][:1]
    before = match.string[max(match.start() - 1, 0) : match.start()]
    is_code = (follows in {")", ",", ".", "("} or (before == "." and follows == ";")) and not quoted
    if len(value) < 6 or is_code:
        return False
    if "=" in head:
        return quoted or head.endswith("=")
    return quoted and ":" in head and value.islower()


def _header(match: Match[str]) -> int:
    """Length of what follows a scheme of authorization, if it is strong or holds a name and a password."""
    value = match["v"]
    if _is_strong(value) and not _compiled(_HARMLESS).fullmatch(value):
        return len(value)
    import binascii

    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:
        return 0
    return len(value) if b":" in decoded and decoded.isascii() and decoded.decode().isprintable() else 0


def _given(match: Match[str]) -> int:
    """Length of a value that is a secret whatever it is like, unless something stands for it."""
    return 0 if _compiled(_STAND_INS).fullmatch(match["v"]) else len(match["v"])


def _digits(match: Match[str]) -> list[int]:
    return [int(sign) for sign in match[0] if sign.isdigit()]


def _weighed(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=False))


def _is_card(match: Match[str]) -> int:
    # What follows sixteen digits may be the code on the back.
    return _card_length(match[0]) or (_card_length(match[0][:19]) if len(match[0]) == 23 else 0)


def _card_length(text: str) -> int:
    digits = [int(sign) for sign in text if sign.isdigit()]
    doubled = (
        digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(digits[::-1])
    )
    brand = _compiled(_BRANDS).fullmatch("".join(map(str, digits)))
    return len(text) if brand and sum(doubled) % 10 == 0 else 0


def _is_chinese_id(match: Match[str]) -> int:
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    last = "10X98765432"[_weighed(_digits(match), weights) % 11]
    return len(match[0]) if match[0][-1].upper() == last else 0


def _is_brazilian_id(match: Match[str]) -> int:
    digits = _digits(match)
    first = _weighed(digits[:9], range(10, 1, -1)) * 10 % 11 % 10
    second = _weighed(digits[:10], range(11, 1, -1)) * 10 % 11 % 10
    return len(match[0]) if digits[9:] == [first, second] and len(set(digits)) > 1 else 0


def _is_korean_id(match: Match[str]) -> int:
    digits = _digits(match)
    last = (11 - _weighed(digits[:12], (2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5)) % 11) % 10
    return len(match[0]) if digits[12] == last else 0


def _is_account(match: Match[str]) -> int:
    text = match[0].replace(" ", "")
    number = "".join(str(int(sign, 36)) for sign in text[4:] + text[:4])
    return len(match[0]) if int(number) % 97 == 1 else 0


_CHECKS: dict[str, Callable[[Match[str]], int]] = {
    "value": _value,
    "header": _header,
    "given": _given,
    "card": _is_card,
    "cn": _is_chinese_id,
    "cpf": _is_brazilian_id,
    "kr": _is_korean_id,
    "iban": _is_account,
}
