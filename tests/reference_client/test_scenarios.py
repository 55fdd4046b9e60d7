"""A right client does what the scenarios say, and each knob is noticed by one of them at least."""

from __future__ import annotations

import asyncio

import pytest

from jetproof.targets.reference_client.knobs import KNOBS

from . import (
    scenarios_batches,
    scenarios_consume,
    scenarios_fetch,
    scenarios_ingest,
    scenarios_reads,
    scenarios_statuses,
    scenarios_stores,
)
from .bench import Scenario, scenarios

MODULES = (
    scenarios_consume,
    scenarios_statuses,
    scenarios_fetch,
    scenarios_batches,
    scenarios_ingest,
    scenarios_reads,
    scenarios_stores,
)
ALL = scenarios(*MODULES)
SIDE_BY_SIDE = 12


@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: str(scenario.name))
def test_a_right_client(port: int, scenario: Scenario) -> None:
    asyncio.run(scenario.play(port))


def test_every_knob_has_a_scenario() -> None:
    named = {knob for scenario in ALL for knob in scenario.knobs}
    assert named == {knob.name for knob in KNOBS}


async def noticed(port: int, scenario: Scenario, knob: str, turn: asyncio.Semaphore) -> bool:
    async with turn:
        try:
            await scenario.play(port, knob)
        except (AssertionError, TimeoutError, ValueError, KeyError, IndexError):
            return True
        return False


def test_every_knob_is_noticed(port: int) -> None:
    """Side by side, since most of them wait for what never comes."""

    async def survey() -> list[str]:
        turn = asyncio.Semaphore(SIDE_BY_SIDE)
        pairs = [(scenario, knob) for scenario in ALL for knob in scenario.knobs]
        seen = await asyncio.gather(*(noticed(port, *pair, turn) for pair in pairs))
        return [
            f"{knob} by {scenario.name}"
            for (scenario, knob), was in zip(pairs, seen, strict=True)
            if not was
        ]

    assert asyncio.run(survey()) == []
