"""The end of a run for people: evidence of what is new, the first screen, one last line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from jetproof.events import INTERRUPTED
from jetproof.model.verdict import EXPLAINED, Cell, Verdict
from jetproof.results.digest import Digest, digest, digests, not_scored_line, would_be_red
from jetproof.sinks.evidence import duration, explain, headline
from jetproof.sinks.first_screen import ROWS, first_screen
from jetproof.sinks.paint import ORDER, Paint
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.text import fit, pad, visible, width

_EXPLAINED_MOST = 20
NAMED_MOST = 3
"""So many cells that are not scored are named."""


@dataclass(frozen=True, slots=True)
class Front:
    """What a command tells in its own way at the end of a run."""

    resume: str = "jetproof run --resume"
    """What finishes a run that ended early; empty if nothing does."""
    reasons: int | None = 2
    """So many reasons why cases do not apply; all of them if None."""
    besides: Callable[[], Iterable[str]] = tuple
    """Lines of its own, above the table."""


def summary(
    record: Record,
    paint: Paint,
    *,
    verbose: bool = False,
    results: str = "",
    stopped: str = "",
    front: Front | None = None,
) -> Iterator[str]:
    """Every line that is printed when a run is over; what matters is on its last screen.

    `stopped` says why a run ended early, if it was not interrupted from outside.
    """
    front = front or Front()
    outcomes = record.outcomes
    yield from _explanations(record, outcomes, paint, verbose)
    if verbose:
        yield from _positions(outcomes, paint)
        if any(outcome.cell.scored for outcome in outcomes):
            yield ""
            yield from verdict_table(outcomes, paint)
    besides = list(front.besides())
    if besides:
        yield ""
        yield from (visible(line, 2000) for line in besides)
    yield ""
    beneath = list(_beneath(outcomes, paint, None if verbose else front.reasons, results))
    last = list(_last_lines(record, paint, results, stopped, front, verbose))
    if outcomes:
        whole, each = digest(record.cells), digests(record.cells)
        rows = ROWS - len(beneath) - len(last)
        yield from first_screen(whole, each, paint, verbose=verbose, rows=rows)
    yield from beneath
    yield from last


def verdict_table(outcomes: Sequence[Outcome], paint: Paint) -> Iterator[str]:
    """Counts of each verdict that occurs, by suite, and by target where there are several."""
    outcomes = [outcome for outcome in outcomes if outcome.cell.scored]
    targets = list(dict.fromkeys(outcome.cell.target for outcome in outcomes))
    counts: dict[str, Counter[Verdict]] = defaultdict(Counter)
    for outcome in outcomes:
        where = f" @{visible(outcome.cell.target)}" if len(targets) > 1 else ""
        counts[visible(outcome.cell.suite) + where][outcome.cell.verdict] += 1
    total: Counter[Verdict] = Counter()
    for row in counts.values():
        total.update(row)
    columns = [verdict for verdict in ORDER if total[verdict]]
    cells = [max(len(verdict.value), len(str(total[verdict]))) for verdict in columns]
    room = max(20, paint.width - sum(size + 5 for size in cells))
    first = min(room, max(width(name) for name in [*counts, "suite"]))
    heads = [
        f"{paint.symbol(verdict)} {paint.verdict(verdict, verdict.value.rjust(size))}"
        for verdict, size in zip(columns, cells, strict=True)
    ]
    yield f"{paint.bold(pad('suite', first))}   {'   '.join(heads)}"
    rows = [*sorted(counts.items()), *([("total", total)] if len(counts) > 1 else [])]
    for name, row in rows:
        numbers = []
        for verdict, size in zip(columns, cells, strict=True):
            text = str(row[verdict] or paint.dot).rjust(size + 2)
            numbers.append(paint.verdict(verdict, text) if row[verdict] else paint.dim(text))
        label = pad(fit(name, first), first)
        yield f"{paint.bold(label) if name == 'total' else label}   {'   '.join(numbers)}"


def _explanations(
    record: Record, outcomes: Iterable[Outcome], paint: Paint, verbose: bool
) -> Iterator[str]:
    """Warnings first: what matters most stands nearest to the prompt."""
    rank = {verdict: number for number, verdict in enumerate(reversed(EXPLAINED))}
    wanted = [outcome for outcome in outcomes if outcome.is_explained(all_cells=verbose)]
    wanted.sort(key=lambda outcome: rank[outcome.cell.verdict])
    most = len(wanted) if verbose else _EXPLAINED_MOST
    for outcome in wanted[: max(0, len(wanted) - most)]:
        yield headline(outcome, paint)
    clauses = record.clauses
    for outcome in wanted[max(0, len(wanted) - most) :]:
        yield ""
        yield from explain(outcome, clauses, paint, whole=verbose, log=verbose)


def _positions(outcomes: Iterable[Outcome], paint: Paint) -> Iterator[str]:
    """What was done where the text is silent, case by case."""
    cells = [outcome.cell for outcome in outcomes if outcome.cell.verdict is Verdict.POSITION]
    if not cells:
        return
    yield ""
    yield paint.bold(f"positions ({len(cells)})")
    for cell in cells:
        yield f"  {paint.symbol(Verdict.POSITION)} {visible(cell.name)}"
        said = [f"{visible(key)}: {visible(text, 200)}" for key, text in cell.position.items()]
        if said:
            yield f"      {paint.dim(fit('; '.join(said), paint.width - 6))}"


def _beneath(
    outcomes: Sequence[Outcome], paint: Paint, most: int | None, results: str
) -> Iterator[str]:
    """Below the known causes: what is not scored, positions as a count, and why cases do not apply."""
    cells = [outcome.cell for outcome in outcomes]
    yield from not_scored_lines(cells, paint, NAMED_MOST if most is not None else None)
    outcomes = [outcome for outcome in outcomes if outcome.cell.scored]
    positions = sum(outcome.cell.verdict is Verdict.POSITION for outcome in outcomes)
    if positions:
        command = f"jetproof positions {visible(results)}" if results else "-v lists them"
        many = f"{positions} position{'' if positions == 1 else 's'}"
        yield paint.dim(fit(f"  {many} where the text is silent: {command}", paint.width))
    reasons = Counter(
        outcome.cell.reason
        for outcome in outcomes
        if outcome.cell.verdict is Verdict.NOT_APPLICABLE
    )
    for reason, count in reasons.most_common(most):
        yield paint.dim(fit(f"  {count} n/a: {visible(reason)}", paint.width))
    if most is not None and len(reasons) > most:
        left = reasons.total() - sum(count for _, count in reasons.most_common(most))
        more = f"  {left} n/a for {len(reasons) - most} more reasons: -v shows all"
        yield paint.dim(more)


def not_scored_lines(cells: Sequence[Cell], paint: Paint, most: int | None) -> Iterator[str]:
    """What an edition does not score: a count by verdict, and the cells that a later one may make red."""
    apart = [cell for cell in cells if not cell.scored]
    if not apart:
        return
    yield fit(f"  {not_scored_line(apart)}", paint.width)
    red = would_be_red(apart)
    for cell in red[:most]:
        word = paint.verdict(cell.verdict, cell.verdict.value)
        room = paint.width - 5 - len(cell.verdict.value)
        yield f"    {word} {paint.dim(fit(visible(cell.name), room))}"
    if most is not None and len(red) > most:
        yield paint.dim(f"    and {len(red) - most} more: -v explains them")


def _last_lines(
    record: Record, paint: Paint, results: str, stopped: str, front: Front, verbose: bool
) -> Iterator[str]:
    counts, finished = record.verdicts, record.finished
    early = finished is None or finished.interrupted
    interrupted = early and stopped in ("", INTERRUPTED)
    words, look = _conclusion(record, interrupted)
    parts = [paint.verdict(look, words)]
    parts += [f"{counts[verdict]} {verdict.value}" for verdict in ORDER if counts[verdict]]
    if finished is not None:
        parts.append(duration(finished.wall_ms))
    if results:
        yield paint.dim(f"results: {visible(results)}")
    if verbose and record.slowest is not None and record.slowest.ms > 0:
        slow = record.slowest
        yield paint.dim(f"slowest: {visible(slow.name)} {duration(slow.ms)}")
    if early and not interrupted:
        told = f"stopped after {record.played} of {record.planned} cells"
        yield f"{told}: {visible(stopped, 400)}"
    if early and results and front.resume:
        yield f"finish it: {paint.bold(f'{front.resume} {visible(results)}')}"
    yield f"{paint.symbol(look)} " + f" {paint.dot} ".join(parts)


def _conclusion(record: Record, interrupted: bool) -> tuple[str, Verdict]:
    if interrupted:
        return f"interrupted after {record.played} of {record.planned} cells", Verdict.ERROR
    return conclusion(digest(record.cells))


def conclusion(whole: Digest) -> tuple[str, Verdict]:
    """How a run ended, in a few words, and the verdict that looks like it."""
    if whole.code == 3:
        many = len(whole.errors)
        return f"no verdict for {many} cell{'' if many == 1 else 's'}", Verdict.ERROR
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
