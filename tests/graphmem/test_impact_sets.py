"""Of a set of files the answer says which are less than known, and why, each by its name."""

from __future__ import annotations

from typing import Any

from graphmem.model import FileStatus
from graphmem.project import Project


def work(*paths: str, days: int = 3) -> list[dict[str, Any]]:
    return [
        {"id": f"{paths[0]}-{day}", "session": f"s{day}", "files_modified": list(paths)}
        for day in range(days)
    ]


def test_each_file_of_a_set_that_is_less_than_known_is_named(shop: Project, tell: Any) -> None:
    tell(shop, *work("a.py", "b.py"), {"files_modified": ["old.py"]}, {"files_deleted": ["old.py"]})
    answer = shop.impact(["a.py", "never.py", "old.py"])
    assert answer.status is FileStatus.KNOWN
    assert answer.reason is not None
    first, second = answer.reason.split("; ")[0], answer.reason.split("; ")[-1]
    assert first.endswith("observations mentions never.py")
    assert second.startswith("old.py: it was deleted on ")


def test_of_a_set_of_known_files_no_reason_is_given(shop: Project, tell: Any) -> None:
    tell(shop, *work("a.py", "b.py"), *work("c.py", "d.py"))
    assert shop.impact(["a.py", "c.py"]).reason is None


def test_many_unknown_files_are_counted(shop: Project, tell: Any) -> None:
    tell(shop, *work("a.py", "b.py"))
    answer = shop.impact(["a.py", *(f"new{number}.py" for number in range(9))])
    assert answer.reason is not None
    assert "new2.py" in answer.reason
    assert "new3.py" not in answer.reason
    assert answer.reason.endswith("6 in all")


def test_one_file_under_two_names_needs_no_further_reason(shop: Project, tell: Any) -> None:
    tell(shop, *work("a.py", "x.py", days=4), {"renames": [{"from": "a.py", "to": "b.py"}]})
    assert shop.impact(["a.py", "b.py"]).reason == "a.py: now named b.py"
