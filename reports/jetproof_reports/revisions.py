"""The history of each specification, as its catalogue gives it: runs know only a revision's number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import yaml

from jetproof.data import suites_dir
from jetproof.errors import JetproofError

if TYPE_CHECKING:
    import pyarrow as pa

CATALOGUE = "clauses.yaml"
_CLAUSES = "\nclauses:"


def revisions() -> pa.Table:
    """One row a revision: its date, server version and API level, where the text gives them.

    The one in force is what cases are judged by unless a revision is asked for, or claimed."""
    import pyarrow as pa

    schema = pa.schema(
        [
            ("spec", pa.string()),
            ("revision", pa.int32()),
            ("date", pa.string()),
            ("server", pa.string()),
            ("api_level", pa.int32()),
            ("note", pa.string()),
            ("in_force", pa.bool_()),
        ]
    )
    return pa.Table.from_pylist(list(_rows()), schema)


def _rows() -> Iterator[dict[str, Any]]:
    """Suites that cannot be read take nothing from a report but these words."""
    try:
        catalogues = sorted(suites_dir().glob(f"*/{CATALOGUE}"))
    except JetproofError:
        return
    for path in catalogues:
        try:
            # Only the head is wanted, and reading thousands of lines of clauses takes seconds.
            head = yaml.safe_load(path.read_text(encoding="utf-8").partition(_CLAUSES)[0])
            spec, law = str(head["spec"]), head.get("revision")
            yield from [_row(spec, entry, law) for entry in head["revisions"]]
        except (OSError, ValueError, yaml.YAMLError, KeyError, TypeError):
            continue


def _row(spec: str, entry: dict[str, Any], law: object) -> dict[str, Any]:
    level = entry.get("api_level")
    return {
        "spec": spec,
        "revision": int(entry["revision"]),
        "date": _text(entry.get("date")),
        "server": _text(entry.get("server")),
        "api_level": None if level is None else int(level),
        "note": " ".join(str(entry.get("note", "")).split()),
        "in_force": int(entry["revision"]) == law,
    }


def _text(value: object) -> str | None:
    return None if value is None else str(value)
