"""Clause catalogues: `suites/<spec>/clauses.yaml` to the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from jetproof.load.mistakes import Mistake
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import Document, Keys
from jetproof.model.clause import Actor, Clause, Level, NoClause, Revision, Reworded, Spec, Status
from jetproof.model.versions import Version


def read_catalogue(
    document: Document, folder: Path, schema: FileSchema, mistakes: list[Mistake]
) -> Spec | None:
    """The specification that a catalogue describes; with a structural mistake there is none."""

    def report(keys: Keys, message: str) -> None:
        mistakes.append(Mistake(document.file, document.line_of(keys), message))

    if schema.check(document, mistakes):
        return None
    data: Any = document.data
    if data["spec"] != folder.name:
        report(("spec",), f"spec is {data['spec']}, but the folder is {folder.name}")
    revisions = tuple(entry["revision"] for entry in data["revisions"])
    for index, number in enumerate(revisions):
        if number in revisions[:index]:
            report(("revisions", index), f"revision {number} is listed twice")
    if data["revision"] not in revisions:
        report(("revision",), f"revision {data['revision']} is not among the revisions")
    clauses: dict[str, Clause] = {}
    first: dict[str, int] = {}
    for index, raw in enumerate(data["clauses"]):
        keys = ("clauses", index)
        clause = _clause(data["spec"], raw)
        if clause.id in clauses:
            place = f"it is in line {first[clause.id]} already"
            report((*keys, "id"), f"duplicate clause {clause.id}: {place}")
            continue
        clauses[clause.id] = clause
        first[clause.id] = document.line_of((*keys, "id"))
        for bound in (clause.revision_from, clause.revision_to):
            if bound is not None and bound not in revisions:
                report((*keys, "revisions"), f"revision {bound} is not among the revisions")
        if not _rising(clause):
            report((*keys, "revisions"), "the last revision is before the first")
        _check_reworded(clause, revisions, (*keys, "reworded"), report)
    for index, raw in enumerate(data.get("no_clause", ())):
        for number, name in enumerate(raw.get("clauses", ())):
            if name not in clauses:
                report(("no_clause", index, "clauses", number), f"no clause {name} in this file")
    return Spec(
        id=data["spec"],
        title=data["title"],
        revision=data["revision"],
        revisions=revisions,
        clauses=clauses,
        file=document.file,
        history=tuple(
            Revision(
                number=entry["revision"],
                date=entry.get("date"),
                server=entry.get("server"),
                api_level=entry.get("api_level"),
                note=entry.get("note", ""),
            )
            for entry in data["revisions"]
        ),
        no_clause=tuple(
            NoClause(raw["anchor"], raw["hash"], raw["why"], tuple(raw.get("clauses", ())))
            for raw in data.get("no_clause", ())
        ),
    )


def check_catalogues(
    documents: Iterable[Document], clauses: Mapping[str, Clause], mistakes: list[Mistake]
) -> None:
    """Clauses that are named by other clauses must exist, in whichever catalogue."""
    owners: dict[str, str] = {}
    for document in documents:
        data: Any = document.data
        for index, raw in enumerate(data["clauses"]):
            keys = ("clauses", index)
            place = f"{document.file}:{document.line_of((*keys, 'id'))}"
            first = owners.setdefault(raw["id"], place)
            if not first.startswith(f"{document.file}:"):
                message = f"duplicate clause {raw['id']}: it is at {first} already"
                mistakes.append(Mistake(document.file, document.line_of((*keys, "id")), message))
            named: list[tuple[Keys, str]] = []
            if "replaces" in raw:
                named.append((("replaces",), raw["replaces"]))
            named += [
                ((key, i), other)
                for key in ("contested_with", "follows")
                for i, other in enumerate(raw.get(key, ()))
            ]
            for inner, other in named:
                if other not in clauses or other == raw["id"]:
                    line = document.line_of((*keys, *inner))
                    mistakes.append(Mistake(document.file, line, f"no other clause {other}"))


def _clause(spec: str, raw: Mapping[str, Any]) -> Clause:
    revisions = raw.get("revisions", {})
    applies_from, applies_to = raw.get("applies_from"), raw.get("applies_to")
    return Clause(
        id=raw["id"],
        spec=spec,
        section=raw["section"],
        level=Level(raw["level"]),
        actor=Actor(raw["actor"]),
        status=Status(raw.get("status", Status.NORMATIVE)),
        text=raw["clause"],
        revision_from=revisions.get("from"),
        revision_to=revisions.get("to"),
        applies_from=None if applies_from is None else Version.parse(applies_from),
        sentence_hash=raw.get("hash"),
        anchor=raw.get("anchor"),
        replaces=raw.get("replaces"),
        contested_with=tuple(raw.get("contested_with", ())),
        follows=tuple(raw.get("follows", ())),
        note=raw.get("note"),
        reworded=tuple(
            Reworded(place["from"], place["anchor"], place["hash"])
            for place in raw.get("reworded", ())
        ),
        applies_to=None if applies_to is None else Version.parse(applies_to),
    )


def _check_reworded(
    clause: Clause, revisions: tuple[int, ...], keys: Keys, report: Callable[[Keys, str], None]
) -> None:
    """Other words come with a revision in which the clause holds, each later than the last."""
    before = clause.revision_from
    for index, place in enumerate(clause.reworded):
        number = place.revision
        if number not in revisions:
            report((*keys, index), f"revision {number} is not among the revisions")
        elif not clause.holds_in(number) or (before is not None and number <= before):
            report((*keys, index), f"revision {number} is not a later one of this clause")
        before = number


def _rising(clause: Clause) -> bool:
    return (
        clause.revision_from is None
        or clause.revision_to is None
        or clause.revision_from <= clause.revision_to
    )
