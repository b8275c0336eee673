"""Who comes into question for a session does not depend on steps that were taken out again."""

from __future__ import annotations

from inference.chronicle import Chronicle, State, Step
from inference.session_clues import Asking, Touch, candidates


def told(number: int, *states: State) -> Step:
    return Step(number, number, 1000.0 + number, number, 1, 0, (), states=states)


def test_files_of_a_folder_that_nobody_changed_keep_their_order_when_a_renaming_is_taken_out() -> None:
    chronicle = Chronicle(lambda path: path.split("/"))
    chronicle.push(told(1, *(State(file, f"src/f{file}.py", True) for file in range(1, 100))))
    asking = Asking((Touch("src/new.py"),), 2000.0)
    before = candidates(chronicle, asking)
    chronicle.push(told(2, State(1, "src/other.py", True)))
    chronicle.pop()
    assert candidates(chronicle, asking) == before
    assert before[0] == 1
