"""Coverage as tables, for a terminal and for a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from jetproof.load.library import Library
from jetproof.model.wording import plural
from jetproof.results.coverage import ClauseCoverage, Coverage, State
from jetproof.results.digest import releases
from jetproof.results.error_codes import CODES, code_rows
from jetproof.sinks.console.lines import ALARM, Layout, line
from jetproof.sinks.console.tables import table_lines

Table = Sequence[Sequence[str]]
_SERVERS_SHOWN = 3


def terminal(
    library: Library,
    found: Coverage,
    layout: Layout,
    *,
    played: bool,
    errors: bool,
    verbose: bool,
) -> list[Text]:
    """What a person reads: the table, then what is missing."""
    head, *rows = _error_table(library, found) if errors else _clause_table(found, played)
    lines = table_lines(head, rows, layout)
    return lines if errors else [*lines, line(), *_missing(found, played, verbose)]


def markdown(library: Library, found: Coverage, *, played: bool, errors: bool) -> str:
    table = _error_table(library, found) if errors else _clause_table(found, played)
    head, *rest = table
    lines = [head, ["---"] * len(head), *rest]
    return "".join("| " + " | ".join(cell or " " for cell in line) + " |\n" for line in lines)


def _clause_table(found: Coverage, played: bool) -> Table:
    left_out = {State.UNTESTED}
    reached = {one.state for one in found.clauses.values()}
    left_out |= {State.REFERENCE, State.VACUOUS} - reached
    states = [state for state in State if state not in left_out]
    shown = states if played else []
    named = [] if played else ["named by cases"]
    layer = ["pass on the reference layer"] if played else []
    head = ["specification", "for servers", *named, *shown, "untested", *layer, "for clients only"]
    rows = []
    by_spec: dict[str, list[ClauseCoverage]] = {}
    for one in found.clauses.values():
        by_spec.setdefault(one.spec, []).append(one)
    everything = list(found.clauses.values())
    for spec, clauses in [*by_spec.items(), ("all", everything)]:
        servers = [one for one in clauses if one.for_servers]
        counts = Counter(one.state for one in servers)
        row = [spec, str(len(servers))]
        if not played:
            row.append(str(sum(bool(one.named_by) for one in servers)))
        row += [str(counts[state]) for state in shown]
        row.append(str(counts[State.UNTESTED]))
        if played:
            row.append(str(sum("pass" in one.reference for one in servers)))
        row.append(str(len(clauses) - len(servers)))
        rows.append(row)
    return [head, *rows]


def _error_table(library: Library, found: Coverage) -> Table:
    rows = [["code", "http", "name", "seen", "on", "provoked by"]]
    for row in code_rows(library, found):
        servers = releases(row.seen.servers)
        on = ", ".join(servers)
        if len(servers) > _SERVERS_SHOWN:
            on = f"{servers[0]} - {servers[-1]} ({len(servers)})"
        if row.seen.reference:
            on += f"{', ' if on else ''}reference ({row.seen.reference})"
        provoked = row.case or (f"nothing: {row.why_not}" if row.why_not else "")
        if row.on_reference:
            provoked += f"; on the reference layer {', '.join(row.on_reference)}"
        http = "" if row.http is None else str(row.http)
        seen = str(row.seen.count) if row.seen.count else ""
        rows.append([str(row.code), http, row.name, seen, on, provoked])
    return rows


def _vacuous(found: Coverage, verbose: bool) -> Iterator[Text]:
    """Cells that show nothing about the feature that they are about, by reason."""
    why = Counter((one.cell.target, one.why) for one in found.vacuous)
    for (target, reason), count in sorted(why.items()):
        yield line((f"{plural(count, 'vacuous cell')} of {target}: {reason}", "yellow"))
    if verbose:
        yield from (line(f"  {one.cell.name}: {one.why}") for one in found.vacuous)
    if found.controls:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(found.controls.items()))
        yield line(f"controls: {counts}")
    elif found.vacuous:
        yield line("no controls: jetproof controls --run DIR plays them")


def _listed(title: str, items: Sequence[str], style: str) -> Iterator[Text]:
    if items:
        yield line((title, style))
        yield from (line(f"  {item}") for item in items)


def _missing(found: Coverage, played: bool, verbose: bool) -> Iterator[Text]:
    bare = found.without_cases
    yield from _listed(
        f"{plural(len(bare), 'clause')} for servers without a case",
        [f"{one.clause}  {one.text}" for one in bare],
        ALARM,
    )
    if not played:
        return
    for state in (State.NOT_PLAYED, State.NOT_APPLICABLE, State.REFERENCE, State.VACUOUS):
        them = [one for one in found.clauses.values() if one.for_servers and one.state is state]
        if verbose or state in (State.NOT_PLAYED, State.VACUOUS):
            texts = [f"{one.clause}  {one.text}" for one in them]
            yield from _listed(f"{state}: {plural(len(them), 'clause')}", texts, "yellow")
    yield from _vacuous(found, verbose)
    yield from _listed(
        "messages without a schema",
        [f"{name}  {count}" for name, count in sorted(found.undescribed.items())],
        ALARM,
    )
    codes = [str(code) for code in sorted(found.codes) if code not in CODES]
    inside = sum(code in CODES for code in found.codes)
    yield line(
        f"error codes seen: {inside} of {len(CODES)} from {CODES[0]} to {CODES[-1]}, "
        f"{len(codes)} others; --errors lists them"
    )
    unseen = [name for name, count in found.schemas.items() if not count]
    yield line(f"schemas seen: {len(found.schemas) - len(unseen)}")
