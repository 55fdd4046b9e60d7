"""The driver against a real server, with nats-py as the independent witness."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import nats
import nats.aio.msg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jetproof.wire import (
    Connect,
    Connection,
    ConnectionLost,
    Frame,
    Headers,
    Msg,
    Ping,
    Pong,
    Pub,
    Raw,
    WireTimeout,
)

HOST = "127.0.0.1"


class Received:
    """A callback that keeps messages and lets a test wait for a number of them."""

    def __init__(self) -> None:
        self.messages: list[Msg] = []
        self.times: list[float] = []
        self._more = asyncio.Event()

    def __call__(self, msg: Msg, at: float) -> None:
        self.messages.append(msg)
        self.times.append(at)
        self._more.set()

    async def first(self, count: int = 1) -> list[Msg]:
        async with asyncio.timeout(20):
            while len(self.messages) < count:
                self._more.clear()
                await self._more.wait()
        return self.messages


SAMPLES: list[tuple[bytes, str | None, list[tuple[str, str]] | None]] = [
    (b"", None, None),
    (b"text", "some.reply", None),
    (bytes(range(256)), None, [("A", "1")]),
    (b"\r\nPING\r\n", "r", [("Nats-Msg-Id", "ünï"), ("odd-CASE", "v: w")]),
    (b"\xff\xfe", None, [("Empty", ""), ("X", "last")]),
]


@pytest.mark.parametrize(("payload", "reply", "items"), SAMPLES)
def test_what_nats_py_publishes_is_read_identically(
    port: int, payload: bytes, reply: str | None, items: list[tuple[str, str]] | None
) -> None:
    async def scenario() -> None:
        received = Received()
        async with await Connection.open(HOST, port) as ours:
            ours.subscribe("witness.in", received)
            await ours.flush()
            theirs = await nats.connect(f"nats://{HOST}:{port}")
            await theirs.publish(
                "witness.in", payload, reply=reply or "", headers=dict(items) if items else None
            )
            await theirs.close()
            (msg,) = await received.first()
        headers = None if items is None else Headers(items)
        assert msg == Msg("witness.in", "1", reply, headers, payload)

    asyncio.run(scenario())


@pytest.mark.parametrize(("payload", "reply", "items"), SAMPLES)
def test_what_is_published_nats_py_reads_identically(
    port: int, payload: bytes, reply: str | None, items: list[tuple[str, str]] | None
) -> None:
    async def scenario() -> nats.aio.msg.Msg:
        theirs = await nats.connect(f"nats://{HOST}:{port}")
        subscription = await theirs.subscribe("witness.out")
        await theirs.flush()
        async with await Connection.open(HOST, port) as ours:
            headers = None if items is None else Headers(items)
            sent = ours.publish("witness.out", payload, reply=reply, headers=headers)
            assert sent == Pub("witness.out", reply, headers, payload)
            msg = await subscription.next_msg(timeout=20)
        await theirs.close()
        return msg

    msg = asyncio.run(scenario())
    assert msg.subject == "witness.out"
    assert msg.data == payload
    assert msg.reply == (reply or "")
    assert msg.headers == (None if items is None else dict(items))


def both_ways(port: int, send: Callable[[Connection], Pub]) -> tuple[Pub, Msg]:
    """Publishes on one connection, receives on another."""

    async def scenario() -> tuple[Pub, Msg]:
        received = Received()
        async with await Connection.open(HOST, port) as a, await Connection.open(HOST, port) as b:
            a.subscribe("both.>", received)
            await a.flush()
            sent = send(b)
            (msg,) = await received.first()
            return sent, msg

    return asyncio.run(scenario())


@pytest.mark.parametrize(
    "headers",
    [
        None,
        Headers(),
        Headers([("A", "1"), ("a", "2"), ("A", "3"), ("A", "3")]),
        Headers([("Empty", ""), ("Blanks", "  two  "), ("X-UTF", "日本")]),
        Headers([("A", "1")], status=503, description="said by a client"),
        Headers.from_raw(b"NATS/1.0\r\nA:no blank\r\nB:\r\n\r\n"),
        Headers.from_raw(b"NATS/1.0\r\nBad\xff: \xfe\xff\r\n\r\n"),
        Headers.from_raw(b"NATS/1.0\r\nno colon\r\n\r\n"),
        Headers.from_raw(b"not a block at all"),
    ],
    ids=repr,
)
def test_header_blocks_reach_the_other_side_byte_by_byte(
    port: int, headers: Headers | None
) -> None:
    sent, msg = both_ways(port, lambda c: c.publish("both.h", b"p", headers=headers))
    assert msg.headers == sent.headers == headers
    if headers is not None and msg.headers is not None:
        assert msg.headers.encode() == headers.encode()
    assert msg.payload == b"p"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.binary(max_size=2000),
    st.lists(
        st.tuples(
            st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=127), min_size=1),
            st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])),
        )
    ),
)
def test_any_payload_and_headers_pass_through_a_server(
    port: int, payload: bytes, items: list[tuple[str, str]]
) -> None:
    headers = Headers(items)
    _, msg = both_ways(port, lambda c: c.publish("both.any", payload, headers=headers))
    assert msg == Msg("both.any", "1", None, headers, payload)


def test_a_subject_that_is_not_utf8_survives(port: int) -> None:
    subject = b"both.\xff\xfe".decode("utf-8", "surrogateescape")
    _, msg = both_ways(port, lambda c: c.publish(subject, b"x"))
    assert msg.subject == subject


def test_megabytes_pass(port: int) -> None:
    payload = bytes(range(256)) * 4096 * 7
    _, msg = both_ways(port, lambda c: c.publish("both.big", payload, headers=Headers()))
    assert msg.payload == payload


def test_no_responders_is_an_ordinary_message(port: int) -> None:
    async def scenario() -> None:
        async with await Connection.open(HOST, port) as connection:
            msg = await connection.request("nobody.listens", b"?")
        assert msg.status == 503
        assert msg.payload == b""

    asyncio.run(scenario())


def test_without_no_responders_a_request_times_out_and_the_connection_stays(port: int) -> None:
    async def scenario() -> None:
        options = {"no_responders": False}
        async with await Connection.open(HOST, port, options=options) as connection:
            with pytest.raises(WireTimeout, match=r"nobody\.listens within 0\.05 s"):
                await connection.request("nobody.listens", timeout=0.05)
            await connection.flush()

    asyncio.run(scenario())


def test_many_requests_at_once_get_their_own_replies(port: int) -> None:
    async def scenario() -> None:
        async with (
            await Connection.open(HOST, port) as service,
            await Connection.open(HOST, port) as connection,
        ):
            service.subscribe(
                "twice", lambda msg, at: service.publish(msg.reply or "", msg.payload * 2)
            )
            await service.flush()
            numbers = [str(number).encode() for number in range(500)]
            replies = await asyncio.gather(
                *(connection.request("twice", number) for number in numbers)
            )
        assert [msg.payload for msg in replies] == [number * 2 for number in numbers]

    asyncio.run(scenario())


def test_messages_come_in_wire_order_with_times_that_never_go_back(port: int) -> None:
    async def scenario() -> None:
        received = Received()
        async with await Connection.open(HOST, port) as connection:
            connection.subscribe("order.*", received)
            for number in range(2000):
                connection.publish(f"order.{number}")
            await connection.flush()
        assert [msg.subject for msg in received.messages] == [f"order.{n}" for n in range(2000)]
        assert received.times == sorted(received.times)

    asyncio.run(scenario())


def test_echo_queue_groups_and_unsubscribe(port: int) -> None:
    async def scenario() -> None:
        async with await Connection.open(HOST, port, options={"echo": False}) as deaf:
            mine = Received()
            deaf.subscribe("own", mine)
            deaf.publish("own")
            await deaf.flush()
            assert mine.messages == []
        async with await Connection.open(HOST, port) as connection:
            one, two, three = Received(), Received(), Received()
            first = connection.subscribe("shared", one, queue="q")
            connection.subscribe("shared", two, queue="q")
            limited = connection.subscribe("shared", three)
            connection.unsubscribe(limited, max=3)
            for _ in range(10):
                connection.publish("shared")
            await connection.flush()
            assert len(one.messages) + len(two.messages) == 10
            assert len(three.messages) == 3
            connection.unsubscribe(first)
            before = len(one.messages)
            connection.publish("shared")
            await connection.flush()
            assert len(one.messages) == before
            assert len(two.messages) + before == 11

    asyncio.run(scenario())


def test_connect_says_what_it_is_told(port: int) -> None:
    async def said(**arguments: object) -> dict[str, object]:
        frames: list[Frame] = []
        connection = await Connection.open(
            HOST,
            port,
            on_event=lambda direction, frame, at: frames.append(frame),
            **arguments,  # type: ignore[arg-type]
        )
        await connection.close()
        (connect,) = [frame for frame in frames if frame.op == "CONNECT"]
        assert isinstance(connect, Connect)
        return dict(connect.data)

    async def scenario() -> None:
        plain = await said()
        assert plain["name"] == "jetproof"
        assert plain["lang"] == "python"
        assert plain["headers"] is plain["no_responders"] is plain["echo"] is True
        assert plain["verbose"] is plain["pedantic"] is False
        assert "user" not in plain
        changed = await said(
            user="alice", password="secret", name="n", options={"verbose": True, "echo": None}
        )
        assert (changed["user"], changed["pass"], changed["name"]) == ("alice", "secret", "n")
        assert changed["verbose"] is True
        assert "echo" not in changed
        overridden = await said(
            user="bob", password="x", options={"user": "alice", "pass": "secret"}
        )
        assert overridden["user"] == "alice"

    asyncio.run(scenario())


def test_verbose_mode_shows_every_ok(port: int) -> None:
    async def scenario() -> None:
        ops: list[str] = []
        async with await Connection.open(
            HOST,
            port,
            options={"verbose": True},
            on_event=lambda d, f, at: ops.append(f"{d} {f.op}"),
        ) as connection:
            connection.publish("a")
            await connection.flush()
        assert ops.count("received +OK") == 2  # CONNECT and PUB
        assert ops[0] == "received INFO"
        assert ops[1] == "sent CONNECT"

    asyncio.run(scenario())


def test_wrong_credentials_say_so(port: int) -> None:
    async def scenario() -> None:
        with pytest.raises(ConnectionLost) as caught:
            await Connection.open(HOST, port, user="alice", password="wrong")
        assert caught.value.last_error == "Authorization Violation"
        assert "Authorization Violation" in str(caught.value)

    asyncio.run(scenario())


def test_a_permission_error_is_reported_and_the_connection_stays(port: int) -> None:
    async def scenario() -> None:
        errors: list[str] = []
        async with await Connection.open(HOST, port, user="alice", password="secret") as connection:
            connection.on_error(errors.append)
            connection.publish("forbidden")
            await connection.flush()
            assert errors == connection.errors
            assert "Permissions Violation" in errors[0]
            assert not connection.closed

    asyncio.run(scenario())


def test_bytes_that_no_client_would_send_end_in_the_servers_error(port: int) -> None:
    async def scenario() -> None:
        reasons: list[str] = []
        connection = await Connection.open(HOST, port)
        connection.on_close(reasons.append)
        connection.send_raw(b"NONSENSE\r\n")
        with pytest.raises(ConnectionLost) as caught:
            await connection.flush()
        assert "Unknown Protocol Operation" in (caught.value.last_error or "")
        assert await connection.wait_closed() == reasons[0] == connection.close_reason
        with pytest.raises(ConnectionLost):
            connection.publish("a")
        await connection.close()

    asyncio.run(scenario())


def test_a_payload_above_the_servers_limit_ends_the_connection(port: int) -> None:
    async def scenario() -> None:
        connection = await Connection.open(HOST, port)
        connection.publish("a", bytes(connection.info["max_payload"] + 1))
        with pytest.raises(ConnectionLost) as caught:
            await connection.flush()
        assert caught.value.reason

    asyncio.run(scenario())


def test_a_frame_can_be_sent_in_two_halves(port: int) -> None:
    async def scenario() -> None:
        received = Received()
        async with await Connection.open(HOST, port) as connection:
            connection.subscribe("halves", received)
            connection.send(Raw(b"PUB halves 4\r\nab"))
            await connection.drain()
            connection.send(Raw(b"cd\r\n"))
            await connection.flush()
            assert [msg.payload for msg in received.messages] == [b"abcd"]

    asyncio.run(scenario())


def test_pings_sent_by_hand_do_not_disturb_flush(port: int) -> None:
    async def scenario() -> None:
        ops: list[str] = []
        async with await Connection.open(
            HOST, port, on_event=lambda d, f, at: ops.append(f"{d} {f.op}")
        ) as connection:
            ops.clear()
            connection.send(Ping())
            connection.send(Pong())
            await connection.flush()
            assert ops == ["sent PING", "sent PONG", "sent PING", "received PONG", "received PONG"]

    asyncio.run(scenario())
