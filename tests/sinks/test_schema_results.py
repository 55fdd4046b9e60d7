"""A broken schema is shown wherever a red cell is: console, JUnit, CTRF, `--json`, the run folder."""

from __future__ import annotations

import io
import json
from pathlib import Path
from xml.etree import ElementTree

from jetproof.events import Event, SchemaJudged
from jetproof.results import read_run
from jetproof.results.rows import plain
from jetproof.sinks.console.campaign import Console
from jetproof.sinks.ctrf import Ctrf
from jetproof.sinks.document import Document
from jetproof.sinks.files import RunFolder
from jetproof.sinks.junit import JUnit
from jetproof.targets.redaction import without_passwords
from support.documents import Validate
from support.schema_results import broken_schema, schema_result

from .samples import whole_run

NAME = "schemas::pub-ack @2.15.1 any"
BROKEN = broken_schema(
    '"seq" is a required property', reason="seq is missing", unknown_fields=("value", "mirror")
)


def events(*more: Event) -> list[Event]:
    given = whole_run()
    return [*given[:-1], *(more or (SchemaJudged(BROKEN),)), given[-1]]


def test_the_console_explains_it() -> None:
    stream = io.StringIO()
    console = Console(stream)
    for event in events():
        console.handle(event)
    console.close()
    text = stream.getvalue()
    assert f"fail     {NAME}" in text
    assert '"seq" is a required property' in text
    assert "does not conform" in text.splitlines()[-1]


def test_junit_and_ctrf_list_it_as_a_failure(tmp_path: Path) -> None:
    for sink in (JUnit(tmp_path / "junit.xml"), Ctrf(tmp_path / "ctrf.json")):
        for event in events():
            sink.handle(event)
        sink.close()
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    [case] = root.findall("./testsuite[@name='schemas']/testcase")
    assert case.get("name") == NAME
    failure = case.find("failure")
    assert failure is not None
    assert failure.get("message") == "seq is missing"
    assert '"seq" is a required property' in (failure.text or "")
    [test] = json.loads((tmp_path / "ctrf.json").read_text())["results"]["tests"]
    assert (test["name"], test["suite"], test["status"]) == (NAME, ["schemas"], "failed")
    assert test["extra"]["position"] == {"seen": "12", "unknown-fields": "value, mirror"}


def test_the_document_has_it_beside_the_cells(conforms: Validate) -> None:
    sink = Document()
    for event in events():
        sink.handle(event)
    document = sink.build(results=None)
    conforms("cli/run", plain(document))
    assert (document.cells, document.exit_code) == ((), 1)
    [row] = document.schemas or ()
    assert (row.name, row.schema, row.broken) == (NAME, "pub-ack", 1)
    assert document.digest.new == [NAME]


def test_the_run_folder_keeps_it_whole(tmp_path: Path, conforms: Validate) -> None:
    fine = schema_result("stream-info", spec="adr-50", spec_revision=7)
    with RunFolder.create(tmp_path / "run") as folder:
        for event in events(SchemaJudged(BROKEN), SchemaJudged(fine)):
            folder.handle(event)
    lines = (tmp_path / "run" / "schemas.jsonl").read_text().splitlines()
    assert len(lines) == 2
    for line in lines:
        conforms("results/schema", json.loads(line))
    run = read_run(tmp_path / "run")
    assert run.schemas == (BROKEN, fine)
    assert (run.document["cells"], run.document["schemas"]) == (0, 2)
    assert run.document["verdicts"] == {"fail": 1, "pass": 1}


def test_no_password_of_a_target_is_shown() -> None:
    target = "nats://me:secret@127.0.0.1:4222"
    event = SchemaJudged(schema_result(target=target, replay=f"jetproof run --server {target}"))
    assert "secret" not in repr(without_passwords(event))
