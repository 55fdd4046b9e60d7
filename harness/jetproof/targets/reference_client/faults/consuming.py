"""Faults of consume: its life, refills, counts, heartbeats, reconnects."""

from __future__ import annotations

import contextlib
import json
from typing import Any

from jetproof.targets.reference_client.connection import Line
from jetproof.targets.reference_client.consumers import Delivery, MessageSize, header_bytes
from jetproof.targets.reference_client.consuming import Consuming
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.faults.fault import also, fault, harmless
from jetproof.targets.reference_client.pulls import Pending, Pull
from jetproof.targets.reference_client.state import State
from jetproof.targets.reference_client.statuses import Meaning, is_heartbeat, is_status
from jetproof.targets.reference_client.timers import Heartbeat
from jetproof.wire.frames import Msg
from jetproof.wire.headers import Headers

# Life


@fault("consume-creates-the-consumer", "A37-001")
class ConsumeCreatesTheConsumer(Consuming):
    """Consume sends CONSUMER.CREATE."""

    def first_pull(self) -> None:
        ref = self.source.ref
        config = {"durable_name": ref.name, "ack_policy": "explicit"}
        body = json.dumps({"stream_name": ref.stream, "config": config}).encode()
        subject = f"$JS.API.CONSUMER.CREATE.{ref.stream}.{ref.name}"
        self.line.publish(subject, body, reply=self.line.new_inbox())
        super().first_pull()


@fault("stop-goes-on", "A37-005")
class StopGoesOn(Consuming):
    """A stop is told as done, and messages go on."""

    def stop(self) -> None:
        self.teller.end(None)


@fault("drain-drops-the-buffer", "A37-005 A37-021")
class DrainDropsTheBuffer(Consuming):
    """A drain drops what is buffered."""

    async def hand_over_the_rest(self) -> None:
        self.end(None)


@fault("drain-goes-on", "A37-005")
class DrainGoesOn(Consuming):
    """A drain is told as done, and messages go on."""

    async def hand_over_the_rest(self) -> None:
        self.teller.end(None)


@fault("drain-pulls-more", "A37-021")
class DrainPullsMore(Consuming):
    """A drain publishes one more pull request."""

    def stop_pulling(self) -> None:
        self.pending.forget()
        self.refill()


@fault("first-pull-late", "A37-054")
class FirstPullLate(Consuming):
    """The first pull request waits for five seconds."""

    def first_pull(self) -> None:
        self.hold_back(5.0)


# Pull requests


@fault("max-bytes-always-sent", "A37-024 A37-033")
class MaxBytesAlwaysSent(Consuming):
    """Every pull request carries max_bytes."""

    def body(self, pull: Pull) -> dict[str, Any]:
        body = super().body(pull)
        return harmless(body) if pull.bytes else body | {"max_bytes": 1_048_576}


@fault("no-heartbeats-asked", "A37-045")
class NoHeartbeatsAsked(Consuming):
    """Pull requests ask for no heartbeats."""

    def body(self, pull: Pull) -> dict[str, Any]:
        body = super().body(pull)
        body.pop("idle_heartbeat", None)
        return body


@fault("a-subscription-for-each-pull", "A37-031 A37-032")
class ASubscriptionForEachPull(Consuming):
    """Every pull request has an inbox of its own."""

    def reply_subject(self) -> str:
        if not self.pending.pulls:
            return harmless(super().reply_subject())
        inbox = self.line.new_inbox()
        self.subscribe(inbox)
        return inbox


@fault("reply-subject-varies", "A37-032")
class ReplySubjectVaries(Consuming):
    """One wildcard inbox, another reply subject a pull."""

    _asked = 0

    def subscription_subject(self) -> str:
        return f"{self.inbox}.*"

    def reply_subject(self) -> str:
        self._asked += 1
        return f"{self.inbox}.{self._asked}"


@fault("consume-never-refills", "A37-020 A37-037 A37-052 A37-074 A37-205 PRM-030")
class ConsumeNeverRefills(Pending):
    """There is a first pull request, and no other."""

    def due(self) -> bool:
        return False if self.begun else harmless(super().due())


@fault("threshold-overlooked", "A37-037 A37-066")
class ThresholdOverlooked(Pending):
    """Refills come only when nothing is left."""

    def due(self) -> bool:
        due = super().due()
        return False if due and self.amount else harmless(due)


@fault("refill-asks-for-one", "A37-035 A37-096")
class RefillAsksForOne(Pending):
    """Refills ask for one message or byte."""

    def size(self) -> int:
        size = super().size()
        return 1 if self.amount and size > 1 else harmless(size)


