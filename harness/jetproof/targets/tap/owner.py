"""What stands around a session: the tap that owns it, and what takes part in the exchange."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING, Protocol

from jetproof.targets.tap.book import Decision, Made, RuleBook
from jetproof.targets.tap.record import Record
from jetproof.wire.frames import Frame
from jetproof.wire.rules.model import Sender

if TYPE_CHECKING:
    from jetproof.targets.tap.session import Session


class Inline(Protocol):
    """What takes part in the exchange itself, before the rules see a frame: the reference layer."""

    def passes(self, connection: int, sender: Sender, frame: Frame) -> Frame | None:
        """The frame to pass on, another in its place, or None to keep it."""

    def gone(self, connection: int) -> None:
        """The client of this connection is no more."""


class Owner(Protocol):
    """What a session needs of its tap."""

    book: RuleBook
    record: Record
    inline: Inline | None
    tls: ssl.SSLContext | None
    """Clients are to speak TLS with the tap."""

    def client_came(self, session: Session) -> None:
        """The client is there, and waits for a server."""

    def client_left(self, session: Session) -> None:
        """Both ends are closed."""

    def deliver(self, made: Made) -> None:
        """Sends a frame of the tap's own."""

    def rules_fired(self, decision: Decision) -> None:
        """Rules did something to a frame, or ask for something that concerns the whole tap."""
