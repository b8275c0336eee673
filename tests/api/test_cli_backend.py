"""The service and the files give the same answers: one set of checks for both sides of the seam."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.backend import Backend, HistorySource, ImpactQuestion, ObservationQuestion, SearchQuestion
from api.backend_local import LocalBackend
from api.backend_remote import RemoteBackend
from api.connection import connect
from graphmem import Memory
from graphmem.errors import (
    GraphMemError,
    HomeError,
    InvalidInputError,
    NotFoundError,
    SourceError,
    UnavailableError,
)
from graphmem.home import Home, ServiceRecord

DAY = 86_400
SPRING = "2026-05-01T12:00:00Z"


def turn(number: int, *files: str, **more: object) -> dict[str, object]:
    return {
        "id": f"o-{number}",
        "session": f"s-{number // 2}",
        "actor": "mei",
        "title": f"Turn {number}",
        "files_modified": list(files),
        "at": f"2026-04-{number + 1:02d}T12:00:00Z",
        **more,
    }


def shop_turns() -> list[dict[str, object]]:
    renewal = {"title": "续期令牌", "concepts": ["auth"], "type": "bugfix", "facts": ["TTL is 900"]}
    merging = {"title": "购物车合并", "narrative": "POST /api/v1/cart merges two carts"}
    turns = [turn(number, "src/token.ts", "src/session.ts") for number in range(8)]
    return [*turns, turn(8, "src/token.ts", **renewal), turn(9, "src/购物车.ts", **merging)]


def fill(home: Path, root: Path) -> None:
    root.mkdir()
    with Memory(home) as memory:
        project, _ = memory.register(str(root), "shop")
        assert project.observe(shop_turns()).accepted == 10
        assert project.wait_visible()


@dataclass(frozen=True, slots=True)
class Side:
    """One way to a memory, with a project of the test's own in it."""

    backend: Backend
    slug: str
    root: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    """The files of a home without a service."""
    with connect(tmp_path_factory.mktemp("files") / "home") as found:
        assert isinstance(found, LocalBackend)
        yield found


@pytest.fixture(params=["files", "service"])
def side(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Side]:
    """Both ways, one after the other, each with the shop's ten turns in a project of its own."""
    if request.param == "files":
        backend: Backend = request.getfixturevalue("files")
    else:
        backend = connect(request.getfixturevalue("service").home)
        assert isinstance(backend, RemoteBackend)
    root = tmp_path / "shop"
    root.mkdir()
    slug = backend.register(str(root))["slug"]
    source = tmp_path / "turns.jsonl"
    source.write_text("".join(json.dumps(item) + "\n" for item in shop_turns()), encoding="utf-8")
    report = backend.import_history(slug, HistorySource("jsonl", str(source)), no_progress)
    assert report["accepted"] == 10
    yield Side(backend, slug, root)
    if request.param == "service":
        backend.__exit__()


def no_progress(done: int, total: int | None) -> None:
    """Progress nobody looks at."""


def test_a_project_is_found_by_slug_and_by_every_path_inside(side: Side) -> None:
    slug, root = side.slug, side.root
    for reference in (slug, slug.upper(), str(root), str(root / "src" / "new"), str(root / "gone.ts")):
        assert side.backend.project(reference)["slug"] == slug
    (listed,) = [item for item in side.backend.projects()["items"] if item["slug"] == slug]
    assert (listed["observations"], listed["root"]) == (10, str(root))


def test_a_project_is_found_by_its_folders_name_where_that_tells(side: Side, tmp_path: Path) -> None:
    for place in ("购物车", "one/same", "two/same"):
        (tmp_path / place).mkdir(parents=True)
        side.backend.register(str(tmp_path / place))
    assert side.backend.project("购物车")["root"] == str(tmp_path / "购物车")
    roots = {item["slug"]: item["root"] for item in side.backend.projects()["items"]}
    assert roots[side.backend.project("same")["slug"]] == str(tmp_path / "one/same"), "it has the slug"


