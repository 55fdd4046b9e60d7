"""`jetproof ledger`: the ledger of a client library as it should be after a run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "ledger", "Propose the ledger of a client library that a run of gate asks for."
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder of a run of gate")
    parser.add_argument(
        "--client", required=True, metavar="CLIENT", help="the library, as in go:nats.go"
    )
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="the ledger as it is (default: the one beside the adapter, if there is one)",
    )
    parser.add_argument(
        "--edition",
        metavar="NAME",
        help="propose the move to this edition, such as 2026.11 or latest, and show what it makes red "
        "(default: the ledger keeps its edition)",
    )
    parser.add_argument(
        "--write", action="store_true", help="write it into the file, instead of printing it"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.cli.proposing import execute

    return execute(args)
