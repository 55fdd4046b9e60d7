"""Target strings: what can be asked for, and how a mistake is answered."""

from __future__ import annotations

import pytest

from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.releases import known_releases
from jetproof.targets.spec import Address, address, expand, parse, parse_list


@pytest.mark.parametrize(
    ("text", "provider", "version", "pinned"),
    [
        ("2.15.1", "embedded", "2.15.1", False),
        ("embedded:2.14.6", "embedded", "2.14.6", True),
        ("container:2.14.6", "container", "2.14.6", True),
        ("reference:2.15.1", "reference", "2.15.1", True),
        ("cover:2.15.1", "cover", "2.15.1", True),
        (" 2.12.0 ", "embedded", "2.12.0", False),
    ],
)
def test_a_release_and_its_provider(text: str, provider: str, version: str, pinned: bool) -> None:
    spec = parse(text)

    assert (spec.provider, str(spec.version), spec.pinned) == (provider, version, pinned)
    assert str(spec) == text.strip()


def test_a_build_by_path() -> None:
    spec = parse("path:./build/nats-server")

    assert (spec.provider, spec.path) == ("path", "./build/nats-server")
    assert str(spec) == "path:./build/nats-server"


@pytest.mark.parametrize("path", ["../nats-server", "./nats-server", ".", "/src/2.15.1"])
def test_a_covered_checkout_by_path(path: str) -> None:
    spec = parse(f"cover:{path}")

    assert (spec.provider, spec.path, spec.version) == ("cover", path, None)
    assert str(spec) == f"cover:{path}"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("nats://127.0.0.1:4333", Address("127.0.0.1", 4333)),
        ("nats://localhost", Address("localhost", 4222)),
        ("nats://me:p%40ss@host:1", Address("host", 1, "me", "p@ss")),
        ("nats://[::1]:4222", Address("::1", 4222)),
    ],
)
def test_an_external_server_by_url(url: str, expected: Address) -> None:
    assert parse(url).provider == "external"
    assert address(url) == expected


def test_a_password_is_never_shown() -> None:
    spec = parse("nats://me:secret@host:4222")

    assert str(spec) == "nats://me:***@host:4222"
    with pytest.raises(JetproofError) as raised:
        parse("nats://me:secret@host:4222/path")
    assert "secret" not in str(raised.value)


def test_a_pattern_expands_to_the_known_releases_of_the_line() -> None:
    expanded = expand(parse("container:2.12.*"), known_releases())

    assert [str(spec) for spec in expanded] == [
        f"container:2.12.{patch}" for patch in range(16) if patch != 13
    ]


def test_a_range_expands_oldest_first() -> None:
    expanded = expand(parse(">=2.14.8 <2.15.1"), known_releases())

    assert [str(spec.version) for spec in expanded] == ["2.14.8", "2.14.9", "2.15.0"]


def test_latest_is_the_newest_known_release() -> None:
    assert expand(parse("latest"), known_releases())[0].version == known_releases()[-1]
    assert str(expand(parse("container:latest"), [Version(1, 2, 3)])[0]) == "container:1.2.3"


def test_builds_and_urls_stand_for_themselves() -> None:
    for text in ("path:./nats-server", "nats://127.0.0.1:4222"):
        assert expand(parse(text), known_releases()) == [parse(text)]


def test_a_list_of_targets() -> None:
    specs = parse_list("2.12.*, >=2.14.0,<2.14.3 ,2.15.1,path:./nats-server")

    assert [str(spec) for spec in specs] == [
        "2.12.*",
        ">=2.14.0 <2.14.3",
        "2.15.1",
        "path:./nats-server",
    ]
    assert [str(spec) for spec in parse_list(["2.15.1", "2.14.6,2.12.0"])] == [
        "2.15.1",
        "2.14.6",
        "2.12.0",
    ]


def test_only_an_unpinned_release_may_get_another_provider() -> None:
    assert parse("2.15.1").with_provider("container").provider == "container"
    assert parse("embedded:2.15.1").with_provider("container").provider == "embedded"


@pytest.mark.parametrize("text", ["2.13.0", "2.12.13", "2.13.*", ">=3.0.0", "container:2.15.99"])
def test_no_such_release_names_the_ones_there_are(text: str) -> None:
    with pytest.raises(JetproofError, match="no such release") as raised:
        expand(parse(text), known_releases())
    assert "2.10.25, 2.10.26" in raised.value.hint
    assert "2.15.1" in raised.value.hint
    assert raised.value.phase == "plan"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("  ", "it is empty"),
        ("newest", "is not a version range"),
        ("podman:2.15.1", "no provider 'podman'"),
        ("path:", "the path is empty"),
        ("cover:nats-server", "a checkout is cover:./nats-server"),
        ("embedded:", "is not a version range"),
        ("http://host:80", "only nats://"),
        ("tls://host:4222", "only nats://"),
        ("nats://", "the host is missing"),
        ("nats://host:port", "Port could not be cast"),
        ("nats://host:99999", "Port out of range"),
        ("nats://host:1/stream", "nothing may follow the port"),
    ],
)
def test_a_mistake_is_named_and_the_forms_are_listed(text: str, why: str) -> None:
    with pytest.raises(JetproofError, match=why) as raised:
        parse(text)
    assert "nats://host:port" in raised.value.hint


def test_an_empty_list_is_a_mistake() -> None:
    with pytest.raises(JetproofError, match="names no target"):
        parse_list(" , ")