@pytest.mark.parametrize(
    "reference", ["shoes", "", "/", "/nowhere/at/all", "../shop", "a/b", "?x=1", "#", "购物"]
)
def test_a_reference_to_no_project_is_not_found(side: Side, reference: str) -> None:
    with pytest.raises(NotFoundError):
        side.backend.project(reference)


def test_a_reference_is_quoted_in_the_sentence_so_that_an_empty_one_is_seen(side: Side) -> None:
    with pytest.raises(NotFoundError, match=r"^There is no project ''[:;] "):
        side.backend.project("")


def test_registering_a_known_root_gives_the_project_again(side: Side) -> None:
    assert side.backend.register(str(side.root))["slug"] == side.slug
    other = side.root.parent / "other"
    other.mkdir()
    assert side.backend.register(str(other))["slug"] != side.slug


def test_a_root_that_is_no_folder_is_refused(side: Side) -> None:
    with pytest.raises(InvalidInputError, match="does not exist"):
        side.backend.register(str(side.root / "nothing"))


def test_impact_names_the_neighbour_with_its_evidence(side: Side) -> None:
    found = side.backend.impact(side.slug, ImpactQuestion(("src/token.ts",), as_of=SPRING))
    assert (found["path"], found["status"], found["as_of"]) == ("src/token.ts", "known", SPRING)
    first = found["affected"][0]
    assert first["path"] == "src/session.ts"
    assert (first["evidence"]["together"], first["evidence"]["of"]) == (8, 9)
    assert first["evidence"]["last_seen"] == "2026-04-08T12:00:00Z"


def test_impact_of_a_set_names_the_set(side: Side) -> None:
    found = side.backend.impact(side.slug, ImpactQuestion(("src/token.ts", "src/session.ts"), as_of=SPRING))
    assert (found["path"], found["paths"]) == (None, ["src/token.ts", "src/session.ts"])


def test_an_unknown_file_is_unknown_with_a_reason(side: Side) -> None:
    found = side.backend.impact(side.slug, ImpactQuestion(("src/nobody.ts",)))
    assert (found["status"], found["warning"], found["affected"]) == ("unknown", None, [])
    assert found["reason"]


def test_a_path_outside_the_root_is_refused_with_the_fields_name(side: Side) -> None:
    with pytest.raises(InvalidInputError) as caught:
        side.backend.impact(side.slug, ImpactQuestion(("/etc/passwd",)))
    assert "/etc/passwd" in str(caught.value)


def test_pages_of_observations_follow_each_other_without_gap(side: Side) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = side.backend.observations(side.slug, ObservationQuestion(limit=3, cursor=cursor))
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [f"o-{number}" for number in range(9, -1, -1)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (ObservationQuestion(file="src/购物车.ts"), ["o-9"]),
        (ObservationQuestion(concept="auth"), ["o-8"]),
        (ObservationQuestion(session="s-0"), ["o-1", "o-0"]),
        (ObservationQuestion(type="bugfix"), ["o-8"]),
        (ObservationQuestion(since="2026-04-09T12:00:00Z"), ["o-9", "o-8"]),
        (ObservationQuestion(until="2026-04-02T12:00:00Z"), ["o-0"]),
        (ObservationQuestion(as_of="2026-04-02T12:00:00Z"), ["o-1", "o-0"]),
        (ObservationQuestion(session="nobody"), []),
    ],
)
def test_observations_are_filtered(side: Side, question: ObservationQuestion, expected: list[str]) -> None:
    found = [item["id"] for item in side.backend.observations(side.slug, question)["items"]]
    assert [item for item in found if item in expected] == expected
    if question.concept is None:
        assert found == expected


def test_one_observation_is_shown_whole(side: Side) -> None:
    found = side.backend.observation(side.slug, "o-8")
    assert (found["title"], found["facts"][0]["text"]) == ("续期令牌", "TTL is 900")


