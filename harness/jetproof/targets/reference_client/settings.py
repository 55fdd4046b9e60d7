"""Defaults, bounds and refusals of consume, fetch and next: options in, settings out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.pulls import LARGE_BATCH, Limits
from jetproof.targets.reference_client.values import MILLISECOND, number

MARGIN: Final = 1.0
"""Seconds by which the client's own timer of a pull request is longer than its expiry."""
LONG_MS: Final = 30_000
"""A fetch or next that may take longer has heartbeats by default."""
FETCH_EXPIRES_MS: Final = 30_000


@dataclass(frozen=True, slots=True)
class Request:
    """What every pull request of one call has in common."""

    expires_ms: int | None
    heartbeat_ms: int
    group: str | None = None
    min_pending: int | None = None
    no_wait: bool = False

    @property
    def own_timeout(self) -> float:
        """After how many seconds the client gives a pull request up by itself."""
        return (self.expires_ms or 0) / 1000 + MARGIN

    def body(self, batch: int, max_bytes: int, pin: str | None = None) -> dict[str, Any]:
        """The JSON of a pull request; what is not set is left out."""
        given = {
            "batch": batch,
            "max_bytes": max_bytes,
            "expires": (self.expires_ms or 0) * MILLISECOND,
            "idle_heartbeat": self.heartbeat_ms * MILLISECOND,
            "no_wait": self.no_wait,
            "group": self.group,
            "min_pending": self.min_pending,
            "id": pin,
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True, slots=True)
class ConsumeSettings:
    """A consume: how much it buffers, and how it asks."""

    limits: Limits
    request: Request


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """A fetch: how much it wants. `bytes` is 0 where only messages count."""

    messages: int
    bytes: int
    request: Request


