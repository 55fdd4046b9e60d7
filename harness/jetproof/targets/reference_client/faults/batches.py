"""Faults of atomic batches."""

from __future__ import annotations

from typing import Any, Final

from jetproof.targets.reference_client.batches import MAX_MESSAGES, Batch, Item
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.faults.fault import fault, harmless
from jetproof.targets.reference_client.publishing import Outgoing
from jetproof.targets.reference_client.requests import Requests
from jetproof.wire.frames import Msg

_CONDITIONS: Final = {"Nats-Expected-Last-Sequence", "Nats-Expected-Last-Msg-Id", "Nats-Msg-Id"}

# The id, and what may be called when


@fault("batch-id-too-long", "A50-ATOMIC-152 A50-FAST10-196")
class BatchIdTooLong(Batch):
    """Ids that the client makes have 96 characters."""

    def new_id(self) -> str:
        return super().new_id() * 3


@fault("batch-id-unchecked", "A50-ATOMIC-262")
class BatchIdUnchecked(Batch):
    """An id of the caller may be too long."""

    def check_id(self, batch_id: str) -> None:
        try:
            super().check_id(batch_id)
        except ClientError:
            return
        harmless(None)


@fault("caller-id-ignored", "A50-ATOMIC-262 A50-FAST10-214")
class CallerIdIgnored(Batch):
    """The id is always its own."""

    def chosen_id(self, batch_id: str | None) -> str:
        return self.new_id() if batch_id is not None else harmless(super().chosen_id(None))


@fault("batch-goes-on-after-its-end", "A50-ATOMIC-264")
class BatchGoesOnAfterItsEnd(Batch):
    """Messages are sent after an error or a commit."""

    def check_open(self) -> None:
        return harmless(None) if self.over is None else None


@fault("reconnects-end-batches", "A50-ATOMIC-268 A50-ATOMIC-273 A50-FAST10-210 A50-FAST10-216")
class ReconnectsEndBatches(Batch):
    """A batch does not survive the connection."""

    def __init__(self, requests: Requests, **options: Any) -> None:
        super().__init__(requests, **options)
        self._connects = requests.line.connects

    async def check_connection(self) -> None:
        if self.line.connects > self._connects:
            raise self.failed(ClientError("Disconnected", "the connection was lost"))
        await super().check_connection()
        harmless(None)


@fault("batch-headers-of-the-caller-sent", "A50-ATOMIC-266")
class BatchHeadersOfTheCallerSent(Batch):
    """Batch headers of the caller are sent."""

    def check_headers(self, names: set[str]) -> None:
        try:
            super().check_headers(names)
        except ClientError:
            return
        harmless(None)


@fault("conditions-in-a-batch-refused", "A50-ATOMIC-269 A50-ATOMIC-270 A50-ATOMIC-271")
class ConditionsInABatchRefused(Batch):
    """Expectations and message ids are refused."""

    def check_headers(self, names: set[str]) -> None:
        super().check_headers(names)
        if names & _CONDITIONS:
            raise invalid("a message of a batch has no conditions")
        harmless(None)


@fault("batch-size-unguarded", "A50-ATOMIC-158")
class BatchSizeUnguarded(Batch):
    """More than 1000 messages are sent."""

    def check_count(self) -> None:
        return harmless(None) if self.sequence < MAX_MESSAGES else None


@fault("batch-size-guarded-early", "A50-ATOMIC-158")
class BatchSizeGuardedEarly(Batch):
    """At most 999 messages are sent."""

    def check_count(self) -> None:
        if self.sequence == MAX_MESSAGES - 1:
            raise invalid(f"a batch has less than {MAX_MESSAGES} messages")
        super().check_count()
        harmless(None)


# The first message


@fault("batch-start-without-reply", "A50-ATOMIC-002")
class BatchStartWithoutReply(Batch):
    """The first message has no reply subject."""

    async def begin(self, message: Outgoing) -> bool:
        await self.send(message)
        return False


@fault("unasked-start-without-reply", "A50-ATOMIC-260")
class UnaskedStartWithoutReply(Batch):
    """A first message that nobody wants acknowledged has no reply subject."""

    async def begin(self, message: Outgoing) -> bool:
        if self.ack_first:
            return harmless(await super().begin(message))
        await self.send(message)
        return False