@pytest.mark.parametrize("id", ["nobody", "a/b", "..", "a b?c#d", "%2e%2e", "购物车"])
def test_what_is_not_there_is_not_found(side: Side, id: str) -> None:
    with pytest.raises(NotFoundError):
        side.backend.observation(side.slug, id)
    with pytest.raises(NotFoundError):
        side.backend.session(side.slug, id)


def test_sessions_are_listed_and_shown(side: Side) -> None:
    page = side.backend.sessions(side.slug, 2, None)
    assert [item["id"] for item in page["items"]] == ["s-4", "s-3"]
    assert [item["id"] for item in side.backend.sessions(side.slug, 2, page["next_cursor"])["items"]] == [
        "s-2",
        "s-1",
    ]
    assert side.backend.session(side.slug, "s-4")["observations"] == 2


@pytest.mark.parametrize(("text", "expected"), [("令牌", "o-8"), ("购物车", "o-9"), ("merges carts", "o-9")])
def test_texts_are_found_in_both_languages(side: Side, text: str, expected: str) -> None:
    found = side.backend.search(side.slug, SearchQuestion(text))
    assert found["results"][0]["id"] == expected
    assert found["context"]


def test_a_search_is_bounded_by_time_and_type(side: Side) -> None:
    assert side.backend.search(side.slug, SearchQuestion("续期", types=("change",)))["results"] == []
    assert (
        side.backend.search(side.slug, SearchQuestion("续期", until="2026-04-01T00:00:00Z"))["results"] == []
    )


def test_stats_count_what_is_stored(side: Side) -> None:
    found = side.backend.stats(side.slug)
    assert (found["observations"], found["sessions"], found["files"], found["behind"]) == (10, 5, 3, 0)


def test_a_wrong_cursor_is_refused(side: Side) -> None:
    with pytest.raises(InvalidInputError):
        side.backend.observations(side.slug, ObservationQuestion(cursor="nonsense"))


def test_a_file_of_observations_is_imported_and_its_bad_lines_are_named(side: Side) -> None:
    source = side.root.parent / "more.jsonl"
    lines = [json.dumps(turn(20, "src/a.ts")), "{cut", json.dumps(turn(21, "src/b.ts", at="2026-04-28"))]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = side.backend.import_history(side.slug, HistorySource("jsonl", str(source)), no_progress)
    assert (report["accepted"], report["rejected"], report["stopped"]) == (2, 1, False)
    assert "2" in report["problems"][0]
    again = side.backend.import_history(side.slug, HistorySource("jsonl", str(source)), no_progress)
    assert (again["accepted"], again["duplicates"]) == (0, 2)


def test_a_git_history_is_imported_once(side: Side, git_repository: Callable[..., Any]) -> None:
    repository = git_repository("app")
    for number in range(3):
        repository.touch(f"Change {number}", "a.py", "b.py")
    slug = side.backend.register(str(repository.path))["slug"]
    source = HistorySource("git", str(repository.path))
    assert side.backend.import_history(slug, source, no_progress)["accepted"] == 3
    assert side.backend.import_history(slug, source, no_progress)["accepted"] == 0
    assert side.backend.impact(slug, ImpactQuestion(("a.py",)))["affected"][0]["path"] == "b.py"


def test_a_source_that_cant_be_read_is_a_source_error(side: Side) -> None:
    for source in (
        HistorySource("git", str(side.root)),
        HistorySource("git", str(side.root), ref="no-such-branch"),
        HistorySource("jsonl", str(side.root / "nothing.jsonl")),
        HistorySource("jsonl", str(side.root)),
    ):
        with pytest.raises(SourceError):
            side.backend.import_history(side.slug, source, no_progress)


