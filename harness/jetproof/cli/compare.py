"""`jetproof compare`: what differs between two servers, or two versions of a library?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_command,
    add_laws,
    add_selection,
    add_servers,
    at_least_one,
    local_path,
)

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    about = "Compare two servers, or two versions of a client library: is head worse than base?"
    parser = add_command(commands, "compare", about)
    parser.usage = (
        "jetproof compare BASE HEAD [PATTERN ...] [options]\n"
        "       jetproof compare --client BASE HEAD [--server TARGET] [options] [-- PATTERN ...]"
    )
    add_selection(parser)
    add_servers(parser)
    add_laws(parser)
    parser.add_argument(
        "--client",
        nargs=2,
        metavar=("BASE", "HEAD"),
        dest="clients",
        help="two libraries or versions of one: go:nats.go@1.54.0 go:nats.go@1.55.0, ./a ./b",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a selection for every pull request: less than 5 minutes on 2 cores",
    )
    parser.add_argument(
        "--fail-on",
        choices=("worse", "changed", "wire"),
        default="worse",
        help="what exits with 1: head breaks what base keeps (default), or besides that any change "
        "where the text is silent, or any difference on the wire",
    )
    parser.add_argument(
        "--markdown",
        type=local_path,
        metavar="FILE",
        help="write the comment for a pull request here too (always in the folder: compare.md)",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=at_least_one,
        metavar="N",
        help="server processes of each side at the same time (default: 4)",
    )
    parser.add_argument(
        "--out",
        type=local_path,
        metavar="DIR",
        help="the comparison's folder (default: jetproof-runs/compare-<id>)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 if head is not worse, 1 if it is, 3 if some cell has no verdict."""
    import asyncio

    from jetproof.cli.comparing import execute

    return asyncio.run(execute(args))
