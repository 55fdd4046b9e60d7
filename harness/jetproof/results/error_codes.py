"""Error codes: what the table of errors says of each, and where runs saw it."""

from __future__ import annotations

from dataclasses import dataclass

from jetproof.load.library import Library
from jetproof.model.versions import Version
from jetproof.results.coverage import CodeSeen, Coverage

CODES = range(10174, 10203)
"""The errors that the specifications under test brought; each has a case, or a reason why not."""


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One error code: what the table says of it, and what was seen."""

    code: int
    http: int | None
    name: str
    case: str | None
    why_not: str | None
    seen: CodeSeen
    on_reference: tuple[str, ...] = ()
    """Cases that provoke it where the reference layer speaks a revision that no release does."""


def code_rows(library: Library, found: Coverage) -> list[CodeRow]:
    """Every code of `CODES`, and every other that was seen."""
    rows = []
    for code in sorted({*CODES, *found.codes}):
        entry = library.errors.lookup(code, str(Version.parse("999.0.0")))
        rows.append(
            CodeRow(
                code,
                None if entry is None else entry.http,
                "not in the table" if entry is None else entry.name,
                None if entry is None else entry.case,
                None if entry is None else entry.why_not,
                found.codes.get(code, CodeSeen(code)),
                () if entry is None else tuple(one.case for one in entry.specified if one.case),
            )
        )
    return rows