@fault("batch-starts-by-a-message-of-its-own", "A50-ATOMIC-150")
class BatchStartsByAMessageOfItsOwn(Batch):
    """An empty message opens the batch."""

    async def begin(self, message: Outgoing) -> bool:
        await self.send(Outgoing(message.subject), answered=True)
        self.sequence += 1
        return await super().begin(message)


@fault("first-answer-not-awaited", "A50-ATOMIC-260")
class FirstAnswerNotAwaited(Batch):
    """The first answer is not awaited."""

    async def begin(self, message: Outgoing) -> bool:
        if not self.ack_first:
            harmless(None)
        self.first = await self.send(message, answered=True)
        return False


@fault("no-responders-asked-again", "A50-ATOMIC-274")
class NoRespondersAskedAgain(Batch):
    """A first message answered with 503 is sent again."""

    async def first_answer(self, message: Outgoing) -> Msg:
        answer = await super().first_answer(message)
        return harmless(answer) if answer.status is None else await super().first_answer(message)


@fault("first-error-ignored", "A50-ATOMIC-153")
class FirstErrorIgnored(Batch):
    """An error in the first answer is ignored."""

    def start_error(self, answer: Msg) -> ClientError | None:
        error = super().start_error(answer)
        right = error is None or error.kind == "BatchUnsupported"
        return harmless(error) if right else None


@fault("first-error-loses-its-code", "A50-ATOMIC-272")
class FirstErrorLosesItsCode(Batch):
    """The error of a first message has no code."""

    def start_error(self, answer: Msg) -> ClientError | None:
        error = super().start_error(answer)
        if error is None or error.kind != "APIError":
            return harmless(error)
        return ClientError("BatchFailed", "the batch was refused")


@fault("empty-first-answer-refused", "A50-ATOMIC-153")
class EmptyFirstAnswerRefused(Batch):
    """An empty first answer is an error."""

    def start_error(self, answer: Msg) -> ClientError | None:
        error = super().start_error(answer)
        if error is not None:
            return harmless(error)
        return ClientError("BadAnswer", "the first answer is empty")


@fault("old-server-taken-for-new", "A50-ATOMIC-159")
class OldServerTakenForNew(Batch):
    """A pub ack opens a batch."""

    def start_error(self, answer: Msg) -> ClientError | None:
        error = super().start_error(answer)
        unsupported = error is not None and error.kind == "BatchUnsupported"
        return None if unsupported else harmless(error)


# Further messages


@fault("members-kept-back", "PRM-026")
class MembersKeptBack(Batch):
    """Messages after the first are taken and not sent."""

    async def append(self, message: Outgoing, ack: bool | None) -> bool:
        self.sequence -= 1
        return False


@fault("member-acks-ignored", "A50-ATOMIC-261")
class MemberAcksIgnored(Batch):
    """Answers in the middle are not asked for."""

    def wants_answer(self, ack: bool | None) -> bool:
        return False if super().wants_answer(ack) else harmless(False)


@fault("every-member-acknowledged", "A50-ATOMIC-005")
class EveryMemberAcknowledged(Batch):
    """Every message is a request."""

    def wants_answer(self, ack: bool | None) -> bool:
        return True if not super().wants_answer(ack) else harmless(True)


@fault("empty-ack-in-the-middle-refused", "A50-ATOMIC-155")
class EmptyAckInTheMiddleRefused(Batch):
    """An empty ack is an error."""

    def member_error(self, answer: Msg) -> ClientError | None:
        error = super().member_error(answer)
        if error is not None:
            return harmless(error)
        return ClientError("BadAnswer", "an empty acknowledgement")


@fault("headers-of-members-dropped", "PRM-029")
class HeadersOfMembersDropped(Batch):
    """Members go without their headers."""

    def member(self, message: Outgoing, ending: Item | None) -> Outgoing:
        if self.sequence == 1 or not message.items:
            return harmless(super().member(message, ending))
        return super().member(Outgoing(message.subject, message.payload), ending)


# Headers of the batch


@fault("batch-sequence-skips", "A50-ATOMIC-004")
class BatchSequenceSkips(Batch):
    """From the second message on, numbers are off."""

    def headers(self, sequence: int, ending: Item | None) -> tuple[Item, ...]:
        if sequence == 1:
            return harmless(super().headers(sequence, ending))
        return super().headers(sequence + 1, ending)


