"""Views over a whole project: counts, the busiest files, the strongest links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graphmem import Project
from graphmem.errors import InvalidInputError
from graphmem.instant import DAY

Tell = Callable[..., Any]


def test_an_empty_project_has_nothing_and_says_so(shop: Project) -> None:
    stats = shop.stats()
    assert (stats.observations, stats.sessions, stats.files, stats.concepts, stats.contracts) == (
        0,
        0,
        0,
        0,
        0,
    )
    assert (stats.first_at, stats.last_at, stats.behind, stats.alerts_given) == (None, None, 0, 0)
    assert stats.journal_bytes > 0 and stats.derived_bytes > 0
    assert (shop.busiest_files(), shop.strongest_links()) == ([], [])
    assert shop.sessions().items == ()


def test_everything_is_counted(shop: Project, tell: Tell, clock: Any) -> None:
    tell(
        shop,
        {
            "session": "s1",
            "at": clock.now - DAY,
            "title": "Uses GET /api/v1/stock",
            "files_modified": ["a.py"],
        },
        {"session": "s1", "files_modified": ["b.py", "yarn.lock"], "concepts": ["auth"]},
        {"session": "s2", "files_modified": [f"bulk/{n}.py" for n in range(101)]},
        {"session": "s3", "files_deleted": ["b.py"]},
        {"session": "s3", "renames": [{"from": "a.py", "to": "c.py"}]},
    )
    stats = shop.stats()
    assert (stats.observations, stats.sessions) == (5, 3)
    assert (stats.files, stats.files_gone, stats.noise_files) == (103, 1, 1)
    assert (stats.contracts, stats.bulk_observations) == (1, 1)
    assert stats.concepts >= 1
    assert (stats.first_at, stats.last_at) == (clock.now - DAY, clock.now)


def test_the_busiest_are_those_changed_in_most_observations(shop: Project, tell: Tell) -> None:
    tell(
        shop,
        *({"files_modified": ["hub.py", "yarn.lock"]} for _ in range(3)),
        {"files_modified": ["b.py", "a.py"]},
        {"files_modified": ["gone.py"]},
        {"files_deleted": ["gone.py"]},
        *({"files_read": ["read.py"]} for _ in range(5)),
        *({"files_modified": [f"bulk/{n}.py" for n in range(101)]} for _ in range(5)),
    )
    assert shop.busiest_files() == ["hub.py", "a.py", "b.py"]
    assert shop.busiest_files(1) == ["hub.py"]


def test_links_stand_once_a_pair_strongest_first_and_are_no_noise(
    shop: Project, tell: Tell, clock: Any
) -> None:
    for day in range(6):
        at = clock.now - day * DAY
        tell(shop, {"session": f"d{day}", "at": at, "files_modified": ["x/a.py", "y/b.py", "yarn.lock"]})
        if day < 2:
            tell(shop, {"session": f"d{day}", "at": at + 1, "files_modified": ["x/a.py", "z/c.py"]})
    links = shop.strongest_links()
    assert [(link.a, link.b) for link in links] == [("x/a.py", "y/b.py"), ("x/a.py", "z/c.py")]
    assert links[0].probability > links[1].probability
    assert (links[0].evidence.together, links[0].evidence.sessions) == (6, 6)
    assert len(links[0].evidence.observations) == 3
    assert shop.strongest_links(1) == links[:1]


@pytest.mark.parametrize("limit", [0, 201])
def test_a_limit_out_of_range_is_refused(shop: Project, limit: int) -> None:
    for ask in (shop.busiest_files, shop.strongest_links):
        with pytest.raises(InvalidInputError):
            ask(limit)
