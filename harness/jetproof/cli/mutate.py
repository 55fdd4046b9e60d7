"""`jetproof mutate`: can the cases fail? Plays them against servers that are wrong on purpose."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, add_laws, at_least_one, laws_of, say, write_json
from jetproof.model.patterns import ABOUT_PATTERNS

if TYPE_CHECKING:
    from jetproof.campaigns.interrupts import Interrupts
    from jetproof.campaigns.mutate import Mutated, Trial
    from jetproof.cli.common import Commands
    from jetproof.engine.run import RunOptions
    from jetproof.load.library import Library
    from jetproof.model.verdict import Cell
    from jetproof.sinks.mutate_report import MutateReport


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
    parser.add_argument(
        "-j",
        "--jobs",
        type=at_least_one,
        default=3,
        metavar="N",
        help="mutants at the same time (default: 3)",
    )
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
    from jetproof.campaigns.interrupts import Interrupts
    from jetproof.engine.run import Stop
    from jetproof.load.library import load_library
    from jetproof.sinks.mutate_report import MutateReport, markdown

    report = MutateReport(sys.stderr if args.json or args.markdown else sys.stdout)
    interrupts = Interrupts(Stop(), notify=report.say)
    play = _play_servers if args.client is None else _play_client
    result = await play(args, load_library(), interrupts, report)
    if args.json:
        write_json(_document(result))
    elif args.markdown:
        sys.stdout.write(markdown(result))
    elif not result.interrupted:
        report.end(result)
    return result.exit_code


async def _play_servers(
    args: argparse.Namespace, library: Library, interrupts: Interrupts, report: MutateReport
) -> Mutated:
    from jetproof.campaigns.mutate import choose, mutate, possible, target_to_mutate
    from jetproof.campaigns.selecting import select_cases
    from jetproof.plan import Selection

    items = select_cases(library, Selection(tuple(args.patterns))).items
    target = await target_to_mutate(args.server, say)
    mutants = choose(possible(library.mutants, target), items, args.mutants)
    return await mutate(
        library, target, items, mutants, _options(args), args.jobs, interrupts, report.handle
    )


async def _play_client(
    args: argparse.Namespace, library: Library, interrupts: Interrupts, report: MutateReport
) -> Mutated:
    from jetproof.campaigns.mutate_clients import check_has_knobs, mutate_client
    from jetproof.campaigns.selecting import select_cases
    from jetproof.plan import Selection
    from jetproof.targets.resolve import resolve

    check_has_knobs(args.client)
    chosen = select_cases(library, Selection(tuple(args.patterns)), for_clients=True)
    cases = [item.case for item in chosen.items]
    targets = await resolve([args.server], notify=say)
    return await mutate_client(
        library,
        targets,
        cases,
        args.mutants,
        _options(args),
        args.jobs,
        interrupts,
        report.handle,
    )


def _options(args: argparse.Namespace) -> RunOptions:
    from jetproof.engine.calibrate import time_factor
    from jetproof.engine.run import RunOptions, fresh_run_id

    return RunOptions(
        run=fresh_run_id(),
        time_factor=time_factor(),
        command=tuple(args.command_line),
        laws=laws_of(args),
    )


def _document(result: Mutated) -> dict[str, object]:
    return {
        "schema": 1,
        "target": result.target,
        "mutants": [_trial(trial) for trial in result.trials],
        "never_failed": [
            {"case": one.case, "mutants": list(one.mutants)} for one in result.never_failed
        ],
        "exit_code": result.exit_code,
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
