"""`run`: plays cases on targets, all of them as one plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jetproof.campaigns.campaign import Campaign
from jetproof.campaigns.planning import choose
from jetproof.campaigns.request import DEFAULT_TARGETS, Request, Settings
from jetproof.engine.run import RunOptions, run
from jetproof.errors import JetproofError
from jetproof.events import Emit
from jetproof.load.library import Library
from jetproof.plan import Plan, PlanTarget, make_plan
from jetproof.results import Run
from jetproof.targets.resolve import resolve


@dataclass(slots=True, kw_only=True)
class PlainRun(Campaign):
    """Every cell of one plan."""

    plan: Plan

    async def _play(self, emit: Emit, options: RunOptions) -> None:
        await run(self.plan, self.library, emit, options, self.stop)


async def plan_run(
    library: Library,
    request: Request,
    settings: Settings,
    *,
    earlier: Run | None = None,
    fail_fast: bool = False,
    notify: Callable[[str], None],
) -> PlainRun:
    """What a request asks for, on targets whose versions are known. `notify` hears of builds."""
    choice = choose(library, request, earlier)
    targets = await resolve(request.servers or DEFAULT_TARGETS, notify=notify)
    choice = choice.on(targets)
    apart = _apart(request, targets)
    return PlainRun(
        library=library,
        request=choice.request.document(),
        cases=choice.cases,
        options=replace(choice.options(settings), fail_fast=fail_fast),
        earlier=earlier,
        notices=choice.notices,
        plan=make_plan(library, choice.selected, targets, skip=choice.skip, apart=apart),
    )


def _apart(request: Request, targets: Sequence[PlanTarget]) -> frozenset[str]:
    """The targets on which every case gets servers of its own."""
    if not request.per_case:
        return frozenset()
    covered = frozenset(target.name for target in targets if target.provider == "cover")
    if not covered:
        raise JetproofError(
            "--per-case is for servers that record which code they reach",
            phase="plan",
            hint="name one with --server cover:2.15.1, or leave --per-case out",
        )
    return covered
