"""The report files for CI: their options, and the sinks that write them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jetproof.model.case import Case
    from jetproof.sinks.files import RunFolder
    from jetproof.sinks.report_file import ReportFile

_HELP = {"junit": "write JUnit XML", "ctrf": "write a CTRF report, which is JSON"}


def add_report_files(parser: argparse.ArgumentParser) -> None:
    """One option per format."""
    for name, about in _HELP.items():
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=about)


def open_report_files(
    args: argparse.Namespace,
    folder: RunFolder,
    cases: Iterable[Case],
    exit_code: Callable[[], int | None],
) -> list[ReportFile]:
    """The files that were asked for, each proven writable. If one is not, the run's folder closes."""
    from jetproof.errors import JetproofError
    from jetproof.sinks.ctrf import Ctrf
    from jetproof.sinks.junit import JUnit
    from jetproof.sinks.report_file import Facts

    sinks: dict[str, type[ReportFile]] = {"junit": JUnit, "ctrf": Ctrf}
    facts = Facts({case.id: (case.file, case.line) for case in cases}, exit_code)
    asked = {name: path for name in _HELP if (path := getattr(args, name)) is not None}
    try:
        return [sinks[name].create(path, facts) for name, path in asked.items()]
    except JetproofError:
        folder.close()
        raise
