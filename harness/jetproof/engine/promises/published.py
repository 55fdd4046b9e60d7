"""Promises of client libraries that publish: what is reported as stored was acknowledged, and a batch
that is reported as committed was sent as the application gave it.

Each call that returned is compared with the frames that had passed the tap by then:

    publish, batch.commit, batch.publish    an ack came to the reply subject of this message
    kv.put, kv.create, kv.update            likewise; the revision is its sequence
    batch.close, ingest.commit and .close   the final ack of a batch came, with these numbers
    batch.add                               what it reports as acknowledged was answered without an error
    ingest.add                              no more is acknowledged than the server said

A message that was taken without an error is sent with the headers and the expectations that came
with it. Nothing is said about a batch without messages, and about sequences that may be rounded.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jetproof.engine.client_side import Made, Passed
from jetproof.engine.ingest_laws import batch_number
from jetproof.engine.ingest_subjects import END, PING, ingest_subject
from jetproof.engine.judge import Finding
from jetproof.engine.promises.handed import EXACT_MOST, is_payload
from jetproof.targets.clients.values import payload_bytes
from jetproof.wire.frames import Msg, Pub

BY_REPLY: Final = frozenset(
    {"publish", "batch.commit", "batch.publish", "kv.put", "kv.create", "kv.update"}
)
BY_BATCH: Final = frozenset({"batch.close", "ingest.commit", "ingest.close"})
AGAIN: Final = frozenset({"batch.close", "ingest.close"})
"""Calls that may return the final ack of a batch once more."""
SENDING: Final = frozenset({"publish", "batch.add", "batch.commit", "ingest.add", "ingest.commit"})
_OPTIONS: Final = {
    "msg_id": "Nats-Msg-Id",
    "expect_stream": "Nats-Expected-Stream",
    "expect_last_seq": "Nats-Expected-Last-Sequence",
    "expect_last_subject_seq": "Nats-Expected-Last-Subject-Sequence",
    "expect_last_subject_seq_subject": "Nats-Expected-Last-Subject-Sequence-Subject",
    "expect_last_msg_id": "Nats-Expected-Last-Msg-Id",
}
"""What the protocol of adapters calls the options of a publish, and the headers that carry them."""
_OF_BATCHES: Final = "nats-batch-"
"""Headers of a batch are the library's own; what it does with those of a caller is its choice."""
_OF_ACK: Final = ("stream", "seq", "batch", "count", "duplicate")

Message = tuple[str, bytes]


@dataclass(slots=True)
class Ack:
    """A message of the server that acknowledges something, and whether a call has returned it."""

    to: str
    at: float
    said: Mapping[str, object]
    returned: bool = False


def judged(made: Sequence[Made], exchange: Sequence[Passed]) -> Iterator[Finding]:
    """What was reported as stored or acknowledged, one finding per operation."""
    acks = list(_acks(exchange))
    wrong: dict[str, str | None] = {}
    for number, call in enumerate((one for one in made if one.answer.kind == "ok"), 1):
        body = call.answer.body
        if not isinstance(body, Mapping):
            continue
        if call.op in BY_REPLY | BY_BATCH:
            told = _told(body)
            if told is None or not _sent_anything(call, exchange):
                continue
            ok = _acknowledged(call, told, acks, exchange)
            shown = f"call {number} returned {_words(told)}"
        elif call.op == "batch.add" and body.get("acked"):
            ok = _answered(call, exchange)
            shown = f"call {number} returned an acknowledgement"
        elif call.op == "ingest.add" and isinstance(body.get("ack_seq"), int):
            highest = _highest(call.answer.at, exchange)
            ok = body["ack_seq"] <= highest
            shown = f"call {number} returned {body['ack_seq']} where {highest} was acknowledged"
        else:
            continue
        wrong.setdefault(call.op, None)
        if not ok and wrong[call.op] is None:
            wrong[call.op] = shown
    for op, actual in wrong.items():
        words = "only what the server acknowledged"
        yield Finding(f"acknowledged.{op}", actual is None, words, actual)


def committed(made: Sequence[Made], exchange: Sequence[Passed]) -> Iterator[Finding]:
    """Of each batch that is reported as committed, what was sent: all of it, in order, each once."""
    sent = _batches(exchange)
    for name, given, end in _given(made):
        if not any(required for _, required in given):
            continue
        fitting = next((messages for messages in sent.values() if _is(messages, given)), None)
        words = "the messages that were added, in their order, each once"
        lacking = None if fitting is not None else _closest(sent, given)
        yield Finding(f"committed.{name}", fitting is not None, words, lacking)
        count = _count(end)
        if fitting is not None and count is not None and _takes_all(end, made):
            words = f"all {len(fitting)} messages"
            yield Finding(f"committed.{name}.count", count == len(fitting), words, count)


