"""An adapter of Jetproof around nats-py: a line of JSON for each call, answer and event."""

import asyncio
import base64
import inspect
import itertools
import json
import platform
import ssl
import sys
from dataclasses import dataclass, fields
from importlib import metadata

import nats
from nats.js import api

VERSION = metadata.version("nats-py")
decoded = base64.b64decode


class Unsupported(Exception):
    """The library has no call for what was asked."""


class NotOpen(Exception):
    """Nothing has that name: its opening failed, or was never asked for."""


class Names(dict):
    def __missing__(self, name):
        raise NotOpen(name)


@dataclass
class Ordered:
    """An ordered consumer before anybody consumes: nats-py creates it and subscribes in one."""

    stream: str
    config: dict


class Adapter:
    """A method is an operation; its arguments are the parameters that nats-py can express."""

    def __init__(self):
        self._nc = self._js = None
        self._named, self._consumers, self._messages = Names(), Names(), Names()
        self._names = (f"m{number}" for number in itertools.count(1))

    async def hello(self, protocol):
        runtime = f"{platform.python_implementation()} {platform.python_version()}"
        told = {"protocol": 1, "library": "nats-py", "version": VERSION, "language": "python"}
        told |= {"runtime": runtime, "parts": {"nats-py": VERSION}, "claims": {}}
        return told | {"capabilities": [op for op in OPERATIONS if op != "hello"]}

    async def connect(
        self, url, tls_ca=None, reconnect_wait_ms=None, max_reconnects=None, timeout_ms=None, **more
    ):
        options = more | given(max_reconnect_attempts=max_reconnects)
        options |= seconds(reconnect_time_wait=reconnect_wait_ms)
        if tls_ca is not None:
            options["tls"] = ssl.create_default_context(cafile=tls_ca)
        nc = nats.NATS()
        await called(nc.connect, url, **callbacks(), **options)
        self._nc, self._js = nc, nc.jetstream(**seconds(timeout=timeout_ms))

    async def close(self):
        if self._nc is not None:
            await self._nc.close()
        self._nc = self._js = None
        for names in (self._named, self._consumers, self._messages):
            names.clear()

    async def publish(
        self, subject, data="", headers=None, expect_stream=None, ttl_ms=None, timeout_ms=None
    ):
        options = given(stream=expect_stream) | seconds(timeout=timeout_ms, msg_ttl=ttl_ms)
        if headers is not None:
            options["headers"] = dict(headers)
            if len(options["headers"]) < len(headers):
                raise Unsupported("headers with one name twice")
        ack = (await called(self._js.publish, subject, decoded(data), **options)).as_dict()
        ack.pop("val", None)
        return {"ack": ack | {name: str(ack[name]) for name in ("seq", "count") if name in ack}}

    async def direct_get(self, stream, seq=None, last_by_subject=None, next_by_subject=None):
        options = given(seq=seq and int(seq), subject=last_by_subject or next_by_subject)
        options |= {"next": True} if next_by_subject is not None else {}
        return {"message": stored(await called(self._js.get_msg, stream, direct=True, **options))}

    async def message_get(self, stream, seq=None, last_by_subject=None):
        options = given(seq=seq and int(seq), subject=last_by_subject)
        return {"message": stored(await self._js.get_msg(stream, **options))}

    async def consumer_get(self, as_, stream, consumer):
        self._named[as_] = await self._js.pull_subscribe_bind(consumer, stream)
        self._consumers[as_] = stream, consumer

    async def consumer_create(self, as_, stream, config):
        if unknown := config.keys() - {field.name for field in fields(api.ConsumerConfig)}:
            raise Unsupported(f"a consumer with {min(unknown)}")
        info = await self._js.add_consumer(stream, api.ConsumerConfig.from_response(config))
        await self.consumer_get(as_, stream, info.name)

    async def consumer_info(self, of):
        info = (await self._named[of].consumer_info()).as_dict()
        return {"info": {k: str(v) if k.startswith("num_") else v for k, v in info.items()}}

    async def consumer_delete(self, of):
        await self._js.delete_consumer(*self._consumers[of])

    async def ordered_get(
        self, as_, stream, filter_subjects=None, deliver_policy=None, start_seq=None
    ):
        config = given(filter_subjects=filter_subjects, deliver_policy=deliver_policy)
        config |= given(opt_start_seq=start_seq and int(start_seq))
        self._named[as_] = Ordered(stream, config)

    async def fetch(self, of, max_messages=None, expires_ms=None, heartbeat_ms=None):
        source = self._named[of]
        if isinstance(source, Ordered):
            raise Unsupported("fetch from an ordered consumer")
        options = given(batch=max_messages) | seconds(timeout=expires_ms, heartbeat=heartbeat_ms)
        messages = await called(source.fetch, **options)
        return {"messages": [self._delivered(message) for message in messages]}

    async def consume(self, of, as_):
        source = self._named[of]
        if not isinstance(source, Ordered):
            raise Unsupported("consume from a consumer that is not ordered")

        async def heard(message):
            say({"event": "message", "of": as_, **self._delivered(message)})

        config = api.ConsumerConfig(**source.config)
        self._named[as_] = await self._js.subscribe(
            ">", stream=source.stream, cb=heard, config=config, ordered_consumer=True
        )

    async def consume_stop(self, of):
        await self._named[of].unsubscribe()
        say({"event": "end", "of": of})

    async def consume_drain(self, of):
        await self._named[of].drain()
        say({"event": "end", "of": of})

    async def ack(self, messages, kind, delay_ms=None, timeout_ms=None):
        options = seconds(delay=delay_ms, timeout=timeout_ms)
        for message in [self._messages[name] for name in messages]:
            acks = {"ack": message.ack, "double": message.ack_sync, "nak": message.nak}
            acks |= {"progress": message.in_progress, "term": message.term}
            await called(acks[kind], **options)

    def _delivered(self, message):
        name = next(self._names)
        self._messages[name] = message
        told = message.metadata
        return {
            "msg": name,
            "subject": message.subject,
            "data": encoded(message.data),
            "headers": list((message.headers or {}).items()),
            "stream": told.stream,
            "consumer": told.consumer,
            "seq": str(told.sequence.stream),
            "consumer_seq": str(told.sequence.consumer),
            "delivered": str(told.num_delivered),
            "pending": str(told.num_pending),
            "time": told.timestamp.isoformat(),
        }

    async def kv_open(self, as_, bucket):
        self._named[as_] = await self._js.key_value(bucket)

    async def kv_get(self, of, key, revision=None):
        entry = await self._named[of].get(key, **given(revision=revision and int(revision)))
        told = given(key=entry.key, revision=entry.revision and str(entry.revision))
        return {"entry": told | {"data": encoded(entry.value)}}

    async def kv_put(self, of, key, data=""):
        return {"revision": str(await self._named[of].put(key, decoded(data)))}

    async def kv_create(self, of, key, data=""):
        return {"revision": str(await self._named[of].create(key, decoded(data)))}

    async def kv_update(self, of, key, revision, data=""):
        last = int(revision)
        return {"revision": str(await self._named[of].update(key, decoded(data), last=last))}

    async def kv_delete(self, of, key):
        await self._named[of].delete(key)

    async def kv_purge(self, of, key):
        await self._named[of].purge(key)

    async def kv_list(self, of):
        return {"keys": await self._named[of].keys()}

    async def object_open(self, as_, bucket):
        self._named[as_] = await self._js.object_store(bucket)

    async def object_put(self, of, name, data=""):
        info = await self._named[of].put(name, decoded(data))
        return {"info": {} if info.size is None else {"size": str(info.size)}}

    async def object_get(self, of, name):
        return {"data": encoded((await self._named[of].get(name)).data)}


