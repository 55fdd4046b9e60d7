"""The ledger of a client library: a file of its own, beside its adapter or in its repository."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from jetproof.errors import JetproofError
from jetproof.load.deviations import EntryReader
from jetproof.load.editions import find_edition
from jetproof.load.library import Library
from jetproof.load.mistakes import LoadError, Mistake
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document, Keys, read_yaml
from jetproof.model.client_ledger import ClientDeviation, ClientLedger
from jetproof.model.edition import Edition
from jetproof.model.template import text_of
from jetproof.model.versions import VersionError, VersionRange

SCHEMA = "client-ledger-file"
LEDGER = "ledger.yaml"
"""The ledger of a library, in the folder of its adapter."""


def read_ledger(path: Path, library: Library) -> ClientLedger:
    """The ledger, or a LoadError with every mistake: an entry that names no case is one."""
    mistakes: list[Mistake] = []
    document = read_yaml(path, str(path), mistakes)
    schema = FileSchema(library.root / "fixtures" / "schemas" / f"{SCHEMA}.json")
    entries: list[ClientDeviation] = []
    edition: Edition | None = None
    if document is not None and not schema.check(document, mistakes):
        raw: Any = document.data
        edition = _edition(document, raw, library)
        cases = {case.id: case for case in library.client_cases}
        reader = EntryReader(document, cases, mistakes, renamed=library.renamed, edition=edition)
        for index, entry in enumerate(raw["entries"]):
            entries += _entry(reader, ("entries", index), entry)
    if mistakes or document is None:
        raise LoadError(mistakes)
    data: Any = document.data
    name = edition.name if edition else None
    return ClientLedger(data["client"], tuple(entries), str(path), name)


def _edition(document: Document, raw: Any, library: Library) -> Edition | None:
    """The edition that a ledger was written for. One that this Jetproof does not know is the only mistake
    that is reported: entries of a later edition may name cases that are not there yet."""
    if "edition" not in raw:
        return None
    # YAML takes 2026.10 for a number, and the number for 2026.1.
    written = document.respelled.get(("edition",)) or text_of(raw["edition"])
    try:
        return find_edition(library, written)
    except JetproofError as error:
        upgrade = f"; {error.hint}" if error.hint.startswith("upgrade") else ""
        line = document.line_of(("edition",))
        raise LoadError([Mistake(document.file, line, f"{error.message}{upgrade}")]) from None


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
