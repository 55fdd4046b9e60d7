"""`jetproof merge`: the shards of a run, joined into one run."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, local_path, write_json
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from jetproof.campaigns.merge import Merged
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
    from jetproof.campaigns.merge import merge

    merged = merge(args.shards, args.out)
    if args.json:
        write_json(_document(merged))
    else:
        _print(merged)
    return merged.exit_code


def _document(merged: Merged) -> dict[str, object]:
    joined, covered = merged.joined, merged.covered
    return {
        "schema": 1,
        "run": joined.id,
        "results": str(merged.folder),
        "shards": covered.rows,
        "missing": [list(part) for part in covered.missing],
        "cells": len(joined.latest),
        "played_again": joined.again,
        "verdicts": {verdict.value: count for verdict, count in joined.verdicts.items()},
        "partial": merged.document["partial"],
        "interrupted": merged.document["interrupted"],
        "exit_code": merged.exit_code,
    }


def _print(merged: Merged) -> None:
    from jetproof.sinks.console.lines import dim, line
    from jetproof.sinks.console.screen import Screen

    screen, joined = Screen(sys.stdout), merged.joined
    folders, cells = plural(len(joined.shards), "folder"), plural(len(joined.latest), "cell")
    again = f", {joined.again} of them played more than once" if joined.again else ""
    lines = [line(f"{folders} joined: {cells}{again}")]
    if partial := merged.document["partial"]:
        lines.append(line(dim(f"a partial run: {partial}")))
    lines.append(line(f"results: {merged.folder}"))
    counts = [f"{count} {verdict}" for verdict, count in joined.verdicts.items() if count]
    screen.print([*lines, *screen.layout.flow(counts)])
