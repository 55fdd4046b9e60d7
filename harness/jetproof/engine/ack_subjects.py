"""What the reply subject of a delivered message says about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Delivered:
    """One delivery, as its ack subject describes it."""

    stream: str
    consumer: str
    count: int
    """How often this message has been delivered by now."""
    stream_seq: int
    consumer_seq: int


def delivered_by(subject: str) -> Delivered | None:
    """Reads `$JS.ACK.<stream>.<consumer>.<count>.<stream seq>.<consumer seq>.<time>.<pending>`.

    Releases since 2.10 may put a domain and an account hash before the stream, and a token after.
    """
    tokens = subject.split(".")
    if tokens[:2] != ["$JS", "ACK"] or len(tokens) < 9:
        return None
    first = 2 if len(tokens) == 9 else 4
    stream, consumer, *numbers = tokens[first : first + 5]
    if len(numbers) != 3 or not all(number.isdecimal() for number in numbers):
        return None
    return Delivered(stream, consumer, *map(int, numbers))


def sequence_of(reply: str) -> int | None:
    """The stream sequence that an ack subject names."""
    said = delivered_by(reply)
    return None if said is None else said.stream_seq
