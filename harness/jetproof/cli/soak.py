"""`jetproof soak`: play a selection many times; which cells are not the same in every round?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_campaign,
    add_command,
    at_least_one,
    request_of,
    say,
    settings_of,
    write_json,
)

if TYPE_CHECKING:
    from jetproof.campaigns.interrupts import Interrupts
    from jetproof.campaigns.soak import Soak
    from jetproof.cli.common import Commands
    from jetproof.sinks.soak_report import About, SoakConsole

ROUNDS = 5
RESULT_FILE = "soak.json"


def add_parser(commands: Commands) -> None:
    about = "Play cases several times, perhaps under load: which cells change their verdict?"
    parser = add_command(commands, "soak", about)
    add_campaign(parser, "the soak's folder (default: jetproof-runs/soak-<id>)")
    parser.add_argument(
        "--rounds",
        type=at_least_one,
        default=ROUNDS,
        metavar="N",
        help=f"how often the selection is played, each time on fresh servers (default: {ROUNDS})",
    )
    parser.add_argument(
        "--load",
        type=at_least_one,
        metavar="CORES",
        help="keep so many cores and the disk busy during every round (default: no load)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 if every cell was the same in every round, 1 if not, 3 if some cell got no verdict."""
    import asyncio

    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from jetproof.campaigns.interrupts import Interrupts, attended
    from jetproof.campaigns.soak import plan_soak
    from jetproof.load.library import load_library
    from jetproof.sinks import FanOut
    from jetproof.sinks.files import DEFAULT_PARENT, RunFolder
    from jetproof.sinks.soak_report import SoakConsole

    soak = await plan_soak(
        load_library(),
        request_of(args),
        settings_of(args),
        rounds=args.rounds,
        load=args.load,
        notify=say,
    )
    place = args.out or Path(DEFAULT_PARENT) / f"soak-{soak.options.run.run}"
    _must_be_free(place)

    def folder_of(number: int) -> Path:
        return place / f"round-{number}"

    def open_round(number: int) -> FanOut:
        return FanOut([RunFolder.create(folder_of(number), soak.request)])

    stream = sys.stderr if args.json else sys.stdout
    console = SoakConsole(stream, _about(soak, str(place)), verbose=args.verbose)
    interrupts = Interrupts(soak.stop, notify=console.say)
    try:
        async with attended(interrupts, console.tick) as owner:
            await soak.play(open_round, owner, console)
    finally:
        console.close()
    return _report(args, soak, console, interrupts, folder_of)


def _report(
    args: argparse.Namespace,
    soak: Soak,
    console: SoakConsole,
    interrupts: Interrupts,
    folder_of: Callable[[int], Path],
) -> int:
    """Print what flipped, write the document, and return the exit code."""
    from jetproof.campaigns.interrupts import exit_code
    from jetproof.campaigns.soak import details
    from jetproof.errors import JetproofError
    from jetproof.sinks.files import write_document
    from jetproof.sinks.soak_report import flip_row, soak_document

    rows: list[dict[str, object]] = []
    for number, detail in enumerate(details(soak.flips, folder_of)):
        console.flip(number, detail)
        rows.append(flip_row(detail))
    failures = list(soak.failures)

    def code() -> int:
        return exit_code(interrupts, failures, lambda: soak.exit_code)

    interrupted = interrupts.signal is not None
    document = soak_document(console.about, soak, rows, interrupted, code())
    try:
        write_document(Path(console.about.results) / RESULT_FILE, document)
    except JetproofError as error:
        failures.append(error)
        document["exit_code"] = code()
    document["failures"] = [failure.message for failure in failures]
    console.end(soak, interrupted=interrupted, failures=failures)
    if args.json:
        write_json(document)
    return code()


def _about(soak: Soak, results: str) -> About:
    """What a soak plays, whose rounds are below the folder `results`."""
    from jetproof.sinks.soak_report import About
    from jetproof.targets.spec import redacted

    targets = soak.plan.targets
    return About(
        id=soak.options.run.run,
        rounds=soak.options.rounds,
        cells=soak.plan.cells,
        targets=tuple(redacted(target.name) for target in targets),
        shared=tuple(redacted(target.name) for target in targets if target.fixed is not None),
        partial=soak.plan.partial,
        load=soak.options.load,
        results=results,
    )


def _must_be_free(place: Path) -> None:
    from jetproof.errors import JetproofError

    if (place / RESULT_FILE).exists() or any(place.glob("round-*")):
        raise JetproofError(
            f"{place} holds another soak", phase="write", hint="choose another --out"
        )
