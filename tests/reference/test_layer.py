"""The layer in front of a real server: what it answers, what it passes, what it hides."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from jetproof.wire.driver import Connection
from jetproof.wire.errors import WireTimeout
from jetproof.wire.frames import Msg

from .conftest import Bench

WithLayer = Callable[..., None]
CREATE = "$JS.API.CONSUMER.CREATE.S"


def consumer(name: str, minimum: int, **more: object) -> dict[str, object]:
    config = {"name": name, "ack_policy": "none", "min_last_seq": minimum, **more}
    return {"stream_name": "S", "config": config}


def test_a_direct_get_is_served_or_refused(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(messages=2)
        served = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 1, "min_last_seq": 2})
        assert served.headers is not None
        assert served.headers.get("Nats-Sequence") == "1"
        refused = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 1, "min_last_seq": 3})
        assert refused.headers is not None
        assert refused.headers.encode() == b"NATS/1.0 412 Min Last Sequence\r\n\r\n"
        assert refused.payload == b""

    with_layer(test)


@pytest.mark.parametrize("value", [-1, 1.5, "one", 2**64])
def test_a_value_that_is_no_sequence_is_refused_as_the_server_refuses_such_a_seq(
    with_layer: WithLayer, value: object
) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(messages=1)
        guarded = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 1, "min_last_seq": value})
        plain = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": value}, past=True)
        assert guarded.headers is not None
        assert plain.headers is not None
        assert guarded.headers.encode() == plain.headers.encode()
        assert guarded.status == 408

    with_layer(test)


def test_a_message_get_is_refused_with_10180(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(messages=1)
        refused = await bench.told("$JS.API.STREAM.MSG.GET.S", {"seq": 1, "min_last_seq": 2})
        assert refused["error"] == {
            "code": 412,
            "err_code": 10180,
            "description": "min last sequence",
        }
        served = await bench.told("$JS.API.STREAM.MSG.GET.S", {"seq": 1, "min_last_seq": 1})
        assert served["message"]["seq"] == 1

    with_layer(test)


def test_what_does_not_concern_it_passes_as_it_is(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(messages=1)
        subject, body = "$JS.API.DIRECT.GET.S", {"seq": 1}
        through = await bench.ask(subject, body)
        past = await bench.ask(subject, body, past=True)
        assert (through.headers, through.payload) == (past.headers, past.payload)
        assert (await bench.ask("$JS.API.DIRECT.GET.S.S.a")).status is None
        assert (await bench.ask("nobody.listens", {"min_last_seq": 1})).status == 503
        heard: list[Msg] = []
        bench.client.subscribe("plain", lambda message, _: heard.append(message))
        bench.client.publish("plain", b'{"min_last_seq": 1}', reply="r")
        await bench.client.flush()
        assert [message.payload for message in heard] == [b'{"min_last_seq": 1}']

    with_layer(test)


def test_a_stream_of_another_account_is_not_mixed_up(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(messages=1)
        place, who = bench.target.address("n1"), bench.target.credentials("B")
        async with await Connection.open(*place, options=who) as other:
            stranger = Bench(bench.target, other, bench.past)
            await stranger.stream(messages=3)
            asked = {"seq": 1, "min_last_seq": 2}
            assert (await stranger.ask("$JS.API.DIRECT.GET.S", asked)).status is None
            assert (await bench.ask("$JS.API.DIRECT.GET.S", asked)).status == 412

    with_layer(test)


def test_a_consumer_waits_shows_what_was_asked_for_and_hides_how(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        advised: list[str] = []
        bench.client.subscribe(
            "$JS.EVENT.ADVISORY.CONSUMER.>", lambda message, _: advised.append(message.subject)
        )
        heard: list[Msg] = []
        arrived = asyncio.Event()

        def deliver(message: Msg, _: float) -> None:
            heard.append(message)
            arrived.set()

        await bench.stream(messages=1)
        bench.client.subscribe("delivered", deliver)
        created = await bench.told(f"{CREATE}.c", consumer("c", 2, deliver_subject="delivered"))
        info = await bench.told("$JS.API.CONSUMER.INFO.S.c")
        listed = (await bench.told("$JS.API.CONSUMER.LIST.S"))["consumers"][0]
        for document in (created, info, listed):
            assert document["config"]["min_last_seq"] == 2
            assert document["config"]["metadata"]["_nats.req.level"] == "2"
            assert "pause_until" not in document["config"]
            assert "paused" not in document
        assert (await bench.told("$JS.API.CONSUMER.INFO.S.c", past=True))["paused"] is True
        assert not heard
        await bench.told("S.a")
        while len(heard) < 2:
            arrived.clear()
            await arrived.wait()
        assert [(message.reply or "").split(".")[5] for message in heard] == ["1", "2"]
        later = await bench.told("$JS.API.CONSUMER.INFO.S.c")
        assert later["config"]["min_last_seq"] == 2
        assert "pause_until" not in later["config"]
        assert not [subject for subject in advised if ".PAUSE." in subject]

    with_layer(test)


def test_a_pause_that_was_asked_for_stays(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream()
        until = "2100-01-01T00:00:00Z"
        await bench.told(f"{CREATE}.c", consumer("c", 1, pause_until=until))
        assert (await bench.told("$JS.API.CONSUMER.INFO.S.c"))["config"]["pause_until"] == until
        await bench.told("S.a")
        while True:
            info = await bench.told("$JS.API.CONSUMER.INFO.S.c", past=True)
            if info["config"]["pause_until"] == until:
                break
            await asyncio.sleep(0.02)
        assert info["paused"] is True

    with_layer(test)


def test_a_consumer_whose_stream_is_deleted_is_forgotten(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream()
        await bench.told(f"{CREATE}.c", consumer("c", 1))
        await bench.told("$JS.API.STREAM.DELETE.S")
        await bench.stream()
        plain = {"stream_name": "S", "config": {"name": "d", "ack_policy": "none"}}
        told = await bench.told(f"{CREATE}.d", plain)
        assert "min_last_seq" not in told["config"]

    with_layer(test)


def test_a_consumer_made_anew_without_the_field_is_shown_without_it(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(messages=1)
        plain = {"stream_name": "S", "config": {"name": "c", "ack_policy": "none"}}
        assert (await bench.told(f"{CREATE}.c", consumer("c", 1)))["config"]["min_last_seq"] == 1
        await bench.told("$JS.API.CONSUMER.DELETE.S.c")
        assert "min_last_seq" not in (await bench.told(f"{CREATE}.c", plain))["config"]

    with_layer(test)


def test_errors_of_the_server_are_passed_to_whoever_creates_a_consumer(
    with_layer: WithLayer,
) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream()
        told = await bench.told(f"{CREATE}.c", consumer("c", 1, ack_policy="perhaps"))
        assert told["error"]["err_code"] == 10025
        nobody = await bench.told("$JS.API.CONSUMER.CREATE.T.c", consumer("c", 1))
        assert "error" in nobody

    with_layer(test)


def test_a_server_that_does_not_answer_is_not_answered_for(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(messages=1)
        await bench.target.pause("n1")
        try:
            payload = json.dumps({"seq": 1, "min_last_seq": 1}).encode()
            asked = bench.client.request("$JS.API.DIRECT.GET.S", payload, timeout=0.5)
            try:
                await asked
                raise AssertionError("a paused server has answered")
            except WireTimeout:
                pass
        finally:
            await bench.target.resume("n1")
        served = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 1, "min_last_seq": 1})
        assert served.status is None

    with_layer(test)


def test_it_finds_its_server_again_after_a_restart(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream(messages=1)
        asked = {"seq": 1, "min_last_seq": 1}
        assert (await bench.ask("$JS.API.DIRECT.GET.S", asked)).status is None
        await bench.target.restart("n1")
        place, who = bench.target.address("n1"), bench.target.credentials()
        async with await Connection.open(*place, options=who) as anew:
            again = Bench(bench.target, anew, anew)
            assert (await again.ask("$JS.API.DIRECT.GET.S", asked)).status is None

    with_layer(test)


def test_a_consumer_goes_on_waiting_while_its_server_is_restarted(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        await bench.stream()
        await bench.told(f"{CREATE}.c", consumer("c", 1, durable_name="c"))
        await bench.target.restart("n1")
        place, who = bench.target.address("n1"), bench.target.credentials()
        async with await Connection.open(*place, options=who) as anew:
            arrived: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
            anew.subscribe("pulled", lambda message, _: arrived.set_result(message))
            anew.publish("$JS.API.CONSUMER.MSG.NEXT.S.c", b'{"batch": 1}', reply="pulled")
            await Bench(bench.target, anew, anew).told("S.a")
            assert (await arrived).subject == "S.a"

    with_layer(test)


def test_a_knob_is_counted_where_it_comes_to_bear(with_layer: WithLayer) -> None:
    async def test(bench: Bench) -> None:
        assert bench.target.reference is not None
        await bench.stream(messages=1)
        await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 1, "min_last_seq": 1})
        assert bench.target.reference.fired == {}
        served = await bench.ask("$JS.API.DIRECT.GET.S", {"seq": 1, "min_last_seq": 2})
        assert served.status is None
        assert bench.target.reference.fired == {"leader-answers-behind": 1}

    with_layer(test, leader_answers_behind=True)
