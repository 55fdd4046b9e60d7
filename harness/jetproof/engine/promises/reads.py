"""Promises of client libraries that read several messages at once, and about what they hand over.

A batch of direct get is a request, its messages and an end, all to one reply subject. Each message
names the sequence of the one before it, and so does the end. A library that returns such a read
without an error says that it is whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jetproof.engine.ack_subjects import sequence_of
from jetproof.engine.client_side import Made, Passed
from jetproof.engine.judge import Finding
from jetproof.engine.promises.handed import EXACT_MOST, is_payload
from jetproof.targets.clients.values import payload_bytes
from jetproof.wire.frames import Msg, Pub
from jetproof.wire.headers import Headers

READS: Final = frozenset({"direct.batch", "direct.multi"})
_GET: Final = "$JS.API.DIRECT.GET."
_ENDS: Final = (204, 404)
"""The end of a batch, and that there is nothing to read."""
_OF_A_REPLY: Final = frozenset(
    {
        "nats-stream",
        "nats-subject",
        "nats-sequence",
        "nats-time-stamp",
        "nats-num-pending",
        "nats-last-sequence",
        "nats-upto-sequence",
    }
)


def whole(made: Sequence[Made], exchange: Sequence[Passed]) -> Iterator[Finding]:
    """A read that is returned without an error was ended by the server, and nothing is missing."""
    number = 0
    for call in made:
        if call.op not in READS:
            continue
        number += 1
        body = call.answer.body
        if call.answer.kind != "ok" or not isinstance(body, Mapping) or "error" in body:
            continue
        answers = list(_requests(call, exchange))
        problem = next((one for one in map(_problem, answers) if one), None)
        if problem is None:
            problem = _kept_back(body, answers)
        words = "an error, or all messages and the end of the batch"
        yield Finding(f"read.{number}", problem is None, words, problem)


def unchanged(exchange: Sequence[Passed], handed: Sequence[object]) -> Iterator[Finding]:
    """What the application got is what came, with its payload and every value of its headers."""
    came = _came(exchange)
    problem: str | None = None
    judged = 0
    for one in handed:
        if not isinstance(one, Mapping) or not isinstance(one.get("seq"), int):
            continue
        frames = came.get(one["seq"])
        if not frames:
            continue
        judged += 1
        problems = [_change(frame, one) for frame in frames]
        if problem is None and all(problems):
            problem = problems[0]
    if judged:
        words = "payload and headers as they came"
        yield Finding("handed.unchanged", problem is None, words, problem)


def _requests(call: Made, exchange: Sequence[Passed]) -> Iterator[list[Msg]]:
    """What came to each request of a call by the time that it returned."""
    for frame, at, _ in exchange:
        if not isinstance(frame, Pub) or not frame.subject.startswith(_GET) or not frame.reply:
            continue
        if call.began <= at <= call.answer.at:
            yield [
                msg
                for msg, when, _ in exchange
                if isinstance(msg, Msg) and msg.subject == frame.reply and when <= call.answer.at
            ]


def _problem(answers: Sequence[Msg]) -> str | None:
    end = next((one for one in answers if one.status is not None), None)
    if end is None:
        return f"no end after {_messages(len(answers))}"
    if end.status not in _ENDS:
        return f"status {end.status} {end.description}".rstrip()
    before: str | None = None
    for one in answers[: answers.index(end) + 1]:
        told = _header(one, "Nats-Last-Sequence")
        if before is not None and told is not None and told != before:
            where = "the end" if one is end else f"sequence {_header(one, 'Nats-Sequence')}"
            return f"{where} follows {told}, and {before} came before it"
        before = _header(one, "Nats-Sequence")
    return None


def _kept_back(body: Mapping[str, object], answers: Sequence[Sequence[Msg]]) -> str | None:
    """What came and was not returned, or was returned otherwise, by sequence."""
    came = [_header(one, "Nats-Sequence") for each in answers for one in each if not one.status]
    returned = body.get("messages")
    listed = returned if isinstance(returned, list) else []
    got = [str(one.get("seq")) for one in listed if isinstance(one, Mapping)]
    if None in came or got == came or any(int(str(one)) > EXACT_MOST for one in came):
        return None
    return f"returned {', '.join(got[:10]) or 'nothing'} of {', '.join(map(str, came[:10]))}"


def _came(exchange: Sequence[Passed]) -> Mapping[int, list[Msg]]:
    """Messages of streams that reached the library, by sequence: deliveries, and direct gets."""
    found: dict[int, list[Msg]] = defaultdict(list)
    for frame, _, _ in exchange:
        if not isinstance(frame, Msg) or frame.status is not None:
            continue
        number = sequence_of(frame.reply or "")
        told = _header(frame, "Nats-Sequence")
        if number is None and told is not None and told.isdecimal():
            number = int(told)
        if number is not None:
            found[number].append(frame)
    return found


def _change(frame: Msg, handed: Mapping[str, object]) -> str | None:
    """What differs, for people."""
    seq = handed["seq"]
    if not is_payload(frame.payload, payload_bytes(handed.get("data", ""))):
        return f"another payload of sequence {seq}"
    got = handed.get("headers")
    if not isinstance(got, list):
        return None
    pairs = [(str(name).lower(), str(value).strip()) for name, value in got]
    for name, value in _own(frame.headers):
        if (name, value) not in pairs:
            return f"sequence {seq} without {name}: {value}"
    return None


def _own(headers: Headers | None) -> Iterator[tuple[str, str]]:
    """The headers of the message itself, without those that the reply adds."""
    for name, value in () if headers is None else headers:
        if name.lower() not in _OF_A_REPLY:
            yield name.lower(), value.strip()


def _header(frame: Msg, name: str) -> str | None:
    return None if frame.headers is None else frame.headers.get(name)


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"
