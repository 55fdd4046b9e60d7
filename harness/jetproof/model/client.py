"""What a case does with a client library: calls, and what must be seen on the wire and be told.

The operations are those of the adapter protocol (docs/adapters.md), each with its parameters, so
that a case file is checked before anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from jetproof.model.case import Expectation, Replies, Seconds, Step
from jetproof.model.matcher import Matcher
from jetproof.model.template import Value

PROTOCOL: Final = 1

_SENT = (
    "subject", "data", "headers", "msg_id", "expect_stream", "expect_last_seq",
    "expect_last_subject_seq", "expect_last_subject_seq_subject", "expect_last_msg_id", "ttl_ms",
)  # fmt: skip
_PULLED = ("max_messages", "max_bytes", "expires_ms", "heartbeat_ms", "group", "min_pending")

OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "connect": (
        "url", "name", "user", "password", "token", "inbox_prefix", "tls_ca", "reconnect_wait_ms",
        "max_reconnects", "timeout_ms",
    ),
    "close": (),
    "publish": (*_SENT, "timeout_ms"),
    "batch.open": ("as", "batch_id", "ack_first", "ack_every"),
    "batch.add": ("of", *_SENT, "ack"),
    "batch.commit": ("of", *_SENT),
    "batch.close": ("of",),
    "batch.discard": ("of",),
    "batch.publish": ("messages", "ack_first", "ack_every"),
    "ingest.open": ("as", "batch_id", "flow", "max_outstanding", "gap", "ack_timeout_ms"),
    "ingest.add": ("of", *_SENT),
    "ingest.commit": ("of", *_SENT),
    "ingest.close": ("of",),
    "direct.get": ("stream", "seq", "last_by_subject", "next_by_subject", "min_last_seq"),
    "direct.batch": (
        "stream", "batch", "max_bytes", "seq", "start_time", "next_by_subject", "min_last_seq",
    ),
    "direct.multi": (
        "stream", "subjects", "batch", "max_bytes", "seq", "up_to_seq", "up_to_time",
        "min_last_seq",
    ),
    "message.get": ("stream", "seq", "last_by_subject", "min_last_seq"),
    "consumer.get": ("as", "stream", "consumer"),
    "consumer.create": ("as", "stream", "config"),
    "consumer.info": ("of",),
    "consumer.delete": ("of",),
    "ordered.get": (
        "as", "stream", "filter_subjects", "deliver_policy", "start_seq", "min_last_seq",
    ),
    "fetch": ("of", *_PULLED, "no_wait"),
    "next": ("of", "expires_ms", "heartbeat_ms"),
    "consume": ("of", "as", *_PULLED, "threshold_messages", "threshold_bytes"),
    "consume.stop": ("of",),
    "consume.drain": ("of",),
    "ack": ("messages", "kind", "delay_ms", "reason", "timeout_ms"),
    "kv.open": ("as", "bucket"),
    "kv.get": ("of", "key", "revision", "min_last_revision"),
    "kv.put": ("of", "key", "data"),
    "kv.create": ("of", "key", "data"),
    "kv.update": ("of", "key", "data", "revision"),
    "kv.delete": ("of", "key"),
    "kv.purge": ("of", "key"),
    "kv.list": ("of", "min_last_revision"),
    "object.open": ("as", "bucket"),
    "object.put": ("of", "name", "data"),
    "object.get": ("of", "name", "min_last_seq"),
}  # fmt: skip

EVENTS = (
    "message", "notice", "end", "told", "ingest.error", "ingest.ack", "ingest.gap",
    "connection.disconnected", "connection.reconnected", "connection.closed", "connection.error",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Step):
    """A call of the library; with `later` its answer is looked at by a further step.

    A library that has no call for it is not concerned, unless the text demands one (`demanded`)."""

    kind: ClassVar[str] = "call"

    op: str
    parameters: Mapping[str, Value]
    answer: Expectation | None = None
    later: str | None = None
    within: Seconds | None = None
    demanded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Step):
    """What a call that was made before has returned."""

    kind: ClassVar[str] = "answered"

    call: str
    answer: Expectation
    within: Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked(Step):
    """What several steps share that look at what comes: one thing, several, or none."""

    message: Expectation | None = None
    messages: Replies | None = None
    none_for: Seconds | None = None
    within: Seconds | None = None

    @property
    def silence(self) -> Seconds:
        return self.none_for or 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStep(Looked):
    """Events that the library reported to its caller; `says` and `json` choose among them.

    `told` is an error in whatever way it reached the application: as a notice, or with the end."""

    kind: ClassVar[str] = "event"

    event: str
    of: str = ""
    says: str = ""
    """A regular expression that is found somewhere in the event: libraries differ in where."""
    json: Mapping[str, Matcher] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire(Looked):
    """Frames that passed the tap, by a selector as in rules; each is taken once.

    `selector` is one of `jetproof.wire.rules`; the model knows nothing of frames."""

    kind: ClassVar[str] = "wire"

    selector: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Fired(Step):
    """A fault has really happened: so often, within some time."""

    kind: ClassVar[str] = "fired"

    rule: str
    times: int = 1
    within: Seconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TapStep(Step):
    """Something done at the tap: rules put in or out of force, the connection cut, and so on."""

    kind: ClassVar[str] = "tap"

    verb: str  # rules, remove, cut, refuse, accept, pause, resume
    rules: Sequence[Any] = ()
    ids: tuple[str, ...] = ()


def operations(steps: Sequence[Step]) -> frozenset[str]:
    """The operations that a library must have for these steps (of a whole case, flattened)."""
    return frozenset(step.op for step in steps if isinstance(step, Call) and not step.demanded)
