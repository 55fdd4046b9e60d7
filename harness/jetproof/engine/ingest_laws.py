"""Laws over the frames of a client library that publishes batches, atomic ones and fast ingest.

What a message of fast ingest says of itself stands in its reply subject (`ingest_subjects`), and what
the server answers goes to a subject below the same inbox.

Frames count in the order in which they passed the tap. A library can only have heard what has passed
before, so a message beyond what all acknowledgements until then allow is surely its fault.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping

from jetproof.engine.client_side import Passed
from jetproof.engine.ingest_subjects import APPEND, PING, ingest_subject
from jetproof.engine.judge import Finding
from jetproof.engine.play import Play
from jetproof.model.matcher import Matcher
from jetproof.model.matching import describe, mismatch
from jetproof.wire.frames import Frame, Msg, Pub, Sub, Unsub
from jetproof.wire.rules.selecting import subject_matches


def paced(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """No message is beyond what the acknowledgements before it allow.

    An acknowledgement of `seq` that tells `msgs` allows messages up to `seq + msgs * outstanding`.
    One that is lower than another before it does not count here: when the library heard which of
    them cannot be told from frames.
    """
    outstanding = arguments["outstanding"]
    assert isinstance(outstanding, int)
    allowed: dict[str, int] = defaultdict(lambda: 1)
    sent, beyond = 0, []
    for frame in _exchange(play):
        match frame:
            case Pub(_, str(reply)) if said := ingest_subject(reply):
                if said.operation == APPEND:
                    sent += 1
                    if said.sequence > allowed[said.batch]:
                        beyond.append(f"{said.sequence} where {allowed[said.batch]} was allowed")
            case Msg(subject) if said := ingest_subject(subject):
                limit = _limit(frame.payload, outstanding)
                allowed[said.batch] = max(allowed[said.batch], limit)
            case _:
                pass
    words = f"no more than {outstanding} acknowledgements outstanding"
    return [
        *_counted(play, arguments, sent, "further messages"),
        Finding("outstanding", not beyond, words, beyond[0] if beyond else None),
    ]


def pings(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Every ping names the highest sequence that its batch had sent until then."""
    highest: dict[str, int] = defaultdict(int)
    count, wrong = 0, []
    for frame in _exchange(play):
        if not isinstance(frame, Pub) or not (said := ingest_subject(frame.reply or "")):
            continue
        if said.operation != PING:
            highest[said.batch] = max(highest[said.batch], said.sequence)
            continue
        count += 1
        if said.sequence != highest[said.batch]:
            wrong.append(f"{said.sequence} where {highest[said.batch]} was sent")
    words = "the highest sequence that was sent"
    return [
        *_counted(play, arguments, count, "pings"),
        Finding("sequence", not wrong, words, wrong[0] if wrong else None),
    ]


def numbered(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Of each batch, atomic or fast, every message has the number after the one before it."""
    last: dict[str, int] = {}
    count, wrong = 0, []
    for frame in _exchange(play):
        if not isinstance(frame, Pub) or (said := batch_number(frame)) is None:
            continue
        batch, sequence = said
        count += 1
        if sequence != last.get(batch, 0) + 1:
            wrong.append(f"{sequence} after {last.get(batch, 'none')}")
        last[batch] = sequence
    return [
        *_counted(play, arguments, count, "messages"),
        Finding("sequence", not wrong, "1, 2, 3 and so on", wrong[0] if wrong else None),
    ]


def batch_number(frame: Pub) -> tuple[str, int] | None:
    """Which batch a message is of, and its number; a ping has none of its own."""
    if said := ingest_subject(frame.reply or ""):
        return None if said.operation == PING else (said.batch, said.sequence)
    if frame.headers is None:
        return None
    batch, sequence = frame.headers.get("Nats-Batch-Id"), frame.headers.get("Nats-Batch-Sequence")
    if batch is None or sequence is None or not sequence.isdecimal():
        return None
    return batch, int(sequence)


def channels(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Whenever a message is sent, one subscription covers its reply subject: that of its batch.

    It is made on the same connection: a new one begins without any.
    """
    every: dict[int, dict[str, str]] = defaultdict(dict)
    batches: set[str] = set()
    wrong: list[str] = []
    for frame, _, connection in _passed(play):
        subscribed = every[connection]
        match frame:
            case Sub(subject, _, sid):
                subscribed[sid] = subject
            case Unsub(sid, None):
                subscribed.pop(sid, None)
            case Pub(_, str(reply)) if said := ingest_subject(reply):
                batches.add(said.batch)
                covering = [each for each in subscribed.values() if subject_matches(each, reply)]
                if covering != [f"{said.batch}.>"]:
                    told = ", ".join(covering) or "no subscription"
                    wrong.append(f"{told} for message {said.sequence} of {said.batch}")
            case _:
                pass
    words = "one subscription to <prefix>.<id>.> while the batch is open"
    return [
        *_counted(play, arguments, len(batches), "batches"),
        Finding("subscription", not wrong, words, wrong[0] if wrong else None),
    ]


def _exchange(play: Play) -> list[Frame]:
    return [passed.frame for passed in _passed(play)]


def _passed(play: Play) -> list[Passed]:
    return [] if play.client is None else play.client.exchange()


def _limit(payload: bytes, outstanding: int) -> int:
    """Up to which sequence a message on the control channel lets the library send."""
    try:
        told = json.loads(payload)
    except ValueError:
        return 0
    if not isinstance(told, Mapping) or told.get("type") != "ack":
        return 0
    seq, msgs = told.get("seq"), told.get("msgs")
    return seq + msgs * outstanding if isinstance(seq, int) and isinstance(msgs, int) else 0


def _counted(
    play: Play, arguments: Mapping[str, object], count: int, what: str
) -> tuple[Finding, ...]:
    wanted = arguments.get("count")
    if not isinstance(wanted, Matcher):
        return ()
    missed = mismatch(wanted, count, play.env)
    words = f"{describe(wanted, play.env)} {what}"
    return (Finding("count", missed is None, words, count),)