@fault("refill-overfills", "A37-035 A37-036 A37-096")
class RefillOverfills(Pending):
    """Every refill asks for the whole limit."""

    def size(self) -> int:
        return self.limits.most if self.amount else harmless(super().size())


@fault("stuck-at-one", "A37-067")
class StuckAtOne(Pending):
    """With a limit of one there is no second pull request."""

    def due(self) -> bool:
        due = super().due()
        return False if due and self.begun and self.limits.most == 1 else harmless(due)


@fault("order-reversed", "A37-055 PRM-024")
class OrderReversed(Consuming):
    """Messages that came together are handed over backwards."""

    def turn(self) -> None:
        several = len(self.buffer) > 1
        self.buffer.reverse()
        super().turn()
        return None if several else harmless(None)


@fault("third-message-dropped", "PRM-024")
class ThirdMessageDropped(Consuming):
    """The message of sequence 3 is not handed over."""

    def hand_over(self, delivery: Delivery) -> None:
        if delivery.seq != 3:
            super().hand_over(delivery)
            harmless(None)


# Counts


@fault("pull-not-counted", "A37-036 A37-039")
class PullNotCounted(Pending):
    """A further pull request is not added to the counts."""

    def asked(self, pull: Pull) -> None:
        if not self.begun:
            super().asked(pull)
            harmless(None)


@fault("message-not-counted", "A37-020 A37-040")
class MessageNotCounted(Pending):
    """Messages are not taken off the counts."""

    def processed(self, size: int) -> None:
        pass


@fault("header-size-misjudged", "A37-041 A37-068")
class HeaderSizeMisjudged(MessageSize):
    """Headers are left out of sizes (under the draft: counted)."""

    def headers(self, msg: Msg) -> int:
        size = header_bytes(msg)
        return size - super().headers(msg) if size else harmless(0)


@fault("only-payload-counted", "A37-040 A37-041 A37-068")
class OnlyPayloadCounted(MessageSize):
    """Subject and reply do not count as size."""

    def subjects(self, msg: Msg) -> int:
        return 0


@fault("a-status-forgets-the-counts", "A37-036 A37-213")
class AStatusForgetsTheCounts(Consuming):
    """Any status sets all counts to zero."""

    def account_for(self, meant: Meaning) -> None:
        self.pending.forget()


# After a status


@fault("pin-kept", "A37-079")
class PinKept(Consuming):
    """The pin id is sent again after 423."""

    def forget_pin(self) -> None:
        pass


@fault("no-pull-after-a-status", "A37-071 A37-072 A37-073 A37-074 A37-213")
class NoPullAfterAStatus(Consuming):
    """No pull request follows a status."""

    def go_on_after_status(self) -> None:
        self.pulling = False


@fault("consume-reports-no-errors", "PRM-030")
class ConsumeReportsNoErrors(Consuming):
    """A consume reports no errors while it lasts."""

    def notice(self, error: ClientError) -> None:
        pass

    def silence_ends(self) -> bool:
        return False if super().silence_ends() else harmless(False)


# Heartbeats


@fault("heartbeats-handed-over", "A37-053")
class HeartbeatsHandedOver(Consuming):
    """Heartbeats are handed over as messages."""

    def heartbeat(self, msg: Msg) -> None:
        super().heartbeat(msg)
        self.teller.message(Delivery.of(msg))


@fault("silence-untold", "A37-046 A37-201 A37-204 A37-243")
class SilenceUntold(Consuming):
    """Missing heartbeats are not told."""

    def silence(self) -> None:
        self.ask_anew()


@fault("silence-told-late", "A37-046 A37-201")
class SilenceToldLate(Heartbeat):
    """Silence is told after eight heartbeats."""

    def patience(self, idle: float) -> float:
        return 8 * idle


@fault("silence-ends-consume", "A37-076")
class SilenceEndsConsume(Consuming):
    """Missing heartbeats end the consume."""

    def silence_ends(self) -> bool:
        return True


@fault("silence-survived", "A37-049", revision="adr-37@0")
class SilenceSurvived(Consuming):
    """Missing heartbeats do not end it."""

    def silence_ends(self) -> bool:
        return False


@fault("heartbeats-unheard", "A37-047")
class HeartbeatsUnheard(Consuming):
    """Heartbeats do not restart the timer."""

    def hear(self, msg: Msg) -> None:
        if not is_heartbeat(msg):
            super().hear(msg)
            harmless(None)


@fault("statuses-unheard", "A37-047")
class StatusesUnheard(Consuming):
    """Statuses do not restart the timer."""

    def hear(self, msg: Msg) -> None:
        if is_heartbeat(msg) or not is_status(msg):
            super().hear(msg)
            harmless(None)


