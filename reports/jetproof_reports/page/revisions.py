"""Two revisions of a text in a report: which sentences came, went and changed between them.

Between any two, as `jetproof spec diff` says it (`jetproof.results.revisions`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

from jetproof.model.clause import Actor, Clause, Level, Revision, Spec, Status
from jetproof.results.revisions import compare_revisions, speaks_of
from jetproof_reports.plain import Plain, Row, Tables, rows_of, text


def clauses_of(tables: Tables) -> dict[str, Clause]:
    """The sentences of a report, by name."""
    return {text(row["clause"]): _clause(row) for row in rows_of(tables, "coverage")}


def revised_of(tables: Tables, clauses: Mapping[str, Clause]) -> list[Plain]:
    """One entry per specification that has several revisions: what differs between any two of them.

    Its revisions are those that cases of servers are about, that brought a sentence, and those of its
    history. `a` is the earlier of two; to read them the other way round, swap `came` and `went`."""
    asked = ((row.get("spec"), row.get("spec_revision")) for row in _of_servers(tables))
    brought = ((clause.spec, clause.revision_from) for clause in clauses.values())
    numbers: dict[str, set[int]] = {}
    for spec, revision in (*asked, *brought):
        if revision is not None:  # 0 is a draft before the first number
            numbers.setdefault(text(spec), set()).add(revision)
    for row in rows_of(tables, "revisions"):
        if text(row["spec"]) in numbers:
            numbers[text(row["spec"])].add(row["revision"])
    return [
        {
            "spec": spec,
            "revisions": sorted(known),
            "between": _between(_spec(tables, clauses, spec), sorted(known)),
        }
        for spec, known in sorted(numbers.items())
        if len(known) > 1
    ]


def unspoken(clauses: Mapping[str, Clause], row: Row, named: Iterable[str]) -> list[str]:
    """The sentences that a row's case names, and that do not hold in the revision it was judged by."""
    spec, revision = text(row.get("spec")), row.get("spec_revision") or 0
    return [n for n in named if n in clauses and not speaks_of(clauses[n], spec, revision)]


def _between(spec: Spec, revisions: list[int]) -> list[Plain]:
    found = []
    for a, b in combinations(revisions, 2):
        revised = compare_revisions(spec, a, b)
        found.append(
            {
                "a": a,
                "b": b,
                "came": [clause.id for clause in revised.added],
                "went": [clause.id for clause in revised.removed],
                "changed": [[change.before.id, change.after.id] for change in revised.changed],
                "kept": len(revised.kept),
                "open": [clause.id for clause in revised.open],
                "passed": [one.number for one in revised.between],
            }
        )
    return found


def _of_servers(tables: Tables) -> list[dict[str, Any]]:
    return [row for row in tables["matrix"] if not row.get("client")]


def _spec(tables: Tables, clauses: Mapping[str, Clause], spec: str) -> Spec:
    mine = {name: clause for name, clause in clauses.items() if clause.spec == spec}
    history = tuple(
        Revision(int(row["revision"]))
        for row in rows_of(tables, "revisions")
        if text(row["spec"]) == spec
    )
    return Spec(spec, spec, 0, (), mine, history=history)


def _clause(row: Row) -> Clause:
    level, status = text(row.get("level")), text(row.get("status"))
    return Clause(
        id=text(row["clause"]),
        spec=text(row.get("spec")),
        section=text(row.get("section")),
        level=Level(level) if level in set(Level) else Level.MUST,
        actor=Actor.BOTH,
        status=Status(status) if status in set(Status) else Status.SILENT,
        text=text(row.get("text")),
        revision_from=row.get("revision_from"),
        revision_to=row.get("revision_to"),
        applies_from=None,
        sentence_hash=None,
        replaces=row.get("replaces"),
    )
