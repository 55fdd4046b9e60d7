"""The first screen: a run on 24 lines of 80 columns, for somebody who does not know its history.

One verdict line per target, new and unstable cells, then the known causes, the worst first. What does not
fit is counted, with the command that lists it.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from jetproof.model.verdict import Result, Verdict
from jetproof.results.digest import Digest, Group, releases, span
from jetproof.sinks.paint import Paint
from jetproof.sinks.text import fit, pad, visible

ROWS = 24
_AROUND = 2
"""The blank line above, and the prompt below."""
_LEAST_GROUPS = 3
_TARGETS_MOST = 8
_QUIET_MOST = 3
"""So many targets without anything new are named where there are more than that."""
_CELLS_MOST = 6
_SHARED_REASON = 5
"""So many cases with one reason are one line."""
_SEVERITY_WIDTH = 8


def first_screen(
    whole: Digest,
    each: Sequence[Digest],
    paint: Paint,
    *,
    verbose: bool = False,
    rows: int = ROWS,
) -> Iterator[str]:
    """`whole` is about all targets together, `each` about one each."""
    lines = list(_verdicts(each or (whole,), paint, verbose))
    for digest_cells in (whole.unstable, whole.new, whole.errors):
        lines += _cells(digest_cells, whole.servers, paint, verbose)
    yield from lines
    room = max(_LEAST_GROUPS, rows - _AROUND - len(lines))
    yield from group_lines(whole, paint, most=None if verbose else room, verbose=verbose)


def group_lines(
    whole: Digest, paint: Paint, *, most: int | None, verbose: bool = False
) -> Iterator[str]:
    """One line per known cause, the worst first; what does not fit is counted."""
    groups = whole.groups
    shown = groups if most is None or len(groups) <= most else groups[: most - 1]
    digits = max((len(str(group.cells)) for group in shown), default=1)
    for group in shown:
        yield from _group(group, whole, paint, digits, verbose)
    if hidden := groups[len(shown) :]:
        kinds = Counter(group.severity or "unclassified" for group in hidden)
        words = ", ".join(f"{count} {name}" for name, count in kinds.items())
        yield paint.dim(f"  and {len(hidden)} more known causes ({words}): -v lists them")


def _verdicts(each: Sequence[Digest], paint: Paint, verbose: bool) -> Iterator[str]:
    shown = each if verbose or len(each) <= _TARGETS_MOST else _notable(each)
    for one in shown:
        look = Verdict.ERROR if one.code == 3 else Verdict.FAIL if one.code else Verdict.PASS
        if look is Verdict.PASS and one.unstable:
            look = Verdict.UNSTABLE
        elif look is Verdict.PASS and not one.conforms:
            look = Verdict.KNOWN
        first, *more = textwrap.wrap(
            visible(one.verdict_line, 2000), paint.width - 2, break_on_hyphens=False
        )
        yield f"{paint.symbol(look)} {paint.bold(first)}"
        yield from (f"  {paint.bold(line)}" for line in more)
    if len(each) > len(shown):
        yield paint.dim(f"  and {len(each) - len(shown)} more targets: -v shows all")


def _notable(each: Sequence[Digest]) -> Sequence[Digest]:
    """The targets to name where there are many: those with something new, then the last ones."""
    new = [one for one in each if one.code or one.unstable]
    rest = [one for one in each if one not in new]
    return [*new[:_TARGETS_MOST], *rest[max(0, len(rest) - _QUIET_MOST) :]]


def _cells(
    cells: Sequence[Result], played: Sequence[str], paint: Paint, verbose: bool
) -> Iterator[str]:
    """One line per case and reason; many cells with one reason are one line."""
    alike: dict[tuple[str, ...], list[Result]] = {}
    for cell in cells:
        place = cell.about, cell.topology, cell.client or "", cell.provider
        alike.setdefault((cell.verdict.value, cell.reason, *place), []).append(cell)
    causes: dict[tuple[str, ...], list[list[Result]]] = {}
    for key, members in alike.items():
        causes.setdefault(key[:2], []).append(members)
    rows = [
        row
        for groups in causes.values()
        for row in (groups if len(groups) < _SHARED_REASON else [[c for g in groups for c in g]])
    ]
    shown = rows if verbose else rows[:_CELLS_MOST]
    for members in shown:
        cell = members[0]
        label = pad(cell.verdict.value, _SEVERITY_WIDTH)
        where = span(releases(one.server for one in members), played)
        if len({one.about for one in members}) > 1:
            name = f"{len(members)} cells"
        else:
            name = visible(cell.name if len(members) == 1 else cell.about)
        many = f" ({where})" if where and len(members) > 1 else ""
        text = f"{name}{many}: {visible(cell.reason, 400)}"
        room = paint.width - 5 - _SEVERITY_WIDTH
        symbol = paint.symbol(cell.verdict)
        yield f"  {symbol} {paint.verdict(cell.verdict, label)} {fit(text, room)}"
    if len(rows) > len(shown):
        yield paint.dim(f"    and {len(rows) - len(shown)} more: explained above")


def _group(group: Group, whole: Digest, paint: Paint, digits: int, verbose: bool) -> Iterator[str]:
    severity = pad(group.severity or "known", _SEVERITY_WIDTH)
    if group.severity in ("loss", "crash"):
        severity = paint.style(severity, "red")
    where = span(group.servers, whole.servers)
    tags = [group.client or "", where, "" if group.kind == "bug" else group.kind or ""]
    tag = "".join(f"[{visible(name)}] " for name in tags if name)
    text = f"{tag}{visible(group.headline, 400)}"
    count = str(group.cells).rjust(digits)
    room = paint.width - 4 - _SEVERITY_WIDTH - digits
    yield f"  {severity} {paint.dim(count)} {fit(text, room)}"
    if verbose:
        upstream = f"  {group.upstream}" if group.upstream else ""
        indent = " " * (4 + _SEVERITY_WIDTH + digits)
        yield paint.dim(f"{indent}{visible(group.id)}{visible(upstream)}")
