"""Tiny NATS servers that misbehave on purpose, on the project's own codec.

`Polite` does what a case can ask of a plain server: it routes messages, says 503 where nobody
listens, makes streams and acknowledges what is published to them. Every other server is polite but
for one thing. They hold no state worth the name and live in the event loop of their test:

    async with serving(Mute()) as fake:
        ... fake.url ...

`python -m fakes garbage`, in the folder of the tests, prints its URL and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

from jetproof.wire import (
    Connect,
    Err,
    Frame,
    Headers,
    Info,
    Msg,
    Parser,
    Ping,
    Pong,
    ProtocolError,
    Pub,
    Sub,
    Unsub,
    encode,
)

HOST = "127.0.0.1"
VERSION = "2.15.1"
RUN_PREFIX = re.compile(r"jp[0-9a-f]{6}(?=[0-9a-z]{6})")
NO_RESPONDERS = Headers(status=503)
TYPE = "io.nats.jetstream.api.v1"
NOW = "2026-01-01T00:00:00Z"
EMPTY: dict[str, Any] = {
    "messages": 0, "bytes": 0, "first_seq": 0, "first_ts": NOW, "last_seq": 0, "last_ts": NOW,
    "consumer_count": 0,
}  # fmt: skip
LIMITS = (
    "max_memory", "max_storage", "max_streams", "max_consumers", "max_ack_pending",
    "memory_max_stream_bytes", "storage_max_stream_bytes",
)  # fmt: skip
ACCOUNT: dict[str, Any] = {
    "memory": 0, "storage": 0, "reserved_memory": 0, "reserved_storage": 0, "streams": 0,
    "consumers": 0, "limits": {**dict.fromkeys(LIMITS, -1), "max_bytes_required": False},
    "api": {"level": 5, "total": 1, "errors": 0},
}  # fmt: skip
DEFAULTS: dict[str, Any] = {
    "retention": "limits", "max_consumers": -1, "max_msgs": -1, "max_bytes": -1, "max_age": 0,
    "max_msgs_per_subject": -1, "max_msg_size": -1, "discard": "old", "storage": "file",
    "num_replicas": 1, "compression": "none", "allow_direct": False, "mirror_direct": False,
    "sealed": False, "deny_delete": False, "deny_purge": False, "allow_rollup_hdrs": False,
    "consumer_limits": {},
}  # fmt: skip


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Client:
    """One connection to a fake: what it subscribed to, and the way back to it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.subscriptions: dict[str, str] = {}

    def send(self, *frames: Frame) -> None:
        self.send_bytes(b"".join(map(encode, frames)))

    def send_bytes(self, data: bytes) -> None:
        if not self.writer.is_closing():
            self.writer.write(data)

    def close(self) -> None:
        self.writer.close()


