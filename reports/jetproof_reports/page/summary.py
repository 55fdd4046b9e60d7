"""`summary_markdown` and `badge`: the report in short, from the same document as the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

from jetproof_reports.page.views import REFERENCE
from jetproof_reports.plain import Plain

NAMED = 20
"""How many failing cells the summary names; the page has all."""

REASON = 160
_MARKUP = re.compile(r"([\\`*_\[\]#!|~@$]|:(?=//))")
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_PLAIN_LINK = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9./?=&#%_~:+-]*")


def summary_markdown(document: Mapping[str, Any]) -> str:
    """For the page of a CI job: a sentence for each target, what is new, the known causes, and then
    verdicts by release and how much of the text is tested."""
    head, tables, overview = document["head"], document["tables"], document["overview"]
    parts = [
        f"## Jetproof: {_headline(document)}",
        *_lines(overview),
        *_warnings(head),
        *_news(document),
        *_groups(overview),
        *_positions(overview),
        *_not_scored(overview),
        *_by_release(head),
        *_reference(head),
        *_by_library(head),
        *_coverage(tables.get("coverage")),
        *_flaky(tables.get("flakiness")),
    ]
    return "\n\n".join(parts) + "\n"


def badge(document: Mapping[str, Any]) -> Plain:
    """As the endpoint of a badge service reads it."""
    head = document["head"]
    counts, failing = _judged(head), document["overview"]["failing"]
    message, colour = f"{_conforming(counts)} conform", "brightgreen"
    if not any(counts.values()):
        message, colour = "no cells", "lightgrey"
    elif counts.get("error"):
        message, colour = f"{counts['error']} without a verdict", "orange"
    elif failing:
        message, colour = f"{failing} of {sum(counts.values())} do not conform", "red"
    if libraries := len(head["gate_counts"]):
        message = f"{libraries} {'library' if libraries == 1 else 'libraries'}: {message}"
    if any(_unfinished(run) for run in head["runs"]):
        message, colour = f"partial: {message}", "lightgrey"
    return {"schemaVersion": 1, "label": "jetproof", "message": message, "color": colour}


def _judged(head: Plain) -> Counter[str]:
    """Cells by verdict that count: those of releases, and of libraries by what they claim."""
    counts: Counter[str] = Counter(head["counts"])
    for mine in head["gate_counts"].values():
        counts.update(mine)
    return counts


def _headline(document: Mapping[str, Any]) -> str:
    head, failing = document["head"], document["overview"]["failing"]
    clients = head["rows"]["client"]
    cases, releases = clients.count(None), len(_releases(head))
    counts = _judged(head)
    told = [f"{_counted(cases, 'case')} on {_counted(releases, 'release')}"]
    if libraries := len(head["gate_counts"]):
        theirs = {case for case, of in zip(head["rows"]["case"], clients, strict=True) if of}
        noun = "library" if libraries == 1 else "libraries"
        told.append(f"{_counted(len(theirs), 'case')} for {libraries} {noun}")
    told.append(f"{failing:,} fail" if failing else "nothing fails")
    if counts.get("error"):
        told.append(f"{counts['error']:,} without a verdict")
    return ", ".join(told)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _conforming(counts: Mapping[str, int]) -> int:
    return sum(counts.get(name, 0) for name in ("pass", "known", "position", "warn"))


def _unfinished(run: Mapping[str, Any]) -> bool:
    return bool(run.get("partial") or run.get("interrupted") or not run.get("finished_at"))


def _warnings(head: Plain) -> list[str]:
    return [
        f"> Run {escaped(str(run.get('run_id')))} is not whole: this is no result to publish."
        for run in head["runs"]
        if _unfinished(run)
    ]


def _by_release(head: Plain) -> list[str]:
    looks = [look for look in head["verdicts"] if head["counts"].get(look["name"])]
    if not looks and head["gate_counts"]:
        return []
    rows = [
        ["Release", *(f"{look['symbol']} {look['name']}" for look in looks)],
        ["---", *("---:" for _ in looks)],
    ]
    grid = _scored_grid(head)
    for place, column in _releases(head):
        rows_of_servers = zip(grid, head["rows"]["client"], strict=True)
        counts = Counter(letters[place] for letters, client in rows_of_servers if not client)
        rows.append([escaped(_name(column)), *(str(counts[look["code"]] or "·") for look in looks)])
    return [_table(rows)]


def _scored_grid(head: Plain) -> list[str]:
    """The grid without the cells that an edition leaves out."""
    apart = set(head.get("not_scored", ()))
    if not apart:
        return list(head["grid"])
    number, rows = 0, []
    for letters in head["grid"]:
        kept = []
        for letter in letters:
            kept.append(" " if number in apart and letter != " " else letter)
            number += letter != " "
        rows.append("".join(kept))
    return rows


def _by_library(head: Plain) -> list[str]:
    """Verdicts by library, as its own claims have it, and what the reference client saw."""
    counts = head["gate_counts"]
    if not counts and not head["witness_counts"]:
        return []
    total: Counter[str] = sum((Counter(mine) for mine in counts.values()), Counter())
    looks = [look for look in head["verdicts"] if total[look["name"]]]
    rows = [
        ["Library", *(f"{look['symbol']} {look['name']}" for look in looks), "Claims"],
        ["---", *("---:" for _ in looks), "---"],
    ]
    for client, mine in counts.items():
        claims = head["libraries"].get(client, {}).get("claims", {})
        told = ", ".join(f"{spec} revision {number}" for spec, number in sorted(claims.items()))
        cells = (str(mine.get(look["name"]) or "·") for look in looks)
        rows.append([escaped(client), *cells, escaped(told)])
    parts = ["### Client libraries", _table(rows)] if counts else []
    if witnessed := head["witness_counts"]:
        told = _verdicts_told(head, witnessed)
        parts.append(f"Apart from that, the reference client: {told}.")
    beside = sum(head["client_counts"].values()) - total.total()
    if beside:
        parts.append(f"{beside:,} more by the text in force, which the library does not claim.")
    return parts


def _releases(head: Plain) -> list[tuple[int, Plain]]:
    """Columns by their place, without those of the reference layer."""
    columns = enumerate(head["columns"])
    return [(place, column) for place, column in columns if column["provider"] != REFERENCE]


def _reference(head: Plain) -> list[str]:
    counts = head["reference_counts"]
    if not counts:
        return []
    told = _verdicts_told(head, counts)
    return [f"Apart from that, the reference layer: {told}. It counts as no release's conformance."]


def _verdicts_told(head: Plain, counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{counts[look['name']]:,} {look['name']}"
        for look in head["verdicts"]
        if counts.get(look["name"])
    )


def _lines(overview: Plain) -> list[str]:
    """One sentence a target: the newest release of each line in sight, the others folded."""
    told = [_line(line) for line in overview["lines"] if line["first"]]
    rest = [_line(line) for line in overview["lines"] if not line["first"]]
    parts = ["\n".join(told)] if told else ["Nothing was played."]
    if rest:
        folded = "\n".join(rest)
        summary = f"{_counted(len(rest), 'more target')}"
        parts.append(f"<details><summary>{summary}</summary>\n\n{folded}\n\n</details>")
    return parts


def _line(line: Plain) -> str:
    symbol = "✗" if line["code"] else "✓" if line["conforms"] else "≈"
    return f"- {symbol} {escaped(line['verdict'])}"


def _news(document: Mapping[str, Any]) -> list[str]:
    """What is unstable, what fails and no ledger explains, what has no verdict: cells by number."""
    news = document["overview"]["news"]
    if not news:
        return []
    places = _places(document["head"])
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for number in chain.from_iterable(news):
        case, verdict, reason, where = places[number]
        grouped.setdefault((case, verdict, reason), []).append(where)
    where = "Library" if all(" on " in one for some in grouped.values() for one in some) else "On"
    rows = [["Verdict", "Case", where, "Why"], ["---"] * 4]
    for (case, verdict, reason), releases in list(grouped.items())[:NAMED]:
        rows.append([verdict, escaped(case), escaped(_span(releases)), escaped(_short(reason))])
    left = len(grouped) - NAMED
    more = [f"and {left} more in the report"] if left > 0 else []
    return ["### New and unstable", _table(rows), *more]


def _places(head: Plain) -> list[tuple[str, str, str, str]]:
    """Cells by number: case, verdict, reason, and where it was played."""
    names = {look["code"]: f"{look['symbol']} {look['name']}" for look in head["verdicts"]}
    found: list[tuple[str, str, str, str]] = []
    for row, letters in enumerate(head["grid"]):
        case, client = head["rows"]["case"][row], head["rows"]["client"][row]
        for place, letter in enumerate(letters):
            if letter != " ":
                name = _name(head["columns"][place])
                reason = head["reasons"][head["cells"]["reason"][len(found)]]
                where = f"{client} on {name}" if client else name
                found.append((case, names[letter], reason, where))
    return found


def _groups(overview: Plain) -> list[str]:
    groups = overview["groups"]
    if not groups:
        return []
    rows = [
        ["Severity", "Kind", "Id", "What it does", "Cells", "Since", "Upstream"],
        ["---", "---", "---", "---", "---:", "---", "---"],
    ]
    for group in groups[:NAMED]:
        id = f"{group['client']}: {group['id']}" if group["client"] else group["id"]
        rows.append(
            [
                escaped(group["severity"] or ""),
                escaped(group["kind"] or "known"),
                escaped(id),
                escaped(group["does"]),
                str(group["cells"]),
                escaped(group["since"]),
                _link(group["upstream"]),
            ]
        )
    left = len(groups) - NAMED
    more = [f"and {left} more in the report"] if left > 0 else []
    return [f"### {_counted(len(groups), 'known cause')}", _table(rows), *more]


def _link(address: str | None) -> str:
    """A link to where a project tracks it; one that could break out of the link stays text."""
    if not address:
        return ""
    name = "/".join(address.rstrip("/").split("/")[-2:])
    return f"[{escaped(name)}]({address})" if _PLAIN_LINK.fullmatch(address) else escaped(address)


def _positions(overview: Plain) -> list[str]:
    count = overview["positions"]
    if not count:
        return []
    verb = "takes a position" if count == 1 else "take a position"
    return [
        f"{_counted(count, 'cell')} {verb} where the text does not decide: "
        "`jetproof positions RUN` prints them."
    ]


def _not_scored(overview: Plain) -> list[str]:
    """Older pages know no editions."""
    line = overview.get("not_scored")
    return [f"{escaped(line)}. They count in no number here."] if line else []


def _span(releases: list[str]) -> str:
    if len(releases) <= 3:
        return ", ".join(releases)
    return f"{releases[0]} … {releases[-1]} ({len(releases)})"


def _coverage(coverage: list[Plain] | None) -> list[str]:
    """Where only libraries were played, the sentences that bind them."""
    if not coverage:
        return []
    theirs = [clause for clause in coverage if clause["actor"] != "server"]
    alone = not any(clause["covered"] for clause in coverage if clause["actor"] == "server")
    if alone and any(clause["covered"] for clause in theirs):
        coverage = theirs
    rows = [["Specification", "Sentences", "Tested", "Untested"], ["---", "---:", "---:", "---:"]]
    for spec in sorted({str(clause["spec"]) for clause in coverage}):
        mine = [clause for clause in coverage if str(clause["spec"]) == spec]
        tested = sum(bool(clause["covered"]) for clause in mine)
        rows.append([escaped(spec), str(len(mine)), str(tested), str(len(mine) - tested)])
    title = "Sentences for clients" if coverage is theirs else "Sentences"
    return [f"### {title} and their tests", _table(rows)]


def _flaky(flakiness: list[Plain] | None) -> list[str]:
    count = sum(bool(row.get("flaky")) for row in flakiness or [])
    if not count:
        return []
    verb = "cell gave" if count == 1 else "cells gave"
    return [f"{count} {verb} different verdicts for the same content: see the report."]


def _name(column: Mapping[str, str]) -> str:
    provider = column["provider"]
    return column["server"] if provider == "embedded" else f"{column['server']} {provider}"


def _short(text: str) -> str:
    return text if len(text) <= REASON else f"{text[:REASON]}…"


def _table(rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def escaped(text: str) -> str:
    """Text that a server may have chosen, as text: no markup, no mention, no forged line."""
    text = _UNSEEN.sub(lambda found: f"\\x{ord(found[0]):x}", text)
    text = _MARKUP.sub(r"\\\1", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
