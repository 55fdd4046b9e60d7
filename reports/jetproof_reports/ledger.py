"""What a ledger says of a deviation: results name an entry, the suites explain it, or the ledger
beside a library's adapter."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from jetproof.data import adapters_dir, suites_dir
from jetproof.errors import JetproofError

if TYPE_CHECKING:
    import pyarrow as pa

WORDS = ("text", "does")
MARKS = ("kind", "severity", "upstream")


def explained(deviations: pa.Table) -> pa.Table:
    """The table with two columns more: what the text says, and what servers and libraries do.

    Cells of older runs do not say of what kind a deviation is: the ledger of today does."""
    import pyarrow as pa

    ledger = _entries()
    ids = zip(deviations["library"].to_pylist(), deviations["deviation"].to_pylist(), strict=True)
    found = [ledger.get(entry, {}) for entry in ids]
    for word in WORDS:
        words = [entry.get(word) for entry in found]
        deviations = deviations.append_column(word, pa.array(words, pa.string()))
    old = [kind is None for kind in deviations["kind"].to_pylist()]
    for mark in MARKS:
        told = deviations[mark].to_pylist()
        filled = [
            entry.get(mark) if unsaid else value
            for entry, unsaid, value in zip(found, old, told, strict=True)
        ]
        place = deviations.schema.get_field_index(mark)
        deviations = deviations.set_column(place, mark, pa.array(filled, pa.string()))
    return deviations


Entries = dict[tuple[str | None, str], dict[str, str | None]]


def _entries() -> Entries:
    """By library (none has the ledger of servers) and id.

    Files that cannot be read take nothing from a report but these words."""
    try:
        files = [(suites_dir() / "deviations.yaml", "deviations")]
        files += [(path, "entries") for path in sorted(adapters_dir().glob("*/ledger.yaml"))]
    except JetproofError:
        return {}
    found: Entries = {}
    for path, key in files:
        try:
            found |= _read(path, key)
        except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
            continue
    return found


def _read(path: Path, key: str) -> Entries:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    entries, client = document[key], document.get("client")
    return {(client, str(entry["id"])): _entry(entry) for entry in entries}


def _entry(entry: Mapping[str, Any]) -> dict[str, str | None]:
    words = {word: " ".join(str(entry[word]).split()) for word in WORDS}
    marks = {mark: entry.get(mark) for mark in MARKS}
    return {**words, **{mark: None if said is None else str(said) for mark, said in marks.items()}}
