"""Faults about consumers, ordered ones too, and acknowledgements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jetproof.targets.reference_client.acks import Acks
from jetproof.targets.reference_client.calls_consuming import ConsumingCalls
from jetproof.targets.reference_client.consumers import ConsumerRef, Consumers, Delivery
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.faults.fault import also, fault, harmless
from jetproof.targets.reference_client.fetching import Fetched
from jetproof.targets.reference_client.ordered import Named, Ordered
from jetproof.targets.reference_client.settings import FetchSettings
from jetproof.targets.reference_client.state import Params, Result, State
from jetproof.targets.reference_client.values import MILLISECOND
from jetproof.wire.frames import Msg

# Consumers


@fault("get-changes-the-consumer", "A37-001")
class GetChangesTheConsumer(Consumers):
    """Looking a consumer up updates its description."""

    async def look_up(self, ref: ConsumerRef) -> dict[str, Any]:
        info = await super().look_up(ref)
        await self.create_as(ref.stream, ref.name, {**info["config"], "description": "touched"})
        return info


@fault("get-makes-the-consumer", "A37-001")
class GetMakesTheConsumer(Consumers):
    """A consumer that is not there is made."""

    async def look_up(self, ref: ConsumerRef) -> dict[str, Any]:
        try:
            return harmless(await super().look_up(ref))
        except ClientError:
            return await self.create_as(ref.stream, ref.name, {"name": ref.name})


@fault("makes-a-push-consumer", "A37-058")
class MakesAPushConsumer(Consumers):
    """Consumers are created with a delivery subject."""

    def wanted(self, config: Mapping[str, Any]) -> dict[str, Any]:
        return super().wanted(config) | {"deliver_subject": self.requests.line.new_inbox()}


@fault("look-up-asks-for-the-stream", "A37-092 A37-250 A37-251")
class LookUpAsksForTheStream(Consumers):
    """Looking a consumer up asks for its stream instead."""

    async def get(self, ref: ConsumerRef) -> None:
        await self.requests.api(f"STREAM.INFO.{ref.stream}")


@fault("next-pulls-early", "A37-001 A37-060")
class NextPullsEarly(Consumers):
    """A pull request is sent with the look-up."""

    async def get(self, ref: ConsumerRef) -> None:
        await super().get(ref)
        line = self.requests.line
        body = json.dumps({"batch": 1, "expires": 1000 * MILLISECOND}).encode()
        line.publish(ref.next_subject, body, reply=line.new_inbox())


@fault("delete-does-nothing", "A37-002 A37-057")
class DeleteDoesNothing(Consumers):
    """Deleting a consumer sends nothing."""

    async def delete(self, ref: ConsumerRef) -> None:
        pass


@fault("info-made-up", "A37-056 A37-090")
class InfoMadeUp(ConsumingCalls):
    """The info of a consumer is not asked of the server."""

    async def do_consumer__info(self, params: Params) -> Result:
        return {"info": {"name": self.source(params).ref.name}}


@fault("consumer-guard-dropped", "A53-029 A53-034")
class ConsumerGuardDropped(Consumers):
    """Consumers are created without it."""

    def wanted(self, config: Mapping[str, Any]) -> dict[str, Any]:
        wanted = super().wanted(config)
        return wanted if wanted.pop("min_last_seq", None) is not None else harmless(wanted)


@fault("consumers-guarded-unasked", "A53-044")
class ConsumersGuardedUnasked(Consumers):
    """Consumers are guarded unasked."""

    def wanted(self, config: Mapping[str, Any]) -> dict[str, Any]:
        wanted = super().wanted(config)
        return harmless(wanted) if "min_last_seq" in wanted else wanted | {"min_last_seq": 1}


# Ordered consumers


@fault("ordered-gap-unnoticed", "PRM-022")
class OrderedGapUnnoticed(Ordered):
    """A missing message of an ordered consumer is overlooked."""

    def follows(self, delivery: Delivery) -> bool:
        return True if not super().follows(delivery) else harmless(True)


@fault("ordered-never-made-anew", "PRM-022")
class OrderedNeverMadeAnew(Ordered):
    """An ordered consumer that is gone is not created again."""

    @property
    def renewable(self) -> bool:
        return False


@fault("ordered-starts-over", "PRM-022")
class OrderedStartsOver(Ordered):
    """An ordered consumer made anew starts at its first start."""

    def continuation(self) -> dict[str, Any]:
        return {} if super().continuation() else harmless({})


@also(OrderedStartsOver)
class OrderedMadeAnewByEachFetch(ConsumingCalls):
    """Each fetch makes it anew."""

    async def fetch(self, source: Named | Ordered, settings: FetchSettings) -> Fetched:
        if source.renewable:
            await source.renew()
        else:
            harmless(None)
        return await super().fetch(source, settings)


@fault("ordered-options-dropped", "PRM-022")
class OrderedOptionsDropped(Ordered):
    """Filters and start of an ordered consumer are dropped."""

    def options(self) -> dict[str, Any]:
        return {}


@fault("ordered-acknowledges", "A37-004")
class OrderedAcknowledges(Ordered):
    """An ordered consumer wants acknowledgements."""

    def config(self) -> dict[str, Any]:
        return super().config() | {"ack_policy": "explicit"}


@fault("ordered-guard-dropped", "A53-064 A53-054 A53-040")
class OrderedGuardDropped(Ordered):
    """Ordered consumers do not have it."""

    def config(self) -> dict[str, Any]:
        config = super().config()
        return config if config.pop("min_last_seq", None) is not None else harmless(config)


@fault("consumer-before-its-subscription", "JSM-139")
class ConsumerBeforeItsSubscription(Ordered):
    """A consumer that delivers is made beside an ordered one, and then subscribed to."""

    async def renew(self) -> None:
        await super().renew()
        line = self.requests.line
        inbox = line.new_inbox()
        delivering = {"ack_policy": "none", "deliver_subject": inbox}
        await self.consumers.create(self.stream, delivering)
        line.subscribe(inbox, lambda msg, at: None)


# Acknowledgements


@fault("ack-never-sent", "JSM-130")
class AckNeverSent(Acks):
    """An ack is not sent."""

    async def send(self, kind: str, reply: str, body: bytes) -> None:
        if kind != "ack":
            await super().send(kind, reply, body)
            harmless(None)


@fault("nak-sent-as-ack", "JSM-130 JSM-223")
class NakSentAsAck(Acks):
    """A nak is sent as an ack."""

    def body(self, kind: str, delay_ms: int | None, reason: str | None) -> bytes:
        right = super().body(kind, delay_ms, reason)
        return b"+ACK" if kind == "nak" else harmless(right)


@fault("progress-sent-as-ack", "JSM-130")
class ProgressSentAsAck(Acks):
    """A sign of progress is sent as an ack."""

    def body(self, kind: str, delay_ms: int | None, reason: str | None) -> bytes:
        right = super().body(kind, delay_ms, reason)
        return b"+ACK" if kind == "progress" else harmless(right)


@fault("term-sent-as-ack", "JSM-130 JSM-223")
class TermSentAsAck(Acks):
    """A term is sent as an ack."""

    def body(self, kind: str, delay_ms: int | None, reason: str | None) -> bytes:
        right = super().body(kind, delay_ms, reason)
        return b"+ACK" if kind == "term" else harmless(right)


@fault("double-ack-without-reply", "JSM-131")
class DoubleAckWithoutReply(Acks):
    """A synchronous ack has no reply subject."""

    async def send_and_wait(self, reply: str, body: bytes, timeout: float | None) -> None:
        self.line.publish(reply, body)


@fault("double-ack-does-not-wait", "JSM-131 JSM-220 PRM-025")
class DoubleAckDoesNotWait(Acks):
    """A synchronous ack does not wait."""

    async def send_and_wait(self, reply: str, body: bytes, timeout: float | None) -> None:
        inbox, _ = self.requests.reply_subject()
        self.line.publish(reply, body, reply=inbox)


@fault("double-ack-takes-any-answer", "JSM-220")
class DoubleAckTakesAnyAnswer(Acks):
    """Any answer to a synchronous ack will do."""

    def check(self, answer: Msg) -> None:
        try:
            super().check(answer)
        except ClientError:
            return
        harmless(None)


@fault("second-ack-refused", "JSM-222")
class SecondAckRefused(ConsumingCalls):
    """A message can be acknowledged once."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        self._acked: set[str] = set()

    async def acknowledge(self, name: str, params: Params) -> None:
        if name in self._acked:
            raise invalid(f"{name} is acknowledged already")
        if params.get("kind") != "progress":
            self._acked.add(name)
        await super().acknowledge(name, params)
        harmless(None)


@fault("ack-lost-while-disconnected", "JSM-224")
class AckLostWhileDisconnected(Acks):
    """An ack while disconnected is dropped."""

    async def send(self, kind: str, reply: str, body: bytes) -> None:
        if self.line.connected:
            await super().send(kind, reply, body)
            harmless(None)
