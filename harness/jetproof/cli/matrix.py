"""`jetproof matrix`: every case on every release."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_command,
    add_edition,
    add_laws,
    add_selection,
    at_least_one,
    local_path,
    shard,
)
from jetproof.cli.report_files import add_report_files

if TYPE_CHECKING:
    from jetproof.cli.common import Commands

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
    parser.add_argument(
        "-j",
        "--jobs",
        type=at_least_one,
        metavar="N",
        help="server processes at the same time (default: 8 for each core, at most 32)",
    )
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
    parser.add_argument(
        "--out",
        type=local_path,
        metavar="DIR",
        help="the run's folder (default: jetproof-runs/<run id>)",
    )
    parser.add_argument("--shard", type=shard, metavar="I/N", help="play the I-th of N parts")
    parser.add_argument("--resume", type=Path, metavar="RUN", help="finish the run of that folder")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Play what was asked for; the exit code tells how it went."""
    import asyncio

    from jetproof.cli.matrix_running import execute

    return asyncio.run(execute(args))