def answers(backend: Backend) -> list[Any]:
    """Everything that can be asked, on one memory."""
    stats = {name: value for name, value in backend.stats("shop").items() if "bytes" not in name}
    return [
        backend.projects(),
        backend.project("shop"),
        backend.impact("shop", ImpactQuestion(("src/token.ts",), as_of=SPRING, limit=200)),
        backend.impact(
            "shop", ImpactQuestion(("src/token.ts", "src/购物车.ts"), session="s-1", as_of=SPRING)
        ),
        backend.observations("shop", ObservationQuestion(limit=4)),
        backend.observation("shop", "o-8"),
        backend.sessions("shop", 3, None),
        backend.session("shop", "s-4"),
        backend.search("shop", SearchQuestion("购物车")),
        {name: value for name, value in stats.items() if name != "alerts_given"},
    ]


def test_both_sides_give_the_very_same_answers(tmp_path: Path, start_service: Callable[..., Any]) -> None:
    fill(tmp_path / "home", tmp_path / "shop")
    with connect(tmp_path / "home") as files:
        from_files = answers(files)
    start_service(tmp_path / "home")
    with connect(tmp_path / "home") as service:
        assert answers(service) == from_files


# ---- who answers ---------------------------------------------------------------------------------


def test_a_mute_listener_on_the_services_port_does_not_hold_anybody_up(tmp_path: Path) -> None:
    fill(tmp_path / "home", tmp_path / "shop")
    with socket.create_server(("127.0.0.1", 0)) as mute:
        home = Home(tmp_path / "home")
        home.token()
        home.write_service(ServiceRecord(1, mute.getsockname()[1], 1.0))
        started = time.monotonic()
        with connect(tmp_path / "home") as found:
            assert isinstance(found, LocalBackend)
        assert time.monotonic() - started < 2.0


def test_a_home_that_stays_held_is_a_clear_fault(tmp_path: Path) -> None:
    with Memory(tmp_path / "home", purpose="test"), pytest.raises(HomeError, match="in use"):
        connect(tmp_path / "home")


def test_a_home_that_is_held_for_a_moment_is_waited_for(installation: Any, tmp_path: Path) -> None:
    code = (
        "import sys; from graphmem import Memory; memory = Memory(sys.argv[1]); print(flush=True); "
        "sys.stdin.read(1); memory.close()"
    )
    holder = subprocess.Popen(
        [installation.python, "-c", code, tmp_path / "home"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()
        holder.stdin.close()
        with connect(tmp_path / "home") as found:
            assert found.projects()["items"] == []
    assert holder.returncode == 0


@pytest.mark.parametrize("bound", [60.0, 0.5], ids=["in time", "never"])
def test_while_the_holders_change_a_queue_is_waited_for_up_to_its_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: float
) -> None:
    monkeypatch.setattr("api.connection.PATIENCE_SECONDS", 0.5)
    monkeypatch.setattr("api.connection.QUEUE_SECONDS", bound)
    home = Home(tmp_path / "home")
    lock = home.lock("holder 0")
    asked = threading.Event()

    def others_come_and_go() -> None:
        # One lock under changing names: between two holders nobody else can slip in.
        until = time.monotonic() + 2.0
        while time.monotonic() < until and not asked.wait(0.1):
            named = json.dumps({"pid": 1, "purpose": f"holder {time.monotonic()}"})
            home.lock_file.write_text(named)
        lock.release()

    others = threading.Thread(target=others_come_and_go)
    others.start()
    try:
        if bound < 2.0:
            with pytest.raises(HomeError, match="in use"):
                connect(home.path)
        else:
            with connect(home.path) as found:
                assert found.projects()["items"] == []
    finally:
        asked.set()
        others.join()


def test_a_service_that_ends_while_asked_is_unavailable(start_service: Callable[..., Any]) -> None:
    service = start_service()
    with RemoteBackend(service.port, service.token) as backend:
        assert backend.projects()["items"] == []
        service.end()
        with pytest.raises(UnavailableError):
            backend.projects()


def test_a_wrong_token_is_a_sentence(start_service: Callable[..., Any]) -> None:
    service = start_service()
    with RemoteBackend(service.port, "x" * 40) as backend, pytest.raises(GraphMemError, match="token"):
        backend.projects()
