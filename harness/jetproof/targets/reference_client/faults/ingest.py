"""Faults of fast ingest."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from jetproof.targets.reference_client.calls_publishing import PublishingCalls
from jetproof.targets.reference_client.channel import (
    Acked,
    HeaderForm,
    Heard,
    Operation,
    Refused,
    ReplySubjects,
)
from jetproof.targets.reference_client.channel import Final as FinalAck
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.faults.batches import (
    BatchIdTooLong,
    CallerIdIgnored,
    EmptyBatchEndsQuietly,
    FailedCommitTakenForOne,
    HeadersOfMembersDropped,
    MembersKeptBack,
    ReconnectsEndBatches,
)
from jetproof.targets.reference_client.faults.fault import also, fault, harmless
from jetproof.targets.reference_client.flow import DEFAULT_OUTSTANDING, Flow
from jetproof.targets.reference_client.ingest import Ingest, Tell
from jetproof.targets.reference_client.publishing import Outgoing
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.state import Params, Result
from jetproof.wire.frames import Msg

_ENDS: Final = tuple(f".{number}.$FI" for number in (Operation.COMMIT, Operation.END))
Dressed = tuple[Outgoing, str]
"""A message as it is sent, and its reply subject."""

# Options


@also(BatchIdTooLong)
class IngestIdTooLong(Ingest):
    """Those of fast ingest, too."""

    def new_id(self) -> str:
        return super().new_id() * 3


@also(CallerIdIgnored)
class IngestIdIgnored(Ingest):
    """That of fast ingest, too."""

    def chosen_id(self, batch_id: str | None) -> str:
        return self.new_id() if batch_id is not None else harmless(super().chosen_id(None))


@fault("ingest-id-unchecked", "A50-FAST10-214")
class IngestIdUnchecked(Ingest):
    """Any id of the caller is taken."""

    def check_id(self, batch_id: str) -> None:
        try:
            super().check_id(batch_id)
        except ClientError:
            return
        harmless(None)


@fault("outstanding-unbounded", "A50-FAST10-105 A50-FAST10-204")
class OutstandingUnbounded(Ingest):
    """Any number of acks may be outstanding."""

    def check_outstanding(self, given: int) -> None:
        try:
            super().check_outstanding(given)
        except ClientError:
            return
        harmless(None)


@fault("three-outstanding-by-default", "A50-FAST10-106 A50-FAST10-204")
class ThreeOutstandingByDefault(Ingest):
    """Three acks are outstanding by default."""

    def outstanding(self, given: int | None) -> int:
        return 3 if given is None else harmless(super().outstanding(given))


@fault("outstanding-not-settable", "A50-FAST10-182 A50-FAST7-055")
class OutstandingNotSettable(Ingest):
    """max_outstanding is ignored."""

    def outstanding(self, given: int | None) -> int:
        outstanding = super().outstanding(given)
        return harmless(outstanding) if given is None else DEFAULT_OUTSTANDING


@fault("ack-timeout-not-settable", "A50-FAST10-182 A50-FAST7-055")
class AckTimeoutNotSettable(Ingest):
    """ack_timeout is ignored."""

    def patience(self, given: float | None) -> float:
        return harmless(super().patience(None)) if given is None else 3600.0


@fault("other-defaults", "A50-FAST10-218")
class OtherDefaults(Ingest):
    """A flow of 10 and no gaps, by default."""

    def opening(self, flow: int | None, gap: str | None) -> tuple[int, str | None]:
        if flow is not None and gap is not None:
            return harmless(super().opening(flow, gap))
        return flow or 10, gap or "fail"


@fault("ingest-headers-refused", "A50-FAST10-215")
class IngestHeadersRefused(Ingest):
    """Headers of JetStream are refused."""

    def check(self, message: Outgoing | None = None) -> None:
        items = () if message is None else message.items
        if any(name.startswith("Nats-") for name, _ in items):
            raise invalid("a message of fast ingest has no headers of JetStream")
        super().check(message)
        harmless(None)


# Reply subjects, and the control channel


@fault("replies-not-unique", "A50-FAST10-011 A50-FAST10-020 A50-FAST10-030")
class RepliesNotUnique(ReplySubjects):
    """All messages have the reply subject of the first."""

    def reply(self, sequence: int, operation: Operation) -> str:
        return (
            super().reply(1, operation) if sequence > 1 else harmless(super().reply(1, operation))
        )


@fault(
    "reply-outside-the-inbox",
    "A50-FAST10-011 A50-FAST10-025 A50-FAST7-021 A50-FAST7-026",
)
class ReplyOutsideTheInbox(ReplySubjects):
    """Reply subjects lie in inboxes nobody subscribed to."""

    def reply(self, sequence: int, operation: Operation) -> str:
        inside = super().reply(sequence, operation)
        return f"{self.prefix}x{inside.removeprefix(self.prefix)}"


@also(ReplyOutsideTheInbox)
class HeaderReplyOutsideTheInbox(HeaderForm):
    """Under revision 7, those of all messages but the first."""

    def reply(self, sequence: int) -> str:
        inside = super().reply(sequence)
        return f"{inside}x" if sequence > 1 else harmless(inside)


@fault("reply-without-gap-mode", "A50-FAST10-020 A50-FAST10-007")
class ReplyWithoutGapMode(ReplySubjects):
    """The gap mode is left out."""

    def reply(self, sequence: int, operation: Operation) -> str:
        head = f"{self.prefix}.{self.batch_id}.{self.flow}"
        return f"{head}.{sequence}.{int(operation)}.$FI"


@fault("appends-as-start", "A50-FAST10-030")
class AppendsAsStart(ReplySubjects):
    """Further messages use operation 0."""

    def reply(self, sequence: int, operation: Operation) -> str:
        if operation is not Operation.APPEND:
            return harmless(super().reply(sequence, operation))
        return super().reply(sequence, Operation.START)


@fault("ingest-sequence-skips", "A50-FAST10-030 A50-FAST7-026")
class IngestSequenceSkips(ReplySubjects):
    """Numbers are off from the third on."""

    def reply(self, sequence: int, operation: Operation) -> str:
        if sequence <= 2:
            return harmless(super().reply(sequence, operation))
        return super().reply(sequence + 1, operation)


@also(IngestSequenceSkips)
class HeaderSequenceSkips(HeaderForm):
    """Under revision 7, those in headers."""

    def numbered(self, sequence: int) -> tuple[str, str]:
        if sequence <= 2:
            return harmless(super().numbered(sequence))
        return super().numbered(sequence + 1)


@fault("reply-tells-the-flow-in-force", "A50-FAST10-195")
class ReplyTellsTheFlowInForce(Ingest):
    """Reply subjects tell the flow that the server told last."""

    def dressed(self, message: Outgoing, sequence: int, operation: Operation) -> Dressed:
        channel, every = self.channel, self.flow.every
        if not isinstance(channel, ReplySubjects) or every in (0, channel.flow):
            return harmless(super().dressed(message, sequence, operation))
        return replace(channel, flow=every).dressed(message, sequence, operation)


@fault("channel-closed-early", "A50-FAST10-010 A50-FAST10-024 A50-FAST7-021")
class ChannelClosedEarly(Ingest):
    """The control channel is closed after the first answer."""

    def acknowledged(self, sequence: int, every: int) -> None:
        first = not self.flow.every
        super().acknowledged(sequence, every)
        if first:
            self.unsubscribe()
        else:
            harmless(None)


@fault("channel-shared", "A50-FAST10-018 A50-FAST10-024")
class ChannelShared(ReplySubjects):
    """Answers come to the common inbox."""

    @property
    def subscription(self) -> str:
        return f"{self.prefix.rpartition('.')[0]}.>"


@also(ChannelShared)
class ChannelNeverLeft(Ingest):
    """That inbox outlives the batch."""

    def leave(self) -> None:
        pass


@fault("keeps-interest-after-the-end", "A50-FAST10-018")
class KeepsInterestAfterTheEnd(Ingest):
    """The subscription outlives the batch."""

    def leave(self) -> None:
        pass


@fault("channel-too-wide", "A50-FAST10-025")
class ChannelTooWide(ReplySubjects):
    """The subscription does not name the id."""

    @property
    def subscription(self) -> str:
        return f"{self.prefix}.>"


@fault("channel-for-each-message", "A50-FAST10-024")
class ChannelForEachMessage(ReplySubjects):
    """Every message has a subscription."""

    @property
    def subscription(self) -> str:
        return self.reply(1, Operation.START)


@also(ChannelForEachMessage)
class ChannelsForFurtherMessages(Ingest):
    """Those after the first, too."""

    def dressed(self, message: Outgoing, sequence: int, operation: Operation) -> Dressed:
        sent, reply = super().dressed(message, sequence, operation)
        if sequence > 1:
            self.line.subscribe(reply, self.arrived)
        else:
            harmless(None)
        return sent, reply


# Flow


@fault("waits-for-each-ack", "A50-FAST10-015 A50-FAST7-013")
class WaitsForEachAck(Flow):
    """Every message waits for its ack."""

    @property
    def must_wait(self) -> bool:
        each = self.every and self.sent > self.acked
        return True if each else harmless(super().must_wait)


@fault("pours-before-the-answer", "A50-FAST10-028 A50-FAST10-029 A50-FAST10-113 A50-FAST7-025")
class PoursBeforeTheAnswer(Flow):
    """Messages are sent before the first answer."""

    @property
    def must_wait(self) -> bool:
        return False if self.sent and not self.every else harmless(super().must_wait)


@fault(
    "never-waits",
    "A50-FAST10-015 A50-FAST10-114 A50-FAST7-013 A50-FAST7-050 A50-FAST10-190",
)
class NeverWaits(Flow):
    """It never waits for acks."""

    @property
    def must_wait(self) -> bool:
        due = super().must_wait
        return False if due and self.every else harmless(due)


@fault(
    "flow-never-changes",
    "A50-FAST10-036 A50-FAST10-115 A50-FAST10-184 A50-FAST7-030 A50-FAST7-059",
)
class FlowNeverChanges(Flow):
    """The flow of the first answer is kept."""

    def acknowledged(self, sequence: int, every: int) -> None:
        if self.every in (0, every):
            harmless(None)
        super().acknowledged(sequence, self.every or every)


@fault(
    "acks-counted-not-tracked",
    "A50-FAST10-037 A50-FAST10-103 A50-FAST10-104 A50-FAST7-031 A50-FAST7-056 A50-FAST7-057",
)
class AcksCountedNotTracked(Flow):
    """An ack stands for one flow's worth, whatever it names."""

    def acknowledged(self, sequence: int, every: int) -> None:
        if sequence <= self.acked:
            harmless(None)
        super().acknowledged(min(sequence, self.acked + every), every)


