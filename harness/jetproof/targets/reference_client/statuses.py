"""What each status of a pull request means to a consume and to a fetch: a table, by revision."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import ClientError, status_error
from jetproof.wire.frames import Msg


class Told(Enum):
    """How a status reaches the application."""

    NOT = "not"
    WARNING = "PullWarning"
    ERROR = "PullError"


@dataclass(frozen=True, slots=True)
class Left:
    """What a status says was left of its pull request."""

    messages: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Meaning:
    """What to do about a status."""

    told: Told
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


def meaning(msg: Msg, conduct: Conduct) -> Meaning:
    """What the status means under the revision in force, knobs included."""
    status, description = msg.status, msg.description
    left = pending_left(msg)
    told, ends = _draft(left) if conduct.draft else _stable(status, description)
    told, ends = _bent(told, ends, status, description, conduct)
    if left is not None and _uncounted(status, description, conduct):
        left = Left(0, 0)
    error = status_error(_kind(told, status), status, description)
    return Meaning(told, ends, error, left, forget_pin=status == 423)


def _draft(left: Left | None) -> tuple[Told, bool]:
    """Any error with both pending headers is none; any other ends the consume."""
    return (Told.ERROR, True) if left is None else (Told.NOT, False)


def _stable(status: int | None, description: str) -> tuple[Told, bool]:
    text = description.lower()
    match status:
        case 400:
            return Told.ERROR, False
        case 404 | 408 | 423:
            return Told.NOT, False
        case 409 if "consumer deleted" in text or "push based" in text:
            return Told.ERROR, True
        case 409 if "exceeds maxbytes" in text or text in ("batch completed", "batch-completed"):
            return Told.NOT, False
        case 503:
            return Told.ERROR, False
        case _:  # 409 Exceeded Max..., Leadership Change, Server Shutdown, and what is yet to come
            return Told.WARNING, False


def _kind(told: Told, status: int | None) -> str:
    return "NoResponders" if status == 503 else told.value if told is not Told.NOT else "Status"


def _uncounted(status: int | None, description: str, conduct: Conduct) -> bool:
    known = status == 408 or "exceeds maxbytes" in description.lower()
    if conduct.wrong("pending-headers-ignored"):
        return True
    if not known and status != 423 and conduct.wrong("unknown-pending-ignored"):
        return True
    if status == 423 and conduct.wrong("wrong-pin-uncounted"):
        return True
    if description.lower().startswith("batch") and conduct.wrong("batch-completed-uncounted"):
        return True
    return description == "Interest Expired" and conduct.wrong("interest-expired-uncounted")


def _bent(
    told: Told, ends: bool, status: int | None, description: str, conduct: Conduct
) -> tuple[Told, bool]:
    wrong, text = conduct.wrong, description.lower()
    silent: str | None = None
    if conduct.draft and told is Told.NOT and wrong("counted-errors-told"):
        return Told.ERROR, ends
    match status:
        case 503 if conduct.draft and wrong("missing-consumer-survived"):
            return Told.NOT, False
        case 400 if wrong("bad-request-untold"):
            return Told.NOT, ends
        case 404:
            if wrong("no-messages-ends-consume"):
                return told, True
            silent = "no-messages-told"
        case 408 if "interest" in text:
            silent = "interest-expired-told"
        case 408:
            if wrong("timeout-ends-consume"):
                return told, True
            silent = "timeout-told"
        case 423:
            silent = "wrong-pin-told"
        case 409 if "maxbytes" in text and "message size" in text:
            silent = "too-big-told"
        case 409 if "deleted" in text:
            if wrong("deleted-survived"):
                return told, False
            if wrong("deleted-untold"):
                return Told.NOT, ends
        case 409 if "push based" in text:
            if wrong("push-based-survived"):
                return told, False
            if wrong("push-based-untold"):
                return Told.NOT, ends
        case 409 if text.startswith("exceeded") and wrong("warnings-end-consume"):
            return Told.ERROR, True
        case _:
            pass
    if silent is not None and told is Told.NOT and wrong(silent):
        return Told.ERROR, ends
    if conduct.draft and ends and wrong("errors-survived"):
        return told, False
    return told, ends
