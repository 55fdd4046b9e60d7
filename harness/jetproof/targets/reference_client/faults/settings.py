"""Faults about options: defaults, bounds and refusals of consume, fetch and next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jetproof.targets.reference_client.consuming import Consuming
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.faults.fault import also, fault, harmless
from jetproof.targets.reference_client.pulls import Limits, Pull
from jetproof.targets.reference_client.settings import Request, Settings
from jetproof.targets.reference_client.values import number

# Consume


@fault("both-limits-taken", "A37-023")
class BothLimitsTaken(Settings):
    """max_messages and max_bytes are accepted together."""

    def check_limits(self, messages: int | None, size: int | None) -> None:
        if messages is None or size is None:
            super().check_limits(messages, size)
            harmless(None)


@fault("size-limit-ignored", "A37-022 A37-036 A37-207")
class SizeLimitIgnored(Settings):
    """max_bytes of a consume is ignored."""

    def limits(self, params: Mapping[str, Any]) -> Limits:
        limits, default = super().limits(params), self.default_messages()
        return Limits(default, 0, default // 2) if limits.by_bytes else harmless(limits)


@fault("default-ten-messages", "A37-024 A37-025 A37-098")
class DefaultTenMessages(Settings):
    """max_messages is 10 by default."""

    def default_messages(self) -> int:
        return 10


@fault("default-expires-ten-seconds", "A37-026 A37-064")
class DefaultExpiresTenSeconds(Settings):
    """expires is 10 s by default."""

    def consume_expires(self, given: int | None) -> int:
        return 10_000 if given is None else harmless(given)


@fault("default-heartbeat-one-second", "A37-027 A37-065")
class DefaultHeartbeatOneSecond(Settings):
    """The heartbeat is 1 s by default."""

    def consume_heartbeat(self, given: int | None, expires: int) -> int:
        return 1000 if given is None else harmless(given)


@fault("default-threshold-tenth", "A37-028 A37-029 A37-066 A37-097")
class DefaultThresholdTenth(Settings):
    """The default threshold is a tenth (under the draft nine tenths)."""

    def default_share(self) -> float:
        return 0.9 if self.draft else 0.1


@fault("thresholds-ignored", "A37-022 A37-202 A37-203")
class ThresholdsIgnored(Settings):
    """A given threshold is not used."""

    def threshold(self, params: Mapping[str, Any], unit: str, most: int) -> int | None:
        given = super().threshold(params, unit, most)
        return harmless(None) if given is None else None


@fault("threshold-means-processed", "A37-022 A37-225")
class ThresholdMeansProcessed(Settings):
    """A threshold counts what was processed, not what is left."""

    def low(self, given: int | None, most: int) -> int:
        if given is None or given * 2 == most:
            return harmless(super().low(given, most))
        return super().low(most - given, most)


@fault("high-threshold-taken", "A37-034 A37-082")
class HighThresholdTaken(Settings):
    """A threshold above its limit raises it."""

    def limits(self, params: Mapping[str, Any]) -> Limits:
        unit = "bytes" if number(params, "max_bytes") else "messages"
        most = number(params, f"max_{unit}") or self.default_messages()
        threshold = number(params, f"threshold_{unit}") or 0
        if threshold <= most:
            return harmless(super().limits(params))
        return super().limits({**params, f"max_{unit}": threshold})


@fault("odd-times-taken", "A37-030 A37-064 A37-065")
class OddTimesTaken(Settings):
    """Any expires and heartbeat are accepted."""

    def check_times(self, expires: int | None, heartbeat: int | None) -> None:
        try:
            super().check_times(expires, heartbeat)
        except ClientError:
            return
        harmless(None)


@fault("consume-expires-ignored", "A37-022 A37-210")
class ConsumeExpiresIgnored(Settings):
    """expires of a consume is always 30 s."""

    def consume_expires(self, given: int | None) -> int:
        return harmless(super().consume_expires(None)) if given is None else 30_000


@fault("consume-heartbeat-ignored", "A37-022")
class ConsumeHeartbeatIgnored(Settings):
    """The heartbeat is always half of expires."""

    def consume_heartbeat(self, given: int | None, expires: int) -> int:
        half = super().consume_heartbeat(None, expires)
        return harmless(half) if given is None else min(expires // 2, 30_000)


@fault("max-bytes-without-batch", "A37-063 A37-207 A37-256")
class MaxBytesWithoutBatch(Consuming):
    """With max_bytes no batch is sent."""

    def body(self, pull: Pull) -> dict[str, Any]:
        body = super().body(pull)
        if not pull.bytes:
            return harmless(body)
        del body["batch"]
        return body


@also(MaxBytesWithoutBatch)
class FetchWithoutBatch(Settings):
    """With max_bytes alone a fetch sends no batch, either."""

    def fetch_batch(self, messages: int | None, size: int | None) -> int:
        batch = super().fetch_batch(messages, size)
        return 0 if size and messages is None else harmless(batch)


# Fetch and next


@fault("fetch-below-zero-panics", "PRM-021")
class FetchBelowZeroPanics(Settings):
    """A fetch for -1 messages ends the program."""

    def check_fetch(self, messages: int | None, size: int | None) -> None:
        if messages is not None and messages < 0:
            raise ClientError("panic", f"no list has {messages} places")
        super().check_fetch(messages, size)
        harmless(None)


@fault("fetch-without-limits", "A37-016 A37-247 A37-254")
class FetchWithoutLimits(Settings):
    """A fetch for nothing at all is sent."""

    def check_fetch(self, messages: int | None, size: int | None) -> None:
        try:
            super().check_fetch(messages, size)
        except ClientError:
            return
        harmless(None)


@fault("fetch-bytes-refused", "A37-093 A37-255")
class FetchBytesRefused(Settings):
    """max_bytes of a fetch is refused."""

    def check_fetch(self, messages: int | None, size: int | None) -> None:
        if size is not None:
            raise invalid("max_bytes is no option of a fetch")
        super().check_fetch(messages, size)
        harmless(None)


@fault("fetch-without-expires", "A37-014 A37-015 A37-247 A37-252 A37-260")
class FetchWithoutExpires(Settings):
    """The request has no expires."""

    def fetch_request(self, params: Mapping[str, Any]) -> Request:
        request = super().fetch_request(params)
        return replace(request, expires_ms=None) if request.expires_ms else harmless(request)


@fault("fetch-heartbeat-dropped", "A37-015 A37-260")
class FetchHeartbeatDropped(Settings):
    """idle_heartbeat is not sent."""

    def fetch_heartbeat(self, given: int | None, expires: int | None) -> int:
        return 0 if given is not None else harmless(super().fetch_heartbeat(None, expires))


@fault("long-fetch-without-heartbeats", "A37-062 A37-095")
class LongFetchWithoutHeartbeats(Settings):
    """No heartbeats for a fetch or next above 30 s."""

    def default_fetch_heartbeat(self, expires: int | None) -> int:
        return 0 if super().default_fetch_heartbeat(expires) else harmless(0)


@fault("short-fetch-with-heartbeats", "A37-246")
class ShortFetchWithHeartbeats(Settings):
    """Every fetch and next has heartbeats."""

    def default_fetch_heartbeat(self, expires: int | None) -> int:
        heartbeat = super().default_fetch_heartbeat(expires)
        return expires // 2 if expires and not heartbeat else harmless(heartbeat)


@fault("fetch-always-waits", "A37-248")
class FetchAlwaysWaits(Settings):
    """no_wait is not sent."""

    def no_wait(self, params: Mapping[str, Any]) -> bool:
        return False if super().no_wait(params) else harmless(False)


@fault("next-asks-for-ten", "A37-060 A37-094 A37-253")
class NextAsksForTen(Settings):
    """A next asks for ten messages."""

    def next_batch(self) -> int:
        return 10