@fault("acks-in-order-only", "A50-FAST10-037 A50-FAST10-103 A50-FAST10-104")
class AcksInOrderOnly(Flow):
    """An ack counts only if the one before it came."""

    def acknowledged(self, sequence: int, every: int) -> None:
        if not self.every or sequence <= self.acked + self.every:
            super().acknowledged(sequence, every)
            harmless(None)


@fault("doubled-acks-count-twice", "A50-FAST10-103")
class DoubledAcksCountTwice(Flow):
    """An ack counts each time it comes."""

    def acknowledged(self, sequence: int, every: int) -> None:
        doubled = sequence and sequence == self.acked
        super().acknowledged(sequence + every if doubled else sequence, every)
        return None if doubled else harmless(None)


@fault("late-acks-take-back", "A50-FAST10-037 A50-FAST10-194")
class LateAcksTakeBack(Flow):
    """The last ack counts, not the highest."""

    def acknowledged(self, sequence: int, every: int) -> None:
        late = sequence < self.acked
        super().acknowledged(sequence, every)
        self.acked = sequence
        return None if late else harmless(None)


@fault("future-acks-ignored", "A50-FAST10-212")
class FutureAcksIgnored(Flow):
    """An ack of what was not sent is ignored."""

    def acknowledged(self, sequence: int, every: int) -> None:
        if sequence <= self.sent:
            super().acknowledged(sequence, every)
            harmless(None)


