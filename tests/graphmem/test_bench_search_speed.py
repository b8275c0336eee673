"""`bench.search_speed`: a search and its plain parts are timed in pairs, and the ratio is printed."""

from __future__ import annotations

from contextlib import closing

import pytest

from bench.search_speed import fill, measure, tell, words
from graphmem.derived import open_derived
from graphmem.journal import Journal


def test_each_question_is_timed_both_ways(capsys: pytest.CaptureFixture[str]) -> None:
    with closing(Journal(None)) as journal, closing(open_derived(None)) as database:
        fill(journal, database, 30)
        pairs = measure(database, 30, 3)
    tell(30, pairs)
    assert len(pairs) == 3
    assert all(pair.plain > 0.0 and pair.search > 0.0 for pair in pairs)
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == ["observations", "plainly", "search", "ratio"]


def test_the_words_are_distinct() -> None:
    assert len(set(words())) == len(words())
