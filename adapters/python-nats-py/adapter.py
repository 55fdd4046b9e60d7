"""An adapter of Jetproof around nats-py."""

import ssl
from dataclasses import dataclass

import nats
from kit.adapter import (
    Adapter,
    NotOpen,
    Unsupported,
    called,
    check_fields,
    decoded,
    digits,
    encoded,
    given,
    one_value_each,
    pairs,
    seconds,
)
from nats.js import api


@dataclass
class Ordered:
    """An ordered consumer before anybody consumes: nats-py creates it and subscribes in one."""

    stream: str
    config: dict


class NatsPy(Adapter):
    """Operations by the calls of nats-py."""

    library = "nats-py"

    def __init__(self):
        super().__init__()
        self._nc = self._context = None
        self._consumers = {}

    def _fields(self, error):
        kinds = {"code": int, "err_code": int, "description": str}
        offered = {name: getattr(error, name, None) for name in kinds}
        return {name: value for name, value in offered.items() if isinstance(value, kinds[name])}

    # The connection

    async def connect(
        self, url, tls_ca=None, reconnect_wait_ms=None, max_reconnects=None, timeout_ms=None, **more
    ):
        options = more | given(max_reconnect_attempts=max_reconnects)
        options |= seconds(reconnect_time_wait=reconnect_wait_ms)
        if tls_ca is not None:
            options["tls"] = ssl.create_default_context(cafile=tls_ca)
        kinds = ("error", "disconnected", "reconnected", "closed")
        callbacks = {f"{kind}_cb": self._telling(kind) for kind in kinds}
        nc = nats.NATS()
        await called(nc.connect, url, **callbacks, **options)
        self._nc, self._context = nc, nc.jetstream(**seconds(timeout=timeout_ms))

    def _telling(self, kind):
        """A callback of the library, told as an event under its own name."""

        async def tell(error=None):
            self.event("connection", kind=kind, name=f"{kind}_cb", error=error)

        return tell

    @property
    def _js(self):
        if self._context is None:
            raise NotOpen("there is no connection")
        return self._context

    async def _disconnect(self):
        if self._nc is not None:
            await self._nc.close()
        self._nc = self._context = None
        self._consumers.clear()

    # Publishing and reading

    async def publish(
        self, subject, data="", headers=None, expect_stream=None, ttl_ms=None, timeout_ms=None
    ):
        options = given(stream=expect_stream) | seconds(timeout=timeout_ms, msg_ttl=ttl_ms)
        if headers is not None:
            options["headers"] = one_value_each(headers)
        ack = (await called(self._js.publish, subject, decoded(data), **options)).as_dict()
        ack.pop("val", None)
        return {"ack": ack | digits(seq=ack.get("seq"), count=ack.get("count"))}

    async def direct_get(self, stream, seq=None, last_by_subject=None, next_by_subject=None):
        options = given(seq=seq and int(seq), subject=last_by_subject or next_by_subject)
        options |= {"next": True} if next_by_subject is not None else {}
        return {"message": stored(await called(self._js.get_msg, stream, direct=True, **options))}

    async def message_get(self, stream, seq=None, last_by_subject=None):
        options = given(seq=seq and int(seq), subject=last_by_subject)
        return {"message": stored(await self._js.get_msg(stream, **options))}

    # Consumers

    async def consumer_get(self, as_, stream, consumer):
        self.opened[as_] = await self._js.pull_subscribe_bind(consumer, stream)
        self._consumers[as_] = stream, consumer

    async def consumer_create(self, as_, stream, config):
        check_fields("a consumer", config, api.ConsumerConfig)
        info = await self._js.add_consumer(stream, api.ConsumerConfig.from_response(config))
        await self.consumer_get(as_, stream, info.name)

    async def consumer_info(self, of):
        info = (await self.opened[of].consumer_info()).as_dict()
        return {"info": {k: str(v) if k.startswith("num_") else v for k, v in info.items()}}

    async def consumer_delete(self, of):
        if of not in self._consumers:
            raise NotOpen(f"no consumer was opened under the name {of}")
        await self._js.delete_consumer(*self._consumers[of])

    async def ordered_get(
        self, as_, stream, filter_subjects=None, deliver_policy=None, start_seq=None
    ):
        config = given(filter_subjects=filter_subjects, deliver_policy=deliver_policy)
        config |= given(opt_start_seq=start_seq and int(start_seq))
        self.opened[as_] = Ordered(stream, config)

    async def fetch(self, of, max_messages=None, expires_ms=None, heartbeat_ms=None):
        source = self.opened[of]
        if isinstance(source, Ordered):
            raise Unsupported("fetch from an ordered consumer")
        options = given(batch=max_messages) | seconds(timeout=expires_ms, heartbeat=heartbeat_ms)
        messages = await called(source.fetch, **options)
        return {"messages": [self._delivered(message) for message in messages]}

    async def consume(self, of, as_):
        source = self.opened[of]
        if not isinstance(source, Ordered):
            raise Unsupported("consume from a consumer that is not ordered")

        async def heard(message):
            self.event("message", as_, **self._delivered(message))

        config = api.ConsumerConfig(**source.config)
        self.opened[as_] = await self._js.subscribe(
            ">", stream=source.stream, cb=heard, config=config, ordered_consumer=True
        )

    async def consume_stop(self, of):
        await self.opened[of].unsubscribe()
        self.event("end", of)

    async def consume_drain(self, of):
        await self.opened[of].drain()
        self.event("end", of)

    async def ack(self, messages, kind, delay_ms=None, timeout_ms=None):
        options = seconds(delay=delay_ms, timeout=timeout_ms)
        for message in [self.kept(name) for name in messages]:
            acks = {"ack": message.ack, "double": message.ack_sync, "nak": message.nak}
            acks |= {"progress": message.in_progress, "term": message.term}
            await called(acks[kind], **options)

    def _delivered(self, message):
        told = message.metadata
        return {
            "msg": self.keep(message),
            "subject": message.subject,
            "data": encoded(message.data),
            "headers": pairs(message.headers),
            "stream": told.stream,
            "consumer": told.consumer,
            **digits(seq=told.sequence.stream, consumer_seq=told.sequence.consumer),
            **digits(delivered=told.num_delivered, pending=told.num_pending),
            "time": told.timestamp.isoformat(),
        }

    # Buckets and objects

    async def kv_open(self, as_, bucket):
        self.opened[as_] = await self._js.key_value(bucket)

    async def kv_get(self, of, key, revision=None):
        entry = await self.opened[of].get(key, **given(revision=revision and int(revision)))
        told = given(key=entry.key) | digits(revision=entry.revision or None)
        return {"entry": told | {"data": encoded(entry.value)}}

    async def kv_put(self, of, key, data=""):
        return digits(revision=await self.opened[of].put(key, decoded(data)))

    async def kv_create(self, of, key, data=""):
        return digits(revision=await self.opened[of].create(key, decoded(data)))

    async def kv_update(self, of, key, revision, data=""):
        made = await self.opened[of].update(key, decoded(data), last=int(revision))
        return digits(revision=made)

    async def kv_delete(self, of, key):
        await self.opened[of].delete(key)

    async def kv_purge(self, of, key):
        await self.opened[of].purge(key)

    async def kv_list(self, of):
        return {"keys": await self.opened[of].keys()}

    async def object_open(self, as_, bucket):
        self.opened[as_] = await self._js.object_store(bucket)

    async def object_put(self, of, name, data=""):
        info = await self.opened[of].put(name, decoded(data))
        return {"info": digits(size=info.size)}

    async def object_get(self, of, name):
        return {"data": encoded((await self.opened[of].get(name)).data)}


def stored(message):
    told = given(subject=message.subject) | digits(seq=message.seq or None)
    told |= {"time": message.time.isoformat()} if getattr(message, "time", None) else {}
    return told | {"data": encoded(message.data), "headers": pairs(message.headers)}


NatsPy().serve()
