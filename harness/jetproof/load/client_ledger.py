"""The ledger of a client library: a file of its own, beside its adapter or in its repository."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from jetproof.load.deviations import check_steps, known_mismatches
from jetproof.load.library import Library
from jetproof.load.mistakes import LoadError, Mistake, nearest
from jetproof.load.nodes import Document, Keys, read_yaml
from jetproof.load.structure import FileSchema
from jetproof.model.case import Case
from jetproof.model.client_ledger import ClientDeviation, ClientLedger
from jetproof.model.ledger import Deviation
from jetproof.model.versions import VersionError, VersionRange

SCHEMA = "client-ledger-file"


def read_ledger(path: Path, library: Library) -> ClientLedger:
    """The ledger, or a LoadError with every mistake: an entry that names no case is one."""
    mistakes: list[Mistake] = []
    document = read_yaml(path, str(path), mistakes)
    schema = FileSchema(library.root / "fixtures" / "schemas" / f"{SCHEMA}.json")
    entries: tuple[ClientDeviation, ...] = ()
    if document is not None and not schema.check(document, mistakes):
        cases = {case.id: case for case in library.client_cases}
        entries = _Ledger(document, cases, mistakes).entries()
    if mistakes or document is None:
        raise LoadError(mistakes)
    data: Any = document.data
    return ClientLedger(data["client"], entries, str(path))


class _Ledger:
    """Reads the entries of one file that follows its schema."""

    def __init__(
        self, document: Document, cases: Mapping[str, Case], mistakes: list[Mistake]
    ) -> None:
        self._document = document
        self._cases = cases
        self._mistakes = mistakes
        self._lines: dict[str, int] = {}

    def entries(self) -> tuple[ClientDeviation, ...]:
        data: Any = self._document.data
        read = [self._entry(("entries", index), raw) for index, raw in enumerate(data["entries"])]
        return tuple(entry for entry in read if entry is not None)

    def _entry(self, keys: Keys, raw: Any) -> ClientDeviation | None:
        line = self._document.line_of((*keys, "id"))
        if first := self._lines.get(raw["id"]):
            self._report(
                (*keys, "id"), f"duplicate entry {raw['id']}: it is in line {first} already"
            )
        self._lines.setdefault(raw["id"], line)
        case = self._cases.get(raw["case"])
        if case is None:
            self._report(
                (*keys, "case"), f"no case {raw['case']}{nearest(raw['case'], self._cases)}"
            )
        else:
            check_steps(case, raw, keys, self._report)
        servers = self._range((*keys, "servers"), raw.get("servers", "*"))
        versions = self._range((*keys, "versions"), raw["versions"]) if "versions" in raw else None
        expires = self._day((*keys, "expires"), raw.get("expires"))
        sometimes = raw.get("sometimes", False)
        if sometimes and "expires" not in raw:
            what = "an entry that holds sometimes never gets stale, so it must say when it expires"
            self._report((*keys, "sometimes"), what)
        if servers is None:
            return None
        entry = Deviation(
            id=raw["id"],
            case=raw["case"],
            servers=servers,
            text=raw["text"],
            does=raw["does"],
            mismatches=known_mismatches(raw["mismatches"]),
            file=self._document.file,
            line=line,
            sometimes=sometimes,
        )
        return ClientDeviation(entry, versions, expires)

    def _range(self, keys: Keys, text: str) -> VersionRange | None:
        try:
            return VersionRange.parse(text)
        except VersionError as error:
            self._report(keys, str(error))
            return None

    def _day(self, keys: Keys, text: str | None) -> date | None:
        try:
            return None if text is None else date.fromisoformat(text)
        except ValueError:
            self._report(keys, f"{text!r} is no day")
            return None

    def _report(self, keys: Keys, message: str) -> None:
        self._mistakes.append(Mistake(self._document.file, self._document.line_of(keys), message))
