"""Client libraries in a report: who they are, and which revision of a text they are held to."""

from __future__ import annotations

from collections.abc import Mapping

from jetproof.model.claims import held_revision
from jetproof.model.identity import client_name
from jetproof_reports.plain import Plain, Tables, pairs, rows_of, text


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
