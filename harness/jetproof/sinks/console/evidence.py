"""Why a cell has its verdict, for people: clauses, expected against actual, frames, how to replay."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rich.cells import cell_len
from rich.text import Text

from jetproof.model.clause import Clause
from jetproof.model.verdict import ALIVE, Check, FrameRecord, Verdict
from jetproof.sinks.console.lines import Layout, bold, dim, line, pad, worded
from jetproof.sinks.console.tables import fits, table_lines
from jetproof.sinks.record import Outcome
from jetproof.sinks.text import PAYLOAD_CHARACTERS, visible, visible_payload, visible_value

_LOG_LINES = 12
_DIRECTIONS = "<>"
_REASON_CHARACTERS = 600
_WITH_REASON = (Verdict.STALE, Verdict.KNOWN, Verdict.UNSTABLE)
_HEADING = ("where", "what", "expected", "actual")
_INDENT = "    "
_FRAME = 14
"""The indent of what follows on further lines of a frame: the time is left of it."""


def headline(outcome: Outcome, layout: Layout) -> Text:
    """One line per cell: symbol, verdict, name, time."""
    cell = outcome.cell
    verdict = worded(cell.verdict, pad(cell.verdict, 8))
    return line(
        layout.symbol(cell.verdict), " ", verdict, f" {cell.name}  ", dim(duration(cell.ms))
    )


def reason_line(outcome: Outcome, layout: Layout) -> Iterator[Text]:
    """The beginning of the reason, on a line below the cell's own."""
    if outcome.cell.reason:
        reason = visible(outcome.cell.reason, 400)
        yield line(_INDENT, dim(layout.fit(reason, layout.width - len(_INDENT))))


def explain(
    outcome: Outcome,
    clauses: Mapping[str, Clause],
    layout: Layout,
    *,
    whole: bool = False,
    log: bool = False,
    replay: bool = True,
) -> Iterator[Text]:
    """The lines that explain one cell; `whole` shows long payloads, `log` the server's log."""
    cell = outcome.cell
    yield headline(outcome, layout)
    if len(cell.plays) > 1:
        yield line(_INDENT, dim("plays: " + ", ".join(cell.plays)))
    for clause in cell.clauses:
        yield from _clause(clause, clauses.get(clause), layout)
    if cell.reason and (not outcome.failed or cell.verdict in _WITH_REASON):
        yield line()
        yield from layout.wrapped(visible(cell.reason, _REASON_CHARACTERS), _INDENT)
    if outcome.failed:
        yield line()
        yield from mismatch_table(outcome.failed, layout)
    if outcome.frames:
        yield line()
        shown, seen = len(outcome.frames), outcome.frames_seen
        title = f"frames, all {seen}" if shown == seen else f"frames, {shown} of {seen}"
        yield line(_INDENT, bold(title), " ", dim("(ms since the start)"))
        limit = 4000 if whole else PAYLOAD_CHARACTERS
        yield from transcript(outcome.frames, layout, limit=limit)
    if cell.server_log and (log or log_explains(outcome)):
        yield line()
        yield line(_INDENT, bold("server log"))
        yield from log_lines(cell.server_log)
    if cell.replay and replay:
        yield line()
        yield line(_INDENT, "replay it: ", bold(cell.replay))


def log_lines(log: Sequence[str]) -> Iterator[Text]:
    """The end of a server's log."""
    for entry in log[-_LOG_LINES:]:
        yield line(_INDENT, dim(visible(entry, 300)))


def log_explains(outcome: Outcome) -> bool:
    """Whether the server's log explains the verdict: there is no verdict, or the server crashed."""
    crashed = any(check.clause == ALIVE for check in outcome.failed)
    return crashed or outcome.cell.verdict is Verdict.ERROR


def mismatch_table(failed: Sequence[Check], layout: Layout) -> Iterator[Text]:
    """Expected and actual side by side, or one below the other if the values are long."""
    rows = [_mismatch(check) for check in failed]
    cells = [
        (f"step {step}", what, (good, "green"), (bad, "red")) for step, what, good, bad in rows
    ]
    table = table_lines(
        [dim(title) for title in _HEADING],
        cells,
        replace(layout, terminal=False),
        indent=len(_INDENT),
        align_numbers=False,
    )
    if fits(table, layout):
        yield from table
        return
    for step, what, good, bad in rows:
        yield line(_INDENT, dim("step "), step, "  ", what)
        yield from _value("expected", good, "green", layout)
        yield from _value("actual", bad, "red", layout)


