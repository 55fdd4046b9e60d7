"""`gate`: plays cases with client libraries, and judges each by the texts that it claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jetproof.campaigns.campaign import Campaign
from jetproof.campaigns.libraries import Judged, meet, meet_reference, named, pools, today
from jetproof.campaigns.request import DEFAULT_TARGETS, Request, Settings
from jetproof.campaigns.selecting import select_cases
from jetproof.engine.client_pool import AT_ONCE
from jetproof.engine.run import RunOptions, run
from jetproof.events import Emit
from jetproof.load.editions import difference, find_edition, standing_of
from jetproof.load.library import Library
from jetproof.model.edition import Edition
from jetproof.model.verdict import Result, SchemaResult
from jetproof.plan import (
    Plan,
    Selected,
    Selection,
    client_items,
    is_claimed,
    make_plan,
    scored_by,
)
from jetproof.targets.resolve import resolve


@dataclass(slots=True, kw_only=True)
class Gate(Campaign):
    """Libraries behind the tap. `witness` plays what one of them fails."""

    plan: Plan
    judged: Sequence[Judged]
    witness: Judged
    adapters: int
    """How many adapters of each library at the same time."""

    @property
    def introductions(self) -> list[str]:
        """Who the libraries are, a line for each."""
        return [one.introduction for one in self.judged]

    @property
    def planned(self) -> int:
        """How many cells there are by the texts that libraries claim."""
        items = [item for group in self.plan.groups for item in group.items]
        items += [dropped.item for dropped in self.plan.not_applicable]
        return sum(
            is_claimed(self.library, item.client, item.case.spec, item.revision)
            for item in items
            if item.client is not None
        )

    def counts(self, result: Result) -> bool:
        """The witness never counts, unless it was asked for itself."""
        plan = next((one.plan for one in self.judged if one.plan.name == result.client), None)
        if plan is None or isinstance(result, SchemaResult):
            return result.client is None
        return is_claimed(self.library, plan, result.spec, result.spec_revision)

    def besides(self) -> Iterator[str]:
        """What a person wants to know besides: expired entries, and what newer texts would say."""
        for one in self.judged:
            for entry in one.ledger.expired(today()):
                yield f"{one.plan.name}: {entry.deviation.id} expired on {entry.expires}"
            own = [cell for cell in self.cells if cell.client == one.plan.name]
            counts = Counter(cell.verdict for cell in own if not self.counts(cell))
            if counts:
                words = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
                yield f"{one.plan.name}: by the text in force, which it does not claim: {words}"

    async def _play(self, emit: Emit, options: RunOptions) -> None:
        everybody = [*self.judged, self.witness]
        async with pools(everybody, options.time_factor, self.adapters) as ready:
            options = replace(
                options,
                libraries=ready,
                witness=None if self.witness.client is None else self.witness.plan,
                ledgers={one.plan.name: one.in_force for one in self.judged},
            )
            await run(self.plan, self.library, emit, options, self.stop)


async def plan_gate(
    library: Library,
    request: Request,
    settings: Settings,
    *,
    clients: Sequence[str],
    every_client: bool = False,
    ledger: Path | None = None,
    notify: Callable[[str], None],
) -> Gate:
    """Builds the adapters of libraries, asks each who it is, and plans what it is judged by.

    `settings.jobs` is the number of adapters of each. `notify` hears of builds."""
    chosen = select_cases(library, Selection(request.patterns, request.clauses), for_clients=True)
    specs = {name for name, _ in request.specs}
    cases = [item.case for item in chosen.items if not specs or item.case.spec in specs]
    options = replace(settings, jobs=None).options()
    asked = find_edition(library, request.edition)
    met = await meet(named(clients, every_client), ledger, library, options.time_factor)
    judged = [_scored(library, one, request, asked) for one in met]
    witness = await meet_reference(options.time_factor)
    targets = await resolve(request.servers or DEFAULT_TARGETS, notify=notify)
    items = [
        item
        for one in judged
        for item in scored_by(library, client_items(library, cases, one.plan), one.edition)
    ]
    editions = tuple({one.edition.name: one.edition for one in judged if one.edition}.values())
    unlike = [difference(standing_of(library, edition, for_clients=True)) for edition in editions]
    return Gate(
        library=library,
        request=stored_request(request, clients),
        cases=cases,
        options=replace(options, editions=editions),
        notices=[text for text in unlike if text],
        libraries=[one.document() for one in judged],
        plan=make_plan(library, Selected(tuple(items), chosen.partial), targets, skip=frozenset()),
        judged=judged,
        witness=witness,
        adapters=settings.jobs or _at_once(len(judged)),
    )


def _scored(library: Library, one: Judged, request: Request, asked: Edition | None) -> Judged:
    """A library with the edition that it is scored by: the one asked for, or that of its ledger."""
    own = find_edition(library, one.ledger.edition) if request.edition is None else asked
    return replace(one, edition=own)


def stored_request(request: Request, clients: Sequence[str]) -> dict[str, object]:
    """What `run.json` keeps of what a gate was asked for."""
    kept = ("patterns", "servers", "clauses", "edition", "laws")
    stored = {name: value for name, value in request.document().items() if name in kept}
    return {**stored, "clients": list(clients)}


def _at_once(libraries: int) -> int:
    """Adapters of each: a tap that shares a machine with too many of them stands still."""
    return max(4, min(AT_ONCE, 2 * AT_ONCE // libraries))
