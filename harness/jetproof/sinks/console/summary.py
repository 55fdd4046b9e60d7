"""The end of a run, a matrix or a gate: evidence of what is new, the first screen, one last line.

A deviation that several targets share is explained once, with the evidence of the last of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from jetproof.events import INTERRUPTED
from jetproof.model.verdict import EXPLAINED, Result, Verdict
from jetproof.model.wording import plural
from jetproof.results.digest import Digest, digest, digests, not_scored_line, would_be_red
from jetproof.sinks.console.evidence import duration, explain, headline, log_lines
from jetproof.sinks.console.first_screen import ROWS, first_screen
from jetproof.sinks.console.lines import (
    ORDER,
    Layout,
    Part,
    bold,
    dim,
    line,
    pad,
    verdict_style,
    worded,
)
from jetproof.sinks.console.tables import fits, table_lines
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.releases import Board, spans
from jetproof.sinks.text import visible

_EXPLAINED_MOST = 20
_SHARED_REASON = 5
"""So many cells without a verdict for one reason are explained together."""
_LEAST_NAME = 16
"""Where a table leaves less room for names, each name gets a line of its own."""
_RANK = {verdict: number for number, verdict in enumerate(reversed(EXPLAINED))}
NAMED_MOST = 3
"""So many cells that are not scored are named."""


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """What differs between the summaries of commands."""

    command: str = "run"
    resumable: bool = True
    """Whether `--resume` finishes a run that ended early."""
    reasons: int | None = 2
    """So many reasons why cases do not apply; all of them if None."""
    besides: Callable[[], Iterable[str]] = tuple
    """Lines of the command's own, above the first screen."""


def summary(
    record: Record,
    layout: Layout,
    *,
    verbose: bool = False,
    results: str = "",
    stopped: str = "",
    options: SummaryOptions | None = None,
    board: Board | None = None,
) -> Iterator[Text]:
    """Every line that is printed when a run is over; what matters is on its last screen.

    `stopped` says why a run ended early, if it was not interrupted from outside. `board` holds the
    releases of a matrix.
    """
    options = options or SummaryOptions()
    outcomes = record.outcomes
    order = (
        list(board.releases) if board else list(record.started.targets if record.started else ())
    )
    yield from _explanations(record, outcomes, order, layout, verbose)
    if verbose and not board:
        yield from _positions(outcomes, layout)
        if any(outcome.cell.scored for outcome in outcomes):
            yield line()
            yield from verdict_table(outcomes, layout)
    if board:
        yield line()
        yield from release_table(board, layout)
    if besides := list(options.besides()):
        yield line()
        yield from (line(visible(text, 2000)) for text in besides)
    yield line()
    reasons = None if verbose else options.reasons
    beneath = list(_beneath(outcomes, layout, verbose, reasons, results))
    last = list(_last_lines(record, layout, results, stopped, options, verbose, board))
    if outcomes:
        whole = digest(record.results, "all releases" if board else "")
        each = digests(record.results)
        if record.finished is None or record.finished.interrupted:
            each = tuple(replace(one, subject=f"{one.subject}, so far") for one in each)
        rows = ROWS - len(beneath) - len(last)
        yield from first_screen(whole, each, layout, verbose=verbose, rows=rows)
    yield from beneath
    yield from last


def verdict_table(outcomes: Iterable[Outcome], layout: Layout) -> list[Text]:
    """Counts of each verdict that occurs, by suite, and by target where there are several."""
    outcomes = [outcome for outcome in outcomes if outcome.cell.scored]
    targets = list(dict.fromkeys(outcome.cell.target for outcome in outcomes))
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for outcome in outcomes:
        where = f" @{outcome.cell.target}" if len(targets) > 1 else ""
        counts[outcome.cell.heading + where][outcome.cell.verdict] += 1
    rows: list[tuple[Part, Counter[Verdict], str]] = [
        (name, row, "") for name, row in sorted(counts.items())
    ]
    if len(counts) > 1:
        total: Counter[Verdict] = Counter()
        for row in counts.values():
            total.update(row)
        rows.append((bold("total"), total, ""))
    return _count_table("suite", rows, layout)


def release_table(board: Board, layout: Layout) -> list[Text]:
    """Counts of each verdict that occurs, and the time, by release."""
    rows: list[tuple[Part, Counter[Verdict], str]] = []
    for row in board.releases.values():
        time = "" if row.seconds is None else duration(row.seconds * 1000)
        if row.seconds is None and not row.done:
            time = f"{row.played} of {plural(row.expected.cells, 'cell')}"
        rows.append((row.target, row.verdicts, time))
    return _count_table("release", rows, layout)


