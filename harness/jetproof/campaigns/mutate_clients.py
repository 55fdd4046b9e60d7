"""Mutation of the reference client: can the cases for clients fail?

The reference client plays them as it is, and once for each of its knobs, which make it wrong in
one way: the cases of the clauses that a knob breaks must notice. All of them share one server.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jetproof.campaigns.libraries import Judged, meet_reference, pools
from jetproof.campaigns.mutate import AT_ONCE, LastCells, Mutation, Trial, choose, judge
from jetproof.campaigns.request import Settings
from jetproof.campaigns.selecting import select_cases
from jetproof.engine.run import run
from jetproof.errors import JetproofError
from jetproof.load.library import Library
from jetproof.model.case import Case
from jetproof.model.identity import REFERENCE, revision_of
from jetproof.model.mutant import Mutant
from jetproof.model.verdict import Cell
from jetproof.plan import Item, PlanClient, Selected, Selection, client_items, make_plan
from jetproof.targets.reference_client.conduct import NEWEST, SPOKEN
from jetproof.targets.reference_client.knobs import KNOBS
from jetproof.targets.resolve import resolve
from jetproof.targets.sweep import Owner

_PROCESSES = 2
_CASES_PER_JOB = 8
_PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class _Variant:
    """The reference client in one shape, and the cases that it plays.

    `knob` makes it wrong; without one it is as it is. `revision` is an earlier text that it keeps to,
    such as adr-50@7."""

    knob: str | None
    revision: str | None
    cases: Sequence[Case]

    @property
    def name(self) -> str:
        return _name(self.knob or _PLAIN, self.revision)

    @property
    def arguments(self) -> tuple[str, ...]:
        revision = ("--revision", self.revision) if self.revision else ()
        return (*revision, *(("--knob", self.knob) if self.knob else ()))

    def of(self, reference: Judged) -> Judged:
        """The reference client in this shape, under a name of its own."""
        assert reference.client is not None
        client = replace(reference.client, command=(*reference.client.command, *self.arguments))
        claims = dict(reference.plan.claims)
        if self.revision:
            claims.update([revision_of(self.revision)])
        plan: PlanClient = replace(reference.plan, name=self.name, claims=claims)
        return Judged(plan, client, reference.ledger)


async def plan_client_mutation(
    library: Library,
    client: str,
    selection: Selection,
    server: str,
    knobs: Sequence[str],
    settings: Settings,
    notify: Callable[[str], None],
) -> ClientMutation:
    """The knobs of the reference client, those that patterns name or all that concern the selection."""
    if client != REFERENCE:
        raise JetproofError(
            f"{client!r} cannot be made wrong on purpose",
            phase="plan",
            hint="only the reference client has knobs: --client reference",
        )
    chosen = select_cases(library, selection, for_clients=True)
    items = [Item(item.case, item.case.revision) for item in chosen.items]
    targets = await resolve([server], notify=notify)
    mutants = [
        Mutant(id=knob.name, about=knob.does, breaks=knob.breaks, rules=()) for knob in KNOBS
    ]
    return ClientMutation(
        library=library,
        targets=targets,
        items=items,
        mutants=choose(mutants, items, knobs),
        options=replace(settings, jobs=None).options(),
        at_once=settings.jobs or AT_ONCE,
    )


@dataclass(slots=True, kw_only=True)
class ClientMutation(Mutation):
    """Knobs of the reference client, which make it wrong."""

    async def play(self, emit: Callable[[Trial], None], owner: Owner) -> None:
        cases = [item.case for item in self.items]
        revisions = {knob.name: knob.revision for knob in KNOBS}
        concerned = {
            mutant.id: _by_revision(cases, mutant, revisions[mutant.id]) for mutant in self.mutants
        }
        used = {revision for by_revision in concerned.values() for revision in by_revision}
        variants = [
            _Variant(knob, revision, own)
            for knob, by_revision in concerned.items()
            for revision, own in by_revision.items()
        ]
        for revision in used:
            theirs = [own.get(revision, ()) for own in concerned.values()]
            played = [case for case in cases if any(case in own for own in theirs)]
            variants.append(_Variant(None, revision, played))
        cells = await self._cells(variants, owner)
        trials = []
        for mutant in self.mutants:
            wrong = _of_all(cells, mutant.id, concerned[mutant.id])
            plain = _of_all(cells, _PLAIN, concerned[mutant.id])
            trials.append(judge(mutant, {mutant.id: len(wrong)}, wrong, plain))
            emit(trials[-1])
        self.trials = trials
        self.plain = [cell for each in used for cell in cells[_name(_PLAIN, each)].values()]

    async def _cells(
        self, variants: Sequence[_Variant], owner: Owner
    ) -> Mapping[str, Mapping[str, Cell]]:
        """The cells of every variant, by its name and by case."""
        factor = self.options.time_factor
        reference = await meet_reference(factor)
        libraries: list[Judged] = []
        items: list[Item] = []
        for variant in variants:
            one = variant.of(reference)
            libraries.append(one)
            items += client_items(self.library, variant.cases, one.plan)
        plan = make_plan(self.library, Selected(tuple(items)), self.targets, skip=frozenset())
        collected = LastCells()
        async with pools(libraries, factor, _PROCESSES) as ready:
            options = replace(
                self.options,
                libraries=ready,
                owner=owner,
                cases_at_once=_CASES_PER_JOB * self.at_once,
                confirm=0,
            )
            await run(plan, self.library, collected, options, self.stop)
        found: dict[str, dict[str, Cell]] = defaultdict(dict)
        for cell in collected.cells:
            if cell.client is not None:
                found[cell.client][cell.case] = cell
        return found


def _by_revision(
    cases: Sequence[Case], mutant: Mutant, revision: str | None
) -> Mapping[str | None, Sequence[Case]]:
    """The cases of the clauses that a knob breaks, by the revision that the client then keeps to:
    the knob's, if it has one, else that of the case, as far as the client has a choice."""
    found: dict[str | None, list[Case]] = defaultdict(list)
    for case in cases:
        if set(case.clauses) & set(mutant.breaks):
            spoken = case.revision in SPOKEN.get(case.spec, ())
            newest = case.revision == NEWEST.get(case.spec)
            own = f"{case.spec}@{case.revision}" if spoken and not newest else None
            found[revision or own].append(case)
    return found


def _name(shape: str, revision: str | None) -> str:
    return shape if revision is None else f"{shape} {revision}"


def _of_all(
    cells: Mapping[str, Mapping[str, Cell]], shape: str, revisions: Iterable[str | None]
) -> Mapping[str, Cell]:
    """The cells of one shape of the client, under all revisions that it kept to, by case."""
    return {case: cell for each in revisions for case, cell in cells[_name(shape, each)].items()}
