"""The stored form of an observation: what goes in comes out again."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import Fact, FactKind, Observation, Rename, Scope, TaskState
from graphmem.record import decode, encode, storable

text = st.text(max_size=30)
texts = st.lists(text, max_size=4).map(tuple)
observations = st.builds(
    Observation,
    id=st.text(min_size=1, max_size=30),
    session=text,
    at=st.floats(0, 4e9),
    source=text,
    actor=text,
    branch=st.none() | text,
    type=text,
    title=text,
    intent=text,
    narrative=text,
    facts=st.lists(
        st.builds(
            Fact,
            text,
            st.sampled_from(FactKind),
            st.none() | st.sampled_from(TaskState),
            st.sampled_from(Scope),
        ),
        max_size=3,
    ).map(tuple),
    concepts=texts,
    files_read=texts,
    files_modified=texts,
    files_added=texts,
    files_deleted=texts,
    renames=st.lists(st.builds(Rename, text, text), max_size=3).map(tuple),
    reference=st.none() | text,
    notes=texts,
)


@given(observations)
def test_an_observation_comes_back_as_it_was(observation: Observation) -> None:
    assert decode(observation.id, observation.at, encode(observation)) == observation


def test_what_is_not_said_takes_no_room() -> None:
    assert json.loads(encode(Observation(id="a", session="s", at=1.0))) == {"session": "s"}


def test_text_is_stored_as_it_reads() -> None:
    assert "支付" in encode(Observation(id="a", session="s", at=1.0, title="支付"))


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=30))
def test_what_is_storable_is_valid_text_of_the_same_length(raw: str) -> None:
    kept = storable(raw)
    kept.encode()
    assert "\x00" not in kept
    assert len(kept) == len(raw)
    assert all(a == b for a, b in zip(raw, kept, strict=True) if b != "\ufffd")


def test_nul_and_lone_surrogates_become_replacement_characters() -> None:
    assert storable("a\x00b\ud800c\udfffd") == "a\ufffdb\ufffdc\ufffdd"
