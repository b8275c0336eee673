"""Whether a note helped is judged by what its turn did after it."""

from __future__ import annotations

from graphmem.helpfulness import judged


def test_named_files_that_were_opened_or_changed_count_each_for_itself() -> None:
    verdict = judged(("a", "b", "c"), "x", ("c", "a", "y"), ("b", "a"), ())
    assert verdict.opened == ("a", "c")
    assert verdict.changed == ("a", "b")
    assert verdict.unnamed == ()


def test_a_changed_file_that_nobody_named_or_knew_was_missed() -> None:
    verdict = judged(("a",), "x", (), ("x", "m", "k", "a", "m", "n"), {"k"})
    assert verdict.unnamed == ("m", "n")


def test_the_file_the_note_is_about_counts_for_nothing() -> None:
    verdict = judged(("x", "a", "a"), "x", ("x",), ("x", "a"), ())
    assert verdict == ((), ("a",), ())


def test_a_note_in_a_turn_that_did_nothing_more_neither_helped_nor_missed() -> None:
    assert judged(("a",), "x", (), (), ()) == ((), (), ())
