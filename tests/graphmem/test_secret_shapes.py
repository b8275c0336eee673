"""The secret table on two sets of planted secrets and harmless lines, on hostile texts, and on itself.

In the sets a secret stands between ⟦ and ⟧ in pieces, `*w36` for 36 random signs: none is in the tree.
The second set, and the third of secrets alone, were each written before the table was tried on them; what was
missed then (5 of 51, 8 of 52) is known by kinds now.
"""

from __future__ import annotations

import random
import re
import string
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.secret_shapes import redact

SETS = Path(__file__).parent / "secret_sets"
LETTERS = {
    "A": string.ascii_uppercase + "234567",
    "d": string.digits,
    "h": "0123456789abcdef",
    "w": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
}
PLACEHOLDER = re.compile(r"\[redacted:([a-z-]+)\]")


def grown(line: str, seed: str) -> tuple[str, list[str]]:
    """Return a line of a set with its secrets put together, and the secrets."""
    chance, secrets = random.Random(seed), []

    def secret(match: re.Match[str]) -> str:
        made = ""
        for piece in match[1].split("|"):
            noise = re.fullmatch(r"\*([Adhwb])(\d+)", piece)
            made += "".join(chance.choices(LETTERS[noise[1]], k=int(noise[2]))) if noise else piece
        secrets.append(made)
        return made

    return re.sub("⟦(.*?)⟧", secret, line).replace("⏎", "\n"), secrets


def lines(name: str) -> list[str]:
    return (SETS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


def leaks(clean: str, secret: str, text: str) -> bool:
    """Whether six signs of a secret, or all of a shorter one, are still there but for what is said anyway."""
    rest, said = PLACEHOLDER.sub("\n", clean), text.replace(secret, "\n")
    pieces = {secret[at : at + 6] for at in range(max(len(secret) - 5, 1))}
    return any(piece in rest and piece not in said for piece in pieces)


# ---- the sets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_every_planted_secret_is_found_whatever_signs_it_has(name: str) -> None:
    planted = lines(f"planted_{name}")
    missed = [
        (line, clean)
        for line in planted
        for seed in range(10)
        for text, secrets in [grown(line, f"{name} {seed}")]
        for clean, counts in [redact(text)]
        if not counts or any(leaks(clean, secret, text) for secret in secrets)
    ]
    assert missed == []
    assert len(planted) >= 40


@pytest.mark.parametrize("name", ["first", "second"])
def test_of_two_hundred_harmless_lines_one_at_most_is_touched(name: str) -> None:
    harmless = lines(f"benign_{name}")
    touched = [(line, redact(line)[0]) for line in harmless if redact(line)[0] != line]
    assert len(touched) <= 1, touched
    assert len(set(harmless)) >= 200


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_all_lines_at_once_give_what_each_gives(name: str) -> None:
    texts = [grown(line, name)[0] for line in lines(f"planted_{name}")]
    assert redact("\n\n".join(texts))[0] == "\n\n".join(redact(text)[0] for text in texts)


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_what_is_redacted_stays_as_it_is(name: str) -> None:
    for line in lines(f"planted_{name}"):
        clean = redact(grown(line, name)[0])[0]
        assert redact(clean) == (clean, {})


# ---- what a placeholder keeps ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "clean", "kind"),
    [
        ("export DB_PASSWORD=⟦hun|ter|2⟧ # staging", "export DB_PASSWORD={} # staging", "password"),
        ('{"api_key": "⟦*h32⟧", "user": 1}', '{{"api_key": "{}", "user": 1}}', "secret"),
        (
            "git clone https://⟦gh|p_|*w36⟧@github.com/a/b",
            "git clone https://{}@github.com/a/b",
            "github-token",
        ),
        ("redis://:⟦*w20⟧@cache:6379/0", "redis://:{}@cache:6379/0", "password"),
        ("?token=⟦*h40⟧&page=2", "?token={}&page=2", "secret"),
        ("Pwd=⟦*h12⟧;Encrypt=True", "Pwd={};Encrypt=True", "password"),
        ("密码：⟦Ab|c123|45⟧，请保密", "密码：{}，请保密", "password"),
        ("login(password='⟦hun|ter|2⟧', retry=1)", "login(password='{}', retry=1)", "password"),
        ("card 4⟦|⟧", "card 4", ""),
        ("pay with ⟦4111|1111|1111|1111⟧, then", "pay with {}, then", "card"),
        ("4⟦|⟧242 4242 4242 4242 123 is on the back", "{} 123 is on the back", "card"),
    ],
)
def test_what_is_around_a_secret_is_kept(line: str, clean: str, kind: str) -> None:
    counts = {kind: 1} if kind else {}
    assert redact(grown(line, "kept")[0]) == (clean.format(f"[redacted:{kind}]"), counts)


def test_secrets_are_counted_by_kind() -> None:
    text, _ = grown("password=⟦*h12⟧ pwd=⟦*h14⟧ ⟦gh|p_|*w36⟧ <private>x</private>", "count")
    assert redact(text)[1] == {"password": 2, "github-token": 1, "private": 1}