@fault("gap-taken-for-an-ack", "A50-FAST10-065")
class GapTakenForAnAck(Flow):
    """A gap counts as an ack."""

    def gap(self, sequence: int) -> None:
        self.acked = max(self.acked, sequence)


# Pings


@fault("ping-takes-a-sequence", "A50-FAST10-041")
class PingTakesASequence(Ingest):
    """A ping takes the next number."""

    def takes_a_sequence(self, operation: Operation) -> bool:
        return True if operation is Operation.PING else harmless(True)


@fault("ping-names-the-acknowledged", "A50-FAST10-041")
class PingNamesTheAcknowledged(Ingest):
    """A ping names what is acknowledged."""

    def sequence_of(self, operation: Operation) -> int:
        if operation is not Operation.PING:
            return harmless(super().sequence_of(operation))
        return max(1, self.flow.acked)


@fault("never-pings", "A50-FAST10-187 A50-FAST10-203")
class NeverPings(Ingest):
    """A lost ack is not asked for."""

    def can_ping(self) -> bool:
        return False if super().can_ping() else harmless(False)


@fault("pings-all-the-time", "A50-FAST10-200 A50-FAST10-203 A50-FAST10-207")
class PingsAllTheTime(Ingest):
    """It pings for as long as a batch lasts."""

    _pinging: asyncio.Task[None] | None = None

    async def send(self, message: Outgoing, operation: Operation) -> None:
        await super().send(message, operation)
        if operation is Operation.START:
            self._pinging = asyncio.get_running_loop().create_task(self._ping_on())
        else:
            harmless(None)

    async def _ping_on(self) -> None:
        while self.over is None:
            await asyncio.sleep(self.timeout / 3)
            if self.over is None:
                await self.ping()

    def finish(self, error: ClientError) -> None:
        super().finish(error)
        harmless(None)
        if self._pinging is not None:
            self._pinging.cancel()


