"""A server that somebody else runs: used as it is, and what it cannot be given is said before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.external import unavailable
from jetproof.targets.node import StartError
from jetproof.targets.ports import LOOPBACK, free_port
from jetproof.targets.releases import binary_releases
from jetproof.targets.spec import parse
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import start_target

from .conftest import Play
from .helpers import api, make_stream

URL = "nats://127.0.0.1:4222"


def test_an_external_server_is_used_and_left_running(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as other:
            async with start_target(other.nodes["n1"].url, owner=owner) as target:
                assert (target.provider, target.version) == ("external", binary_releases()[-1])
                await make_stream(target)
                assert target.credentials() == {}
                with pytest.raises(JetproofError, match="not ours to kill"):
                    await target.kill("n1")
                assert not target.supports("pause")
            assert other.nodes["n1"].alive
            assert (await api(other, "$JS.API.INFO"))["streams"] == 1

    play(main())


def test_the_user_of_the_url_is_used(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as other:
            port = other.nodes["n1"].port
            await make_stream(other)
            async with start_target(f"nats://B:B@{LOOPBACK}:{port}", owner=owner) as target:
                assert (await api(target, "$JS.API.INFO"))["streams"] == 0
                assert "B:B" not in str(target.describe())
            with pytest.raises(StartError, match="Authorization Violation") as raised:
                async with start_target(f"nats://B:wrong@{LOOPBACK}:{port}", owner=owner):
                    pass
            assert "wrong" not in str(raised.value)

    play(main())


def test_nobody_listens(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target(f"nats://{LOOPBACK}:{free_port()}", owner=owner):
            pass

    with pytest.raises(StartError, match="does not answer as a NATS server") as raised:
        play(main())
    assert "check host, port" in raised.value.hint


@pytest.mark.parametrize(
    ("greeting", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "does not answer as a NATS server"),
        (b'INFO {"version":"2.15.1"}\r\n', "runs without JetStream"),
        (b'INFO {"version":"tomorrow","jetstream":true}\r\n', "is not a version"),
        (b'INFO {"jetstream":true}\r\n', "'' is not a version"),
    ],
)
def test_something_else_listens(play: Play[None], owner: Owner, greeting: bytes, why: str) -> None:
    async def main() -> None:
        left = asyncio.Event()

        async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(greeting)
            while line := await reader.readline():
                if line.startswith(b"PING"):
                    writer.write(b"PONG\r\n")
            writer.close()
            await writer.wait_closed()
            left.set()

        fake = await asyncio.start_server(talk, LOOPBACK, 0)
        async with fake:
            port = fake.sockets[0].getsockname()[1]
            try:
                async with start_target(f"nats://{LOOPBACK}:{port}", owner=owner):
                    pass
            finally:
                await left.wait()

    with pytest.raises(StartError, match=why):
        play(main())


@pytest.mark.parametrize(
    ("configuration", "topology", "isolation", "actions", "reason"),
    [
        ("default", "single", "shared", (), None),
        ("low-batch-limits", "single", "shared", (), "the configuration low-batch-limits"),
        ("default", "cluster-3", "shared", (), "the topology cluster-3"),
        ("default", "single", "account", (), "an account of the case's own"),
        ("default", "single", "server", (), "cannot be had alone"),
        ("default", "single", "shared", ("restart", "kill"), "is not ours to kill"),
    ],
)
def test_what_an_external_server_cannot_be_given(
    configuration: str, topology: str, isolation: str, actions: Iterable[str], reason: str | None
) -> None:
    found = unavailable(parse(URL), configuration, topology, isolation, actions)

    assert (found is None) if reason is None else (found is not None and reason in found)


@pytest.mark.parametrize("text", ["2.15.1", "container:2.15.1", "path:./nats-server"])
def test_our_own_servers_can_be_given_everything(text: str) -> None:
    spec = parse(text)

    assert (
        unavailable(spec, "low-batch-limits", "cluster-3", "server", ("kill", "stepdown")) is None
    )


def test_what_nobody_can_be_given() -> None:
    spec = parse("2.11.11")

    assert unavailable(spec, "low-batch-limits") is not None
    assert unavailable(parse("path:./x"), "low-batch-limits", version=Version(2, 11, 0)) is not None
    assert "no topology 'ring'" in str(unavailable(spec, topology="ring"))
    assert "no action 'explode'" in str(unavailable(spec, actions=["explode"]))
    assert "no leader" in str(unavailable(spec, actions=["stepdown"]))
    assert "no link" in str(unavailable(spec, actions=["cut"]))
    assert unavailable(spec, topology="leaf", actions=["cut", "mend"]) is None
    linked = parse("container:2.15.1")
    assert "cannot be cut" in str(unavailable(linked, topology="leaf", actions=["mend"]))
