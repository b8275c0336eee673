"""What may go is chosen by age and size, the oldest first, and never so that an older statement returns."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inference.retention import DAY, Candidate, Told, chosen

NOW = 1_000 * DAY


def candidate(seq: int, age: float, kind: str = "history", size: int = 10) -> Candidate:
    return Candidate(seq, kind, NOW - age * DAY, size)


def numbers(*args: object, **more: object) -> list[int]:
    return [each.seq for each in chosen(*args, **more)]  # type: ignore[arg-type]


def test_age_counts_by_kind_and_only_where_there_is_a_limit() -> None:
    found = [candidate(1, 100), candidate(2, 400), candidate(3, 400, "fact"), candidate(4, 365)]
    assert numbers(found, {"history": 365.0}, NOW, 0, set()) == [2]


def test_a_size_takes_the_oldest_first_until_enough_is_freed() -> None:
    found = [candidate(1, 10), candidate(2, 30), candidate(3, 20), candidate(4, 0.5)]
    assert numbers(found, {}, NOW, 15, set()) == [2, 3]
    assert numbers(found, {}, NOW, 1_000, {3}) == [2, 1]


@given(
    ages=st.lists(st.floats(0, 900), min_size=1, max_size=12),
    subjects=st.lists(st.sampled_from("abc"), min_size=12, max_size=12),
    exempt=st.sets(st.integers(0, 11)),
    surplus=st.integers(-5, 200),
    limit=st.floats(1, 800),
)
def test_no_statement_outlives_what_replaced_it(
    ages: list[float], subjects: list[str], exempt: set[int], surplus: int, limit: float
) -> None:
    found = [candidate(seq, age) for seq, age in enumerate(sorted(ages, reverse=True))]
    told = [Told(subjects[each.seq], each.seq) for each in found]
    going = set(numbers(found, {"history": limit}, NOW, surplus, exempt, told))
    assert not going & exempt
    for one, other in ((a, b) for a in told for b in told if a.seq < b.seq and a.subject == b.subject):
        assert one.seq in going or other.seq not in going
