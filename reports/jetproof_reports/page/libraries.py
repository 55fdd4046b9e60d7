"""Client libraries in a report: who they are, and which revision of a text they are held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from jetproof.model.claims import held_revision
from jetproof.model.identity import client_name
from jetproof.results.changes import NO_VERDICT
from jetproof.results.positions import odd_answer, usual_answer
from jetproof_reports.plain import Plain, Row, Tables, pairs, rows_of, text


def is_witness(client: str) -> bool:
    """Whether a client is the reference client, in whatever version."""
    return client_name(client).is_reference


def libraries_of(tables: Tables) -> dict[str, Plain]:
    """By name, as they introduced themselves in the newest run that played them."""
    found: dict[str, Plain] = {}
    for run in sorted(rows_of(tables, "runs"), key=lambda run: text(run.get("started_at"))):
        for one in run.get("libraries") or ():
            found[text(one["name"])] = {
                "parts": text(one.get("parts")),
                "runtime": text(one.get("runtime")),
                "claims": dict(pairs(one.get("claims"))),
            }
    return found


def laws_of(tables: Tables) -> dict[str, int]:
    """The revision of each specification that is in force."""
    return {
        text(row.get("spec")): int(row["revision"])
        for row in rows_of(tables, "revisions")
        if row.get("in_force")
    }


def held_of(
    libraries: Mapping[str, Plain], laws: Mapping[str, int], client: str, spec: str
) -> int | None:
    """The revision that a library is held to. None where no run says what it claims."""
    if client not in libraries:
        return None
    claims: Mapping[str, int] = libraries[client]["claims"]
    return held_revision(claims, spec, laws.get(spec))


Numbered = tuple[int, Row]
"""A cell of the matrix with its number."""


def superseded(cells: Iterable[tuple[int, Row, bool]]) -> list[int]:
    """Cells of a case that its library was judged by more than once, and that do not count.

    The revision that the library is held to counts (the flag says which it is), else the later one."""
    places: dict[tuple[Any, ...], list[tuple[bool, int, int]]] = {}
    names = ("case", "topology", "client", "server", "provider")
    for number, row, is_held in cells:
        place = tuple(text(row.get(name)) for name in names)
        places.setdefault(place, []).append((is_held, row.get("spec_revision") or 0, number))
    return sorted(number for mine in places.values() for *_, number in sorted(mine)[:-1])


def library_questions(cells: Iterable[Numbered]) -> list[Plain]:
    """Every question that a text leaves open and some library answered: the answers of each client,
    with the cells that gave them. The reference client has no vote."""
    found: dict[tuple[str, str, str], dict[str, dict[str, list[int]]]] = {}
    for number, row in cells:
        if text(row.get("verdict")) in NO_VERDICT:
            continue
        for name, value in pairs(row.get("position")):
            question = found.setdefault((text(row["case"]), text(row.get("topology")), name), {})
            question.setdefault(row["client"], {}).setdefault(text(value), []).append(number)
    return [
        {
            "case": case,
            "topology": topology,
            "name": name,
            **_votes(
                Counter(
                    value
                    for client in answers
                    if not is_witness(client)
                    for value in answers[client]
                )
            ),
            "answers": [
                [client, [[value, numbers] for value, numbers in given.items()]]
                for client, given in answers.items()
            ],
        }
        for (case, topology, name), answers in found.items()
    ]


def _votes(votes: Counter[str]) -> Plain:
    return {
        "differ": len(votes) > 1,
        "usual": usual_answer(votes),
        "alone": odd_answer(votes),
    }
