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
from jetproof.targets.reference.knobs import Conduct

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

    One that is lost on its way is as if it had never come. Done wrong, it is `marked` with the
    header of a commit, or stored `unchecked`, whatever state it expects.
    """

    marked: bool = False
    unchecked: bool = False


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

    def __init__(self, stream: str, places: Counter[str], conduct: Conduct) -> None:
        self.batches: dict[str, Batch] = {}
        self._stream = stream
        self._places = places
        self._conduct = conduct

    # -- a message arrives ----------------------------------------------------------------------

    def arrives(
        self, message: Message, now: float, *, enabled: bool, leader: str = ""
    ) -> list[Effect]:
        """What is done about a message before it is stored, or instead."""
        wrong = self._conduct.wrong
        if not enabled and not wrong("fast_ingests_everywhere"):
            return [self._error(message.reply, 10174)]
        too_long = len(message.batch) > LONGEST_ID
        if not message.batch or (too_long and not wrong("fast_takes_long_ids")):
            return [self._error(message.reply, 10179)]
        batch = self.batches.get(message.batch)
        sequence = message.sequence
        if sequence is None:
            if not wrong("fast_numbers_messages_itself"):
                return [self._error(message.reply, 10175)]
            sequence = batch.highest + 1 if batch else 1
        if message.commit is Commit.NONSENSE:
            return self._fail(batch, message, 10176)
        if batch is None:
            begun = self._begins(message, sequence, now, leader)
            if isinstance(begun, Tell):
                return [begun]
            batch = begun
        batch.heard = now
        if refused := self._unfit(batch, message, sequence):
            return self._fail(batch, message, refused)
        return self._in_turn(batch, message, sequence)

    def _begins(self, message: Message, sequence: int, now: float, leader: str) -> Batch | Tell:
        """A batch made by its first message, or why there is none."""
        wrong = self._conduct.wrong
        gap = message.gap
        rate = DEFAULT_RATE if message.flow is None else Rate.read(message.flow)
        if sequence != 1 and not wrong("fast_starts_anywhere"):
            return self._error(message.reply, 10176)
        if gap not in (None, "ok", "fail") and not wrong("fast_takes_any_gap_mode"):
            return self._error(message.reply, 10202)
        # With an eob there is nothing to commit.
        if rate is None or message.commit is Commit.NOT_STORED or not self._place(leader):
            return self._error(message.reply, 10176)
        if rate.in_bytes and wrong("fast_takes_bytes_for_messages"):
            rate = Rate(rate.every)
        gaps = gap == "ok"
        if gap is None and wrong("fast_gaps_are_fine_by_default"):
            gaps = True
        batch = Batch(message.batch, message.reply, gaps, rate, rate, leader, now)
        batch.highest = sequence - 1
        self.batches[batch.id] = batch
        self._places[leader] += 1
        return batch

    def _place(self, leader: str) -> bool:
        """Whether the stream and the server have one for another batch."""
        wrong = self._conduct.wrong
        if len(self.batches) >= PER_STREAM and not wrong("fast_streams_have_no_limit"):
            return False
        return self._places[leader] < PER_SERVER or wrong("fast_servers_have_no_limit")

    def _unfit(self, batch: Batch, message: Message, sequence: int) -> int | None:
        """The error of a message that says what no message of its batch may say."""
        wrong = self._conduct.wrong
        if LAST_MSG_ID in message.expects and not wrong("fast_allows_last_msg_id"):
            return 10177
        if LAST_SEQUENCE in message.expects and sequence > 1:
            return None if wrong("fast_expects_in_every_message") else 10177
        if LAST_SUBJECT_SEQUENCE in message.expects and message.subject in batch.subjects:
            return None if wrong("fast_expects_in_every_message") else 10071
        if sequence > 1000 and wrong("fast_batches_have_a_limit"):
            return 10176
        return None

    def _in_turn(self, batch: Batch, message: Message, sequence: int) -> list[Effect]:
        """The message of a batch by its sequence: the next, one beyond a gap, or one again."""
        wrong = self._conduct.wrong
        told: list[Effect] = []
        if sequence <= batch.highest:
            return [] if batch.gaps else [self._finish(batch, message)]
        if sequence > batch.highest + 1:
            if not self._survives_gaps(batch):
                return self._ends_with_a_gap(batch, message, sequence)
            if not wrong("fast_gaps_are_not_told"):
                last = batch.highest + (1 if wrong("fast_tells_what_it_expected") else 0)
                told.append(Tell(batch.control, {"last_seq": last, **self._flow(batch, sequence)}))
        if message.commit is Commit.NOT_STORED and not wrong("fast_stores_eob"):
            return [*told, self._finish(batch, message)]
        if message.commit is Commit.STORED and wrong("fast_drops_the_commit"):
            return [*told, self._finish(batch, message)]
        marked = message.commit is Commit.NO and wrong("fast_marks_messages")
        unchecked = bool(message.expects) and wrong("fast_checks_nothing")
        return [*told, Store(marked, unchecked)]

    def _survives_gaps(self, batch: Batch) -> bool:
        if batch.gaps:
            return not self._conduct.wrong("fast_gaps_always_end_it")
        return self._conduct.wrong("fast_gaps_never_end_it")

    def _ends_with_a_gap(self, batch: Batch, message: Message, sequence: int) -> list[Effect]:
        """The final PubAck tells of what came before the gap; the message itself is not stored."""
        wrong = self._conduct.wrong
        if wrong("fast_gaps_end_it_with_an_error"):
            return self._fail(batch, message, 10176)
        if wrong("fast_counts_beyond_the_gap"):
            batch.highest = sequence
        end = self._finish(batch, message)
        return [Store(), end] if wrong("fast_stores_after_the_gap") else [end]

    # -- it has been stored, or not -------------------------------------------------------------

    def stored(self, message: Message, stream_seq: int, *, duplicate: bool = False) -> list[Effect]:
        """The message is in the stream, or has been there before."""
        batch = self.batches.get(message.batch)
        if batch is None:
            return []  # it has ended meanwhile: another server leads
        wrong = self._conduct.wrong
        if duplicate and not wrong("fast_skips_duplicates"):
            return self._fail(batch, message, 10201)
        sequence = message.sequence or batch.highest + 1
        first = batch.stream_seq == 0
        batch.highest, batch.stream_seq = sequence, stream_seq
        batch.subjects.add(message.subject)
        batch.unacked_bytes += message.size
        effects: list[Effect] = []
        if self._due(batch) or (first and not wrong("fast_starts_in_silence")):
            self._adjust(batch)
            effects.append(Tell(batch.control, self._flow(batch, sequence)))
            if wrong("fast_acks_twice"):
                effects.append(effects[-1])
        if message.commit is not Commit.NO:
            effects.append(self._finish(batch, message))
        return effects

    def refused(self, message: Message, error: Mapping[str, Any]) -> list[Effect]:
        """The stream does not take the message: its checks fail, it is too large."""
        batch = self.batches.get(message.batch)
        if batch is None:
            return []
        self._end(batch)
        return [Tell(batch.control, error)]

    def _due(self, batch: Batch) -> bool:
        """Whether the message just stored is one that is acknowledged."""
        rate, wrong = batch.rate, self._conduct.wrong
        since = batch.unacked_bytes if rate.in_bytes else batch.highest - batch.acked
        if since < rate.every:
            return False
        if wrong("fast_acks_half_as_often") and since < 2 * rate.every:
            return False
        batch.acked, batch.unacked_bytes = batch.highest, 0
        return not wrong("fast_starts_only_are_acked")

    def _adjust(self, batch: Batch) -> None:
        """The server may change the flow; never above what the client asked for."""
        asked = batch.asked
        if batch.acked and self._conduct.wrong("fast_raises_the_flow"):
            batch.rate = Rate(asked.every * 2, asked.in_bytes)
        elif batch.acked and self._conduct.wrong("fast_lowers_the_flow"):
            batch.rate = Rate(max(1, asked.every // 2), asked.in_bytes)

    # -- without a message ----------------------------------------------------------------------

    def idle(self, batch: Batch, now: float) -> list[Effect]:
        """Abandons a batch that has heard nothing for too long: in silence, with an advisory."""
        if self.batches.get(batch.id) is not batch or now < self.expires(batch):
            return []
        wrong = self._conduct.wrong
        if wrong("fast_never_gives_up"):
            batch.heard = now
            return []
        if now < batch.heard + IDLE_SECONDS:
            wrong("fast_gives_up_early")
        self._end(batch)
        effects: list[Effect] = []
        if wrong("fast_tells_of_a_timeout"):
            effects.append(self._error(batch.control, 10176))
        if not wrong("fast_keeps_a_timeout_to_itself"):
            effects.append(Advise(batch.id, "timeout"))
        return effects

    def expires(self, batch: Batch) -> float:
        """When a batch is abandoned, unless a message comes."""
        early = self._conduct.knobs.fast_gives_up_early
        return batch.heard + (IDLE_SECONDS / 10 if early else IDLE_SECONDS)

    def leads(self, batch: Batch, leader: str) -> list[Effect]:
        """Another server leads the stream: it goes on if gaps are fine, and else ends the batch."""
        if self.batches.get(batch.id) is not batch or leader == batch.leader:
            return []
        self._places[batch.leader] -= 1
        self._places[leader] += 1
        batch.leader = leader
        wrong = self._conduct.wrong
        if batch.gaps:
            if wrong("fast_new_leaders_forget"):
                self._end(batch)
                return []
            if wrong("fast_new_leaders_say_nothing"):
                return []
            return [Tell(batch.control, {"last_seq": batch.highest, **self._flow(batch)})]
        if wrong("fast_new_leaders_always_go_on"):
            return []
        if wrong("fast_new_leaders_forget"):
            self._end(batch)
            return []
        return [self._finish(batch)]

    def clear(self) -> None:
        """The stream is gone, and its batches with it."""
        for batch in list(self.batches.values()):
            self._end(batch)

    # -- answers --------------------------------------------------------------------------------

    def _flow(self, batch: Batch, sequence: int | None = None) -> dict[str, int]:
        """A BatchFlowAck, without the field that tells of a gap."""
        ack = {"seq": batch.highest if sequence is None else sequence}
        if self._conduct.wrong("fast_acks_without_the_flow"):
            return ack
        return {**ack, **batch.rate.told()}

    def _finish(self, batch: Batch, message: Message | None = None) -> Tell:
        """Ends a batch with the PubAck of all that it has stored."""
        self._end(batch)
        reply = batch.control if message is None else message.reply or batch.control
        told = {"stream": self._stream, "seq": batch.stream_seq}
        return Tell(reply, {**told, "batch": batch.id, "count": batch.highest})

    def _fail(self, batch: Batch | None, message: Message, error: int) -> list[Effect]:
        """Ends a batch, if there is one, with an error; what has been stored stays."""
        if batch is None:
            return [self._error(message.reply, error)]
        self._end(batch)
        return [self._error(batch.control, error)]

    def _error(self, to: str | None, number: int) -> Tell:
        told = {"code": 400, "err_code": number, "description": _ERRORS[number]}
        return Tell(to, {"error": told, "stream": self._stream, "seq": 0})

    def _end(self, batch: Batch) -> None:
        if self.batches.pop(batch.id, None) is not None:
            self._places[batch.leader] -= 1
