"""Laws: invariants over what a case has recorded, written once and named by cases.

Their names and arguments are declared in `jetproof.model.laws`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from jetproof import clock
from jetproof.engine.ack_subjects import sequence_of
from jetproof.engine.client_laws import delivered, handed_over, outstanding, refilled
from jetproof.engine.delivery_laws import subscribed_first
from jetproof.engine.ingest_laws import channels, numbered, paced, pings
from jetproof.engine.ingest_subjects import PING, IngestSubject, ingest_subject
from jetproof.engine.judge import Finding, Seen
from jetproof.engine.message_size import charged_size
from jetproof.engine.play import Play
from jetproof.engine.read_laws import pages, sequences
from jetproof.model.case import Law
from jetproof.model.laws import LAWS
from jetproof.model.matcher import Matcher
from jetproof.model.matching import describe, mismatch

AGAIN = 0.05
UNDER_WAY = 0.5  # seconds that what a library has sent may need to the tap
EARLY = 0.1  # the share of an interval by which a timer may be early


async def law(play: Play, step: Law) -> None:
    """Judges once, or with `within` again and again until it holds.

    A call of a library may return before its last frame has passed the tap, so what a library does
    is judged again for a moment.
    """
    within = step.arguments.get("within", UNDER_WAY if play.client is not None else 0.0)
    assert isinstance(within, float)
    deadline = clock.now() + within * play.factor
    findings = _LAWS[step.law](play, step.arguments)
    while not all(finding.ok for finding in findings) and clock.now() < deadline:
        await asyncio.sleep(AGAIN)
        findings = _LAWS[step.law](play, step.arguments)
    for finding in findings:
        play.check(
            step, f"law.{step.law}.{finding.path}", finding.ok, finding.expected, finding.actual
        )


def spaced(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Counted from a mark: a first frame that arrives late would make the second look early."""
    status, by, since = arguments["status"], arguments["by"], play.marks[str(arguments["since"])]
    assert isinstance(by, float)
    times = [seen.at - since for seen in _heard(play, arguments) if seen.status == status]
    findings = _counted(play, arguments, len(times))
    early = [
        f"number {number} came after {passed:.3f} s"
        for number, passed in enumerate(times, 1)
        if passed < by * (number - EARLY)
    ]
    words = f"one every {by:g} s at most"
    findings.append(Finding("by", not early, words, early[0] if early else None))
    return findings