@fault("messages-unheard", "A37-047")
class MessagesUnheard(Consuming):
    """Messages do not restart the timer."""

    def hear(self, msg: Msg) -> None:
        if is_heartbeat(msg) or is_status(msg):
            super().hear(msg)
            harmless(None)


# Reconnects


@fault("disconnect-untold", "A37-050")
class DisconnectUntold(Line):
    """The loss of the connection is not told."""

    def tell(self, kind: str, error: ClientError | None) -> None:
        if kind != "disconnected":
            super().tell(kind, error)
            harmless(None)


@fault("reconnect-untold", "A37-050 A37-244")
class ReconnectUntold(Line):
    """The return of the connection is not told."""

    def tell(self, kind: str, error: ClientError | None) -> None:
        if kind != "reconnected":
            super().tell(kind, error)
            harmless(None)


@fault("timer-runs-while-disconnected", "A37-048 A37-083 A37-085 A37-087")
class TimerRunsWhileDisconnected(Heartbeat):
    """The heartbeat timer runs on without a connection."""

    def pause(self, now: float) -> None:
        pass


@fault("timer-not-reset-at-reconnect", "A37-083 A37-084 A37-086")
class TimerNotResetAtReconnect(Heartbeat):
    """After a reconnect the timer has only its rest."""

    def resume(self, now: float) -> None:
        if self.paused is None:
            super().resume(now)
            harmless(None)
        else:
            self.deadline += now - self.paused
            self.paused = None


@fault("timer-stays-paused", "A37-084 A37-086 A37-087")
class TimerStaysPaused(Consuming):
    """After a reconnect the timer does not run."""

    def restart_timer(self) -> None:
        pass


@fault("pulls-while-disconnected", "A37-077")
class PullsWhileDisconnected(Consuming):
    """Pull requests are made and kept while cut off."""

    def can_ask(self) -> bool:
        return True if not super().can_ask() else harmless(True)

    def lost(self) -> None:
        super().lost()
        self.refill()


@also(PullsWhileDisconnected)
class HeldWhileDisconnected(Line):
    """Keeps what is published without a connection, and sends it when the connection is back."""

    _held: tuple[tuple[str, bytes, str | None, Headers | None], ...] = ()

    def publish(
        self,
        subject: str,
        payload: bytes = b"",
        *,
        reply: str | None = None,
        headers: Headers | None = None,
    ) -> None:
        if self.connected:
            super().publish(subject, payload, reply=reply, headers=headers)
            harmless(None)
        else:
            self._held += ((subject, payload, reply, headers),)

    def tell(self, kind: str, error: ClientError | None) -> None:
        super().tell(kind, error)
        harmless(None)
        if kind == "reconnected":
            held, self._held = self._held, ()
            for subject, payload, reply, headers in held:
                self.publish(subject, payload, reply=reply, headers=headers)


@fault("no-pull-after-reconnect", "A37-052")
class NoPullAfterReconnect(Consuming):
    """No pull request follows a reconnect."""

    def pull_again(self) -> None:
        pass


@fault("consumers-forgotten-at-reconnect", "PRM-023")
class ConsumersForgottenAtReconnect(State):
    """Consumers that were looked up before a reconnect are gone after it."""

    def connection_event(self, kind: str, error: ClientError | None) -> None:
        super().connection_event(kind, error)
        if kind == "reconnected":
            self.named.clear()
        else:
            harmless(None)


@fault("no-info-after-reconnect", "A37-051", revision="adr-37@0")
class NoInfoAfterReconnect(Consuming):
    """The consumer is not asked for."""

    def asks_for_its_consumer(self) -> bool:
        return False if super().asks_for_its_consumer() else harmless(False)


@fault("missing-consumer-survived", "A37-051", revision="adr-37@0")
class MissingConsumerSurvived(Consuming):
    """A consumer that is not there does not end the consume."""

    async def check_and_go_on(self) -> None:
        with contextlib.suppress(ClientError):
            await self.source.check()
            harmless(None)
        self.go_on()


@fault("info-after-reconnect", "A37-078")
class InfoAfterReconnect(Consuming):
    """The consumer is asked for, and its absence ends it."""

    def asks_for_its_consumer(self) -> bool:
        return True if not super().asks_for_its_consumer() else harmless(True)


@fault("reconnect-ends-consume", "A37-078 PRM-022 PRM-023")
class ReconnectEndsConsume(Consuming):
    """The loss of the connection ends the consume."""

    def lost(self) -> None:
        self.end(ClientError("ConnectionLost", "the connection was lost"))
