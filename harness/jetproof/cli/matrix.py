"""`jetproof matrix`: every case on every release."""

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
    at_least_one,
    request_of,
    say,
    settings_of,
)
from jetproof.cli.report_files import add_report_files

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.results.documents.playing import RunDocument

BUDGET_SECONDS = 1200


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "matrix", "Play cases on many releases, side by side.")
    add_selection(parser)
    parser.add_argument(
        "-s",
        "--servers",
        action="append",
        default=[],
        metavar="TARGETS",
        help="what to test, such as '2.10.*,2.12.*,2.15.1,path:./nats-server' "
        "(may be repeated; default: every known release)",
    )
    parser.add_argument(
        "--provider",
        choices=("container", "embedded"),
        help="where releases run (default: in containers if a Docker engine answers)",
    )
    add_jobs(parser, "server processes at the same time (default: 8 for each core, at most 32)")
    parser.add_argument(
        "--budget",
        type=at_least_one,
        default=BUDGET_SECONDS,
        metavar="SECONDS",
        help="the most that one release may take; what it has not played by then is an error "
        f"(default: {BUDGET_SECONDS})",
    )
    add_edition(parser)
    add_laws(parser)
    add_report_files(parser)
    add_out(parser)
    add_parts(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play what was asked for; the exit code says how it went."""
    import asyncio

    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from msgspec.structs import asdict

    from jetproof.campaigns.matrix import plan_matrix
    from jetproof.campaigns.resume import resumed
    from jetproof.cli.run_folder import play_campaign
    from jetproof.load.library import load_library
    from jetproof.results.documents.playing import MatrixDocument
    from jetproof.sinks.console.summary import SummaryOptions
    from jetproof.sinks.releases import Board

    request, earlier = request_of(args), None
    if args.resume is not None:
        others = args.out is not None or args.provider is not None
        request, earlier = resumed(args.resume, request, others=others)
    campaign = await plan_matrix(
        load_library(),
        request,
        settings_of(args),
        provider=args.provider,
        budget=args.budget,
        earlier=earlier,
        notify=say,
    )
    board = Board(campaign.expected, campaign.side_by_side)

    def document_of(run: RunDocument) -> MatrixDocument:
        return MatrixDocument(
            **asdict(run), provider=campaign.where.provider, releases=board.rows()
        )

    summary = SummaryOptions(command="matrix", reasons=0)
    heading = campaign.where.heading
    return await play_campaign(
        args, campaign, summary=summary, board=board, heading=heading, document_of=document_of
    )