def _count_table(
    title: str, rows: Sequence[tuple[Part, Counter[Verdict], str]], layout: Layout
) -> list[Text]:
    """Names and counts; on a terminal that is too narrow for a table, two lines per name."""
    columns = [verdict for verdict in ORDER if any(counts[verdict] for _, counts, _ in rows)]
    head: list[Part] = [title]
    head += [line(layout.symbol(one), " ", (one.value, verdict_style(one))) for one in columns]
    body: list[list[Part]] = []
    for name, counts, more in rows:
        numbers: list[Part] = [
            worded(one, str(counts[one])) if counts[one] else dim(layout.dot) for one in columns
        ]
        body.append([name, *numbers, *([dim(more)] if more else [])])
    table = table_lines(head, body, replace(layout, terminal=False))
    names = max((line(name).cell_len for name, _, _ in rows), default=0)
    others = max(one.cell_len for one in table) - names
    if not layout.terminal or fits(table, layout):
        return table
    if layout.width - others >= _LEAST_NAME:
        return table_lines(head, body, layout)
    lines = []
    for name, counts, more in rows:
        words = [worded(one, f"{counts[one]} {one.value}") for one in columns if counts[one]]
        words += [dim(more)] if more else []
        lines += [line(name), *layout.flow(words, indent=2)]
    return lines


def _explanations(
    record: Record, outcomes: Sequence[Outcome], order: Sequence[str], layout: Layout, verbose: bool
) -> Iterator[Text]:
    """Warnings first: what matters most stands nearest to the prompt."""
    groups = _by_case([one for one in outcomes if one.is_explained(all_cells=verbose)])
    shared, single = _shared_errors(groups)
    for reason, members in shared.items():
        yield line()
        where = spans({one.cell.target for one in members}, order)
        error = worded(Verdict.ERROR, pad("error", 8))
        cells = f" {len(members)} cells of {where}"
        yield line(layout.symbol(Verdict.ERROR), " ", error, cells)
        yield from layout.wrapped(visible(reason, 600), "    ")
        yield from log_lines(members[-1].cell.server_log)
    hidden = 0 if verbose else max(0, len(single) - _EXPLAINED_MOST)
    clauses = record.clauses
    for number, members in enumerate(single):
        last = max(members, key=lambda one: _place(one, order))
        if number < hidden:
            yield headline(last, layout)
        else:
            yield line()
            yield from explain(last, clauses, layout, whole=verbose, log=verbose)
        if len(members) > 1:
            yield line("    the same on: ", spans((one.cell.target for one in members), order))


