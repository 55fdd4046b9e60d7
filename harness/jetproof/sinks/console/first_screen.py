"""The first screen: a run on 24 lines of 80 columns, for somebody who does not know its history.

One verdict line per target. Then what is new: failures with their reason and the command that replays
them, cells without a verdict, unstable cells. Then the known causes, the worst first. What does not
fit is counted.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence

from rich.text import Text

from jetproof.model.verdict import Result, Verdict
from jetproof.results.digest import Digest, Group, releases, span
from jetproof.sinks.console.lines import Layout, bold, dim, line, pad, worded
from jetproof.sinks.text import visible

ROWS = 24
_AROUND = 2
"""The blank line above, and the prompt below."""
_LEAST_GROUPS = 3
_TARGETS_MOST = 8
_QUIET_MOST = 3
"""So many targets without anything new are named where there are more than that."""
_CELLS_MOST = 6
_REPLAYED_MOST = 2
"""So many new cells have their reason and their command on lines of their own."""
_SHARED_REASON = 5
"""So many cases with one reason are one line."""
_SEVERITY_WIDTH = 8


def first_screen(
    whole: Digest,
    each: Sequence[Digest],
    layout: Layout,
    *,
    verbose: bool = False,
    rows: int = ROWS,
) -> Iterator[Text]:
    """`whole` is about all targets together, `each` about one each."""
    lines = list(_verdicts(each or (whole,), layout, verbose))
    lines += _cells((*whole.new, *whole.errors, *whole.unstable), whole.servers, layout, verbose)
    yield from lines
    room = max(_LEAST_GROUPS, rows - _AROUND - len(lines))
    yield from group_lines(whole, layout, most=None if verbose else room, verbose=verbose)


def group_lines(
    whole: Digest, layout: Layout, *, most: int | None, verbose: bool = False
) -> Iterator[Text]:
    """One line per known cause, the worst first; what does not fit is counted."""
    groups = whole.groups
    shown = groups if most is None or len(groups) <= most else groups[: most - 1]
    digits = max((len(str(group.cells)) for group in shown), default=1)
    for group in shown:
        yield from _group(group, whole, layout, digits, verbose)
    if hidden := groups[len(shown) :]:
        kinds = Counter(group.severity or "unclassified" for group in hidden)
        words = ", ".join(f"{count} {name}" for name, count in kinds.items())
        more = f"  and {len(hidden)} more known causes ({words}): -v lists them"
        yield line(dim(layout.fit(more, layout.width)))


def _verdicts(each: Sequence[Digest], layout: Layout, verbose: bool) -> Iterator[Text]:
    shown = each if verbose or len(each) <= _TARGETS_MOST else _notable(each)
    for one in shown:
        look = Verdict.ERROR if one.code == 3 else Verdict.FAIL if one.code else Verdict.PASS
        if look is Verdict.PASS and one.unstable:
            look = Verdict.UNSTABLE
        elif look is Verdict.PASS and not one.conforms:
            look = Verdict.KNOWN
        first, *more = textwrap.wrap(
            visible(one.verdict_line, 2000), layout.width - 2, break_on_hyphens=False
        )
        yield line(layout.symbol(look), " ", bold(first))
        yield from (line("  ", bold(text)) for text in more)
    if len(each) > len(shown):
        yield line(dim(f"  and {len(each) - len(shown)} more targets: -v lists them"))


def _notable(each: Sequence[Digest]) -> Sequence[Digest]:
    """The targets to name where there are many: those with something new, then the last ones."""
    new = [one for one in each if one.code or one.unstable]
    rest = [one for one in each if one not in new]
    return [*new[:_TARGETS_MOST], *rest[max(0, len(rest) - _QUIET_MOST) :]]


def _cells(
    cells: Sequence[Result], played: Sequence[str], layout: Layout, verbose: bool
) -> Iterator[Text]:
    """The first ones with reason and replay command, others on one line, the rest counted."""
    rows = _by_cause(cells)
    shown = rows if verbose else rows[:_CELLS_MOST]
    for number, members in enumerate(shown):
        cell = members[-1]
        label = worded(cell.verdict, pad(cell.verdict.value, _SEVERITY_WIDTH))
        name, reason = _named(members, played), visible(cell.reason, 400)
        room = layout.width - 5 - _SEVERITY_WIDTH
        head = line("  ", layout.symbol(cell.verdict), " ", label, " ")
        if number >= _REPLAYED_MOST and not verbose:
            yield line(head, layout.fit(f"{name}: {reason}", room))
            continue
        yield line(head, layout.fit(name, room))
        if reason:
            yield line("      ", layout.fit(reason, layout.width - 6))
        if cell.replay:
            yield line("      ", bold(cell.replay))
    if len(rows) > len(shown):
        yield line(dim(f"    and {len(rows) - len(shown)} more: explained above"))


def _by_cause(cells: Sequence[Result]) -> list[list[Result]]:
    """Cells with one case and one reason together; many cases with one reason together as well."""
    same: dict[tuple[str, ...], list[Result]] = {}
    for cell in cells:
        place = cell.about, cell.topology, cell.client or "", cell.provider
        same.setdefault((cell.verdict.value, cell.reason, *place), []).append(cell)
    causes: dict[tuple[str, ...], list[list[Result]]] = {}
    for key, members in same.items():
        causes.setdefault(key[:2], []).append(members)
    return [
        row
        for groups in causes.values()
        for row in (groups if len(groups) < _SHARED_REASON else [[c for g in groups for c in g]])
    ]


def _named(members: Sequence[Result], played: Sequence[str]) -> str:
    cell = members[0]
    if len({one.about for one in members}) > 1:
        name = f"{len(members)} cells"
    else:
        name = cell.name if len(members) == 1 else cell.about
    where = span(releases(one.server for one in members), played)
    return f"{name} ({where})" if where and len(members) > 1 else name


def _group(
    group: Group, whole: Digest, layout: Layout, digits: int, verbose: bool
) -> Iterator[Text]:
    style = "red" if group.severity in ("loss", "crash") else ""
    severity = pad(group.severity or "known", _SEVERITY_WIDTH), style
    where = span(group.servers, whole.servers)
    tags = [group.client or "", where, "" if group.kind == "bug" else group.kind or ""]
    tag = "".join(f"[{name}] " for name in tags if name)
    count = str(group.cells).rjust(digits)
    room = layout.width - 4 - _SEVERITY_WIDTH - digits
    text = layout.fit(tag + visible(group.headline, 400), room)
    yield line("  ", severity, " ", dim(count), " ", text)
    if verbose:
        upstream = f"  {group.upstream}" if group.upstream else ""
        yield line(" " * (4 + _SEVERITY_WIDTH + digits), dim(group.id + upstream))
