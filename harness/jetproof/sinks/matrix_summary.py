"""The end of a matrix for people: what is wrong where, told by case, and one row a release.

A deviation that ten releases share is told once, with the evidence of the newest, and with the
releases that have it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from jetproof.events import INTERRUPTED
from jetproof.model.verdict import EXPLAINED, Verdict
from jetproof.results.digest import digest, digests
from jetproof.sinks.evidence import duration, explain, headline
from jetproof.sinks.first_screen import first_screen
from jetproof.sinks.paint import ORDER, Paint
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.releases import Board, spans
from jetproof.sinks.summary import NAMED_MOST, conclusion, not_scored_lines
from jetproof.sinks.text import fit, pad, visible, width

_EXPLAINED_MOST = 20
_SHARED_REASON = 5
"""So many cells without a verdict for one reason are told as one."""

_RANK = {verdict: number for number, verdict in enumerate(reversed(EXPLAINED))}


def matrix_summary(
    record: Record,
    board: Board,
    paint: Paint,
    *,
    verbose: bool = False,
    results: str = "",
    stopped: str = "",
) -> Iterator[str]:
    """Every line that is printed when a matrix is over; the most important one is the last."""
    outcomes, order = record.outcomes, list(board.releases)
    yield from _explanations(record, outcomes, order, paint, verbose)
    yield ""
    yield from release_table(board, paint)
    yield ""
    if outcomes:
        whole, each = digest(record.cells, "all releases"), digests(record.cells)
        yield from first_screen(whole, each, paint, verbose=verbose)
        most = None if verbose else NAMED_MOST
        yield from not_scored_lines(record.cells, paint, most)
        yield from _positions(outcomes, paint, results)
    yield from _last_lines(record, board, paint, results, stopped)


def release_table(board: Board, paint: Paint) -> Iterator[str]:
    """Counts of each verdict that occurs, and the time, by release."""
    rows = list(board.releases.values())
    counts = [row.verdicts for row in rows]
    columns = [verdict for verdict in ORDER if any(count[verdict] for count in counts)]
    sizes = [
        max(len(verdict.value), *(len(str(count[verdict])) for count in counts))
        for verdict in columns
    ]
    first = max(len("release"), *(width(visible(row.target)) for row in rows))
    heads = [
        f"{paint.symbol(verdict)} {paint.verdict(verdict, verdict.value.rjust(size))}"
        for verdict, size in zip(columns, sizes, strict=True)
    ]
    yield "   ".join([paint.bold(pad("release", first)), *heads])
    for row, count in zip(rows, counts, strict=True):
        cells = []
        for verdict, size in zip(columns, sizes, strict=True):
            text = str(count[verdict] or paint.dot).rjust(size + 2)
            cells.append(paint.verdict(verdict, text) if count[verdict] else paint.dim(text))
        if row.seconds is not None:
            cells.append(paint.dim(duration(row.seconds * 1000)))
        elif not row.done:
            cells.append(paint.dim(f"{row.played} of {row.expected.cells} cells"))
        yield "   ".join([pad(visible(row.target), first), *cells])


def _explanations(
    record: Record, outcomes: Sequence[Outcome], order: Sequence[str], paint: Paint, verbose: bool
) -> Iterator[str]:
    """Warnings first: what matters most stands nearest to the prompt."""
    groups = _by_case([row for row in outcomes if row.is_explained(all_cells=verbose)])
    alike, single = _shared_errors(groups)
    for reason, members in alike.items():
        yield ""
        targets = {row.cell.target for row in members}
        error = paint.verdict(Verdict.ERROR, pad("error", 8))
        where = visible(spans(targets, order))
        yield f"{paint.symbol(Verdict.ERROR)} {error} {len(members)} cells of {where}"
        yield f"    {visible(reason, 600)}"
        for line in members[-1].cell.server_log[-12:]:
            yield f"    {paint.dim(visible(line, 300))}"
    hidden = 0 if verbose else max(0, len(single) - _EXPLAINED_MOST)
    clauses = record.clauses
    for number, members in enumerate(single):
        newest = max(members, key=lambda row: _place(row, order))
        if number < hidden:
            yield headline(newest, paint)
        else:
            yield ""
            yield from explain(newest, clauses, paint, whole=verbose, log=verbose)
        if len(members) > 1:
            names = spans((row.cell.target for row in members), order)
            yield f"    the same on: {visible(names)}"


def _by_case(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    groups: dict[tuple[str, ...], list[Outcome]] = defaultdict(list)
    for row in outcomes:
        cell = row.cell
        groups[cell.case, cell.topology, cell.verdict.value, cell.reason].append(row)
    return sorted(groups.values(), key=lambda members: _RANK[members[0].cell.verdict])


def _shared_errors(
    groups: Sequence[list[Outcome]],
) -> tuple[dict[str, list[Outcome]], list[list[Outcome]]]:
    """Cells that have no verdict for one and the same reason, and all others by case."""
    reasons: dict[str, list[Outcome]] = defaultdict(list)
    for members in groups:
        if members[0].cell.verdict is Verdict.ERROR:
            reasons[members[0].cell.reason] += members
    alike = {why: rows for why, rows in reasons.items() if len(rows) >= _SHARED_REASON}
    single = [
        members
        for members in groups
        if members[0].cell.verdict is not Verdict.ERROR or members[0].cell.reason not in alike
    ]
    return alike, single


def _place(outcome: Outcome, order: Sequence[str]) -> int:
    target = outcome.cell.target
    return order.index(target) if target in order else -1


def _positions(outcomes: Sequence[Outcome], paint: Paint, results: str) -> Iterator[str]:
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in outcomes:
        if row.cell.verdict is Verdict.POSITION and row.cell.scored:
            said[row.cell.case, row.cell.topology].add(str(sorted(row.cell.position.items())))
    if said:
        moved = sum(len(positions) > 1 for positions in said.values())
        command = f": jetproof positions {visible(results)}" if results else ""
        words = f"  {len(said)} positions, {moved} of them differ between releases{command}"
        yield paint.dim(fit(words, paint.width))


def _last_lines(
    record: Record, board: Board, paint: Paint, results: str, stopped: str
) -> Iterator[str]:
    counts, finished = record.verdicts, record.finished
    early = finished is None or finished.interrupted
    words, look = _conclusion(record, board, early and stopped in ("", INTERRUPTED))
    parts = [paint.verdict(look, words)]
    parts += [f"{counts[verdict]} {verdict.value}" for verdict in ORDER if counts[verdict]]
    if finished is not None:
        parts.append(duration(finished.wall_ms))
    if results:
        yield paint.dim(f"results: {visible(results)}")
    if record.slowest is not None and record.slowest.ms > 0:
        slow = record.slowest
        yield paint.dim(f"slowest: {visible(slow.name)} {duration(slow.ms)}")
    if early and results:
        yield f"finish it: {paint.bold(f'jetproof matrix --resume {visible(results)}')}"
    yield f"{paint.symbol(look)} " + f" {paint.dot} ".join(parts)


def _conclusion(record: Record, board: Board, interrupted: bool) -> tuple[str, Verdict]:
    if interrupted:
        return (
            f"interrupted after {record.played} of {record.planned} cells, "
            f"{board.done} of {len(board.releases)} releases"
        ), Verdict.ERROR
    return conclusion(digest(record.cells))