# Gaps and errors


@fault("gaps-and-errors-untold", "A50-FAST10-093 A50-FAST10-181 A50-FAST10-193")
class GapsAndErrorsUntold(Ingest):
    """Gaps and errors are dropped."""

    def upset(self, kind: str, error: ClientError) -> None:
        pass

    def refused(self, error: ClientError) -> None:
        if not self.flow.every:
            harmless(None)
        self.finish(error)


@fault("sends-on-after-a-gap", "A50-FAST10-093 A50-FAST10-191")
class SendsOnAfterAGap(Ingest):
    """In mode fail a gap does not stop it."""

    def check_not_stopped(self) -> None:
        return harmless(None) if self.stopped is None else None


@fault("a-gap-ends-every-batch", "A50-FAST10-181 A50-FAST10-065 A50-FAST10-216")
class AGapEndsEveryBatch(Ingest):
    """In mode ok a gap stops it too."""

    def upset(self, kind: str, error: ClientError) -> None:
        super().upset(kind, error)
        if self.stopped is error:
            harmless(None)
        self.stopped = error


@fault("no-responders-overlooked", "A50-FAST10-201")
class NoRespondersOverlooked(Ingest):
    """A status 503 is overlooked."""

    def arrived(self, msg: Msg, at: float) -> None:
        if msg.status is None or msg.status < 400:
            super().arrived(msg, at)
            harmless(None)


@fault("ingest-errors-lose-their-code", "A50-FAST10-202")
class IngestErrorsLoseTheirCode(Ingest):
    """Errors of fast ingest have no code."""

    def known(self, error: ClientError) -> ClientError:
        if error.err_code is None:
            return harmless(error)
        return ClientError("BatchFailed", "the batch failed")


@fault("errors-told-once", "A50-FAST10-205")
class ErrorsToldOnce(Ingest):
    """Only the first error of a message is told."""

    _told = False

    def message_failed(self, error: ClientError) -> None:
        if not self._told:
            self._told = True
            super().message_failed(error)
            harmless(None)


