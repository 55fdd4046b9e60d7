"""ADR-50's fast ingest in the form of revision 7, as a state machine without any I/O.

A stream's `Ingest` is told what happens: a message arrives, it has been stored (or refused, or
lost), nothing has come for a while, another server leads. It answers with what is to be done about
it, in order: `Tell` a client, `Store` the message, `Advise` of a batch that was given up.

Messages of a stream come one after the other: the next one when the last has been stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from jetproof.targets.reference.fast_ingest_message import (
    LAST_MSG_ID,
    LAST_SEQUENCE,
    LAST_SUBJECT_SEQUENCE,
    Commit,
    Message,
    Rate,
)

IDLE_SECONDS: Final = 10.0
"""A batch without traffic for so long is abandoned."""
PER_STREAM: Final = 50
PER_SERVER: Final = 1000
LONGEST_ID: Final = 64
DEFAULT_RATE: Final = Rate(10)
"""For a batch that asks for none; the text names ten as an example."""

_ERRORS: Final = {
    10071: "wrong last sequence",
    10174: "batch publish not enabled on stream",
    10175: "batch publish sequence is missing",
    10176: "batch publish is incomplete and was abandoned",
    10177: "batch publish unsupported header used",
    10179: "batch publish ID is invalid",
    10201: "batch publish contains duplicate message id",
    10202: "batch publish gap mode is invalid",
}


@dataclass(frozen=True, slots=True)
class Tell:
    """A message to a client; to nobody, if there is no reply subject."""

    to: str | None
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Store:
    """Store the message that has arrived; what becomes of it is told by `stored` or `refused`.

    One that is lost on its way is as if it had never come.
    """


@dataclass(frozen=True, slots=True)
class Advise:
    """An advisory: this batch was abandoned."""

    batch: str
    reason: str


Effect = Tell | Store | Advise


@dataclass(slots=True)
class Batch:
    """A batch in flight. `rate` is the one in force, `asked` the client's own: its upper bound."""

    id: str
    control: str | None
    gaps: bool
    asked: Rate
    rate: Rate
    leader: str
    heard: float
    highest: int = 0
    """The highest sequence that has been stored."""
    stream_seq: int = 0
    acked: int = 0
    unacked_bytes: int = 0
    subjects: set[str] = field(default_factory=set)


