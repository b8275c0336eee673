"""How a person is told why a file is listed, also beside a new file or several files as one change."""

from __future__ import annotations

from typing import Any

import pytest

from api.screen import evidence_words

NOTHING = {"together": 0, "of": 0, "sessions": 0, "last_seen": None}
SEEN = {"together": 3, "of": 4, "sessions": 2, "last_seen": "2026-05-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("evidence", "signals", "words"),
    [
        (NOTHING, ["named_alike", "same_folder"], "named alike, same folder"),
        (NOTHING, ["task"], "past work told in the task's words"),
        (NOTHING, ["near_folder"], "changed with that folder"),
        (NOTHING, ["in_hand", "near_folder"], "in hand lately"),
        (NOTHING, [], "never changed together"),
        (NOTHING | {"of": 4}, ["same_folder"], "never changed together; but same folder"),
        (NOTHING | {"of": 4}, [], "never changed together"),
        (SEEN, ["co_changes"], "3 of 4 times, 2 sessions, last 2026-05-01"),
        (SEEN, ["co_changes", "task"], "3 of 4 times, 2 sessions, last 2026-05-01; also past work told in"),
        (SEEN, ["unheard_of"], "3 of 4 times, 2 sessions, last 2026-05-01"),
    ],
)
def test_every_reason_is_said_in_words(evidence: Any, signals: list[str], words: str) -> None:
    assert evidence_words(evidence, signals).startswith(words)


def test_a_set_has_one_status_and_says_which_file_is_unknown(shop: Any) -> None:
    shown = shop.good("impact", "src/token.py", "src/never.py").out
    assert "as one change  known" in shown
    assert "Not all is known: none of the" in shown
    assert "mentions src/never.py" in shown.replace("\n", " ")
    both = shop.good("impact", "src/never.py", "src/nor.py", "--json").shape
    assert (both["status"], both["warning"]) == ("unknown", None)
    assert "src/never.py" in both["reason"] and "src/nor.py" in both["reason"]


def test_what_comes_next_is_told_only_where_it_is_worth_a_line(shop: Any) -> None:
    for path in ("src/token.py", "src/token_test.py"):
        told = shop.good("impact", path).out.partition("What usually comes next")[2]
        following = shop.good("impact", path, "--json").shape["next"][:5]
        assert [item["path"] in told for item in following] == [
            item["probability"] >= 0.05 for item in following
        ]
