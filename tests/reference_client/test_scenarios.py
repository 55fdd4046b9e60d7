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
SIDE_BY_SIDE = 32
SHORT, LONGEST = 2.0, 16.0
"""Seconds to wait for what does not come, stretched until a right client passes."""
DOES_NOT_HOLD = "does not hold without a knob"


@pytest.fixture(scope="module")
def proofs(port: int) -> list[list[str]]:
    """What each scenario does not prove."""
    return survey(port, ALL)


@pytest.mark.parametrize(
    ("number", "scenario"), list(enumerate(ALL)), ids=[scenario.name for scenario in ALL]
)
def test_a_right_client_passes_and_every_knob_is_noticed(
    port: int, proofs: list[list[str]], number: int, scenario: Scenario
) -> None:
    if DOES_NOT_HOLD in proofs[number]:
        asyncio.run(scenario.play(port))  # again, with more time: this shows where it fails
    assert proofs[number] == []


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
            return [DOES_NOT_HOLD]
    proofs = [await _disproof(port, scenario, knob, patience, turn) for knob in scenario.knobs]
    return [one for one in proofs if one is not None]


async def _disproof(
    port: int, scenario: Scenario, knob: str, patience: float, turn: asyncio.Semaphore
) -> str | None:
    """Why the scenario does not prove that a knob is noticed; None if it does.

    One that fails before the knob came to bear is given more time: the machine may be busy.
    """
    while patience <= LONGEST:
        async with turn:
            outcome = await scenario.outcome(port, knob, patience)
        if outcome.passed:
            return f"{knob} is not noticed"
        if outcome.fired:
            return None
        patience *= 2
    return f"{knob} never came to bear"


async def _holds(port: int, scenario: Scenario, patience: float, turn: asyncio.Semaphore) -> bool:
    async with turn:
        return (await scenario.outcome(port, None, patience)).passed


def survey(port: int, chosen: list[Scenario]) -> list[list[str]]:
    """All of them side by side, since most wait for what never comes."""

    async def run() -> list[list[str]]:
        turn = asyncio.Semaphore(SIDE_BY_SIDE)
        return list(await asyncio.gather(*(unnoticed(port, one, turn) for one in chosen)))

    return asyncio.run(run())


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

    assert survey(port, [unrelated, impossible, fails_with_any_knob]) == [
        ["pin-kept is not noticed"],
        [DOES_NOT_HOLD],
        ["pin-kept never came to bear"],
    ]
