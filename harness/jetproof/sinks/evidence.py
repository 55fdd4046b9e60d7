"""Why a cell has its verdict, for people: clauses, expected against actual, frames, how to replay.

Everything that came from a server passes through `text.visible` here, and only here.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from jetproof.model.clause import Clause
from jetproof.model.verdict import ALIVE, Check, FrameRecord, Verdict
from jetproof.sinks.paint import Paint
from jetproof.sinks.record import Outcome
from jetproof.sinks.text import (
    PAYLOAD_CHARACTERS,
    fit,
    pad,
    visible,
    visible_payload,
    visible_value,
    width,
)

_LOG_LINES = 12
_DIRECTIONS = "<>"
_REASON_CHARACTERS = 600
_WITH_REASON = (Verdict.STALE, Verdict.KNOWN, Verdict.UNSTABLE)
_HEADING = ("step", "what", "expected", "actual")


def headline(outcome: Outcome, paint: Paint, *, reason: bool = False) -> str:
    """One line a cell: symbol, verdict, name, time, and the beginning of the reason if asked."""
    cell = outcome.cell
    name = visible(cell.name)
    line = (
        f"{paint.symbol(cell.verdict)} {paint.verdict(cell.verdict, pad(cell.verdict, 8))} {name}"
    )
    line = f"{line}  {paint.dim(duration(cell.ms))}"
    if reason and cell.reason:
        room = max(40, paint.width - 12)
        line += f"\n    {paint.dim(fit(visible(cell.reason, 400), room))}"
    return line


def explain(
    outcome: Outcome,
    clauses: Mapping[str, Clause],
    paint: Paint,
    *,
    whole: bool = False,
    log: bool = False,
    replay: bool = True,
) -> Iterator[str]:
    """The lines that explain one cell; `whole` shows long payloads, `log` the server's log."""
    cell = outcome.cell
    yield headline(outcome, paint)
    if len(cell.plays) > 1:
        yield f"    {paint.dim('plays: ' + ', '.join(cell.plays))}"
    for clause in cell.clauses:
        yield from _clause(clause, clauses.get(clause), paint)
    if cell.reason and (not outcome.failed or cell.verdict in _WITH_REASON):
        yield ""
        yield from _wrapped(visible(cell.reason, _REASON_CHARACTERS), paint, "    ")
    if outcome.failed:
        yield ""
        yield from mismatch_table(outcome.failed, paint)
    if outcome.frames:
        yield ""
        shown, seen = len(outcome.frames), outcome.frames_seen
        title = f"frames, all {seen}" if shown == seen else f"frames, the last {shown} of {seen}"
        yield f"    {paint.bold(title)} {paint.dim('(ms since the start)')}"
        limit = 4000 if whole else PAYLOAD_CHARACTERS
        yield from transcript(outcome.frames, paint, limit=limit)
    if cell.server_log and (log or log_explains(outcome)):
        yield ""
        yield f"    {paint.bold('server log')}"
        for line in cell.server_log[-_LOG_LINES:]:
            yield f"    {paint.dim(visible(line, 300))}"
    if cell.replay and replay:
        yield ""
        yield f"    replay it: {paint.bold(visible(cell.replay))}"


def log_explains(outcome: Outcome) -> bool:
    """Whether the server's log says why: there is no verdict, or the server crashed."""
    crashed = any(check.clause == ALIVE for check in outcome.failed)
    return crashed or outcome.cell.verdict is Verdict.ERROR


def mismatch_table(failed: Sequence[Check], paint: Paint) -> Iterator[str]:
    """Expected and actual side by side. A value that does not fit goes onto lines of its own."""
    rows = [_mismatch(check) for check in failed]
    step = _column([row[0] for row in rows], _HEADING[0], 18)
    what = _column([row[1] for row in rows], _HEADING[1], 34)
    expected = _column([row[2] for row in rows], _HEADING[2], 40)
    head = f"{pad(_HEADING[0], step)}  {pad(_HEADING[1], what)}  {pad(_HEADING[2], expected)}"
    yield f"    {paint.dim(f'{head}  {_HEADING[3]}')}"
    room = paint.width - 10 - step - what - expected
    for row in rows:
        first = f"    {pad(row[0], step)}  {pad(row[1], what)}  "
        good, bad = paint.style(row[2], "green"), paint.style(row[3], "red")
        if width(row[2]) <= expected and width(row[3]) <= max(16, room):
            gap = " " * (expected - width(row[2]))
            yield f"{first}{good}{gap}  {bad}"
        else:
            yield first.rstrip()
            yield f"      expected  {good}"
            yield f"      actual    {bad}"