class Polite:
    """A server without faults, as far as the cases of these tests look."""

    def __init__(self) -> None:
        self.clients: list[Client] = []
        self.published: list[Pub] = []
        self.streams: dict[str, dict[str, Any]] = {}
        self.stored: dict[tuple[str, int], Pub] = {}
        self.port = 0
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"nats://{HOST}:{self.port}"

    # What a fake may do otherwise.

    def greet(self, client: Client) -> None:
        info = {"server_id": "FAKE", "version": VERSION, "jetstream": True, "headers": True}
        client.send(Info({**info, "max_payload": 8 * 1024 * 1024}))

    def pinged(self, client: Client) -> None:
        client.send(Pong())

    def requested(self, client: Client, frame: Pub) -> None:
        """A message came in. The polite answer to a request is `answer`, sent at once."""
        if frame.reply is not None and (answer := self.answer(frame)) is not None:
            self.reply(client, frame, *answer)
        else:
            self.deliver(client, frame)

    def answer(self, frame: Pub) -> tuple[Headers | None, bytes] | None:
        """The reply of the server itself to a request, None if it is for a subscriber."""
        call = frame.subject.removeprefix("$JS.API.")
        if call != frame.subject:
            return None, json.dumps(self.api(call, frame.payload)).encode()
        if frame.subject.split(".")[0] in self.streams:
            return None, json.dumps(self.store(frame)).encode()
        return None

    # What all of them share.

    def api(self, call: str, payload: bytes) -> dict[str, Any]:
        name = call.rpartition(".")[2]
        if call == "INFO":
            return {"type": f"{TYPE}.account_info_response", **ACCOUNT}
        if call == "STREAM.NAMES":
            return {"type": f"{TYPE}.stream_names_response", "streams": list(self.streams)}
        if call.startswith("STREAM.CREATE."):
            config = {**DEFAULTS, **json.loads(payload)}
            self.streams[name] = {"config": config, "created": NOW, "ts": NOW, "state": {**EMPTY}}
            return {"type": f"{TYPE}.stream_create_response", **self.streams[name]}
        if call.startswith("STREAM.INFO.") and name in self.streams:
            page = {"total": 0, "offset": 0, "limit": 1024}
            return {"type": f"{TYPE}.stream_info_response", **page, **self.streams[name]}
        if call.startswith("STREAM.MSG.GET.") and name in self.streams:
            return {
                "type": f"{TYPE}.stream_msg_get_response",
                **self.got(name, json.loads(payload)),
            }
        if call.startswith("STREAM.DELETE.") and self.streams.pop(name, None):
            return {"type": f"{TYPE}.stream_delete_response", "success": True}
        error = {"code": 404, "err_code": 10059, "description": "stream not found"}
        return {"type": f"{TYPE}.error_response", "error": error}

    def store(self, frame: Pub) -> dict[str, Any]:
        name = frame.subject.split(".")[0]
        state = self.streams[name]["state"]
        state["messages"] += 1
        state["first_seq"] = 1
        state["last_seq"] += 1
        self.stored[name, state["last_seq"]] = frame
        return {"stream": name, "seq": state["last_seq"]}

    def got(self, stream: str, asked: dict[str, Any]) -> dict[str, Any]:
        """A stored message, by its sequence or as the last of its subject."""
        found = [
            (seq, frame)
            for (name, seq), frame in self.stored.items()
            if name == stream and asked in ({"seq": seq}, {"last_by_subj": frame.subject})
        ]
        if not found:
            return {"error": {"code": 404, "err_code": 10037, "description": "no message found"}}
        seq, frame = found[-1]
        message = {
            "subject": frame.subject,
            "seq": seq,
            "time": NOW,
            "data": _base64(frame.payload),
        }
        if frame.headers is not None:
            message["hdrs"] = _base64(frame.headers.encode())
        return {"message": message}

    def reply(self, client: Client, frame: Pub, headers: Headers | None, payload: bytes) -> None:
        """An answer goes to whoever listens on the reply subject."""
        assert frame.reply is not None
        self.deliver(client, Pub(frame.reply, None, headers, payload))

    def deliver(self, sender: Client, frame: Pub) -> None:
        heard = False
        for client in self.clients:
            for sid, subject in client.subscriptions.items():
                if matches(subject, frame.subject):
                    heard = True
                    client.send(Msg(frame.subject, sid, frame.reply, frame.headers, frame.payload))
        if not heard and frame.reply is not None:
            for sid, subject in sender.subscriptions.items():
                if matches(subject, frame.reply):
                    sender.send(Msg(frame.reply, sid, None, NO_RESPONDERS, b""))

    def received(self, client: Client, frame: Frame) -> None:
        match frame:
            case Ping():
                self.pinged(client)
            case Sub(subject, _, sid):
                client.subscriptions[sid] = subject
            case Unsub(sid, _):
                client.subscriptions.pop(sid, None)
            case Pub():
                self.published.append(frame)
                self.requested(client, frame)
            case Connect() | Pong():
                pass

    def heard(self, subject: str) -> bool:
        """Whether somebody subscribes to a subject that begins like this."""
        return any(
            wanted.startswith(subject)
            for client in self.clients
            for wanted in client.subscriptions.values()
        )

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Client(writer)
        self.clients.append(client)
        parser = Parser("server")
        self.greet(client)
        try:
            while data := await reader.read(64 * 1024):
                for frame in parser.feed(data):
                    self.received(client, frame)
                await writer.drain()
        except (ConnectionError, ProtocolError):
            pass
        finally:
            self.clients.remove(client)
            client.close()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self.talk, HOST, 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Listens no more and drops everybody."""
        if self._server is not None:
            self._server.close()
        for client in list(self.clients):
            client.close()


class Silent(Polite):
    """Accepts connections and says nothing at all."""

    def greet(self, client: Client) -> None: ...

    def received(self, client: Client, frame: Frame) -> None: ...


class Mute(Polite):
    """Alive, but answers no request for which `about` holds."""

    def __init__(self, about: Callable[[Pub], bool] = lambda _: True) -> None:
        super().__init__()
        self._about = about

    def requested(self, client: Client, frame: Pub) -> None:
        if not self._about(frame):
            super().requested(client, frame)


class PingDeaf(Mute):
    """Answers neither PING nor request once the first message has come: it hangs."""

    def pinged(self, client: Client) -> None:
        if not self.published:
            super().pinged(client)


class Wrong(Polite):
    """Answers every request for which `about` holds with the same message, whatever was asked."""

    def __init__(
        self,
        payload: bytes = b'{"stream":"nobody","seq":-1}',
        headers: Headers | None = None,
        about: Callable[[Pub], bool] = lambda _: True,
    ) -> None:
        super().__init__()
        self._payload = payload
        self._headers = headers
        self._about = about

    def requested(self, client: Client, frame: Pub) -> None:
        if frame.reply is not None and self._about(frame):
            self.reply(client, frame, self._headers, self._payload)
        else:
            super().requested(client, frame)


class Flaky(Wrong):
    """Right in the first run that it sees, wrong in the second, right in the third, and so on.

    `once`: wrong in the second run, and in no other."""

    def __init__(self, *, once: bool = False) -> None:
        super().__init__(about=self._second)
        self._runs: list[str] = []
        self._once = once

    def _second(self, frame: Pub) -> bool:
        """Runs are told apart by the part that the fresh names of their cases share."""
        found = RUN_PREFIX.search(f"{frame.subject} {frame.reply}")
        if found is None:
            return False
        if found[0] not in self._runs:
            self._runs.append(found[0])
        number = self._runs.index(found[0])
        wrong = number == 1 if self._once else number % 2 == 1
        return wrong and not frame.subject.startswith("$JS")


class Slow(Polite):
    """Right, but every answer takes this long."""

    def __init__(self, seconds: float = 0.2) -> None:
        super().__init__()
        self._seconds = seconds
        self._late: set[asyncio.Task[None]] = set()

    def requested(self, client: Client, frame: Pub) -> None:
        task = asyncio.get_running_loop().create_task(self._later(client, frame))
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    async def _later(self, client: Client, frame: Pub) -> None:
        await asyncio.sleep(self._seconds)
        super().requested(client, frame)


class Crashes(Polite):
    """Gone for good at the first message on a subject that ends in `crash`."""

    def requested(self, client: Client, frame: Pub) -> None:
        if frame.subject.endswith("crash"):
            self.stop()
        else:
            super().requested(client, frame)


class Cuts(Polite):
    """Closes the connection that sends on a subject that ends in `cut`, and only that one."""

    def requested(self, client: Client, frame: Pub) -> None:
        if frame.subject.endswith("cut"):
            client.close()
        else:
            super().requested(client, frame)


class CutsObserver(Polite):
    """Closes whoever listens to advisories, at the first message on a subject ending in `cut`."""

    def requested(self, client: Client, frame: Pub) -> None:
        if not frame.subject.endswith("cut"):
            super().requested(client, frame)
            return
        for other in list(self.clients):
            if any("ADVISORY" in subject for subject in other.subscriptions.values()):
                other.close()


class DeafHere(Polite):
    """Answers no PING any more on a connection that sent on a subject that ends in `deaf`."""

    def __init__(self) -> None:
        super().__init__()
        self._deaf: set[Client] = set()

    def requested(self, client: Client, frame: Pub) -> None:
        if frame.subject.endswith("deaf"):
            self._deaf.add(client)
        super().requested(client, frame)

    def pinged(self, client: Client) -> None:
        if client not in self._deaf:
            super().pinged(client)


class Garbage(Polite):
    """Answers a subject that ends in `garbage` with bytes that are no frame."""

    noise = b"\x00\xff\x1b[2J HTTP/1.1 400 Bad Request\r\n\r\n"

    def requested(self, client: Client, frame: Pub) -> None:
        if frame.subject.endswith("garbage"):
            client.send_bytes(self.noise)
        else:
            super().requested(client, frame)


class Refuses(Polite):
    """Says -ERR as often as `texts` has it to a subject that ends in `refuse`, then closes."""

    def __init__(self, *texts: str, close: bool = True) -> None:
        super().__init__()
        self._texts = texts or ("Permissions Violation",)
        self._close = close

    def requested(self, client: Client, frame: Pub) -> None:
        if not frame.subject.endswith("refuse"):
            super().requested(client, frame)
            return
        client.send(*map(Err, self._texts))
        if self._close:
            client.close()


HOSTILE_PAYLOADS: dict[str, bytes] = {
    "control characters": bytes(range(32)) + b"\x7f",
    "terminal escapes": b'{"x":"\x1b[2J\x1b]0;owned\x07\x1b[31m"}',
    "terminal escapes in JSON": json.dumps({"seq": "\x1b[2J\x1b]0;owned\x07\u202e"}).encode(),
    "megabytes": b"\x1b[31m" + b"A" * (4 * 1024 * 1024),
    "megabytes of JSON": json.dumps({"seq": "A" * (2 * 1024 * 1024)}).encode(),
    "a megabyte of code": json.dumps({"error": {"code": "4" * 2**20, "err_code": {}}}).encode(),
    "invalid UTF-8": b'{"seq":"\xff\xfe\xc0\x80"}',
    "half a surrogate pair": b'{"seq":"\\ud800","error":{"err_code":"\\udfff","code":1}}',
    "depth": b"[" * 100_000,
    "depth in an object": b'{"seq":' + b"[" * 900 + b"]" * 900 + b"}",
    "a huge number": b'{"seq":' + b"9" * 100_000 + b"}",
    "no JSON numbers": b'{"seq":NaN,"error":Infinity}',
    "UTF-16": '{"seq":7}'.encode("utf-16"),
    "line breaks": b'{"seq":"a\\u2028b\\r\\nMSG x 1 0\\r\\n"}',
    "nothing": b"",
}

HOSTILE_HEADERS: dict[str, bytes] = {
    "terminal escapes": b"NATS/1.0\r\nX: \x1b[2J\x1b]0;owned\x07\r\n\r\n",
    "invalid UTF-8": b"NATS/1.0\r\nX: \xff\xfe\r\n\xc0: 1\r\n\r\n",
    "a huge number": b"NATS/1.0\r\nX: 1" + b"0" * 4_000 + b"\r\n\r\n",
    "an odd status": b"NATS/1.0 99x \x1b[31m\r\n\r\n",
    "no header block": b"\x00\x01\x02",
}


def hostile() -> Wrong:
    """Everything that is not of the API gets escapes, bytes and length at once."""
    block = Headers.from_raw(HOSTILE_HEADERS["invalid UTF-8"])
    payload = b'{"seq":"\x1b[2J\x1b]0;owned\x07\xe2\x80\xae ' + b"A" * 2**20 + b'"}'
    return Wrong(payload, block, lambda frame: not frame.subject.startswith("$JS"))


def matches(pattern: str, subject: str) -> bool:
    """Whether a subscription's subject, wildcards and all, takes in a subject."""
    wanted, given = pattern.split("."), subject.split(".")
    if wanted[-1] == ">":
        wanted.pop()
        return len(given) > len(wanted) and all(map(_same, wanted, given))
    return len(wanted) == len(given) and all(map(_same, wanted, given))


def _same(wanted: str, given: str) -> bool:
    return wanted in ("*", given)


@contextlib.asynccontextmanager
async def serving(fake: Polite) -> AsyncIterator[Polite]:
    """The fake, listening, for the length of the block."""
    await fake.start()
    try:
        yield fake
    finally:
        fake.stop()
