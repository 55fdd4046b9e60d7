"""`jetproof controls`: does a case that is about an optional feature need that feature?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_campaign,
    add_command,
    local_path,
    request_of,
    say,
    settings_of,
    write_json,
)

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    about = (
        "Play cases without the optional feature that they are about: those that pass are vacuous."
    )
    parser = add_command(commands, "controls", about)
    add_campaign(
        parser,
        "the run's folder, if the cases are played first (default: jetproof-runs/<id>)",
    )
    parser.add_argument(
        "--run",
        type=local_path,
        metavar="DIR",
        dest="folder",
        help="a run, of servers or of client libraries (gate), whose cells that pass get controls; "
        "without it, the cases are played first",
    )
    parser.add_argument(
        "--sent",
        action="store_true",
        help="also without features that a case, or the library that it judges, sends and that the "
        "case does not declare",
    )
    parser.add_argument(
        "--undeclared",
        action="store_true",
        help="play nothing: list cases that send a feature and do not declare it",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 if every case needs its feature, 1 if not, 3 if some control got no verdict."""
    import asyncio

    return _list_undeclared(args) if args.undeclared else asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from jetproof.campaigns.controls_planning import plan_controls
    from jetproof.campaigns.interrupts import Interrupts, attended
    from jetproof.errors import JetproofError
    from jetproof.load.library import load_library
    from jetproof.results import read_run
    from jetproof.sinks import FanOut
    from jetproof.sinks.console.lines import line
    from jetproof.sinks.console.screen import Screen
    from jetproof.sinks.controls_report import control_lines, controls_document, write_controls
    from jetproof.sinks.files import DEFAULT_PARENT, RunFolder

    earlier = None if args.folder is None else read_run(args.folder)
    if earlier is not None and args.out is not None:
        raise JetproofError(
            "--out is for a run that is yet to be played",
            phase="plan",
            hint=f"controls of a run are kept in its folder, {earlier.folder}",
        )
    campaign = await plan_controls(
        load_library(),
        request_of(args),
        settings_of(args),
        earlier=earlier,
        sent=args.sent,
        notify=say,
    )

    def open_run() -> tuple[FanOut, Path]:
        place = args.out or Path(DEFAULT_PARENT) / campaign.id
        return FanOut([RunFolder.create(place, campaign.request.document())]), place

    interrupts = Interrupts(campaign.stop, notify=say)
    async with attended(interrupts) as owner:
        await campaign.play(open_run, owner, say)
    code = interrupts.exit_code or campaign.exit_code
    earlier = campaign.earlier
    if earlier is None:
        return code  # interrupted before the run was over
    write_controls(earlier, campaign.results)
    if args.json:
        write_json(controls_document(earlier, campaign.results, (), code))
    else:
        lines = control_lines(campaign.results, verbose=args.verbose)
        Screen(sys.stdout).print([*lines, line(f"results: {earlier.folder}")])
    return code


def _list_undeclared(args: argparse.Namespace) -> int:
    from jetproof.campaigns.controls import undeclared
    from jetproof.campaigns.selecting import select_cases
    from jetproof.load.library import load_library
    from jetproof.sinks.console.lines import line
    from jetproof.sinks.console.screen import Screen
    from jetproof.sinks.controls_report import controls_document, undeclared_lines

    library = load_library()
    selected = select_cases(library, request_of(args).selection, for_clients=None)
    found = undeclared(library, [item.case for item in selected.items])
    code = 1 if found else 0
    if args.json:
        write_json(controls_document(None, (), found, code))
    else:
        count = line(f"{len(found)} features that cases send and do not declare")
        Screen(sys.stdout).print([*undeclared_lines(found), count])
    return code
