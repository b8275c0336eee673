"""Owns what an observation is about: its domain words with weights, from that observation alone.

It is not the curated vocabulary (that is `graphmem.aliases`), nor the weighting over a project (that is
`inference.concepts`). As they depend on nothing else, the order of arrival can't matter.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache

from graphmem.aliases import BREAK, Units, matches, units, vocabulary
from graphmem.model import Observation
from graphmem.text import STOP_WORDS

GIVEN = 1.0
"""Weight of a concept that came with the observation."""
NAMED_IN_TITLE = 0.9
"""Weight of a known surface in the title or the intent."""
NAMED_IN_TEXT = 0.7
"""Weight of a known surface in the facts or the narrative."""
TITLE_WORD = 0.6
"""Weight of another content word of the title."""
ACTIVITY = 0.5
"""Weight of a known surface of what every project does (tests, docs), wherever it stands."""
INTENT_WORD = 0.4
"""Weight of another content word of the intent, which is a sentence rather than a title."""
NAMED_IN_PATH = 0.5
"""Weight of a known surface in a path."""
PATH_PART = 0.4
"""Weight of another word of a path."""
PHRASE = 0.3
"""Weight of two content words beside each other."""

MOST_CONCEPTS = 25
_BROADER_SHARE = 0.75
_MOST_PATHS = 60
_MOST_PATH_PARTS = 12
_TITLE_LENGTH = 400
_TEXT_LENGTH = 2_000
_LONGEST_NAME = 64
_MOST_NAME_WORDS = 6
_COMMON_SHARE = 0.25
_KNOWN_SHARE = 0.5
_FEW_OBSERVATIONS = 8

_COMMIT_TYPE = re.compile(r"\s*[A-Za-z]{2,12}(?:\(([^()\n]{0,80})\))?!?:\s")
# Neither hosts, API roots, file endings nor what stands for a secret are what a text is about.
_ADDRESS = re.compile(
    r"\[redacted:[a-z-]{2,20}\]|\w{2,10}://\S+|/(?:api|v\d{1,2})(?=/)|(?<=\w)\.(?:tsx?|jsx?|py|go|rs|java|kt|rb|php|vue|css|json|ya?ml|toml|md)\b"
)
_COUNTED = re.compile(r"v?\d[\w]*|[0-9a-f]{7,}|\w*\d{3,}\w*")


def canonical(name: str) -> str:
    """Give the one name of a concept: `Sign-in` and `登录` are `login`; "" when nothing is named.

    Names are lower-case words joined by hyphens, or Chinese words. More than six words are a sentence,
    not a concept; the words by which other memories sort their notes (`gotcha`, `trade-off`) are none either.
    """
    cut = units(name[: _LONGEST_NAME * 2])
    words = [word for word in cut.words if word != BREAK]
    found = matches(words)
    if len(found) == 1 and found[0].end - found[0].start == len(words):
        return found[0].concept
    joined = _joined(cut)
    if joined in vocabulary().labels or joined.count("-") >= _MOST_NAME_WORDS:
        return ""
    return joined[:_LONGEST_NAME]


def observation_concepts(observation: Observation) -> dict[str, float]:
    """Give concept names with weights in 0..1, at most 25, the strongest first.

    The same name from several places counts as independent evidence: 1 - (1 - a)(1 - b).
    """
    found: dict[str, float] = {}
    _add(found, _given(observation.concepts))
    _add(found, _from_title(observation))
    _add(found, _from_texts(observation))
    _add(found, _from_paths(_paths(observation)))
    strongest = sorted(found.items(), key=lambda item: (-item[1], item[0]))[:MOST_CONCEPTS]
    return {name: round(weight, 4) for name, weight in strongest}


def presentable(
    weights: Mapping[str, float],
    document_frequency: Mapping[str, int],
    total: int,
    limit: int,
    given: Collection[str] = (),
) -> list[str]:
    """Choose the names worth showing, best first by weight times inverse document frequency.

    `weights` may be sums over several observations; `document_frequency` counts the project's observations of
    each name, of `total`. Left out, unless `given` by somebody: words in over a quarter of them (known names:
    in over half), words seen once that no alias knows, and unknown words of a chosen phrase that mostly occur
    in it. A project of under eight observations is too small for the first two.
    """
    known = vocabulary().surfaces
    scored: list[tuple[float, str]] = []
    for name, weight in weights.items():
        frequency = max(document_frequency.get(name, 0), 1)
        if total < _FEW_OBSERVATIONS or name in given or _is_telling(name, frequency, total):
            parts = _main_parts(name, weights, document_frequency)
            best = max([weight, *(weights[part] for part in parts)])
            scored.append((best * math.log1p(total / (1 + frequency)), name))
    chosen: list[str] = []
    covered: set[str] = set()
    for _, name in sorted(scored, key=lambda item: (-item[0], item[1])):
        if name not in covered or name in given or name in known:
            chosen.append(name)
            covered.update(_main_parts(name, weights, document_frequency))
            if len(chosen) == limit:
                break
    return chosen


def _is_telling(name: str, frequency: int, total: int) -> bool:
    if name in vocabulary().surfaces:
        return frequency <= _KNOWN_SHARE * total
    return 2 <= frequency <= _COMMON_SHARE * total


def _main_parts(phrase: str, weights: Mapping[str, float], frequency: Mapping[str, int]) -> list[str]:
    """Give the words of a phrase of which at least a third of the occurrences are in the phrase."""
    if "-" not in phrase:
        return []
    own = max(frequency.get(phrase, 0), 1)
    return [part for part in phrase.split("-") if part in weights and frequency.get(part, 0) <= 3 * own]


def _add(found: dict[str, float], more: Mapping[str, float]) -> None:
    for name, weight in more.items():
        found[name] = 1.0 - (1.0 - found.get(name, 0.0)) * (1.0 - weight)


def _strongest(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    best: dict[str, float] = {}
    for name, weight in pairs:
        if name and weight > best.get(name, 0.0):
            best[name] = weight
    return best


def _given(names: Iterable[str]) -> dict[str, float]:
    return {name: GIVEN for given in names if (name := canonical(given))}


def _from_title(observation: Observation) -> dict[str, float]:
    pairs: list[tuple[str, float]] = []
    for text, weight in ((observation.title, TITLE_WORD), (observation.intent, INTENT_WORD)):
        plain = _ADDRESS.sub(" ", text[:_TITLE_LENGTH])
        if commit_type := _COMMIT_TYPE.match(plain):
            plain = f"{commit_type[1] or ''}; {plain[commit_type.end() :]}"
        pairs.extend(_title_pairs(units(plain), weight))
    return _strongest(pairs)


def _title_pairs(cut: Units, word_weight: float) -> Iterator[tuple[str, float]]:
    """Yield known surfaces, content words and phrases of a title."""
    noise = vocabulary().noise
    before = ""
    for name, known in _content(cut):
        if known:
            yield from _with_broader(name, NAMED_IN_TITLE)
        elif not name or name in noise or not _is_content(name):
            before = ""
            continue
        else:
            yield name, word_weight
        if before and before != name and "-" not in name:
            yield _phrase(before, name), min(PHRASE, word_weight)
        before = "" if "-" in name else name


def _from_texts(observation: Observation) -> dict[str, float]:
    facts = "\n".join(fact.text[:_TEXT_LENGTH] for fact in observation.facts[:20])
    pairs: list[tuple[str, float]] = []
    for text in (facts, observation.narrative):
        words = units(_ADDRESS.sub(" ", text[:_TEXT_LENGTH])).words
        for match in matches(words):
            pairs.extend(_with_broader(match.concept, NAMED_IN_TEXT))
    return _strongest(pairs)


def _from_paths(paths: Iterable[str]) -> dict[str, float]:
    """Weigh the words of folders and stems; of many, those that most of the paths share."""
    counts: Counter[str] = Counter()
    weights: dict[str, float] = {}
    for path in paths:
        pairs = _strongest(_path_pairs(path))
        counts.update(pairs.keys())
        weights |= pairs
    ranked = sorted(weights, key=lambda name: (-counts[name], -weights[name], name))
    return {name: weights[name] for name in ranked[:_MOST_PATH_PARTS]}


def _path_pairs(path: str) -> Iterator[tuple[str, float]]:
    folders, _, file_name = path.rpartition("/")
    for part in [*folders.split("/")[-6:], file_name.lstrip(".").partition(".")[0]]:
        yield from _part_pairs(part[:_LONGEST_NAME])


@lru_cache(maxsize=8_192)
def _part_pairs(part: str) -> tuple[tuple[str, float], ...]:
    """Weigh the words of one folder or stem, and the two or three of them as a phrase."""
    generic = vocabulary().generic_paths
    pairs: list[tuple[str, float]] = []
    names: list[str] = []
    for word, known in _content(units(part)):
        if word in generic or not word or not (known or _is_content(word)):
            continue
        names.append(word)
        pairs.extend(_with_broader(word, NAMED_IN_PATH) if known else [(word, PATH_PART)])
    if 2 <= len(names) <= 3 and not any("-" in word for word in names):
        pairs.append((_phrase(*names), PHRASE))
    return tuple(pairs)


def _paths(observation: Observation) -> list[str]:
    """Give the changed paths, or the read ones when nothing was changed, in an order of their own."""
    changed = {*observation.files_modified, *observation.files_deleted}
    changed.update(rename.new for rename in observation.renames)
    return sorted(changed or set(observation.files_read))[:_MOST_PATHS]


def _content(cut: Units) -> Iterator[tuple[str, bool]]:
    """Yield concept names (True) and other words (False) in order; "" where a phrase ends."""
    spans = iter(matches(cut.words))
    following = next(spans, None)
    at, count = 0, len(cut.words)
    pending = _han_words(cut)
    while at < count:
        if following is not None and at == following.start:
            yield following.concept, bool(following.concept)
            at = following.end
            following = next(spans, None)
        elif at in pending:
            end = at + len(pending[at])
            clear = following is None or following.start >= end
            yield (pending[at] if clear else ""), False
            at = end if clear else at + 1
        else:
            yield cut.words[at], False
            at += 1


def _han_words(cut: Units) -> dict[int, str]:
    """Give the words of the Chinese runs by the unit they begin at."""
    if not cut.runs:
        return {}
    import rjieba

    words: dict[int, str] = {}
    for start, run in cut.runs:
        at = start
        for word in rjieba.cut(run):
            words[at] = word
            at += len(word)
    return words


def _with_broader(name: str, weight: float) -> Iterator[tuple[str, float]]:
    known = vocabulary()
    yield name, min(weight, ACTIVITY) if name in known.activities else weight
    if wider := known.broader.get(name):
        yield wider, min(weight * _BROADER_SHARE, ACTIVITY if wider in known.activities else 1.0)


def _is_content(word: str) -> bool:
    if word in STOP_WORDS or not 2 <= len(word) <= 32:
        return False
    return (len(word) > 2 or not word.isascii()) and not _COUNTED.fullmatch(word)


def _phrase(*words: str) -> str:
    """Join words of one script; "" for a mixture, which nobody would read as one name."""
    if all(word.isascii() for word in words):
        return "-".join(words)
    return "" if any(word.isascii() for word in words) else "".join(words)


def _joined(cut: Units) -> str:
    runs = dict(cut.runs)
    parts: list[str] = []
    at = 0
    while at < len(cut.words):
        part = runs.get(at, cut.words[at])
        at += len(part) if at in runs else 1
        if part != BREAK:
            parts.append(part)
    return "-".join(parts)
