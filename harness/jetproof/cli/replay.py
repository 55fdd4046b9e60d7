"""`jetproof replay`: one case, its whole transcript, and the server kept alive on request."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, add_laws, spec_revision

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
    add_laws(parser)
    parser.add_argument(
        "--keep-server",
        action="store_true",
        help="keep the server until Ctrl-C, so that it can be looked at",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import asyncio

    from jetproof.cli.replaying import execute

    case, server, law, client = asked_for(" ".join(args.case))
    return asyncio.run(
        execute(args, case, args.server or server, args.spec or law, args.client or client)
    )


def asked_for(name: str) -> tuple[str, str, tuple[str, int] | None, str | None]:
    """What a cell's name asks for: the case, the target, the revision and the library."""
    from jetproof.model.identity import cell_id

    cell = cell_id(name)
    spec, at, number = cell.revision.partition("@")
    client = cell.client
    # Jetproof has its own reference client in one version only.
    library = None if client is None else client.library if client.is_reference else str(client)
    return cell.case, cell.server or "latest", (spec, int(number)) if at else None, library
