"""From checks to a verdict: levels, positions, and what the ledger says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from jetproof.engine.documents import cut
from jetproof.model.clause import Clause, Stakes, stakes
from jetproof.model.ledger import Deviation, explain_together
from jetproof.model.verdict import Check, Verdict


@dataclass(frozen=True, slots=True)
class Ruling:
    verdict: Verdict
    reason: str = ""
    entry: Deviation | None = None


def rule(
    clauses: Sequence[Clause], checks: Sequence[Check], deviations: Sequence[Deviation]
) -> Ruling:
    """The verdict of a case that was played to its end.

    `deviations` are the entries of the ledger that cover this cell.
    """
    failed = [check for check in checks if not check.ok]
    verdict = _plain_verdict(clauses, failed)
    reason = told(failed)
    due = [entry for entry in deviations if not entry.sometimes]
    if verdict in (Verdict.FAIL, Verdict.WARN):
        for entry in deviations:
            if entry.explains(failed, whole=bool(clauses)):
                return Ruling(Verdict.KNOWN, f"{entry.id}: {entry.does}", entry)
        if len(due) > 1 and explain_together(due, failed):
            does = "; ".join(f"{entry.id}: {entry.does}" for entry in due)
            return Ruling(Verdict.KNOWN, does, due[0])
    if not due:
        return Ruling(verdict, reason)
    ids = ", ".join(entry.id for entry in due)
    if verdict in (Verdict.FAIL, Verdict.WARN):
        return Ruling(Verdict.STALE, f"{ids} expects a different failure; got: {reason}")
    return Ruling(Verdict.STALE, f"{ids} says that this fails, and it does not", due[0])


def told(failed: Sequence[Check]) -> str:
    """The failed checks in one line each, the first few of them."""
    lines = [
        f"step {check.step}{f' [{check.iteration}]' if check.iteration else ''}, {check.path}: "
        f"expected {cut(check.expected)}, got {cut(plain(check.actual))}"
        for check in failed[:5]
    ]
    if len(failed) > len(lines):
        lines.append(f"and {len(failed) - len(lines)} more")
    return "; ".join(lines)


def plain(actual: object) -> str:
    """An actual value for people."""
    if actual == {"absent": True}:
        return "absent"
    return actual if isinstance(actual, str) else json.dumps(actual, ensure_ascii=False)


def _plain_verdict(clauses: Sequence[Clause], failed: Sequence[Check]) -> Verdict:
    """A broken promise decides whatever the case is about."""
    if any(check.clause is not None for check in failed):
        return Verdict.FAIL
    decided = stakes(clauses)
    if decided is Stakes.POSITION:
        return Verdict.POSITION
    return Verdict(decided.value) if failed else Verdict.PASS
