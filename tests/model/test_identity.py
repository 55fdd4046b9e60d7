"""The name of a cell says all that tells it from others, and is read back as it was."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.model.identity import (
    EMBEDDED,
    CellId,
    ClientName,
    case_id,
    cell_id,
    client_name,
    revision_of,
    schema_key,
    schema_name,
)

words = st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True)
cases = st.builds(lambda suite, own: f"{suite}/x::{own}", words, words)
versions = st.from_regex(r"[0-9]\.[0-9]{1,2}\.[0-9]([-+][a-z0-9.]{1,6})?", fullmatch=True)
solid = st.text(
    st.characters(exclude_categories=("Z", "C"), exclude_characters="\x85"), min_size=1, max_size=6
)
libraries = st.one_of(
    st.sampled_from(["go:nats.go", "python:nats-py", "reference", "go", "external", "to:x"]),
    st.lists(solid, min_size=1, max_size=3).map(" ".join),
)
clients = st.builds(
    ClientName, libraries, st.one_of(st.just(""), versions, st.sampled_from(["2", "10"]))
)
identities = st.builds(
    CellId,
    case=cases,
    server=st.one_of(versions, st.text(min_size=1, max_size=6).map(lambda s: f"2{s}".strip())),
    topology=st.sampled_from(["single", "cluster", "cluster-5", "hub-leaf", "any"]),
    provider=st.sampled_from([EMBEDDED, "container", "external", "reference", "path", "go"]),
    client=st.none() | clients,
    revision=st.one_of(st.just(""), st.builds(lambda s, n: f"{s}@{n}", words, st.integers(0, 99))),
    twin=st.one_of(st.just(""), words),
    peer=st.none() | clients,
)


@given(identities)
def test_a_name_is_read_back_as_it_was(identity: CellId) -> None:
    assert cell_id(str(identity)) == identity


@given(identities, identities)
def test_two_cells_never_share_a_name(one: CellId, other: CellId) -> None:
    assert (str(one) == str(other)) == (one == other)


@given(identities, identities, st.sampled_from([field.name for field in fields(CellId)]))
def test_another_value_of_one_field_is_another_name(one: CellId, other: CellId, name: str) -> None:
    changed = replace(one, **{name: getattr(other, name)})
    assert (str(one) == str(changed)) == (one == changed)


@given(clients)
def test_the_name_of_a_client_is_read_back_as_it_was(client: ClientName) -> None:
    assert client_name(str(client)) == client


def test_build_and_attempt_tell_plays_of_one_name_apart() -> None:
    identity = CellId("s::c", "2.15.1", "single")
    again = replace(identity, build="0123abcd", attempt=2)
    assert str(again) == str(identity)
    assert again != identity


@pytest.mark.parametrize(
    "name",
    [
        "adr-50/atomic/commit::gap-fails-the-batch @2.14.6 single",
        "adr-50/client/atomic::one-commit @2.15.1 single container go:nats.go@1.55.0 adr-50@10",
        "s::c+compressed @2.15.1 cluster external python:nats-py@2.9.0 to:rust:async-nats@0.40.0",
        "s::c @2.15.1 single path:/home/me/my adapters/x",
        "s::c @2.15.1 single reference@1",
        "schemas::pub-ack @2.15.1 any",
    ],
)
def test_names_read_as_people_write_them(name: str) -> None:
    assert str(cell_id(name)) == name


def test_a_word_that_would_be_read_as_another_axis_is_escaped() -> None:
    plain = CellId("s::c", "2.15.1", "single", client=ClientName("external"))
    assert str(plain) == "s::c @2.15.1 single %65xternal"
    assert str(replace(plain, client=ClientName("lib", "2"))) == "s::c @2.15.1 single %6Cib@2"
    assert cell_id(str(plain)).client == ClientName("external")


def test_parts_of_names() -> None:
    assert (case_id("a/b::c").suite, case_id("a/b::c").own) == ("a/b", "c")
    assert str(case_id("a/b::c")) == "a/b::c"
    assert revision_of("adr-50@10") == ("adr-50", 10)
    assert schema_name(schema_key("pub-ack")) == "pub-ack"
    assert schema_name("adr-50/atomic::pub-ack") is None
