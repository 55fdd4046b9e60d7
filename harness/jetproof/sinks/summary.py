"""The end of a run for people: what needs attention, what is known, the table, one last line."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from jetproof.model.ledger import REFERENCE
from jetproof.model.verdict import Verdict, exit_code
from jetproof.sinks.evidence import duration, explain, headline
from jetproof.sinks.paint import ORDER, Paint
from jetproof.sinks.record import EXPLAINED, Outcome, Record
from jetproof.sinks.text import fit, pad, visible, width

_EXPLAINED_MOST = 20
_LISTED_MOST = 15
INTERRUPTED = "interrupted"
"""Why a run ended early if a person or a CI system ended it."""


@dataclass(frozen=True, slots=True)
class Front:
    """What a command tells in its own way at the end of a run."""

    resume: str = "jetproof run --resume"
    """What finishes a run that ended early; empty if nothing does."""
    reasons: int | None = 6
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
    """Every line that is printed when a run is over; the most important one is the last.

    `stopped` says why a run ended early, if it was not interrupted from outside.
    """
    front = front or Front()
    outcomes = record.outcomes
    yield from _explanations(record, outcomes, paint, verbose)
    yield from _listed(outcomes, Verdict.KNOWN, "known deviations", paint, verbose)
    yield from _listed(outcomes, Verdict.POSITION, "positions", paint, verbose)
    yield from _not_applicable(outcomes, paint, None if verbose else front.reasons)
    besides = list(front.besides())
    if besides:
        yield ""
        yield from (visible(line, 2000) for line in besides)
    if outcomes:
        yield ""
        yield from verdict_table(outcomes, paint)
    yield ""
    yield from _last_lines(record, paint, results, stopped, front)


def verdict_table(outcomes: Sequence[Outcome], paint: Paint) -> Iterator[str]:
    """Counts of each verdict that occurs, by suite, and by target where there are several."""
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
    wanted = [outcome for outcome in outcomes if outcome.cell.verdict in EXPLAINED]
    wanted.sort(key=lambda outcome: rank[outcome.cell.verdict])
    most = len(wanted) if verbose else _EXPLAINED_MOST
    for outcome in wanted[: max(0, len(wanted) - most)]:
        yield headline(outcome, paint)
    clauses = record.clauses
    for outcome in wanted[max(0, len(wanted) - most) :]:
        yield ""
        yield from explain(outcome, clauses, paint, whole=verbose, log=verbose)


def _listed(
    outcomes: Iterable[Outcome], verdict: Verdict, title: str, paint: Paint, verbose: bool
) -> Iterator[str]:
    cells = [outcome.cell for outcome in outcomes if outcome.cell.verdict is verdict]
    if not cells:
        return
    yield ""
    yield paint.bold(f"{title} ({len(cells)})")
    shown = cells if verbose else cells[:_LISTED_MOST]
    for cell in shown:
        yield f"  {paint.symbol(verdict)} {visible(cell.name)}"
        said = [f"{visible(key)}: {visible(text, 200)}" for key, text in cell.position.items()]
        text = (
            "; ".join(said) if verdict is Verdict.POSITION and said else visible(cell.reason, 400)
        )
        if text:
            yield f"      {paint.dim(fit(text, paint.width - 6))}"
    if len(cells) > len(shown):
        yield paint.dim(f"  and {len(cells) - len(shown)} more: -v shows all")


def _not_applicable(outcomes: Iterable[Outcome], paint: Paint, most: int | None) -> Iterator[str]:
    reasons = Counter(
        outcome.cell.reason
        for outcome in outcomes
        if outcome.cell.verdict is Verdict.NOT_APPLICABLE
    )
    if reasons:
        yield ""
        yield paint.bold(f"not applicable ({reasons.total()})")
        for reason, count in reasons.most_common(most):
            yield paint.dim(f"  {count:>3} {fit(visible(reason), paint.width - 6)}")
        if most is not None and len(reasons) > most:
            yield paint.dim(f"      and {len(reasons) - most} more reasons: -v shows all")


def _last_lines(
    record: Record, paint: Paint, results: str, stopped: str, front: Front
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
    if record.slowest is not None and record.slowest.ms > 0:
        slow = record.slowest
        yield paint.dim(f"slowest: {visible(slow.name)} {duration(slow.ms)}")
    if early and not interrupted:
        told = f"stopped after {record.played} of {record.planned} cells"
        yield f"{told}: {visible(stopped, 400)}"
    if early and results and front.resume:
        yield f"finish it: {paint.bold(f'{front.resume} {visible(results)}')}"
    yield f"{paint.symbol(look)} " + f" {paint.dot} ".join(parts)


def _conclusion(record: Record, interrupted: bool) -> tuple[str, Verdict]:
    counts = record.verdicts
    cells, code = sum(counts.values()), exit_code(record.cells)
    if interrupted:
        return f"interrupted after {record.played} of {record.planned} cells", Verdict.ERROR
    if code == 3:
        many = counts[Verdict.ERROR]
        return f"no verdict for {many} cell{'' if many == 1 else 's'}", Verdict.ERROR
    if code == 1:
        return "does not conform", Verdict.FAIL
    if cells == 0:
        return "nothing was played", Verdict.NOT_APPLICABLE
    if all(outcome.cell.provider == REFERENCE for outcome in record.outcomes):
        return "the reference layer does as the text says", Verdict.PASS
    return "conforms", Verdict.PASS
