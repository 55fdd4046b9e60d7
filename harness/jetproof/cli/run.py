"""`jetproof run`: play cases on targets and judge them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_command,
    add_edition,
    add_laws,
    add_selection,
    add_servers,
    at_least_one,
    local_path,
    shard,
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
    parser.add_argument(
        "-j",
        "--jobs",
        type=at_least_one,
        metavar="N",
        help="server processes at the same time (default: 8)",
    )
    add_report_files(parser)
    parser.add_argument(
        "--out",
        type=local_path,
        metavar="DIR",
        help="the run's folder (default: jetproof-runs/<run id>)",
    )
    parser.add_argument("-x", "--fail-fast", action="store_true", help="stop at the first failure")
    parser.add_argument("--shard", type=shard, metavar="I/N", help="play the I-th of N parts")
    parser.add_argument(
        "--per-case",
        action="store_true",
        help="give every case on a target cover: servers of its own, to know what each reaches",
    )
    parser.add_argument("--resume", type=Path, metavar="DIR", help="finish the run of that folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play what was asked for; the exit code tells how it went."""
    import asyncio

    from jetproof.cli.running import Request, execute, resumed

    request = Request(
        patterns=tuple(args.patterns),
        servers=tuple(args.servers),
        clauses=tuple(args.clauses),
        specs=tuple(args.specs),
        shard=args.shard,
        per_case=args.per_case,
        edition=args.edition,
        laws=args.laws,
    )
    earlier = None
    if args.resume is not None:
        request, earlier = resumed(args.resume, request, args.out)
    return asyncio.run(execute(args, request, earlier))
