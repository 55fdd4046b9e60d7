"""`jetproof replay`: one case, its whole transcript, and the server kept alive on request."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_command,
    add_laws,
    say,
    settings_of,
    spec_revision,
    write_json,
)

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "replay", "Play one case and show every frame.")
    parser.add_argument(
        "case",
        nargs="+",
        metavar="CASE",
        help="a case id, or a cell's full name such as 'adr-50/...::... @2.14.6 single'",
    )
    parser.add_argument(
        "-s",
        "--server",
        metavar="TARGET",
        help="what to test (default: that of the cell's name, or latest)",
    )
    parser.add_argument(
        "--client",
        metavar="CLIENT",
        help="the library, for a case about clients (default: that of the cell's name)",
    )
    parser.add_argument(
        "--spec",
        type=spec_revision,
        metavar="SPEC@REV",
        help="judge it by that revision (default: that of the cell's name, or the case's own)",
    )
    add_laws(parser)
    parser.add_argument(
        "--keep-server",
        action="store_true",
        help="keep the server until Ctrl-C, so that it can be looked at",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 if the target conforms, 1 if not, 3 if there is no verdict."""
    import asyncio

    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from dataclasses import replace

    from jetproof.campaigns.interrupts import Interrupts, attended
    from jetproof.campaigns.replay import plan_replay, wanted
    from jetproof.load.library import load_library
    from jetproof.sinks import FanOut
    from jetproof.sinks.console.screen import Screen
    from jetproof.sinks.replay_report import ReplayConsole, replay_document

    cell = wanted(" ".join(args.case))
    cell = replace(
        cell,
        server=args.server or cell.server,
        revision=args.spec or cell.revision,
        client=args.client or cell.client,
    )
    campaign = await plan_replay(load_library(), cell, settings_of(args), notify=say)
    screen = Screen(sys.stderr if args.json else sys.stdout)
    console = ReplayConsole(screen, campaign.case.id, args.verbose)
    interrupts = Interrupts(campaign.stop, notify=console.say)
    if args.keep_server:
        campaign.keep_server(interrupts, console.say)
    fan = FanOut([console])
    try:
        async with attended(interrupts) as owner:
            await campaign.play(fan, owner)
    finally:
        fan.close()
    code = interrupts.exit_code or campaign.exit_code
    if args.json:
        write_json(replay_document(campaign.id, console.finished, code))
    return code
