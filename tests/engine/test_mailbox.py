"""Mailboxes: arrival order, waiting for the next, several readers."""

from __future__ import annotations

import asyncio

from jetproof.engine.judge import Seen
from jetproof.engine.mailbox import Mailbox


def seen(text: str) -> Seen:
    return Seen("subject", None, text.encode())


def texts(messages: list[Seen | None]) -> list[str | None]:
    return [message and message.text for message in messages]


def test_messages_are_read_in_the_order_in_which_they_came() -> None:
    async def scenario() -> None:
        box = Mailbox()
        for text in "abc":
            box.put(seen(text))
        assert texts([await box.next(0), await box.next(0)]) == ["a", "b"]
        assert texts([*box.read, *box.unread]) == ["a", "b", "c"]

    asyncio.run(scenario())


def test_a_reader_is_woken_by_the_next_message() -> None:
    async def scenario() -> None:
        box = Mailbox()
        reader = asyncio.create_task(box.next(60))
        await asyncio.sleep(0)
        box.put(seen("a"))
        assert texts([await reader]) == ["a"]

    asyncio.run(scenario())


def test_a_reader_gets_nothing_when_nothing_comes() -> None:
    async def scenario() -> None:
        box = Mailbox()
        assert await box.next(0.01) is None
        assert await box.next(0) is None
        assert await box.next(-1) is None
        assert not await box.wait(0.01)

    asyncio.run(scenario())


def test_each_message_has_one_reader() -> None:
    async def scenario() -> None:
        box = Mailbox()
        readers = [asyncio.create_task(box.next(60)) for _ in range(3)]
        late = asyncio.create_task(box.next(0.05))
        await asyncio.sleep(0)
        for text in "abc":
            box.put(seen(text))
        assert sorted(filter(None, texts(await asyncio.gather(*readers)))) == ["a", "b", "c"]
        assert await late is None

    asyncio.run(scenario())


def test_a_reader_that_is_cancelled_takes_nothing_with_it() -> None:
    async def scenario() -> None:
        box = Mailbox()
        reader = asyncio.create_task(box.next(60))
        await asyncio.sleep(0)
        reader.cancel()
        await asyncio.wait({reader})
        box.put(seen("a"))
        assert texts([await box.next(0)]) == ["a"]

    asyncio.run(scenario())


def test_everything_unread_can_be_taken_at_once() -> None:
    box = Mailbox()
    for text in "abc":
        box.put(seen(text))
    box.take()
    assert texts([*box.take_all()]) == ["b", "c"]
    assert not box.unread
    assert len(box.read) == 3
