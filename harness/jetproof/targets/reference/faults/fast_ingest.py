"""Faults of fast ingest in the form of revision 7."""

from __future__ import annotations

from typing import Final

from jetproof.targets.faults import harmless
from jetproof.targets.reference.fast_ingest import (
    IDLE_SECONDS,
    Advise,
    Batch,
    Effect,
    Ingest,
    Store,
)
from jetproof.targets.reference.fast_ingest_message import (
    COMMIT,
    LAST_MSG_ID,
    LAST_SEQUENCE,
    LAST_SUBJECT_SEQUENCE,
    Commit,
    Message,
    Rate,
)
from jetproof.targets.reference.fast_ingest_part import FastIngest
from jetproof.targets.reference.faults.fault import fault
from jetproof.wire.frames import Pub
from jetproof.wire.headers import Headers

_EXPECTATIONS: Final = (LAST_MSG_ID, LAST_SEQUENCE, LAST_SUBJECT_SEQUENCE)

# The beginning


@fault("fast-is-ignored")
class FastIsIgnored(FastIngest):
    """Every message of fast ingest is a plain publish, as on releases."""

    def read(self, frame: Pub) -> Message | None:
        return None if super().read(frame) is not None else harmless(None)


@fault("fast-ingests-everywhere")
class FastIngestsEverywhere(Ingest):
    """Streams that do not allow batches ingest all the same."""

    def ingests(self, enabled: bool) -> bool:
        return True if not enabled else harmless(True)


@fault("fast-takes-long-ids")
class FastTakesLongIds(Ingest):
    """Ids of batches may have any length."""

    def is_id(self, batch: str) -> bool:
        known = super().is_id(batch)
        return True if batch and not known else harmless(known)


@fault("fast-numbers-messages-itself")
class FastNumbersMessagesItself(Ingest):
    """A message without a batch sequence is taken for the next one."""

    def sequence_of(self, message: Message, batch: Batch | None) -> int | None:
        if message.sequence is not None:
            return harmless(message.sequence)
        return batch.highest + 1 if batch else 1


@fault("fast-starts-anywhere")
class FastStartsAnywhere(Ingest):
    """An unknown batch begins with any sequence."""

    def may_begin(self, sequence: int) -> bool:
        return True if not super().may_begin(sequence) else harmless(True)


@fault("fast-takes-any-gap-mode")
class FastTakesAnyGapMode(Ingest):
    """A gap mode that is neither ok nor fail is taken for fail."""

    def is_gap_mode(self, mode: str | None) -> bool:
        return True if not super().is_gap_mode(mode) else harmless(True)


@fault("fast-streams-have-no-limit")
class FastStreamsHaveNoLimit(Ingest):
    """A stream takes more than fifty batches."""

    def stream_has_room(self) -> bool:
        return True if not super().stream_has_room() else harmless(True)


@fault("fast-servers-have-no-limit")
class FastServersHaveNoLimit(Ingest):
    """A server takes more than a thousand batches."""

    def server_has_room(self, taken: int) -> bool:
        return True if not super().server_has_room(taken) else harmless(True)


@fault("fast-batches-have-a-limit")
class FastBatchesHaveALimit(Ingest):
    """A batch ends with its thousandth message, like an atomic one."""

    def unfit(self, batch: Batch, message: Message, sequence: int) -> int | None:
        error = super().unfit(batch, message, sequence)
        return 10176 if error is None and sequence > 1000 else harmless(error)


@fault("fast-takes-bytes-for-messages")
class FastTakesBytesForMessages(Ingest):
    """A flow of so many bytes is read as one of so many messages."""

    def rate(self, flow: str) -> Rate | None:
        rate = super().rate(flow)
        return Rate(rate.every) if rate is not None and rate.in_bytes else harmless(rate)


# Gaps


@fault("fast-gaps-are-fine-by-default")
class FastGapsAreFineByDefault(Ingest):
    """Without a gap mode, gaps do not end a batch."""

    def allows_gaps(self, mode: str | None) -> bool:
        return True if mode is None else harmless(super().allows_gaps(mode))


@fault("fast-gaps-always-end-it")
class FastGapsAlwaysEndIt(Ingest):
    """A gap ends a batch that allows gaps."""

    def survives_gaps(self, batch: Batch) -> bool:
        return False if super().survives_gaps(batch) else harmless(False)


