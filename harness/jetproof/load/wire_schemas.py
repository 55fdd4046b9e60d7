"""The JSON Schemas of what a server says, and the table of what releases speak: read and checked.

Each file of `fixtures/schemas/wire` describes one kind of message. `batch-abandoned.json` is the
default; `batch-abandoned@adr-50-10.json` is the same message from revision 10 of ADR-50 on.
`common.json` holds the parts that they share and is no message itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jetproof.data import fixtures_dir
from jetproof.load.mistakes import LoadError, Mistake
from jetproof.load.yaml_source import read_yaml
from jetproof.model.versions import Version
from jetproof.model.wire_schema import SchemaForm, SchemaSet, Speaks

COMMON = "common"

_FILE = re.compile(r"(?P<name>[a-z][a-z0-9-]*)(?:@(?P<spec>[a-z]+(?:-[0-9]+)?)-(?P<revision>\d+))?")


def read_schema_set(folder: Path | None = None, speaks: Path | None = None) -> SchemaSet:
    """The schemas, by default those that Jetproof carries; a LoadError with each mistake."""
    mistakes: list[Mistake] = []
    forms = _read_schemas(*_place(folder, "schemas/wire"), mistakes)
    spoken = _read_speaks(*_place(speaks, "servers/speaks.yaml"), mistakes)
    if mistakes:
        raise LoadError(mistakes)
    return SchemaSet(forms, spoken)


def _place(given: Path | None, default: str) -> tuple[Path, str]:
    """Return where to read, and the name of that place for people."""
    return (
        (fixtures_dir() / default, f"fixtures/{default}") if given is None else (given, str(given))
    )


def _read_schemas(
    folder: Path, name: str, mistakes: list[Mistake]
) -> Mapping[str, tuple[SchemaForm, ...]]:
    found: dict[str, list[SchemaForm]] = {}
    common = _read_json(folder / f"{COMMON}.json", name, mistakes)
    for file in sorted(folder.glob("*.json")):
        if file.stem == COMMON:
            continue
        named = _FILE.fullmatch(file.stem)
        if named is None:
            why = "the name is neither <name>.json nor <name>@<spec>-<revision>.json"
            mistakes.append(Mistake(f"{name}/{file.name}", 1, why))
            continue
        revision = None if named["revision"] is None else int(named["revision"])
        schema = _read_json(file, name, mistakes)
        bundled = {**schema, "$defs": {**schema.get("$defs", {}), COMMON: common}}
        found.setdefault(named["name"], []).append(SchemaForm(named["spec"], revision, bundled))
    for kind, forms in found.items():
        forms.sort(key=lambda form: (form.revision is not None, form.revision or 0))
        if forms[0].revision is not None:
            mistakes.append(Mistake(f"{name}/{kind}.json", 1, "the default form is missing"))
        if len({form.spec for form in forms if form.spec}) > 1:
            why = "its forms follow more than one specification"
            mistakes.append(Mistake(f"{name}/{kind}.json", 1, why))
    return {kind: tuple(forms) for kind, forms in found.items()}


def _read_json(file: Path, name: str, mistakes: list[Mistake]) -> dict[str, Any]:
    try:
        document = json.loads(file.read_bytes())
        if isinstance(document, dict):
            return document
        line, why = 1, "a schema is an object"
    except json.JSONDecodeError as error:
        line, why = error.lineno, f"not JSON: {error.msg}"
    except (OSError, UnicodeDecodeError) as error:
        line, why = 1, f"cannot be read: {error}"
    mistakes.append(Mistake(f"{name}/{file.name}", line, why))
    return {}


def _read_speaks(file: Path, name: str, mistakes: list[Mistake]) -> Speaks:
    document = read_yaml(file, name, mistakes)
    table: dict[str, tuple[tuple[Version, int], ...]] = {}
    for spec, rows in _mapping(document.data if document else None).items():
        spoken: list[tuple[Version, int]] = []
        for number, row in enumerate(rows if isinstance(rows, list) else [None]):
            start, revision = _mapping(row).get("from"), _mapping(row).get("revision")
            try:
                version = Version.parse(str(start))
                if not isinstance(revision, int) or (spoken and version <= spoken[-1][0]):
                    raise ValueError("rows are {from: release, revision: number}, oldest first")
                spoken.append((version, revision))
            except ValueError as error:
                line = document.line_of((spec, number)) if document else 1
                mistakes.append(Mistake(name, line, str(error)))
        table[spec] = tuple(spoken)
    return table


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
