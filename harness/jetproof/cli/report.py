"""`jetproof report`: the page, the summary and the tables of one or more runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, local_path, write_json
from jetproof.errors import JetproofError
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from jetproof.cli.common import Commands

DEFAULT_OUT = Path("jetproof-report")


def add_parser(commands: Commands) -> None:
    about = "Make the report of runs: one page, a summary, a badge, and every table. Needs Java."
    parser = add_command(commands, "report", about)
    parser.add_argument("runs", nargs="*", type=local_path, metavar="RUN", help="a run's folder")
    parser.add_argument(
        "--out",
        type=local_path,
        default=DEFAULT_OUT,
        metavar="DIR",
        help=f"where to write the report (default: {DEFAULT_OUT})",
    )
    add_spark(parser)
    parser.set_defaults(run=run)


def add_spark(parser: argparse.ArgumentParser) -> None:
    """Where the runs are kept and who computes."""
    parser.add_argument(
        "--history",
        type=local_path,
        metavar="DIR",
        help="keep the runs in this folder, and read all that it keeps",
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="a Spark master or Spark Connect server, such as spark://host:7077 or sc://host "
        "(default: local[*], this process)",
    )


def need_reports(command: str) -> None:
    """Say how to get what is missing before anything is read."""
    try:
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        raise JetproofError(
            f"`jetproof {command}` needs the extra `reports`: {error}",
            phase="start",
            hint="pip install 'jetproof[reports]'",
        ) from error


def run(args: argparse.Namespace) -> int:
    if not args.runs and args.history is None:
        raise JetproofError(
            "no run to report on",
            phase="plan",
            hint="name the folders of one or more runs, or a --history that keeps some",
        )
    need_reports("report")
    from jetproof.results.documents.analysis import ReportDocument
    from jetproof.sinks.text import visible
    from jetproof_reports.build import build
    from jetproof_reports.session import open_session

    with open_session(args.master) as spark:
        report = build(args.runs, args.out, spark=spark, history=args.history)
    files = {"page": report.page, "summary": report.summary, "badge": report.badge}
    if args.json:
        write_json(
            ReportDocument(
                schema=1,
                out=str(report.out),
                page=str(report.page),
                summary=str(report.summary),
                badge=str(report.badge),
                runs=list(report.runs),
                tables=dict(report.rows),
                exit_code=0,
            )
        )
        return 0
    told = f"{plural(len(report.runs), 'run')}, {plural(report.rows['matrix'], 'cell')}"
    sys.stdout.write(f"report of {told}\n")
    for name, path in files.items():
        sys.stdout.write(f"  {name:<8} {visible(str(path))}\n")
    sys.stdout.write(f"  {'tables':<8} {visible(str(report.out / 'tables'))}\n")
    return 0
