"""`jetproof replay`: one case, its whole transcript, and the server kept alive on request."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, spec_revision

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "replay", "Play one case and show every frame.")
    parser.add_argument(
        "case",
        nargs="+",
        metavar="CASE",
        help="a case id, or a cell's full name such as 'adr-50/...::... @2.14.6 single'",
    )
    parser.add_argument(
        "-s",
        "--server",
        metavar="TARGET",
        help="what to test (default: that of the cell's name, or latest)",
    )
    parser.add_argument(
        "--client",
        metavar="CLIENT",
        help="the library, for a case about clients (default: that of the cell's name)",
    )
    parser.add_argument(
        "--spec",
        type=spec_revision,
        metavar="SPEC@REV",
        help="judge it by that revision (default: that of the cell's name, or the case's own)",
    )
    parser.add_argument(
        "--keep-server",
        action="store_true",
        help="keep the server until Ctrl-C, so that it can be looked at",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import asyncio

    from jetproof.cli.replaying import execute

    law = args.spec or law_of(args.case)
    client = args.client or client_of(args.case)
    return asyncio.run(execute(args, *split_name(args.case, args.server), law, client))


def split_name(words: list[str], server: str | None) -> tuple[str, str]:
    """The case and the target that a cell's name, or a case id and an option, ask for."""
    case, _, place = " ".join(words).partition(" @")
    named = place.split(" ")[0]
    return case.strip(), server or named or "latest"


def client_of(words: list[str]) -> str | None:
    """The library in a cell's name: `suite::case @2.15.1 single go:nats.go@1.55.0 adr-50@10`."""
    found = re.search(r" @\S+ .*?(\S*[:/]\S+@\S+|reference@\S+)", " ".join(words))
    if found is None:
        return None
    name = found[1]
    return "reference" if name.startswith("reference@") else name


def law_of(words: list[str]) -> tuple[str, int] | None:
    """The revision that a cell's name ends with, if it names one: adr-50@10."""
    found = re.search(r" @\S+ .*?([a-z0-9-]+)@(\d+)$", " ".join(words))
    return (found[1], int(found[2])) if found else None
