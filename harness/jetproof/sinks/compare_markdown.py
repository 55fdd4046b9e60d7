"""A comparison as a Markdown comment for a pull request.

What a server or a library says stands in code spans, where neither Markdown nor a mention works. The
comment stays below what GitHub accepts; what does not fit is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jetproof.campaigns.compare import Compare
from jetproof.campaigns.compare_rulings import Difference, Kind
from jetproof.model.verdict import Verdict
from jetproof.sinks.compare_report import About, agreement_rows, conclusion, what, wire_text
from jetproof.sinks.text import visible

MARKER = "<!-- jetproof compare -->"
"""The first line, by which a later comment finds the one that it replaces."""
MOST_CHARACTERS = 60_000
_ROWS = 30
_SPAN = 300
_HEADINGS = {
    Kind.WORSE: "Worse on head",
    Kind.UNDECIDED: "Without a verdict",
    Kind.BETTER: "Better on head",
    Kind.CHANGED: "Changed where the text is silent, or still wrong in another way",
    Kind.ONCE: "Seen once, not again",
}
_OPEN = (Kind.WORSE, Kind.UNDECIDED)
_SIGNS = {Verdict.PASS: "✅", Verdict.FAIL: "❌"}


def compare_markdown(about: About, compare: Compare, *, stopped: str = "") -> str:
    """The whole comment."""
    if not compare.complete:
        symbol, text = Verdict.ERROR, f"the comparison is not complete: {stopped or 'stopped'}"
    else:
        symbol, text = conclusion(compare)
    lines = [MARKER, f"### {_SIGNS.get(symbol, '⚠️')} Jetproof: {_plain(text)}", ""]
    lines += [
        "| | target | build |",
        "|---|---|---|",
        *(
            f"| {name} | {code(label)} | {code(', '.join(compare.builds(side))[:40])} |"
            for side, (name, label) in enumerate((("base", about.base), ("head", about.head)))
        ),
        "",
    ]
    if about.left_out:
        lines += [f"Left out: {'; '.join(map(_plain, about.left_out))}.", ""]
    lines += _dead(compare)
    for kind in Kind:
        lines += _section(compare.of_kind(kind), kind)
    lines += _agreement(compare)
    lines += _wire(compare)
    lines += _one_sided(compare)
    return _bounded("\n".join(lines).rstrip() + "\n")


def code(text: str) -> str:
    """A code span that nothing in the text can leave; a table cell keeps its columns."""
    shown = visible(text, _SPAN).replace("|", "¦")
    if not shown:
        return ""
    longest = max((len(run) for run in _backticks(shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _backticks(text: str) -> Iterator[str]:
    run = ""
    for char in text:
        if char == "`":
            run += char
        elif run:
            yield run
            run = ""
    if run:
        yield run


def _plain(text: str) -> str:
    """Text of our own with names in it: Markdown does not act on it."""
    return "".join(f"\\{char}" if char in r"\`*_[]<>|#@" else char for char in visible(text, 600))


def _dead(compare: Compare) -> list[str]:
    lines: list[str] = []
    for side, name in enumerate(("base", "head")):
        if compare.complete and not compare.started(side):
            log = [f"    {visible(line, _SPAN)}" for line in compare.log(side)[-12:]]
            lines += [f"The server of {name} does not start:", "", *log, ""]
    return lines


def _section(found: Sequence[Difference], kind: Kind) -> list[str]:
    if not found:
        return []
    heading = f"{_HEADINGS[kind]} ({len(found)})"
    lines = ["| case | what |", "|---|---|"]
    for one in found[:_ROWS]:
        text = "<br>".join(code(line) for line in what(one))
        unsure = "" if one.confirmed else " (not played again)"
        lines.append(f"| {code(one.key)}{unsure} | {text} |")
    if len(found) > _ROWS:
        lines.append(f"| and {len(found) - _ROWS} more | |")
    if kind is Kind.WORSE and found[0].head.replay:
        lines += ["", f"Play it again: {code(found[0].head.replay)}"]
    return _folded(heading, lines, is_open=kind in _OPEN)


def _agreement(compare: Compare) -> list[str]:
    if not compare.agreement:
        return []
    lines = ["| suite | same verdict | same positions |", "|---|---|---|"]
    for name, verdicts, positions in agreement_rows(compare.agreement):
        lines.append(f"| {code(name) if '/' in name else name} | {verdicts} | {positions} |")
    return _folded("Agreement by suite", lines, is_open=False)


def _wire(compare: Compare) -> list[str]:
    sure = [one for one in compare.wire if one.confirmed]
    if not sure:
        return []
    lines = ["| field | cases | for example |", "|---|---|---|"]
    for one in sure[:_ROWS]:
        lines.append(f"| {code(wire_text(one))} | {len(one.cases)} | {code(one.example)} |")
    if len(sure) > _ROWS:
        lines.append(f"| and {len(sure) - _ROWS} more | | |")
    return _folded(f"On the wire ({len(sure)})", lines, is_open=False)


def _one_sided(compare: Compare) -> list[str]:
    if not compare.one_sided:
        return []
    count = sum(len(one.keys) for one in compare.one_sided)
    lines = ["| cases | only on | why |", "|---|---|---|"]
    for one in compare.one_sided[:_ROWS]:
        lines.append(f"| {len(one.keys)} | {one.side} | {code(one.reason)} |")
    return _folded(f"Not compared: they apply to one side only ({count})", lines, is_open=False)


def _folded(heading: str, lines: Sequence[str], *, is_open: bool) -> list[str]:
    if is_open:
        return [f"#### {heading}", "", *lines, ""]
    return [f"<details><summary>{heading}</summary>", "", *lines, "", "</details>", ""]


def _bounded(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    kept: list[str] = []
    size = 0
    for line in text.split("\n"):
        size += len(line) + 1
        if size > MOST_CHARACTERS:
            break
        kept.append(line)
    dropped = text.count("\n") - len(kept)
    still_open = "\n".join(kept).count("<details>") > "\n".join(kept).count("</details>")
    kept += ["", *(["</details>", ""] if still_open else [])]
    return "\n".join(kept) + f"{dropped} more lines do not fit into a comment.\n"
