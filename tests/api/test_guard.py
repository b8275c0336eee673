"""Who may ask the service, and who is sent away before anything of the request is read."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.doorkeeper import CODE_SECONDS, COOKIE_SECONDS, Doorkeeper

ROUTES = ["/", "/docs", "/openapi.json", "/metrics", "/v1/projects", "/v1/projects/none/stats", "/nowhere"]
OPEN_ROUTES = ["/healthz", "/readyz"]
TOKEN = "a-token-for-the-tests"


def is_problem(answer: httpx.Response, status: int) -> bool:
    document = answer.json()
    return (
        answer.status_code == status == document["status"]
        and answer.headers["content-type"] == "application/problem+json"
    )


@pytest.fixture
def stranger(service: Any) -> Any:
    with service.stranger() as client:
        yield client


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "HEAD"])
def test_without_the_token_every_route_is_closed(stranger: httpx.Client, method: str, path: str) -> None:
    answer = stranger.request(method, path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert method == "HEAD" or is_problem(answer, 401)


@pytest.mark.parametrize("path", OPEN_ROUTES)
def test_health_and_readiness_need_no_token(stranger: httpx.Client, path: str) -> None:
    assert stranger.get(path).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        "{token}x",
        "Bearer",
        "Bearer {token}x",
        "Bearer x{token}",
        "Basic {token}",
        "{token}",
        "Bearer {token},{token}",
    ],
)
def test_a_wrong_token_is_no_token(service: Any, stranger: httpx.Client, header: str) -> None:
    answer = stranger.get("/v1/projects", headers={"Authorization": header.format(token=service.token)})
    assert is_problem(answer, 401)


def test_the_scheme_may_be_written_in_any_case(service: Any, stranger: httpx.Client) -> None:
    answer = stranger.get("/v1/projects", headers={"Authorization": f"bEARER {service.token}"})
    assert answer.status_code == 200


def test_a_token_in_the_address_does_not_count(service: Any, stranger: httpx.Client) -> None:
    assert is_problem(stranger.get("/v1/projects", params={"token": service.token}), 401)


@pytest.mark.parametrize("path", [*ROUTES, *OPEN_ROUTES, "/open?code=x"])
@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}",
     "127.0.0.1:{port}@evil.example", "0.0.0.0:{port}", "127.0.0.1.:{port}", "", "::1:{port}"],
)  # fmt: skip
def test_a_foreign_host_is_sent_away_from_every_route(service: Any, host: str, path: str) -> None:
    answer = service.client.get(path, headers={"Host": host.format(port=service.port)})
    assert is_problem(answer, 403)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "LOCALHOST"])
def test_the_names_of_the_loopback_are_welcome(service: Any, host: str) -> None:
    answer = service.client.get("/v1/projects", headers={"Host": f"{host}:{service.port}"})
    assert answer.status_code == 200


@pytest.mark.parametrize("path", [*ROUTES, *OPEN_ROUTES, "/open?code=x"])
@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1", "https://127.0.0.1:{port}",
     "http://localhost:{port}.evil.example", "", "http://localhost:{port}/"],
)  # fmt: skip
def test_a_page_of_another_origin_is_sent_away_from_every_route(service: Any, origin: str, path: str) -> None:
    answer = service.client.get(path, headers={"Origin": origin.format(port=service.port)})
    assert is_problem(answer, 403)


def test_the_services_own_pages_may_ask(service: Any) -> None:
    for host in ("127.0.0.1", "localhost", "[::1]"):
        answer = service.client.get("/v1/projects", headers={"Origin": f"http://{host}:{service.port}"})
        assert answer.status_code == 200


@pytest.mark.parametrize(
    "hosts", [[], ["127.0.0.1:{port}", "evil.example"], ["evil.example", "127.0.0.1:{port}"]]
)
def test_no_host_or_two_hosts_never_pass(service: Any, hosts: list[str]) -> None:
    lines = "".join(f"Host: {host.format(port=service.port)}\r\n" for host in hosts)
    lines += f"Authorization: Bearer {service.token}\r\nConnection: close\r\n"
    request = f"GET /v1/projects HTTP/1.1\r\n{lines}\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
        connection.sendall(request.encode())
        with connection.makefile("rb") as stream:
            status = stream.readline().decode()
    assert status.split()[1] in {"400", "403"}


def test_two_origins_of_which_one_is_foreign_never_pass(service: Any) -> None:
    own = f"http://127.0.0.1:{service.port}"
    for pair in ([own, "http://evil.example"], ["http://evil.example", own]):
        answer = service.client.get("/v1/projects", headers=[("Origin", origin) for origin in pair])
        assert is_problem(answer, 403)


def test_the_one_time_link_signs_a_browser_in_once(service: Any) -> None:
    link = service.client.post("/v1/links").json()
    with service.stranger() as browser:
        answer = browser.get(link["url"])
        assert answer.status_code == 303
        assert answer.headers["location"] == "/docs"
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert "Path=/" in cookie
        assert service.token not in cookie
        for path in ("/docs", "/v1/projects", "/metrics"):
            assert browser.get(path).status_code == 200
        with service.stranger() as other:
            assert is_problem(other.get(link["url"]), 401)
            assert is_problem(other.get("/docs"), 401)


@pytest.mark.parametrize("code", ["", "wrong", "é", "%00", "a" * 200])
def test_a_wrong_code_signs_nobody_in(service: Any, stranger: httpx.Client, code: str) -> None:
    answer = stranger.get(f"/open?code={code}")
    assert is_problem(answer, 401)
    assert "set-cookie" not in answer.headers


def test_a_signed_in_browser_is_refused_what_another_port_of_the_host_asks(service: Any) -> None:
    with service.stranger() as browser:
        browser.get(service.client.post("/v1/links").json()["url"])
        for site, status in (("same-origin", 200), ("none", 200), ("same-site", 401), ("cross-site", 401)):
            answer = browser.get("/v1/projects", headers={"Sec-Fetch-Site": site})
            assert answer.status_code == status, site


def test_a_wrong_token_is_not_mended_by_a_good_cookie(service: Any) -> None:
    with service.stranger() as browser:
        browser.get(service.client.post("/v1/links").json()["url"])
        assert is_problem(browser.get("/v1/projects", headers={"Authorization": "Bearer wrong"}), 401)


def test_a_stranger_cannot_make_a_link(stranger: httpx.Client) -> None:
    assert is_problem(stranger.post("/v1/links"), 401)


def test_pages_load_nothing_from_anywhere(service: Any) -> None:
    for path in ("/", "/docs"):
        answer = service.client.get(path)
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        for outside in ("http://", "https://", "<script", "<link", "<img"):
            assert outside not in answer.text


def test_the_token_is_in_no_answer(service: Any) -> None:
    for path in [*ROUTES, *OPEN_ROUTES, "/healthz?nonce=x"]:
        answer = service.client.get(path)
        assert service.token not in answer.text + str(answer.headers)


def test_a_web_socket_is_refused(service: Any) -> None:
    answer = service.client.get(
        "/v1/projects",
        headers={
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        },
    )
    assert answer.status_code in {200, 400, 403, 426}


def test_the_token_file_is_the_owners_alone(service: Any) -> None:
    assert Path(service.home, "token").stat().st_mode & 0o077 == 0


class Hand:
    """A clock that is set by hand."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_code_and_a_cookie_end_with_their_time() -> None:
    clock = Hand()
    keeper = Doorkeeper(TOKEN, 7832, clock)
    (late, _), (timely, expires) = keeper.new_code(), keeper.new_code()
    assert expires == clock.now + CODE_SECONDS
    cookie = f"{keeper.cookie_name}={keeper.cookie_value()}".encode()
    assert keeper.take_code(timely)
    assert not keeper.take_code(timely)
    clock.now += CODE_SECONDS
    assert not keeper.take_code(late)
    assert keeper.knows_cookie(cookie)
    clock.now += COOKIE_SECONDS
    assert not keeper.knows_cookie(cookie)


