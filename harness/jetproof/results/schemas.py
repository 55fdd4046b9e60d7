"""JSON Schemas of result rows, generated from their types.

    python -m jetproof.results.schemas            lists the published files that differ
    python -m jetproof.results.schemas --write    writes them

A schema names every field, with its description, and allows no other.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from jetproof.data import fixtures_dir
from jetproof.results.rows import (
    SCHEMA,
    CellRow,
    CheckRow,
    ClauseRow,
    FrameRow,
    QuestionRow,
    SchemaRow,
)

Document = dict[str, object]


@dataclass(frozen=True, slots=True)
class Published:
    """One file below `fixtures/schemas`: what it describes, and what its type cannot say."""

    type: type[msgspec.Struct]
    title: str
    more: Mapping[str, object] = field(default_factory=dict)


_ONE_PAYLOAD = {"oneOf": [{"required": ["payload"]}, {"required": ["payload_b64"]}]}

PUBLISHED: dict[str, Published] = {
    "results/cell": Published(CellRow, "A line of cells.jsonl"),
    "results/check": Published(CheckRow, "A line of checks.jsonl"),
    "results/clause": Published(ClauseRow, "A line of clauses.jsonl"),
    "results/frame": Published(FrameRow, "A line of frames.jsonl", _ONE_PAYLOAD),
    "results/question": Published(QuestionRow, "A line of questions.jsonl"),
    "results/schema": Published(SchemaRow, "A line of schemas.jsonl"),
}


def generate(name: str) -> Document:
    """The schema of that name."""
    published = PUBLISHED[name]
    (whole,), parts = msgspec.json.schema_components(
        [published.type], ref_template="#/$defs/{name}"
    )
    own = str(whole["$ref"]).rpartition("/")[2]
    defined = {key: _closed(part) for key, part in sorted(parts.items()) if key != own}
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:jetproof:{name.replace('/', ':')}:{SCHEMA}",
        "title": published.title,
        **_closed(parts[own]),
        **published.more,
    }
    return document | ({"$defs": defined} if defined else {})


def _closed(part: Mapping[str, object]) -> Document:
    """A part without the name of its type; an object allows no field that it does not name."""
    kept = {key: value for key, value in part.items() if key != "title"}
    if "properties" in kept:
        kept["additionalProperties"] = False
    return kept


def text(name: str) -> str:
    """The file of that name, as it is published."""
    return json.dumps(generate(name), indent=2) + "\n"


def path_of(name: str) -> Path:
    return fixtures_dir() / "schemas" / f"{name}.json"


def main(arguments: list[str]) -> int:
    differing = [
        name
        for name in PUBLISHED
        if not path_of(name).is_file() or path_of(name).read_text(encoding="utf-8") != text(name)
    ]
    for name in differing:
        if "--write" in arguments:
            path_of(name).write_text(text(name), encoding="utf-8")
        sys.stdout.write(f"{name}\n")
    return 1 if differing and "--write" not in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
