"""JSON Schemas of result rows and documents, generated from their types.

    python -m jetproof.results.schemas            lists the published files that differ
    python -m jetproof.results.schemas --write    writes them

A schema names every field, with its description, and allows no other. A field with a default may be
missing in a row, as older runs lack it; a document always has it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from jetproof.data import fixtures_dir
from jetproof.results.documents import analysis, common, library, playing, run_folder
from jetproof.results.rows import (
    SCHEMA,
    BrokenMessageRow,
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
    """One file below `fixtures/schemas`."""

    type: type[msgspec.Struct]
    title: str


_ONE_PAYLOAD = {"oneOf": [{"required": ["payload"]}, {"required": ["payload_b64"]}]}
_MORE = {FrameRow.__name__: _ONE_PAYLOAD, BrokenMessageRow.__name__: _ONE_PAYLOAD}
"""What a type cannot say."""

PUBLISHED: dict[str, Published] = {
    "results/cell": Published(CellRow, "A line of cells.jsonl"),
    "results/check": Published(CheckRow, "A line of checks.jsonl"),
    "results/clause": Published(ClauseRow, "A line of clauses.jsonl"),
    "results/frame": Published(FrameRow, "A line of frames.jsonl"),
    "results/question": Published(QuestionRow, "A line of questions.jsonl"),
    "results/schema": Published(SchemaRow, "A line of schemas.jsonl"),
    "results/run": Published(run_folder.RunFile, "run.json of a run folder"),
    "results/control": Published(common.ControlRow, "A line of controls.jsonl"),
    "results/server-code": Published(run_folder.ServerCodeRow, "A row of server-code.jsonl"),
    "cli/run": Published(playing.RunDocument, "jetproof run --json"),
    "cli/gate": Published(playing.GateDocument, "jetproof gate --json"),
    "cli/matrix": Published(playing.MatrixDocument, "jetproof matrix --json"),
    "cli/replay": Published(playing.ReplayDocument, "jetproof replay --json"),
    "cli/bisect": Published(playing.BisectDocument, "jetproof bisect --json"),
    "cli/soak": Published(playing.SoakDocument, "jetproof soak --json"),
    "cli/compare": Published(playing.CompareDocument, "jetproof compare --json"),
    "cli/mutate": Published(playing.MutateDocument, "jetproof mutate --json"),
    "cli/controls": Published(playing.ControlsDocument, "jetproof controls --json"),
    "cli/merge": Published(playing.MergeDocument, "jetproof merge --json"),
    "cli/list": Published(library.ListDocument, "jetproof list --json"),
    "cli/clauses": Published(library.ClausesDocument, "jetproof clauses --json"),
    "cli/editions": Published(library.EditionsDocument, "jetproof editions --json"),
    "cli/releases": Published(library.ReleasesDocument, "jetproof releases --json"),
    "cli/clients": Published(
        library.ClientsDocument, "jetproof clients list --json, jetproof clients build --json"
    ),
    "cli/validate": Published(library.ValidateDocument, "jetproof validate --json"),
    "cli/schema": Published(library.SchemaDocument, "jetproof schema --json"),
    "cli/doctor": Published(library.DoctorDocument, "jetproof doctor --json"),
    "cli/smoke": Published(library.SmokeDocument, "jetproof smoke --json"),
    "cli/ledger": Published(library.LedgerDocument, "jetproof ledger --json"),
    "cli/error": Published(
        library.ErrorDocument, "--json of a command that could not do what it was asked to"
    ),
    "cli/coverage": Published(analysis.CoverageDocument, "jetproof coverage --json"),
    "cli/positions": Published(analysis.PositionsDocument, "jetproof positions --json"),
    "cli/diff": Published(analysis.DiffDocument, "jetproof diff --json"),
    "cli/report": Published(analysis.ReportDocument, "jetproof report --json"),
    "cli/server-code": Published(
        analysis.ServerCodeDocument, "jetproof coverage --server-code --json"
    ),
    "cli/spec-check": Published(analysis.SpecCheckDocument, "jetproof spec-check --json"),
    "cli/spec-diff": Published(analysis.SpecDiffDocument, "jetproof spec-diff --json"),
}


def generate(name: str) -> Document:
    """The schema of that name."""
    published = PUBLISHED[name]
    (whole,), parts = msgspec.json.schema_components(
        [published.type], ref_template="#/$defs/{name}"
    )
    own = str(whole["$ref"]).rpartition("/")[2]
    whole_always = name.startswith("cli/")
    made = {
        key: _brief(_closed(part, whole=whole_always)) | _MORE.get(key, {})
        for key, part in sorted(parts.items())
    }
    defined = {key: part for key, part in made.items() if key != own}
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:jetproof:{name.replace('/', ':')}:{SCHEMA}",
        "title": published.title,
        **made[own],
    }
    return document | ({"$defs": defined} if defined else {})


def _closed(part: Mapping[str, Any], *, whole: bool) -> Document:
    """A part without the name of its type; an object allows no field that it does not name.

    In a `whole` one every field is there that has a default."""
    kept = {key: value for key, value in part.items() if key != "title"}
    if "properties" in kept:
        if whole:
            fields = kept["properties"]
            due = [name for name in fields if "default" in fields[name]]
            kept["required"] = [*kept.get("required", ()), *due]
            for name in due:
                fields[name].pop("default")
        kept["additionalProperties"] = False
    return kept


def _brief(part: Any) -> Any:
    """The same, with `type: [string, null]` where a simple value may be null."""
    if isinstance(part, list):
        return [_brief(item) for item in part]
    if not isinstance(part, dict):
        return part
    brief = {key: _brief(value) for key, value in part.items()}
    match brief.get("anyOf"):
        case [{"type": str() as kind, **rest}, {"type": "null"}]:
            place = {key: value for key, value in brief.items() if key != "anyOf"}
            return {**place, "type": [kind, "null"], **rest, **place}
    return brief


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