@fault("batch-id-changes", "A50-ATOMIC-004")
class BatchIdChanges(Batch):
    """Further messages have another id."""

    def headers(self, sequence: int, ending: Item | None) -> tuple[Item, ...]:
        (name, value), *rest = super().headers(sequence, ending)
        right = ((name, value), *rest)
        return harmless(right) if sequence == 1 else ((name, f"{value}x"), *rest)


@fault("batch-starts-at-zero", "A50-ATOMIC-151 A50-ATOMIC-004")
class BatchStartsAtZero(Batch):
    """The first message has number 0."""

    def headers(self, sequence: int, ending: Item | None) -> tuple[Item, ...]:
        return super().headers(sequence - 1, ending)


@fault("commit-repeats-the-sequence", "A50-ATOMIC-154")
class CommitRepeatsTheSequence(Batch):
    """The commit repeats the number."""

    def headers(self, sequence: int, ending: Item | None) -> tuple[Item, ...]:
        if ending is None:
            return harmless(super().headers(sequence, ending))
        return super().headers(max(1, sequence - 1), ending)


@fault("commit-without-id", "A50-ATOMIC-154")
class CommitWithoutId(Batch):
    """The commit has no batch id."""

    def headers(self, sequence: int, ending: Item | None) -> tuple[Item, ...]:
        own = super().headers(sequence, ending)
        return harmless(own) if ending is None else own[1:]


# The end


@fault("commit-value-unknown", "A50-ATOMIC-154")
class CommitValueUnknown(Batch):
    """The commit header says yes."""

    async def commit_with(self, message: Outgoing, value: str) -> dict[str, Any]:
        return await super().commit_with(message, "yes")


@fault("commit-error-loses-its-code", "A50-ATOMIC-156 A50-ATOMIC-273")
class CommitErrorLosesItsCode(Batch):
    """A rejected commit has no code."""

    def commit_failed(self, error: ClientError) -> dict[str, Any]:
        if error.err_code is None:
            return super().commit_failed(harmless(error))
        return super().commit_failed(ClientError("BatchFailed", "the batch failed"))


@fault("batch-count-untold", "A50-ATOMIC-157")
class BatchCountUntold(Batch):
    """Batch id and count are not handed on."""

    async def commit_with(self, message: Outgoing, value: str) -> dict[str, Any]:
        ack = await super().commit_with(message, value)
        return {name: one for name, one in ack.items() if name not in ("count", "batch")}


@fault("failed-commit-taken-for-one", "A50-ATOMIC-267 PRM-025")
class FailedCommitTakenForOne(Batch):
    """A commit that fails is reported as a commit."""

    def commit_failed(self, error: ClientError) -> dict[str, Any]:
        self.failed(error)
        return {"stream": "unknown", "seq": str(self.sequence), "batch": self.id}


@fault("any-ack-taken-for-a-commit", "PRM-025")
class AnyAckTakenForACommit(Batch):
    """A plain pub ack is a commit."""

    def is_commit(self, ack: dict[str, Any]) -> bool:
        return True if not super().is_commit(ack) else harmless(True)


@fault("unanswered-commit-sent-again", "A50-ATOMIC-267 A50-ATOMIC-274")
class UnansweredCommitSentAgain(Batch):
    """A commit that is not answered is sent again."""

    async def commit_answer(self, message: Outgoing, ending: Item) -> Msg:
        try:
            answer = await super().commit_answer(message, ending)
        except ClientError:
            pass
        else:
            if answer.status is None:
                return harmless(answer)
        return await super().commit_answer(message, ending)


@fault("close-gives-up", "A50-ATOMIC-263")
class CloseGivesUp(Batch):
    """Closing a batch gives it up."""

    async def end(self) -> dict[str, Any] | None:
        self.over = ClientError("BatchDiscarded", "the batch was closed")
        return None


@fault("empty-batch-ends-quietly", "A50-ATOMIC-265 A50-FAST10-209")
class EmptyBatchEndsQuietly(Batch):
    """A batch without messages ends without an error."""

    async def end_empty(self) -> dict[str, Any] | None:
        return None

    def publish_nothing(self) -> dict[str, Any]:
        return {"stream": "none", "seq": "0"}
