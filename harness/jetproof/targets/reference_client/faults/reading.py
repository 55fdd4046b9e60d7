"""Faults of reads without a consumer: direct get, message get, guarded reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jetproof.targets.reference_client.errors import ClientError, status_error
from jetproof.targets.reference_client.faults.fault import fault, harmless
from jetproof.targets.reference_client.reading import Gathered, Reads, Stored
from jetproof.targets.reference_client.requests import NO_RESPONDERS, answer_document
from jetproof.wire.frames import Msg
from jetproof.wire.headers import Headers

Start = tuple[int | None, str | None]


def without(body: dict[str, Any], *names: str) -> dict[str, Any]:
    """The same request without these fields."""
    kept = {name: value for name, value in body.items() if name not in names}
    return kept if kept != body else harmless(body)


# One message


@fault("direct-get-falls-back", "A31-017")
class DirectGetFallsBack(Reads):
    """Where nobody answers, the stream's API is asked."""

    async def direct(self, stream: str, **asked: Any) -> Stored:
        try:
            return harmless(await super().direct(stream, **asked))
        except ClientError as error:
            if error.status != NO_RESPONDERS:
                raise harmless(error) from None
            seq, last = asked.get("seq"), asked.get("last_by_subject")
            return await self.message(stream, seq=seq, last_by_subject=last)


@fault("sequence-off-by-one", "A31-178 A31-181 A31-183 A31-186")
class SequenceOffByOne(Reads):
    """The next sequence is asked for."""

    def start(self, seq: int | None) -> int | None:
        return harmless(None) if seq is None else seq + 1


@fault("last-asked-for-as-next", "A31-179")
class LastAskedForAsNext(Reads):
    """The first of a subject is asked for."""

    async def direct(self, stream: str, **asked: Any) -> Stored:
        if asked.get("last_by_subject") is None:
            return harmless(await super().direct(stream, **asked))
        asked["next_by_subject"] = asked.pop("last_by_subject")
        return await super().direct(stream, **asked)


@fault("next-asked-for-as-last", "A31-180 A31-181")
class NextAskedForAsLast(Reads):
    """The last of a subject is asked for."""

    async def direct(self, stream: str, **asked: Any) -> Stored:
        if asked.get("next_by_subject") is None:
            return harmless(await super().direct(stream, **asked))
        asked["last_by_subject"] = asked.pop("next_by_subject")
        return await super().direct(stream, **asked | {"seq": None})


