"""`jetproof controls`: does a case that is about an optional feature need that feature?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jetproof.cli.common import add_campaign, add_command, local_path

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

    from jetproof.cli.controlling import execute

    return asyncio.run(execute(args))
