"""`summary_markdown` and `badge`: the report in short, from the same document as the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from jetproof.model.verdict import Verdict
from jetproof_reports.page.plain import Plain
from jetproof_reports.page.views import REFERENCE

NAMED = 20
"""How many failing cells the summary names; the page has all."""

REASON = 160
_MARKUP = re.compile(r"([\\`*_\[\]#!|~@$]|:(?=//))")
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_ALARMS = (Verdict.FAIL.value, Verdict.STALE.value, Verdict.ERROR.value)


def summary_markdown(document: Mapping[str, Any]) -> str:
    """For the page of a CI job: verdicts by release, what fails, how much of the text is tested."""
    head, tables = document["head"], document["tables"]
    parts = [
        f"## Jetproof: {_headline(head)}",
        *_warnings(head),
        _by_release(head),
        *_reference(head),
        *_failing(head),
        *_coverage(tables.get("coverage")),
        *_deviations(tables.get("deviations")),
        *_flaky(tables.get("flakiness")),
    ]
    return "\n\n".join(parts) + "\n"


def badge(document: Mapping[str, Any]) -> Plain:
    """As the endpoint of a badge service reads it."""
    head = document["head"]
    counts = head["counts"]
    failing = sum(counts.get(name, 0) for name in ("fail", "stale"))
    message, colour = f"{_conforming(counts)} conform", "brightgreen"
    if not any(counts.values()):
        message, colour = "no cells", "lightgrey"
    elif counts.get("error"):
        message, colour = f"{counts['error']} without a verdict", "orange"
    elif failing:
        message, colour = f"{failing} of {sum(counts.values())} do not conform", "red"
    if any(_unfinished(run) for run in head["runs"]):
        message, colour = f"partial: {message}", "lightgrey"
    return {"schemaVersion": 1, "label": "jetproof", "message": message, "color": colour}


def _headline(head: Plain) -> str:
    cases, releases = len(head["grid"]), len(_releases(head))
    counts = head["counts"]
    failing = sum(counts.get(name, 0) for name in ("fail", "stale"))
    told = [f"{_counted(cases, 'case')} on {_counted(releases, 'release')}"]
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


def _by_release(head: Plain) -> str:
    looks = [look for look in head["verdicts"] if head["counts"].get(look["name"])]
    rows = [
        ["Release", *(f"{look['symbol']} {look['name']}" for look in looks)],
        ["---", *("---:" for _ in looks)],
    ]
    for place, column in _releases(head):
        counts = Counter(letters[place] for letters in head["grid"])
        rows.append([escaped(_name(column)), *(str(counts[look["code"]] or "·") for look in looks)])
    return _table(rows)


def _releases(head: Plain) -> list[tuple[int, Plain]]:
    """Columns by their place, without those of the reference layer."""
    columns = enumerate(head["columns"])
    return [(place, column) for place, column in columns if column["provider"] != REFERENCE]


def _reference(head: Plain) -> list[str]:
    counts = head["reference_counts"]
    if not counts:
        return []
    told = ", ".join(
        f"{counts[look['name']]:,} {look['name']}"
        for look in head["verdicts"]
        if counts.get(look["name"])
    )
    return [f"Apart from that, the reference layer: {told}. It counts as no release's conformance."]


def _failing(head: Plain) -> list[str]:
    alarms = list(_alarms(head))
    if not alarms:
        return []
    rows = [["Verdict", "Case", "Releases", "Why"], ["---"] * 4]
    for (case, verdict, reason), releases in list(_grouped(alarms).items())[:NAMED]:
        rows.append([verdict, escaped(case), escaped(_span(releases)), escaped(_short(reason))])
    left = len(_grouped(alarms)) - NAMED
    more = [f"and {left} more in the report"] if left > 0 else []
    return ["### What fails, or has no verdict", _table(rows), *more]


def _alarms(head: Plain) -> Iterator[tuple[str, str, str, str]]:
    names = {look["code"]: look["name"] for look in head["verdicts"]}
    releases = {place for place, _ in _releases(head)}
    number = 0
    for row, letters in enumerate(head["grid"]):
        for place, letter in enumerate(letters):
            if letter == " ":
                continue
            if names[letter] in _ALARMS and place in releases:
                case = head["rows"]["case"][row]
                reason = head["reasons"][head["cells"]["reason"][number]]
                yield case, names[letter], reason, _name(head["columns"][place])
            number += 1


def _grouped(
    alarms: list[tuple[str, str, str, str]],
) -> dict[tuple[str, str, str], list[str]]:
    """Releases by what they have in common; failures before cells without a verdict."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for case, verdict, reason, release in sorted(alarms, key=lambda alarm: alarm[1] == "error"):
        grouped.setdefault((case, verdict, reason), []).append(release)
    return grouped


def _span(releases: list[str]) -> str:
    if len(releases) <= 3:
        return ", ".join(releases)
    return f"{releases[0]} … {releases[-1]} ({len(releases)})"


def _coverage(coverage: list[Plain] | None) -> list[str]:
    if not coverage:
        return []
    rows = [["Specification", "Sentences", "Tested", "Untested"], ["---", "---:", "---:", "---:"]]
    for spec in sorted({str(clause["spec"]) for clause in coverage}):
        mine = [clause for clause in coverage if str(clause["spec"]) == spec]
        tested = sum(bool(clause["covered"]) for clause in mine)
        rows.append([escaped(spec), str(len(mine)), str(tested), str(len(mine) - tested)])
    return ["### Sentences and their tests", _table(rows)]


def _deviations(deviations: list[Plain] | None) -> list[str]:
    if not deviations:
        return []
    rows = [["Known deviation", "Releases"], ["---", "---"]]
    shown = sorted(deviations, key=lambda one: str(one["id"]))
    rows += [[escaped(one["id"]), escaped(_span(one["servers"]))] for one in shown[:NAMED]]
    left = len(deviations) - NAMED
    more = [f"and {left} more in the report"] if left > 0 else []
    return ["### Where releases are known to differ from the text", _table(rows), *more]


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
