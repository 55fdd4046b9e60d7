"""The ledger of a client library: a file of its own, beside its adapter or in its repository."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from jetproof.load.deviations import EntryReader
from jetproof.load.library import Library
from jetproof.load.mistakes import LoadError, Mistake
from jetproof.load.nodes import Keys, read_yaml
from jetproof.load.structure import FileSchema
from jetproof.model.client_ledger import ClientDeviation, ClientLedger
from jetproof.model.versions import VersionError, VersionRange

SCHEMA = "client-ledger-file"


def read_ledger(path: Path, library: Library) -> ClientLedger:
    """The ledger, or a LoadError with every mistake: an entry that names no case is one."""
    mistakes: list[Mistake] = []
    document = read_yaml(path, str(path), mistakes)
    schema = FileSchema(library.root / "fixtures" / "schemas" / f"{SCHEMA}.json")
    entries: list[ClientDeviation] = []
    if document is not None and not schema.check(document, mistakes):
        cases = {case.id: case for case in library.client_cases}
        reader = EntryReader(document, cases, mistakes)
        raw: Any = document.data
        for index, entry in enumerate(raw["entries"]):
            entries += _entry(reader, ("entries", index), entry)
    if mistakes or document is None:
        raise LoadError(mistakes)
    data: Any = document.data
    return ClientLedger(data["client"], tuple(entries), str(path))


def _entry(reader: EntryReader, keys: Keys, raw: Any) -> Iterator[ClientDeviation]:
    versions, expires = None, None
    try:
        versions = VersionRange.parse(raw["versions"]) if "versions" in raw else None
    except VersionError as error:
        reader.report((*keys, "versions"), str(error))
    try:
        expires = date.fromisoformat(raw["expires"]) if "expires" in raw else None
    except ValueError:
        reader.report((*keys, "expires"), f"{raw['expires']!r} is no day")
    if raw.get("sometimes") and "expires" not in raw:
        what = "an entry that holds sometimes never gets stale, so it must say when it expires"
        reader.report((*keys, "sometimes"), what)
    for deviation in reader.deviations(keys, raw):
        yield ClientDeviation(deviation, versions, expires)
