"""The tap between misbehaving ends: nothing hangs, nothing is lost, nothing is left open."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from jetproof.errors import JetproofError
from jetproof.targets.tap import RuleError, Tap, TapEvent
from jetproof.wire import Connection, ConnectionLost, Msg, Pub, Raw, encode
from support.servers import FakeServer, Script
from support.waiting import bounded

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter

HOST = "127.0.0.1"
INFO = b'INFO {"version":"0","connect_urls":["127.0.0.1:9"],"ws_connect_urls":[],"a":1}\r\n'


async def greet(reader: Reader, writer: Writer) -> None:
    writer.write(INFO)
    assert (await reader.readline()).startswith(b"CONNECT ")
    assert await reader.readline() == b"PING\r\n"
    writer.write(b"PONG\r\n")
    await writer.drain()


def speaking(data: bytes, *, close: bool = False, lines: int = 1) -> Script:
    """Greets, waits for some lines of the client, then sends these bytes."""

    async def script(reader: Reader, writer: Writer) -> None:
        await greet(reader, writer)
        for _ in range(lines):
            await reader.readline()
        writer.write(data)
        await writer.drain()
        if not close:
            await asyncio.Event().wait()

    return script


async def deliveries(port: int, count: int, *rules: Any) -> list[Msg]:
    """What a client subscribed as sid 1 gets through a tap with these rules, after `count`."""
    received: list[Msg] = []
    async with Tap(HOST, port, rules) as tap, await Connection.open(tap.host, tap.port) as client:
        client.subscribe(">", lambda msg, at: received.append(msg))
        while len(received) < count:
            await asyncio.sleep(0.005)
        await asyncio.sleep(0.02)
    return received


THREE = b"MSG a 1 1\r\n1\r\nMSG b 1 1\r\n2\r\nMSG c 1 1\r\n3\r\n"


@pytest.mark.parametrize(
    ("do", "expected"),
    [
        ("pass", "abc"),
        ("drop", "ac"),
        ("duplicate", "abbc"),
        ({"delay": "50ms"}, "abc"),
        ({"delay": {"by": "50ms", "reorder": True}}, "acb"),
        ({"change": {"subject": "x"}}, "axc"),
        ({"inject": {"subject": "i"}, "place": "before"}, "aibc"),
        ({"inject": {"subject": "i"}}, "abic"),
        ({"inject": {"subject": "i", "to": "any.thing"}}, "abic"),
        ({"cut": "after"}, "ab"),
        ("cut", "a"),
    ],
)
def test_every_action_on_a_message(fake_server: FakeServer, do: Any, expected: str) -> None:
    async def scenario() -> None:
        async with fake_server(speaking(THREE)) as port:
            rule = {"on": {"op": "MSG", "subject": "b"}, "do": do}
            received = await deliveries(port, len(expected), rule)
            assert "".join(msg.subject for msg in received) == expected

    bounded(scenario())


@pytest.mark.parametrize(
    ("do", "expected"),
    [
        ("drop", b"PUB a 0\r\n\r\nPUB c 0\r\n\r\n"),
        ("duplicate", b"PUB a 0\r\n\r\nPUB b 0\r\n\r\nPUB b 0\r\n\r\nPUB c 0\r\n\r\n"),
        ({"delay": "50ms"}, b"PUB a 0\r\n\r\nPUB b 0\r\n\r\nPUB c 0\r\n\r\n"),
        ({"change": {"payload": "!"}}, b"PUB a 0\r\n\r\nPUB b 1\r\n!\r\nPUB c 0\r\n\r\n"),
        ("cut", b"PUB a 0\r\n\r\n"),
        ({"cut": "after"}, b"PUB a 0\r\n\r\nPUB b 0\r\n\r\n"),
    ],
)
def test_every_action_on_a_publish(fake_server: FakeServer, do: Any, expected: bytes) -> None:
    async def scenario() -> None:
        got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            got.set_result(await reader.read())

        events: list[TapEvent] = []
        rules = [{"on": {"op": "PUB", "subject": "b"}, "do": do}]
        async with fake_server(script) as port, Tap(HOST, port, rules, events.append) as tap:
            client = await Connection.open(tap.host, tap.port)
            for subject in "abc":
                client.publish(subject)
            await client.close()
            assert await got == expected
            publishes = [event for event in events if isinstance(event.frame, Pub)]
            assert b"".join(encode(pub) for event in publishes for pub in event.passed) == expected
            assert (Pub("c") in [event.frame for event in publishes]) is (b"PUB c" in expected)

    bounded(scenario())


def test_other_addresses_are_taken_out_of_info(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        async with (
            fake_server(speaking(b"")) as port,
            Tap(HOST, port, on_frame=events.append) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            assert client.info == {"version": "0", "a": 1}
            assert events[0].frame.raw == INFO

    bounded(scenario())


def test_info_can_be_changed(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        rule = {"on": {"op": "INFO"}, "do": {"change": {"json": {"version": "2.99.0"}}}}
        async with (
            fake_server(speaking(b"")) as port,
            Tap(HOST, port, [rule]) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            assert client.info == {"version": "2.99.0", "a": 1}

    bounded(scenario())


def test_untouched_frames_keep_their_odd_bytes(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        odd = b"msg  a\t1  3\nxyz\r\n+ok\r\n-err 'oh'\r\nhmsg a 1 0 0\r\n\r\n"
        async with (
            fake_server(speaking(odd, close=True, lines=0)) as port,
            Tap(HOST, port, [{"on": {"op": "MSG", "subject": "z"}, "do": "drop"}]) as tap,
        ):
            reader, writer = await asyncio.open_connection(tap.host, tap.port)
            await reader.readline()
            writer.write(b"CONNECT {}\r\nPING\r\n")
            assert await reader.readline() == b"PONG\r\n"
            assert await reader.read() == odd
            writer.close()

    bounded(scenario())


def test_bytes_that_are_no_frames_pass_once_and_in_order(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            for data in (b"MSG a 1 1\r\n1\r\nGARBAGE\r\n", b"more\r\n", b"PING\r\n"):
                writer.write(data)
                await reader.readexactly(1)

        events: list[TapEvent] = []
        async with fake_server(script) as port, Tap(HOST, port, on_frame=events.append) as tap:
            reader, writer = await asyncio.open_connection(tap.host, tap.port)
            await reader.readline()
            writer.write(b"CONNECT {}\r\nPING\r\n")
            assert await reader.readline() == b"PONG\r\n"
            for expected in (b"MSG a 1 1\r\n1\r\nGARBAGE\r\n", b"more\r\n", b"PING\r\n"):
                assert await reader.readexactly(len(expected)) == expected
                writer.write(b"x")
            assert await reader.read() == b""
            writer.close()
        from_server = [event.frame for event in events if event.sender == "server"]
        assert from_server[-3:] == [Raw(b"GARBAGE\r\n"), Raw(b"more\r\n"), Raw(b"PING\r\n")]
        from_client = [event.frame for event in events if event.sender == "client"]
        assert from_client[-3:] == [Raw(b"x")] * 3

    bounded(scenario())


def test_after_a_frame_is_dropped_no_further_rule_sees_it(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        rules = [
            {"id": "drop", "on": {"op": "MSG", "subject": "b"}, "do": "drop"},
            {"id": "late", "on": {"op": "MSG", "subject": "b"}, "do": "duplicate"},
        ]
        async with (
            fake_server(speaking(THREE)) as port,
            Tap(HOST, port, rules) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            received: list[str] = []
            client.subscribe(">", lambda msg, at: received.append(msg.subject))
            while "c" not in received:
                await asyncio.sleep(0.005)
            assert received == ["a", "c"]
            assert dict(tap.fired) == {"drop": 1, "late": 0}
            assert dict(tap.matched) == {"drop": 1, "late": 0}

    bounded(scenario())


def test_who_has_left_gets_nothing(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        rule = {"on": {"op": "PUB"}, "do": {"inject": {"subject": "a", "payload": "made"}}}
        async with fake_server(speaking(b"", lines=9)) as port, Tap(HOST, port, [rule]) as tap:
            client = await Connection.open(tap.host, tap.port)
            listener = await Connection.open(tap.host, tap.port)
            heard = asyncio.Event()
            listener.subscribe("a", lambda msg, at: heard.set())
            await listener.drain()
            while not tap.fired["rule-1"]:
                client.publish("x")
                await asyncio.sleep(0.005)
            await heard.wait()
            await listener.close()
            while tap.connections != (1,):
                await asyncio.sleep(0.005)
            before = tap.fired["rule-1"], len(tap.problems)
            client.publish("y")
            while len(tap.problems) == before[1]:
                await asyncio.sleep(0.005)
            assert tap.fired["rule-1"] == before[0]
            client.abort()

    bounded(scenario())


def test_held_frames_still_arrive_when_the_server_leaves(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        rule = {"on": {"op": "MSG", "subject": "a"}, "do": {"delay": "100ms"}}
        async with fake_server(speaking(THREE, close=True)) as port, Tap(HOST, port, [rule]) as tap:
            client = await Connection.open(tap.host, tap.port)
            received: list[str] = []
            client.subscribe(">", lambda msg, at: received.append(msg.subject))
            await client.wait_closed()
            assert received == ["a", "b", "c"]
            while tap.connections:
                await asyncio.sleep(0.005)

    bounded(scenario())


def is_message(event: TapEvent) -> bool:
    return isinstance(event.frame, Msg)


@pytest.mark.parametrize(
    ("do", "expected"),
    [
        ({"delay": "50ms"}, "abc"),
        ({"delay": {"by": "50ms", "reorder": True}}, "acb"),
        ({"pause": "50ms"}, "abc"),
        ({"inject": {"subject": "i"}, "place": "before"}, "aibc"),
        ({"inject": {"subject": "i"}}, "abic"),
    ],
)
def test_a_frame_counts_when_it_reaches_the_client(
    fake_server: FakeServer, do: Any, expected: str
) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        rule = {"on": {"op": "MSG", "subject": "b"}, "do": do}
        async with (
            fake_server(speaking(THREE)) as port,
            Tap(HOST, port, [rule], events.append) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            received: list[str] = []
            begin = time.monotonic()
            client.subscribe(">", lambda msg, at: received.append(msg.subject))
            while len(received) < len(expected):
                await asyncio.sleep(0.005)
            told = [(event.frame.subject, event.at) for event in events if is_message(event)]  # type: ignore[union-attr]
            assert "".join(subject for subject, _ in told) == expected
            if "inject" not in do:
                assert dict(told)["b"] >= begin + 0.05
                assert [at for _, at in told] == sorted(at for _, at in told)

    bounded(scenario())


def test_a_frame_that_was_held_for_too_long_never_left(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        rule = {"on": {"op": "MSG", "subject": "b"}, "do": {"delay": "60s"}}
        async with fake_server(speaking(THREE)) as port:
            async with Tap(HOST, port, [rule], events.append) as tap:
                client = await Connection.open(tap.host, tap.port)
                client.subscribe(">", lambda msg, at: None)
                await tap.wait_fired("rule-1")
                client.abort()
                while tap.connections:
                    await asyncio.sleep(0.005)
            assert [len(event.passed) for event in events if is_message(event)] == [1, 0, 0]

    bounded(scenario())


def test_nobody_behind_the_tap() -> None:
    async def scenario() -> None:
        server = await asyncio.start_server(lambda reader, writer: None, HOST, 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        async with Tap(HOST, port) as tap:
            for number in (1, 2):
                with pytest.raises(ConnectionLost):
                    await Connection.open(tap.host, tap.port)
                assert tap.failed == number
            assert tap.connections == ()

    bounded(scenario())


def test_a_server_that_comes_back_elsewhere(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async with (
            fake_server(speaking(b"")) as first,
            fake_server(speaking(THREE)) as second,
            Tap(HOST, first) as tap,
        ):
            await (await Connection.open(tap.host, tap.port)).close()
            tap.upstream = (HOST, second)
            client = await Connection.open(tap.host, tap.port)
            received: list[Msg] = []
            client.subscribe(">", lambda msg, at: received.append(msg))
            while len(received) < 3:
                await asyncio.sleep(0.005)
            await client.close()

    bounded(scenario())


def test_the_server_learns_that_the_client_left(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        left = asyncio.Event()

        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await reader.read()
            left.set()

        async with fake_server(script) as port, Tap(HOST, port) as tap:
            client = await Connection.open(tap.host, tap.port)
            client.abort()
            await left.wait()

    bounded(scenario())


def test_a_slow_client_slows_the_server_down_and_gets_everything(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        written = 0
        frame = b"MSG a 1 65536\r\n" + bytes(65536) + b"\r\n"
        count = 1000

        async def script(reader: Reader, writer: Writer) -> None:
            nonlocal written
            await greet(reader, writer)
            for _ in range(count):
                writer.write(frame)
                await writer.drain()
                written += 1
            await asyncio.Event().wait()

        async with fake_server(script) as port, Tap(HOST, port) as tap:
            reader, writer = await asyncio.open_connection(tap.host, tap.port)
            await reader.readline()
            writer.write(b"CONNECT {}\r\nPING\r\n")
            await reader.readline()
            before = -1
            while before != written:  # until the server is stuck
                before = written
                await asyncio.sleep(0.1)
            assert written < count
            data = await reader.readexactly(len(frame) * count)
            assert data == frame * count
            writer.close()

    bounded(scenario())


def test_closing_the_tap_closes_everything(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        gone = asyncio.Event()

        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await reader.read()
            gone.set()

        async with fake_server(script) as port:
            async with Tap(HOST, port) as tap:
                client = await Connection.open(tap.host, tap.port)
                silent = await asyncio.open_connection(tap.host, tap.port)
            await client.wait_closed()
            await gone.wait()
            silent[1].close()
            with pytest.raises(ConnectionLost):
                await Connection.open(tap.host, tap.port)

    bounded(scenario())


def test_a_faulty_observer_is_reported_and_changes_nothing(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        reported: list[object] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: reported.append(context["exception"])
        )
        failure = ZeroDivisionError("a bug in an observer")

        def fail(event: TapEvent) -> None:
            raise failure

        async with (
            fake_server(speaking(b"")) as port,
            Tap(HOST, port, on_frame=fail) as tap,
            await Connection.open(tap.host, tap.port),
        ):
            assert reported == [failure] * 4

    bounded(scenario())


def test_a_port_that_is_taken_says_so(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async with fake_server(speaking(b"")) as port:
            tap = Tap(HOST, port, port=port)
            with pytest.raises(JetproofError, match="the tap cannot listen on") as caught:
                await tap.__aenter__()
            assert caught.value.phase == "start"

    bounded(scenario())


def test_a_wrong_rule_is_told_before_anything_starts() -> None:
    with pytest.raises(RuleError, match=r"0\.do: do cannot be 'explode'"):
        Tap(HOST, 1, [{"on": {"op": "MSG"}, "do": "explode"}])


def test_subscriptions_with_a_limit_end(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        rule = {"on": {"op": "PUB"}, "do": {"inject": {"subject": "a", "payload": "made"}}}
        async with (
            fake_server(speaking(b"MSG a 1 0\r\n\r\n", lines=2)) as port,
            Tap(HOST, port, [rule]) as tap,
            await Connection.open(tap.host, tap.port) as client,
        ):
            received: list[Msg] = []
            sid = client.subscribe("a", lambda msg, at: received.append(msg))
            client.unsubscribe(sid, max=1)
            while not received:
                await asyncio.sleep(0.005)
            client.publish("x")
            while not tap.problems:
                await asyncio.sleep(0.005)
            assert tap.fired["rule-1"] == 0
            assert len(received) == 1

    bounded(scenario())
