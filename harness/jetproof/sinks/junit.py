"""JUnit XML, in the dialect that pytest writes and CI systems read.

fail and stale are failures, error is an error; known and n/a are skipped, with their reason; warn
and position pass, and say what was seen. The file appears when the run is over, or interrupted,
and then as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.report_file import Facts, ReportFile, Status, body, reported, short_reason
from jetproof.sinks.text import visible

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
        suites[outcome.cell.suite].append(outcome)
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
    indent(root)
    data: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return data + b"\n"


def _testcase(suite: Element, outcome: Outcome) -> None:
    from xml.etree.ElementTree import SubElement

    cell = outcome.cell
    element = SubElement(
        suite,
        "testcase",
        classname=visible(cell.suite),
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
        "spec": f"{cell.spec}@{cell.spec_revision}",
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
