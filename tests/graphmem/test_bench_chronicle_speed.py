"""`bench.chronicle_speed`: what it takes to bring the work in memory in step, printed line by line."""

from __future__ import annotations

from contextlib import closing

import pytest

from bench.chronicle_speed import measure
from bench.promotion_speed import generated
from graphmem.derived import open_derived
from graphmem.journal import Journal
from graphmem.projection import catch_up


def test_every_way_of_coming_into_step_is_timed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bench.chronicle_speed.TELLINGS", 3)
    with closing(Journal(None)) as journal, closing(open_derived(None)) as database:
        journal.append(list(generated(30)), 0.0)
        catch_up(journal, database)
        measure(journal, database)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["observations", "30"]
    assert [line[:22].strip() for line in printed[1:]] == [
        "read whole",
        "one more",
        "told anew",
        "nothing new",
        "a first past moment",
        "the moment before",
    ]
