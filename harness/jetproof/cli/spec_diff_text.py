"""Two revisions compared, for a terminal and as Markdown."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.text import Text

from jetproof.model.clause import Actor, Clause, Revision, Status
from jetproof.model.verdict import Verdict
from jetproof.model.wording import plural
from jetproof.results.revisions import Positions, Release, Stance, grouped
from jetproof.results.spec_comparison import SpecComparison
from jetproof.sinks.console.lines import Layout, bold, dim, joined, line, worded
from jetproof.sinks.text import visible

_SHOWN = 200
_NO_RUN = "No run was given: --run DIR shows how releases meet each clause."


def terminal(shown: SpecComparison, layout: Layout, *, verbose: bool) -> Iterator[Text]:
    """What a person reads."""
    revised = shown.revised
    title = f"{revised.spec.id}, {revised.spec.title}: revision {revised.a} to {revised.b}"
    yield line(bold(title))
    for one in revised.between:
        yield from _hanging(line(f"  {one.number:>2}  "), _revision_text(one), layout)
    for clauses, word, look in (
        (revised.added, "added", "green"),
        (revised.removed, "removed", "red"),
    ):
        if clauses:
            yield line()
            yield line((f"{word} ({len(clauses)})", look))
        for clause in clauses:
            yield line("  ", (clause.id, "blue"), " ", dim(_kind(clause)))
            yield from _clause_lines(clause, shown, layout, "    ")
    if revised.changed:
        yield line()
        yield line((f"changed ({len(revised.changed)})", "yellow"))
    for change in revised.changed:
        for sign, clause in (("-", change.before), ("+", change.after)):
            yield line(f"  {sign} ", (clause.id, "blue"), " ", dim(_kind(clause)))
            yield from _clause_lines(clause, shown, layout, "      ")
    yield from _position_lines(shown, layout, verbose)
    yield line()
    yield line(_summary(shown))
    if not shown.releases:
        yield line(_NO_RUN)


def markdown(shown: SpecComparison) -> str:
    return "".join(f"{text}\n" for text in _markdown(shown))


def _clause_lines(
    clause: Clause, shown: SpecComparison, layout: Layout, indent: str
) -> Iterator[Text]:
    yield from layout.wrapped(clause.text, indent)
    groups = _verdict_groups(clause, shown)
    for releases, verdicts in groups:
        words = [worded(Verdict(name), text) for name, text in _verdict_words(verdicts)]
        yield line(indent, dim(_span(releases)), "  ", joined(", ", words))
    if not groups:
        yield line(indent, dim(_without_verdict(clause, shown)))


def _position_lines(shown: SpecComparison, layout: Layout, verbose: bool) -> Iterator[Text]:
    """What changed between releases in full; what did not only on request, else it is counted."""
    positions = [one for one in shown.positions if verbose or one.changed]
    if positions:
        yield line()
        title = "positions" if verbose else "positions that changed between releases"
        yield line((f"{title} ({len(positions)})", "cyan"))
    last = None
    for one in positions:
        if one.clause.id != last:
            yield line("  ", (one.clause.id, "blue"), " ", dim(_kind(one.clause)))
            yield from layout.wrapped(one.clause.text, "    ")
        last = one.clause.id
        yield line(f"    {_case(one)}")
        for stance in one.stances:
            head = line("      ", dim(_span(stance.releases)), "  ")
            yield from _hanging(head, _values(stance, None if verbose else one.moved), layout)
        if not verbose and (same := len(one.stances[0].position.keys() - one.moved)):
            yield line(dim(f"      {same} more, the same on all of them"))


def _hanging(head: Text, text: str, layout: Layout) -> Iterator[Text]:
    """Text behind a head, its further lines below its first."""
    room = max(40, layout.width - head.cell_len)
    first, *more = textwrap.wrap(visible(text), room, break_on_hyphens=False) or [""]
    yield line(head, first)
    yield from (line(" " * head.cell_len, one) for one in more)


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
    for row in (head, ["---"] * len(head), *rows):
        yield "| " + " | ".join(_cell(cell) or " " for cell in row) + " |"


def _cell(text: str) -> str:
    return visible(" ".join(text.split())).replace("|", "\\|").replace("<", "&lt;")


def _revision_text(one: Revision) -> str:
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
    verdicts = {release: ",".join(sorted(counts)) for release, counts in by_release.items()}
    return [
        (releases, {str(release): by_release[release] for release in releases})
        for releases, _ in grouped(verdicts, shown.releases)
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
    groups = [
        f"{_span(releases)}: {', '.join(text for _, text in _verdict_words(verdicts))}"
        for releases, verdicts in _verdict_groups(clause, shown)
    ]
    return "; ".join(groups) or _without_verdict(clause, shown)


def _without_verdict(clause: Clause, shown: SpecComparison) -> str:
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
    counts = [
        f"{len(revised.added)} added",
        f"{len(revised.removed)} removed",
        f"{len(revised.changed)} changed",
        f"{plural(len(revised.kept), 'clause')} in both",
    ]
    if shown.positions:
        moved = sum(one.changed for one in shown.positions)
        counts.append(
            f"{plural(len(shown.positions), 'position')}, {moved} changed between releases"
        )
    return ", ".join(counts)
