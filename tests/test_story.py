"""The story of the web shop: what must come out of it, and what must not (fixtures/README.md says why)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, Project
from graphmem.instant import from_iso
from graphmem.model import Affected, FileStatus, Impact, Noise, ObservationFilter, Tier

STORY = Path(__file__).resolve().parents[1] / "fixtures" / "story"
EXPECTED: dict[str, Any] = json.loads((STORY / "expectations.json").read_text(encoding="utf-8"))
ASKED_AT = from_iso(EXPECTED["asked_at"])


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("story")
    (folder / "lantern-shop").mkdir()
    with Memory(folder / "memory", clock=lambda: ASKED_AT) as memory:
        project, _ = memory.register(str(folder / "lantern-shop"))
        report = project.import_jsonl(str(STORY / "observations.jsonl"))
        assert (report.accepted, report.rejected) == (EXPECTED["observations"], 0)
        assert project.wait_visible()
        yield project


def about(shop: Project, path: str) -> Impact:
    return shop.impact([path], session=EXPECTED["own_session"], limit=200)


def entry(answer: Impact, path: str) -> Affected:
    found = [affected for affected in answer.affected if affected.path == path]
    assert found, f"{path} is not among {[affected.path for affected in answer.affected]}"
    return found[0]


def without_ids(answer: Impact) -> Impact:
    """Ids are a project's own."""
    affected = tuple(replace(found, edge_id=None) for found in answer.affected)
    return replace(answer, affected=affected, module=None)


def names(answer: Impact) -> list[str]:
    return [affected.path for affected in answer.affected]


def cases(key: str, *shown: str) -> list[Any]:
    return [pytest.param(case, id=" ".join(case[name] for name in shown)) for case in EXPECTED[key]]


def test_the_whole_story_is_counted(shop: Project) -> None:
    stats = shop.stats()
    assert (stats.observations, stats.sessions) == (EXPECTED["observations"], EXPECTED["sessions"])
    assert stats.bulk_observations == 1


def test_the_story_told_twice_is_stored_once(shop: Project) -> None:
    report = shop.import_jsonl(str(STORY / "observations.jsonl"))
    assert (report.accepted, report.duplicates) == (0, EXPECTED["observations"])
    assert shop.stats().observations == EXPECTED["observations"]


@pytest.mark.parametrize("case", cases("linked", "path", "to"))
def test_files_that_change_together_are_linked_with_their_evidence(
    shop: Project, case: dict[str, Any]
) -> None:
    answer = about(shop, case["path"])
    found = entry(answer, case["to"])
    assert found.evidence.together == case["together"]
    assert found.evidence.sessions == case["sessions"]
    assert found.evidence.of >= found.evidence.together
    assert 1 <= len(found.evidence.observations) <= 3
    assert case["to"] in names(answer)[:4]
    if "tier" in case:
        assert found.tier is Tier(case["tier"])


@pytest.mark.parametrize("case", cases("apart", "path", "to"))
def test_false_friends_are_not_linked(shop: Project, case: dict[str, str]) -> None:
    assert case["to"] not in names(about(shop, case["path"])), case["why"]
    assert case["path"] not in names(about(shop, case["to"])), case["why"]


@pytest.mark.parametrize("path", EXPECTED["bulk_only"])
def test_the_formatting_commit_links_nothing(shop: Project, path: str) -> None:
    answer = about(shop, path)
    assert answer.status is FileStatus.KNOWN
    assert all(affected.evidence.together == 0 and affected.probability < 0.1 for affected in answer.affected)
    assert answer.warning is None
    assert answer.reason is not None


@pytest.mark.parametrize("case", cases("warnings", "path"))
def test_the_warning_is_short_and_names_what_usually_changes_along(
    shop: Project, case: dict[str, Any]
) -> None:
    warning = about(shop, case["path"]).warning
    assert warning is not None
    assert len(warning.encode()) <= 600
    for name in case["names"]:
        assert name in warning


@pytest.mark.parametrize("path", EXPECTED["silent"])
def test_nothing_strong_means_no_warning(shop: Project, path: str) -> None:
    assert about(shop, path).warning is None


@pytest.mark.parametrize("path", EXPECTED["noise"]["asked_for"])
def test_the_lock_file_is_never_among_the_first_three_of_a_warning(shop: Project, path: str) -> None:
    answer = about(shop, path)
    noisy = EXPECTED["noise"]["file"]
    assert noisy not in (answer.warning or "")
    assert entry(answer, noisy).noise is Noise.LOCK


@pytest.mark.parametrize("case", cases("statuses", "path", "status"))
def test_each_file_has_the_standing_the_story_gives_it(shop: Project, case: dict[str, str]) -> None:
    answer = about(shop, case["path"])
    assert answer.status is FileStatus(case["status"])
    assert (answer.reason is not None) == (answer.status is not FileStatus.KNOWN)


def test_a_file_nobody_mentioned_is_unknown_and_never_called_safe(shop: Project) -> None:
    answer = about(shop, "src/loyalty/points.ts")
    assert answer.status is FileStatus.UNKNOWN
    assert answer.reason is not None
    assert "src/loyalty/points.ts" in answer.reason
    assert (answer.affected, answer.next, answer.contracts) == ((), (), ())


