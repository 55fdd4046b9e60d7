"""`jetproof mutate`: can the cases fail? Plays them against servers that are wrong on purpose."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, add_jobs, add_laws, say, settings_of, write_json
from jetproof.model.patterns import ABOUT_PATTERNS

if TYPE_CHECKING:
    from jetproof.campaigns.mutate import Mutation, Trial
    from jetproof.cli.common import Commands
    from jetproof.model.verdict import Cell


def add_parser(commands: Commands) -> None:
    about = "Play cases against servers that are wrong on purpose: what is caught, what is not."
    parser = add_command(commands, "mutate", about)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help=ABOUT_PATTERNS)
    parser.add_argument(
        "--mutant",
        action="append",
        default=[],
        metavar="ID",
        dest="mutants",
        help="only this mutant (a glob is fine; may be repeated)",
    )
    parser.add_argument(
        "-s", "--server", default="latest", metavar="TARGET", help="what to make wrong"
    )
    add_jobs(parser, "mutants at the same time (default: 3)")
    parser.add_argument(
        "--client",
        metavar="CLIENT",
        help="make a client wrong instead: reference, whose knobs are then the mutants",
    )
    add_laws(parser)
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for a page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_execute(args))


async def _execute(args: argparse.Namespace) -> int:
    from jetproof.campaigns.interrupts import Interrupts, attended
    from jetproof.sinks.mutate_report import MutateReport, markdown

    campaign = await _planned(args)
    report = MutateReport(sys.stderr if args.json or args.markdown else sys.stdout)
    interrupts = Interrupts(campaign.stop, notify=report.say)
    report.begin(len(campaign.mutants))
    try:
        async with attended(interrupts, report.tick) as owner:
            await campaign.play(report.handle, owner)
    finally:
        report.close()
    code = interrupts.exit_code or campaign.exit_code
    if args.json:
        write_json(_document(campaign, code))
    elif args.markdown:
        sys.stdout.write(markdown(campaign))
    elif interrupts.signal is None:
        report.end(campaign)
    return code


async def _planned(args: argparse.Namespace) -> Mutation:
    from jetproof.campaigns.mutate import plan_mutation
    from jetproof.campaigns.mutate_clients import plan_client_mutation
    from jetproof.load.library import load_library
    from jetproof.plan import Selection

    library, selection = load_library(), Selection(tuple(args.patterns))
    wanted = (selection, args.server, args.mutants, settings_of(args), say)
    if args.client is None:
        return await plan_mutation(library, *wanted)
    return await plan_client_mutation(library, args.client, *wanted)


def _document(campaign: Mutation, code: int) -> dict[str, object]:
    return {
        "schema": 1,
        "target": campaign.targets[0].name,
        "mutants": [_trial(trial) for trial in campaign.trials],
        "never_failed": [
            {"case": one.case, "mutants": list(one.mutants)} for one in campaign.never_failed
        ],
        "exit_code": code,
    }


def _trial(trial: Trial) -> dict[str, object]:
    return {
        "mutant": trial.mutant.id,
        "about": trial.mutant.about,
        "breaks": list(trial.mutant.breaks),
        "outcome": trial.outcome.value,
        "fired": dict(trial.fired),
        "caught_by": [_cell(cell) for cell in trial.caught_by],
        "played": [_cell(cell) for cell in trial.played],
    }


def _cell(cell: Cell) -> dict[str, object]:
    return {"case": cell.case, "verdict": cell.verdict.value, "reason": cell.reason}
