"""The knobs of the reference layer, which mutants turn: each makes it wrong in one way."""

from __future__ import annotations

from collections.abc import Mapping

from jetproof.targets.faults import FaultyParts
from jetproof.targets.reference.faults import consumers, fast_ingest, reads
from jetproof.targets.reference.faults.fault import FAULTS


def knob_names() -> tuple[str, ...]:
    """The names of all knobs as files write them."""
    return FAULTS.names_of(reads, consumers, fast_ingest)


def parts_with(knobs: Mapping[str, bool]) -> FaultyParts:
    """The parts of the layer with those knobs on; the error lists those there are."""
    FAULTS.check(knobs)
    return FaultyParts(FAULTS, [name for name, on in knobs.items() if on])