def _takes_all(end: Made, made: Sequence[Made]) -> bool:
    """Whether a commit is of all messages or none: a fast batch may allow gaps."""
    if end.op in ("batch.commit", "batch.publish"):
        return True
    opened = [one for one in made if one.op == "ingest.open"]
    mine = [one for one in opened if one.parameters.get("as") == end.parameters.get("of")]
    return end.op == "ingest.commit" and any(one.parameters.get("gap") == "fail" for one in mine)


def _count(end: Made) -> int | None:
    ack = end.answer.body.get("ack") if isinstance(end.answer.body, Mapping) else None
    count = ack.get("count") if isinstance(ack, Mapping) else None
    return count if isinstance(count, int) else None


def as_given(made: Sequence[Made], exchange: Sequence[Passed]) -> Iterator[Finding]:
    """What was taken without an error is sent with all that came with it."""
    judged, lacking = False, None
    for number, call in enumerate((one for one in made if one.answer.kind == "ok"), 1):
        wanted = list(_carried(call.parameters)) if call.op in SENDING else []
        frames = [
            frame
            for frame, at, _ in exchange
            if isinstance(frame, Pub) and at >= call.began and _carries(frame, _message(call))
        ]
        if not wanted or not frames:
            continue
        judged = True
        missing = [_without(frame, wanted) for frame in frames]
        if lacking is None and all(missing):
            lacking = f"call {number} without {missing[0]}"
    if judged:
        yield Finding("sent.as-given", lacking is None, "all headers and expectations", lacking)


