"""JUnit XML, in the dialect that pytest writes and CI systems read.

fail and stale are failures, error is an error; known and n/a are skipped, with their reason; warn
and position pass, and say what was seen. The file appears when the run is over, or interrupted,
and then as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.errors import JetproofError
from jetproof.events import Event
from jetproof.model.verdict import Verdict
from jetproof.sinks.evidence import mismatch_table, transcript
from jetproof.sinks.files import replace_file
from jetproof.sinks.paint import Paint
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.text import visible, visible_lines

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_SKIPPED = {Verdict.KNOWN: "known deviation", Verdict.NOT_APPLICABLE: "not applicable"}
_FAILED = (Verdict.FAIL, Verdict.STALE)
_SHOWN = (Verdict.WARN, Verdict.POSITION)


class JUnit:
    """The sink for `--junit FILE`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._record = Record()
        self._written = False

    @classmethod
    def create(cls, path: Path) -> JUnit:
        """Proves now that the file can be written."""
        sink = cls(path)
        sink._write(b'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="jetproof"/>\n')
        return sink

    def handle(self, event: Event) -> None:
        self._record.handle(event)

    def close(self) -> None:
        """Write the file, whatever was played."""
        if not self._written:
            self._written = True
            self._write(junit_xml(self._record))

    def _write(self, data: bytes) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, data)
        except OSError as error:
            raise JetproofError(
                f"cannot write the JUnit file {self._path}: {error.strerror or error}",
                phase="write",
                hint="choose another place with --junit",
            ) from error


def junit_xml(record: Record) -> bytes:
    """The whole document."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    root = Element("testsuites", name="jetproof")
    suites: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in record.outcomes:
        suites[outcome.cell.suite].append(outcome)
    stamp = record.started.started_at if record.started else datetime.now(UTC).isoformat()
    for name, outcomes in sorted(suites.items()):
        verdicts = [outcome.cell.verdict for outcome in outcomes]
        suite = SubElement(
            root,
            "testsuite",
            name=visible(name),
            errors=str(verdicts.count(Verdict.ERROR)),
            failures=str(sum(verdict in _FAILED for verdict in verdicts)),
            skipped=str(sum(verdict in _SKIPPED for verdict in verdicts)),
            tests=str(len(verdicts)),
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
    verdict, message = cell.verdict, visible(cell.reason, 1000)
    if verdict in _FAILED:
        SubElement(element, "failure", type=verdict.value, message=message).text = _body(outcome)
    elif verdict is Verdict.ERROR:
        SubElement(element, "error", type=verdict.value, message=message).text = _body(outcome)
    elif verdict in _SKIPPED:
        SubElement(element, "skipped", type=_SKIPPED[verdict], message=message).text = message
    elif verdict in _SHOWN:
        SubElement(element, "system-out").text = _body(outcome)


def _body(outcome: Outcome) -> str:
    """Expected against actual, the last frames, the server's log: what a CI page shows."""
    cell, paint = outcome.cell, Paint(width=120)
    lines = [visible(cell.reason, 4000)] if cell.reason else []
    lines += [f"{visible(key)}: {visible(text, 1000)}" for key, text in cell.position.items()]
    if outcome.failed:
        lines += ["", *mismatch_table(outcome.failed, paint)]
    if outcome.frames:
        lines += ["", "last frames", *transcript(outcome.frames, paint)]
    if cell.server_log and cell.verdict is Verdict.ERROR:
        lines += ["", "server log", *(f"    {visible(line, 300)}" for line in cell.server_log)]
    if cell.replay:
        lines += ["", f"replay it: {visible(cell.replay)}"]
    return visible_lines("\n".join(lines))


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.3f}"
