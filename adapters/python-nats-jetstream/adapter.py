"""An adapter of Jetproof around nats-jetstream."""

import asyncio
import dataclasses
import ssl
from typing import ClassVar

from kit.adapter import (
    Adapter,
    NotOpen,
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
from nats import client, jetstream
from nats.jetstream.consumer import ConsumerConfig

COUNTS = ("num_pending", "num_ack_pending", "num_redelivered", "num_waiting")


class NatsJetStream(Adapter):
    """Operations by the calls of nats-jetstream."""

    library = "nats-jetstream"
    parts = ("nats-core",)
    claims: ClassVar = {"adr-37": 3}

    def __init__(self):
        super().__init__()
        self._nc = None

    def _fields(self, error):
        names = {"code": "code", "err_code": "error_code", "status": "status"}
        offered = given(**{ours: getattr(error, name, None) for ours, name in names.items()})
        numbers = {name: int(value) for name, value in offered.items()}
        return numbers | given(description=getattr(error, "description", None))

    # The connection

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
            getattr(nc, f"add_{kind}_callback")(self._telling(kind))
        self._nc = nc

    def _telling(self, kind):
        """A callback of the library, told as an event under its own name."""

        def tell(error=None):
            self.event("connection", kind=kind, name=f"{kind}_callback", error=error)

        return tell

    @property
    def _js(self):
        if self._nc is None:
            raise NotOpen("there is no connection")
        return jetstream.new(self._nc)

    async def _disconnect(self):
        if self._nc is not None:
            await self._nc.close()
            await asyncio.sleep(0)  # what ends with the connection says so first
        self._nc = None

    # Publishing and reading

    async def publish(self, subject, data="", headers=None, timeout_ms=None):
        options = seconds(timeout=timeout_ms)
        if headers is not None:
            options["headers"] = one_value_each(headers)
        ack = await self._js.publish(subject, decoded(data), **options)
        told = given(stream=ack.stream, duplicate=ack.duplicate, domain=ack.domain)
        told |= given(batch=getattr(ack, "batch_id", None))  # both from 0.3.0 on
        count = getattr(ack, "batch_size", None)
        return {"ack": told | digits(seq=ack.sequence, count=count)}

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

    # Consumers

    async def consumer_get(self, as_, stream, consumer):
        self.opened[as_] = await self._js.get_consumer(stream, consumer)

    async def consumer_create(self, as_, stream, config):
        check_fields("a consumer", config, ConsumerConfig)
        source = await self._js.get_stream(stream)
        self.opened[as_] = await source.create_consumer(ConsumerConfig.from_response(config))

    async def consumer_info(self, of):
        return {"info": plain(dataclasses.asdict(await self.opened[of].get_info()))}

    async def consumer_delete(self, of):
        consumer = self.opened[of]
        await self._js.delete_consumer(consumer.stream_name, consumer.name)

    if hasattr(jetstream.JetStream, "ordered_consumer"):  # from 0.2.0 on

        async def ordered_get(
            self, as_, stream, filter_subjects=None, deliver_policy=None, start_seq=None
        ):
            config = given(filter_subjects=filter_subjects, deliver_policy=deliver_policy)
            config |= given(opt_start_seq=start_seq and int(start_seq))
            self.opened[as_] = await self._js.ordered_consumer(stream, **config)

    async def fetch(self, of, no_wait=False, **limits):
        consumer = self.opened[of]
        batch = await called(consumer.fetch_nowait if no_wait else consumer.fetch, **pull(**limits))
        messages = [self._delivered(message) async for message in batch]
        error = {"error": self.failure(batch.error)} if batch.error else {}
        return {"messages": messages, **error}

    async def next(self, of, **limits):
        message = await called(self.opened[of].next, **pull(**limits))
        return {"message": self._delivered(message)}

    async def consume(self, of, as_, **limits):
        self.opened[as_] = await called(self.opened[of].messages, **pull(**limits))
        self.beside(self._consume(as_, self.opened[as_]))

    async def _consume(self, name, messages):
        try:
            async for message in messages:
                self.event("message", name, **self._delivered(message))
        except Exception as error:
            self.event("end", name, error=error)
        else:
            self.event("end", name)

    async def consume_stop(self, of):
        await self.opened[of].stop()

    async def ack(self, messages, kind, delay_ms=None, reason=None, timeout_ms=None):
        for message in [self.kept(name) for name in messages]:
            if delay_ms is not None:
                await message.nak_with_delay(delay_ms / 1000)
            elif reason is not None:
                await message.term_with_reason(reason)
            else:
                acks = {"ack": message.ack, "double": message.double_ack, "nak": message.nak}
                acks |= {"progress": message.in_progress, "term": message.term}
                await called(acks[kind], **seconds(timeout=timeout_ms))

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


def pull(expires_ms=None, heartbeat_ms=None, group=None, **same):
    """The options of whatever pulls, under the library's names."""
    return same | seconds(max_wait=expires_ms, heartbeat=heartbeat_ms) | given(priority_group=group)


def stored(message):
    return {
        "subject": message.subject,
        "data": encoded(message.data),
        "headers": pairs(message.headers),
        "seq": str(message.sequence),
        "time": message.time.isoformat(),
    }


def plain(told):
    """What a consumer's info holds, its sequences and counts as digits."""
    if not isinstance(told, dict):
        return told
    names = {name for name in told if name in COUNTS or name.endswith("_seq")}
    return {k: str(v) if k in names and v is not None else plain(v) for k, v in told.items()}


NatsJetStream().serve()
