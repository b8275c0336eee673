"""Owns how text becomes searchable words: identifiers, paths, English and Chinese alike.

It is not the index (that is `graphmem.postings`), and it knows nothing of concepts or their aliases.
Every token consists of letters and digits in folded case, so that FTS5's `unicode61` tokenizer (with
`remove_diacritics 0`) keeps it unchanged.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

LONGEST_TOKEN = 64
"""Longer words (a hash chain, base64) are cut to this many characters, in the index and in questions."""

MOST_QUERY_TOKENS = 64
"""A question's further words are left out: a pasted log must not become an expression of thousands."""

HAN = (
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9\U00020000-\U0002a6df\U0002a700-\U0002b738"
    "\U0002b740-\U0002b81d\U0002b820-\U0002cea1\U0002ceb0-\U0002ebe0\U0002f800-\U0002fa1d\U00030000-\U0003134a"
)
"""The inside of a character class for Chinese characters, as Unicode 14 assigns them."""

# The second alternative of a mark: half-width kana sound marks, which NFKC turns into combining ones.
_LONG_MARK_RUN = re.compile(r"(?:[^\w\x00-\x7f]|[\uff9e\uff9f]){9,}")
_LATIN_MARKS = re.compile("[\u0300-\u036f]+")
# New Tai Lue vowel signs and two Vedic ones are letters to Python but separators to SQLite.
_LETTER = r"[^\W_\u19b0-\u19c9\u1cf2\u1cf3]"
_COMPOUND = re.compile(rf"[{HAN}]+|(?:(?![{HAN}]){_LETTER})+(?:[._\-]+(?:(?![{HAN}]){_LETTER})+)*")
_ASCII_COMPOUND = re.compile(r"[A-Za-z0-9]+(?:[._\-]+[A-Za-z0-9]+)*")
_JOINT = re.compile(r"[._\-]+")
_HAN_START = re.compile(f"[{HAN}]")
_HUMP = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z][A-Z0-9]*|[0-9]+")
_ACRONYMS = re.compile(r"[A-Z]{2,}s")
_NUMBERED = re.compile(r"([^\W\d_]{4,})\d+")
_CACHED_LENGTH = 96

