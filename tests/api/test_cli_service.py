"""serve, stop, status, open and doctor, as a user types them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest


@pytest.fixture
def served(graphmem: Any) -> Any:
    """The program with a service behind, ended after the test."""
    graphmem.good("serve", "--detach", "--port", "0")
    yield graphmem
    graphmem("stop")


def test_a_service_is_started_asked_and_ended(served: Any, git_repository: Callable[..., Any]) -> None:
    status = served.good("status", "--json").shape
    assert (status["state"], status["home"]) == ("running", str(served.home))
    repository = git_repository("shop")
    for number in range(3):
        repository.touch(f"Change {number}", "a.py", "b.py")
    assert served.good("import", "git", "--json", cwd=repository.path).shape["accepted"] == 3
    found = served.good("impact", "b.py", "--json", cwd=repository.path).shape
    assert found["affected"][0]["path"] == "a.py"
    token = (served.home / "token").read_text(encoding="utf-8").strip()
    over_http = httpx.get(
        f"{status['url']}/v1/projects/shop/impact",
        params={"path": "b.py"},
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
    ).json()
    assert over_http["affected"] == found["affected"]
    assert f"process {status['pid']}" in served.good("stop").out
    assert served.good("status", "--json").shape["state"] == "stopped"
    assert served.good("impact", "b.py", "--json", cwd=repository.path).shape["affected"] == found["affected"]


def test_a_second_service_on_the_same_home_is_refused(served: Any) -> None:
    for detach in ((), ("--detach",)):
        outcome = served("serve", *detach, "--port", "0")
        assert (outcome.status, outcome.out) == (1, "")
        assert "already" in outcome.err


def test_a_link_signs_a_browser_in_once(served: Any) -> None:
    link = served.good("open", "--no-browser").out.strip()
    with httpx.Client(trust_env=False) as browser:
        assert browser.get(link).status_code == 303
        assert browser.get(link).status_code == 401
    assert served.good("open", "--no-browser", "--json").shape["url"].startswith("http://127.0.0.1:")


def test_without_a_service_open_says_how_to_start_one(graphmem: Any) -> None:
    outcome = graphmem("open", "--no-browser")
    assert (outcome.status, outcome.out) == (1, "")
    assert "graphmem serve --detach" in outcome.err


def test_ending_what_does_not_run_is_no_fault(graphmem: Any) -> None:
    assert "No GraphMem service runs" in graphmem.good("stop").out
    assert graphmem.good("stop", "--json").shape["state"] == "stopped"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_service_in_the_foreground_says_where_it_is_and_ends_on_a_signal(
    graphmem: Any, number: int
) -> None:
    running = subprocess.Popen(
        graphmem.command("serve", "--port", "0"),
        env=graphmem.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with running:
        assert running.stdout is not None
        assert "http://127.0.0.1:" in running.stdout.readline()
        os.kill(running.pid, number)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (0, "", "")


def test_a_service_that_was_killed_holds_nobody_up(graphmem: Any) -> None:
    graphmem.good("serve", "--detach", "--port", "0")
    os.kill(graphmem.good("status", "--json").shape["pid"], signal.SIGKILL)
    assert graphmem.good("projects", "--json").shape["items"] == []
    assert graphmem.good("status", "--json").shape["state"] == "stopped"


def test_a_proxy_of_the_environment_has_no_part_in_it(served: Any) -> None:
    proxies = dict.fromkeys(("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:1")
    assert served("projects", "--json", environment=proxies).shape["items"] == []


# ---- doctor --------------------------------------------------------------------------------------


def outcomes(shape: Any) -> dict[str, str]:
    return {check["name"]: check["outcome"] for check in shape["checks"]}


def test_everything_in_order_is_said_so(graphmem: Any, git_repository: Callable[..., Any]) -> None:
    repository = git_repository("shop")
    repository.touch("Begin", "a.py")
    graphmem.good("import", "git", cwd=repository.path)
    found = outcomes(graphmem.good("doctor", "--json").shape)
    assert set(found.values()) == {"ok"}
    assert {
        "python",
        "isolation",
        "git",
        "sqlite",
        "home",
        "disk",
        "token",
        "service",
        "project shop",
        "graph shop",
    } <= set(found)
    assert "Everything is in order." in graphmem.good("doctor").out


def test_the_models_that_rank_are_told_of_and_can_be_switched_off(graphmem: Any) -> None:
    def ranker(**environment: str) -> dict[str, str]:
        checks = graphmem("doctor", "--json", environment=environment).shape["checks"]
        (found,) = [check for check in checks if check["name"] == "ranker"]
        return dict(found)

    assert ranker()["finding"].startswith("made on 20")
    switched_off = ranker(GRAPHMEM_RANKER="off")
    assert switched_off["outcome"] == "ok"
    assert "switched off by the setting `ranker`" in switched_off["finding"]


def test_a_home_not_made_yet_stays_unmade(graphmem: Any) -> None:
    assert set(outcomes(graphmem.good("doctor", "--json").shape).values()) == {"ok"}
    assert not graphmem.home.exists()


def test_a_token_others_may_read_is_a_problem(served: Any) -> None:
    (served.home / "token").chmod(0o644)
    outcome = served("doctor", "--json")
    assert outcome.status == 1
    (token,) = [check for check in outcome.shape["checks"] if check["name"] == "token"]
    assert (token["outcome"], "chmod 600" in token["remedy"]) == ("problem", True)


def test_a_missing_git_is_a_problem_with_its_remedy(graphmem: Any, tmp_path: Path) -> None:
    outcome = graphmem("doctor", environment={"PATH": str(tmp_path)})
    assert outcome.status == 1
    assert "Install git" in outcome.out
    assert "1 problem" in outcome.out


def test_a_project_whose_folder_is_gone_is_a_warning(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    repository = git_repository("shop")
    repository.touch("Begin", "a.py")
    graphmem.good("import", "git", cwd=repository.path)
    repository.path.rename(repository.path.with_name("moved"))
    outcome = graphmem("doctor", "--json")
    assert (outcome.status, outcomes(outcome.shape)["project shop"]) == (0, "warning")


def test_a_graph_is_made_anew_when_it_is_damaged_or_lost_and_the_doctor_says_so(
    graphmem: Any, git_repository: Callable[..., Any]
) -> None:
    repository = git_repository("shop")
    repository.touch("Begin", "a.py", "b.py")
    graphmem.good("import", "git", cwd=repository.path)

    def graph() -> str:
        checks = graphmem.good("doctor", "--json").shape["checks"]
        (found,) = [check for check in checks if check["name"] == "graph shop"]
        assert found["outcome"] == "ok"
        words: str = found["finding"]
        return words

    assert "up to date" in graph()
    (file,) = graphmem.home.glob("projects/*/graph.kuzu")
    file.write_bytes(b"no graph at all")
    assert "set aside and built anew" in graph()
    file.unlink()
    assert "up to date" in graph()
    assert file.exists()
