"""`jetproof merge`: the shards of a run, joined into one run."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, local_path

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "merge", "Join the shards of a run into one run folder.")
    parser.add_argument("shards", nargs="+", type=Path, metavar="SHARD", help="a shard's folder")
    parser.add_argument(
        "--out", type=local_path, required=True, metavar="DIR", help="the folder of the joined run"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Join them; the exit code is that of the run which they make together."""
    from jetproof.cli.merge_folders import execute

    return execute(args)