def test_a_secret_longer_than_any_cap_leaves_no_tail() -> None:
    text, (secret,) = grown("token=⟦*w3000⟧ end", "long")
    clean, _ = redact(text)
    assert clean == "token=[redacted:secret] end"
    assert not leaks(clean, secret, text)


@pytest.mark.parametrize("kept", [40, 64, 65, 100, 130, 133])
def test_a_private_key_that_was_cut_is_left_out_as_far_as_it_goes(kept: int) -> None:
    body, _ = grown("⟦*b64⟧⏎⟦*b64⟧⏎⟦*b40⟧", "cut")
    text = f"use -----BEGIN PRIVATE KEY-----\n{body[:kept]}"
    assert redact(text)[0].rstrip() == "use [redacted:private-key]"


@pytest.mark.parametrize(
    "number",
    [
        "110101199003077711",
        "4242424242424241",
        "529.982.247-24",
        "900101-1234567",
        "000-12-3456",
        "666-12-3456",
    ],
)
def test_a_number_whose_checksum_is_wrong_is_no_id(number: str) -> None:
    assert redact(f"no. {number} failed") == (f"no. {number} failed", {})


# ---- private blocks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "clean", "count"),
    [
        ("a <private>b</private> c", "a  c", 1),
        ("a <PRIVATE>b</Private> c", "a  c", 1),
        ("a <private>b <private>c</private> d</private> e", "a  e", 1),
        ("a <private>b</private> c <private>d</private>", "a  c ", 2),
        ("a <private>b\nc", "a ", 1),
        ("a <private>b <private>c</private> d", "a ", 1),
        ("a </private> b", "a </private> b", 0),
        ("a < private >b</ private > c", "a  c", 1),
        ("<pri<private>x</private>vate>b</private> c", " c", 2),
        ("private members and <privates>", "private members and <privates>", 0),
        ("", "", 0),
    ],
)
def test_private_blocks_are_left_out(text: str, clean: str, count: int) -> None:
    assert redact(text) == (clean, {"private": count} if count else {})


# ---- all texts ---------------------------------------------------------------------------------

WORDS = """password token: = " ' :// : @ Bearer Basic -----BEGIN -----END PRIVATE KEY-----
<private> </private> [redacted: ] eyJ . 4242 hunter2 --secret 密码 ： sk- A1b2C3d4E5f6G7h8J9k0 AKIA \\ &
login ghp_ machine iban 110101199003077715 , ; ( ) { } < > / - _ % $ is"""
PIECES = st.sampled_from([*WORDS.split(), " ", "\n"])


@given(st.lists(PIECES | st.text(max_size=8), max_size=30).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    clean, counts = redact(text)
    assert redact(clean) == (clean, {})
    assert bool(counts) == (clean != text)


@given(st.text(alphabet=string.ascii_letters + string.digits + "+=_-!$", min_size=8, max_size=80))
def test_a_password_in_an_address_never_stays(secret: str) -> None:
    assert redact(f"postgres://app:9x{secret}@db/shop")[0] == "postgres://app:[redacted:password]@db/shop"


# ---- time --------------------------------------------------------------------------------------

HOSTILE = {
    "private keys that never come": "-----BEGIN PRIVATE KEY-----",
    "headers of a private key": "-----BEGIN PRIVATE KEY-----\nA: b",
    "begun tokens": "ghp_eyJsk-AKIAxoxb-glpat-AIza",
    "one endless token": "eyJ",
    "dotted tokens": "eyJaaaaaaaaaa.",
    "addresses": "://a:",
    "address without end": "://aaaaaaaaaaaaaaaaaaaaaa:bbbbbbbbbbbbbbbbbbbbbbbb",
    "assignments": "password=",
    "assignments of assignments": 'password="token:',
    "options": "--secret-",
    "dashes": "-",
    "quotes": "password '\\\"",
    "logins": "login machine default password ",
    "commands": "mysql curl -u sshpass -p redis-cli ",
    "private": "<private>",
    "half private": "<private",
    "closing private": "</private>",
    "digits": "4",
    "groups of digits": "4242 ",
    "digits and dashes": "4242-",
    "ids": "110101199003077715",
    "Chinese": "密码密钥令牌",
    "Chinese words": "密码abc是",
    "brackets": "token: [redacted:",
    "spaces": "token \t ",
    "basic": "Basic basic authorization: ",
    "accounts": "iban DE89 3704 0044 0532 0130 00 ",
    "words": "secret-secret_pass",
}


def effort(text: str) -> float:
    """Processor time for one text, the least of three runs."""
    spent = []
    for _ in range(3):
        began = time.process_time()
        redact(text)
        spent.append(time.process_time() - began)
    return min(spent)


@pytest.mark.parametrize("pattern", HOSTILE.values(), ids=HOSTILE)
def test_eight_times_the_text_takes_not_much_more_than_eight_times_the_effort(pattern: str) -> None:
    short, long = (pattern * (size // len(pattern)) for size in (8_192, 65_536))
    redact(short)
    assert effort(long) < 24 * max(effort(short), 0.0005)
