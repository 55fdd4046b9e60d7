"""Who waits for a place: the most urgent first, and nobody for ever."""

from __future__ import annotations

import asyncio

from jetproof.engine.limiter import Turns


async def use(turns: Turns, name: str, urgency: float, order: list[str]) -> None:
    async with turns.taken(urgency):
        order.append(name)
        await asyncio.sleep(0)


def test_the_most_urgent_is_next_and_then_whoever_came_first() -> None:
    async def play() -> list[str]:
        turns, order = Turns(1), list[str]()
        wanted = [("first", 1.0), ("b", 5.0), ("c", 5.0), ("long", 60.0), ("d", 5.0)]
        await asyncio.gather(*(use(turns, name, urgency, order) for name, urgency in wanted))
        return order

    assert asyncio.run(play()) == ["first", "long", "b", "c", "d"]


def test_no_more_than_there_are_places_for() -> None:
    now = most = 0

    async def one(turns: Turns) -> None:
        nonlocal now, most
        async with turns.taken():
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1

    async def play() -> None:
        turns = Turns(3)
        await asyncio.gather(*(one(turns) for _ in range(20)))

    asyncio.run(play())
    assert most == 3


def test_a_place_of_one_that_gave_up_is_not_lost() -> None:
    """It gives up while it waits, or in the moment in which it is called."""

    async def play(called: bool) -> list[str]:
        turns, order = Turns(1), list[str]()
        async with turns.taken():
            waiting = asyncio.create_task(use(turns, "gave up", 9.0, order))
            await asyncio.sleep(0)
            if not called:
                waiting.cancel()
                await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        async with asyncio.timeout(5):
            await use(turns, "next", 0.0, order)
        return order

    assert asyncio.run(play(called=False)) == ["next"]
    assert asyncio.run(play(called=True)) == ["next"]
