"""The commands and their options. Importing this must stay cheap: `--help` needs nothing else."""

from __future__ import annotations

import argparse

from jetproof import __version__
from jetproof.cli import (
    bisect,
    clauses,
    clients,
    compare,
    controls,
    coverage,
    diff,
    doctor,
    editions,
    gate,
    ledger,
    list_cases,
    matrix,
    merge,
    mutate,
    positions,
    releases,
    replay,
    report,
    run,
    schema,
    smoke,
    soak,
    spec_check,
    spec_diff,
    validate,
)

_ABOUT = (
    "Proves on the wire whether NATS servers and clients speak JetStream as its specifications say."
)
_EPILOG = """\
exit codes:
  0  conforms                                2  the request or a case file is wrong
  1  does not conform                        3  no verdict could be given for some cell

targets:
  2.15.1  2.12.*  '>=2.12.0 <2.14'  latest   releases, fetched or built on first use
  container:2.14.6                           the release in a container
  go:2.15.2  go:2.15.0-RC.1                  any version of the Go module, built on first use
  path:./nats-server  path:../checkout       any build; a checkout is built at its state
  path:../checkout@main                      a commit of a checkout
  nats://127.0.0.1:4222                      a server that somebody else runs

`jetproof doctor` tells what this machine can run.
"""


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="jetproof",
        description=_ABOUT,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"jetproof {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (
        run,
        gate,
        compare,
        ledger,
        clients,
        smoke,
        matrix,
        merge,
        bisect,
        list_cases,
        editions,
        clauses,
        coverage,
        positions,
        spec_diff,
        spec_check,
        validate,
        report,
        diff,
        replay,
        mutate,
        controls,
        soak,
        releases,
        doctor,
        schema,
    ):
        command.add_parser(commands)
    return parser
