"""What a tap tells of: frames that came by, and connections that came and went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from jetproof.wire.frames import Frame
from jetproof.wire.rules.model import Sender


class _Fields(NamedTuple):
    connection: int
    sender: Sender
    frame: Frame
    at: float
    instead: tuple[Frame, ...] | None = None
    rules: tuple[str, ...] = ()
    made: bool = False
    omitted: int = 0
    stripped: Frame | None = None


class TapEvent(_Fields):
    """A frame that came by, or that the tap made (`made`). A tuple, since there are so many.

    `frame` is what arrived, `passed` what went on: the same frame if no rule touched it, another
    one or several, nothing if it was dropped. `rules` are the ids of the rules that fired. `at` is
    monotonic time. `sender` is the side it came from; the tap makes frames in the server's name.
    Of a long message that was passed on as it came, `frame` holds the head, and `omitted` counts
    the bytes of payload that it lacks. A frame that rules stripped counts as `stripped`: whoever
    judges its sender takes `counted` for what was sent.
    """

    __slots__ = ()

    @property
    def passed(self) -> tuple[Frame, ...]:
        return (self.frame,) if self.instead is None else self.instead

    @property
    def counted(self) -> Frame:
        return self.frame if self.stripped is None else self.stripped


@dataclass(frozen=True, slots=True)
class ConnectionEvent:
    """A client came or went.

    `opened`: it is joined to the server. `closed`: it was, and is no more. `refused`: the tap turned
    it away. `failed`: no server was found for it. `reason` says more, in words.
    """

    connection: int
    kind: Literal["opened", "closed", "refused", "failed"]
    at: float
    reason: str = ""


Event = TapEvent | ConnectionEvent
