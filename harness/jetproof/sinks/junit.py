"""JUnit XML, in the dialect that pytest writes and CI systems read.

fail and stale are failures, and so is an unstable cell that fails the run; error is an error; known
and n/a are skipped, with their reason; warn and position pass, with what was seen. A first suite
without tests holds the first screen of the run. The file appears when the run is over, or interrupted,
and then as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jetproof.results.digest import digest, digests
from jetproof.sinks.console.first_screen import first_screen
from jetproof.sinks.console.lines import Layout, plain
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.report_file import Facts, ReportFile, Status, body, reported, short_reason
from jetproof.sinks.text import visible, visible_lines

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class JUnit(ReportFile):
    """The sink for `--junit FILE`."""

    label = "JUnit"
    option = "--junit"

    def render(self, record: Record, facts: Facts) -> bytes:
        return junit_xml(record)


def junit_xml(record: Record) -> bytes:
    """The whole document."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    root = Element("testsuites", name="jetproof")
    suites: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in record.outcomes:
        suites[outcome.cell.heading].append(outcome)
    stamp = record.started.started_at if record.started else datetime.now(UTC).isoformat()
    for name, outcomes in sorted(suites.items()):
        statuses = [reported(outcome.cell).status for outcome in outcomes]
        suite = SubElement(
            root,
            "testsuite",
            name=visible(name),
            errors=str(statuses.count(Status.ERROR)),
            failures=str(statuses.count(Status.FAILED)),
            skipped=str(statuses.count(Status.SKIPPED)),
            tests=str(len(statuses)),
            time=_seconds(sum(outcome.cell.ms for outcome in outcomes)),
            timestamp=visible(stamp),
        )
        for outcome in outcomes:
            _testcase(suite, outcome)
    if record.results:
        _first_screen(root, record)
    indent(root)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _first_screen(root: Element, record: Record) -> None:
    """The run in its own words, as a first suite without tests: viewers show its output."""
    from xml.etree.ElementTree import Element, SubElement

    suite = Element(
        "testsuite", name="jetproof", errors="0", failures="0", skipped="0", tests="0", time="0.000"
    )
    properties = SubElement(suite, "properties")
    for one in digests(record.results):
        SubElement(properties, "property", name="verdict", value=visible(one.verdict_line, 2000))
    whole = digest(record.results)
    lines = first_screen(whole, digests(record.results), Layout(width=120), verbose=True)
    SubElement(suite, "system-out").text = visible_lines("\n".join(plain(lines)))
    root.insert(0, suite)


def _testcase(suite: Element, outcome: Outcome) -> None:
    from xml.etree.ElementTree import SubElement

    cell = outcome.cell
    element = SubElement(
        suite,
        "testcase",
        classname=visible(cell.heading),
        name=visible(cell.name),
        time=_seconds(cell.ms),
    )
    properties = SubElement(element, "properties")
    facts = {
        "verdict": cell.verdict.value,
        "clauses": " ".join(cell.clauses),
        "server": cell.server,
        "provider": cell.provider,
        "topology": cell.topology,
        "spec": f"{cell.spec}@{cell.spec_revision}" if cell.spec else "",
        "deviation": cell.deviation or "",
        "kind": cell.kind or "",
        "severity": cell.severity or "",
        "upstream": cell.upstream or "",
        "plays": ", ".join(cell.plays),
        "edition": cell.edition or "",
        "scored": "" if cell.scored else "false",
        "replay": cell.replay,
    }
    for name, value in facts.items():
        if value:
            SubElement(properties, "property", name=name, value=visible(value))
    shape, kind, message = reported(cell), cell.verdict.value, short_reason(cell)
    if shape.status is Status.FAILED:
        SubElement(element, "failure", type=kind, message=message).text = body(outcome)
    elif shape.status is Status.ERROR:
        SubElement(element, "error", type=kind, message=message).text = body(outcome)
    elif shape.status is Status.SKIPPED:
        SubElement(element, "skipped", type=shape.kind, message=message).text = message
    elif shape.shown:
        SubElement(element, "system-out").text = body(outcome)


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.3f}"
