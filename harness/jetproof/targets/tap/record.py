"""Who listens to a tap: events are collected while bytes are handled, and told in one go."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from jetproof.targets.tap.events import Event

Observer = Callable[[Sequence[Event]], object]


class Record:
    """Hands every event to all observers, in order; `wanted` tells whether there are any.

    What is added stays here until `flush`, so that a piece of the wire with a thousand frames is one
    call.
    """

    def __init__(self) -> None:
        self.wanted = False
        self._observers: list[Observer] = []
        self._events: list[Event] = []
        self.add = self._events.append

    def watch(self, observer: Observer) -> Callable[[], None]:
        """Tells an observer of all events from now on, until the returned function is called."""
        self._observers.append(observer)
        self.wanted = True

        def leave() -> None:
            if observer in self._observers:
                self._observers.remove(observer)
            self.wanted = bool(self._observers)

        return leave

    def flush(self) -> None:
        """Tells what was added since the last time."""
        if not self._events:
            return
        events = self._events.copy()
        self._events.clear()
        for observer in tuple(self._observers):
            try:
                observer(events)
            except Exception as error:
                report(error)


def one_by_one(callback: Callable[[Event], object]) -> Observer:
    """An observer that calls back for each event, for the next one too if a call failed."""

    def observe(events: Sequence[Event]) -> None:
        for event in events:
            try:
                callback(event)
            except Exception as error:
                report(error)

    return observe


def report(error: Exception) -> None:
    """A faulty observer must not change what it observes; it is only told of."""
    asyncio.get_running_loop().call_exception_handler(
        {"message": "the observer of a jetproof tap failed", "exception": error}
    )
