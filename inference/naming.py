"""Owns likeness of file names: the stem a file shares with its test or its twin, and its folder.

It is not path normalisation: names arrive relative to the root and `/`-separated.
"""

from __future__ import annotations

import re
from functools import lru_cache

_CAMEL_TEST = re.compile(r"(?<=[a-z0-9])(?:Tests?|Spec)$")
_TEST = re.compile(r"^(?:tests?|spec)[_-]|[_-](?:tests?|spec)$")


@lru_cache(maxsize=65_536)
def stem(path: str) -> str:
    """Return the file's name up to its first dot, in lower case, without what marks it as a test.

    `src/token.ts`, `test/token.test.ts`, `tests/test_token.py` and `TokenTest.java` are all `token`.
    """
    name = path.rpartition("/")[2]
    base = name if name.startswith(".") else name.partition(".")[0]
    plain = _CAMEL_TEST.sub("", base).lower()
    return _TEST.sub("", plain) or plain


def folder(path: str) -> str:
    """Return the path of the folder the file lies in, "" for the root."""
    return path.rpartition("/")[0]