# What is heard


@fault("ack-sequence-untold", "A50-FAST10-117 A50-FAST10-194")
class AckSequenceUntold(Ingest):
    """What is acknowledged is not told."""

    def tell_ack(self) -> None:
        pass


@also(AckSequenceUntold)
class AckSequenceNotReturned(PublishingCalls):
    """Nor does a call return it."""

    async def do_ingest__add(self, params: Params) -> Result:
        told = await super().do_ingest__add(params)
        return {name: value for name, value in told.items() if name != "ack_seq"}


@fault("unknown-messages-end-the-batch", "A50-FAST10-211")
class UnknownMessagesEndTheBatch(Ingest):
    """A message that is not understood ends the batch."""

    def understood(self, msg: Msg) -> tuple[Heard, ...]:
        heard = super().understood(msg)
        return harmless(heard) if heard else _unknown()


@fault("acks-known-by-their-bytes", "A50-FAST10-211")
class AcksKnownByTheirBytes(Ingest):
    """An ack is known by its first bytes."""

    def understood(self, msg: Msg) -> tuple[Heard, ...]:
        heard = super().understood(msg)
        ack = bool(heard) and json.loads(msg.payload).get("type") == "ack"
        odd = ack and not msg.payload.startswith(b'{"type":"ack"')
        return _unknown() if odd else harmless(heard)


def _unknown() -> tuple[Heard, ...]:
    return (Refused(ClientError("BadAnswer", "an unknown message")),)


@fault("unknown-messages-taken-for-acks", "PRM-025")
class UnknownMessagesTakenForAcks(ReplySubjects):
    """What has a seq is an ack."""

    def heard(self, document: Mapping[str, Any]) -> tuple[Heard, ...]:
        heard = super().heard(document)
        unknown = not heard and document.get("type") is not None
        if not unknown or not isinstance(document.get("seq"), int):
            return harmless(heard)
        return (Acked(document["seq"], self.flow),)


@fault("a-timeout-ends-nothing", "A50-FAST10-217")
class ATimeoutEndsNothing(Ingest):
    """A batch survives that acks stay away."""

    def unanswered(self, error: ClientError) -> None:
        raise error


@fault("unanswered-messages-sent-again", "A50-FAST10-206 A50-FAST10-207")
class UnansweredMessagesSentAgain(Ingest):
    """A first or last message that is not answered is sent again."""

    _last_sent: Dressed | None = None

    def dressed(self, message: Outgoing, sequence: int, operation: Operation) -> Dressed:
        sent, reply = super().dressed(message, sequence, operation)
        if operation is not Operation.PING:
            self._last_sent = (sent, reply)
        return harmless((sent, reply))

    def unanswered(self, error: ClientError) -> None:
        again, self._last_sent = self._last_sent, None
        if again is None or (self.flow.every and not self.ending):
            super().unanswered(error)
            harmless(None)
        else:
            sent, reply = again
            self.line.publish(sent.subject, sent.payload, reply=reply, headers=sent.headers)


# The end


@fault("final-ack-unrecognised", "A50-FAST10-116")
class FinalAckUnrecognised(Ingest):
    """The final PubAck is overlooked."""

    def last_ack(self, document: Mapping[str, Any]) -> None:
        pass


@fault("end-by-the-server-untold", "A50-FAST10-205 A50-FAST10-213 A50-FAST10-216")
class EndByTheServerUntold(Ingest):
    """The PubAck of a batch that the server ended is dropped."""

    def last_ack(self, document: Mapping[str, Any]) -> None:
        if self.ending:
            super().last_ack(document)
            harmless(None)
        else:
            self.stopped = None
            self.finish(ClientError("BatchClosed", "the batch has ended"))


