"""Projects through HTTP: registered once, found by slug or by a path inside, counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_a_new_project_is_a_201_and_a_known_one_a_200(service: Any, tmp_path: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    first = service.client.post("/v1/projects", json={"root": str(root)})
    again = service.client.post("/v1/projects", json={"root": str(root)})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    assert set(first.json()) >= {"slug", "root", "roots", "created_at", "observations"}
    assert first.json()["root"] == str(root)
    assert first.json()["observations"] == 0
    assert first.json()["created_at"].endswith("Z")


def test_a_worktree_and_a_link_are_the_same_project(
    service: Any, tmp_path: Path, git_repository: Callable[..., Any]
) -> None:
    repository = git_repository("main-checkout")
    repository.touch("first", "a.txt")
    repository.git("worktree", "add", "--quiet", str(tmp_path / "aside"))
    (tmp_path / "link").symlink_to(repository.path)
    answers = [
        service.client.post("/v1/projects", json={"root": str(tmp_path / name)})
        for name in ("main-checkout", "aside", "link")
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 200]
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_a_slug_of_another_root_is_a_conflict(service: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    slug = f"slug-{tmp_path.name[:30]}"
    first = service.client.post("/v1/projects", json={"root": str(tmp_path / "one"), "slug": slug})
    second = service.client.post("/v1/projects", json={"root": str(tmp_path / "two"), "slug": slug})
    assert (first.status_code, second.status_code) == (201, 409)
    assert slug in second.json()["detail"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "root"),
        ({"root": None}, "root"),
        ({"root": ""}, "root"),
        ({"root": 7}, "root"),
        ({"root": "relative/folder"}, "root"),
        ({"root": "/no/such/folder/anywhere"}, "root"),
        ({"root": "/"}, "root"),
        ({"root": "/\x00"}, "root"),
        ({"root": "/tmp/\udcff"}, "root"),
        ({"root": "/etc/hostname"}, "root"),
    ],
)
def test_a_root_that_cannot_be_one_is_refused_by_name(service: Any, body: dict[str, Any], field: str) -> None:
    answer = service.client.post("/v1/projects", content=_ascii_json(body))
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]


def _ascii_json(value: object) -> bytes:
    import json

    return json.dumps(value).encode()


@pytest.mark.parametrize("slug", ["", "a b", "../x", "a/b", ".", "ü", "x" * 65])
def test_a_slug_that_cannot_be_one_is_refused_by_name(service: Any, tmp_path: Path, slug: str) -> None:
    answer = service.client.post("/v1/projects", json={"root": str(tmp_path), "slug": slug})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "slug"


def test_the_list_goes_on_where_the_page_ended(service: Any, tmp_path: Path) -> None:
    made = {service.project(tmp_path / f"listed-{n}").rpartition("/")[2] for n in range(5)}
    seen: list[str] = []
    cursor = None
    while True:
        page = service.client.get(
            "/v1/projects", params={"limit": 2} | ({"cursor": cursor} if cursor else {})
        )
        seen += [item["slug"] for item in page.json()["items"]]
        cursor = page.json()["next_cursor"]
        if cursor is None:
            break
        assert len(page.json()["items"]) == 2
    assert seen == sorted(seen)
    assert made <= set(seen)
    assert len(seen) == len(set(seen))


def test_a_path_finds_the_project_it_is_in(service: Any, tmp_path: Path) -> None:
    path = service.project(tmp_path / "around")
    found = service.client.get("/v1/projects", params={"path": str(tmp_path / "around" / "src" / "a.py")})
    assert [item["slug"] for item in found.json()["items"]] == [path.rpartition("/")[2]]
    assert service.client.get("/v1/projects", params={"path": "/nowhere/at/all"}).json()["items"] == []
    assert service.client.get("/v1/projects", params={"path": "relative"}).status_code == 422


@pytest.mark.parametrize("name", ["limit", "cursor"])
@pytest.mark.parametrize("value", ["-1", "0", "201", "x", "1e3", "", "\x00", "9" * 40])
def test_a_wrong_page_is_refused_by_name(service: Any, tmp_path: Path, name: str, value: str) -> None:
    project = service.project(tmp_path / "pages")
    for route in ("/v1/projects", f"{project}/observations", f"{project}/sessions"):
        answer = service.client.get(route, params={name: value})
        assert answer.status_code == 422, route
        assert answer.json()["errors"][0]["field"] == name


def test_an_unknown_project_is_a_404_that_says_so(service: Any) -> None:
    for slug in ("no-such-project", "%2Fetc", "..%2F..", "%2E", "a%00b", "用户"):
        answer = service.client.get(f"/v1/projects/{slug}/stats")
        assert answer.status_code == 404, slug
        assert answer.headers["content-type"] == "application/problem+json"


def test_stats_count_what_was_stored(service: Any, tmp_path: Path) -> None:
    project = service.project(tmp_path / "counted")
    batch = [
        {"id": f"o{n}", "session": f"s{n % 2}", "files_modified": ["a.py", "b.py"], "at": f"2026-05-0{n}"}
        for n in (1, 2, 3)
    ]
    service.client.post(f"{project}/observations?wait=visible", json=batch)
    stats = service.client.get(f"{project}/stats").json()
    assert (stats["observations"], stats["sessions"], stats["files"]) == (3, 2, 2)
    assert (stats["first_at"], stats["last_at"]) == ("2026-05-01T00:00:00Z", "2026-05-03T00:00:00Z")
    assert stats["journal_bytes"] > 0
    assert stats["behind"] == 0


def test_as_of_is_refused_where_it_would_not_be_honoured(service: Any, tmp_path: Path) -> None:
    project = service.project(tmp_path / "present-only")
    service.client.post(
        f"{project}/observations?wait=visible", json={"id": "o1", "session": "s1", "title": "x"}
    )
    for method, route in (
        ("GET", "/v1/projects"),
        ("GET", f"{project}/stats"),
        ("GET", f"{project}/sessions"),
        ("GET", f"{project}/sessions/s1"),
        ("GET", f"{project}/observations/o1"),
        ("DELETE", f"{project}/observations/o1"),
        ("POST", f"{project}/query"),
        ("POST", f"{project}/imports"),
        ("POST", f"{project}/observations"),
        ("POST", "/v1/projects"),
        ("POST", "/v1/links"),
    ):
        answer = service.client.request(method, route, params={"as_of": "2026-05-01"})
        assert answer.status_code == 400, route
        assert answer.json()["errors"][0]["field"] == "as_of"
    assert service.client.get(f"{project}/observations/o1").status_code == 200
