"""`jetproof diff`: what differs between two runs, releases or revisions, and what moved."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from jetproof.cli.common import add_command, local_text, write_json
from jetproof.cli.report import add_spark, need_reports

if TYPE_CHECKING:
    from rich.text import Text

    from jetproof.cli.common import Commands
    from jetproof.sinks.console.lines import Layout

SIDE = "a run's folder, perhaps one release of it or one revision: RUN, RUN@2.12.0, RUN@adr-50@10"
_LOOKS = {"new-failure": "bold red", "fixed": "green", "new": "dim", "gone": "dim"}
_SHOWN = 400


def add_parser(commands: Commands) -> None:
    about = "Tell what differs between two runs, releases or revisions of a specification."
    parser = add_command(commands, "diff", about)
    parser.add_argument("a", type=local_text, metavar="A", help=SIDE)
    parser.add_argument("b", type=local_text, metavar="B", help=SIDE)
    add_spark(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 if nothing fails on B that did not on A, else 1."""
    need_reports("diff")
    from msgspec import convert

    from jetproof.results.changes import KINDS
    from jetproof.results.documents.analysis import DiffChange, DiffCounts, DiffDocument
    from jetproof_reports.diff import compare, gathered, parse_side
    from jetproof_reports.session import open_session

    a, b = (parse_side(text, history=args.history is not None) for text in (args.a, args.b))
    with (
        gathered(a, b, args.history, args.master) as (kept, side_a, side_b),
        open_session(args.master) as spark,
    ):
        compared = compare(spark, kept, side_a, side_b)
    counts = {kind: sum(row["kind"] == kind for row in compared.rows) for kind in KINDS}
    code: Literal[0, 1] = 1 if counts["new-failure"] else 0
    if args.json:
        write_json(
            DiffDocument(
                schema=1,
                a=args.a,
                b=args.b,
                counts=convert(counts, DiffCounts),
                changes=[DiffChange(**row) for row in compared.rows],
                exit_code=code,
            )
        )
        return code
    _print(args, compared.rows, counts, compared.transcripts if args.verbose else {})
    return code


def _print(
    args: argparse.Namespace,
    rows: Sequence[Mapping[str, Any]],
    counts: Mapping[str, int],
    transcripts: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    from jetproof.sinks.console.lines import line
    from jetproof.sinks.console.screen import Screen

    screen = Screen(sys.stdout)
    lines = [line(f"from {args.a} to {args.b}")]
    for kind, count in counts.items():
        if count:
            lines += [line(), line((f"{kind} ({count})", _LOOKS.get(kind, "bold")))]
            for row in rows:
                if row["kind"] == kind:
                    lines += [*_lines(row, screen.layout), *_wire(row, transcripts)]
    found = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    screen.print([*lines, line(), line(found or "nothing differs")])


def _lines(row: Mapping[str, Any], layout: Layout) -> Iterator[Text]:
    from jetproof.sinks.console.lines import dim, line
    from jetproof.sinks.text import visible

    where = " ".join(filter(None, (row["case"], row["topology"], row["client"])))
    if row["server_a"] == row["server_b"]:
        where += f" @{row['server_a']}"
    moved = ", ".join(row["what_moved"])
    yield line(f"  {visible(where, _SHOWN)}", dim(f"  moved: {moved}" if moved else ""))
    for sign, side in (("-", "a"), ("+", "b")):
        parts = (row[f"verdict_{side}"], row[f"reason_{side}"], row[f"position_{side}"])
        text = layout.separator.join(visible(str(part), _SHOWN) for part in parts if part)
        yield line(f"    {sign} {text or 'not there'}")


def _wire(
    row: Mapping[str, Any], transcripts: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Iterator[Text]:
    """The lines of two transcripts that differ, for `-v`."""
    from jetproof.sinks.console.lines import line
    from jetproof.sinks.text import visible

    if row["kind"] != "changed-on-the-wire":
        return
    before, after = (
        [_line(frame) for frame in transcripts.get(row[f"fingerprint_{side}"], ())] for side in "ab"
    )
    for text in difflib.unified_diff(before, after, lineterm="", n=0):
        if text[:1] in "+-" and text[:3] not in ("---", "+++"):
            look = "red" if text[0] == "-" else "green"
            yield line("      ", (visible(text, _SHOWN), look))


def _line(line: Mapping[str, Any]) -> str:
    headers = " ".join(f"{item['name']}: {item['value']}" for item in line["headers"] or ())
    status = "" if line["status"] is None else str(line["status"])
    parts = [line[name] for name in ("step", "dir", "op", "subject")]
    parts += [status, line["description"], headers, line["payload"], line["note"]]
    return " ".join(str(part) for part in parts if part)
