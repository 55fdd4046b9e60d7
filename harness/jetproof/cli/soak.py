"""`jetproof soak`: play a selection many times; which cells are not the same in every round?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jetproof.cli.common import add_campaign, add_command, at_least_one

if TYPE_CHECKING:
    from jetproof.cli.common import Commands

ROUNDS = 5


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

    from jetproof.cli.soaking import execute

    return asyncio.run(execute(args))
