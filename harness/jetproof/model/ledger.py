"""Deviations: where releases are known to differ from the text, and exactly how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from jetproof.model.identity import REFERENCE
from jetproof.model.matcher import Matcher
from jetproof.model.matching import MISSING, mismatch
from jetproof.model.verdict import Check
from jetproof.model.versions import Releases, Version
from jetproof.model.wire_form import WireForm


class Kind(StrEnum):
    """Why a target differs from the text."""

    BUG = "bug"
    TEXT_BEHIND = "text-behind"
    NOT_IMPLEMENTED = "not-implemented"
    READING = "reading"


class Severity(StrEnum):
    """What it means for a user, the worst first."""

    LOSS = "loss"
    CRASH = "crash"
    PROTOCOL = "protocol"
    COSMETIC = "cosmetic"


@dataclass(frozen=True, slots=True)
class KnownMismatch:
    step: str
    path: str
    actual: Matcher


@dataclass(frozen=True, slots=True)
class Deviation:
    """One case of one ledger entry: on these releases the case fails in just this way.

    An entry is one cause. It covers exactly the cases for which it lists mismatches; those of one
    entry share its `id`.
    """

    id: str
    case: str
    servers: Releases
    text: str
    does: str
    mismatches: tuple[KnownMismatch, ...]
    kind: Kind = Kind.BUG
    severity: Severity = Severity.PROTOCOL
    upstream: str | None = None
    topology: str | None = None
    provider: str | None = None
    file: str = ""
    line: int = 0
    sometimes: bool = False
    """It does not fail every time, so that passing does not make the entry stale."""
    form: WireForm | None = None
    """The wire form whose absence it is about: a release that speaks the form is not covered."""

    def covers(self, case: str, version: Version, topology: str, provider: str) -> bool:
        """Whether the entry is about this case there.

        Entries tell what releases do. The reference layer is there to do otherwise, so an entry is
        about it only if it says so.
        """
        return (
            self.case == case
            and self.servers.contains(version)
            and (self.form is None or self.form.spoken_by(version) is None)
            and self.topology in (None, topology)
            and self.provider in ((provider,) if provider == REFERENCE else (None, provider))
        )

    def explains(self, failed: Sequence[Check], *, whole: bool = True) -> bool:
        """Whether the failed checks are these mismatches, all of them and no other.

        A schema's cell sees what the cases of the run happened to provoke: it is not `whole`, and
        some of the mismatches are enough.
        """
        told = all(
            any(
                _same_place(known, check) and _same_value(known, check) for known in self.mismatches
            )
            for check in failed
        )
        if not whole:
            return told and bool(failed)
        return told and all(
            any(_same_place(known, check) for check in failed) for known in self.mismatches
        )


def explain_together(entries: Sequence[Deviation], failed: Sequence[Check]) -> bool:
    """Whether several causes meet in one cell: each shows in full, and nothing else fails."""
    return all(
        any(entry.explains([check], whole=False) for entry in entries) for check in failed
    ) and all(
        any(_same_place(known, check) for check in failed)
        for entry in entries
        for known in entry.mismatches
    )


def _same_place(known: KnownMismatch, check: Check) -> bool:
    return known.step == check.step and known.path == check.path


def _same_value(known: KnownMismatch, check: Check) -> bool:
    actual = MISSING if check.actual == {"absent": True} else check.actual
    return mismatch(known.actual, actual) is None
