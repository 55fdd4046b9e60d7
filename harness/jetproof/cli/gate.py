"""`jetproof gate`: judge client libraries behind the wire tap."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_command,
    add_edition,
    add_jobs,
    add_laws,
    add_out,
    add_selection,
    add_servers,
    request_of,
    say,
    settings_of,
)
from jetproof.cli.report_files import add_report_files

if TYPE_CHECKING:
    from jetproof.cli.common import Commands

_REASONS = 6
"""So many reasons why cases do not apply to one library."""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "gate", "Judge a client library by what it puts on the wire and tells its caller."
    )
    add_selection(parser)
    add_servers(parser)
    parser.add_argument(
        "--client",
        action="append",
        dest="clients",
        default=[],
        metavar="CLIENT",
        help="python:nats-py, go:nats.go@1.55.0, ./my-adapter, reference; may be repeated",
    )
    parser.add_argument("--all", action="store_true", help="every library that Jetproof knows")
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="known failures of the library (default: the bundled ledger)",
    )
    add_edition(parser, "the one that the ledger names, else every case is scored")
    add_laws(parser)
    add_report_files(parser)
    add_out(parser)
    add_jobs(
        parser,
        "adapter processes of a library at the same time (default: 20, of many libraries 4)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judge the libraries; the exit code says how it went."""
    import asyncio

    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from msgspec.structs import asdict

    from jetproof.campaigns.gate import plan_gate
    from jetproof.cli.run_folder import play_campaign
    from jetproof.load.library import load_library
    from jetproof.results.documents.playing import GateDocument
    from jetproof.sinks.console.summary import SummaryOptions

    campaign = await plan_gate(
        load_library(),
        request_of(args),
        settings_of(args),
        clients=args.clients,
        every_client=args.all,
        ledger=args.ledger,
        notify=say,
    )
    summary = SummaryOptions(
        command="gate",
        resumable=False,
        reasons=_REASONS if len(campaign.judged) == 1 else 2,
        besides=campaign.besides,
    )
    return await play_campaign(
        args,
        campaign,
        summary=summary,
        introductions=campaign.introductions,
        document_of=lambda run: GateDocument(**asdict(run), libraries=list(campaign.libraries)),
    )