def transcript(
    frames: Sequence[FrameRecord], paint: Paint, *, limit: int = PAYLOAD_CHARACTERS
) -> Iterator[str]:
    """Frames, one or a few lines each: time, connection, direction, what was on the wire."""
    names = max((width(visible(frame.connection, 20)) for frame in frames), default=0)
    for frame in frames:
        yield from _frame(frame, paint, names, limit)


def duration(ms: float) -> str:
    """A length of time as a person says it."""
    if ms < 10:
        return f"{ms:.1f} ms"
    if ms < 1000:
        return f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.1f} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    return f"{minutes} min {seconds:02} s"


def _clause(name: str, clause: Clause | None, paint: Paint) -> Iterator[str]:
    label = paint.style(visible(name), "blue")
    if clause is None:
        yield f"    {label}"
        return
    kind = clause.level.value if clause.decides else clause.status.value
    lead = f"{visible(name)} {kind}  "
    lines = textwrap.wrap(visible(clause.text), max(30, paint.width - 4 - len(lead))) or [""]
    yield f"    {label} {paint.dim(kind)}  {lines[0]}"
    for line in lines[1:]:
        yield f"    {' ' * len(lead)}{line}"


def _mismatch(check: Check) -> tuple[str, str, str, str]:
    step = visible(check.step, 40) + (f" [{visible(check.iteration, 20)}]" * bool(check.iteration))
    what = visible(check.path or check.kind, 80)
    return step, what, visible(check.expected, 400), visible_value(check.actual, 400)


def _column(texts: Sequence[str], heading: str, most: int) -> int:
    return max(len(heading), *(min(most, width(text)) for text in texts))


def _frame(frame: FrameRecord, paint: Paint, names: int, limit: int) -> Iterator[str]:
    arrow = {">": paint.style(">", "cyan"), "<": paint.style("<", "green")}
    mark = arrow.get(frame.direction, paint.style("!", "yellow"))
    head = (
        f"    {paint.dim(f'{frame.ms:>9.2f}')} {pad(visible(frame.connection, 20), names)} {mark} "
    )
    indent = " " * (14 + names + 3)
    first = [visible(frame.op, 20), *_subjects(frame)]
    details = list(_details(frame, limit))
    if not frame.payload and frame.direction in _DIRECTIONS and frame.op.endswith(("PUB", "MSG")):
        first.append("(empty)")
    shown = "  ".join([paint.bold(first[0]), *first[1:]])
    if width("  ".join(first + details)) <= paint.width - len(indent):
        yield head + "  ".join([shown, *map(paint.dim, details)])
        return
    yield head + shown
    for text in details:
        for line in _chunks(
            text, None if limit > PAYLOAD_CHARACTERS else paint.width - len(indent)
        ):
            yield f"{indent}  {paint.dim(line)}"


def _chunks(text: str, columns: int | None) -> Iterator[str]:
    """Text in lines of that width, or whole: what is shown whole may be copied."""
    size = len(text) if columns is None else max(30, columns - 2)
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _subjects(frame: FrameRecord) -> Iterator[str]:
    if frame.subject:
        yield visible(frame.subject, 200)
    if frame.reply:
        yield f"reply={visible(frame.reply, 200)}"
    if frame.status is not None:
        yield f"{frame.status} {visible(frame.description, 120)}".rstrip()
    if frame.note and frame.direction in _DIRECTIONS:
        yield visible(frame.note, 400)


def _details(frame: FrameRecord, limit: int) -> Iterator[str]:
    if frame.note and frame.direction not in _DIRECTIONS:
        yield visible(frame.note, max(limit, 400))
    if frame.headers:
        items = (f"{visible(name, 80)}: {visible(value, limit)}" for name, value in frame.headers)
        yield "{" + ", ".join(items) + "}"
    elif frame.headers is not None and frame.status is None:
        yield "{}"
    if frame.payload:
        yield visible_payload(frame.payload, limit)


def _wrapped(text: str, paint: Paint, indent: str) -> Iterator[str]:
    for line in textwrap.wrap(text, max(30, paint.width - len(indent)), break_on_hyphens=False):
        yield f"{indent}{line}"


def check_table(checks: Sequence[Check], paint: Paint) -> Iterator[str]:
    """Every check that was made, those that hold as well."""
    yield f"    {paint.bold('checks')}"
    for check in checks:
        step, what, expected, actual = _mismatch(check)
        symbol = paint.symbol(Verdict.PASS if check.ok else Verdict.FAIL)
        told = expected if check.ok else f"{expected}, and not {actual}"
        yield f"    {symbol} {step}  {what}  {paint.dim(told)}"
