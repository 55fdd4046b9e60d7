"""Which errors a case asserts, and whether the cases that the error table names do so.

The table says for each error which case provokes it. A case that was renamed, or that no longer
asserts the error, would leave the table with a proof that does not exist: that is a mistake.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from jetproof.load.mistakes import Mistake, nearest
from jetproof.model.case import Case, Expectation
from jetproof.model.error_table import ErrorTable

_ERR_CODE = "err_code"


def named_errors(case: Case) -> frozenset[int]:
    """Every error number that an expectation of the case names, as an alternative too."""
    return frozenset(code for one in _expectations(case) for code in _named(one))


def asserted_errors(case: Case) -> frozenset[int]:
    """The errors without which the case fails: alternatives do not count."""
    return frozenset(
        code for one in _expectations(case) if len(codes := _own(one)) == 1 for code in codes
    )


def check_error_cases(
    table: ErrorTable, cases: Mapping[str, Case], specs: Collection[str], mistakes: list[Mistake]
) -> None:
    """The cases that the table names must exist, and assert the error.

    Only those of the given specifications are looked for: a library may hold a part of them.
    """
    for entry in table.entries:
        for name in entry.cases():
            case = cases.get(name)
            if name.partition("/")[0] not in specs:
                continue
            if case is None:
                message = f"no case {name}{nearest(name, cases)}"
            elif entry.code not in asserted_errors(case):
                message = f"the case {name} does not assert the error {entry.code}"
            else:
                continue
            mistakes.append(Mistake(table.file, table.line_of(entry.code), message))


def _named(expectation: Expectation) -> Iterator[int]:
    yield from _own(expectation)
    for alternative in expectation.one_of:
        yield from _named(alternative)


def _own(expectation: Expectation) -> frozenset[int]:
    codes = set(() if expectation.error is None else expectation.error.codes)
    for path, matcher in expectation.json.items():
        if path.rpartition(".")[2] == _ERR_CODE:
            codes.update(
                value for test, value in matcher.tests if test == "equals" and type(value) is int
            )
    return frozenset(codes)


def _expectations(case: Case) -> Iterator[Expectation]:
    return (one for step in case.all_steps() for one in step.expectations)
