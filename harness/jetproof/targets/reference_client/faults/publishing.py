"""Faults of publishing one message, of requests, and of numbers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

from jetproof.targets.reference_client.calls_consuming import Events
from jetproof.targets.reference_client.connection import Line
from jetproof.targets.reference_client.consumers import Delivery
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.faults.fault import also, fault, harmless
from jetproof.targets.reference_client.operations import Operations
from jetproof.targets.reference_client.protocol import Handler
from jetproof.targets.reference_client.publishing import Messages, Outgoing, Publisher
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.state import Params, Result
from jetproof.wire.frames import Msg

_EXACT: Final = 2**53
_UNKNOWN: Final = {"stream": "unknown", "seq": "0"}


def rounded(value: Any) -> Any:
    """The same document as doubles hold it; 64-bit numbers are digits in it."""
    if isinstance(value, Mapping):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    large = isinstance(value, str) and value.isdecimal() and int(value) > _EXACT
    return str(int(float(value))) if large else value


@fault("numbers-rounded", "PRM-020")
class NumbersRounded(Operations):
    """Numbers above 2^53 are kept as doubles."""

    async def perform(self, handler: Handler, params: Params) -> Mapping[str, Any]:
        given = rounded(params)
        told = await super().perform(handler, given)
        made = rounded(told)
        return made if (given, made) != (params, told) else harmless(told)


@also(NumbersRounded)
class EventsRounded(Events):
    """Those of messages that a consume hands over, too."""

    def body(self, delivery: Delivery) -> Result:
        told = super().body(delivery)
        made: Result = rounded(told)
        return made if made != told else harmless(told)


@fault("publish-without-reply", "JSM-132")
class PublishWithoutReply(Publisher):
    """A publish sends and asks for nothing."""

    async def publish(self, message: Outgoing, timeout: float | None = None) -> dict[str, Any]:
        self.check_size(message)
        line = self.requests.line
        line.publish(message.subject, message.payload, headers=message.headers)
        return dict(_UNKNOWN)


@fault("publish-error-untold", "JSM-132 PRM-025")
class PublishErrorUntold(Publisher):
    """An error in the answer to a publish is dropped."""

    def read(self, answer: Msg) -> dict[str, Any]:
        try:
            return harmless(super().read(answer))
        except ClientError:
            return dict(_UNKNOWN)


@fault("no-answer-taken-for-an-ack", "JSM-132 PRM-025")
class NoAnswerTakenForAnAck(Publisher):
    """A publish without an answer succeeds."""

    async def ask(self, message: Outgoing, timeout: float | None) -> Msg:
        try:
            return harmless(await super().ask(message, timeout))
        except ClientError:
            return Msg("", "", None, None, json.dumps(_UNKNOWN).encode())


@fault("answers-taken-in-turn", "JSM-132")
class AnswersTakenInTurn(Requests):
    """Whatever comes to the inbox answers the oldest request, or the next."""

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self._spare: list[Msg] = []

    def reply_subject(self) -> tuple[str, asyncio.Future[Msg]]:
        reply, answer = super().reply_subject()
        if self._spare:
            answer.set_result(self._spare.pop(0))
        return reply, answer

    def answered(self, msg: Msg, at: float) -> None:
        answer = next(iter(self.waiting.values()), None)
        if answer is None or answer.done():
            self._spare.append(msg)
        else:
            answer.set_result(msg)


@fault("msg-id-dropped", "JSM-133")
class MsgIdDropped(Messages):
    """The message id is not sent."""

    def headers(self, params: Mapping[str, Any]) -> list[tuple[str, str]]:
        items = super().headers(params)
        kept = [item for item in items if item[0] != "Nats-Msg-Id"]
        return kept if kept != items else harmless(items)


@fault("headers-of-the-caller-dropped", "PRM-029")
class HeadersOfTheCallerDropped(Messages):
    """Messages go without the caller's headers."""

    def headers_of_the_caller(self, params: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [] if super().headers_of_the_caller(params) else harmless([])


@fault("requests-never-time-out", "A31-017 PRM-021")
class RequestsNeverTimeOut(Requests):
    """A request waits for its answer for ever."""

    def patience(self, timeout: float | None) -> float:
        return 3600.0
