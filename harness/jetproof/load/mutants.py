"""Mutants: `fixtures/mutants/*.yaml` to the model. Rules stay plain data, but must be readable."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from jetproof.load.mistakes import Mistake
from jetproof.load.scope import like_clause
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document
from jetproof.model.clause import Clause
from jetproof.model.mutant import Mutant
from jetproof.wire.rules import RuleError, parse_rules


def read_mutants(
    document: Document,
    schema: FileSchema,
    clauses: Mapping[str, Clause],
    places: MutableMapping[str, str],
    mistakes: list[Mistake],
) -> tuple[Mutant, ...]:
    """The mutants of one file. `places` holds where each id of this and other files stands."""
    if schema.check(document, mistakes):
        return ()
    data: Any = document.data
    mutants: list[Mutant] = []
    for index, raw in enumerate(data["mutants"]):
        line = document.line_of(("mutants", index, "id"))
        here = f"{document.file}:{line}"
        first = places.setdefault(raw["id"], here)
        if first != here:
            message = f"duplicate mutant {raw['id']}: it is at {first} already"
            mistakes.append(Mistake(document.file, line, message))
        for position, name in enumerate(raw["breaks"]):
            if name not in clauses:
                where = document.line_of(("mutants", index, "breaks", position))
                message = f"unknown clause {name}{like_clause(name, clauses)}"
                mistakes.append(Mistake(document.file, where, message))
        _check_rules(document, index, mistakes)
        mutants.append(
            Mutant(
                id=raw["id"],
                about=raw["about"],
                breaks=tuple(raw["breaks"]),
                rules=tuple(raw.get("rules", ())),
                knobs=raw.get("reference", {}),
                for_reference="reference" in raw,
                file=document.file,
                line=line,
            )
        )
    return tuple(mutants)


def _check_rules(document: Document, index: int, mistakes: list[Mistake]) -> None:
    data: Any = document.data
    try:
        parse_rules(data["mutants"][index].get("rules", []))
    except RuleError as error:
        for (number, *keys), text in error.mistakes:
            line = document.line_of(("mutants", index, "rules", number, *keys))
            where = ", ".join(
                [f"rule {int(number) + 1}", *([".".join(map(str, keys))] if keys else [])]
            )
            mistakes.append(Mistake(document.file, line, f"{where}: {text}"))