@fault("fast-gaps-never-end-it")
class FastGapsNeverEndIt(Ingest):
    """A gap does not end a batch that allows none."""

    def survives_gaps(self, batch: Batch) -> bool:
        return True if not super().survives_gaps(batch) else harmless(True)


@fault("fast-gaps-end-it-with-an-error")
class FastGapsEndItWithAnError(Ingest):
    """A gap ends a batch with an error instead of the PubAck."""

    def end_with_a_gap(self, batch: Batch, message: Message, sequence: int) -> list[Effect]:
        return self.fail(batch, message, 10176)


@fault("fast-gaps-are-not-told")
class FastGapsAreNotTold(Ingest):
    """A batch that allows gaps goes on without a word about one."""

    def tell_of_a_gap(self, batch: Batch, sequence: int) -> list[Effect]:
        return []


@fault("fast-tells-what-it-expected")
class FastTellsWhatItExpected(Ingest):
    """last_seq of a gap is the sequence that was due, as in revision 9."""

    def last_before_gap(self, batch: Batch) -> int:
        return super().last_before_gap(batch) + 1


@fault("fast-stores-after-the-gap")
class FastStoresAfterTheGap(Ingest):
    """The message that shows a gap is stored although the gap ends its batch."""

    def end_with_a_gap(self, batch: Batch, message: Message, sequence: int) -> list[Effect]:
        return [Store(), *super().end_with_a_gap(batch, message, sequence)]


@fault("fast-counts-beyond-the-gap")
class FastCountsBeyondTheGap(Ingest):
    """The PubAck after a gap counts the message that showed it."""

    def end_with_a_gap(self, batch: Batch, message: Message, sequence: int) -> list[Effect]:
        batch.highest = sequence
        return super().end_with_a_gap(batch, message, sequence)


# What messages expect, and what is stored


@fault("fast-allows-last-msg-id")
class FastAllowsLastMsgId(Ingest):
    """Nats-Expected-Last-Msg-Id is no reason to refuse a message."""

    def unfit(self, batch: Batch, message: Message, sequence: int) -> int | None:
        if LAST_MSG_ID not in message.expects:
            return harmless(super().unfit(batch, message, sequence))
        return self.early_expectation(batch, message, sequence)


@fault("fast-expects-in-every-message")
class FastExpectsInEveryMessage(Ingest):
    """Messages may expect what only the first, or a fresh subject, may."""

    def early_expectation(self, batch: Batch, message: Message, sequence: int) -> int | None:
        error = super().early_expectation(batch, message, sequence)
        return harmless(None) if error is None else None


@fault("fast-checks-nothing")
class FastChecksNothing(FastIngest):
    """What a message expects of the stream is not looked at."""

    def stored_headers(self, frame: Pub, message: Message) -> Headers | None:
        headers = super().stored_headers(frame, message)
        if headers is None or not message.expects:
            return harmless(headers)
        return Headers([item for item in headers.items_list if item[0] not in _EXPECTATIONS])


@fault("fast-skips-duplicates")
class FastSkipsDuplicates(Ingest):
    """A duplicate is passed over, and the batch goes on."""

    def fails_as_duplicate(self, duplicate: bool) -> bool:
        return False if duplicate else harmless(False)


@fault("fast-stores-eob")
class FastStoresEob(Ingest):
    """The message that only ends a batch is stored."""

    def is_stored(self, commit: Commit) -> bool:
        return True if commit is Commit.NOT_STORED else harmless(super().is_stored(commit))


@fault("fast-drops-the-commit")
class FastDropsTheCommit(Ingest):
    """The message that commits a batch with 1 is not stored."""

    def is_stored(self, commit: Commit) -> bool:
        return False if commit is Commit.STORED else harmless(super().is_stored(commit))


@fault("fast-marks-messages")
class FastMarksMessages(FastIngest):
    """Messages are stored with Nats-Batch-Commit: 1 although they have none."""

    def stored_headers(self, frame: Pub, message: Message) -> Headers | None:
        headers = super().stored_headers(frame, message)
        if headers is None or message.commit is not Commit.NO:
            return harmless(headers)
        return Headers([*headers.items_list, (COMMIT, "1")])