class Ingest:
    """The batches of one stream. `places` counts those in flight, by server."""

    def __init__(self, stream: str, places: Counter[str]) -> None:
        self.batches: dict[str, Batch] = {}
        self._stream = stream
        self._places = places

    # -- a message arrives ----------------------------------------------------------------------

    def arrives(
        self, message: Message, now: float, *, enabled: bool, leader: str = ""
    ) -> list[Effect]:
        """What is done about a message before it is stored, or instead."""
        if not self.ingests(enabled):
            return [self.error(message.reply, 10174)]
        if not self.is_id(message.batch):
            return [self.error(message.reply, 10179)]
        batch = self.batches.get(message.batch)
        sequence = self.sequence_of(message, batch)
        if sequence is None:
            return [self.error(message.reply, 10175)]
        if message.commit is Commit.NONSENSE:
            return self.fail(batch, message, 10176)
        if batch is None:
            begun = self._begins(message, sequence, now, leader)
            if isinstance(begun, Tell):
                return [begun]
            batch = begun
        batch.heard = now
        if refused := self.unfit(batch, message, sequence):
            return self.fail(batch, message, refused)
        return self._in_turn(batch, message, sequence)

    def ingests(self, enabled: bool) -> bool:
        """Whether the stream takes batches: only if its configuration says so."""
        return enabled

    def is_id(self, batch: str) -> bool:
        return 1 <= len(batch) <= LONGEST_ID

    def sequence_of(self, message: Message, batch: Batch | None) -> int | None:
        return message.sequence

    def _begins(self, message: Message, sequence: int, now: float, leader: str) -> Batch | Tell:
        """A batch made by its first message, or why there is none."""
        rate = DEFAULT_RATE if message.flow is None else self.rate(message.flow)
        if not self.may_begin(sequence):
            return self.error(message.reply, 10176)
        if not self.is_gap_mode(message.gap):
            return self.error(message.reply, 10202)
        # With an eob there is nothing to commit.
        if rate is None or message.commit is Commit.NOT_STORED or not self._place(leader):
            return self.error(message.reply, 10176)
        gaps = self.allows_gaps(message.gap)
        batch = Batch(message.batch, message.reply, gaps, rate, rate, leader, now)
        batch.highest = sequence - 1
        self.batches[batch.id] = batch
        self._places[leader] += 1
        return batch

    def may_begin(self, sequence: int) -> bool:
        return sequence == 1

    def is_gap_mode(self, mode: str | None) -> bool:
        return mode in (None, "ok", "fail")

    def allows_gaps(self, mode: str | None) -> bool:
        """Without a gap mode, gaps end a batch."""
        return mode == "ok"

    def rate(self, flow: str) -> Rate | None:
        return Rate.read(flow)

    def _place(self, leader: str) -> bool:
        """Whether the stream and the server have one for another batch."""
        return self.stream_has_room() and self.server_has_room(self._places[leader])

    def stream_has_room(self) -> bool:
        return len(self.batches) < PER_STREAM

    def server_has_room(self, taken: int) -> bool:
        return taken < PER_SERVER

    def unfit(self, batch: Batch, message: Message, sequence: int) -> int | None:
        """The error of a message that says what no message of its batch may say."""
        if LAST_MSG_ID in message.expects:
            return 10177
        return self.early_expectation(batch, message, sequence)

    def early_expectation(self, batch: Batch, message: Message, sequence: int) -> int | None:
        """The error of a message that expects what only the first, or a fresh subject, may."""
        if LAST_SEQUENCE in message.expects and sequence > 1:
            return 10177
        if LAST_SUBJECT_SEQUENCE in message.expects and message.subject in batch.subjects:
            return 10071
        return None

    def _in_turn(self, batch: Batch, message: Message, sequence: int) -> list[Effect]:
        """The message of a batch by its sequence: the next, one beyond a gap, or one again."""
        told: list[Effect] = []
        if sequence <= batch.highest:
            return [] if batch.gaps else [self.finish(batch, message)]
        if sequence > batch.highest + 1:
            if not self.survives_gaps(batch):
                return self.end_with_a_gap(batch, message, sequence)
            told += self.tell_of_a_gap(batch, sequence)
        if self.is_stored(message.commit):
            return [*told, Store()]
        return [*told, self.finish(batch, message)]

    def survives_gaps(self, batch: Batch) -> bool:
        return batch.gaps

    def tell_of_a_gap(self, batch: Batch, sequence: int) -> list[Effect]:
        """A BatchFlowAck with the sequence of the last message before the gap."""
        last = {"last_seq": self.last_before_gap(batch)}
        return [Tell(batch.control, last | self.flow(batch, sequence))]

    def last_before_gap(self, batch: Batch) -> int:
        return batch.highest

    def end_with_a_gap(self, batch: Batch, message: Message, sequence: int) -> list[Effect]:
        """The final PubAck tells of what came before the gap; the message itself is not stored."""
        return [self.finish(batch, message)]

    def is_stored(self, commit: Commit) -> bool:
        """The message that only ends a batch is not stored; every other is."""
        return commit is not Commit.NOT_STORED

    # -- it has been stored, or not -------------------------------------------------------------

    def stored(self, message: Message, stream_seq: int, *, duplicate: bool = False) -> list[Effect]:
        """The message is in the stream, or has been there before."""
        batch = self.batches.get(message.batch)
        if batch is None:
            return []  # it has ended meanwhile: another server leads
        if self.fails_as_duplicate(duplicate):
            return self.fail(batch, message, 10201)
        sequence = message.sequence or batch.highest + 1
        first = batch.stream_seq == 0
        batch.highest, batch.stream_seq = sequence, stream_seq
        batch.subjects.add(message.subject)
        batch.unacked_bytes += message.size
        effects: list[Effect] = []
        if self.due(batch) or self.acks_start(first):
            self.adjust(batch)
            effects += self.acknowledge(batch, sequence)
        if message.commit is not Commit.NO:
            effects.append(self.finish(batch, message))
        return effects

    def fails_as_duplicate(self, duplicate: bool) -> bool:
        return duplicate

    def refused(self, message: Message, error: Mapping[str, Any]) -> list[Effect]:
        """The stream does not take the message: its checks fail, it is too large."""
        batch = self.batches.get(message.batch)
        if batch is None:
            return []
        self.end(batch)
        return [Tell(batch.control, error)]

    def due(self, batch: Batch) -> bool:
        """Whether the message just stored is one that is acknowledged, by the flow in force."""
        rate = batch.rate
        since = batch.unacked_bytes if rate.in_bytes else batch.highest - batch.acked
        if not self.far_enough(rate, since):
            return False
        batch.acked, batch.unacked_bytes = batch.highest, 0
        return True

    def far_enough(self, rate: Rate, since: int) -> bool:
        """Acknowledgements are as far apart as they say."""
        return since >= rate.every

    def acks_start(self, first: bool) -> bool:
        """The first message gets a BatchFlowAck of its own."""
        return first

    def acknowledge(self, batch: Batch, sequence: int) -> list[Effect]:
        return [Tell(batch.control, self.flow(batch, sequence))]

    def adjust(self, batch: Batch) -> None:
        """The server may change the flow, never above what the client asked for. It does not."""

    # -- without a message ----------------------------------------------------------------------

    def idle(self, batch: Batch, now: float) -> list[Effect]:
        """Abandons a batch that has heard nothing for too long: in silence, with an advisory."""
        if self.batches.get(batch.id) is not batch or now < self.expires(batch):
            return []
        return self.abandon(batch, now)

    def expires(self, batch: Batch) -> float:
        """When a batch is abandoned, unless a message comes."""
        return batch.heard + IDLE_SECONDS

    def abandon(self, batch: Batch, now: float) -> list[Effect]:
        self.end(batch)
        return [Advise(batch.id, "timeout")]

    def leads(self, batch: Batch, leader: str) -> list[Effect]:
        """Another server leads the stream: it goes on if gaps are fine, and else ends the batch."""
        if self.batches.get(batch.id) is not batch or leader == batch.leader:
            return []
        self._places[batch.leader] -= 1
        self._places[leader] += 1
        batch.leader = leader
        return self.go_on(batch) if batch.gaps else self.end_under_new_leader(batch)

    def go_on(self, batch: Batch) -> list[Effect]:
        """A new leader tells what it has."""
        return [Tell(batch.control, {"last_seq": batch.highest, **self.flow(batch)})]

    def end_under_new_leader(self, batch: Batch) -> list[Effect]:
        return [self.finish(batch)]

    def clear(self) -> None:
        """The stream is gone, and its batches with it."""
        for batch in list(self.batches.values()):
            self.end(batch)

    # -- answers --------------------------------------------------------------------------------

    def flow(self, batch: Batch, sequence: int | None = None) -> dict[str, int]:
        """A BatchFlowAck, without the field that tells of a gap."""
        return {"seq": batch.highest if sequence is None else sequence, **batch.rate.told()}

    def finish(self, batch: Batch, message: Message | None = None) -> Tell:
        """Ends a batch with the PubAck of all that it has stored."""
        self.end(batch)
        reply = batch.control if message is None else message.reply or batch.control
        told = {"stream": self._stream, "seq": batch.stream_seq}
        return Tell(reply, {**told, "batch": batch.id, "count": batch.highest})

    def fail(self, batch: Batch | None, message: Message, error: int) -> list[Effect]:
        """Ends a batch, if there is one, with an error; what has been stored stays."""
        if batch is None:
            return [self.error(message.reply, error)]
        self.end(batch)
        return [self.error(batch.control, error)]

    def error(self, to: str | None, number: int) -> Tell:
        told = {"code": 400, "err_code": number, "description": _ERRORS[number]}
        return Tell(to, {"error": told, "stream": self._stream, "seq": 0})

    def end(self, batch: Batch) -> None:
        if self.batches.pop(batch.id, None) is not None:
            self._places[batch.leader] -= 1
