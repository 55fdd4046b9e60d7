"""Faults of fetch and next: their request, what ends them, what they return."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final

from jetproof.targets.reference_client.connection import Subscription
from jetproof.targets.reference_client.consumers import Delivery
from jetproof.targets.reference_client.faults.consuming import HeartbeatsHandedOver, SilenceUntold
from jetproof.targets.reference_client.faults.fault import also, fault, harmless
from jetproof.targets.reference_client.fetching import Fetch, Fetched, Remaining
from jetproof.targets.reference_client.operations import Operations
from jetproof.targets.reference_client.protocol import Handler
from jetproof.targets.reference_client.pulls import Pending
from jetproof.targets.reference_client.statuses import Meaning
from jetproof.wire.frames import Msg

FOR_EVER: Final = 3600.0


@fault("fetch-is-missing", "A37-003 A37-090 A37-262")
class FetchIsMissing(Operations):
    """There is no fetch."""

    def handlers(self) -> dict[str, Handler]:
        return {name: one for name, one in super().handlers().items() if name != "fetch"}


# The request


@fault("fetch-refills", "A37-012 A37-242")
class FetchRefills(Fetch):
    """A fetch sends its request twice."""

    def ask(self, data: bytes, inbox: str) -> None:
        super().ask(data, inbox)
        if self.settings.messages > 1:
            super().ask(data, inbox)
        else:
            harmless(None)


@fault("fetch-expires-in-milliseconds", "A37-014 A37-015 A37-260")
class FetchExpiresInMilliseconds(Fetch):
    """expires is sent in milliseconds."""

    def body(self) -> dict[str, Any]:
        body = super().body()
        if "expires" not in body:
            return harmless(body)
        return body | {"expires": body["expires"] // 1_000_000}


@fault("fetch-max-bytes-dropped", "A37-015 A37-093")
class FetchMaxBytesDropped(Fetch):
    """max_bytes is not sent."""

    def body(self) -> dict[str, Any]:
        body = super().body()
        return body if body.pop("max_bytes", None) else harmless(body)


# What ends it


@fault("fetch-waits-for-expiry", "A37-010")
class FetchWaitsForExpiry(Remaining):
    """A full fetch waits until its request expires."""

    def over(self) -> bool:
        return False if self.messages <= 0 else harmless(super().over())


@fault("fetch-bytes-uncounted", "A37-081")
class FetchBytesUncounted(Remaining):
    """Bytes that have come do not end a fetch."""

    def bytes_used_up(self) -> bool:
        return False if super().bytes_used_up() else harmless(False)


@fault("fetch-ends-too-early", "A37-010 A37-081")
class FetchEndsTooEarly(Fetch):
    """The message that fills a fetch is not in it."""

    def filled(self) -> None:
        if len(self.fetched.deliveries) > 1:
            self.fetched.deliveries.pop()
        else:
            harmless(None)
        super().filled()


@fault("fetch-outlives-expiry", "A37-011 A37-075")
class FetchOutlivesExpiry(Fetch):
    """The end of the request does not end the fetch."""

    def own_timeout(self) -> float:
        return FOR_EVER

    def status(self, msg: Msg) -> None:
        if msg.status != 408:
            super().status(msg)
            harmless(None)


@fault("fetch-survives-status", "A37-011 A37-017 A37-075")
class FetchSurvivesStatus(Fetch):
    """No status ends a fetch; its own timer does."""

    def status(self, msg: Msg) -> None:
        pass

    def lost(self) -> None:
        pass


@fault("fetch-survives-its-connection", "A37-244 PRM-021")
class FetchSurvivesItsConnection(Fetch):
    """A fetch does not notice that its connection is lost."""

    def patience(self) -> float:
        return harmless(super().patience()) if self.line.connected else FOR_EVER

    def lost(self) -> None:
        pass


@fault("no-timer-of-its-own", "A37-061")
class NoTimerOfItsOwn(Fetch):
    """Only the server ends a pull request."""

    def own_timeout(self) -> float:
        return FOR_EVER


@also(NoTimerOfItsOwn)
class PullsNeverOverdue(Pending):
    """A consume does not give its pull requests up, either."""

    def overdue(self, now: float) -> bool:
        return False


@fault("own-timer-before-expiry", "A37-011 A37-061 A37-075")
class OwnTimerBeforeExpiry(Fetch):
    """The client's timer is half of expires."""

    def own_timeout(self) -> float:
        expires_ms = self.settings.request.expires_ms
        return expires_ms / 2000 if expires_ms else harmless(super().own_timeout())


@also(SilenceUntold)
class SilentFetch(Fetch):
    """A fetch does not end for missing heartbeats, either."""

    def silence(self) -> None:
        pass


# What arrives


@also(HeartbeatsHandedOver)
class FetchedHeartbeats(Fetch):
    """A fetch returns them as messages, too."""

    def heartbeat(self, msg: Msg) -> None:
        self.fetched.deliveries.append(Delivery.of(msg))


@fault("fetch-deaf-after-a-heartbeat", "A37-261")
class FetchDeafAfterAHeartbeat(Fetch):
    """What follows a heartbeat is dropped."""

    _beaten = False

    def heartbeat(self, msg: Msg) -> None:
        self._beaten = True
        harmless(None)

    def message(self, msg: Msg) -> None:
        if not self._beaten:
            super().message(msg)
            harmless(None)


@fault("fetch-drops-headers", "A37-261")
class FetchDropsHeaders(Fetch):
    """Messages of a fetch come without headers."""

    def message(self, msg: Msg) -> None:
        if msg.headers is None:
            harmless(None)
        super().message(replace(msg, headers=None))


# What it returns


@fault("fetch-end-untold", "A37-013 PRM-021")
class FetchEndUntold(Fetch):
    """A fetch never returns."""

    async def run(self) -> Fetched:
        fetched = await super().run()
        await asyncio.sleep(FOR_EVER)
        return fetched


@fault("fetch-leaves-its-subscription", "A37-242")
class FetchLeavesItsSubscription(Fetch):
    """The inbox of a fetch stays subscribed."""

    def leave(self, subscription: Subscription) -> None:
        pass


@fault("fetch-errors-untold", "A37-075 A37-240 A37-245 A37-249")
class FetchErrorsUntold(Fetch):
    """A fetch that ended with an error looks empty."""

    def told(self, msg: Msg, meant: Meaning) -> bool:
        return False if super().told(msg, meant) else harmless(False)


@fault("fetch-error-drops-messages", "A37-245 PRM-024")
class FetchErrorDropsMessages(Fetch):
    """A fetch that ends with an error drops the messages that came."""

    def result(self) -> Fetched:
        fetched = super().result()
        return harmless(fetched) if fetched.error is None else Fetched(error=fetched.error)
