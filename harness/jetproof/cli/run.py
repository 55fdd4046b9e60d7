"""`jetproof run`: play cases on targets and judge them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_command,
    add_edition,
    add_jobs,
    add_laws,
    add_out,
    add_parts,
    add_selection,
    add_servers,
    request_of,
    say,
    settings_of,
)
from jetproof.cli.report_files import add_report_files

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "run", "Play cases on servers and judge what is seen.")
    add_selection(parser)
    add_servers(parser)
    add_edition(parser)
    add_laws(parser)
    add_jobs(parser)
    add_report_files(parser)
    add_out(parser)
    parser.add_argument("-x", "--fail-fast", action="store_true", help="stop at the first failure")
    add_parts(parser)
    parser.add_argument(
        "--per-case",
        action="store_true",
        help="give every case on a target cover: servers of its own, to know what each reaches",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play what was asked for; the exit code says how it went."""
    import asyncio

    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from jetproof.campaigns.resume import resumed
    from jetproof.campaigns.run import plan_run
    from jetproof.cli.run_folder import play_campaign
    from jetproof.load.library import load_library

    request, earlier = request_of(args), None
    if args.resume is not None:
        request, earlier = resumed(args.resume, request, others=args.out is not None)
    campaign = await plan_run(
        load_library(),
        request,
        settings_of(args),
        earlier=earlier,
        fail_fast=args.fail_fast,
        notify=say,
    )
    return await play_campaign(args, campaign)
