"""Client libraries as commands take them: named, built, asked who they are, and kept ready."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from jetproof.engine.client_pool import AT_ONCE, ClientPool
from jetproof.errors import JetproofError
from jetproof.load.client_ledger import LEDGER, read_ledger
from jetproof.load.library import Library
from jetproof.load.mistakes import LoadError, Mistake
from jetproof.model.client import OPERATIONS
from jetproof.model.client_ledger import ClientLedger
from jetproof.model.edition import Edition
from jetproof.model.identity import REFERENCE
from jetproof.model.wording import plural
from jetproof.plan import PlanClient
from jetproof.results.documents.playing import GateLibrary
from jetproof.targets.clients.build import BuildFailed, Client, prepare_client
from jetproof.targets.clients.process import Adapter, AdapterFault, Hello, Limits, start_adapter
from jetproof.targets.clients.spec import ClientSpec, known_adapters, parse_client
from jetproof.targets.clients.toolchain import NotBuildable
from jetproof.tasks import all_of


@dataclass(frozen=True, slots=True)
class Judged:
    """A client library that is judged: who it is, how it is started, what is known of it."""

    plan: PlanClient
    client: Client | None
    ledger: ClientLedger
    hello: Hello | None = None
    edition: Edition | None = None
    """What it is scored by, if not by every case."""

    @property
    def introduction(self) -> str:
        """Who it is, in a line."""
        plan = self.plan
        if reason := plan.missing or plan.broken:
            return f"{plan.name} is not judged: {reason}"
        assert self.hello is not None
        parts = ", ".join(f"{name} {version}" for name, version in self.hello.parts.items())
        claims = ", ".join(f"{spec}@{number}" for spec, number in sorted(plan.claims.items()))
        known = plural(len(self.ledger.entries), "known failure")
        edition = f"; edition {self.edition.name}" if self.edition else ""
        return (
            f"{plan.name} ({parts or plan.library}; {self.hello.runtime}) claims "
            f"{claims or 'no revision'}; {known}{edition}"
        )

    def document(self) -> GateLibrary:
        """The same for machines."""
        plan, hello = self.plan, self.hello
        return GateLibrary(
            name=plan.name,
            library=plan.library,
            version=plan.version,
            language=hello.language if hello else "",
            runtime=hello.runtime if hello else "",
            parts=dict(hello.parts) if hello else {},
            claims=dict(plan.claims),
            capabilities=sorted(hello.capabilities) if hello else [],
            ledger=self.ledger.file or None,
            edition=self.edition.name if self.edition else None,
            missing=plan.missing,
            broken=plan.broken,
        )

    @property
    def in_force(self) -> ClientLedger:
        """The ledger without what has expired."""
        return self.ledger.on(today())


def named(clients: Sequence[str], everything: bool) -> list[ClientSpec]:
    """The libraries that were asked for."""
    names = [*clients, *(known_adapters() if everything else ())]
    if not names:
        raise JetproofError(
            "which library? Say --client, or --all",
            phase="plan",
            hint="jetproof clients list prints those that there are",
        )
    return [parse_client(name) for name in dict.fromkeys(names)]


async def meet(
    specs: Sequence[ClientSpec], ledger: Path | None, library: Library, factor: float
) -> list[Judged]:
    """Builds the adapters of libraries and asks each who it is, once all ledgers are read.

    One that this machine cannot build is not played; one that is broken has no verdicts."""
    known = _ledgers(specs, ledger, library)
    return await all_of(*(_met(spec, its, factor) for spec, its in zip(specs, known, strict=True)))


async def meet_reference(factor: float) -> Judged:
    """The reference client, which no ledger excuses."""
    return await _met(parse_client(REFERENCE), ClientLedger(REFERENCE), factor)


async def _met(spec: ClientSpec, known: ClientLedger, factor: float) -> Judged:
    try:
        client = await asyncio.to_thread(prepare_client, spec)
        async with _started(client, factor) as adapter:
            hello = adapter.hello
    except NotBuildable as problem:
        return Judged(PlanClient(spec.text, spec.name, missing=problem.message), None, known)
    except (BuildFailed, AdapterFault) as problem:
        broken = PlanClient(
            spec.text, spec.name, capabilities=frozenset(OPERATIONS), broken=problem.message
        )
        return Judged(broken, None, known)
    plan = PlanClient(
        name=f"{spec.name}@{hello.version}",
        library=hello.library,
        version=hello.version,
        capabilities=hello.capabilities,
        claims=hello.claims,
    )
    return Judged(plan, client, known, hello)


@contextlib.asynccontextmanager
async def pools(
    libraries: Iterable[Judged], factor: float, at_once: int = AT_ONCE
) -> AsyncIterator[Mapping[str, ClientPool]]:
    """Adapters of every library, for as long as the context lasts."""
    async with AsyncExitStack() as stack:
        ready, starting = {}, asyncio.Semaphore(os.cpu_count() or 1)
        for one in libraries:
            if one.client is not None:
                pool = ClientPool(partial(_started, one.client, factor), at_once, starting)
                ready[one.plan.name] = await stack.enter_async_context(pool)
        yield ready


def today() -> date:
    return datetime.now(UTC).date()


def _ledgers(
    specs: Sequence[ClientSpec], given: Path | None, library: Library
) -> list[ClientLedger]:
    """The ledger of each; the mistakes of all of them at once."""
    found: list[ClientLedger] = []
    mistakes: list[Mistake] = []
    for spec in specs:
        try:
            found.append(_ledger(spec, given, library))
        except LoadError as error:
            mistakes += error.mistakes
    if mistakes:
        raise LoadError(mistakes)
    return found


def _ledger(spec: ClientSpec, given: Path | None, library: Library) -> ClientLedger:
    """The ledger that was named, or the one beside the adapter."""
    if given is not None:
        return read_ledger(given, library)
    beside = None if spec.folder is None else spec.folder.folder / LEDGER
    if beside is None or not beside.exists():
        return ClientLedger(spec.name)
    return read_ledger(beside, library)


def _started(client: Client, factor: float) -> contextlib.AbstractAsyncContextManager[Adapter]:
    return start_adapter(
        client.command,
        name=client.name,
        cwd=client.cwd,
        env=client.env,
        limits=Limits(factor=factor),
    )
