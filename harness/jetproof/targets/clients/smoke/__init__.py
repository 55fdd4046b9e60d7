"""Is an adapter broken? Everything it says it can do, once, in the normal course, on a real server.

`protocol_checks` asks what every adapter must do whatever its library is, `operation_checks` calls
every operation. A finding is `broken` where the adapter breaks the protocol or cannot do what it says
it can, and a `note` where it may well be the library that is so. Conformance is not judged here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.clients.build import Client, prepare_client
from jetproof.targets.clients.process import (
    AdapterFault,
    Hello,
    Limits,
    Unanswered,
    start_adapter,
)
from jetproof.targets.clients.smoke import operation_checks, protocol_checks
from jetproof.targets.clients.smoke.bench import Bench, Finding, Outcome, staged
from jetproof.targets.clients.spec import parse_client
from jetproof.targets.topology import RunningTarget, start_target

__all__ = ["Finding", "Outcome", "Smoke", "smoke", "smoke_named"]


@dataclass(frozen=True, slots=True)
class Smoke:
    """What came of it. `hello` is None if the adapter never said it."""

    client: str
    server: Version
    hello: Hello | None
    findings: tuple[Finding, ...]

    @property
    def broken(self) -> bool:
        return any(finding.outcome == "broken" for finding in self.findings)


async def smoke_named(
    client: str, server: str, factor: float, notify: Callable[[str], None]
) -> Smoke:
    """Builds the adapter of a client, starts a server, and tries the one on the other."""
    ready = await asyncio.to_thread(prepare_client, parse_client(client), notify=notify)
    async with start_target(server, factor=factor, notify=notify) as target:
        return await smoke(ready, target, Limits(factor=factor))


async def smoke(client: Client, target: RunningTarget, limits: Limits) -> Smoke:
    """Tries an adapter on a running server."""
    hello: Hello | None = None
    async with staged(target) as stage:
        bench = Bench(stage, limits.factor)
        try:
            async with start_adapter(
                client.command, name=client.name, cwd=client.cwd, env=client.env, limits=limits
            ) as adapter:
                hello = adapter.hello
                said = f"{hello.library} {hello.version}, {len(hello.capabilities)} operations"
                bench.add("hello", "ok", said)
                bench.use(adapter)
                await _played(bench)
            fault = adapter.fault  # at the end of its input
        except AdapterFault as raised:
            fault = raised
        if fault is None:
            bench.add("end of input", "ok", "it ends by itself, and leaves nothing behind")
        else:
            bench.add(_FAULTS.get(fault.kind, "protocol"), "broken", fault.reason, fault.said)
    return Smoke(client.label, target.version, hello, bench.findings)


_FAULTS = {"start": "start", "end": "end of input", "left": "end of input", "memory": "memory"}


async def _played(bench: Bench) -> None:
    try:
        await protocol_checks.before_connecting(bench)
        if await protocol_checks.connected(bench):
            await operation_checks.every_operation(bench)
            await protocol_checks.while_connected(bench)
    except Unanswered as late:
        bench.add(late.op, "broken", late.message)
    except JetproofError as error:
        if isinstance(error, AdapterFault):
            raise
        raise JetproofError(
            f"the server did not take part: {error.message}", phase="play", hint=error.hint
        ) from error
