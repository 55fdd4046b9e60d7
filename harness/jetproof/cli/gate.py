"""`jetproof gate`: judge client libraries behind the wire tap."""

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
)
from jetproof.cli.report_files import add_report_files

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


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
        help="known failures of the library (default: the one that Jetproof has of it)",
    )
    add_edition(parser, "the one that the ledger names, else every case is scored")
    add_laws(parser)
    add_report_files(parser)
    parser.add_argument(
        "--out",
        type=local_path,
        metavar="DIR",
        help="the run's folder (default: jetproof-runs/<run id>)",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=at_least_one,
        metavar="N",
        help="adapter processes of a library at the same time (default: 20, of many libraries 4)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judge the libraries; the exit code tells how it went."""
    import asyncio

    from jetproof.cli.gating import execute

    return asyncio.run(execute(args))
