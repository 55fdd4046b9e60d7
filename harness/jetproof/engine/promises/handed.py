"""A promise of client libraries: what reached one reaches the application, in order and without gaps.

What came is read at the tap, what the application got from the events of each consume and the
answers to fetch and next. Nothing is said about what came before the first message that a consume
handed over, or after the last: a consume may have ended there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jetproof.engine.ack_subjects import Delivered, delivered_by
from jetproof.engine.client_side import ClientSide
from jetproof.engine.judge import Finding
from jetproof.model.case import Step
from jetproof.model.client import Call
from jetproof.wire.codec import HEAD
from jetproof.wire.frames import Msg

STOPS: Final = frozenset({"consume.stop", "consume.drain", "close"})
"""Calls after which a library may drop what it has buffered."""
EXACT_MOST: Final = 2**53
"""Larger sequences may be rounded, which is for another promise to judge."""


def is_payload(seen: bytes, whole: bytes) -> bool:
    """Whether a frame at the tap carried this; of a long message the tap keeps the head."""
    return seen == whole or (len(seen) == HEAD and whole.startswith(seen))


@dataclass(frozen=True, slots=True)
class Handed:
    """A message that the application got, as far as the library describes it."""

    seq: int
    count: int | None
    consumer: str | None


def came_to(client: ClientSide) -> list[Delivered]:
    """Every delivery that reached the library, in the order in which it passed the tap."""
    frames = (passed.frame for passed in client.exchange())
    said = (delivered_by(frame.reply or "") for frame in frames if isinstance(frame, Msg))
    return [one for one in said if one is not None]


def handed(document: object) -> Handed | None:
    """A message of the protocol of adapters; None if it does not tell its sequence."""
    if not isinstance(document, Mapping) or not isinstance(document.get("seq"), int):
        return None
    count, consumer = document.get("delivered"), document.get("consumer")
    return Handed(
        document["seq"],
        count if isinstance(count, int) else None,
        consumer if isinstance(consumer, str) else None,
    )


def in_order(name: str, came: Sequence[Delivered], got: Sequence[Handed]) -> Finding:
    """Each message that the application got came after the one before, and came as often."""
    following = iter(came)
    words = "deliveries in the order in which they came, each once"
    for number, one in enumerate(got, 1):
        if not any(_same(said, one) for said in following):
            return Finding(f"handed.{name}.order", False, words, f"number {number}: {one.seq}")
    return Finding(f"handed.{name}.order", True, words, len(got))


def without_gaps(
    name: str, came: Sequence[Delivered], got: Sequence[Handed], all_got: Sequence[Handed]
) -> Finding:
    """Between the first and the last message of a consume, nothing that came is kept back."""
    consumers = {one.consumer for one in got}
    there = {one.seq for one in all_got}
    low, high = min(one.seq for one in got), max(one.seq for one in got)
    missing = sorted(
        {
            said.stream_seq
            for said in came
            if said.consumer in consumers and low < said.stream_seq < high
        }
        - there
    )
    words = "every message that came between the first and the last"
    lacking = f"without {', '.join(map(str, missing[:10]))}" if missing else None
    return Finding(f"handed.{name}.gaps", not missing, words, lacking)


def judged(client: ClientSide, steps: Sequence[Step]) -> Iterator[Finding]:
    """Both laws, for each consume of a case that handed anything over."""
    came = came_to(client)
    if any(said.stream_seq > EXACT_MOST for said in came):
        return
    calls = [step for step in steps if isinstance(step, Call)]
    answered = [one for one in map(handed, client.returned()) if one is not None]
    consumes = {
        str(call.parameters["as"]): [
            one
            for seen in client.told("message", str(call.parameters["as"]))
            if (one := handed(seen.document)) is not None
        ]
        for call in calls
        if call.op == "consume"
    }
    all_got = [*answered, *(one for got in consumes.values() for one in got)]
    stopped = any(call.op in STOPS for call in calls)
    for name, got in consumes.items():
        if not got:
            continue
        yield in_order(name, came, got)
        if not stopped and all(one.consumer for one in got):
            yield without_gaps(name, came, got, all_got)


def _same(said: Delivered, one: Handed) -> bool:
    return said.stream_seq == one.seq and one.count in (None, said.count)