def contiguous(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Stream sequences, as the ack subject of each delivery tells them, rise by one."""
    sequences = [sequence_of(seen.reply) for seen in _heard(play, arguments)]
    findings = _counted(play, arguments, len(sequences))
    broken = [
        f"{before} then {after}"
        for before, after in pairwise(sequences)
        if before is None or after != before + 1
    ]
    words = "sequences that rise by one"
    findings.append(Finding("sequence", not broken, words, broken[0] if broken else None))
    return findings


def accounted(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Deliveries and pending headers add up to what pull requests asked for, however many."""
    heard = _heard(play, arguments)
    delivered = [seen for seen in heard if seen.status is None]
    with_headers = arguments.get("headers") != "free"
    sums = {
        "batch": (len(delivered), _pending(heard, "Nats-Pending-Messages")),
        "max_bytes": (
            sum(charged_size(seen, headers=with_headers) for seen in delivered),
            _pending(heard, "Nats-Pending-Bytes"),
        ),
    }
    return [
        Finding(
            asked,
            sum(sums[asked]) == arguments[asked],
            f"{arguments[asked]} delivered or pending",
            "{} delivered, {} pending".format(*sums[asked]),
        )
        for asked in sums
        if asked in arguments
    ]


def flow(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Acknowledgements of one batch of fast ingest, each on the reply subject of its message.

    The answer to a ping repeats one, and is none of its own.
    """
    acks = _flow_acks(play, arguments)
    steps = [f"{now.seq} after {was.seq} with {was.msgs}" for was, now in _broken_steps(acks)]
    above = [f"{ack.msgs} of {ack.asked}" for ack in acks if not 1 <= ack.msgs <= ack.asked]
    early = [f"{ack.seq} at {ack.at}" for ack in acks if ack.at is not None and ack.seq > ack.at]
    told = (
        ("points", "acknowledgements as far apart as they tell", steps),
        ("asked", "a flow from 1 to what was asked for", above),
        ("sent", "no acknowledgement of a later message", early),
    )
    return [
        *_counted(play, arguments, len(acks)),
        *(
            Finding(path, not wrong, words, wrong[0] if wrong else None)
            for path, words, wrong in told
        ),
    ]


def triggers(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Each acknowledgement of fast ingest names the message that triggered it."""
    acks = _flow_acks(play, arguments)
    wrong = [f"{ack.seq} at {ack.at}" for ack in acks if ack.seq != ack.at]
    words = "the sequence of the message that it answers"
    return [
        *_counted(play, arguments, len(acks)),
        Finding("named", not wrong, words, wrong[0] if wrong else None),
    ]


def outcomes(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """How many replies to one step's requests were of one kind."""
    wanted = (str(arguments["of"]), str(arguments["saying"]))
    return _counted(play, arguments, sum(outcome == wanted for outcome in play.outcomes))


@dataclass(frozen=True, slots=True)
class FlowAck:
    """A BatchFlowAck, and what the reply subject says of the message that it answers.

    Up to revision 9 of ADR-50 all of a batch has one reply subject, which says nothing.
    """

    seq: int
    msgs: int
    asked: int
    at: int | None = None
    operation: int | None = None


def flow_ack(seen: Seen, asked: int = 0) -> FlowAck | None:
    """Read a BatchFlowAck of either form, or None if it is something else."""
    said = seen.document
    if not isinstance(said, Mapping):
        return None
    if "messages" in said:
        return _flow_ack_without_a_subject(said, asked)
    return _flow_ack_on_a_subject(ingest_subject(seen.subject), said)


def _flow_ack_without_a_subject(said: Mapping[str, object], asked: int) -> FlowAck | None:
    """Zero is left out; one that tells of a gap comes between the others."""
    seq, msgs = said.get("seq", 0), said["messages"]
    if "last_seq" in said or not isinstance(seq, int) or not isinstance(msgs, int):
        return None
    return FlowAck(seq, msgs, asked)


def _flow_ack_on_a_subject(
    answered: IngestSubject | None, said: Mapping[str, object]
) -> FlowAck | None:
    seq, msgs = said.get("seq"), said.get("msgs")
    if answered is None or said.get("type") != "ack":
        return None
    if not isinstance(seq, int) or not isinstance(msgs, int):
        return None
    return FlowAck(seq, msgs, answered.flow, answered.sequence, answered.operation)


def _flow_acks(play: Play, arguments: Mapping[str, object]) -> list[FlowAck]:
    asked = int(str(arguments.get("asked", 0)))
    acks = [flow_ack(seen, asked) for seen in _heard(play, arguments)]
    return [ack for ack in acks if ack and ack.operation != PING]


def _broken_steps(acks: list[FlowAck]) -> list[tuple[FlowAck, FlowAck]]:
    """The first acknowledgement is for the start, which may count as one of the messages or not."""
    broken = []
    for index, (was, now) in enumerate(pairwise(acks)):
        due = {was.seq + was.msgs, was.msgs} if index == 0 else {was.seq + was.msgs}
        if now.seq not in due:
            broken.append((was, now))
    return broken


def _heard(play: Play, arguments: Mapping[str, object]) -> list[Seen]:
    """What came on one subscription, or on every one and every reply subject."""
    name = arguments.get("on")
    boxes = [play.boxes[str(name)]] if name else [*play.boxes.values(), *play.replies.values()]
    heard = [seen for box in boxes for seen in (*box.read, *box.unread)]
    return sorted(heard, key=lambda seen: seen.at)


def _pending(heard: list[Seen], name: str) -> int:
    told = [seen.headers.get(name) for seen in heard if seen.headers is not None]
    return sum(int(text) for text in told if text and text.lstrip("-").isdecimal())


def _counted(play: Play, arguments: Mapping[str, object], count: int) -> list[Finding]:
    wanted = arguments.get("count")
    if not isinstance(wanted, Matcher):
        return [Finding("count", count > 0, "at least one", count)]
    missed = mismatch(wanted, count, play.env)
    return [Finding("count", missed is None, describe(wanted, play.env), count)]


_LAWS: Mapping[str, Callable[[Play, Mapping[str, object]], list[Finding]]] = {
    "spaced": spaced,
    "contiguous": contiguous,
    "sequences": sequences,
    "pages": pages,
    "accounted": accounted,
    "flow": flow,
    "triggers": triggers,
    "outcomes": outcomes,
    "outstanding": outstanding,
    "refilled": refilled,
    "handed_over": handed_over,
    "delivered": delivered,
    "channels": channels,
    "numbered": numbered,
    "paced": paced,
    "pings": pings,
    "subscribed_first": subscribed_first,
}
assert _LAWS.keys() == LAWS.keys(), "every declared law has a body, and none has no declaration"
