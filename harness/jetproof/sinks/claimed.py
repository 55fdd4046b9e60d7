"""Keeps from a sink the cells that nobody is held to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from jetproof.events import CaseFinished, Event, RunStarted
from jetproof.model.verdict import Cell
from jetproof.sinks import Sink


class Claimed:
    """Lets a sink hear of what a library is held to: not of texts that it does not claim.

    Those cells are in the result files, and are summed up in a line at the end."""

    def __init__(self, counts: Callable[[Cell], bool], planned: int, sink: Sink) -> None:
        self._counts = counts
        self._planned = planned
        self._sink = sink

    def handle(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            event = replace(event, cells=self._planned)
        if not isinstance(event, CaseFinished) or self._counts(event.cell):
            self._sink.handle(event)

    def close(self) -> None:
        self._sink.close()
