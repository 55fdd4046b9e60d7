"""`jetproof doctor`: what this machine can run, what it cannot, and how to fix that."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Literal

from jetproof.cli.common import add_command, write_json

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.results.documents.library import DoctorFinding
    from jetproof.targets.doctor_checks import Finding


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "doctor", "Tell what this machine can run, and how to fix it.")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.engine.calibrate import time_factor
    from jetproof.results.documents.library import DoctorDocument
    from jetproof.sinks.console.lines import ALARM, Part, bold, dim, line, pad
    from jetproof.sinks.console.screen import Screen
    from jetproof.sinks.console.tables import table_lines
    from jetproof.sinks.text import visible
    from jetproof.targets.doctor_checks import can_run, examine

    findings = examine(time_factor)
    ready = can_run(findings)
    code: Literal[0, 3] = 0 if ready else 3
    if args.json:
        write_json(
            DoctorDocument(
                schema=1, findings=list(map(_row, findings)), can_run=ready, exit_code=code
            )
        )
        return code
    screen = Screen(sys.stdout)
    table: list[list[Part]] = []
    for finding in findings:
        look = "green" if finding.ok else ALARM if finding.needed else "yellow"
        state = "ok" if finding.ok else "missing"
        table.append([(pad(state, 7), look), finding.name, visible(finding.detail, 400)])
        if not finding.ok:
            table.append(["", "", dim(f"for: {finding.purpose}")])
            table.append(["", "", bold(f"fix: {finding.fix}")])
    conclusion = "`jetproof run` works here" if ready else "`jetproof run` does not work here yet"
    screen.print([*table_lines(None, table, screen.layout), line(), line(conclusion)])
    return code


def _row(finding: Finding) -> DoctorFinding:
    from jetproof.results.documents.library import DoctorFinding

    return DoctorFinding(
        name=finding.name,
        ok=finding.ok,
        detail=finding.detail,
        purpose=finding.purpose,
        fix=finding.fix,
        needed=finding.needed,
    )
