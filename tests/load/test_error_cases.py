"""The error table names the cases that provoke its errors, and they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.load.error_cases import asserted_errors, named_errors
from jetproof.load.error_table import read_error_table
from jetproof.load.library import Library, load_cases, load_library
from jetproof.load.mistakes import LoadError
from jetproof.model.case import Case
from jetproof.model.clause import Status
from jetproof.plan import PlanTarget, Selection, make_plan, select

CODES = range(10174, 10203)
TABLE = """\
errors:
  - {err_code: 10071, http: 400, name: A, description: wrong, case: "demo/a::wrong"}
  - {err_code: 10176, http: 400, name: B, description: incomplete, case: "demo/a::incomplete"}
"""
CASES = """\
suite: demo/a
about: Errors
given: {stream: {subjects: [a]}}
cases:
  - case: wrong
    clauses: [DEMO-001]
    steps:
      - {request: {subject: a}, reply: {error: 10071}}
  - case: incomplete
    clauses: [DEMO-001]
    steps:
      - repeat: {as: i, times: 2}
        steps:
          - {request: {subject: a}, reply: {error: 10176}}
"""


@pytest.fixture(scope="module")
def carried() -> Library:
    """What Jetproof carries."""
    return load_library()


def case_of(library: Library, folder: Path, step: str) -> Case:
    path = folder / "case.yaml"
    path.write_text(
        "suite: demo/one\nabout: One\ngiven: {stream: {subjects: [a]}}\n"
        f"cases:\n  - case: one\n    clauses: [DEMO-001]\n    steps:\n      - {step}\n"
    )
    [case] = load_cases([path], library)
    return case


class TestWhatACaseAsserts:
    @pytest.mark.parametrize(
        "step",
        [
            "{request: {subject: a}, reply: {error: 10071}}",
            "{request: {subject: a}, reply: {json: {error.err_code: 10071}}}",
            "{request: {subject: a}, replies: {count: 2, each: {error: 10071}}}",
            "{request: {subject: a}, replies: {count: 2, first: {error: 10071}}}",
            "{request: {subject: a}, replies: {count: 2, last: {error: 10071}}}",
            "{repeat: {as: i, times: 2}, steps: [{request: {subject: a}, reply: {error: 10071}}]}",
            "{together: {one: [{request: {subject: a}, reply: {error: 10071}}], "
            "two: [{publish: {subject: a}}]}}",
        ],
    )
    def test_an_error_that_must_be_there(self, library: Library, tmp_path: Path, step: str) -> None:
        case = case_of(library, tmp_path, step)
        assert asserted_errors(case) == named_errors(case) == {10071}

    @pytest.mark.parametrize(
        "step",
        [
            "{request: {subject: a}, reply: {error: [10071, 10176]}}",
            "{request: {subject: a}, reply: {one_of: [{error: 10071}, {error: 10176}]}}",
        ],
    )
    def test_an_alternative_is_named_and_not_asserted(
        self, library: Library, tmp_path: Path, step: str
    ) -> None:
        case = case_of(library, tmp_path, step)
        assert asserted_errors(case) == frozenset()
        assert named_errors(case) == {10071, 10176}

    @pytest.mark.parametrize(
        "step",
        [
            "{publish: {subject: a}}",
            "{request: {subject: a}, reply: {silence: 100ms}}",
            "{request: {subject: a}, reply: {error: any}}",
            "{request: {subject: a}, reply: {json: {error.err_code: {gt: 10071}}}}",
        ],
    )
    def test_what_names_no_error(self, library: Library, tmp_path: Path, step: str) -> None:
        assert named_errors(case_of(library, tmp_path, step)) == frozenset()


class TestTheTableOfALibrary:
    def put(self, root: Path, *, table: str = TABLE, cases: str = CASES) -> Path:
        (root / "fixtures" / "errors.yaml").write_text(table)
        (root / "suites" / "demo" / "a.yaml").write_text(cases)
        return root

    def told(self, root: Path) -> list[str]:
        with pytest.raises(LoadError) as caught:
            load_library(root)
        return list(map(str, caught.value.mistakes))

    def test_cases_that_assert_their_errors_are_well(self, root: Path) -> None:
        assert len(load_library(self.put(root)).cases) == 2

    def test_a_case_that_is_not_there_is_told_with_its_line(self, root: Path) -> None:
        self.put(root, cases=CASES.replace("case: incomplete", "case: incompleted"))
        assert self.told(root) == [
            "fixtures/errors.yaml:3: no case demo/a::incomplete; did you mean demo/a::incompleted?"
        ]

    def test_a_case_that_asserts_another_error_is_told(self, root: Path) -> None:
        self.put(root, cases=CASES.replace("error: 10176", "error: 10071"))
        assert self.told(root) == [
            "fixtures/errors.yaml:3: the case demo/a::incomplete does not assert the error 10176"
        ]

    def test_a_case_that_has_it_as_an_alternative_does_not_prove_it(self, root: Path) -> None:
        self.put(root, cases=CASES.replace("error: 10176", "error: [10176, 10071]"))
        assert self.told(root) == [
            "fixtures/errors.yaml:3: the case demo/a::incomplete does not assert the error 10176"
        ]

    def test_cases_of_a_revision_are_looked_for_too(self, root: Path) -> None:
        said = "{spec: demo, revisions: [1], http: 400, description: x, case: 'demo/a::vanished'}"
        self.put(root, table=TABLE.replace('case: "demo/a::wrong"', f"specified: [{said}]"))
        assert self.told(root) == ["fixtures/errors.yaml:2: no case demo/a::vanished"]

    def test_cases_of_a_specification_that_is_not_in_the_library_are_not(self, root: Path) -> None:
        self.put(root, table=TABLE.replace("demo/a::wrong", "adr-99/a::wrong"))
        assert load_library(root)


class TestWhatJetproofCarries:
    def test_every_error_has_a_case_or_a_reason_why_not(self, carried: Library) -> None:
        entries = {entry.code: entry for entry in carried.errors.entries}
        assert set(CODES) <= set(entries)
        lacking = [
            code for code in CODES if entries[code].case is None and entries[code].why_not is None
        ]
        assert lacking == []

    def test_only_what_no_server_says_has_a_reason(self, carried: Library) -> None:
        reasons = [entry.code for entry in carried.errors.entries if entry.why_not]
        assert reasons == [10180, 10181, 10182]

    def test_a_reason_is_watched_by_a_case(self, carried: Library) -> None:
        """Should a server say them one day, a position changes, or the reference's cases tell."""
        silent = {
            clause.id
            for clause in carried.specs["errors"].clauses.values()
            if clause.status is Status.SILENT
        }
        assert {"ERR-181", "ERR-182"} <= silent
        recorded = {name for case in carried.cases for name in case.clauses}
        assert {"ERR-181", "ERR-182"} <= recorded
        said = carried.errors.specified(10180, "adr-53", 4)
        assert said is not None
        assert said.case is not None

    def test_every_error_that_a_case_names_is_in_the_table(self, carried: Library) -> None:
        unknown = {
            (case.id, code)
            for case in carried.cases
            for code in named_errors(case) - set(carried.errors.codes)
        }
        assert unknown == set()

    def test_every_error_of_the_folder_is_asserted_by_a_case_of_its_clause(
        self, carried: Library
    ) -> None:
        clauses = carried.specs["errors"].clauses
        assert clauses
        for clause in clauses.values():
            if clause.status is Status.SILENT:
                continue
            code = 10000 + int(clause.id[4:7])
            cases = [case for case in carried.cases if clause.id in case.clauses]
            assert cases, clause.id
            assert any(code in asserted_errors(case) for case in cases), clause.id
            assert all(code in named_errors(case) for case in cases), clause.id

    def test_the_case_of_an_error_applies_where_the_error_is_there(self, carried: Library) -> None:
        """A proof that is n/a on the first release with the error would prove nothing there."""
        assert CODES
        for code in CODES:
            entry = carried.errors.lookup(code, "2.15.1")
            assert entry is not None
            if entry.case is None or entry.since is None:
                continue
            target = PlanTarget(str(entry.since), entry.since, "embedded")
            chosen = select(carried, Selection((entry.case,)))
            plan = make_plan(carried, chosen, [target], skip=frozenset())
            assert [item.case.id for group in plan.groups for item in group.items] == [entry.case]


def test_the_table_tells_what_a_revision_says() -> None:
    table = read_error_table()
    gap = table.specified(10202, "adr-50", 7)
    assert gap is not None
    assert (gap.http, gap.description) == (400, "batch publish gap mode is invalid")
    assert table.specified(10202, "adr-50", 8) is None
    assert table.specified(10202, "adr-31", 7) is None
    assert table.specified(9, "adr-50", 7) is None