_ENGLISH_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being but by can cannot could
d did do does doing done down during each few for from further get gets got had has have having he her
here hers him his how i if in into is isn it its itself just let ll m me more most my no nor not now of
off on once only or other our ours out over own please re s same she should so some such t than that the
their theirs them then there these they this those through to too under until up us ve very was we were
what when where which while who whom why will with would you your yours
"""
_CHINESE_STOP_WORDS = """
的 了 和 与 及 或 在 是 有 被 把 将 对 从 到 给 让 向 于 以 为 而 但 也 都 就 还 又 再 很 更 最 不
没 没有 这 那 这个 那个 这些 那些 哪些 哪个 哪里 什么 怎么 怎样 如何 为什么 为何 吗 呢 吧 啊 呀 么
我 你 他 她 它 我们 你们 他们 自己 之 其 该 等 个 一个 一些 一下 上 下 中 里 时 后 前 会 能 可以 可
要 需要 应该 请 并 并且 以及 因为 所以 由于 如果 则 即 使 用 着 过 地 得
"""
STOP_WORDS = frozenset(_ENGLISH_STOP_WORDS.split()) | frozenset(_CHINESE_STOP_WORDS.split())
"""Words a question can do without, English and Chinese; the index keeps them."""


_WORDS_IN_S = """
aws axios https ios jenkins kubernetes macos nodejs nextjs news pandas postgres rails series sass vitess
windows always sometimes perhaps across does canvas alias bias atlas lens chaos analytics
"""
_PLURALS = {word: word for word in _WORDS_IN_S.split()} | {
    "aliases": "alias",
    "caches": "cache",
    "goes": "go",
    "indices": "index",
    "statuses": "status",
}


def folded(text: str) -> str:
    """Fold full-width forms and Latin, Greek and Cyrillic diacritics; case stays as it is.

    Long runs of marks and symbols become a space first: they hold no word, and normalisation takes
    quadratic time on them.
    """
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFKC", _LONG_MARK_RUN.sub(" ", text))
    if composed.isascii():
        return composed
    bare = _LATIN_MARKS.sub("", unicodedata.normalize("NFD", composed))
    return unicodedata.normalize("NFC", bare)


def stem(word: str) -> str:
    """Take the plural ending off a lower-case English word, after Harman's S-stemmer (JASIS 42:1, 1991).

    Only words of four or more ASCII letters are touched: `tokens` to `token`, `queries` to `query`, but
    `class`, `status` and `redis` stay. Other endings stay, because taking them off merges what differs.
    """
    if len(word) < 4 or word[-1] != "s" or not (word.isascii() and word.isalpha()):
        return word
    if (irregular := _PLURALS.get(word)) is not None:
        return irregular
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else word[:-3] + "y"
    if word.endswith(("us", "ss", "is")):
        return word
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word[:-1]


def humps(word: str) -> list[str]:
    """Split a word at its case changes: `getHTTPResponse` to get, HTTP, Response; case is kept.

    Digits stay with the letters before them (`utf8`, `sha256`, `E1042`); plural acronyms (`URLs`) lose
    their s.
    """
    if not word.isascii() or len(word) > LONGEST_TOKEN or word.islower() or word.isdigit():
        return [word]
    return [hump[:-1] if _ACRONYMS.fullmatch(hump) else hump for hump in _HUMP.findall(word)]


def tokens(text: str) -> list[str]:
    """Give the words to index, in order: each identifier whole and in parts, Chinese by its words."""
    plain = folded(text)
    found: list[str] = []
    if plain.isascii():
        for compound in _ASCII_COMPOUND.findall(plain):
            found.extend(_compound_tokens(compound))
        return found
    for compound in _COMPOUND.findall(plain):
        if _HAN_START.match(compound):
            found.extend(chinese_words(compound))
        else:
            found.extend(_compound_tokens(compound))
    return found


def index_text(text: str) -> str:
    """Give the tokens joined by spaces, for a pre-tokenised FTS5 column."""
    return " ".join(tokens(text))


def match_query(text: str) -> str:
    """Give an FTS5 expression that finds any of the text's words, or "" when there is nothing to find.

    Stop words are left out unless there is nothing else. The result is valid for any input.
    """
    distinct = list(dict.fromkeys(tokens(text)))
    wanted = [token for token in distinct if token not in STOP_WORDS] or distinct
    return " OR ".join(f'"{token}"' for token in wanted[:MOST_QUERY_TOKENS])


def chinese_words(run: str) -> list[str]:
    """Segment a run of Chinese characters; a long word is followed or preceded by its parts.

    A word the dictionary doesn't hold is given with its pairs of characters too, and single characters
    beside each other as a pair, so that the same word cut otherwise elsewhere is still found.
    """
    import rjieba

    words: list[str] = []
    lone = ""
    for word in rjieba.cut_for_search(run):
        if len(word) > 2 and not rjieba.has_word(word):
            words.extend(word[at : at + 2] for at in range(len(word) - 1))
        if len(word) == 1 and word not in STOP_WORDS:
            if lone:
                words.append(lone + word)
            lone = word
        else:
            lone = ""
        words.append(word[:LONGEST_TOKEN])
    return words


def _compound_tokens(compound: str) -> tuple[str, ...]:
    if len(compound) <= _CACHED_LENGTH:
        return _cached_compound_tokens(compound)
    # A chain this long is no identifier: its words count, the whole doesn't.
    return tuple(
        token for word in _JOINT.split(compound) for token in _cached_compound_tokens(word[:LONGEST_TOKEN])
    )


@lru_cache(maxsize=16_384)
def _cached_compound_tokens(compound: str) -> tuple[str, ...]:
    """Give a compound whole, each dotted piece of it, each word and each hump, without repetition."""
    found: dict[str, None] = {}
    pieces = compound.split(".")
    _add_token(found, _joined(compound))
    for piece in pieces:
        words = [word for word in _JOINT.split(piece) if word]
        _add_token(found, _joined(piece))
        for word in words:
            _add_token(found, word)
            parts = humps(word)
            for at, part in enumerate(parts):
                if len(part) == 1 and part.isalpha() and at + 1 < len(parts):
                    _add_token(found, part + parts[at + 1])
                elif len(parts) > 1:
                    _add_token(found, part)
                if numbered := _NUMBERED.fullmatch(part):
                    _add_token(found, numbered[1])
    return tuple(found)


def _joined(compound: str) -> str:
    """Join the words of a compound; numbers keep a letter-like mark between them, or 1.12 would be 11.2."""
    words = [word for word in _JOINT.split(compound) if word]
    whole = words[0] if words else ""
    for word in words[1:]:
        whole += "\u02d1" + word if whole[-1].isdigit() and word[0].isdigit() else word
    return whole


def _add_token(found: dict[str, None], word: str) -> None:
    token = stem(word.casefold())[:LONGEST_TOKEN]
    if token:
        found[token] = None
