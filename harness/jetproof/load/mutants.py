"""Mutants: `fixtures/mutants/*.yaml` to the model. Rules stay plain data, but must be readable."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from jetproof.load.mistakes import Mistake
from jetproof.load.reader import AnyNames, FileSource, Reader
from jetproof.load.rules import RuleReader
from jetproof.load.scope import like_clause
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document, Keys
from jetproof.model.clause import Clause
from jetproof.model.mutant import Mutant


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

    def tell(line: int, message: str) -> None:
        mistakes.append(Mistake(document.file, line, message))

    data: Any = document.data
    mutants: list[Mutant] = []
    rules = RuleReader(Reader(FileSource(document, tell), AnyNames()))
    for index, raw in enumerate(data["mutants"]):
        at: Keys = ("mutants", index, "rules")
        line = document.line_of(("mutants", index, "id"))
        here = f"{document.file}:{line}"
        first = places.setdefault(raw["id"], here)
        if first != here:
            message = f"duplicate mutant {raw['id']}: it is at {first} already"
            tell(line, message)
        for position, name in enumerate(raw["breaks"]):
            if name not in clauses:
                where = document.line_of(("mutants", index, "breaks", position))
                message = f"unknown clause {name}{like_clause(name, clauses)}"
                tell(where, message)
        rules.check_ids(at, rules.rules(at, raw.get("rules", ())))
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
