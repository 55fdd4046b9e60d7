"""Who takes part in a consume: the application that is told, and the consumer behind it."""

from __future__ import annotations

from typing import Protocol

from jetproof.targets.reference_client.consumers import ConsumerRef, Delivery
from jetproof.targets.reference_client.errors import ClientError


class Teller(Protocol):
    """The application: what a consume tells it."""

    def message(self, delivery: Delivery) -> None: ...
    def notice(self, error: ClientError) -> None: ...
    def end(self, error: ClientError | None) -> None: ...


class Source(Protocol):
    """The consumer behind a consume: one that is there, or one that is made anew when need be."""

    @property
    def ref(self) -> ConsumerRef: ...
    def accept(self, delivery: Delivery) -> bool:
        """Whether the message is the one to come; False asks for `renew`."""

    def foreign(self, delivery: Delivery) -> bool:
        """Whether the message is of a consumer that is no longer used."""

    @property
    def renewable(self) -> bool: ...
    async def renew(self) -> None: ...
    async def check(self) -> None:
        """Asks the server for the consumer; an error if it is not there."""


class Nobody:
    """An application that is gone."""

    def message(self, delivery: Delivery) -> None:
        pass

    def notice(self, error: ClientError) -> None:
        pass

    def end(self, error: ClientError | None) -> None:
        pass