def test_a_new_token_ends_all_cookies_and_a_cookie_is_of_one_port() -> None:
    cookie = Doorkeeper(TOKEN, 7832).cookie_value()
    assert Doorkeeper(TOKEN, 7832).knows_cookie(f"graphmem-7832={cookie}".encode())
    assert not Doorkeeper(TOKEN + "2", 7832).knows_cookie(f"graphmem-7832={cookie}".encode())
    assert not Doorkeeper(TOKEN, 7833).knows_cookie(f"graphmem-7832={cookie}".encode())


def test_many_links_are_not_kept_for_ever() -> None:
    keeper = Doorkeeper(TOKEN, 7832)
    codes = [keeper.new_code()[0] for _ in range(200)]
    assert keeper.take_code(codes[-1])
    assert not keeper.take_code(codes[0])


@given(st.binary(max_size=300))
def test_no_forged_cookie_is_known_and_none_is_a_fault(header: bytes) -> None:
    keeper = Doorkeeper(TOKEN, 7832)
    assert not keeper.knows_cookie(header)
    assert not keeper.knows_cookie(b"graphmem-7832=" + header)


@given(st.binary(max_size=100))
def test_no_other_bearer_is_known(credentials: bytes) -> None:
    keeper = Doorkeeper(TOKEN, 7832)
    assert keeper.knows_bearer(b"Bearer " + credentials) == (credentials.strip() == TOKEN.encode())
