"""What each status of a pull request means to a consume and to a fetch: a table, by revision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import ClientError, status_error
from jetproof.wire.frames import Msg

_COMPLETED: Final = ("batch completed", "batch-completed")


class Notify(Enum):
    """How a status reaches the application."""

    NOT = "not"
    WARNING = "PullWarning"
    ERROR = "PullError"


@dataclass(frozen=True, slots=True)
class Left:
    """What a status says was left of its pull request."""

    messages: int
    bytes: int


class Consequence(NamedTuple):
    """Whether the application hears of a status, and whether the consume ends."""

    notify: Notify
    ends: bool


@dataclass(frozen=True, slots=True)
class Meaning:
    """What to do about a status."""

    notify: Notify
    ends: bool
    """Whether the consume ends."""
    error: ClientError
    left: Left | None
    forget_pin: bool = False


def is_heartbeat(msg: Msg) -> bool:
    return msg.status == 100


def is_status(msg: Msg) -> bool:
    """Whether it is the server that speaks, and not a message of the stream."""
    return msg.status is not None and not msg.payload


def pending_left(msg: Msg) -> Left | None:
    """The two pending headers, if both are there."""
    if msg.headers is None:
        return None
    messages = msg.headers.get("Nats-Pending-Messages")
    size = msg.headers.get("Nats-Pending-Bytes")
    if messages is None or size is None:
        return None
    try:
        return Left(max(int(messages), 0), max(int(size), 0))
    except ValueError:
        return None


class Statuses:
    """What statuses mean under the revision in force."""

    def __init__(self, conduct: Conduct) -> None:
        self.draft = conduct.draft

    def meaning(self, msg: Msg) -> Meaning:
        left = self.left(msg)
        notify, ends = self.consequence(msg, left)
        error = status_error(_kind(notify, msg.status), msg.status, msg.description)
        return Meaning(notify, ends, error, left, forget_pin=msg.status == 423)

    def left(self, msg: Msg) -> Left | None:
        """What is taken off what is pending: whatever the status, its pending headers count."""
        return pending_left(msg)

    def consequence(self, msg: Msg, left: Left | None) -> Consequence:
        if self.draft:
            return self._of_the_draft(left)
        text = msg.description.lower()
        match msg.status:
            case 400:
                return Consequence(Notify.ERROR, ends=False)
            case 404 | 408 | 423:
                return Consequence(Notify.NOT, ends=False)
            case 409 if "consumer deleted" in text or "push based" in text:
                return Consequence(Notify.ERROR, ends=True)
            case 409 if "exceeds maxbytes" in text or text in _COMPLETED:
                return Consequence(Notify.NOT, ends=False)
            case 503:
                return Consequence(Notify.ERROR, ends=False)
            case _:  # 409 Exceeded Max..., Leadership Change, Server Shutdown, and later ones
                return Consequence(Notify.WARNING, ends=False)

    def _of_the_draft(self, left: Left | None) -> Consequence:
        """Any error with both pending headers is none; any other ends the consume."""
        if left is None:
            return Consequence(Notify.ERROR, ends=True)
        return Consequence(Notify.NOT, ends=False)


def _kind(notify: Notify, status: int | None) -> str:
    return (
        "NoResponders" if status == 503 else notify.value if notify is not Notify.NOT else "Status"
    )
