"""How a run is played, and how it is ended early."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from jetproof.engine.client_pool import ClientPool
from jetproof.engine.confirm import SUSPECTS_MOST
from jetproof.engine.session import Address
from jetproof.model.client_ledger import ClientLedger
from jetproof.model.edition import Edition
from jetproof.model.law_modes import DEFAULT_LAWS
from jetproof.model.verdict import SchemaResult
from jetproof.plan import PlanClient
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import RunningTarget

CASES_AT_ONCE = 64

Proxy = Callable[[RunningTarget], AbstractAsyncContextManager[Address | None]]


@contextlib.asynccontextmanager
async def no_proxy(_: RunningTarget) -> AsyncIterator[None]:
    """Cases reach the target itself."""
    yield None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to play, not what."""

    run: str
    time_factor: float
    servers_at_once: int = 8
    cases_at_once: int = CASES_AT_ONCE
    fail_fast: bool = False
    command: tuple[str, ...] = ()
    attempts: Mapping[str, int] = field(default_factory=dict)
    """By cell: how often an earlier part of the run has played it."""
    schemas: Mapping[str, SchemaResult] = field(default_factory=dict)
    """In a resumed run, by name: what its earlier part says about messages."""
    owner: Owner | None = None
    keep: bool = False
    proxy: Proxy = no_proxy
    hold: Callable[[RunningTarget], AbstractAsyncContextManager[None]] | None = None
    knobs: Mapping[str, bool] = field(default_factory=dict)
    """How the reference layer does wrong on purpose, on targets that have it."""
    libraries: Mapping[str, ClientPool] = field(default_factory=dict)
    """By the name of a client library: its adapters."""
    ledgers: Mapping[str, ClientLedger] = field(default_factory=dict)
    """By the name of a client library: what is known of it."""
    witness: PlanClient | None = None
    """A client that plays whatever a library fails, so that a server's fault is told from its own."""
    editions: tuple[Edition, ...] = ()
    """What the run is scored by; a schema is scored if each of them lists it as it is."""
    confirm: int = SUSPECTS_MOST
    """So many red cells are played again before they are reported; 0 reports each at once."""
    laws: str = DEFAULT_LAWS
    """How much is read at the end of a case to judge promises: off, closing or full."""
    again: bool = True
    """A case that a slow machine disturbed is played once more at the end, with less to do."""


class Stop:
    """Asks a run to end early: once to start nothing more and end what is being played."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def now(self, reason: str) -> None:
        if self.reason is None:
            self.reason = reason
        for task in list(self._tasks):
            task.cancel()

    def watch(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
