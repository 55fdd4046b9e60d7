"""`jetproof smoke`: is an adapter broken? Conformance is what `jetproof gate` judges."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, say, write_json
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.targets.clients.smoke import Smoke

_LOOKS = {"ok": "green", "note": "cyan", "broken": "bold red", "n/a": "dim"}
_LONGEST = 240


def add_parser(commands: Commands) -> None:
    about = "Tell a broken adapter from a library that does not conform."
    parser = add_command(commands, "smoke", about)
    parser.add_argument(
        "-c",
        "--client",
        required=True,
        metavar="CLIENT",
        help="python:nats-py, go:nats.go@1.54.0, reference, ./my-adapter, or a folder",
    )
    parser.add_argument(
        "-s", "--server", default="latest", metavar="TARGET", help="what to try it on"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    import asyncio

    from jetproof.engine.calibrate import time_factor
    from jetproof.targets.clients.smoke import smoke_named

    smoked = asyncio.run(smoke_named(args.client, args.server, time_factor(), say))
    code = 1 if smoked.broken else 0
    if args.json:
        write_json(_document(smoked, code))
    else:
        _print(smoked, verbose=args.verbose)
    return code


def _document(smoked: Smoke, code: int) -> dict[str, object]:
    hello = smoked.hello
    said = None
    if hello is not None:
        said = {
            "library": hello.library,
            "version": hello.version,
            "language": hello.language,
            "runtime": hello.runtime,
            "parts": dict(hello.parts),
            "capabilities": sorted(hello.capabilities),
            "claims": dict(hello.claims),
        }
    rows = [
        {"name": finding.name, "outcome": finding.outcome, "detail": finding.detail}
        for finding in smoked.findings
    ]
    return {
        "schema": 1,
        "client": smoked.client,
        "server": str(smoked.server),
        "hello": said,
        "findings": rows,
        "broken": smoked.broken,
        "exit_code": code,
    }


def _print(smoked: Smoke, *, verbose: bool) -> None:
    from jetproof.sinks.console.lines import ALARM, Part, dim, line, pad
    from jetproof.sinks.console.screen import Screen
    from jetproof.sinks.console.tables import table_lines
    from jetproof.sinks.text import visible

    screen = Screen(sys.stdout)
    shown = [one for one in smoked.findings if one.outcome != "n/a" or verbose]
    rows: list[list[Part]] = [
        [
            (pad(one.outcome, 6), _LOOKS[one.outcome]),
            one.name,
            visible(one.detail, None if verbose else _LONGEST),
        ]
        for one in shown
    ]
    lines = table_lines(None, rows, screen.layout)
    for one in shown:
        if one.said:
            lines.append(line(f"{one.name}: ", dim("the adapter's standard error ends with:")))
            lines += map(line, one.said.split("\n"))
    counts = {kind: sum(f.outcome == kind for f in smoked.findings) for kind in _LOOKS}
    lacking = f", {counts['n/a']} not tried" * bool(counts["n/a"])
    notes, broken = plural(counts["note"], "note"), counts["broken"]
    lines.append(line())
    lines.append(
        line(
            f"{smoked.client} on {smoked.server}: {counts['ok']} ok, {notes}, {broken} broken{lacking}"
        )
    )
    if smoked.broken:
        lines.append(line(("the adapter is broken: nothing it says can be judged", ALARM)))
    else:
        lines.append(line("the adapter does its part; `jetproof gate` judges the library"))
    screen.print(lines)
