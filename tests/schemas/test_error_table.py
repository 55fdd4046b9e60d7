"""The error table: number, code and text, by release."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.engine.error_texts import says
from jetproof.load.error_table import read_error_table
from jetproof.load.mistakes import LoadError
from jetproof.model.error_table import ErrorTable
from jetproof.model.versions import Version


@pytest.fixture(scope="module")
def table() -> ErrorTable:
    return read_error_table()


class TestLookup:
    @pytest.mark.parametrize(
        ("err_code", "http"),
        [(10174, 400), (10176, 400), (10185, 412), (10199, 400), (10210, 429), (10059, 404)],
    )
    def test_a_number_has_its_code(self, table: ErrorTable, err_code: int, http: int) -> None:
        entry = table.lookup(err_code, "2.15.1")
        assert entry is not None
        assert (entry.code, entry.http) == (err_code, http)

    def test_every_error_of_the_specification_is_listed(self, table: ErrorTable) -> None:
        assert {10174, 10175, 10176, 10177, 10179, 10199, 10201} <= set(table.codes)

    def test_a_number_that_is_not_listed_has_no_entry(self, table: ErrorTable) -> None:
        assert table.lookup(9, "2.15.1") is None

    def test_a_version_may_be_parsed_already(self, table: ErrorTable) -> None:
        assert table.lookup(10176, Version.parse("2.12.0")) == table.lookup(10176, "2.12.0")

    def test_an_entry_tells_its_name_and_since_when_it_is_there(self, table: ErrorTable) -> None:
        entry = table.lookup(10201, "2.15.1")
        assert entry is not None
        assert (entry.name, entry.since) == (
            "JSAtomicPublishContainsDuplicateMessageErr",
            Version.parse("2.12.1"),
        )

    def test_an_entry_tells_its_case_or_why_there_is_none(self, table: ErrorTable) -> None:
        entries = {entry.code: entry for entry in table.entries}
        assert entries[10183].case == "errors/consumers::negative-ack-wait"
        assert entries[10183].why_not is None
        assert entries[10181].case is None
        assert "10025" in (entries[10181].why_not or "")

    def test_an_entry_tells_every_case_that_it_names(self, tmp_path: Path) -> None:
        file = tmp_path / "errors.yaml"
        file.write_text(
            "errors:\n"
            "  - {err_code: 1, http: 400, name: A, description: a, case: s::one, specified:\n"
            "      [{spec: s, revisions: [1, 2], http: 409, description: b, case: s::two},\n"
            "       {spec: t, revisions: [3], http: 400, description: c}]}\n"
        )
        table = read_error_table(file)
        [entry] = table.entries
        assert entry.cases() == ("s::one", "s::two")
        said = table.specified(1, "s", 2)
        assert said is not None
        assert (said.http, said.description, said.case) == (409, "b", "s::two")
        assert table.specified(1, "s", 3) is None
        assert table.line_of(1) == 2

    def test_a_revision_that_says_something_else_with_a_number_overrules_the_release(
        self, tmp_path: Path
    ) -> None:
        file = tmp_path / "errors.yaml"
        file.write_text(
            "errors:\n"
            "  - {err_code: 1, http: 400, name: A, description: a, specified:\n"
            "      [{spec: s, revisions: [1, 2], http: 409, description: 'b {n}'}]}\n"
        )
        table = read_error_table(file)
        by_revision = table.lookup(1, "2.15.1", ("s", 2))
        assert by_revision is not None
        assert (by_revision.http, by_revision.description) == (409, "b {n}")
        assert says(by_revision, "b 7")
        assert not says(by_revision, "a")
        for revision in (None, ("s", 3), ("t", 2)):
            entry = table.lookup(1, "2.15.1", revision)
            assert entry is not None
            assert (entry.http, entry.description) == (400, "a")
        assert table.lookup(2, "2.15.1", ("s", 2)) is None


class TestDescriptions:
    @pytest.mark.parametrize(
        ("err_code", "version", "text", "fits"),
        [
            (10176, "2.12.0", "atomic publish batch is incomplete", True),
            (10176, "2.12.0", "atomic publish batch is incomplete!", False),
            (10176, "2.12.0", "Atomic publish batch is incomplete", False),
            (10071, "2.15.1", "wrong last sequence: 17", True),
            (10071, "2.15.1", "wrong last sequence", False),
            (10070, "2.15.1", "wrong last msg ID: ", True),
            (10199, "2.14.6", "atomic publish batch is too large: 1000", True),
            (10025, "2.10.26", "invalid JSON", True),
            (10025, "2.10.26", "invalid JSON: no", False),
            (10025, "2.11.0", "invalid JSON: no", True),
            (10025, "2.11.0", "invalid JSON", False),
        ],
    )
    def test_a_text_is_compared_with_that_of_the_release(
        self, table: ErrorTable, err_code: int, version: str, text: str, fits: bool
    ) -> None:
        entry = table.lookup(err_code, version)
        assert entry is not None
        assert says(entry, text) is fits

    def test_an_unknown_release_inherits_the_newest_text(self, table: ErrorTable) -> None:
        assert table.lookup(10025, "9.0.0") == table.lookup(10025, "2.15.1")
        assert table.lookup(10025, "2.11.0-RC.2") == table.lookup(10025, "2.11.0")

    def test_a_release_older_than_every_row_has_the_oldest_text(self, table: ErrorTable) -> None:
        assert table.lookup(10025, "2.9.0") == table.lookup(10025, "2.10.25")

    def test_marks_of_patterns_in_a_text_are_plain_text(self, tmp_path: Path) -> None:
        file = tmp_path / "errors.yaml"
        file.write_text(
            "errors:\n  - {err_code: 1, http: 400, name: E, description: 'a.b (c) {x}'}\n"
        )
        [entry] = read_error_table(file).entries
        assert says(entry, "a.b (c) \n")
        assert not says(entry, "aXb (c) d")


def test_all_mistakes_are_told_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "errors.yaml"
    file.write_text(
        "errors:\n"
        "  - {err_code: 1, http: 400, name: A, description: fine}\n"
        "  - {err_code: 1, http: 400, name: A, description: again}\n"
        "  - {err_code: x, http: 400, name: A, description: text}\n"
        "  - {err_code: 2, http: 400, name: A, description: 7}\n"
        "  - {err_code: 3, http: 400, name: A, since: new, description: text}\n"
        "  - err_code: 4\n"
        "    http: 400\n"
        "    name: A\n"
        "    description:\n"
        "      - {from: 2.12.0, description: b}\n"
        "      - {from: 2.11.0, description: a}\n"
        "  - just text\n"
        "  - {err_code: 5, http: 400, name: A, description: []}\n"
        "  - {err_code: 6, http: 400, name: A, description: a, provoked: false}\n"
        "  - {err_code: 7, http: 400, name: A, description: a, case: s::a, why_not: it cannot be}\n"
        "  - {err_code: 8, http: 400, name: A, description: a, specified: adr-50}\n"
        "  - {err_code: 9, http: 400, name: A, description: a, specified: [adr-50]}\n"
        "  - {err_code: 10, http: 400, name: A, description: a, specified: [{spec: s}]}\n"
        "  - {err_code: 11, http: 400, name: A, description: a, case: 7}\n"
    )
    with pytest.raises(LoadError) as error:
        read_error_table(file)
    assert [mistake.line for mistake in error.value.mistakes] == [
        *(3, 4, 5, 6, 12, 13, 14),
        *range(15, 21),
    ]
    assert error.value.phase == "load"


@pytest.mark.parametrize("text", ["", "errors: 5\n", "- a\n", "errors: [\n"])
def test_a_file_that_is_no_table_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "errors.yaml"
    file.write_text(text)
    with pytest.raises(LoadError):
        read_error_table(file)
    with pytest.raises(LoadError, match="cannot be read"):
        read_error_table(tmp_path / "nowhere.yaml")