def _by_case(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Cells of several targets with one case and one reason are together."""
    groups: dict[tuple[str, ...], list[Outcome]] = defaultdict(list)
    for one in outcomes:
        cell = one.cell
        name = cell.about, cell.topology, cell.client or "", str(cell.spec_revision)
        groups[(*name, cell.verdict.value, cell.reason)].append(one)
    return sorted(groups.values(), key=lambda members: _RANK[members[0].cell.verdict])


def _shared_errors(
    groups: Sequence[list[Outcome]],
) -> tuple[dict[str, list[Outcome]], list[list[Outcome]]]:
    """Cells that have no verdict for one and the same reason, and all others by case."""
    reasons: dict[str, list[Outcome]] = defaultdict(list)
    for members in groups:
        if members[0].cell.verdict is Verdict.ERROR:
            reasons[members[0].cell.reason] += members
    shared = {why: rows for why, rows in reasons.items() if len(rows) >= _SHARED_REASON}
    single = [
        members
        for members in groups
        if members[0].cell.verdict is not Verdict.ERROR or members[0].cell.reason not in shared
    ]
    return shared, single


def _place(outcome: Outcome, order: Sequence[str]) -> int:
    target = outcome.cell.target
    return order.index(target) if target in order else -1


def _positions(outcomes: Iterable[Outcome], layout: Layout) -> Iterator[Text]:
    """What servers do where the text is silent, case by case."""
    cells = [outcome.cell for outcome in outcomes if outcome.cell.verdict is Verdict.POSITION]
    if not cells:
        return
    yield line()
    yield line(bold(f"positions ({len(cells)})"))
    for cell in cells:
        yield line("  ", layout.symbol(Verdict.POSITION), " ", cell.name)
        texts = [f"{visible(key)}: {visible(text, 200)}" for key, text in cell.observed.items()]
        if texts:
            yield line("      ", dim(layout.fit("; ".join(texts), layout.width - 6)))


def _beneath(
    outcomes: Sequence[Outcome], layout: Layout, verbose: bool, most: int | None, results: str
) -> Iterator[Text]:
    """Below the known causes: cells that are not scored, the number of positions, and why cases do
    not apply."""
    cells = [outcome.cell for outcome in outcomes]
    yield from not_scored_lines(cells, layout, None if verbose else NAMED_MOST)
    cells = [cell for cell in cells if cell.scored]
    yield from _position_count(cells, layout, results)
    reasons = Counter(cell.reason for cell in cells if cell.verdict is Verdict.NOT_APPLICABLE)
    for reason, count in reasons.most_common(most):
        yield line(dim(layout.fit(f"  {count} n/a: {reason}", layout.width)))
    if most and len(reasons) > most:
        left = reasons.total() - sum(count for _, count in reasons.most_common(most))
        others = plural(len(reasons) - most, "other reason")
        yield line(dim(f"  {left} n/a for {others}: -v lists them"))


def _position_count(cells: Sequence[Result], layout: Layout, results: str) -> Iterator[Text]:
    taken: dict[tuple[str, str], set[str]] = defaultdict(set)
    for cell in cells:
        if cell.verdict is Verdict.POSITION:
            taken[cell.about, cell.topology].add(str(sorted(cell.observed.items())))
    if taken:
        differ = sum(len(positions) > 1 for positions in taken.values())
        words = f"  {plural(len(taken), 'position')} where the text is silent"
        words += f", {differ} with a difference between targets" if differ else ""
        more = f"jetproof positions {results}" if results else "-v lists them"
        yield from layout.flow([dim(f"{words}:"), dim(more)], indent=4, head=line(), separator=" ")


def not_scored_lines(cells: Sequence[Result], layout: Layout, most: int | None) -> Iterator[Text]:
    """What an edition does not score: a count by verdict, and the cells that a later edition may
    make red."""
    apart = [cell for cell in cells if not cell.scored]
    if not apart:
        return
    yield line(layout.fit(f"  {not_scored_line(apart)}", layout.width))
    red = would_be_red(apart)
    for cell in red[:most]:
        room = layout.width - 5 - len(cell.verdict.value)
        yield line("    ", worded(cell.verdict), " ", dim(layout.fit(cell.name, room)))
    if most is not None and len(red) > most:
        yield line(dim(f"    and {len(red) - most} more: -v explains them"))


def _last_lines(
    record: Record,
    layout: Layout,
    results: str,
    stopped: str,
    options: SummaryOptions,
    verbose: bool,
    board: Board | None,
) -> Iterator[Text]:
    counts, finished = record.verdicts, record.finished
    early = finished is None or finished.interrupted
    interrupted = early and stopped in ("", INTERRUPTED)
    words, look = _conclusion(record, interrupted, board)
    parts: list[Part] = [worded(look, words)]
    parts += [f"{counts[verdict]} {verdict.value}" for verdict in ORDER if counts[verdict]]
    if finished is not None:
        parts.append(duration(finished.wall_ms))
    if results:
        yield line(dim(f"results: {results}"))
    if verbose and record.slowest is not None and record.slowest.ms > 0:
        slow = record.slowest
        yield line(dim(f"slowest: {slow.name} {duration(slow.ms)}"))
    if early and not interrupted:
        after = f"stopped after {record.played} of {record.planned} cells"
        yield line(f"{after}: {visible(stopped, 400)}")
    if early and results and options.resumable:
        yield line("finish it: ", bold(f"jetproof {options.command} --resume {results}"))
    yield from layout.flow(parts, head=line(layout.symbol(look), " "), indent=2)


def _conclusion(record: Record, interrupted: bool, board: Board | None) -> tuple[str, Verdict]:
    if not interrupted:
        return conclusion(digest(record.results))
    words = f"interrupted after {record.played} of {record.planned} cells"
    if board:
        words += f", {board.done} of {plural(len(board.releases), 'release')}"
    return words, Verdict.ERROR


def conclusion(whole: Digest) -> tuple[str, Verdict]:
    """How a run ended, in a few words, and the verdict that looks like it."""
    if whole.code == 3:
        return f"no verdict for {plural(len(whole.errors), 'cell')}", Verdict.ERROR
    if whole.code == 1:
        return "does not conform", Verdict.FAIL
    if not sum(whole.counts.values()):
        done = "scored" if whole.not_scored else "played"
        return f"nothing was {done}", Verdict.NOT_APPLICABLE
    if whole.reference and whole.conforms:
        return "the reference layer does as the text says", Verdict.PASS
    if whole.conforms:
        return "conforms", Verdict.PASS
    return ("nothing new", Verdict.KNOWN) if whole.groups else ("nothing failed", Verdict.PASS)
