"""A right client does what the scenarios say, and each knob is noticed by one of them at least."""

from __future__ import annotations

import asyncio

import pytest

from jetproof.targets.reference_client.knobs import KNOBS

from . import (
    scenarios_batches,
    scenarios_choices,
    scenarios_consume,
    scenarios_fetch,
    scenarios_ingest,
    scenarios_reads,
    scenarios_statuses,
    scenarios_stores,
)
from .bench import Bench, Scenario, notices, scenarios

MODULES = (
    scenarios_consume,
    scenarios_statuses,
    scenarios_fetch,
    scenarios_batches,
    scenarios_ingest,
    scenarios_choices,
    scenarios_reads,
    scenarios_stores,
)
ALL = scenarios(*MODULES)
SIDE_BY_SIDE = 12
SHORT, LONGEST = 2.0, 16.0
"""Seconds to wait for what does not come, stretched until a right client passes."""


@pytest.mark.parametrize("scenario", ALL, ids=lambda scenario: str(scenario.name))
def test_a_right_client(port: int, scenario: Scenario) -> None:
    asyncio.run(scenario.play(port))


def test_every_knob_has_a_scenario() -> None:
    named = {knob for scenario in ALL for knob in scenario.knobs}
    assert named == {knob.name for knob in KNOBS}


async def unnoticed(port: int, scenario: Scenario, turn: asyncio.Semaphore) -> list[str]:
    """The knobs of a scenario of which it proves nothing, each with the reason.

    A failure proves something only if the knob came to bear, and if the same scenario holds without
    it when it is given no more time: else it may be the machine that is slow.
    """
    patience = SHORT
    while not await _holds(port, scenario, patience, turn):
        patience *= 2
        if patience > LONGEST:
            return [f"{scenario.name}: does not hold without a knob"]
    found: list[str] = []
    for knob in scenario.knobs:
        async with turn:
            outcome = await scenario.outcome(port, knob, patience)
        if outcome.passed:
            found.append(f"{scenario.name}: {knob} is not noticed")
        elif not outcome.fired:
            found.append(f"{scenario.name}: {knob} never came to bear")
    return found


async def _holds(port: int, scenario: Scenario, patience: float, turn: asyncio.Semaphore) -> bool:
    async with turn:
        return (await scenario.outcome(port, None, patience)).passed


def survey(port: int, chosen: list[Scenario]) -> list[str]:
    """All of them side by side, since most wait for what never comes."""

    async def run() -> list[str]:
        turn = asyncio.Semaphore(SIDE_BY_SIDE)
        found = await asyncio.gather(*(unnoticed(port, one, turn) for one in chosen))
        return [line for lines in found for line in lines]

    return asyncio.run(run())


def test_every_knob_is_noticed(port: int) -> None:
    assert survey(port, [scenario for scenario in ALL if scenario.knobs]) == []


def test_a_failure_that_proves_nothing_is_none(port: int) -> None:
    @notices("pin-kept")
    async def unrelated(bench: Bench) -> None:
        await bench.make_stream()

    @notices("pin-kept")
    async def impossible(bench: Bench) -> None:
        raise AssertionError

    @notices("pin-kept")
    async def fails_with_any_knob(bench: Bench) -> None:
        assert not bench.adapter.conduct.knobs

    assert survey(port, [unrelated]) == ["unrelated: pin-kept is not noticed"]
    assert survey(port, [impossible]) == ["impossible: does not hold without a knob"]
    assert survey(port, [fails_with_any_knob]) == [
        "fails_with_any_knob: pin-kept never came to bear"
    ]
