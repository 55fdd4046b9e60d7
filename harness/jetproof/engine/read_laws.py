"""Laws about what a case read from a stream, by direct gets or from a consumer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jetproof.engine.ack_subjects import sequence_of
from jetproof.engine.judge import Finding, Seen
from jetproof.engine.play import Play

PENDING, LAST, SEQUENCE, UP_TO = (
    "Nats-Num-Pending",
    "Nats-Last-Sequence",
    "Nats-Sequence",
    "Nats-UpTo-Sequence",
)
END = 204


@dataclass(frozen=True, slots=True)
class Part:
    """A message of a direct get, or the marker that ends it (`seq` is None)."""

    seq: int | None
    last: int | None
    pending: int | None
    up_to: int | None


def sequences(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Exactly these messages of the stream, in this order; statuses are none of them."""
    box = play.boxes[str(arguments["on"])]
    wanted = ", ".join(str(arguments["sequences"]).replace(",", " ").split())
    heard = [seen for seen in (*box.read, *box.unread) if seen.status is None]
    read = ", ".join(str(seq_of(seen)) for seen in heard)
    return [Finding("messages", read == wanted, wanted or "none", read or "none")]


def pages(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """The headers of direct gets that follow each other to the end of what matches."""
    box = play.boxes[str(arguments["on"])]
    parts = [part_of(seen) for seen in (*box.read, *box.unread)]
    findings = [
        Finding(path, not wrong, words, wrong[0] if wrong else None)
        for path, words, wrong in _faults(parts)
    ]
    most = arguments.get("most")
    if isinstance(most, int):
        largest = max(_sizes(parts), default=0)
        findings.append(Finding("most", largest <= most, f"at most {most} on a page", largest))
    return findings


def _faults(parts: Sequence[Part]) -> list[tuple[str, str, list[str]]]:
    messages = [part for part in parts if part.seq is not None]
    order, chain, pending, ends = [], [], [], []
    left = len(messages)
    before: Part | None = None  # the message before, of this page
    highest = 0
    for part in parts:
        if part.seq is None:
            if before is None or (part.last, part.pending) != (before.seq, before.pending):
                where = (
                    f"after {before.seq} with {before.pending}" if before else "after no message"
                )
                ends.append(f"last {part.last}, {part.pending} pending {where}")
            before = None
            continue
        left -= 1
        if part.seq <= highest:
            order.append(f"{part.seq} after {highest}")
        if before is not None and part.last != before.seq:
            chain.append(f"{part.seq} names {part.last}, and {before.seq} came before")
        if part.pending != left:
            pending.append(f"{part.seq} has {part.pending} pending of {left}")
        highest, before = max(highest, part.seq), part
    if not parts or parts[-1].seq is not None or parts[-1].pending != 0:
        ends.append("no marker with 0 pending at the end")
    points = {part.up_to for part in parts if part.seq is None}
    apart = [f"points {sorted(map(str, points))}"] if len(points) > 1 else []
    return [
        ("order", "sequences that rise", order),
        ("last_sequence", "the sequence of the message before", chain),
        ("num_pending", "one less with each message, down to 0", pending),
        ("marker", "what the last message of its page says; 0 pending at the end", ends),
        ("up_to_sequence", "one point in time in all markers", apart),
    ]


def _sizes(parts: Sequence[Part]) -> list[int]:
    """How many messages each page has; a marker ends one."""
    sizes = [0]
    for part in parts:
        if part.seq is None:
            sizes.append(0)
        else:
            sizes[-1] += 1
    return sizes


def part_of(seen: Seen) -> Part:
    seq = None if seen.status == END else seq_of(seen)
    return Part(seq, _header(seen, LAST), _header(seen, PENDING), _header(seen, UP_TO))


def seq_of(seen: Seen) -> int | None:
    """By the ack subject of a delivery, or by the header of a direct get."""
    return sequence_of(seen.reply) if seen.reply else _header(seen, SEQUENCE)


def _header(seen: Seen, name: str) -> int | None:
    text = None if seen.headers is None else seen.headers.get(name)
    return int(text) if text is not None and text.isdecimal() else None
