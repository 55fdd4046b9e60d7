"""An adapter of Jetproof around nats-jetstream: a line of JSON for each call, answer and event."""

import asyncio
import base64
import dataclasses
import inspect
import itertools
import json
import platform
import ssl
import sys
from importlib import metadata

from nats import client, jetstream
from nats.jetstream.consumer import ConsumerConfig

PARTS = {name: metadata.version(name) for name in ("nats-jetstream", "nats-core")}
COUNTS = ("num_pending", "num_ack_pending", "num_redelivered", "num_waiting")
encoded = base64.b64encode
decoded = base64.b64decode


class Unsupported(Exception):
    """The library has no call for what was asked."""


class NotOpen(Exception):
    """The library gave nothing under that name."""


class Named(dict):
    def __missing__(self, name):
        raise NotOpen(f"nothing was opened under the name {name}")


class Adapter:
    """A method is an operation; its arguments are the parameters that the library can express."""

    def __init__(self):
        self._nc = None
        self._named = Named()
        self._messages = Named()
        self._names = (f"m{number}" for number in itertools.count(1))
        self._tasks = set()

    async def hello(self, protocol):
        return {
            "protocol": 1,
            "library": "nats-jetstream",
            "version": PARTS["nats-jetstream"],
            "language": "python",
            "runtime": f"{platform.python_implementation()} {platform.python_version()}",
            "parts": PARTS,
            "capabilities": [op for op in OPERATIONS if op != "hello"],
            "claims": {"adr-37": 3},
        }

    async def connect(self, url, tls_ca=None, reconnect_wait_ms=None, max_reconnects=None, **more):
        options = more | seconds(reconnect_time_wait=reconnect_wait_ms)
        if max_reconnects == 0:
            options["allow_reconnect"] = False
        elif max_reconnects is not None:
            options["reconnect_max_attempts"] = max(max_reconnects, 0)  # 0 is for ever
        if tls_ca is not None:
            options["tls"] = ssl.create_default_context(cafile=tls_ca)
        nc = await called(client.connect, url, **options)
        for kind in ("disconnected", "reconnected", "error"):
            getattr(nc, f"add_{kind}_callback")(telling(kind))
        self._nc = nc

    @property
    def _js(self):
        if self._nc is None:
            raise NotOpen("the adapter is not connected")
        return jetstream.new(self._nc)

    async def close(self):
        if self._nc is not None:
            await self._nc.close()
            await asyncio.sleep(0)  # what ends with the connection says so first
        for task in self._tasks:
            task.cancel()
        self._nc = None
        self._named.clear()
        self._messages.clear()

    async def publish(self, subject, data="", headers=None, timeout_ms=None):
        options = seconds(timeout=timeout_ms)
        if headers is not None:
            options["headers"] = dict(headers)
            if len(options["headers"]) < len(headers):
                raise Unsupported("headers with one name twice")
        ack = await self._js.publish(subject, decoded(data), **options)
        told = given(stream=ack.stream, duplicate=ack.duplicate, domain=ack.domain)
        told |= given(batch=getattr(ack, "batch_id", None))  # both from 0.3.0 on
        count = getattr(ack, "batch_size", None)
        return {"ack": told | numbers(seq=ack.sequence, count=count)}

    async def direct_get(self, stream, seq=None, last_by_subject=None):
        source = await self._js.get_stream(stream)
        if seq is not None:
            return {"message": stored(await source.get_message(int(seq)))}
        return {"message": stored(await source.get_last_message_for_subject(last_by_subject))}

    async def message_get(self, stream, seq=None, last_by_subject=None):
        if seq is not None:
            return {"message": stored(await self._js.get_message(stream, int(seq)))}
        found = await self._js.get_last_message_for_subject(stream, last_by_subject)
        return {"message": stored(found)}

    async def consumer_get(self, as_, stream, consumer):
        self._named[as_] = await self._js.get_consumer(stream, consumer)

    async def consumer_create(self, as_, stream, config):
        if unknown := config.keys() - {field.name for field in dataclasses.fields(ConsumerConfig)}:
            raise Unsupported(f"a consumer with {min(unknown)}")
        source = await self._js.get_stream(stream)
        self._named[as_] = await source.create_consumer(ConsumerConfig.from_response(config))

    async def consumer_info(self, of):
        return {"info": plain(dataclasses.asdict(await self._named[of].get_info()))}

    async def consumer_delete(self, of):
        consumer = self._named[of]
        await self._js.delete_consumer(consumer.stream_name, consumer.name)

    async def ordered_get(
        self, as_, stream, filter_subjects=None, deliver_policy=None, start_seq=None
    ):
        config = given(filter_subjects=filter_subjects, deliver_policy=deliver_policy)
        config |= given(opt_start_seq=start_seq and int(start_seq))
        self._named[as_] = await self._js.ordered_consumer(stream, **config)

    async def fetch(self, of, no_wait=False, **limits):
        consumer = self._named[of]
        batch = await called(consumer.fetch_nowait if no_wait else consumer.fetch, **pull(**limits))
        messages = [self._delivered(message) async for message in batch]
        return {"messages": messages} | ({"error": failure(batch.error)} if batch.error else {})

    async def next(self, of, **limits):
        message = await called(self._named[of].next, **pull(**limits))
        return {"message": self._delivered(message)}

    async def consume(self, of, as_, **limits):
        self._named[as_] = await called(self._named[of].messages, **pull(**limits))
        task = asyncio.create_task(self._consume(as_, self._named[as_]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _consume(self, name, messages):
        end = {"event": "end", "of": name}
        try:
            async for message in messages:
                say({"event": "message", "of": name, **self._delivered(message)})
        except Exception as error:
            end["error"] = failure(error)
        say(end)

    async def consume_stop(self, of):
        await self._named[of].stop()

    async def ack(self, messages, kind, delay_ms=None, reason=None, timeout_ms=None):
        for message in [self._messages[name] for name in messages]:
            if delay_ms is not None:
                await message.nak_with_delay(delay_ms / 1000)
            elif reason is not None:
                await message.term_with_reason(reason)
            else:
                acks = {"ack": message.ack, "double": message.double_ack, "nak": message.nak}
                acks |= {"progress": message.in_progress, "term": message.term}
                await called(acks[kind], **seconds(timeout=timeout_ms))

    def _delivered(self, message):
        name = next(self._names)
        self._messages[name] = message
        told = message.metadata
        places = numbers(seq=told.sequence.stream, consumer_seq=told.sequence.consumer)
        return {
            "msg": name,
            "subject": message.subject,
            "data": encoded(message.data).decode(),
            "headers": pairs(message.headers),
            "stream": told.stream,
            "consumer": told.consumer,
            **places,
            **numbers(delivered=told.num_delivered, pending=told.num_pending),
            "time": told.timestamp.isoformat(),
        }


OPERATIONS = {
    name.replace("_", ".", 1): method
    for name, method in vars(Adapter).items()
    if not name.startswith("_")
}
if not hasattr(jetstream.JetStream, "ordered_consumer"):  # before 0.2.0
    del OPERATIONS["ordered.get"]


def given(**values):
    """What was given, or what the library gave; the rest is left out."""
    return {name: value for name, value in values.items() if value is not None}


def seconds(**milliseconds):
    return {name: value / 1000 for name, value in given(**milliseconds).items()}


def numbers(**values):
    return {name: str(value) for name, value in given(**values).items()}


def pull(expires_ms=None, heartbeat_ms=None, group=None, **same):
    """The options of whatever pulls, under the library's names."""
    return same | seconds(max_wait=expires_ms, heartbeat=heartbeat_ms) | given(priority_group=group)


def called(function, *arguments, **options):
    """Calls the library; what it has no parameter for, perhaps in an older release, is told."""
    known = inspect.signature(function).parameters
    open_end = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    if not open_end and (unknown := options.keys() - known.keys()):
        raise Unsupported(f"{function.__name__} with {min(unknown)}")
    return function(*arguments, **options)


def pairs(headers):
    return [(name, value) for name, values in (headers or {}).items() for value in values]


def stored(message):
    return {
        "subject": message.subject,
        "data": encoded(message.data).decode(),
        "headers": pairs(message.headers),
        "seq": str(message.sequence),
        "time": message.time.isoformat(),
    }


def plain(told):
    """What a consumer's info holds, its sequences and counts as digits."""
    if not isinstance(told, dict):
        return told
    digits = {name for name in told if name in COUNTS or name.endswith("_seq")}
    return {k: str(v) if k in digits and v is not None else plain(v) for k, v in told.items()}


def telling(kind):
    def tell(error=None):
        told = {} if error is None else {"error": failure(error)}
        say({"event": "connection", "kind": kind, "name": f"{kind}_callback", **told})

    return tell


def failure(error):
    told = {"type": type(error).__name__, "text": str(error)}
    for name, ours in (("code", "code"), ("error_code", "err_code"), ("status", "status")):
        if (value := getattr(error, name, None)) is not None:
            told[ours] = int(value)
    return told | given(description=getattr(error, "description", None))


def say(line):
    sys.stdout.write(json.dumps(line, default=str) + "\n")
    sys.stdout.flush()


async def answer(adapter, call):
    number, op = call.pop("id"), call.pop("op")
    parameters = {"as_" if name == "as" else name: value for name, value in call.items()}
    method = OPERATIONS.get(op)
    try:
        if method is None:
            raise Unsupported(f"no API for {op}")
        say({"id": number, "ok": await called(method, adapter, **parameters) or {}})
    except Unsupported as reason:
        say({"id": number, "unsupported": str(reason)})
    except (Exception, asyncio.CancelledError) as error:
        # The library cancels the requests that are under way when it is closed.
        say({"id": number, "error": failure(error)})


async def main():
    lines = asyncio.StreamReader(limit=2**30)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    adapter, calls = Adapter(), set()
    while line := await lines.readline():
        task = asyncio.create_task(answer(adapter, json.loads(line)))
        calls.add(task)
        task.add_done_callback(calls.discard)
    await adapter.close()


asyncio.run(main())
