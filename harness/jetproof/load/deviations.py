"""The ledger: `suites/deviations.yaml` to the model.

What a check saw is kept with the case's fresh names put back (`$stream`, `$batch`), so a ledger's
texts are taken as they stand: `$stream` in it is those seven characters, and no variable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from jetproof.load.mistakes import Mistake, choices, nearest
from jetproof.load.nodes import Document, Keys
from jetproof.load.structure import FileSchema
from jetproof.model.case import Case
from jetproof.model.ledger import Deviation, KnownMismatch
from jetproof.model.matcher import Matcher, parse_matcher
from jetproof.model.versions import VersionError, VersionRange

SCHEMA_CELL = "schemas::"
GIVEN = "given"


def read_deviations(
    document: Document,
    schema: FileSchema,
    cases: Mapping[str, Case] | None,
    schemas: Collection[str],
    mistakes: list[Mistake],
) -> tuple[Deviation, ...]:
    """The entries. `cases` is None if some could not be read: then none is missed."""

    def report(keys: Keys, message: str) -> None:
        mistakes.append(Mistake(document.file, document.line_of(keys), message))

    if schema.check(document, mistakes):
        return ()
    data: Any = document.data
    entries: list[Deviation] = []
    lines: dict[str, int] = {}
    for index, raw in enumerate(data["deviations"]):
        keys = ("deviations", index)
        line = document.line_of((*keys, "id"))
        if raw["id"] in lines:
            place = f"it is in line {lines[raw['id']]} already"
            report((*keys, "id"), f"duplicate entry {raw['id']}: {place}")
        lines.setdefault(raw["id"], line)
        try:
            servers = VersionRange.parse(raw["servers"])
        except VersionError as error:
            report((*keys, "servers"), str(error))
            continue
        if raw["case"].startswith(SCHEMA_CELL):
            name = raw["case"].removeprefix(SCHEMA_CELL)
            if name not in schemas:
                report((*keys, "case"), f"no schema {name!r}; {choices(name, sorted(schemas))}")
        elif cases is not None:
            case = cases.get(raw["case"])
            if case is None:
                report((*keys, "case"), f"no case {raw['case']}{nearest(raw['case'], cases)}")
            else:
                check_steps(case, raw, keys, report)
        entries.append(
            Deviation(
                id=raw["id"],
                case=raw["case"],
                servers=servers,
                text=raw["text"],
                does=raw["does"],
                mismatches=known_mismatches(raw["mismatches"]),
                topology=raw.get("topology"),
                provider=raw.get("provider"),
                file=document.file,
                line=line,
            )
        )
    return tuple(entries)


def known_mismatches(raw: Any) -> tuple[KnownMismatch, ...]:
    return tuple(
        KnownMismatch(entry["step"], entry["path"], _literal(entry["actual"])) for entry in raw
    )


def check_steps(case: Case, raw: Any, keys: Keys, report: Any) -> None:
    steps = list(case.all_steps())
    names = [GIVEN, *(step.name for step in steps)]
    labels = {step.address: step.label for step in steps if step.label}
    topology = raw.get("topology")
    if topology is not None and topology != case.given.topology:
        report((*keys, "topology"), f"the case is played in {case.given.topology} only")
    for index, entry in enumerate(raw["mismatches"]):
        place = (*keys, "mismatches", index, "step")
        if label := labels.get(entry["step"]):
            report(place, f"step {entry['step']} has the label {label}: name it by that")
        elif entry["step"] not in names:
            report(
                place, f"{case.id} has no step {entry['step']!r}; {choices(entry['step'], names)}"
            )


def _literal(raw: object) -> Matcher:
    return parse_matcher(_escaped(raw))


def _escaped(raw: object) -> object:
    if isinstance(raw, str):
        return raw.replace("$", "$$")
    if isinstance(raw, Mapping):
        return {key: _escaped(value) for key, value in raw.items()}
    if isinstance(raw, list):
        return [_escaped(item) for item in raw]
    return raw
