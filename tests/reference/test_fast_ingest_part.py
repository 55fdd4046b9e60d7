"""Fast ingest by headers in front of a real server: what is stored, who is answered, who waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from jetproof.targets.reference.fast_ingest_message import (
    LAST_MSG_ID,
    LAST_SEQUENCE,
    Commit,
    Message,
    Rate,
)
from jetproof.wire.driver import Connection
from jetproof.wire.frames import Msg, Pub
from jetproof.wire.headers import Headers

from .conftest import Bench

WithLayer = Callable[..., None]


class Batch:
    """A publisher with one inbox for all that it hears of its batch."""

    def __init__(self, bench: Bench, name: str = "b", connection: Connection | None = None) -> None:
        self.name = name
        self._connection = connection or bench.client
        self._inbox = f"inbox.{name}"
        self._heard: asyncio.Queue[Msg] = asyncio.Queue()
        self._connection.subscribe(self._inbox, lambda message, _: self._heard.put_nowait(message))

    def send(self, sequence: int, subject: str = "S.a", payload: bytes = b"", **said: str) -> None:
        named = {f"Nats-{name.replace('_', '-').title()}": value for name, value in said.items()}
        items = {"Nats-Fast-Batch-Id": self.name, "Nats-Batch-Sequence": str(sequence), **named}
        self._connection.publish(
            subject, payload, reply=self._inbox, headers=Headers(items.items())
        )

    async def heard(self) -> Any:
        return json.loads((await self._heard.get()).payload)

    @property
    def silent(self) -> bool:
        return self._heard.empty()


def test_a_question_to_jetstream_is_answered_after_what_came_before(with_layer: WithLayer) -> None:
    """That is how the harness knows that an answer which is missing will not come."""

    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        batch = Batch(bench)
        for sequence in range(1, 101):
            batch.send(sequence, flow="1000")
        batch.send(101, batch_commit="1")
        await bench.ask("$JS.API.INFO")
        info = await bench.told("$JS.API.STREAM.INFO.S", past=True)
        assert info["state"]["messages"] == 101

    with_layer(test)


def test_messages_are_stored_as_they_came_and_answered_by_the_flow(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        batch = Batch(bench)
        batch.send(1, payload=b"one", flow="2")
        batch.send(2, subject="S.b", payload=b"two")
        batch.send(3, payload=b"three", batch_commit="1")
        assert await batch.heard() == {"seq": 1, "messages": 2}
        assert await batch.heard() == {"seq": 2, "messages": 2}
        assert await batch.heard() == {"stream": "S", "seq": 3, "batch": "b", "count": 3}
        second = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 2})
        assert second.payload == b"two"
        assert second.headers is not None
        assert second.headers.get("Nats-Batch-Sequence") == "2"
        assert second.headers.get("Nats-Subject") == "S.b"
        assert batch.silent

    with_layer(test)


def test_a_stream_made_past_the_layer_is_found(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        config = {"name": "S", "subjects": ["S.*"], "allow_batched": True}
        await bench.told("$JS.API.STREAM.CREATE.S", config, past=True)
        batch = Batch(bench)
        batch.send(1, flow="5")
        batch.send(2, batch_commit="eob")
        assert await batch.heard() == {"seq": 1, "messages": 5}
        assert await batch.heard() == {"stream": "S", "seq": 1, "batch": "b", "count": 1}

    with_layer(test)


def test_a_subject_without_a_stream_is_the_servers_to_answer(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        headers = Headers([("Nats-Fast-Batch-Id", "b"), ("Nats-Batch-Sequence", "1")])
        answer = await bench.client.request("nobody.listens", b"", headers, timeout=10)
        assert answer.status == 503

    with_layer(test)


def test_an_update_switches_it_off_and_on(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        config = {"name": "S", "subjects": ["S.>"], "allow_direct": True}
        await bench.told("$JS.API.STREAM.UPDATE.S", config)
        batch = Batch(bench)
        batch.send(1)
        assert (await batch.heard())["error"]["err_code"] == 10174
        await bench.told("$JS.API.STREAM.UPDATE.S", {**config, "allow_batched": True})
        batch.send(1)
        assert await batch.heard() == {"seq": 1, "messages": 10}

    with_layer(test)


def test_batches_of_a_deleted_stream_are_forgotten(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        batch = Batch(bench)
        batch.send(1)
        assert await batch.heard() == {"seq": 1, "messages": 10}
        await bench.told("$JS.API.STREAM.DELETE.S")
        await bench.stream(allow_batched=True)
        batch.send(2)
        assert (await batch.heard())["error"]["err_code"] == 10176
        batch.send(1)
        assert await batch.heard() == {"seq": 1, "messages": 10}

    with_layer(test)


def test_what_the_server_refuses_is_passed_on(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True, max_msg_size=100)
        batch = Batch(bench)
        batch.send(1)
        batch.send(2, payload=b"x" * 200)
        batch.send(3, batch_commit="1")
        assert await batch.heard() == {"seq": 1, "messages": 10}
        assert (await batch.heard())["error"]["err_code"] == 10054
        assert (await batch.heard())["error"]["err_code"] == 10176

    with_layer(test)


def test_batches_of_two_accounts_are_not_mixed_up(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        place, who = bench.target.address("n1"), bench.target.credentials("B")
        async with await Connection.open(*place, options=who) as other:
            stranger = Bench(bench.target, other, bench.past)
            await stranger.stream(messages=3, allow_batched=True)
            ours, theirs = Batch(bench), Batch(stranger)
            ours.send(1)
            theirs.send(1, batch_commit="1")
            assert await theirs.heard() == {"seq": 1, "messages": 10}
            assert (await theirs.heard())["seq"] == 4
            assert await ours.heard() == {"seq": 1, "messages": 10}
            ours.send(2, batch_commit="1")
            assert await ours.heard() == {"stream": "S", "seq": 2, "batch": "b", "count": 2}

    with_layer(test)


def test_atomic_batches_and_plain_messages_pass(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True, allow_atomic=True)
        both = [("Nats-Batch-Id", "a"), ("Nats-Fast-Batch-Id", "a"), ("Nats-Batch-Sequence", "1")]
        answer = await bench.client.request("S.a", b"", Headers(both), timeout=10)
        assert answer.payload == b""
        assert (await bench.told("S.a"))["seq"] == 1

    with_layer(test)


def test_a_batch_that_is_given_up_is_told_of_in_an_advisory(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        advised: asyncio.Queue[Msg] = asyncio.Queue()
        subject = "$JS.EVENT.ADVISORY.STREAM.BATCH_ABANDONED.S"
        bench.client.subscribe(subject, lambda message, _: advised.put_nowait(message))
        batch = Batch(bench)
        batch.send(1)
        assert await batch.heard() == {"seq": 1, "messages": 10}
        told = json.loads((await advised.get()).payload)
        assert told["type"] == "io.nats.jetstream.advisory.v1.batch_abandoned"
        assert (told["stream"], told["batch"], told["reason"]) == ("S", "b", "timeout")
        assert batch.silent
        batch.send(2)
        assert (await batch.heard())["error"]["err_code"] == 10176

    with_layer(test, fast_gives_up_early=True)


def test_the_previous_message_does_not_get_a_commit_header(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        batch = Batch(bench)
        batch.send(1)
        assert await batch.heard() == {"seq": 1, "messages": 10}
        stored = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 1})
        assert stored.headers is not None
        assert stored.headers.get("Nats-Batch-Sequence") == "1"
        assert stored.headers.get("Nats-Batch-Commit") is None

    with_layer(test)


def test_with_its_knob_fast_ingest_is_a_plain_publish(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        batch = Batch(bench)
        batch.send(1)
        assert (await batch.heard())["stream"] == "S"
        assert bench.target.reference is not None
        assert bench.target.reference.fired["fast-is-ignored"] >= 1

    with_layer(test, fast_is_ignored=True)


def test_wrong_on_purpose_a_message_is_marked_or_stored_unchecked(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(allow_batched=True)
        batch = Batch(bench)
        batch.send(1, expected_last_sequence="99")
        assert await batch.heard() == {"seq": 1, "messages": 10}
        stored = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 1})
        assert stored.headers is not None
        assert stored.headers.get("Nats-Batch-Commit") == "1"

    with_layer(test, fast_marks_messages=True, fast_checks_nothing=True)


# -- messages as their headers say --------------------------------------------------------------


def read(*items: tuple[str, str]) -> Message | None:
    return Message.read(Pub("S.a", "r", Headers(items), b"four"))


def test_a_message_is_read_from_its_headers() -> None:
    assert read(
        ("Nats-Fast-Batch-Id", "b"),
        ("Nats-Batch-Sequence", "7"),
        ("Nats-Flow", "1024B"),
        ("Nats-Batch-Gap", "ok"),
        ("Nats-Batch-Commit", "eob"),
        (LAST_SEQUENCE, "3"),
        (LAST_MSG_ID, "x"),
    ) == Message(
        "b",
        7,
        "S.a",
        "r",
        4,
        Commit.NOT_STORED,
        "ok",
        "1024B",
        frozenset({LAST_SEQUENCE, LAST_MSG_ID}),
    )


def test_other_messages_are_none_of_fast_ingest() -> None:
    assert Message.read(Pub("S.a", "r", None, b"")) is None
    assert read(("Nats-Batch-Id", "b"), ("Nats-Batch-Sequence", "1")) is None
    assert read(("Nats-Batch-Id", "b"), ("Nats-Fast-Batch-Id", "b")) is None
    assert read(("nats-fast-batch-id", "b")) is None


@pytest.mark.parametrize("text", ["", "0", "-1", "1.0", "one", " 1", "01"])
def test_a_sequence_that_is_none_is_missing(text: str) -> None:
    message = read(("Nats-Fast-Batch-Id", "b"), ("Nats-Batch-Sequence", text))
    assert message is not None
    assert message.sequence is None


def test_a_commit_is_1_or_eob_and_nothing_else() -> None:
    said = {
        text: message.commit
        for text in ("1", "eob", "0", "EOB", "")
        if (message := read(("Nats-Fast-Batch-Id", "b"), ("Nats-Batch-Commit", text)))
    }
    assert said == {
        "1": Commit.STORED,
        "eob": Commit.NOT_STORED,
        "0": Commit.NONSENSE,
        "EOB": Commit.NONSENSE,
        "": Commit.NONSENSE,
    }


def test_a_rate_is_a_number_of_messages_or_of_bytes() -> None:
    assert Rate.read("10") == Rate(10)
    assert Rate.read("1024B") == Rate(1024, in_bytes=True)
    assert [Rate.read(text) for text in ("0", "1024b", "5MB", "B", "", "1 0")] == [None] * 6