@fault("final-ack-misplaced", "A50-FAST10-219")
class FinalAckMisplaced(Ingest):
    """A final ack to the reply subject of an earlier message is an error."""

    def understood(self, msg: Msg) -> tuple[Heard, ...]:
        heard = super().understood(msg)
        final = any(isinstance(one, FinalAck) for one in heard)
        if not final or msg.subject.endswith(_ENDS):
            return harmless(heard)
        return (Refused(ClientError("BatchClosed", "the batch has ended")),)


@fault("ingest-end-repeats-the-sequence", "A50-FAST10-192")
class IngestEndRepeatsTheSequence(Ingest):
    """What ends a batch repeats the number."""

    def sequence_of(self, operation: Operation) -> int:
        ends = operation in (Operation.COMMIT, Operation.END)
        if not ends or not self.flow.sent:
            return harmless(super().sequence_of(operation))
        return self.flow.sent


@fault("ingest-goes-on-after-its-end", "A50-FAST10-208")
class IngestGoesOnAfterItsEnd(Ingest):
    """Messages are sent after the end of a batch."""

    def check_open(self) -> None:
        return harmless(None) if self.over is None else None


@fault("batch-of-one-refused", "A50-FAST10-209")
class BatchOfOneRefused(Ingest):
    """A batch has two messages at least."""

    async def commit_with(self, message: Outgoing) -> dict[str, Any]:
        if not self.flow.sent:
            raise invalid("a batch of one message is none")
        return harmless(await super().commit_with(message))


@also(FailedCommitTakenForOne)
class FailedIngestTakenForOne(Ingest):
    """That of fast ingest, too."""

    async def commit_with(self, message: Outgoing) -> dict[str, Any]:
        try:
            return harmless(await super().commit_with(message))
        except ClientError:
            return {"stream": "unknown", "seq": str(self.flow.sent)}


@also(EmptyBatchEndsQuietly)
class EmptyIngestEndsQuietly(Ingest):
    """That of fast ingest, too."""

    def close_empty(self) -> dict[str, Any]:
        return {"stream": "none", "seq": "0"}


@also(MembersKeptBack)
class IngestMembersKeptBack(Ingest):
    """Those of fast ingest, too."""

    async def append(self, message: Outgoing) -> None:
        if not self.flow.sent:
            await super().append(message)
            harmless(None)


@also(HeadersOfMembersDropped)
class HeadersOfIngestDropped(Ingest):
    """Those of fast ingest, too."""

    def dressed(self, message: Outgoing, sequence: int, operation: Operation) -> Dressed:
        if sequence <= 1 or not message.items:
            return harmless(super().dressed(message, sequence, operation))
        return super().dressed(replace(message, items=()), sequence, operation)


@also(ReconnectsEndBatches)
class ReconnectsEndIngest(Ingest):
    """Nor does fast ingest."""

    def __init__(self, requests: Requests, tell: Tell, **options: Any) -> None:
        super().__init__(requests, tell, **options)
        self._connects = requests.line.connects

    def check(self, message: Outgoing | None = None) -> None:
        if self.line.connects > self._connects:
            self.finish(ClientError("Disconnected", "the connection was lost"))
        else:
            harmless(None)
        super().check(message)


# Revision 7


@fault("starts-without-flow", "A50-FAST7-022 A50-FAST7-020", revision="adr-50@7")
class StartsWithoutFlow(HeaderForm):
    """The first message has no flow."""

    def opening(self) -> list[tuple[str, str]]:
        return [item for item in super().opening() if item[0] != "Nats-Flow"]


@fault("gap-mode-unsent", "A50-FAST7-005 A50-FAST7-022", revision="adr-50@7")
class GapModeUnsent(HeaderForm):
    """The gap mode is not sent."""

    def opening(self) -> list[tuple[str, str]]:
        items = super().opening()
        kept = [item for item in items if item[0] != "Nats-Batch-Gap"]
        return kept if kept != items else harmless(items)


@fault("later-expectations-sent", "A50-FAST7-086 A50-FAST7-087", revision="adr-50@7")
class LaterExpectationsSent(HeaderForm):
    """Later messages may expect sequences."""

    def check(self, message: Outgoing, sequence: int) -> None:
        pass
