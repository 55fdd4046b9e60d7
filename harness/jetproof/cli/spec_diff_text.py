"""Two revisions compared, for a terminal and as Markdown."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from jetproof.cli.common import plural
from jetproof.model.clause import Actor, Clause, Revision, Status
from jetproof.model.verdict import Verdict
from jetproof.results.revisions import Positions, Release, Stance, grouped
from jetproof.results.spec_comparison import SpecComparison
from jetproof.sinks.paint import Paint
from jetproof.sinks.text import visible

_SHOWN = 200
_NO_RUN = "No run was given: --run DIR tells what releases do of each clause."


def terminal(shown: SpecComparison, paint: Paint, *, verbose: bool) -> str:
    return "".join(f"{line}\n" for line in _terminal(shown, paint, verbose))


def markdown(shown: SpecComparison) -> str:
    return "".join(f"{line}\n" for line in _markdown(shown))


def _terminal(shown: SpecComparison, paint: Paint, verbose: bool) -> Iterator[str]:
    revised = shown.revised
    title = f"{revised.spec.id}, {revised.spec.title}: revision {revised.a} to {revised.b}"
    yield paint.bold(visible(title))
    for one in revised.between:
        head, *more = textwrap.wrap(visible(_told(one)), paint.width - 6)
        yield f"  {one.number:>2}  {head}"
        yield from (f"      {line}" for line in more)
    for clauses, word, look in (
        (revised.added, "added", "green"),
        (revised.removed, "removed", "red"),
    ):
        if clauses:
            yield ""
            yield paint.style(f"{word} ({len(clauses)})", look)
        for clause in clauses:
            yield f"  {paint.style(visible(clause.id), 'blue')} {paint.dim(_kind(clause))}"
            yield from _clause_lines(clause, shown, paint, "  ")
    if revised.changed:
        yield ""
        yield paint.style(f"changed ({len(revised.changed)})", "yellow")
    for change in revised.changed:
        for sign, clause in (("-", change.before), ("+", change.after)):
            name = paint.style(visible(clause.id), "blue")
            yield f"  {sign} {name} {paint.dim(_kind(clause))}"
            yield from _clause_lines(clause, shown, paint, "    ")
    yield from _position_lines(shown, paint, verbose)
    yield ""
    yield _summary(shown)
    if not shown.releases:
        yield _NO_RUN


def _clause_lines(
    clause: Clause, shown: SpecComparison, paint: Paint, margin: str
) -> Iterator[str]:
    for line in textwrap.wrap(visible(clause.text), paint.width - 4 - len(margin)):
        yield f"{margin}  {line}"
    told = _verdict_groups(clause, shown)
    for releases, verdicts in told:
        painted = ", ".join(
            paint.verdict(Verdict(name), text) for name, text in _verdict_words(verdicts)
        )
        yield f"{margin}  {paint.dim(visible(_span(releases)))}  {painted}"
    if not told:
        yield f"{margin}  {paint.dim(_untold(clause, shown))}"


def _position_lines(shown: SpecComparison, paint: Paint, verbose: bool) -> Iterator[str]:
    """What changed between releases in full; what did not only on request, else it is counted."""
    told = [one for one in shown.positions if verbose or one.changed]
    if told:
        yield ""
        title = "positions" if verbose else "positions that changed between releases"
        yield paint.style(f"{title} ({len(told)})", "cyan")
    last = None
    for one in told:
        if one.clause.id != last:
            name = paint.style(visible(one.clause.id), "blue")
            yield f"  {name} {paint.dim(_kind(one.clause))}"
            for line in textwrap.wrap(visible(one.clause.text), paint.width - 6):
                yield f"    {line}"
        last = one.clause.id
        yield f"    {visible(_case(one))}"
        for stance in one.stances:
            span = visible(_span(stance.releases))
            values = _values(stance, None if verbose else one.moved)
            room = max(40, paint.width - 8 - len(span))
            head, *more = textwrap.wrap(values, room, break_on_hyphens=False) or [""]
            yield f"      {paint.dim(span)}  {head}"
            yield from (f"      {' ' * len(span)}  {line}" for line in more)
        if not verbose and (same := len(one.stances[0].position.keys() - one.moved)):
            yield paint.dim(f"      {same} more alike on all of them")


def _markdown(shown: SpecComparison) -> Iterator[str]:
    revised = shown.revised
    yield f"# {_cell(revised.spec.title)}: revision {revised.a} to {revised.b}"
    yield ""
    yield from _table(
        ["revision", "date", "server", "API level", "what it brought"],
        [
            [str(one.number), one.date or "", one.server or "", _level(one), one.note]
            for one in revised.between
        ],
    )
    for word, clauses in (("Added", revised.added), ("Removed", revised.removed)):
        if clauses:
            yield ""
            yield f"## {word} ({len(clauses)})"
            yield ""
            rows = [[one.id, _kind(one), one.text, _flat(one, shown)] for one in clauses]
            yield from _table(["clause", "kind", "what it says", "releases"], rows)
    if revised.changed:
        yield ""
        yield f"## Changed ({len(revised.changed)})"
        yield ""
        yield from _table(
            ["before", "what it said", "releases", "after", "what it says", "releases"],
            [
                [
                    part
                    for clause in (one.before, one.after)
                    for part in (clause.id, clause.text, _flat(clause, shown))
                ]
                for one in revised.changed
            ],
        )
    if shown.positions:
        yield ""
        yield f"## Positions ({len(shown.positions)})"
        yield ""
        rows = [
            [one.clause.id, _kind(one.clause), _case(one), _span(stance.releases), _values(stance)]
            for one in shown.positions
            for stance in one.stances
        ]
        yield from _table(["clause", "kind", "case", "releases", "position"], rows)
    yield ""
    yield _summary(shown)
    if not shown.releases:
        yield ""
        yield _NO_RUN


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for line in (head, ["---"] * len(head), *rows):
        yield "| " + " | ".join(_cell(cell) or " " for cell in line) + " |"


def _cell(text: str) -> str:
    return visible(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")


def _told(one: Revision) -> str:
    parts = [one.date or "no date", f"server {one.server}" if one.server else "no server version"]
    parts += [f"API level {one.api_level}"] if one.api_level is not None else []
    return ", ".join(parts) + (f": {one.note}" if one.note else "")


def _level(one: Revision) -> str:
    return "" if one.api_level is None else str(one.api_level)


def _kind(clause: Clause) -> str:
    kind = clause.level.value if clause.status is Status.NORMATIVE else clause.status.value
    return kind if clause.actor is Actor.SERVER else f"{kind}, {clause.actor.value}"


def _verdict_groups(
    clause: Clause, shown: SpecComparison
) -> list[tuple[list[Release], Mapping[str, Counter[str]]]]:
    """Neighbouring releases with the same verdicts, whatever the number of cases."""
    by_release = shown.verdicts.get(clause.id, {})
    told = {release: ",".join(sorted(counts)) for release, counts in by_release.items()}
    return [
        (releases, {str(release): by_release[release] for release in releases})
        for releases, _ in grouped(told, shown.releases)
    ]


def _verdict_words(verdicts: Mapping[str, Counter[str]]) -> list[tuple[str, str]]:
    """Each verdict with the number of cells, if that is one number on all these releases."""
    words = []
    for verdict in Verdict:
        counts = {found[verdict.value] for found in verdicts.values()}
        if counts != {0}:
            count = f" {counts.pop()}" if len(counts) == 1 else ""
            words.append((verdict.value, f"{verdict.value}{count}"))
    return words


def _flat(clause: Clause, shown: SpecComparison) -> str:
    told = [
        f"{_span(releases)}: {', '.join(text for _, text in _verdict_words(verdicts))}"
        for releases, verdicts in _verdict_groups(clause, shown)
    ]
    return "; ".join(told) or _untold(clause, shown)


def _untold(clause: Clause, shown: SpecComparison) -> str:
    cases = len(shown.cases.get(clause.id, ()))
    if not cases:
        return "for clients" if clause.actor is Actor.CLIENT else "no case"
    return f"{plural(cases, 'case')}{', not played' if shown.releases else ''}"


def _span(releases: Sequence[Release]) -> str:
    first, last = str(releases[0]), releases[-1].server
    return first if len(releases) == 1 else f"{first} - {last}"


def _case(one: Positions) -> str:
    return one.case if one.topology == "single" else f"{one.case} {one.topology}"


def _values(stance: Stance, names: Collection[str] | None = None) -> str:
    return ", ".join(
        f"{visible(name)}: {visible(value, _SHOWN)}"
        for name, value in stance.position.items()
        if names is None or name in names
    )


def _summary(shown: SpecComparison) -> str:
    revised = shown.revised
    told = [
        f"{len(revised.added)} added",
        f"{len(revised.removed)} removed",
        f"{len(revised.changed)} changed",
        f"{plural(len(revised.kept), 'clause')} in both",
    ]
    if shown.positions:
        moved = sum(one.changed for one in shown.positions)
        told.append(f"{plural(len(shown.positions), 'position')}, {moved} changed between releases")
    return ", ".join(told)
