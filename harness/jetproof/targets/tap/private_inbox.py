"""Requests that are answered aside: each at an inbox of its own, so that one can be ended alone.

Pull requests of a consumer usually share one inbox, and nothing in a message tells which of them it
answers. A request that a rule may end ("blind" injection) is therefore sent on with an inbox of the
tap's, subscribed to on the same connection; what comes there is handed to the client as if it had
come to its own. To end the request, the tap takes the subscription back: the server finds that
nobody listens any more and drops the request, so the next one gets the messages.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from jetproof.targets.tap.requests import Noted
from jetproof.targets.tap.subscriptions import Subscriptions
from jetproof.wire.frames import Msg, Pub, Sub, Unsub
from jetproof.wire.rules.selecting import subject_matches


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the client under way: its own reply subject, and the one the server knows."""

    reply: str
    inbox: str
    sid: str
    noted: Noted | None
    """What rules know of it."""


class PrivateInboxes:
    """The requests of one connection that take this way."""

    def __init__(self, connection: int, subscriptions: Subscriptions) -> None:
        self._connection = connection
        self._subscriptions = subscriptions
        self._requests: dict[str, Request] = {}
        self._token = f"jp{secrets.token_hex(6)}"
        self._count = 0

    def __bool__(self) -> bool:
        """Whether any request was ever taken: what comes to an ended one must be known, too."""
        return self._count > 0

    def take(self, publish: Pub, noted: Noted | None) -> tuple[Sub, Pub] | None:
        """What to send in place of a request; None if nobody here listens to its answers."""
        if publish.reply is None:
            return None
        own = self._subscriptions.find_own(self._connection, publish.reply)
        if own is None:
            return None
        self._count += 1
        sid = f"{self._token}-{self._count}"
        inbox = f"{publish.reply}.{self._token}.{self._count}"
        if subject_matches(own.subject, inbox):
            inbox = f"_INBOX.{self._token}.{self._count}"
        self._requests[sid] = Request(publish.reply, inbox, sid, noted)
        return Sub(inbox, None, sid), replace(publish, reply=inbox)

    def knows(self, message: Msg) -> bool:
        """Whether a message of the server came this way."""
        return message.sid.startswith(self._token)

    def request(self, message: Msg) -> Request | None:
        """The request that a message answers; None if it is over."""
        return self._requests.get(message.sid)

    def shown(self, message: Msg, request: Request) -> Msg | None:
        """The message as if it had come to the client's inbox; None if nobody listens there."""
        own = self._subscriptions.find_own(self._connection, request.reply)
        if own is None:
            return None
        subject = request.reply if message.subject == request.inbox else message.subject
        return replace(message, subject=subject, sid=own.sid)

    def end(self, request: Request) -> Unsub:
        """What to send to the server so that it drops a request."""
        self._requests.pop(request.sid, None)
        return Unsub(request.sid)

    def unheard(self) -> tuple[Request, ...]:
        """The requests whose answers the client does not listen to any more."""
        return tuple(
            request
            for request in self._requests.values()
            if self._subscriptions.find_own(self._connection, request.reply) is None
        )
