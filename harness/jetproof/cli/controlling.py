"""The work of `jetproof controls`: the cells to look at, their controls, the report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jetproof.campaigns.client_controls import sent_features
from jetproof.campaigns.controls import Controls, undeclared, uses_of
from jetproof.campaigns.interrupts import Interrupts, attended
from jetproof.campaigns.libraries import Judged, meet, pools
from jetproof.cli.campaigning import DEFAULT_TARGETS, options_of, selection_of
from jetproof.cli.common import say, write_json
from jetproof.cli.running import Request
from jetproof.engine.run import RunOptions, Stop, run
from jetproof.errors import JetproofError
from jetproof.load.library import Library, load_library
from jetproof.model.law_modes import NO_LAWS
from jetproof.model.verdict import Verdict
from jetproof.plan import PlanTarget, Selected, make_plan
from jetproof.results import Run, read_run
from jetproof.results.controls import ControlResult, Outcome
from jetproof.sinks import FanOut
from jetproof.sinks.console.lines import line
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.controls_report import (
    control_lines,
    controls_document,
    undeclared_lines,
    write_controls,
)
from jetproof.sinks.files import DEFAULT_PARENT, RunFolder
from jetproof.targets.clients.spec import client_named
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import redacted

_WRONG = (Outcome.VACUOUS, Outcome.CONTRADICTED)


async def execute(args: argparse.Namespace) -> int:
    """Everything from loading to the last line."""
    library = load_library()
    earlier = None if args.folder is None else read_run(args.folder)
    both = args.undeclared or earlier is not None
    request, selected = selection_of(args, library, for_clients=None if both else False)
    if args.undeclared:
        return _listed(args, library, selected)
    selected = _concerned(library, selected, sent=args.sent)
    if earlier is not None and args.out is not None:
        raise JetproofError(
            "--out is for a run that is yet to be played",
            phase="plan",
            hint=f"controls of a run are kept in its folder, {earlier.folder}",
        )
    names = request.servers or (DEFAULT_TARGETS if earlier is None else _targets(earlier))
    targets = await resolve(names, notify=say)
    # A law may notice what the steps of a case do not: a control is about the steps.
    options = replace(options_of(args), laws=args.laws or NO_LAWS)
    stop = Stop()
    interrupts = Interrupts(stop, notify=say)
    libraries = [] if earlier is None else await _libraries(earlier, library, options.time_factor)
    campaign = Controls(
        library, options, stop, args.sent, {one.plan.name: one.plan for one in libraries}
    )
    if args.sent and libraries and earlier is not None:
        campaign.seen = sent_features(earlier, list(library.features.values()))
    async with (
        attended(interrupts) as owner,
        pools(libraries, options.time_factor) as ready,
    ):
        campaign.options = options = replace(options, owner=owner, libraries=ready)
        if earlier is None:
            request = replace(request, servers=tuple(target.name for target in targets))
            place = args.out or Path(DEFAULT_PARENT) / options.run
            earlier = await _played(library, request, selected, targets, options, stop, place)
        cases = {item.case.id: item.case for item in selected.items}
        await campaign.play(earlier.id, earlier.latest, cases, targets, say)
    assert earlier is not None
    write_controls(earlier, campaign.results)
    code = interrupts.exit_code or _exit_code(campaign.results)
    if args.json:
        write_json(controls_document(earlier, campaign.results, (), code))
    else:
        lines = control_lines(campaign.results, verbose=args.verbose)
        Screen(sys.stdout).print([*lines, line(f"results: {earlier.folder}")])
    return code


def _listed(args: argparse.Namespace, library: Library, selected: Selected) -> int:
    found = undeclared(library, [item.case for item in selected.items])
    code = 1 if found else 0
    if args.json:
        write_json(controls_document(None, (), found, code))
    else:
        count = line(f"{len(found)} features that cases send and do not declare")
        Screen(sys.stdout).print([*undeclared_lines(found), count])
    return code


async def _libraries(earlier: Run, library: Library, factor: float) -> list[Judged]:
    """The client libraries whose cells pass in a run, as it judged them."""
    names = dict.fromkeys(
        cell.client
        for cell in earlier.latest
        if cell.client is not None and cell.verdict is Verdict.PASS
    )
    specs = [client_named(name) for name in names]
    found = await meet(specs, None, library, factor)
    for name, one in zip(names, found, strict=True):
        reason = one.plan.missing or one.plan.broken
        if reason or one.plan.name != name:
            raise JetproofError(
                f"{name} cannot be played: {reason or f'{one.plan.name} is here'}",
                phase="plan",
                hint=f"controls are played with the library that {earlier.folder} judged",
            )
    return found


def _concerned(library: Library, selected: Selected, *, sent: bool) -> Selected:
    """The items whose case is about a feature."""
    items = tuple(
        item
        for item in selected.items
        if (sent and item.case.for_client) or any(uses_of(library, item.case, sent=sent))
    )
    if not items:
        raise JetproofError(
            "none of these cases declares an optional feature",
            phase="plan",
            hint="--undeclared lists cases that send one, --sent plays their controls",
        )
    return Selected(items, selected.partial or "only cases about optional features")


def _targets(earlier: Run) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(cell.target for cell in earlier.latest))
    if any("***@" in name for name in names):
        raise JetproofError(
            f"{earlier.folder} does not keep passwords",
            phase="plan",
            hint="name the target again with --server",
        )
    if not names:
        raise JetproofError(f"{earlier.folder} has no cell", phase="plan")
    return names


async def _played(
    library: Library,
    request: Request,
    selected: Selected,
    targets: Sequence[PlanTarget],
    options: RunOptions,
    stop: Stop,
    place: Path,
) -> Run:
    """The cases as they are: a run like any other."""
    fan = FanOut([RunFolder.create(place, request.document())])
    try:
        say(f"{', '.join(redacted(target.name) for target in targets)}: the cases as they are")
        plan = make_plan(library, selected, targets, skip=frozenset())
        await run(plan, library, fan, options, stop)
    finally:
        fan.close()
    if fan.failures:
        raise fan.failures[0]
    return read_run(place)


def _exit_code(results: Sequence[ControlResult]) -> int:
    declared = [one for one in results if one.declared]
    if any(one.outcome is Outcome.NO_VERDICT for one in declared):
        return 3
    return 1 if any(one.outcome in _WRONG for one in declared) else 0
