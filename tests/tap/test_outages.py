"""A server that is away or does not speak, and what a tap tells of connections."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import nats
import pytest

from jetproof.targets.tap import ConnectionEvent, Event, RuleError, Tap, TapEvent, parse_rule
from jetproof.wire import Connection, ConnectionLost, Headers, Msg, WireTimeout
from jetproof.wire.rules.model import Accept, Cut, Pause, Refuse, Resume
from support.servers import served
from support.waiting import bounded

HOST = "127.0.0.1"


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.005)


@pytest.mark.parametrize(
    ("do", "action"),
    [
        ("refuse", Refuse()),
        ({"refuse": "2s"}, Refuse(2.0)),
        ({"refuse": {"for": "200ms", "deaf": True}}, Refuse(0.2, deaf=True)),
        ({"refuse": {"deaf": True}}, Refuse(deaf=True)),
        ("accept", Accept()),
        ("pause", Pause()),
        ({"pause": "1.5s"}, Pause(1.5)),
        ("resume", Resume()),
        ({"cut": {"refuse": "2s"}}, Cut(refuse=Refuse(2.0))),
        (
            {"cut": {"place": "after", "refuse": True, "deaf": True}},
            Cut(after=True, refuse=Refuse(deaf=True)),
        ),
    ],
)
def test_outages_as_data(do: Any, action: object) -> None:
    assert parse_rule({"on": {"op": "PUB"}, "do": do}).do == action


@pytest.mark.parametrize(
    ("do", "mistake"),
    [
        (
            {"refuse": "long"},
            "do.refuse: refuse must be a duration such as 300ms, 1.5s or 2m, not 'long'",
        ),
        ({"refuse": {"for": 2}}, "do.refuse.for: for must be a duration"),
        ({"pause": True}, "do.pause: pause must be a duration such as 300ms, 1.5s or 2m, not true"),
        ({"cut": {"refuse": "now"}}, "do.cut.refuse: refuse must be a duration"),
        ({"cut": {"deaf": True}}, "do.cut.deaf: deaf needs refuse"),
        ({"cut": "never"}, "do.cut: cut cannot be 'never'; there are: before, after"),
    ],
)
def test_outages_that_cannot_be_read(do: Any, mistake: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule({"on": {"op": "PUB"}, "do": do})
    assert mistake in str(caught.value)


def test_a_cut_that_refuses_for_a_time(port: int) -> None:
    async def scenario() -> None:
        rule = {
            "id": "out",
            "on": {"op": "PUB", "payload": "out"},
            "do": {"cut": {"place": "after", "refuse": "300ms"}},
        }
        async with Tap(HOST, port, [rule]) as tap:
            client = await Connection.open(tap.host, tap.port)
            client.publish("a", b"out")
            await client.wait_closed()
            with pytest.raises(ConnectionLost):
                await Connection.open(tap.host, tap.port)
            assert (tap.fired["out"], tap.refused) == (1, 1)
            while True:
                try:
                    again = await Connection.open(tap.host, tap.port)
                except ConnectionLost:
                    await asyncio.sleep(0.02)
                else:
                    break
            await again.flush()
            await again.close()

    bounded(scenario())


def test_a_deaf_tap_cannot_be_connected_to_and_keeps_its_port(port: int) -> None:
    async def scenario() -> None:
        async with Tap(HOST, port) as tap, await Connection.open(tap.host, tap.port) as client:
            for _ in range(3):
                tap.refuse(deaf=True)
                with pytest.raises(ConnectionRefusedError):
                    await asyncio.open_connection(tap.host, tap.port)
                await client.flush()  # who is there stays
                tap.accept()
                async with await asyncio.wait_for(_opened(tap), 10) as again:
                    await again.flush()
            tap.refuse(deaf=True)
            tap.accept()
            tap.refuse(deaf=True)
            await asyncio.sleep(0.05)
            with pytest.raises(ConnectionRefusedError):
                await asyncio.open_connection(tap.host, tap.port)
            assert (tap.opened, tap.refused) == (4, 0)

    bounded(scenario())


async def _opened(tap: Tap) -> Connection:
    while True:
        try:
            return await Connection.open(tap.host, tap.port)
        except ConnectionLost:
            await asyncio.sleep(0.005)


def test_rules_refuse_and_accept(port: int) -> None:
    async def scenario() -> None:
        rules = [
            {"on": {"op": "PUB", "payload": "close"}, "do": "refuse"},
            {"on": {"op": "PUB", "payload": "open"}, "do": "accept"},
        ]
        async with (
            Tap(HOST, port, rules) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            client.publish("a", b"close")
            await client.flush()
            with pytest.raises(ConnectionLost):
                await Connection.open(tap.host, tap.port)
            client.publish("a", b"open")
            await client.flush()
            await (await Connection.open(tap.host, tap.port)).close()

    bounded(scenario())


def test_a_paused_server_says_nothing_until_it_is_resumed(port: int) -> None:
    async def scenario() -> None:
        async with (
            Tap(HOST, port) as tap,
            await Connection.open(tap.host, tap.port) as client,
            await Connection.open(HOST, port) as direct,
        ):
            got: list[bytes] = []
            client.subscribe("quiet", lambda msg, at: got.append(msg.payload))
            await client.flush()
            tap.pause()
            for number in range(3):
                direct.publish("quiet", b"%d" % number)
            await direct.flush()
            with pytest.raises(WireTimeout):
                await client.flush(timeout=0.1)
            new = asyncio.ensure_future(Connection.open(tap.host, tap.port))
            await until(lambda: len(tap.connections) == 2)
            await asyncio.sleep(0.05)
            assert not new.done()  # not even INFO
            assert got == []
            tap.resume()
            await client.flush()
            assert got == [b"0", b"1", b"2"]
            await (await new).close()

    bounded(scenario())


def test_a_pause_by_a_rule_for_a_time_loses_nothing(port: int) -> None:
    async def scenario() -> None:
        rules = [{"on": {"op": "MSG", "payload": "1"}, "do": {"pause": "150ms"}}]
        events: list[TapEvent] = []
        async with (
            Tap(HOST, port, rules, events.append) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            got: list[bytes] = []
            client.subscribe("quiet", lambda msg, at: got.append(msg.payload))
            for number in range(3):
                client.publish("quiet", b"%d" % number)
            await until(lambda: tap.fired["rule-1"])
            await asyncio.sleep(0.02)
            assert got == [b"0"]
            await client.flush()
            assert got == [b"0", b"1", b"2"]

    bounded(scenario())


def test_a_paused_server_that_closes_is_noticed_later(port: int) -> None:
    async def scenario() -> None:
        async with Tap(HOST, port) as tap:
            client = await Connection.open(tap.host, tap.port)
            tap.pause()
            client.send_raw(b"NONSENSE\r\n")
            await asyncio.sleep(0.1)
            assert client.close_reason is None
            tap.resume()
            await client.wait_closed()
            assert "Unknown Protocol" in client.errors[0]

    bounded(scenario())


def test_a_message_of_the_taps_own(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        async with (
            Tap(HOST, port, on_frame=events.append) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            got: list[Msg] = []
            client.subscribe("_INBOX.x.*", lambda msg, at: got.append(msg))
            await client.flush()
            tap.know({"number": 7})
            tap.inject({"to": "_INBOX.x.1", "status": 409, "description": "Server Shutdown"})
            tap.inject({"subject": "a", "to": "_INBOX.x.2", "reply": "r", "json": {"n": "$number"}})
            tap.inject({"error": "Stale Connection"}, connection=1)
            await until(lambda: len(got) == 2 and client.errors)
            assert got == [
                Msg("_INBOX.x.1", "1", None, Headers(status=409, description="Server Shutdown")),
                Msg("a", "1", "r", None, b'{"n":7}'),
            ]
            assert client.errors == ["Stale Connection"]
            made = [event for event in events if event.made]
            assert [event.frame.op for event in made] == ["HMSG", "MSG", "-ERR"]
            assert all(event.rules == () and event.passed == (event.frame,) for event in made)
            with pytest.raises(ValueError, match=r"no subscription takes a message on nobody"):
                tap.inject({"subject": "nobody"})
            with pytest.raises(
                RuleError, match="unknown key 'subjekt' in message; did you mean subject"
            ):
                tap.inject({"subjekt": "a"})

    bounded(scenario())


def test_connections_are_told(port: int) -> None:
    async def scenario() -> None:
        events: list[Event] = []
        async with Tap(HOST, port) as tap:
            leave = tap.on_event(events.append)
            await (await Connection.open(tap.host, tap.port)).close()
            await until(lambda: not tap.connections)
            tap.refuse()
            with pytest.raises(ConnectionLost):
                await Connection.open(tap.host, tap.port)
            tap.accept()
            tap.upstream = (HOST, 1)
            with pytest.raises(ConnectionLost):
                await Connection.open(tap.host, tap.port)
            told = [event for event in events if isinstance(event, ConnectionEvent)]
            assert [(event.connection, event.kind) for event in told] == [
                (1, "opened"),
                (1, "closed"),
                (2, "refused"),
                (3, "failed"),
            ]
            assert told[1].reason == "the client closed the connection"
            assert "cannot connect to 127.0.0.1:1" in told[3].reason
            assert events[0] is told[0]
            assert [event.at for event in events] == sorted(event.at for event in events)
            leave()
            tap.upstream = (HOST, port)
            before = len(events)
            await (await Connection.open(tap.host, tap.port)).close()
            assert len(events) == before

    bounded(scenario())


def test_events_come_in_batches_in_order(port: int) -> None:
    async def scenario() -> None:
        batches: list[list[Event]] = []
        async with Tap(HOST, port) as tap:
            tap.on_events(lambda events: batches.append(list(events)))
            async with await Connection.open(tap.host, tap.port) as client:
                client.subscribe("many", lambda msg, at: None)
                for number in range(500):
                    client.publish("many", b"%d" % number)
                await client.flush()
        frames = [event for batch in batches for event in batch if isinstance(event, TapEvent)]
        payloads = [event.frame.payload for event in frames if isinstance(event.frame, Msg)]
        assert payloads == [b"%d" % number for number in range(500)]
        assert len(batches) < len(frames) / 10

    bounded(scenario())


def test_a_server_that_restarts_is_found_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        with served(tmp_path / "first", jetstream=False) as port:
            tap = await Tap(HOST, port).__aenter__()
            client = await nats.connect(
                tap.url, reconnect_time_wait=0.02, max_reconnect_attempts=-1
            )
            got: asyncio.Queue[bytes] = asyncio.Queue()

            async def put(msg: Any) -> None:
                got.put_nowait(msg.data)

            await client.subscribe("a", cb=put)
            await client.publish("a", b"before")
            assert await got.get() == b"before"
        await until(lambda: tap.failed > 1)
        with served(tmp_path / "second", jetstream=False, port=port):
            await until(lambda: client.is_connected)
            await client.publish("a", b"after")
            assert await got.get() == b"after"
            await client.close()
            await tap.__aexit__(None, None, None)

    bounded(scenario())
