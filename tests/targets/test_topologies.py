"""A hub and its leaf node, five nodes, accounts that a configuration brings, other releases."""

from __future__ import annotations

import asyncio

import pytest

from jetproof.errors import JetproofError
from jetproof.model.topology import TOPOLOGIES
from jetproof.model.versions import Version
from jetproof.targets.config import (
    Accounts,
    LeafPlace,
    NodePlace,
    load_configuration,
    render,
)
from jetproof.targets.link import Link
from jetproof.targets.node import PortTaken
from jetproof.targets.ports import LOOPBACK, free_port
from jetproof.targets.resolve import resolve
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import start_target
from jetproof.wire.driver import Connection

from .conftest import Play
from .helpers import api, make_stream

PLACE = NodePlace(name="n1", listen="127.0.0.1:4222", store="/store")


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data)
    writer.close()


def test_a_link_passes_on_until_it_is_cut_and_again_when_it_is_mended(play: Play[None]) -> None:
    async def main() -> None:
        server = await asyncio.start_server(echo, LOOPBACK, 0)
        async with server, Link(free_port(), server.sockets[0].getsockname()[1]) as link:
            for _ in range(2):
                assert link.whole
                reader, writer = await asyncio.open_connection(LOOPBACK, link.port)
                for data in (b"a", b"b" * 90):
                    writer.write(data)
                    assert await reader.readexactly(len(data)) == data
                await link.cut()
                await link.cut()
                assert not link.whole
                with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                    await reader.readexactly(1)
                writer.close()
                with pytest.raises(ConnectionError):
                    await asyncio.open_connection(LOOPBACK, link.port)
                await link.mend()
                await link.mend()

    play(main())


def test_a_link_whose_far_side_is_gone_ends_the_near_side_too(play: Play[None]) -> None:
    async def main() -> None:
        async with Link(free_port(), free_port()) as link:
            reader, writer = await asyncio.open_connection(LOOPBACK, link.port)
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await reader.readexactly(1)
            writer.close()

    play(main())


def test_a_link_on_a_port_that_is_taken(play: Play[None]) -> None:
    async def main() -> None:
        port = free_port()
        async with Link(port, port):
            with pytest.raises(PortTaken, match=f"cannot listen on port {port}"):
                await Link(port, port).mend()

    play(main())


def test_a_leaf_node_is_configured_with_its_domain_and_the_link(play: Play[None]) -> None:
    accounts = Accounts.of(["OWN_1"])
    default = load_configuration("default")
    hub = render(default, PLACE.in_domain("HUB", LeafPlace("127.0.0.1:1", "127.0.0.1:2")), accounts)
    assert 'domain: "HUB"' in hub
    assert 'leafnodes { listen: "127.0.0.1:1", advertise: "127.0.0.1:2" }' in hub
    leaf = render(default, PLACE.in_domain("LEAF", LeafPlace(hub="127.0.0.1:2")), accounts)
    for account in ("JP", "B", "OWN_1"):
        assert f"nats-leaf://{account}:{account}@127.0.0.1:2" in leaf
    assert "nats-leaf://SYS" not in leaf
    with pytest.raises(JetproofError, match="own-domain has a domain of its own"):
        render(load_configuration("own-domain"), PLACE.in_domain("LEAF", LeafPlace()), accounts)


def test_hub_and_leaf_node_reach_each_other_unless_the_link_is_cut(
    play: Play[None], owner: Owner
) -> None:
    async def main() -> None:
        async with start_target("latest", topology="leaf", owner=owner) as target:
            assert list(target.nodes) == ["n1", "l1"]
            await make_stream(target, node="l1")
            there = await api(target, "$JS.LEAF.API.STREAM.NAMES", {}, node="n1")
            assert there["streams"] == ["ORDERS"]
            assert (await api(target, "$JS.API.STREAM.NAMES", {}, node="n1"))["streams"] is None
            await target.cut("link")
            assert await api(target, "$JS.LEAF.API.STREAM.NAMES", {}, node="n1") == {}
            await target.stop("l1")
            await target.start("l1")
            assert await api(target, "$JS.HUB.API.INFO", node="l1") == {}
            await target.mend("link")
            there = await api(target, "$JS.LEAF.API.STREAM.NAMES", {}, node="n1")
            assert there["streams"] == ["ORDERS"]
            await target.kill("n1")
            await target.start("n1")
            assert "memory" in await api(target, "$JS.HUB.API.INFO", node="l1")
            with pytest.raises(JetproofError, match="no such link"):
                await target.cut("rope")

    play(main())


def test_a_single_server_has_no_link(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            with pytest.raises(JetproofError, match="cannot cut link: single has no link to cut"):
                await target.cut("link")

    play(main())


def test_five_nodes_find_each_other(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", topology="cluster-5", owner=owner) as target:
            assert tuple(target.nodes) == TOPOLOGIES["cluster-5"].nodes
            made = await make_stream(target, num_replicas=5)
            assert len(made["cluster"]["replicas"]) == 4

    play(main())


def test_a_server_starts_with_another_release_and_goes_back_to_its_own(
    play: Play[None], owner: Owner
) -> None:
    other = Version(2, 14, 6)

    async def main() -> None:
        async with start_target("latest", owner=owner, release=other) as target:
            node = target.nodes["n1"]
            assert node.version == other != target.version
            await make_stream(target)
            await target.restart("n1")
            assert node.version == other
            await target.restart("n1", "own")
            assert node.version == target.version
            assert (await api(target, "$JS.API.STREAM.NAMES", {}))["streams"] == ["ORDERS"]
            await target.restart("n1", other)
            assert node.version == other

    play(main())


def test_a_configuration_may_bring_its_accounts_and_users(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", configuration="permissions", owner=owner) as target:
            await make_stream(target)
            node, user = target.nodes["n1"], {"user": "reader", "pass": "reader"}
            async with await Connection.open(node.host, node.port, options=user) as connection:
                connection.publish("ORDERS.a", b"x")
                await connection.flush()
                assert any("Permissions Violation" in text for text in connection.errors)
            with pytest.raises(JetproofError, match="no account 'OWN_1'"):
                target.credentials("OWN_1")

    play(main())


@pytest.mark.parametrize(
    ("text", "newer", "older"),
    [
        ("2.10.26", "2.15.1", None),
        ("2.12.3", "2.15.1", "2.11.11"),
        ("2.14.0", "2.15.1", "2.12.8"),
        ("container:2.15.0", None, "2.14.6"),
    ],
)
def test_a_target_knows_the_releases_of_other_lines(
    play: Play[None], text: str, newer: str | None, older: str | None
) -> None:
    async def main() -> None:
        [target] = await resolve([text])
        assert target.newer == (newer and Version.parse(newer))
        assert target.older == (older and Version.parse(older))

    play(main())
