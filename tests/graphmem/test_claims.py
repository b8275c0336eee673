"""What a sentence claims of a value: every wording in both languages, and what claims nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.speech.claims import LONGEST, Claim, Reach, claims, is_hinted, reported


def claimed(sentence: str, *, is_title: bool = False) -> tuple[str | None, str, str | None, str | None]:
    """The first claim: the words of its subject, its attribute, the value and the one that is gone."""
    first = claims(sentence, is_title=is_title)[0]
    subject = None if first.subject is None else " ".join(first.subject)
    return subject, first.attribute, first.value, first.old


@pytest.mark.parametrize(
    ("sentence", "subject", "attribute", "value", "old"),
    [
        ("access_token TTL: 3600 -> 900", "access-token", "ttl", "900", "3600"),
        ("search uses GET instead of POST", "search", "method", "get", "post"),
        ("the dev server runs on port 8001", "dev server", "port", "8001", None),
        ("port 8001", "", "port", "8001", None),
        ("API base is /v1", "api", "version", "v1", None),
        ("API base moved to /v2", "api", "version", "v2", None),
        ("The API base was moved from /v1 to /v2", "api", "version", "v2", "v1"),
        ("the auth API moved to v2", "api auth", "version", "v2", None),
        ("We switched the session store from Redis to Postgres", "session", "store", "postgres", "redis"),
        ("We switched from npm to pnpm", "project", "use", "pnpm", "npm"),
        ("Use pnpm rather than npm as the package manager", "package", "manager", "pnpm", "npm"),
        ("For search, use GET instead of POST", "search", "method", "get", "post"),
        ("Checkout no longer uses Stripe", "checkout", "use", None, "stripe"),
        ("search no longer uses POST but GET", "search", "method", "get", "post"),
        ("We stopped using Redis for sessions", "session", "use", None, "redis"),
        ("The upload limit is now 25 MB", "upload", "limit", "25 mb", None),
        ("The port used to be 8000 but is now 8001", "", "port", "8001", "8000"),
        ("the users table was renamed to accounts", "user", "table", "accounts", None),
        ("Renamed the default branch from master to main", "default", "branch", "main", "master"),
        ("/v1/search is deprecated in favour of /v2/search", "search v1", "path", "/v2/search", "/v1/search"),
        ("Replaced POST with GET in search", "search", "method", "get", "post"),
        ("GET replaces POST in search", "search", "method", "get", "post"),
        ("default branch is main", "default", "branch", "main", None),
        ("default branch: main instead of master", "default", "branch", "main", "master"),
        ("Raised MAX_RETRIES from 3 to 5", "max retry", "value", "5", "3"),
        ("We raised the upload limit to 25 MB", "upload", "limit", "25 mb", None),
        ("The worker timeout was lowered to 20 s", "worker", "timeout", "20 s", None),
        ("Upgraded Node from 18 to 20", "node", "version", "20", "18"),
        ("The worker has a timeout of 30 s", "worker", "timeout", "30 s", None),
        ("Access tokens expire after 15 minutes", "access-token", "ttl", "15 minute", None),
        ("The nightly backup runs at 02:00", "backup nightly", "schedule", "02:00", None),
        ("indent with 4 spaces", "", "indent", "4 space", None),
        ("I prefer double quotes over single quotes", "", "quote", "double", None),
        ("The session database is Postgres", "session", "database", "postgres", None),
        ("Sessions are stored in Redis", "session", "stored in", "redis", None),
        ("Notes are now encrypted with XChaCha20", "note", "encrypted with", "xchacha20", None),
        ("PostgreSQL 14 is our database", "", "database", "postgresql 14", None),
        ("The request timeout is 60 s for uploads", "request upload", "timeout", "60 s", None),
        ("In production, the request timeout is 60 s", "production request", "timeout", "60 s", None),
        ("NEW_CART is disabled", "cart new", "value", "off", None),
        ("We use Redis for sessions", "session", "use", "redis", None),
        ("moved to /v2", None, "version", "v2", None),
    ],
)
def test_an_english_wording_gives_subject_attribute_and_values(
    sentence: str, subject: str | None, attribute: str, value: str | None, old: str | None
) -> None:
    assert claimed(sentence) == (subject, attribute, value, old)


@pytest.mark.parametrize(
    ("sentence", "subject", "attribute", "value", "old"),
    [
        ("访问令牌有效期是 3600 秒", "access-token", "ttl", "3600 秒", None),
        ("访问令牌有效期改为 900 秒", "access-token", "ttl", "900 秒", None),
        ("端口改成 8001", "", "port", "8001", None),
        ("端口：8000 -> 8001", "", "port", "8001", "8000"),
        ("接口前缀从 /v1 改到 /v2", "api", "version", "v2", "v1"),
        ("把接口前缀改成 /v2", "api", "version", "v2", None),
        ("会话数据由 Redis 迁移到 Postgres", "session 数据", "value", "postgres", "redis"),
        ("搜索接口用 GET 代替 POST", "search", "method", "get", "post"),
        ("搜索接口用 GET，不用 POST", "search", "method", "get", "post"),
        ("搜索的 POST 被 GET 取代", "search", "method", "get", "post"),
        ("缓存不再使用 Redis，改用 Memcached", "", "cache", "memcached", "redis"),
        ("缓存改用 Memcached，不再使用 Redis", "", "cache", "memcached", "redis"),
        ("我们不再使用 Redis", "project", "use", None, "redis"),
        ("默认分支现在是 main", "default", "branch", "main", None),
        ("端口原来是 8000，现在是 8001", "", "port", "8001", "8000"),
        ("/v1/search 已废弃，改用 /v2/search", "search v1", "path", "/v2/search", "/v1/search"),
        ("users 表重命名为 accounts", "user 表", "name", "accounts", None),
        ("开发服务器运行在 8001 端口", "开发服务器", "port", "8001", None),
        ("上传大小上限提高到 25 MB", "upload 大小", "limit", "25 mb", None),
        ("日志级别调整为 debug", "logging", "level", "debug", None),
        ("包管理器换成 pnpm", "", "manager", "pnpm", None),
        ("缩进用 4 个空格", "", "indent", "4 space", None),
        ("已迁移到 /v2", None, "version", "v2", None),
    ],
)
def test_a_chinese_wording_gives_subject_attribute_and_values(
    sentence: str, subject: str | None, attribute: str, value: str | None, old: str | None
) -> None:
    assert claimed(sentence) == (subject, attribute, value, old)


@pytest.mark.parametrize(
    ("title", "subject", "attribute", "value", "old"),
    [
        ("Raise the upload limit to 25 MB", "upload", "limit", "25 mb", None),
        ("Move the API base to /v2", "api", "version", "v2", None),
        ("Bump lodash from 4.17.20 to 4.17.21", "lodash", "version", "4.17.21", "4.17.20"),
        ("fix(auth): lower the token TTL from 3600 to 900", "auth token", "ttl", "900", "3600"),
        ("Replace npm with pnpm", "", "use", "pnpm", "npm"),
        ("将默认分支改为 main", "default", "branch", "main", None),
    ],
)
def test_a_title_that_orders_a_change_reports_it(
    title: str, subject: str, attribute: str, value: str, old: str | None
) -> None:
    assert claimed(title, is_title=True) == (subject, attribute, value, old)


@pytest.mark.parametrize(
    "sentence",
    [
        "Raise the upload limit to 25 MB",
        "Should the port be 8001?",
        "what is the TTL of the token",
        "If the port is 8001, the tests fail",
        "Unless the port is 8001 nothing works",
        "TODO: change the port to 8001",
        "For example, the port is 8001",
        "He said the port is 8001",
        "The docs say the port is 8001",
        "The port is not 8001",
        "The port hasn't moved to 8001",
        "We have not moved the API base to /v2",
        "Previously the port was 8000",
        "Before, the TTL is 3600",
        "The port is configured in config.toml",
        "The timeout is too short",
        "The username is unique",
        "The database is slow",
        "The default branch is protected",
        "The request timeout is read from the environment",
        "Moved the helpers to the top of the file",
        "The button moved to the left",
        "It is 42",
        "Great, thanks!",
        "I changed my mind",
        "Add a test for the port",
        "端口是多少？",
        "如果端口是 8001 就会报错",
        "接口前缀还没有改成 /v2",
        "接口前缀不是 /v2",
        "请把端口改成 8001",
        "他说端口改成 8001 了",
        "上传超时太短了",
        "以服务端数量为准",
        "多语言：价格和日期按地区格式化",
        "好的，谢谢",
        "",
    ],
)
def test_talk_questions_orders_conditions_and_denials_claim_nothing(sentence: str) -> None:
    assert claims(sentence) == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Maybe the API base is /v2",
        "The API base will be /v2",
        "We might move the API base to /v2, so the API base is /v2",
        "I think the API base is /v2",
        "For now the API base is /v2",
        "接口前缀可能是 /v2",
        "接口前缀暂定为 /v2",
        "计划把接口前缀改成 /v2",
    ],
)
def test_what_is_supposed_or_planned_is_claimed_tentatively_under_the_same_name(sentence: str) -> None:
    found = claims(sentence)
    assert [(one.subject, one.value, one.tentative) for one in found] == [(("api",), "v2", True)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("access_token TTL is 900", "访问令牌有效期是 900"),
        ("the TTL of access tokens is 900", "The access token's TTL is 900"),
        ("The API base is /v2", "接口前缀是 /v2"),
        ("search uses GET", "搜索接口用 GET"),
        ("The search endpoint uses GET", "search is now GET"),
        ("The cache is Redis", "缓存用 Redis"),
        ("the timeout of uploads is 30 s", "上传超时是 30 秒"),
        ("upload timeout: 30 s", "The upload timeout is 30 s"),
    ],
)
def test_two_wordings_of_one_thing_have_one_name(one: str, other: str) -> None:
    (first, *_), (second, *_) = claims(one), claims(other)
    assert (first.subject, first.attribute) == (second.subject, second.attribute)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the dev port is 8000", "the admin port is 8000"),
        ("checkout TTL is 900", "token TTL is 900"),
        ("the upload timeout is 30 s", "the upload limit is 30"),
        ("the token TTL is 900", "the refresh token TTL is 900"),
        ("Sessions are stored in Redis", "Orders are stored in Redis"),
        ("令牌有效期是 900", "会话有效期是 900"),
        ("测试环境的端口是 8000", "生产环境的端口是 8000"),
    ],
)
def test_two_things_have_two_names(one: str, other: str) -> None:
    (first, *_), (second, *_) = claims(one), claims(other)
    assert (first.subject, first.attribute) != (second.subject, second.attribute)


def test_one_sentence_can_claim_several_things() -> None:
    found = claims("The API base is /v2, and the dev port is 8001")
    assert [(one.attribute, one.value) for one in found] == [("version", "v2"), ("port", "8001")]


def test_what_a_value_names_besides_takes_no_place() -> None:
    app, tauri = claims("The app is built on Tauri 1.6")
    assert (app.attribute, app.value, app.reach) == ("built on", "tauri 1.6", Reach.NAMED)
    assert tauri == Claim(("tauri",), "version", "1.6", reach=Reach.NOTHING)


def test_only_a_word_of_change_lets_any_value_take_the_place() -> None:
    reaches = {
        "The timeout is 30 s": Reach.ALIKE,
        "The timeout was raised to 30 s": Reach.ANY,
        "We use Redis": Reach.NAMED,
        "Checkout uses Stripe": Reach.NAMED,
        "the size is 20": Reach.NAMED,
    }
    assert {sentence: claims(sentence)[0].reach for sentence in reaches} == reaches


SCRAPS = """the port|is|8001|moved|to|/v2|instead of|POST|GET|->|:|=|no longer|uses|from|and|,|.|now|if|not
|端口|是|改成|从|到|不再使用|代替|，|。|用|，改用|we|switched|renamed|for|in|TTL|3600 s|”|（|的""".replace(
    "\n", ""
).split("|")


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(SCRAPS), max_size=30).map(" ".join),
        st.lists(st.sampled_from(SCRAPS), max_size=30).map("".join),
    ),
    st.booleans(),
)
def test_whatever_is_written_gives_few_claims_in_plain_form(text: str, is_title: bool) -> None:
    found = claims(text, is_title=is_title)
    assert len(found) <= len(text)
    for one in found:
        assert one.value is not None or one.old is not None
        assert one.subject is None or list(one.subject) == sorted(set(one.subject))


@pytest.mark.parametrize(
    "text",
    [
        "to " * 100,
        "from to " * 40,
        "is now " * 40,
        "moved to moved to " * 16,
        "a -> " * 60,
        "从到改成" * 60,
        "，改用" * 90,
        "not instead of " * 20,
        "x" * LONGEST,
        "is " * 200_000,
    ],
)
def test_a_hostile_sentence_claims_nothing_and_comes_to_an_end(text: str) -> None:
    assert [one for one in claims(text) if one.subject] == []


def test_most_texts_are_passed_over_at_a_glance() -> None:
    assert not is_hinted("Add retry tests")
    assert is_hinted("The port is 8001")


def test_of_a_commits_title_only_a_change_is_a_statement() -> None:
    assert reported("Add support for dark mode to the editor") == []
    assert reported("The port is 8001") == []
    assert [one.value for one in reported("fix(api): move the API base to /v2")] == ["v2"]
    assert [one.value for one in reported("把默认分支改为 main")] == ["main"]
