"""`jetproof doctor`: what this machine can run, what it cannot, and how to fix that."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, write_json

if TYPE_CHECKING:
    from jetproof.cli.common import Commands


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "doctor", "Tell what this machine can run, and how to fix it.")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.engine.calibrate import time_factor
    from jetproof.sinks.paint import paint_for
    from jetproof.sinks.text import pad, visible
    from jetproof.targets.doctor_checks import can_run, examine

    findings = examine(time_factor)
    ready = can_run(findings)
    code = 0 if ready else 3
    if args.json:
        rows = [finding.document() for finding in findings]
        write_json({"schema": 1, "findings": rows, "can_run": ready, "exit_code": code})
        return code
    paint = paint_for(sys.stdout)
    size = max(len(finding.name) for finding in findings)
    for finding in findings:
        look = "green" if finding.ok else "alarm" if finding.needed else "yellow"
        state = "ok" if finding.ok else "missing"
        sys.stdout.write(
            f"{paint.style(pad(state, 7), look)}  {pad(finding.name, size)}  "
            f"{visible(finding.detail, 400)}\n"
        )
        if not finding.ok:
            indent = " " * (9 + size + 2)
            sys.stdout.write(f"{indent}{paint.dim(f'for: {finding.purpose}')}\n")
            sys.stdout.write(f"{indent}{paint.bold(f'fix: {finding.fix}')}\n")
    told = "`jetproof run` works here" if ready else "`jetproof run` does not work here yet"
    sys.stdout.write(f"\n{told}\n")
    return code
