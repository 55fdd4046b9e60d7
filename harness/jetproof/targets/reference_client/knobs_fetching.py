"""Knobs of fetch, next and acknowledgements."""

from __future__ import annotations

from typing import Final

from jetproof.targets.reference_client.knob import Knob, table

FETCHING: Final[tuple[Knob, ...]] = table(
    ("fetch-is-missing", "There is no fetch.", "A37-003 A37-090 A37-262"),
    ("fetch-waits-for-expiry", "A full fetch waits until its request expires.", "A37-010"),
    ("fetch-ends-too-early", "The message that fills a fetch is not in it.", "A37-010 A37-081"),
    ("fetch-outlives-expiry", "The end of the request does not end the fetch.", "A37-011 A37-075"),
    ("fetch-refills", "A fetch sends its request twice.", "A37-012 A37-242"),
    ("fetch-end-untold", "A fetch never returns.", "A37-013 PRM-021"),
    ("fetch-below-zero-panics", "A fetch for -1 messages ends the program.", "PRM-021"),
    ("fetch-leaves-its-subscription", "The inbox of a fetch stays subscribed.", "A37-242"),
    ("fetch-deaf-after-a-heartbeat", "What follows a heartbeat is dropped.", "A37-261"),
    ("fetch-drops-headers", "Messages of a fetch come without headers.", "A37-261"),
    (
        "fetch-without-expires",
        "The request has no expires.",
        "A37-014 A37-015 A37-247 A37-252 A37-260",
    ),
    (
        "fetch-expires-in-milliseconds",
        "expires is sent in milliseconds.",
        "A37-014 A37-015 A37-260",
    ),
    ("fetch-max-bytes-dropped", "max_bytes is not sent.", "A37-015 A37-093"),
    ("fetch-heartbeat-dropped", "idle_heartbeat is not sent.", "A37-015 A37-260"),
    ("fetch-without-limits", "A fetch for nothing at all is sent.", "A37-016 A37-247 A37-254"),
    ("fetch-bytes-uncounted", "Bytes that have come do not end a fetch.", "A37-081"),
    ("fetch-bytes-refused", "max_bytes of a fetch is refused.", "A37-093 A37-255"),
    (
        "fetch-survives-status",
        "No status ends a fetch; its own timer does.",
        "A37-011 A37-017 A37-075",
    ),
    (
        "fetch-errors-untold",
        "A fetch that ended with an error looks empty.",
        "A37-075 A37-240 A37-245 A37-249",
    ),
    ("no-timer-of-its-own", "Only the server ends a pull request.", "A37-061"),
    (
        "own-timer-before-expiry",
        "The client's timer is half of expires.",
        "A37-011 A37-061 A37-075",
    ),
    (
        "long-fetch-without-heartbeats",
        "No heartbeats for a fetch or next above 30 s.",
        "A37-062 A37-095",
    ),
    ("short-fetch-with-heartbeats", "Every fetch and next has heartbeats.", "A37-246"),
    ("fetch-always-waits", "no_wait is not sent.", "A37-248"),
    (
        "fetch-survives-its-connection",
        "A fetch does not notice that its connection is lost.",
        "A37-244 PRM-021",
    ),
    (
        "fetch-error-drops-messages",
        "A fetch that ends with an error drops the messages that came.",
        "A37-245 PRM-024",
    ),
    ("next-asks-for-ten", "A next asks for ten messages.", "A37-060 A37-094 A37-253"),
    ("next-pulls-early", "A pull request is sent with the look-up.", "A37-001 A37-060"),
    ("ack-never-sent", "An ack is not sent.", "JSM-130"),
    ("nak-sent-as-ack", "A nak is sent as an ack.", "JSM-130 JSM-223"),
    ("progress-sent-as-ack", "A sign of progress is sent as an ack.", "JSM-130"),
    ("term-sent-as-ack", "A term is sent as an ack.", "JSM-130 JSM-223"),
    ("double-ack-without-reply", "A synchronous ack has no reply subject.", "JSM-131"),
    ("double-ack-does-not-wait", "A synchronous ack does not wait.", "JSM-131 JSM-220 PRM-025"),
    ("double-ack-takes-any-answer", "Any answer to a synchronous ack will do.", "JSM-220"),
    ("second-ack-refused", "A message can be acknowledged once.", "JSM-222"),
    ("ack-lost-while-disconnected", "An ack while disconnected is dropped.", "JSM-224"),
)