def _value(title: str, text: str, style: str, layout: Layout) -> Iterator[Text]:
    head = f"{_INDENT}  {pad(title, 8)}  "
    room = layout.width - len(head) if layout.terminal else None
    for number, piece in enumerate(_chunks(text, room)):
        yield line(head if not number else " " * len(head), (piece, style))


def transcript(
    frames: Sequence[FrameRecord], layout: Layout, *, limit: int = PAYLOAD_CHARACTERS
) -> Iterator[Text]:
    """Frames, one or a few lines each: time, connection, direction, what was on the wire."""
    names = max((cell_len(visible(frame.connection, 20)) for frame in frames), default=0)
    for frame in frames:
        yield from _frame(frame, layout, names, limit)


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


def _clause(name: str, clause: Clause | None, layout: Layout) -> Iterator[Text]:
    label = (name, "blue")
    if clause is None:
        yield line(_INDENT, label)
        return
    kind = clause.level.value if clause.decides else clause.status.value
    lead = len(visible(name)) + len(kind) + 3
    indent = lead if layout.width - lead >= 40 else 2
    texts = textwrap.wrap(visible(clause.text), max(20, layout.width - 4 - indent)) or [""]
    if indent < lead:
        yield line(_INDENT, label, " ", dim(kind))
    else:
        yield line(_INDENT, label, " ", dim(kind), "  ", texts.pop(0))
    for text in texts:
        yield line(_INDENT, " " * indent, text)


def _mismatch(check: Check) -> tuple[str, str, str, str]:
    step = visible(check.step, 40) + (f" [{visible(check.iteration, 20)}]" * bool(check.iteration))
    what = visible(check.path or check.kind, 80)
    return step, what, visible(check.expected, 400), visible_value(check.actual, 400)


def _frame(frame: FrameRecord, layout: Layout, names: int, limit: int) -> Iterator[Text]:
    marks = {">": (">", "cyan"), "<": ("<", "green")}
    mark = marks.get(frame.direction, ("!", "yellow"))
    connection = pad(visible(frame.connection, 20), names)
    head = line(_INDENT, dim(f"{frame.ms:>9.2f}"), f" {connection} ", mark, " ")
    first = [visible(frame.op, 20), *_subjects(frame)]
    details = list(_details(frame, limit))
    if not frame.payload and frame.direction in _DIRECTIONS and frame.op.endswith(("PUB", "MSG")):
        first.append("(empty)")
    shown = layout.flow([bold(first[0]), *first[1:]], head=head, indent=_FRAME, separator="  ")
    if (
        len(shown) == 1
        and shown[0].cell_len + sum(cell_len(text) + 2 for text in details) <= layout.width
    ):
        yield line(shown[0], *(dim(f"  {text}") for text in details))
        return
    yield from shown
    # What is shown whole may be copied: it is not broken into lines.
    room = None if limit > PAYLOAD_CHARACTERS else layout.width - _FRAME
    for text in details:
        for piece in _chunks(text, room):
            yield line(" " * _FRAME, dim(piece))


def _chunks(text: str, columns: int | None) -> Iterator[str]:
    """Text in pieces of that width, or in one piece."""
    size = max(1, len(text)) if columns is None else max(20, columns)
    for start in range(0, max(1, len(text)), size):
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


def check_table(checks: Sequence[Check], layout: Layout) -> Iterator[Text]:
    """Every check that was made, those that hold as well."""
    yield line(_INDENT, bold("checks"))
    for check in checks:
        step, what, expected, actual = _mismatch(check)
        symbol = layout.symbol(Verdict.PASS if check.ok else Verdict.FAIL)
        shown = expected if check.ok else f"{expected}, got {actual}"
        yield line(_INDENT, symbol, f" {step}  {what}  ", dim(shown))