# Flow


@fault("fast-starts-in-silence")
class FastStartsInSilence(Ingest):
    """The first message gets no BatchFlowAck of its own."""

    def acks_start(self, first: bool) -> bool:
        return False if super().acks_start(first) else harmless(False)


@fault("fast-starts-only-are-acked")
class FastStartsOnlyAreAcked(Ingest):
    """Only the first message gets a BatchFlowAck."""

    def due(self, batch: Batch) -> bool:
        return False if super().due(batch) else harmless(False)


@fault("fast-acks-half-as-often")
class FastAcksHalfAsOften(Ingest):
    """A BatchFlowAck comes half as often as it says."""

    def far_enough(self, rate: Rate, since: int) -> bool:
        enough = super().far_enough(rate, since)
        return False if enough and since < 2 * rate.every else harmless(enough)


@fault("fast-acks-twice")
class FastAcksTwice(Ingest):
    """Every BatchFlowAck comes two times."""

    def acknowledge(self, batch: Batch, sequence: int) -> list[Effect]:
        return super().acknowledge(batch, sequence) * 2


@fault("fast-acks-without-the-flow")
class FastAcksWithoutTheFlow(Ingest):
    """A BatchFlowAck does not say which flow is in force."""

    def flow(self, batch: Batch, sequence: int | None = None) -> dict[str, int]:
        return {"seq": super().flow(batch, sequence)["seq"]}


@fault("fast-raises-the-flow")
class FastRaisesTheFlow(Ingest):
    """The flow is raised above what the client asked for."""

    def adjust(self, batch: Batch) -> None:
        if batch.acked:
            batch.rate = Rate(batch.asked.every * 2, batch.asked.in_bytes)
        else:
            harmless(None)


@fault("fast-lowers-the-flow")
class FastLowersTheFlow(Ingest):
    """The flow is halved with the first acknowledgement: no misreading, the text allows it."""

    def adjust(self, batch: Batch) -> None:
        if batch.acked:
            batch.rate = Rate(max(1, batch.asked.every // 2), batch.asked.in_bytes)
        else:
            harmless(None)


# Silence


@fault("fast-gives-up-early")
class FastGivesUpEarly(Ingest):
    """A batch is abandoned after a second."""

    def expires(self, batch: Batch) -> float:
        return harmless(batch.heard + IDLE_SECONDS / 10)

    def abandon(self, batch: Batch, now: float) -> list[Effect]:
        if now >= batch.heard + IDLE_SECONDS:
            harmless(None)
        return super().abandon(batch, now)


@fault("fast-never-gives-up")
class FastNeverGivesUp(Ingest):
    """A batch is never abandoned."""

    def abandon(self, batch: Batch, now: float) -> list[Effect]:
        batch.heard = now
        return []


@fault("fast-tells-of-a-timeout")
class FastTellsOfATimeout(Ingest):
    """The client is sent an error when its batch is abandoned."""

    def abandon(self, batch: Batch, now: float) -> list[Effect]:
        return [self.error(batch.control, 10176), *super().abandon(batch, now)]


@fault("fast-keeps-a-timeout-to-itself")
class FastKeepsATimeoutToItself(Ingest):
    """A batch is abandoned without an advisory."""

    def abandon(self, batch: Batch, now: float) -> list[Effect]:
        return [one for one in super().abandon(batch, now) if not isinstance(one, Advise)]


# New leaders


@fault("fast-new-leaders-forget")
class FastNewLeadersForget(Ingest):
    """With its leader a batch is gone, and nobody says so."""

    def go_on(self, batch: Batch) -> list[Effect]:
        self.end(batch)
        return []

    def end_under_new_leader(self, batch: Batch) -> list[Effect]:
        self.end(batch)
        return []


@fault("fast-new-leaders-always-go-on")
class FastNewLeadersAlwaysGoOn(Ingest):
    """A batch that allows no gaps goes on under another leader."""

    def end_under_new_leader(self, batch: Batch) -> list[Effect]:
        return []


@fault("fast-new-leaders-say-nothing")
class FastNewLeadersSayNothing(Ingest):
    """A new leader goes on without a word."""

    def go_on(self, batch: Batch) -> list[Effect]:
        return []
