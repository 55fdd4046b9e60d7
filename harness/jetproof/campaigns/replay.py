"""`replay`: plays one case on one target, and with one client library if it is about one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace

from jetproof.campaigns.campaign import Campaign
from jetproof.campaigns.interrupts import Interrupts
from jetproof.campaigns.libraries import Judged, meet, pools
from jetproof.campaigns.request import Settings
from jetproof.campaigns.selecting import select_one
from jetproof.engine.run import RunOptions, run
from jetproof.errors import JetproofError
from jetproof.events import Emit
from jetproof.load.library import Library
from jetproof.model.case import Case
from jetproof.model.identity import cell_id, revision_of
from jetproof.model.verdict import Result, exit_code
from jetproof.plan import Plan, Selected, Selection, client_items, make_plan
from jetproof.targets.clients.spec import client_named
from jetproof.targets.resolve import resolve_one
from jetproof.targets.topology import RunningTarget


@dataclass(frozen=True, slots=True)
class Wanted:
    """One cell: a case, and where, by which text and with which library it is played."""

    case: str
    server: str = "latest"
    revision: tuple[str, int | None] | None = None
    client: str | None = None


def wanted(name: str) -> Wanted:
    """What a cell's name asks for, or the id of a case."""
    cell = cell_id(name)
    client = cell.client
    # Jetproof has its own reference client in one version only.
    library = None if client is None else client.library if client.is_reference else str(client)
    revision = revision_of(cell.revision) if cell.revision else None
    return Wanted(cell.case, cell.server or "latest", revision, library)


@dataclass(slots=True, kw_only=True)
class Replay(Campaign):
    """One case."""

    plan: Plan
    judged: Sequence[Judged]

    @property
    def case(self) -> Case:
        return self.cases[0]

    def counts(self, result: Result) -> bool:
        return result.about == self.case.id

    @property
    def exit_code(self) -> int:
        own = [cell for cell in self.cells if self.counts(cell)]
        return exit_code(own) if own else 3

    def keep_server(self, interrupts: Interrupts, notify: Callable[[str], None]) -> None:
        """Keep the server after the case, until a person interrupts."""

        @contextlib.asynccontextmanager
        async def hold(target: RunningTarget) -> AsyncIterator[None]:
            interrupts.hold = asyncio.Event()
            for name in target.nodes:
                host, port = target.address(name)
                notify(f"{name} is kept alive at nats://{host}:{port}")
            notify("Ctrl-C takes it down")
            await interrupts.hold.wait()
            yield

        self.options = replace(self.options, hold=hold)

    async def _play(self, emit: Emit, options: RunOptions) -> None:
        async with pools(self.judged, options.time_factor) as ready:
            ledgers = {one.plan.name: one.in_force for one in self.judged}
            options = replace(options, libraries=ready, ledgers=ledgers)
            await run(self.plan, self.library, emit, options, self.stop)


async def plan_replay(
    library: Library, cell: Wanted, settings: Settings, *, notify: Callable[[str], None]
) -> Replay:
    """The one case that is named. `notify` hears of builds."""
    selected = _selected(library, cell)
    target = await resolve_one(cell.server, hint="replay plays on one", notify=notify)
    options = replace(settings.options(), again=False, confirm=0)
    judged = []
    if cell.client is not None:
        judged = await meet([client_named(cell.client)], None, library, options.time_factor)
        client = judged[0].plan
        items = tuple(replace(item, client=client) for item in selected.items)
        if cell.revision is None:
            items = client_items(library, [item.case for item in items], client)
        selected = replace(selected, items=items)
    return Replay(
        library=library,
        request={},
        cases=[item.case for item in selected.items],
        options=options,
        plan=make_plan(library, selected, [target], skip=frozenset()),
        judged=judged,
    )


def _selected(library: Library, cell: Wanted) -> Selected:
    name = cell.case
    if cell.client is None and any(case.id == name for case in library.client_cases):
        raise JetproofError(
            f"{name} judges client libraries",
            phase="plan",
            hint="say which one: --client go:nats.go",
        )
    selection = Selection((name,), specs=(cell.revision,) if cell.revision else ())
    for_clients = cell.client is not None
    return select_one(library, selection, purpose="replay plays one", for_clients=for_clients)
