"""Coroutines side by side: results in order, and nothing that outlives a failure."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from jetproof.tasks import all_of

FAILS_WHILE_ANOTHER_STARTS = """
import asyncio, sys
from jetproof.tasks import all_of

async def start():
    await asyncio.get_running_loop().subprocess_exec(asyncio.SubprocessProtocol, "sleep", "5")

async def fail(turns):
    for _ in range(turns):
        await asyncio.sleep(0)
    raise ValueError("the other one")

asyncio.run(all_of(start(), fail(int(sys.argv[1]))))
"""


async def told(what: str, turns: int) -> str:
    for _ in range(turns):
        await asyncio.sleep(0)
    return what


def test_results_come_in_the_order_asked_for() -> None:
    async def both() -> list[str]:
        return await all_of(told("slow", 5), told("fast", 0))

    assert asyncio.run(both()) == ["slow", "fast"]


def test_the_others_have_ended_when_a_failure_is_told() -> None:
    ended: list[str] = []

    async def lasting() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append("lasting")

    async def failing() -> None:
        await asyncio.sleep(0)
        raise ValueError("failing")

    async def both() -> list[str]:
        with pytest.raises(ValueError, match="failing"):
            await all_of(lasting(), failing())
        return list(ended)

    assert asyncio.run(both()) == ["lasting"]


@pytest.mark.parametrize("turns", range(4))
def test_a_failure_does_not_wait_for_a_process_that_is_being_started(turns: int) -> None:
    """With `asyncio.gather` this never ends."""
    done = subprocess.run(
        [sys.executable, "-c", FAILS_WHILE_ANOTHER_STARTS, str(turns)],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1
    assert "ValueError: the other one" in done.stderr
