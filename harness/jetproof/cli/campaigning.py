"""What commands share that play a selection for one question: `soak`, `controls`."""

from __future__ import annotations

import argparse
from dataclasses import replace

from jetproof.campaigns.selecting import select_cases
from jetproof.cli.common import laws_of
from jetproof.cli.running import Request
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, fresh_run_id
from jetproof.load.library import Library
from jetproof.plan import Selected

DEFAULT_TARGETS = ("latest",)


def selection_of(
    args: argparse.Namespace, library: Library, *, for_clients: bool | None = False
) -> tuple[Request, Selected]:
    """What was asked for, and the items that it names."""
    request = Request(
        tuple(args.patterns),
        tuple(args.servers),
        tuple(args.clauses),
        tuple(args.specs),
        laws=args.laws,
    )
    return request, select_cases(library, request.selection, for_clients=for_clients)


def options_of(args: argparse.Namespace) -> RunOptions:
    """How to play it, under a new id."""
    options = RunOptions(
        run=fresh_run_id(),
        time_factor=time_factor(),
        command=tuple(args.command_line),
        laws=laws_of(args),
    )
    if args.jobs is None:
        return options
    return replace(options, servers_at_once=args.jobs)
