"""`jetproof bisect`: the first release, or commit, in which a case has another verdict."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, add_laws
from jetproof.model.patterns import ABOUT_PATTERNS

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "bisect", "Find the first release or commit in which a case has another verdict."
    )
    parser.add_argument("case", metavar="CASE", help=f"one case: {ABOUT_PATTERNS}")
    parser.add_argument(
        "-s",
        "--servers",
        "--server",
        action="append",
        default=[],
        metavar="TARGETS",
        help="where to look, such as '2.12.*,2.14.*' (default: every known release), or one "
        "checkout, path:../nats-server, with --good",
    )
    parser.add_argument(
        "--against",
        metavar="RELEASE",
        help="the release to compare with; only newer ones are looked at (default: the oldest)",
    )
    parser.add_argument(
        "--candidates",
        action="store_true",
        help="look at the release candidates between these releases as well (built with Go)",
    )
    parser.add_argument(
        "--good", metavar="REV", help="search commits of a checkout: where the search begins"
    )
    parser.add_argument("--bad", metavar="REV", help="where it ends (default: HEAD)")
    add_laws(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Look for it; 0 means that the question was answered, 3 that some verdict is missing."""
    import asyncio

    if args.good is not None or args.bad is not None:
        from jetproof.cli.bisect_commits import execute as search_commits

        return asyncio.run(search_commits(args))
    from jetproof.cli.bisect_search import execute

    return asyncio.run(execute(args))
