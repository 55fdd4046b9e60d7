"""`overview`: what matters, as the page and `summary.md` begin with it.

    lines      one sentence a target, newest release first; `first` marks the newest of each line
    news       cells that no ledger explains, by number, those that have all but the release in
               common together: unstable ones first, those that fail, those without a verdict
    groups     the known causes, worst first
    positions  how many cells took a position
    not_scored how many cells an edition leaves out, with their verdicts; empty if none

All of it is the digest of the harness (`jetproof.results.digest`): nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jetproof.model.identity import REFERENCE
from jetproof.model.verdict import Cell, Result, Verdict
from jetproof.results.digest import Digest, Group, digest, not_scored_line, span, subject_of
from jetproof.results.rows import plain
from jetproof_reports.newest import cell_of
from jetproof_reports.plain import Plain, Row, Tables, https, rows_of, text
from jetproof_reports.releases import release_key

Numbered = Sequence[tuple[int, Row]]
Known = Mapping[tuple[str | None, str], Row]


def overview_of(tables: Tables, held: Numbered) -> Plain:
    """The overview of the cells that count, each with its number."""
    known = {
        (row.get("library"), text(row.get("deviation"))): row
        for row in rows_of(tables, "deviations")
    }
    cells = [(number, cell_of(row, known)) for number, row in held]
    # The reference layer has its line, and counts for nothing else where releases were played.
    apart = [(number, cell) for number, cell in cells if cell.provider != REFERENCE] or cells
    whole = digest(cell for _, cell in apart)
    numbers = {id(cell): number for number, cell in cells}
    return {
        "lines": _lines(cell for _, cell in cells),
        "code": whole.code,
        "failing": sum(cell.fails and cell.provider != REFERENCE for _, cell in cells),
        "news": [[numbers[id(cell)] for cell in alike] for alike in _news(whole)],
        "groups": _groups(cell for _, cell in apart),
        "positions": whole.counts[Verdict.POSITION],
        "not_scored": not_scored_line([cell for _, cell in cells if not cell.scored]),
    }


def _news(whole: Digest) -> list[list[Result]]:
    unstable = sorted(whole.unstable, key=lambda cell: not cell.never_right)
    alike: dict[tuple[Any, ...], list[Result]] = {}
    for cell in (*unstable, *whole.new, *whole.errors):
        key = (cell.about, cell.client, cell.topology, cell.verdict, cell.reason, cell.never_right)
        alike.setdefault(key, []).append(cell)
    return list(alike.values())


def _lines(cells: Iterable[Cell]) -> list[Plain]:
    by_target: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        by_target.setdefault(_target(cell), []).append(cell)
    # Newest release first; libraries by name, the reference layer last.
    order = sorted(by_target, key=lambda target: target[1:3], reverse=True)
    order.sort(key=lambda target: target[0])
    seen: set[tuple[Any, ...]] = set()
    lines = []
    for target in order:
        apart, _, server, provider, subject = target
        about: Digest = digest(by_target[target], subject)
        line = (apart, *server.split(".")[:2], provider)
        lines.append(
            {
                "subject": about.subject,
                "verdict": about.verdict_line,
                "code": about.code,
                "conforms": about.conforms,
                "first": line not in seen,
            }
        )
        seen.add(line)
    return lines


def _target(cell: Cell) -> tuple[Any, ...]:
    apart = (cell.provider == REFERENCE, cell.client or "")
    return (apart, release_key(cell.server), cell.server, cell.provider, subject_of(cell))


def _groups(cells: Iterable[Cell]) -> list[Plain]:
    """The groups, each with where it shows among the releases that its own library was played on."""
    by_library: dict[str | None, list[Cell]] = {}
    for cell in cells:
        by_library.setdefault(cell.library, []).append(cell)
    found: list[tuple[Group, str]] = []
    for mine in by_library.values():
        about = digest(mine)
        found += [(group, span(group.servers, about.servers)) for group in about.groups]
    return [
        {**plain(group.document()), "upstream": https(group.upstream), "since": since}
        for group, since in sorted(found, key=lambda pair: pair[0].rank)
    ]
