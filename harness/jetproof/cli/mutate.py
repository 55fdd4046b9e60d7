"""`jetproof mutate`: can the cases fail? Plays them against servers that are wrong on purpose."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, add_laws, at_least_one
from jetproof.model.patterns import ABOUT_PATTERNS

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    about = "Play cases against servers that are wrong on purpose: what is caught, what is not."
    parser = add_command(commands, "mutate", about)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help=ABOUT_PATTERNS)
    parser.add_argument(
        "--mutant",
        action="append",
        default=[],
        metavar="ID",
        dest="mutants",
        help="only this mutant (a glob is fine; may be repeated)",
    )
    parser.add_argument(
        "-s", "--server", default="latest", metavar="TARGET", help="what to make wrong"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=at_least_one,
        default=3,
        metavar="N",
        help="mutants at the same time (default: 3)",
    )
    parser.add_argument(
        "--client",
        metavar="CLIENT",
        help="make a client wrong instead: reference, whose knobs are then the mutants",
    )
    add_laws(parser)
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for a page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import asyncio

    from jetproof.cli import mutating, mutating_clients

    execute = mutating.execute if args.client is None else mutating_clients.execute
    return asyncio.run(execute(args))
