"""Controls: cases played without the feature that they are about, and what that makes of a cell.

A control belongs to one cell and one feature. `jetproof controls` writes them into the folder of
the run whose cells they are about (`controls.jsonl`); `Vacuity` reads them back. A cell is vacuous
if its case passes without the feature that it is about, or if the release does not know that
feature: whatever such a cell shows, it does not show the feature.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from jetproof.model.case import Case
from jetproof.model.feature import Feature
from jetproof.model.identity import REFERENCE
from jetproof.model.verdict import Cell, Verdict
from jetproof.model.versions import Version, VersionError
from jetproof.results import Run, read_rows
from jetproof.results.rows import Count, Name

JOURNAL = "controls"


class Outcome(StrEnum):
    """What a control shows."""

    NEEDED = "needed"
    """Without the feature the case does not pass."""
    VACUOUS = "vacuous"
    """The case must need the feature, and passes without it."""
    SAME = "same"
    """The case passes without the feature, as it declares."""
    CONTRADICTED = "contradicted"
    """The case declares that it passes without the feature, and does not."""
    IMPOSSIBLE = "impossible"
    """There is no such control; the reason says why. It proves nothing."""
    NO_VERDICT = "no-verdict"


class ControlResult(msgspec.Struct, frozen=True, kw_only=True):
    """One cell, played without an optional feature that its case is about. jetproof controls
    writes it."""

    run: Annotated[Name, Meta(description="The run whose cell it is about.")]
    cell: Annotated[Name, Meta(description="The cell's full name: case @server topology.")]
    case: str
    spec_revision: Count
    target: Annotated[str, Meta(description="The target as it was asked for.")]
    case_hash: Annotated[
        str,
        Meta(
            description=("Of the case as it was played; a control of another one does not count.")
        ),
    ]
    feature: Annotated[str, Meta(description="A feature of fixtures/features.yaml.")]
    declared: Annotated[
        bool, Meta(description=("Whether the case declares the feature; false: it only sends it."))
    ]
    differs: Annotated[bool, Meta(description="Whether the case must not pass without it.")]
    outcome: Annotated[
        Outcome,
        Meta(
            description=(
                "needed: it does not pass without the feature. vacuous: it does, "
                "and must not. same: it does, as declared. contradicted: it does "
                "not, and declares that it does. impossible: no control can be "
                "made."
            )
        ),
    ]
    control: Annotated[
        Verdict | None, Meta(description="The verdict of the control; null if it was not played.")
    ]
    messages: Annotated[Count, Meta(description="How many messages of the case lost the feature.")]
    reason: Annotated[str, Meta(description="What the control failed at, or why there is none.")]

    @property
    def key(self) -> tuple[str, str, int, str]:
        return self.cell, self.target, self.spec_revision, self.feature


def outcome_of(control: Verdict, *, differs: bool) -> Outcome:
    """What the verdict of a control says of a cell that passes."""
    if control in (Verdict.ERROR, Verdict.NOT_APPLICABLE):
        return Outcome.NO_VERDICT
    if control is Verdict.PASS:
        return Outcome.VACUOUS if differs else Outcome.SAME
    return Outcome.NEEDED if differs else Outcome.CONTRADICTED


def read_controls(run: Run) -> dict[tuple[str, str, int, str], ControlResult]:
    """The controls of a run's cells; the last row of each counts."""
    return {one.key: one for one in read_rows(run.folder, ControlResult, JOURNAL)}


@dataclass(frozen=True, slots=True)
class Vacuity:
    """Which cells show nothing about the feature that their case is about."""

    features: Mapping[str, Feature] = field(default_factory=dict)
    cases: Mapping[str, Case] = field(default_factory=dict)
    controls: Mapping[tuple[str, str, int, str], ControlResult] = field(default_factory=dict)

    @classmethod
    def of(
        cls, features: Mapping[str, Feature], cases: Iterable[Case], runs: Sequence[Run]
    ) -> Vacuity:
        controls: dict[tuple[str, str, int, str], ControlResult] = {}
        for run in sorted(runs, key=lambda run: str(run.document.get("started_at", ""))):
            controls |= read_controls(run)
        return cls(features, {case.id: case for case in cases}, controls)

    @property
    def standing(self) -> list[ControlResult]:
        """The controls of features that their cases declare, as they read now."""
        return [
            one
            for one in self.controls.values()
            if (case := self.cases.get(one.case)) is not None
            and any(use.name == one.feature for use in case.features)
        ]

    def why(self, cell: Cell) -> str | None:
        """Why a cell is vacuous; None if it is not."""
        case = self.cases.get(cell.case)
        if case is None:
            return None
        # A library shows what it does whether or not the server behind it knows the feature.
        if cell.client is None and cell.verdict in (Verdict.PASS, Verdict.POSITION):
            for use in case.features:
                if not _known(self.features[use.name], cell):
                    return f"{cell.server} does not know {use.name}"
        if cell.verdict is Verdict.PASS:
            for use in case.features:
                key = (cell.name, cell.target, cell.spec_revision, use.name)
                control = self.controls.get(key)
                stands = control is not None and control.case_hash == cell.case_hash
                if use.differs and stands and control.control == Verdict.PASS:  # type: ignore[union-attr]
                    return f"it passes without {use.name} too"
        return None


def _known(feature: Feature, cell: Cell) -> bool:
    try:
        version = Version.parse(cell.server)
    except VersionError:
        return True
    return feature.known_to(version, reference=cell.provider == REFERENCE)
