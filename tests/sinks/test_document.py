"""The document of `jetproof run --json`."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

from jetproof.cli.common import write_json
from jetproof.events import CaseFinished, Notice
from jetproof.model.verdict import Verdict
from jetproof.results.documents.playing import RunDocument
from jetproof.sinks.document import Document
from support.documents import Validate

from .samples import every_verdict, hostile_cell, make_cell, play, run_started, whole_run


def built(*finished: CaseFinished, interrupted: bool = False) -> dict[str, object]:
    sink = Document()
    play(sink, whole_run(*finished, interrupted=interrupted))
    return printed(sink.build(results="out/r1"))


def printed(document: RunDocument) -> dict[str, object]:
    """The document as `--json` prints it."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        write_json(document)
    loaded = json.loads(out.getvalue())
    assert isinstance(loaded, dict)
    return loaded


def test_it_conforms_to_its_schema_whatever_the_verdicts(conforms: Validate) -> None:
    conforms("cli/run", built())
    conforms("cli/run", built(*every_verdict(), hostile_cell()))
    conforms("cli/run", built(*every_verdict(), interrupted=True))


def test_a_run_that_never_started_still_gives_a_document(conforms: Validate) -> None:
    document = Document().build(results=None, code=3)
    conforms("cli/run", printed(document))
    assert document.interrupted is True


def test_it_has_what_the_interface_promises() -> None:
    document = built(*every_verdict())
    assert document["run"] == "r1"
    assert document["wall_ms"] == 1234.5
    assert document["slowest_case_ms"] == 12.5
    assert document["verdicts"] == dict.fromkeys(map(str, Verdict), 1)
    cell = next(cell for cell in document["cells"] if cell["verdict"] == "fail")  # type: ignore[attr-defined]
    assert cell["name"] == "adr-50/atomic/commit::fails @2.15.1 single"
    assert cell["case"] == "adr-50/atomic/commit::fails"
    wanted = ("server", "provider", "topology", "client", "spec_revision", "attempt", "ms")
    assert [cell[key] for key in wanted] == ["2.15.1", "embedded", "single", None, 7, 1, 12.5]
    assert cell["clauses"] == ["A50-ATOMIC-042"]
    assert [row["actual"] for row in cell["mismatches"]] == ["10175", '{"absent": true}']


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ([], 0),
        ([Verdict.PASS, Verdict.KNOWN, Verdict.WARN], 0),
        ([Verdict.POSITION, Verdict.NOT_APPLICABLE], 0),
        ([Verdict.PASS, Verdict.FAIL], 1),
        ([Verdict.STALE], 1),
        ([Verdict.FAIL, Verdict.ERROR], 3),
    ],
)
def test_the_exit_code_follows_from_the_verdicts(verdicts: list[Verdict], code: int) -> None:
    cells = [CaseFinished(make_cell(f"c{n}", verdict)) for n, verdict in enumerate(verdicts)]
    assert built(*cells)["exit_code"] == code


def test_a_retry_counts_once() -> None:
    first, second = make_cell(verdict=Verdict.ERROR), make_cell(attempt=2)
    document = built(CaseFinished(first), CaseFinished(second))
    assert [(cell["verdict"], cell["attempt"]) for cell in document["cells"]] == [("pass", 2)]  # type: ignore[attr-defined]


def test_notices_and_partiality_are_told() -> None:
    sink = Document()
    sink.handle(run_started(partial="shard 1/2"))
    sink.handle(Notice("Docker: not available"))
    document = sink.build(results=None)
    assert document.partial == "shard 1/2"
    assert document.notices == ["Docker: not available"]
