"""Defaults, bounds and refusals of consume, fetch and next: options in, settings out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import invalid
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


class Settings:
    """Reads the options of a call, under the revision in force."""

    def __init__(self, conduct: Conduct) -> None:
        self.draft = conduct.draft

    # Consume

    def consume(self, params: Mapping[str, Any]) -> ConsumeSettings:
        """The options of a consume with their defaults; `InvalidOption` for what the text keeps out."""
        return ConsumeSettings(self.limits(params), self.consume_request(params))

    def limits(self, params: Mapping[str, Any]) -> Limits:
        messages, size = number(params, "max_messages"), number(params, "max_bytes")
        self.check_limits(messages, size)
        if messages is None and size is None:
            messages = self.default_messages()
        most = size or messages or 0
        given = self.threshold(params, "bytes" if size else "messages", most)
        low, refill = self._draft_refill(given, most) if self.draft else (self.low(given, most), 0)
        return Limits(0 if size else most, size or 0, low, refill)

    def check_limits(self, messages: int | None, size: int | None) -> None:
        if messages is not None and size is not None:
            raise invalid("max_messages and max_bytes exclude each other")
        _check_positive(messages, size)

    def default_messages(self) -> int:
        return 1000 if self.draft else 500

    def threshold(self, params: Mapping[str, Any], unit: str, most: int) -> int | None:
        """The threshold that the caller gave, if it is one."""
        given = number(params, f"threshold_{unit}")
        other = number(params, f"threshold_{'messages' if unit == 'bytes' else 'bytes'}")
        if other is not None:
            raise invalid(f"a threshold of the other limit than {unit}")
        if given is not None and given < 1:
            raise invalid(f"threshold_{unit} must be at least 1, not {given}")
        if given is not None and given > most:
            raise invalid(f"threshold_{unit} {given} is above max_{unit} {most}")
        return given

    def default_share(self) -> float:
        """The part of the limit that is the default threshold."""
        return 0.25 if self.draft else 0.5

    def low(self, given: int | None, most: int) -> int:
        """How much is left when a refill is due. A buffer that is full is never due."""
        return min(int(most * self.default_share()) if given is None else given, most - 1)

    def _draft_refill(self, given: int | None, most: int) -> tuple[int, int]:
        """The draft counts what was received when a refill is due, and asks for as much again."""
        received = math.ceil(most * self.default_share()) if given is None else given
        return max(0, most - received), received

    def consume_request(self, params: Mapping[str, Any]) -> Request:
        expires, heartbeat = number(params, "expires_ms"), number(params, "heartbeat_ms")
        self.check_times(expires, heartbeat)
        expires = self.consume_expires(expires)
        return Request(expires, self.consume_heartbeat(heartbeat, expires), *_priority(params))

    def check_times(self, expires: int | None, heartbeat: int | None) -> None:
        # The draft proposes bounds that it does not hold to be definite: the low ones are not kept.
        longest, slowest = (600_000, 60_000) if self.draft else (math.inf, 30_000)
        if expires is not None and not 1000 <= expires <= longest:
            raise invalid(f"expires of a consume must be at least 1 s, and not {expires} ms")
        if heartbeat is not None and not 500 <= heartbeat <= slowest:
            text = f"the heartbeat of a consume is 500 ms to {slowest} ms, not {heartbeat} ms"
            raise invalid(text)

    def consume_expires(self, given: int | None) -> int:
        if given is not None:
            return given
        return 60_000 if self.draft else 30_000

    def consume_heartbeat(self, given: int | None, expires: int) -> int:
        """By default half of expires, within the bounds."""
        return min(max(expires // 2, 500), 30_000) if given is None else given

    # Fetch and next

    def fetch(self, params: Mapping[str, Any]) -> FetchSettings:
        """The options of a fetch with their defaults."""
        messages, size = number(params, "max_messages"), number(params, "max_bytes")
        self.check_fetch(messages, size)
        return FetchSettings(
            self.fetch_batch(messages, size), size or 0, self.fetch_request(params)
        )

    def next(self, params: Mapping[str, Any]) -> FetchSettings:
        return FetchSettings(self.next_batch(), 0, self.fetch_request(params))

    def check_fetch(self, messages: int | None, size: int | None) -> None:
        if messages is None and size is None:
            raise invalid("a fetch needs max_messages or max_bytes")
        _check_positive(messages, size)

    def fetch_batch(self, messages: int | None, size: int | None) -> int:
        if messages is not None:
            return messages
        return LARGE_BATCH if size else 0

    def next_batch(self) -> int:
        return 1

    def fetch_request(self, params: Mapping[str, Any]) -> Request:
        no_wait = self.no_wait(params)
        expires = number(params, "expires_ms")
        if expires is not None and expires < 1:
            raise invalid(f"expires must be above 0, not {expires} ms")
        # Without a wait there is nothing to expire, and an expiry would make the server wait.
        if expires is None and not no_wait:
            expires = FETCH_EXPIRES_MS
        heartbeat = self.fetch_heartbeat(number(params, "heartbeat_ms"), expires)
        return Request(expires, heartbeat, *_priority(params), no_wait)

    def no_wait(self, params: Mapping[str, Any]) -> bool:
        return bool(params.get("no_wait"))

    def fetch_heartbeat(self, given: int | None, expires: int | None) -> int:
        return self.default_fetch_heartbeat(expires) if given is None else given

    def default_fetch_heartbeat(self, expires: int | None) -> int:
        """Half of expires for what may take long, else none."""
        return min(expires // 2, 30_000) if expires and expires > LONG_MS else 0


def _check_positive(messages: int | None, size: int | None) -> None:
    for name, value in (("max_messages", messages), ("max_bytes", size)):
        if value is not None and value < 1:
            raise invalid(f"{name} must be at least 1, not {value}")


def _priority(params: Mapping[str, Any]) -> tuple[str | None, int | None]:
    return params.get("group"), number(params, "min_pending")
