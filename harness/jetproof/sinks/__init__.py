"""Sinks subscribe to the events of the engine: the terminal, result files, JUnit XML, CTRF, JSON.

Every sink has `handle(event)` and `close()`. `close` is called once, also when the run was
interrupted or failed, and leaves whole files behind. Sinks import lazily: a run that writes no
JUnit XML loads no XML library.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Protocol

from jetproof.errors import JetproofError
from jetproof.events import Event, RunStarted
from jetproof.targets.redaction import without_passwords


class Sink(Protocol):
    """One listener."""

    def handle(self, event: Event) -> None: ...

    def close(self) -> None: ...


class FanOut:
    """Hands every event to every sink. A sink that fails hears no more; the others go on.

    A full disk in the middle of a run must not change verdicts: the failure is kept in `failures`
    for the front to report when the run is over. Passwords in targets stop here: no sink sees one.
    """

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = list(sinks)
        self._secrets = False
        self.failures: list[JetproofError] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._secrets = any("://" in target for target in event.targets)
        if self._secrets:
            event = without_passwords(event)
        for sink in tuple(self._sinks):
            try:
                sink.handle(event)
            except JetproofError as error:
                self._sinks.remove(sink)
                self.failures.append(error)
                with contextlib.suppress(JetproofError):
                    sink.close()

    def close(self) -> None:
        for sink in self._sinks:
            try:
                sink.close()
            except JetproofError as error:
                self.failures.append(error)
        self._sinks.clear()


__all__ = ["FanOut", "Sink"]