@fault("appended-subject-with-a-payload", "A31-155")
class AppendedSubjectWithAPayload(Reads):
    """It has a body as well."""

    def last_request(
        self, stream: str, subject: str, guard: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        asked, body = super().last_request(stream, subject, guard)
        return asked, body | {"last_by_subj": subject}


@fault("statuses-taken-for-messages", "A31-156 A53-060")
class StatusesTakenForMessages(Reads):
    """A status is handed on as a message."""

    def read(self, answer: Msg) -> Stored:
        if answer.status is None:
            return harmless(super().read(answer))
        return Stored("", "", 0, "", answer.payload, answer.headers)


@fault("empty-messages-taken-for-none", "A31-157")
class EmptyMessagesTakenForNone(Reads):
    """No payload is no message."""

    def stored(self, msg: Msg) -> Stored:
        if not msg.payload:
            raise ClientError("NotFound", "an empty message")
        return harmless(super().stored(msg))


@fault("payloads-read-as-answers", "A31-158")
class PayloadsReadAsAnswers(Reads):
    """An error in a payload is raised."""

    def stored(self, msg: Msg) -> Stored:
        if msg.payload[:1] == b"{":
            answer_document(msg)
        else:
            harmless(None)
        return super().stored(msg)


@fault("one-value-per-header", "A31-165 PRM-028")
class OneValuePerHeader(Reads):
    """The last value of a header is kept."""

    def stored(self, msg: Msg) -> Stored:
        stored = super().stored(msg)
        if stored.headers is None:
            return harmless(stored)
        return replace(stored, headers=Headers(dict(tuple(stored.headers)).items()))


# Batches and several subjects


@fault("old-server-unnoticed", "A31-045")
class OldServerUnnoticed(Reads):
    """A first reply without Nats-Num-Pending is all."""

    def unsupported(self, msg: Msg, gathered: Gathered) -> None:
        gathered.messages.append(Stored.of(msg))


@fault("batch-gaps-untold", "A31-167 A31-168 A31-169 PRM-027")
class BatchGapsUntold(Reads):
    """A batch may lack messages."""

    def check_order(self, before: int | None, msg: Msg) -> None:
        try:
            super().check_order(before, msg)
        except ClientError:
            return
        harmless(None)


@fault("unended-batch-in-peace", "A31-017 PRM-027")
class UnendedBatchInPeace(Reads):
    """A batch ends in peace without its end."""

    def unended(self, error: ClientError, gathered: Gathered) -> None:
        pass


@fault("batches-never-time-out", "A31-017")
class BatchesNeverTimeOut(Reads):
    """A batch waits for its end for ever."""

    def patience(self) -> float:
        return 3600.0


@fault("batch-errors-untold", "A31-017 A31-156 A53-060 PRM-027")
class BatchErrorsUntold(Reads):
    """A status ends a batch in peace."""

    def broken_off(self, msg: Msg, gathered: Gathered) -> None:
        pass


@fault("end-of-a-batch-unknown", "A31-159")
class EndOfABatchUnknown(Reads):
    """204 is an error."""

    def is_end(self, msg: Msg) -> bool:
        return False if super().is_end(msg) else harmless(False)


@fault("batch-without-its-number", "A31-046 A31-182")
class BatchWithoutItsNumber(Reads):
    """A batch call sends no batch."""

    def batch_body(self, asked: dict[str, Any]) -> dict[str, Any]:
        return without(super().batch_body(asked), "batch")


@fault("batch-number-unchecked", "A31-046")
class BatchNumberUnchecked(Reads):
    """A batch of 0, or below, is sent."""

    def check_batch(self, batch: int | None) -> None:
        try:
            super().check_batch(batch)
        except ClientError:
            return
        harmless(None)


@fault("batch-without-a-subject", "A31-154 A31-182 A31-183")
class BatchWithoutASubject(Reads):
    """A batch call sends no subject."""

    def batch_body(self, asked: dict[str, Any]) -> dict[str, Any]:
        return without(super().batch_body(asked), "next_by_subj")


@fault("start-time-dropped", "A31-184 A31-187")
class StartTimeDropped(Reads):
    """A batch starts at the first message."""

    def batch_start(self, seq: int | None, start_time: str | None) -> Start:
        start = super().batch_start(seq, start_time)
        return harmless(start) if start_time is None else (1, None)


@fault("max-bytes-dropped", "A31-185 A31-186 A31-187")
class MaxBytesDropped(Reads):
    """max_bytes is not sent."""

    def batch_body(self, asked: dict[str, Any]) -> dict[str, Any]:
        return without(super().batch_body(asked), "max_bytes")


@fault("batch-without-a-start", "A31-048 A31-049")
class BatchWithoutAStart(Reads):
    """A batch call sends no start."""

    def batch_start(self, seq: int | None, start_time: str | None) -> Start:
        start = super().batch_start(seq, start_time)
        return (None, None) if start == (1, None) else harmless(start)


@fault("batch-with-two-starts", "A31-147")
class BatchWithTwoStarts(Reads):
    """A start time is sent with a sequence."""

    def batch_start(self, seq: int | None, start_time: str | None) -> Start:
        if start_time is None:
            return harmless(super().batch_start(seq, start_time))
        return seq or 1, start_time


@fault("only-the-first-subject", "A31-188")
class OnlyTheFirstSubject(Reads):
    """Further subjects are not asked for."""

    def multi_body(self, stream: str, asked: dict[str, Any]) -> dict[str, Any]:
        subjects = asked["multi_last"]
        first = subjects[:1] if len(subjects) > 1 else [f"{stream}.none"]
        return super().multi_body(stream, asked) | {"multi_last": first}


@fault("point-in-time-dropped", "A31-189 A31-190 A31-068")
class PointInTimeDropped(Reads):
    """up_to_seq, up_to_time are not sent."""

    def multi_body(self, stream: str, asked: dict[str, Any]) -> dict[str, Any]:
        return without(super().multi_body(stream, asked), "up_to_seq", "up_to_time")


@fault("subjects-without-a-number", "A31-191 A31-192 A31-193")
class SubjectsWithoutANumber(Reads):
    """batch is not sent."""

    def multi_body(self, stream: str, asked: dict[str, Any]) -> dict[str, Any]:
        return without(super().multi_body(stream, asked), "batch")


@fault("page-starts-over", "A31-148")
class PageStartsOver(Reads):
    """seq of a further page is not sent."""

    def multi_body(self, stream: str, asked: dict[str, Any]) -> dict[str, Any]:
        return without(super().multi_body(stream, asked), "seq")


@fault("paging-forgets-the-point-in-time", "A31-068 A31-148")
class PagingForgetsThePointInTime(Reads):
    """up_to_seq is not sent."""

    def next_page(self, body: Mapping[str, Any], end: Msg) -> dict[str, Any] | None:
        further = super().next_page(body, end)
        if further is None or "up_to_seq" not in further:
            return harmless(further)
        return {**body, "seq": further["seq"]}


@fault("paging-repeats-the-last", "A31-148")
class PagingRepeatsTheLast(Reads):
    """A page starts at the last sequence."""

    def next_page(self, body: Mapping[str, Any], end: Msg) -> dict[str, Any] | None:
        further = super().next_page(body, end)
        return harmless(None) if further is None else further | {"seq": further["seq"] - 1}


@fault("paging-stops-early", "A31-148")
class PagingStopsEarly(Reads):
    """Paging ends with the second page."""

    def next_page(self, body: Mapping[str, Any], end: Msg) -> dict[str, Any] | None:
        return None if "seq" in body else harmless(super().next_page(body, end))


# Guarded reads


@fault(
    "read-guard-dropped",
    "A53-028 A53-030 A53-031 A53-032 A53-033 A53-037 A53-039 A53-054",
)
class ReadGuardDropped(Reads):
    """min_last_seq of a read is not sent."""

    def guard(self, min_last_seq: int | None) -> dict[str, Any]:
        return harmless({}) if min_last_seq is None else {}


@fault("message-get-unguarded", "A53-030")
class MessageGetUnguarded(Reads):
    """Message get does not send it."""

    async def message(self, stream: str, **asked: Any) -> Stored:
        if asked.get("min_last_seq") is None:
            harmless(None)
        return await super().message(stream, **asked | {"min_last_seq": None})


@fault("message-get-loses-the-code", "A53-028 A53-082")
class MessageGetLosesTheCode(Reads):
    """An error has no code."""

    async def message(self, stream: str, **asked: Any) -> Stored:
        try:
            return harmless(await super().message(stream, **asked))
        except ClientError as error:
            raise ClientError("Error", error.text) from None


@fault("guarded-read-by-message-get", "A53-031 A53-032")
class GuardedReadByMessageGet(Reads):
    """Guarded reads are message gets."""

    async def direct(self, stream: str, **asked: Any) -> Stored:
        if asked.get("min_last_seq") is None:
            return harmless(await super().direct(stream, **asked))
        seq, last = asked.get("seq"), asked.get("last_by_subject")
        return await self.message(stream, seq=seq, last_by_subject=last)


@fault("guarded-last-by-body", "A53-032")
class GuardedLastByBody(Reads):
    """The subject is sent in the body."""

    def last_request(
        self, stream: str, subject: str, guard: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        asked, body = super().last_request(stream, subject, guard)
        if not guard:
            return harmless((asked, body))
        return asked.removesuffix(f".{subject}"), {"last_by_subj": subject, **guard}


@fault("guard-status-as-not-found", "A53-028 A53-060")
class GuardStatusAsNotFound(Reads):
    """412 is told as 404."""

    def status_error(self, msg: Msg) -> ClientError:
        if msg.status != 412:
            return harmless(super().status_error(msg))
        return status_error("NotFound", 404, "Message Not Found")


@fault("guards-every-read", "A53-044")
class GuardsEveryRead(Reads):
    """Reads are guarded unasked."""

    def guard(self, min_last_seq: int | None) -> dict[str, Any]:
        return super().guard(1) if min_last_seq is None else harmless(super().guard(min_last_seq))