def test_a_rename_carries_the_history_over(shop: Project) -> None:
    old, new = EXPECTED["rename"]["from"], EXPECTED["rename"]["to"]
    listed = shop.observations(ObservationFilter(file=new), limit=50).items
    assert any(old in item.files_modified for item in listed)
    assert old not in names(about(shop, "src/cart/merge.ts"))
    assert new in names(about(shop, "src/cart/merge.ts"))


def test_a_deleted_file_is_offered_nowhere(shop: Project) -> None:
    gone, partner = EXPECTED["deleted"]["path"], EXPECTED["deleted"]["was_with"]
    answer = about(shop, partner)
    assert gone not in names(answer)
    assert gone not in [coming.path for coming in answer.next]
    assert shop.observations(ObservationFilter(file=gone)).items, "it stays in the history"


def test_a_file_created_again_revives_with_its_past(shop: Project) -> None:
    path, partner, away = (EXPECTED["revived"][key] for key in ("path", "was_with", "away_at"))
    then = shop.impact([path], as_of=from_iso(away))
    assert then.status is FileStatus.GONE
    now = about(shop, path)
    assert now.status is FileStatus.KNOWN
    assert entry(now, partner).evidence.together == 5


def test_what_is_read_before_an_edit_points_to_the_edited_file(shop: Project) -> None:
    case = EXPECTED["read_for"]
    found = entry(about(shop, case["path"]), case["to"])
    assert "read_for" in found.signals
    assert found.score.temporal > 0


def test_what_follows_in_the_next_session_is_offered_as_next(shop: Project) -> None:
    case = EXPECTED["followed_by"]
    answer = about(shop, case["path"])
    assert case["to"] in [coming.path for coming in answer.next]
    assert all(0 < coming.probability <= 1 for coming in answer.next)


def test_the_endpoint_that_moved_names_its_successor_and_who_still_uses_the_old_one(shop: Project) -> None:
    case = EXPECTED["contracts"]
    contracts = {use.name: use for use in about(shop, case["path"]).contracts}
    assert contracts[case["superseded"]].superseded_by == case["by"]
    assert contracts[case["by"]].superseded_by is None
    user = case["still_used_by"]
    still = {use.name: use for use in about(shop, user["path"]).contracts}
    assert user["domain"] in still[case["superseded"]].used_by


def test_recent_work_is_told_by_domain(shop: Project) -> None:
    recent = about(shop, EXPECTED["key_file"]).recent
    assert recent.window_days == 30
    domains = {domain.concept: domain for domain in recent.domains}
    assert set(EXPECTED["domains"]) <= set(domains)
    assert all(domain.sessions >= 1 and domain.last_seen <= ASKED_AT for domain in domains.values())
    assert recent.observations[0].title == "One function reads the customer out of a token"


def test_another_session_at_work_nearby_is_shown_and_the_asking_one_is_not(shop: Project) -> None:
    case = EXPECTED["active"]
    active = about(shop, case["path"]).active
    assert (case["session"], case["on"]) in [(session.session, session.path) for session in active]
    assert EXPECTED["own_session"] not in [session.session for session in active]


@pytest.mark.parametrize("case", cases("search", "text"))
def test_search_finds_english_chinese_and_identifiers(shop: Project, case: dict[str, Any]) -> None:
    found = [hit.id for hit in shop.search(case["text"], limit=10)]
    assert set(case["finds"]) <= set(found)


def test_a_session_says_what_it_left_open_and_what_it_finished(shop: Project) -> None:
    left_open, done = EXPECTED["left_open"], EXPECTED["done"]
    assert left_open["task"] in shop.session(left_open["session"]).left_open
    finished = shop.session(done["session"])
    assert done["title"] in finished.done
    assert done["task"] not in finished.left_open


def test_paths_of_windows_and_dotted_paths_are_the_same_files(shop: Project) -> None:
    listed = shop.observations(ObservationFilter(file="src/search/suggest.ts"), limit=50).items
    assert "shop-023" in [item.id for item in listed]
    listed = shop.observations(ObservationFilter(file="src/profile/ProfilePage.tsx"), limit=50).items
    assert "shop-055" in [item.id for item in listed]


def test_the_answer_does_not_depend_on_the_order_of_arrival(shop: Project, tmp_path: Path) -> None:
    lines = (STORY / "observations.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "shop").mkdir()
    with Memory(tmp_path / "memory", clock=lambda: ASKED_AT) as memory:
        other, _ = memory.register(str(tmp_path / "shop"))
        for start in range(0, len(lines), 20):
            other.observe([json.loads(line) for line in reversed(lines[start : start + 20])])
        assert other.wait_visible()
        for project in (other, shop):
            project.graph.infer()
        for path in ("src/auth/token.ts", "src/cart/merge.ts", "src/search/suggest.ts"):
            assert without_ids(about(other, path)) == without_ids(about(shop, path))
