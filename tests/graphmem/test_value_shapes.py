"""What kind of thing a value is, and whether two values say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.speech.value_shapes import Shape, exchangeable, same, shaped


@pytest.mark.parametrize(
    ("text", "plain", "shape"),
    [
        ("`900`", "900", Shape.NUMBER),
        ("3,600", "3600", Shape.NUMBER),
        ("3 次", "3", Shape.NUMBER),
        ("30%", "30 %", Shape.NUMBER),
        ("100 requests per minute", "100 request per minute", Shape.NUMBER),
        ("15 minutes", "15 minute", Shape.DURATION),
        ("30 秒", "30 秒", Shape.DURATION),
        ("10 MB", "10 mb", Shape.SIZE),
        ("02:00", "02:00", Shape.TIME),
        ("/v2/", "v2", Shape.VERSION),
        ("version 2", "v2", Shape.VERSION),
        ("1.2.3", "1.2.3", Shape.VERSION),
        ("GET", "get", Shape.METHOD),
        ("release/1.x", "release/1.x", Shape.PATH),
        ("config.toml", "config.toml", Shape.PATH),
        ("localhost:8080", "localhost:8080", Shape.PATH),
        ("enabled", "on", Shape.SWITCH),
        ("关闭", "off", Shape.SWITCH),
        ("the main branch.", "main branch", Shape.WORD),
        ("4 spaces", "4 space", Shape.WORD),
    ],
)
def test_a_value_has_a_plain_form_and_a_shape(text: str, plain: str, shape: Shape) -> None:
    found = shaped(text)
    assert (found.text, found.shape) == (plain, shape)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3600", "3600 second"),
        ("900 s", "15 minute"),
        ("1 hour", "3600 秒"),
        ("10 mb", "10000 kb"),
        ("20", "v20"),
        ("off", "off"),
    ],
)
def test_two_wordings_of_one_value_are_the_same(one: str, other: str) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3600", "900"),
        ("30 s", "30 minute"),
        ("30 s", "30 mb"),
        ("get", "post"),
        ("v1", "v2"),
        ("15", "15 px x"),
    ],
)
def test_other_values_are_not_the_same(one: str, other: str) -> None:
    assert same(one, other) is (one == "15"), "a number without a unit agrees with any unit"


@pytest.mark.parametrize(
    ("newer", "older", "fits"),
    [
        ("900", "3600 second", True),
        ("unlimited", "10 mb", True),
        ("release/2.x", "main", True),
        ("on", "off", True),
        ("30 s", "30 mb", False),
        ("02:00", "8000", False),
        ("post", "elasticsearch", False),
        ("configurable", "30 s", False),
        ("on", "30 s", False),
    ],
)
def test_only_values_of_one_kind_can_stand_in_each_others_place(newer: str, older: str, fits: bool) -> None:
    assert exchangeable(newer, older) is fits


@given(st.text(max_size=60))
def test_the_plain_form_of_a_plain_form_is_itself(text: str) -> None:
    found = shaped(text)
    assert shaped(found.text).text == found.text
    assert same(found.text, found.text)
