"""Owns the curated vocabulary: which surfaces name which concept, and where a text names one.

It is not the choice of an observation's concepts (that is `graphmem.concepts`). The data is `aliases.toml`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files

from graphmem.text import HAN, folded, humps, stem

BREAK = ""
"""The unit that stands for punctuation no phrase reaches across."""

_WORD = re.compile(rf"[{HAN}]+|(?:(?![{HAN}])[^\W_])+")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_HAN_START = re.compile(f"[{HAN}]")
_JOINING = " \t_-/'\"`’"
_LONGEST_WORD = 48


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The content of `aliases.toml`, by units (see `Units`).

    `concepts` maps the units of a surface to its concept, or to "" when they are known to name none.
    `reach` is the number of units of the longest surface that begins with a unit. `surfaces` are a concept's
    written forms, its own name first.
    """

    concepts: Mapping[tuple[str, ...], str]
    reach: Mapping[str, int]
    surfaces: Mapping[str, tuple[str, ...]]
    broader: Mapping[str, str]
    labels: frozenset[str]
    activities: frozenset[str]
    noise: frozenset[str]
    generic_paths: frozenset[str]


@dataclass(slots=True)
class Units:
    """A text cut up for matching: lower-case word stems, single Chinese characters, and breaks.

    `runs` says where each run of Chinese characters begins, and its text.
    """

    words: list[str] = field(default_factory=list)
    runs: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Match:
    """The units `start` to `end` (exclusive) name the concept, or are known to name none ("")."""

    start: int
    end: int
    concept: str


def units(text: str) -> Units:
    """Cut a text into units; identifiers are split at humps and underscores, unless known as a whole."""
    plain = folded(text)
    pattern = _ASCII_WORD if plain.isascii() else _WORD
    cut = Units()
    end = 0
    for match in pattern.finditer(plain):
        if cut.words and plain[end : match.start()].strip(_JOINING):
            cut.words.append(BREAK)
        word = match.group()
        if _HAN_START.match(word):
            cut.runs.append((len(cut.words), word))
            cut.words.extend(word)
        else:
            cut.words.extend(_word_units(word))
        end = match.end()
    return cut


def matches(words: Sequence[str]) -> list[Match]:
    """Find the surfaces among units: from the left, the longest first, without overlap."""
    known = vocabulary()
    found: list[Match] = []
    at, count = 0, len(words)
    while at < count:
        for length in range(min(known.reach.get(words[at], 0), count - at), 0, -1):
            concept = known.concepts.get(tuple(words[at : at + length]))
            if concept is not None:
                found.append(Match(at, at + length, concept))
                at += length
                break
        else:
            at += 1
    return found


def other_names(text: str) -> list[str]:
    """Give the other surfaces of the concepts a text names: a question in one language finds the other too.

    Surfaces that the text holds already are left out, and so are concepts only implied.
    """
    known = vocabulary()
    words = units(text).words
    found: dict[str, None] = {}
    for match in matches(words):
        said = tuple(words[match.start : match.end])
        for surface in known.surfaces.get(match.concept, ()):
            if _surface_units(surface) != said:
                found[surface] = None
    return list(found)


@cache
def vocabulary() -> Vocabulary:
    """Give the vocabulary; the file is read when it is first asked for."""
    data = tomllib.loads(files("graphmem").joinpath("aliases.toml").read_text(encoding="utf-8"))
    written: dict[str, tuple[str, ...]] = {
        name: (name.replace("-", " "), *surfaces) for name, surfaces in data["aliases"].items()
    }
    concepts: dict[tuple[str, ...], str] = {}
    for name, surfaces in written.items():
        concepts |= {_surface_units(surface): name for surface in surfaces}
    words = data["words"]
    concepts |= {_surface_units(phrase): "" for phrase in _listed(words["not_concepts"])}
    reach: dict[str, int] = {}
    for key in concepts:
        reach[key[0]] = max(reach.get(key[0], 0), len(key))
    return Vocabulary(
        concepts=concepts,
        reach=reach,
        surfaces=written,
        broader=data["broader"],
        labels=frozenset("-".join(_surface_units(label)) for label in _listed(words["labels"])),
        activities=frozenset(name.replace(" ", "-") for name in _listed(words["activities"])),
        noise=frozenset(stem(word) for word in words["noise"].split()),
        generic_paths=frozenset(stem(word) for word in words["generic_paths"].split()),
    )


def _listed(text: str) -> list[str]:
    return [" ".join(entry.split()) for entry in text.split(";") if entry.strip()]


def _surface_units(surface: str) -> tuple[str, ...]:
    """Cut a surface of the file into units; being in lower case it needs no vocabulary to do so."""
    found: list[str] = []
    for word in _WORD.findall(surface):
        if _HAN_START.match(word):
            found.extend(word)
        else:
            found.append(stem(word))
    return tuple(found)


@lru_cache(maxsize=16_384)
def _word_units(word: str) -> tuple[str, ...]:
    whole = stem(word.casefold())
    if len(word) > _LONGEST_WORD:
        return (whole[:_LONGEST_WORD],)
    if (whole,) in vocabulary().concepts:
        return (whole,)
    found: list[str] = []
    lone = ""
    for hump in humps(word):
        if len(hump) == 1 and hump.isalpha() and not lone:
            # `OAuth2`, `iPhone`: a letter on its own belongs to what follows.
            lone = hump
            continue
        found.append(stem((lone + hump).casefold()))
        lone = ""
    if lone:
        found.append(lone.casefold())
    return tuple(found)
