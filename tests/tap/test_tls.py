"""TLS and passwords: passed through untouched, or ended at the tap so that rules see frames."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Any

import nats
import pytest
from nats.errors import Error

from jetproof.errors import JetproofError
from jetproof.targets.tap import Certificate, Tap, TapEvent, make_certificate
from jetproof.wire import Connect, Msg, Pub
from support.servers import served
from support.waiting import bounded

HOST = "127.0.0.1"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


def trusting(certificate: Certificate) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=certificate.authority)


async def round_trip(client: Any) -> bytes:
    subscription = await client.subscribe("a")
    await client.publish("a", b"secret")
    data: bytes = (await subscription.next_msg(timeout=20)).data
    return data


def test_tls_of_client_and_server_passes_as_bytes(tmp_path: Path, certificate: Certificate) -> None:
    config = f"tls {{ cert_file: '{certificate.certificate}', key_file: '{certificate.key}' }}"

    async def scenario() -> None:
        events: list[TapEvent] = []
        rule = {"on": {"op": "PUB"}, "do": "drop"}
        with served(tmp_path, config, jetstream=False) as port:
            async with Tap(HOST, port, [rule], events.append) as tap:
                client = await nats.connect(tap.url, tls=trusting(certificate))
                assert await round_trip(client) == b"secret"
                await client.close()
                assert tap.fired["rule-1"] == 0
        assert events[0].frame.op == "INFO"
        assert {event.frame.op for event in events[1:]} == {"RAW"}
        assert not any(b"secret" in event.frame.raw for event in events)

    bounded(scenario())


def test_tls_that_ends_at_the_tap_lets_rules_see_frames(
    port: int, certificate: Certificate
) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        rule = {"on": {"op": "MSG"}, "do": {"change": {"payload": "changed"}}}
        context = certificate.context()
        async with Tap(HOST, port, [rule], events.append, tls=context) as tap:
            client = await nats.connect(tap.url, tls=trusting(certificate))
            assert await round_trip(client) == b"changed"
            assert client._server_info["tls_required"] is True
            await client.close()
            while tap.connections:
                await asyncio.sleep(0.005)
        assert any(isinstance(event.frame, Pub) for event in events)
        assert any(isinstance(event.frame, Msg) and event.rules for event in events)

    bounded(scenario())


def test_much_through_tls(port: int, certificate: Certificate) -> None:
    async def scenario() -> None:
        async with Tap(HOST, port, tls=certificate.context()) as tap:
            client = await nats.connect(tap.url, tls=trusting(certificate))
            subscription = await client.subscribe("much", pending_bytes_limit=-1)
            for number in range(60):
                await client.publish("much", bytes([number]) * 500_000)
            for number in range(60):
                assert (await subscription.next_msg(20)).data == bytes([number]) * 500_000
            await client.close()

    bounded(scenario())


def test_a_client_that_does_not_trust_the_tap(port: int, certificate: Certificate) -> None:
    async def scenario() -> None:
        async with Tap(HOST, port, tls=certificate.context()) as tap:
            with pytest.raises((ssl.SSLError, Error, OSError)):
                await nats.connect(tap.url, tls=ssl.create_default_context(), allow_reconnect=False)
            reader, writer = await asyncio.open_connection(tap.host, tap.port)
            await reader.readline()
            writer.write(b"CONNECT {}\r\nPING\r\n")  # no TLS at all
            assert b"PONG" not in await reader.read()
            writer.close()
            silent = await asyncio.open_connection(tap.host, tap.port)
            await silent[0].readline()
        silent[1].close()

    bounded(scenario())


def test_who_logs_in_is_the_servers_business(tmp_path: Path) -> None:
    config = "authorization { users: [{user: u, password: p}] }"

    async def scenario() -> None:
        events: list[TapEvent] = []
        with served(tmp_path, config, jetstream=False) as port:
            async with Tap(HOST, port, on_frame=events.append) as tap:
                client = await nats.connect(tap.url, user="u", password="p")
                assert await round_trip(client) == b"secret"
                await client.close()
                with pytest.raises(Error, match="Authorization Violation"):
                    await nats.connect(tap.url, user="u", password="wrong", allow_reconnect=False)
        connects = [event.frame for event in events if isinstance(event.frame, Connect)]
        assert [frame.data["pass"] for frame in connects] == ["p", "wrong"]

    bounded(scenario())


def test_without_openssl_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JetproofError, match="no program openssl") as caught:
        make_certificate(tmp_path)
    assert caught.value.phase == "start"
