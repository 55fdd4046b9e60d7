"""The work of `jetproof mutate --client reference`: can the cases for clients fail?

The reference client plays them as it is, and once for each of its knobs, which make it wrong in
one way: the cases of the clauses that a knob breaks must notice. All of them share one server.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from jetproof.campaigns.interrupts import Interrupts, attended
from jetproof.campaigns.libraries import Judged, meet_reference, pools
from jetproof.campaigns.selecting import select_cases
from jetproof.cli.common import laws_of, say, write_json
from jetproof.cli.mutating import (
    Trial,
    choose,
    exit_code,
    judge,
    markdown,
    never_failed,
    report,
    trial_line,
)
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, Stop, fresh_run_id, run
from jetproof.errors import JetproofError
from jetproof.load.library import Library, load_library
from jetproof.model.case import Case
from jetproof.model.identity import REFERENCE
from jetproof.model.mutant import Mutant
from jetproof.model.verdict import Cell
from jetproof.plan import Item, PlanClient, Selected, Selection, client_items, make_plan
from jetproof.sinks.paint import paint_for
from jetproof.sinks.record import Record
from jetproof.targets.reference_client.conduct import NEWEST, SPOKEN
from jetproof.targets.reference_client.knobs import KNOBS
from jetproof.targets.resolve import resolve

_PROCESSES = 2
PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class _Variant:
    """The reference client in one shape: as it is, by an earlier revision, or with a knob."""

    name: str
    arguments: tuple[str, ...] = ()


async def execute(args: argparse.Namespace) -> int:
    """Play everything and tell what was noticed."""
    if args.client != REFERENCE:
        raise JetproofError(
            f"{args.client!r} cannot be made wrong on purpose",
            phase="plan",
            hint="only the reference client has knobs: --client reference",
        )
    library = load_library()
    chosen = select_cases(library, Selection(tuple(args.patterns)), for_clients=True)
    cases = [item.case for item in chosen.items]
    targets = await resolve([args.server], notify=say)
    knobs = {
        knob.name: Mutant(id=knob.name, about=knob.does, breaks=knob.breaks, rules=())
        for knob in KNOBS
    }
    items = [Item(case, case.revision) for case in cases]
    mutants = choose(list(knobs.values()), items, args.mutants)
    revisions = {knob.name: knob.revision for knob in KNOBS}
    concerned = {mutant.id: _by_law(cases, mutant, revisions[mutant.id]) for mutant in mutants}
    laws = {law for by_law in concerned.values() for law in by_law}
    wanted = [
        (_Variant(_name(knob, law), _arguments(law, knob)), list(own))
        for knob, by_law in concerned.items()
        for law, own in by_law.items()
    ]
    wanted += [
        (
            _Variant(_name(PLAIN, law), _arguments(law)),
            [case for case in cases if any(case in own.get(law, ()) for own in concerned.values())],
        )
        for law in laws
    ]
    stream = sys.stderr if args.json or args.markdown else sys.stdout
    paint = paint_for(stream)
    interrupts = Interrupts(Stop(), notify=lambda text: print(text, file=stream))
    cells = await _cells(library, wanted, targets, args, interrupts)
    trials = [
        _trial(
            mutant,
            _of_all(cells, mutant.id, concerned[mutant.id]),
            _of_all(cells, PLAIN, concerned[mutant.id]),
        )
        for mutant in mutants
    ]
    for trial in trials:
        stream.write(f"{trial_line(trial, paint)}\n")
    never = never_failed(items, mutants, trials)
    base = [cell for law in laws for cell in cells[_name(PLAIN, law)].values()]
    code = interrupts.exit_code or exit_code(trials, base)
    if args.json:
        write_json(
            {
                "schema": 1,
                "target": targets[0].name,
                "mutants": [trial.document() for trial in trials],
                "never_failed": never,
                "exit_code": code,
            }
        )
    elif args.markdown:
        sys.stdout.write(markdown(trials, never, items))
    elif interrupts.signal is None:
        for line in report(trials, never, len(items), paint):
            stream.write(f"{line}\n")
    return code


def _by_law(
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


def _name(shape: str, law: str | None) -> str:
    return shape if law is None else f"{shape} {law}"


def _of_all(
    cells: Mapping[str, Mapping[str, Cell]], shape: str, laws: Iterable[str | None]
) -> Mapping[str, Cell]:
    """The cells of one shape of the client, under all revisions that it kept to, by case."""
    return {case: cell for law in laws for case, cell in cells[_name(shape, law)].items()}


def _arguments(revision: str | None, knob: str | None = None) -> tuple[str, ...]:
    law = ("--revision", revision) if revision else ()
    return (*law, *(("--knob", knob) if knob else ()))


def _trial(mutant: Mutant, cells: Mapping[str, Cell], baseline: Mapping[str, Cell]) -> Trial:
    return judge(mutant, {mutant.id: len(cells)}, cells, baseline)


async def _cells(
    library: Library,
    wanted: Sequence[tuple[_Variant, Sequence[Case]]],
    targets: Sequence[object],
    args: argparse.Namespace,
    interrupts: Interrupts,
) -> Mapping[str, Mapping[str, Cell]]:
    """The cells of every variant, by its name and by case."""
    factor = time_factor()
    reference = await meet_reference(factor)
    libraries: list[Judged] = []
    items: list[Item] = []
    for variant, cases in wanted:
        one = _as(reference, variant)
        libraries.append(one)
        items += client_items(library, cases, one.plan)
    plan = make_plan(library, Selected(tuple(items)), targets, skip=frozenset())  # type: ignore[arg-type]
    record = Record(keep_frames=0)
    async with AsyncExitStack() as stack:
        owner = await stack.enter_async_context(attended(interrupts))
        ready = await stack.enter_async_context(pools(libraries, factor, _PROCESSES))
        options = RunOptions(
            run=fresh_run_id(),
            time_factor=factor,
            command=tuple(args.command_line),
            libraries=ready,
            owner=owner,
            cases_at_once=8 * args.jobs,
            confirm=0,
            laws=laws_of(args),
        )
        await run(plan, library, record.handle, options, interrupts.stop)
    found: dict[str, dict[str, Cell]] = defaultdict(dict)
    for outcome in record.outcomes:
        if outcome.cell.client is not None:
            found[outcome.cell.client][outcome.cell.case] = outcome.cell
    return found


def _as(reference: Judged, variant: _Variant) -> Judged:
    """The reference client in that shape, under a name of its own."""
    assert reference.client is not None
    client = replace(reference.client, command=(*reference.client.command, *variant.arguments))
    claims = dict(reference.plan.claims)
    if "--revision" in variant.arguments:
        spec, _, number = variant.arguments[1].partition("@")
        claims[spec] = int(number)
    plan: PlanClient = replace(reference.plan, name=variant.name, claims=claims)
    return Judged(plan, client, reference.ledger)
