"""Promises about a stream: its own numbers agree, and what was acknowledged is there, as sent."""

from __future__ import annotations

from collections.abc import Iterator

from jetproof.engine.judge import Finding
from jetproof.engine.promises.history import Acknowledged, History
from jetproof.engine.promises.state import StoredMessage, StreamView
from jetproof.wire.rules.selecting import subject_matches

SHORTENS = ("PURGE", "DELETE", "UPDATE", "RESTORE")
REMOVING = ("Nats-Rollup", "Nats-TTL", "Nats-Schedule", "Nats-Scheduler", "Nats-Schedule-Next")
LIMITS = ("max_msgs", "max_bytes", "max_age", "max_msgs_per_subject")
REPLACED = (
    "Nats-Expected-",
    "Nats-Incr",
    "Nats-Counter-",
    "Nats-Msg-Size",
    "Nats-Required-",
    "Nats-Trace-",
)
"""Headers that a server may take, complete or replace: requests to it, and not content."""


def adds_up(view: StreamView) -> Iterator[Finding]:
    """Counts, sequences, deleted messages and subjects describe one and the same stream."""
    messages, first, last = map(view.number, ("messages", "first_seq", "last_seq"))
    deleted = view.number("num_deleted")
    if messages:
        between = last - first + 1 - deleted
        yield _equal("messages", messages, between, "last - first + 1 - deleted")
    elif last:
        yield _equal("deleted", deleted, 0, "none in an empty stream")
        yield _equal("first_seq", first, last + 1, "the next in an empty stream")
    else:
        return  # it never held a message, and a case of its own looks at that
    yield _equal("deleted.listed", len(view.deleted), deleted, "as many as num_deleted")
    outside = [seq for seq in view.deleted if not first < seq <= last]
    yield Finding("deleted.range", not outside, "after the first, up to the last", outside[:5])
    subjects = view.subjects
    if subjects is not None and view.number("num_subjects") == len(subjects):
        yield _equal("subjects", sum(subjects.values()), messages, "messages of all subjects")
    elif subjects is not None:
        words = "as many as num_subjects"
        yield _equal("subjects.listed", len(subjects), view.number("num_subjects"), words)
    listed = len(view.consumers)
    if listed:
        yield _equal("consumers", view.number("consumer_count"), listed, "as many as are listed")


def is_append_only(view: StreamView, history: History) -> bool:
    """Whether nothing that the case did or configured may have taken a message out again."""
    config = view.config
    if config.get("retention", "limits") != "limits" or config.get("sealed"):
        return False
    if any(_positive(config.get(limit)) for limit in LIMITS):
        return False
    if any(config.get(key) for key in ("mirror", "sources", "no_ack")):
        return False
    if config.get("storage") == "memory" and history.actions & {"restart", "kill", "stop"}:
        return False
    if history.asked(*(f"STREAM.{verb}" for verb in SHORTENS), "STREAM.MSG.DELETE", of=view.name):
        return False
    return not any(
        message.header(name) is not None for message in history.publications for name in REMOVING
    )


def stored_as_sent(
    acknowledged: Acknowledged, stored: StoredMessage | None, view: StreamView
) -> Iterator[Finding]:
    """The message behind a PubAck is the message that was sent."""
    message, at = acknowledged.message, f"stored.{acknowledged.seq}"
    if stored is None:
        yield Finding(at, False, "the acknowledged message", "no message")
        return
    config = view.config
    if not config.get("subject_transform"):
        yield _equal(f"{at}.subject", stored.subject, message.subject, message.subject)
    if not config.get("allow_msg_counter"):
        same = stored.payload == message.payload
        words = f"{len(message.payload)} bytes, as sent"
        actual = None if same else stored.payload[:80].decode("utf-8", "backslashreplace")
        yield Finding(f"{at}.payload", same, words, actual)
    kept = list(stored.headers)
    lost = [pair for pair in message.headers if not _is_request(pair[0]) and pair not in kept]
    yield Finding(f"{at}.headers", not lost, "every header, as sent", [name for name, _ in lost])


def nothing_else(view: StreamView, history: History) -> Iterator[Finding]:
    """A stream that only grows holds what was acknowledged, and nothing that was refused."""
    ours = [message for message in history.publications if reaches(view, message.subject)]
    if any(reaches(view, subject) for subject in history.replies if subject):
        return  # the server answers into the stream
    if not ours or any(message.fast or not message.answered for message in ours):
        return
    last = history.highest.get(view.name, 0)
    first = view.config.get("first_seq")
    if not last and isinstance(first, int) and first > 1:
        last = first - 1
    yield _equal("last_seq", view.number("last_seq"), last, "the last acknowledged sequence")


def reaches(view: StreamView, subject: str) -> bool:
    """Whether a message to this subject is stored in the stream."""
    patterns = view.config.get("subjects")
    return isinstance(patterns, list) and any(
        subject_matches(str(pattern), subject) for pattern in patterns
    )


def _is_request(name: str) -> bool:
    return name.startswith(REPLACED)


def _positive(value: object) -> bool:
    return isinstance(value, int) and value > 0


def _equal(path: str, actual: object, wanted: object, words: str) -> Finding:
    return Finding(path, actual == wanted, f"{wanted} ({words})", actual)


__all__ = ["adds_up", "is_append_only", "nothing_else", "reaches", "stored_as_sent"]