OPERATIONS = {
    name.replace("_", ".", 1): method
    for name, method in vars(Adapter).items()
    if not name.startswith("_")
}


def given(**values):
    """What was given, or what the library gave; the rest is left out."""
    return {name: value for name, value in values.items() if value is not None}


def encoded(data):
    return base64.b64encode(data or b"").decode()


def seconds(**milliseconds):
    return {name: value / 1000 for name, value in given(**milliseconds).items()}


def called(function, *arguments, **options):
    """Calls the library; what it has no parameter for, perhaps in an older release, is told."""
    known = inspect.signature(function).parameters if options else {}
    open_end = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    if not open_end and (unknown := options.keys() - known.keys()):
        raise Unsupported(f"{function.__name__} with {min(unknown)}")
    return function(*arguments, **options)


def stored(message):
    told = given(subject=message.subject, seq=message.seq and str(message.seq))
    told |= {"time": message.time.isoformat()} if getattr(message, "time", None) else {}
    return told | {"data": encoded(message.data), "headers": list((message.headers or {}).items())}


def callbacks():
    """The library's callbacks of a connection, each told as an event under its own name."""

    def telling(kind):
        async def tell(error=None):
            told = {} if error is None else {"error": failure(error)}
            say({"event": "connection", "kind": kind, "name": f"{kind}_cb", **told})

        return tell

    kinds = ("error", "disconnected", "reconnected", "closed")
    return {f"{kind}_cb": telling(kind) for kind in kinds}


def failure(error):
    told = {"type": type(error).__name__, "text": str(error)}
    for name, kind in (("code", int), ("err_code", int), ("description", str)):
        if isinstance(value := getattr(error, name, None), kind):
            told[name] = value
    return told


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
    except Exception as error:
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