def _carried(given: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """The headers that a message was given, by the caller or by an option."""
    for option, header in _OPTIONS.items():
        if option in given:
            yield header.lower(), str(given[option])
    own = given.get("headers", ())
    pairs = own.items() if isinstance(own, Mapping) else own
    for name, value in pairs if isinstance(pairs, Iterable) else ():
        values = value if isinstance(value, (list, tuple)) else [value]
        if not str(name).lower().startswith(_OF_BATCHES):
            yield from ((str(name).lower(), str(one).strip()) for one in values)


def _without(frame: Pub, wanted: Sequence[tuple[str, str]]) -> str | None:
    sent = [(name.lower(), value.strip()) for name, value in frame.headers or ()]
    lacking = [f"{name}: {value}" for name, value in wanted if (name, value) not in sent]
    return lacking[0] if lacking else None


# What was sent and what came


def _acks(exchange: Iterable[Passed]) -> Iterator[Ack]:
    for frame, at, _ in exchange:
        if not isinstance(frame, Msg) or frame.status is not None:
            continue
        said = _document(frame.payload)
        if said is None or "error" in said or not isinstance(said.get("seq"), int):
            continue
        if isinstance(said.get("stream"), str) and said["stream"]:
            yield Ack(frame.subject, at, said)


def _batches(exchange: Iterable[Passed]) -> dict[str, list[Message]]:
    """The messages of each batch in the order in which they left the library."""
    found: dict[str, list[Message]] = defaultdict(list)
    for frame, _, _ in exchange:
        if not isinstance(frame, Pub) or (said := batch_number(frame)) is None:
            continue
        if _ends_only(frame):
            continue
        found[said[0]].append((frame.subject, frame.payload))
    return found


def _ends_only(frame: Pub) -> bool:
    if said := ingest_subject(frame.reply or ""):
        return said.operation in (END, PING)
    return frame.headers is not None and frame.headers.get("Nats-Batch-Commit") == "eob"


def _sent_anything(call: Made, exchange: Iterable[Passed]) -> bool:
    """Whether there was anything to acknowledge: a batch may have no message."""
    if call.op in BY_BATCH or call.op == "batch.publish":
        return any(isinstance(frame, Pub) and batch_number(frame) for frame, _, _ in exchange)
    return True


def _highest(until: float, exchange: Iterable[Passed]) -> int:
    """The highest message of a fast batch that an acknowledgement named by then."""
    came = (frame for frame, at, _ in exchange if isinstance(frame, Msg) and at <= until)
    said = [one for frame in came if (one := _document(frame.payload)) is not None]
    numbers = [one.get("seq") for one in said if one.get("type") == "ack"]
    numbers += [one.get("count") for one in said if "batch" in one]
    return max((number for number in numbers if isinstance(number, int)), default=0)


# What was reported


def _told(body: Mapping[str, object]) -> Mapping[str, object] | None:
    """The ack that a call returned; None if it returned none or its sequence may be rounded."""
    ack = body.get("ack", {"seq": body["revision"]} if "revision" in body else None)
    if not isinstance(ack, Mapping):
        return None
    seq = ack.get("seq")
    return None if isinstance(seq, int) and seq >= EXACT_MOST else ack


def _acknowledged(
    call: Made, told: Mapping[str, object], acks: Iterable[Ack], exchange: Sequence[Passed]
) -> bool:
    replies = _replies(call, exchange) if call.op in BY_REPLY else None
    for ack in acks:
        if ack.at > call.answer.at or (ack.returned and call.op not in AGAIN):
            continue
        if replies is not None and ack.to not in replies:
            continue
        if call.op != "publish" and not call.op.startswith("kv.") and "batch" not in ack.said:
            continue  # a message that was stored by itself, and no batch
        if all(_same(name, told[name], ack.said) for name in _OF_ACK if name in told):
            ack.returned = True
            return True
    return False


def _replies(call: Made, exchange: Iterable[Passed]) -> set[str]:
    """The reply subjects of the frames that carried the message of a call."""
    message = _message(call)
    return {
        frame.reply
        for frame, at, _ in exchange
        if isinstance(frame, Pub) and frame.reply and call.began <= at <= call.answer.at
        if _carries(frame, message)
    }


def _answered(call: Made, exchange: Sequence[Passed]) -> bool:
    """Whether the answer to a member came, empty or with an ack of its own."""
    replies = _replies(call, exchange)
    return any(
        isinstance(frame, Msg)
        and frame.subject in replies
        and frame.status is None
        and "error" not in (_document(frame.payload) or {})
        and at <= call.answer.at
        for frame, at, _ in exchange
    )


def _message(call: Made) -> Message:
    """What the call publishes; of a bucket, the end of the subject."""
    given = call.parameters
    if call.op == "batch.publish":
        several = given.get("messages")
        given = several[-1] if isinstance(several, Sequence) and several else {}
    return _one(given)


def _one(given: Mapping[str, object]) -> Message:
    subject = f".{given['key']}" if "key" in given else str(given.get("subject", ""))
    return subject, payload_bytes(given.get("data", ""))


def _carries(frame: Pub, message: Message) -> bool:
    subject, payload = message
    ends = frame.subject.endswith(subject) if subject[:1] == "." else frame.subject == subject
    return ends and is_payload(frame.payload, payload)


def _given(made: Sequence[Made]) -> Iterator[tuple[str, list[tuple[Message, bool]], Made]]:
    """What each batch that was committed was given, what of it was taken, and what committed it."""
    handles: dict[str, list[Made]] = defaultdict(list)
    for call in sorted(made, key=lambda one: one.began):
        if call.op == "batch.publish" and _is_committed(call):
            several = call.parameters.get("messages")
            messages = several if isinstance(several, Sequence) else ()
            yield "published", [(_one(message), True) for message in messages], call
        if call.op.startswith(("batch.", "ingest.")) and "of" in call.parameters:
            handles[str(call.parameters["of"])].append(call)
    for name, calls in handles.items():
        end = next((n for n, call in enumerate(calls) if _is_committed(call)), None)
        if end is None:
            continue
        sending = [call for call in calls[: end + 1] if "subject" in call.parameters]
        yield name, [(_message(call), call.answer.kind == "ok") for call in sending], calls[end]


def _is_committed(call: Made) -> bool:
    ends = call.op in BY_BATCH or call.op in ("batch.commit", "batch.publish")
    body = call.answer.body
    return ends and call.answer.kind == "ok" and isinstance(body, Mapping) and "ack" in body


def _is(sent: Sequence[Message], given: Sequence[tuple[Message, bool]]) -> bool:
    """Whether a batch holds what was given; what failed may be left out."""
    left = list(sent)
    for message, required in given:
        if left and left[0][0] == message[0] and is_payload(left[0][1], message[1]):
            left.pop(0)
        elif required:
            return False
    return not left


def _closest(sent: Mapping[str, Sequence[Message]], given: Sequence[tuple[Message, bool]]) -> str:
    """The batch that shares most with what was given, for people."""
    wanted = {message for message, _ in given}
    best = max(sent.values(), key=lambda one: len(wanted & set(one)), default=())
    return ", ".join(_short(payload) for _, payload in best[:10]) or "nothing"


def _short(payload: bytes) -> str:
    text = payload.decode("utf-8", "replace")
    return text if 0 < len(text) <= 20 and text.isprintable() else f"{len(payload)} bytes"


def _same(name: str, told: object, said: Mapping[str, object]) -> bool:
    if name == "duplicate":
        return bool(told) == bool(said.get(name, False))
    return told is None or told == said.get(name)


def _words(ack: Mapping[str, object]) -> str:
    shown = [f"{name} {ack[name]}" for name in ("seq", "count") if ack.get(name) is not None]
    return " ".join(shown) or "an ack without a sequence"


def _document(payload: bytes) -> Mapping[str, object] | None:
    try:
        said = json.loads(payload)
    except ValueError:
        return None
    return said if isinstance(said, Mapping) else None
