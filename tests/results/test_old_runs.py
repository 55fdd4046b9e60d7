"""A run folder of a version that called schemas cases: it is read as one of today.

`old-run` was written by that version: two cases on a real server, and on a fake that answers every
request with a pub-ack, which breaks a schema.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jetproof.cli import main
from jetproof.model.verdict import Verdict, exit_code
from jetproof.results import CheckRow, Run, latest_schemas, read_results, read_rows, read_run
from jetproof.results.digest import digest

OLD = Path(__file__).parent / "old-run"
FAKE = "nats://127.0.0.1:4222"


@pytest.fixture
def old() -> Run:
    return read_run(OLD)


def test_schemas_are_results_of_their_own(old: Run) -> None:
    assert {cell.case for cell in old.cells} == {"adr-50/trial::asks", "adr-50/trial::counts"}
    assert len(old.cells) == 4
    seen = {(one.schema, one.target): one.seen for one in old.schemas}
    assert seen == {
        ("stream-create", FAKE): 4,
        ("account-info", "2.15.1"): 1,
        ("pub-ack", "2.15.1"): 2,
        ("stream-action", "2.15.1"): 2,
        ("stream-create", "2.15.1"): 2,
    }


def test_what_broke_a_schema_is_kept_with_it(old: Run) -> None:
    [broken] = [one for one in old.latest_schemas if one.fails]
    assert broken.name == "schemas::stream-create @2.15.1 any external"
    assert broken.violations[0].message == '"type" is a required property'
    assert {one.case for one in broken.violations} == {"adr-50/trial::asks"}
    # As many as the run kept as checks of the made-up case, and that in the same words.
    rows = [row for row in read_rows(OLD, CheckRow) if row.cell == broken.name]
    assert [check.path for check in broken.checks] == [row.path for row in rows]
    assert [check.expected for check in broken.checks] == [row.expected for row in rows]
    assert len(rows) == 5


def test_it_fails_the_run_as_it_did(old: Run) -> None:
    whole = digest(old.results)
    assert [one.name for one in whole.new if one.about.startswith("schemas::")]
    assert len(whole.new) == 3
    assert exit_code(old.results) == 1
    only = [one for one in old.results if one not in old.cells]
    assert exit_code(only) == 1


def test_nothing_is_made_of_a_folder_of_today(tmp_path: Path) -> None:
    shutil.copytree(OLD, tmp_path / "merged")
    assert main(["merge", str(OLD), "--out", str(tmp_path / "new")]) == 1
    cells, schemas = read_results(tmp_path / "new")
    assert len(cells) == 4
    assert (tmp_path / "new" / "schemas.jsonl").read_bytes().count(b"\n") == len(schemas) == 5
    new, old = read_run(tmp_path / "new"), read_run(OLD)
    key = ("schema", "target", "verdict", "seen", "reason", "violations", "unknown_fields")

    def facts(run: Run) -> set[tuple[object, ...]]:
        return {tuple(getattr(one, name) for name in key) for one in run.schemas}

    assert facts(new) == facts(old)


def test_the_newest_result_of_a_schema_counts(old: Run) -> None:
    assert len(latest_schemas([old, old])) == len(old.schemas)
    assert {one.verdict for one in latest_schemas([old])} == {Verdict.PASS, Verdict.FAIL}
