"""Servers that are dead, silent, slow or talk garbage: always a clear exception, never a hang."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
import threading

import pytest

from jetproof.errors import JetproofError
from jetproof.wire import Connection, ConnectionLost, Msg, WireTimeout
from support.servers import FakeServer, Script
from support.waiting import bounded

Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter

HOST = "127.0.0.1"
INFO = b'INFO {"server_id":"fake","version":"0.0.0","max_payload":1048576}\r\n'


async def greet(reader: Reader, writer: Writer) -> None:
    """INFO, CONNECT, PING, PONG."""
    writer.write(INFO)
    assert (await reader.readline()).startswith(b"CONNECT ")
    assert await reader.readline() == b"PING\r\n"
    writer.write(b"PONG\r\n")
    await writer.drain()


async def says(writer: Writer, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


def opening(*parts: bytes, close: bool) -> Script:
    """Sends these bytes at once, then closes or stays silent."""

    async def script(reader: Reader, writer: Writer) -> None:
        await says(writer, b"".join(parts))
        if not close:
            await asyncio.Event().wait()

    return script


@pytest.mark.parametrize(
    ("script", "reason", "last_error"),
    [
        (opening(close=True), "the server closed the connection", None),
        (opening(close=False), "no INFO from", None),
        (opening(b"INFO {", close=True), r"closed the connection; .* incomplete: 'INFO {'", None),
        (opening(b"INFO {", close=False), r"no INFO .* incomplete: 'INFO {'", None),
        (opening(INFO, close=False), "no answer to CONNECT", None),
        (opening(INFO, b"MSG a 1 5\r\nx", close=True), "incomplete", None),
        (opening(b"SSH-2.0-OpenSSH\r\n", close=False), "unknown operation: 'SSH-2", None),
        (opening(b"\x15\x03\x01\x00\x02\x02", close=False), "unknown operation", None),
        (opening(b"INFO not json\r\n", close=False), "not a JSON object", None),
        (opening(INFO, b"MSG a 1 99999999999\r\n", close=False), "larger than", None),
        (opening(INFO, b"x" * 200_000, close=False), "unknown operation", None),
        (opening(b"INFO " + b" " * 200_000, close=False), "control line is longer", None),
        (opening(b"-ERR 'maximum connections exceeded'\r\n", close=True), "closed", "maximum con"),
        (opening(INFO, b"-ERR 'Authorization Violation'\r\n", close=True), ".", "Authorization"),
        (opening(INFO, b"-ERR 'Slow'\r\n", close=False), "no answer to CONNECT", "Slow"),
        (opening(b'INFO {"tls_required":true}\r\n', close=False), "requires TLS", None),
    ],
)
def test_a_server_that_does_not_greet_properly(
    fake_server: FakeServer, script: Script, reason: str, last_error: str | None
) -> None:
    async def scenario() -> None:
        async with fake_server(script) as port:
            with pytest.raises(ConnectionLost, match=r"(?s)^connection lost: ") as caught:
                await Connection.open(HOST, port, connect_timeout=0.3)
            error = caught.value
            assert re.search(reason, error.reason)
            assert (last_error or "") in (error.last_error or "")
            assert (error.last_error is None) is (last_error is None)
            assert isinstance(error, JetproofError)
            assert error.phase == "play"

    bounded(scenario())


def test_nobody_listens() -> None:
    async def scenario() -> None:
        server = await asyncio.start_server(lambda reader, writer: None, HOST, 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        with pytest.raises(ConnectionLost, match=f"cannot connect to {HOST}:{port}") as caught:
            await Connection.open(HOST, port)
        assert "is a server listening there?" in str(caught.value)

    bounded(scenario())


def test_opening_can_be_cancelled(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        accepted = asyncio.Event()
        closed = asyncio.Event()

        async def script(reader: Reader, writer: Writer) -> None:
            accepted.set()
            try:
                await reader.read()
            finally:
                closed.set()

        async with fake_server(script) as port:
            task = asyncio.ensure_future(Connection.open(HOST, port))
            await accepted.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await closed.wait()

    bounded(scenario())


@pytest.mark.parametrize(
    ("last_words", "reason", "last_error"),
    [
        (b"", "the server closed the connection", None),
        (b"MSG a 1 10\r\nhal", "a frame was incomplete: 'MSG a 1 10", None),
        (b"-ERR 'Stale Connection'\r\n", "the server closed the connection", "Stale Connection"),
        (b"-ERR 'one'\r\n-ERR 'two'\r\n", "the server closed the connection", "two"),
        (b"GARBAGE \x1b[31m\r\n", "broke the protocol: unknown operation: 'GARBAGE", None),
    ],
)
def test_everybody_who_waits_learns_of_the_end(
    fake_server: FakeServer, last_words: bytes, reason: str, last_error: str | None
) -> None:
    async def scenario() -> None:
        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            while await reader.readline() != b"PING\r\n":
                pass
            await says(writer, last_words)

        reasons: list[str] = []
        async with fake_server(script) as port:
            connection = await Connection.open(HOST, port)
            connection.on_close(reasons.append)
            results = await asyncio.gather(
                connection.request("a"),
                connection.request("b"),
                connection.flush(),
                return_exceptions=True,
            )
            for result in results:
                assert isinstance(result, ConnectionLost)
                assert reason in result.reason
                assert result.last_error == last_error
                assert str(result).isprintable()
            assert await connection.wait_closed() == connection.close_reason
            assert reasons == [connection.close_reason]
            connection.on_close(reasons.append)
            await asyncio.sleep(0)
            assert len(reasons) == 2
            assert connection.closed
            for late in (connection.flush(), connection.drain(), connection.request("c")):
                with pytest.raises(ConnectionLost):
                    await late

    bounded(scenario())


def test_frames_before_the_garbage_are_delivered(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await reader.readline()
            await says(writer, b"MSG a 1 2\r\nhi\r\nMSG a 1 bad\r\n")
            await asyncio.Event().wait()

        async with fake_server(script) as port:
            connection = await Connection.open(HOST, port)
            received: list[Msg] = []
            connection.subscribe("a", lambda msg, at: received.append(msg))
            assert "message size is not a number" in await connection.wait_closed()
            assert received == [Msg("a", "1", None, None, b"hi")]

    bounded(scenario())


def test_a_silent_server_times_out_a_flush_and_a_late_pong_is_not_mistaken(
    fake_server: FakeServer,
) -> None:
    async def scenario() -> None:
        speak = asyncio.Event()

        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await speak.wait()
            await says(writer, b"PONG\r\n")
            assert await reader.readline() == b"PING\r\n"
            assert await reader.readline() == b"SUB mark 1\r\n"
            assert await reader.readline() == b"PING\r\n"
            await says(writer, b"MSG mark 1 0\r\n\r\nPONG\r\n")
            await asyncio.Event().wait()

        async with fake_server(script) as port:
            connection = await Connection.open(HOST, port)
            marks: list[Msg] = []
            with pytest.raises(WireTimeout, match=r"did not answer PING within 0\.05 s"):
                await connection.flush(timeout=0.05)
            assert not connection.closed
            speak.set()
            connection.subscribe("mark", lambda msg, at: marks.append(msg))
            await connection.flush(timeout=20)
            assert len(marks) == 1, "the PONG of the first PING answered the second"
            connection.abort()

    bounded(scenario())


def test_a_server_that_does_not_read_makes_drain_wait(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        read_on = asyncio.Event()
        total = 0

        async def script(reader: Reader, writer: Writer) -> None:
            nonlocal total
            await greet(reader, writer)
            await read_on.wait()
            while data := await reader.read(1 << 20):
                total += len(data)
                if b"PING\r\n" in data[-6:]:
                    await says(writer, b"PONG\r\n")

        async with fake_server(script) as port:
            connection = await Connection.open(HOST, port, write_limit=1 << 16)
            payload = bytes(1 << 20)
            for _ in range(40):
                connection.publish("a", payload)
            waiting = asyncio.ensure_future(connection.drain())
            await asyncio.sleep(0.05)
            assert not waiting.done()
            read_on.set()
            await waiting
            await connection.flush(timeout=20)
            assert total > 40 * len(payload)
            await connection.close()

    bounded(scenario())


def test_closing_a_stuck_connection_does_not_hang(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            await asyncio.Event().wait()

        async with fake_server(script) as port:
            connection = await Connection.open(HOST, port)
            connection.publish("a", bytes(50 << 20))
            waiting = asyncio.ensure_future(connection.drain())
            await asyncio.sleep(0)
            await connection.close(timeout=0.1)
            assert connection.close_reason == "closed by this side"
            with pytest.raises(ConnectionLost):
                await waiting

    bounded(scenario())


def test_closing_sends_what_was_published(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        everything: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            everything.set_result(await reader.read())

        async with fake_server(script) as port:
            async with await Connection.open(HOST, port) as connection:
                connection.publish("a", b"last")
            assert await everything == b"PUB a 4\r\nlast\r\n"

    bounded(scenario())


@pytest.mark.parametrize("answer", [True, False])
def test_the_servers_ping_is_answered_unless_told_otherwise(
    fake_server: FakeServer, answer: bool
) -> None:
    async def scenario() -> None:
        lines: list[bytes] = []

        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await reader.readline()
            await says(writer, b"PING\r\nMSG go 1 0\r\n\r\n")
            while line := await reader.readline():
                lines.append(line)

        async with fake_server(script) as port:
            connection = await Connection.open(HOST, port, auto_pong=answer)
            connection.subscribe("go", lambda msg, at: connection.publish("end"))
            while b"PUB end 0\r\n" not in lines:
                await asyncio.sleep(0.005)
            assert (b"PONG\r\n" in lines) is answer
            connection.abort()

    bounded(scenario())


def test_a_newer_info_replaces_the_first(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await reader.readline()
            await says(writer, b'INFO {"version":"9"}\r\n')

        async with fake_server(script) as port:
            connection = await Connection.open(HOST, port)
            assert connection.info["version"] == "0.0.0"
            connection.publish("go")
            await connection.wait_closed()
            assert connection.info["version"] == "9"

    bounded(scenario())


def test_a_faulty_callback_is_reported_and_the_others_go_on(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await reader.readline()
            await says(writer, b"MSG a 1 0\r\n\r\nMSG b 2 0\r\n\r\n-ERR 'x'\r\n")

        reported: list[object] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: reported.append(context["exception"])
        )
        failure = ZeroDivisionError("a bug in a callback")

        def fail(*arguments: object) -> None:
            raise failure

        received: list[Msg] = []
        async with fake_server(script) as port:
            connection = await Connection.open(HOST, port)
            connection.on_error(fail)
            connection.subscribe("a", fail)
            connection.subscribe("b", lambda msg, at: received.append(msg))
            await connection.wait_closed()
        assert [msg.subject for msg in received] == ["b"]
        assert reported == [failure, failure]
        assert connection.close_reason == "the server closed the connection"

    bounded(scenario())


def test_messages_of_unknown_subscriptions_reach_only_the_observer(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await says(writer, b"MSG a nine 0\r\n\r\n")

        seen: list[str] = []
        async with fake_server(script) as port:
            connection = await Connection.open(
                HOST, port, on_event=lambda direction, frame, at: seen.append(frame.op)
            )
            await connection.wait_closed()
        assert seen == ["INFO", "CONNECT", "PING", "PONG", "MSG"]

    bounded(scenario())


def test_a_server_that_ignores_the_limit_of_a_subscription(fake_server: FakeServer) -> None:
    async def scenario() -> None:
        async def script(reader: Reader, writer: Writer) -> None:
            await greet(reader, writer)
            await reader.readline()
            assert await reader.readline() == b"UNSUB 1 2\r\n"
            await says(writer, b"MSG a 1 0\r\n\r\n" * 5)

        seen: list[str] = []
        received: list[Msg] = []
        async with fake_server(script) as port:
            connection = await Connection.open(
                HOST, port, on_event=lambda direction, frame, at: seen.append(frame.op)
            )
            sid = connection.subscribe("a", lambda msg, at: received.append(msg))
            connection.unsubscribe(sid, max=2)
            await connection.wait_closed()
        assert len(received) == 2
        assert seen.count("MSG") == 5

    bounded(scenario())


def test_the_last_error_is_read_although_the_connection_broke_while_we_sent() -> None:
    """A server that refuses a message and closes has not read the rest of it: that is a reset."""
    listener = socket.create_server((HOST, 0))
    reset = threading.Event()

    def serve() -> None:
        peer, _ = listener.accept()
        peer.sendall(INFO)
        heard = b""
        while b"PING\r\n" not in heard:
            heard += peer.recv(4096)
        peer.sendall(b"PONG\r\n")
        while b"PUB" not in heard:
            heard += peer.recv(4096)
        peer.sendall(b"-ERR 'Maximum Payload Violation'\r\n")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        reset.set()

    async def scenario() -> None:
        connection = await Connection.open(HOST, listener.getsockname()[1])
        connection.publish("a", b"x")
        await connection.drain()
        assert reset.wait(10)  # without a turn of the loop: nothing is read meanwhile
        connection.publish("a", b"y")
        await connection.drain()
        while not connection.closed:
            await asyncio.sleep(0.01)
        assert connection.errors == ["Maximum Payload Violation"]
        assert "the connection broke" in (connection.close_reason or "")

    server = threading.Thread(target=serve)
    server.start()
    try:
        bounded(scenario())
    finally:
        listener.close()
        server.join(10)