def consume_settings(params: Mapping[str, Any], conduct: Conduct) -> ConsumeSettings:
    """The options of a consume with their defaults; `InvalidOption` for what the text keeps out."""
    messages, size = number(params, "max_messages"), number(params, "max_bytes")
    if messages is not None and size is not None and not conduct.wrong("both-limits-taken"):
        raise invalid("max_messages and max_bytes exclude each other")
    for name, value in (("max_messages", messages), ("max_bytes", size)):
        if value is not None and value < 1:
            raise invalid(f"{name} must be at least 1, not {value}")
    if messages is None and size is None:
        messages = _default_messages(conduct)
    most = size or messages or 0
    threshold = number(params, f"threshold_{'bytes' if size else 'messages'}") or 0
    if threshold > most and conduct.wrong("high-threshold-taken"):
        size, most = size and threshold, threshold
    low, refill = _threshold(params, "bytes" if size else "messages", most, conduct)
    limits = Limits(0 if size else most, size or 0, low, refill)
    if size and conduct.wrong("size-limit-ignored"):
        limits = Limits(_default_messages(conduct), 0, _default_messages(conduct) // 2)
    return ConsumeSettings(limits, _consume_request(params, conduct))


def _default_messages(conduct: Conduct) -> int:
    default = 1000 if conduct.draft else 500
    return 10 if conduct.wrong("default-ten-messages") else default


def _threshold(
    params: Mapping[str, Any], unit: str, most: int, conduct: Conduct
) -> tuple[int, int]:
    """How much is left when a refill is due, and how much the draft then asks for."""
    given = number(params, f"threshold_{unit}")
    other = number(params, f"threshold_{'messages' if unit == 'bytes' else 'bytes'}")
    if other is not None:
        raise invalid(f"a threshold of the other limit than {unit}")
    if given is not None:
        if given < 1:
            raise invalid(f"threshold_{unit} must be at least 1, not {given}")
        if given > most:
            raise invalid(f"threshold_{unit} {given} is above max_{unit} {most}")
        if conduct.wrong("thresholds-ignored"):
            given = None
    share = 0.25 if conduct.draft else 0.5
    if given is None and conduct.wrong("default-threshold-tenth"):
        share = 0.1 if not conduct.draft else 0.9
    if conduct.draft:
        # What was received when the next pull request is due, and what it asks for.
        received = given if given is not None else math.ceil(most * share)
        return max(0, most - received), received
    low = given if given is not None else int(most * share)
    if given is not None and given * 2 != most and conduct.wrong("threshold-means-processed"):
        low = most - given
    # A buffer that is full is never due.
    return min(low, most - 1), 0


def _consume_request(params: Mapping[str, Any], conduct: Conduct) -> Request:
    wrong = conduct.wrong
    expires = number(params, "expires_ms")
    heartbeat = number(params, "heartbeat_ms")
    # The draft proposes bounds that it does not hold to be definite: the low ones are not kept.
    longest, slowest = (600_000, 60_000) if conduct.draft else (math.inf, 30_000)
    if expires is not None and not 1000 <= expires <= longest and not wrong("odd-times-taken"):
        raise invalid(f"expires of a consume must be at least 1 s, and not {expires} ms")
    beats = heartbeat is None or 500 <= heartbeat <= slowest
    if not beats and not wrong("odd-times-taken"):
        raise invalid(f"the heartbeat of a consume is 500 ms to {slowest} ms, not {heartbeat} ms")
    if expires is None:
        expires = 60_000 if conduct.draft else 30_000
        if wrong("default-expires-ten-seconds"):
            expires = 10_000
    elif wrong("consume-expires-ignored"):
        expires = 30_000
    if heartbeat is None:
        heartbeat = min(max(expires // 2, 500), 30_000)
        if wrong("default-heartbeat-one-second"):
            heartbeat = 1000
    elif wrong("consume-heartbeat-ignored"):
        heartbeat = min(expires // 2, 30_000)
    return Request(expires, heartbeat, *_priority(params))


def fetch_settings(params: Mapping[str, Any], conduct: Conduct) -> FetchSettings:
    """The options of a fetch with their defaults."""
    wrong = conduct.wrong
    messages, size = number(params, "max_messages"), number(params, "max_bytes")
    if messages is None and size is None and not wrong("fetch-without-limits"):
        raise invalid("a fetch needs max_messages or max_bytes")
    if size is not None and wrong("fetch-bytes-refused"):
        raise invalid("max_bytes is no option of a fetch")
    if messages is not None and messages < 0 and wrong("fetch-below-zero-panics"):
        raise ClientError("panic", f"no list has {messages} places")
    for name, value in (("max_messages", messages), ("max_bytes", size)):
        if value is not None and value < 1 and not wrong("fetch-without-limits"):
            raise invalid(f"{name} must be at least 1, not {value}")
    wanted = messages if messages is not None else LARGE_BATCH if size else 0
    if size and messages is None and wrong("max-bytes-without-batch"):
        wanted = 0
    return FetchSettings(wanted, size or 0, _fetch_request(params, conduct))


def next_settings(params: Mapping[str, Any], conduct: Conduct) -> FetchSettings:
    wanted = 10 if conduct.wrong("next-asks-for-ten") else 1
    return FetchSettings(wanted, 0, _fetch_request(params, conduct))


def _fetch_request(params: Mapping[str, Any], conduct: Conduct) -> Request:
    wrong = conduct.wrong
    no_wait = bool(params.get("no_wait")) and not wrong("fetch-always-waits")
    expires = number(params, "expires_ms")
    if expires is not None and expires < 1:
        raise invalid(f"expires must be above 0, not {expires} ms")
    # Without a wait there is nothing to expire, and an expiry would make the server wait.
    if expires is None and not no_wait:
        expires = FETCH_EXPIRES_MS
    heartbeat = number(params, "heartbeat_ms")
    if heartbeat is not None and wrong("fetch-heartbeat-dropped"):
        heartbeat = 0
    if heartbeat is None:
        heartbeat = min(expires // 2, 30_000) if expires and expires > LONG_MS else 0
        if heartbeat and wrong("long-fetch-without-heartbeats"):
            heartbeat = 0
        if expires and not heartbeat and wrong("short-fetch-with-heartbeats"):
            heartbeat = expires // 2
    if expires and wrong("fetch-without-expires"):
        expires = None
    return Request(expires, heartbeat, *_priority(params), no_wait)


def _priority(params: Mapping[str, Any]) -> tuple[str | None, int | None]:
    return params.get("group"), number(params, "min_pending")
