"""The tap in front of a real server: it is invisible, until a rule says otherwise."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import nats
import pytest

from jetproof.targets.tap import Tap, TapEvent
from jetproof.wire import Connection, ConnectionLost, Headers, Msg, Pub, WireTimeout
from support.waiting import bounded

HOST = "127.0.0.1"
_numbers = itertools.count(1)


@asynccontextmanager
async def tapped(port: int, *rules: Any, **more: Any) -> AsyncIterator[tuple[Tap, Connection]]:
    """A tap with these rules and a client on it."""
    async with (
        Tap(HOST, port, rules=rules, **more) as tap,
        await Connection.open(tap.host, tap.port) as client,
    ):
        yield tap, client


async def new_stream(client: Connection) -> str:
    """A stream of its own; its messages are under its name."""
    name = f"S{next(_numbers)}"
    config = {"name": name, "subjects": [f"{name}.>"], "storage": "memory"}
    reply = await client.request(f"$JS.API.STREAM.CREATE.{name}", json.dumps(config).encode())
    assert "error" not in json.loads(reply.payload)
    return name


async def publish(
    client: Connection, stream: str, text: bytes = b"x", headers: dict[str, str] | None = None
) -> Any:
    block = Headers(headers.items()) if headers else None
    return json.loads((await client.request(f"{stream}.a", text, block, 20)).payload)


def test_without_rules_every_byte_passes(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        received: list[Msg] = []
        async with tapped(port, on_frame=events.append) as (tap, client):
            client.subscribe("plain.>", lambda msg, at: received.append(msg))
            sent = [
                client.publish("plain.a", bytes(range(256))),
                client.publish("plain.b", b"", reply="r", headers=Headers([("A", "1"), ("A", "")])),
                client.publish("plain.c", headers=Headers.from_raw(b"NATS/1.0\r\nbad\r\n\r\n")),
                client.publish("plain.d", bytes(65_000)),
            ]
            await client.flush()
            assert received == [
                Msg(pub.subject, "1", pub.reply, pub.headers, pub.payload) for pub in sent
            ]
            assert [event.frame for event in events if event.frame.op in ("PUB", "HPUB")] == sent
            delivered = [event.frame for event in events if isinstance(event.frame, Msg)]
            assert delivered == received
            assert {event.connection for event in events} == {1}
            assert all(event.passed for event in events)
            assert [event.at for event in events] == sorted(event.at for event in events)
            ops = [(event.sender, event.frame.op) for event in events[:4]]
            assert ops == [
                ("server", "INFO"),
                ("client", "CONNECT"),
                ("client", "PING"),
                ("server", "PONG"),
            ]
            assert tap.connections == (1,)

    bounded(scenario())


def test_a_long_message_passes_whole_and_is_recorded_by_its_head(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        received: list[Msg] = []
        async with tapped(port, on_frame=events.append) as (_, client):
            client.subscribe("long", lambda msg, at: received.append(msg))
            payload = bytes(range(256)) * 3600
            headers = Headers([("A", "1")])
            client.publish("long", payload, headers=headers)
            client.publish("long", b"short")
            await client.flush()
            assert [msg.payload for msg in received] == [payload, b"short"]
            seen = [event for event in events if event.frame.op in ("HPUB", "HMSG")]
            assert [event.frame for event in seen] == [
                Pub("long", None, headers, payload[:1024]),
                Msg("long", "1", None, headers, payload[:1024]),
            ]
            assert {event.omitted for event in seen} == {len(payload) - 1024}
            assert all(event.passed == (event.frame,) for event in seen)

    bounded(scenario())


def test_a_long_message_that_a_rule_may_touch_is_held(port: int) -> None:
    async def scenario() -> None:
        rule = {"on": {"op": "PUB", "payload": {"match": "z$"}}, "do": {"change": {"payload": "!"}}}
        other = {"on": {"op": "MSG", "subject": "elsewhere"}, "do": "drop"}
        events: list[TapEvent] = []
        async with tapped(port, rule, other, on_frame=events.append) as (_, client):
            received: list[Msg] = []
            client.subscribe("long", lambda msg, at: received.append(msg))
            for end in (b"y", b"z"):
                client.publish("long", bytes(100_000) + end)
            await client.flush()
            assert [msg.payload for msg in received] == [bytes(100_000) + b"y", b"!"]
            omitted = [(event.frame.op, event.omitted) for event in events if "B" in event.frame.op]
            assert omitted == [("SUB", 0), ("PUB", 0), ("PUB", 0)]
            (passed, changed) = [event for event in events if isinstance(event.frame, Msg)]
            assert (passed.omitted, changed.omitted) == (100_001 - 1024, 0)

    bounded(scenario())


def test_nats_py_works_through_it(port: int) -> None:
    async def scenario() -> None:
        async with Tap(HOST, port) as tap:
            client = await nats.connect(f"nats://{tap.host}:{tap.port}")
            stream = client.jetstream()
            name = f"S{next(_numbers)}"
            await stream.add_stream(name=name, subjects=[f"{name}.>"])
            for number in range(20):
                ack = await stream.publish(f"{name}.a", b"%d" % number)
                assert ack.seq == number + 1
            consumer = await stream.pull_subscribe(f"{name}.>", "durable")
            messages = await consumer.fetch(20, timeout=20)
            assert [msg.data for msg in messages] == [b"%d" % number for number in range(20)]
            await client.close()
            while tap.connections:
                await asyncio.sleep(0.005)

    bounded(scenario())


def test_many_clients_at_once(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        async with Tap(HOST, port, on_frame=events.append) as tap:
            clients = [await Connection.open(tap.host, tap.port) for _ in range(10)]
            replies = await asyncio.gather(
                *(client.request("$JS.API.INFO") for client in clients for _ in range(20))
            )
            assert all(json.loads(reply.payload)["type"] for reply in replies)
            assert {event.connection for event in events} == set(range(1, 11))
            for client in clients:
                await client.close()

    bounded(scenario())


def test_drop_the_second_ack(port: int) -> None:
    async def scenario() -> None:
        rule = {"id": "lose", "on": {"answers": "publish", "nth": 2}, "do": "drop"}
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            assert (await publish(client, stream))["seq"] == 1
            with pytest.raises(WireTimeout):
                await client.request(f"{stream}.a", timeout=0.3)
            await tap.wait_fired("lose")
            assert (await publish(client, stream))["seq"] == 3
            assert dict(tap.fired) == {"lose": 1}
            assert dict(tap.matched) == {"lose": 3}

    bounded(scenario())


def test_drop_a_publish(port: int) -> None:
    async def scenario() -> None:
        rule = {"on": {"op": "PUB", "headers": {"Lose": "yes"}}, "do": "drop"}
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            client.publish(f"{stream}.a", headers=Headers([("Lose", "yes")]))
            client.publish(f"{stream}.a", headers=Headers([("lose", "yes")]))
            assert (await publish(client, stream))["seq"] == 2
            assert tap.fired["rule-1"] == 1

    bounded(scenario())


def test_duplicate_a_publish_and_an_ack(port: int) -> None:
    async def scenario() -> None:
        rules = [
            {"id": "twice-in", "on": {"op": "PUB", "payload": "in"}, "do": "duplicate"},
            {"id": "twice-out", "on": {"answers": {"payload": "out"}}, "do": "duplicate"},
        ]
        async with tapped(port, *rules) as (tap, client):
            stream = await new_stream(client)
            replies: list[Msg] = []
            client.subscribe("acks.*", lambda msg, at: replies.append(msg))
            for text in ("in", "out", "plain"):
                client.publish(f"{stream}.a", text.encode(), reply=f"acks.{text}")
            while len(replies) < 5:
                await asyncio.sleep(0.005)
            assert [json.loads(msg.payload)["seq"] for msg in replies] == [1, 2, 3, 3, 4]
            assert dict(tap.fired) == {"twice-in": 1, "twice-out": 1}

    bounded(scenario())


def test_replies_to_one_subject_belong_to_all_its_publishes(port: int) -> None:
    async def scenario() -> None:
        rule = {"on": {"answers": {"payload": "marked"}}, "do": {"change": {"json": {"hit": True}}}}
        async with tapped(port, rule) as (_, client):
            stream = await new_stream(client)
            replies: list[Msg] = []
            client.subscribe("acks", lambda msg, at: replies.append(msg))
            for number, text in enumerate((b"plain", b"marked", b"plain"), 1):
                client.publish(f"{stream}.a", text, reply="acks")
                while len(replies) < number:
                    await asyncio.sleep(0.005)
            assert ["hit" in json.loads(msg.payload) for msg in replies] == [False, True, True]

    bounded(scenario())


def test_change_an_ack(port: int) -> None:
    async def scenario() -> None:
        rule = {
            "id": "wrong",
            "on": {"answers": "publish", "json": {"seq": {"exists": True}}},
            "do": {"change": {"json": {"seq": {"add": 10}, "stream": {"remove": True}, "x": "$$"}}},
        }
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            assert await publish(client, stream) == {"seq": 11, "x": "$"}
            assert tap.fired["wrong"] == 1
            assert not tap.problems

    bounded(scenario())


def test_change_what_the_server_gets(port: int) -> None:
    async def scenario() -> None:
        rule = {
            "on": {"op": "PUB", "headers": {"Nats-Msg-Id": {"exists": True}}},
            "do": {"change": {"headers": {"Nats-Msg-Id": "always the same"}}},
        }
        async with tapped(port, rule) as (_, client):
            stream = await new_stream(client)
            assert "duplicate" not in await publish(client, stream, headers={"Nats-Msg-Id": "1"})
            assert (await publish(client, stream, headers={"Nats-Msg-Id": "2"}))[
                "duplicate"
            ] is True

    bounded(scenario())


def test_change_with_values_remembered_from_the_very_request(port: int) -> None:
    async def scenario() -> None:
        rule = {
            "on": {
                "answers": {"headers": {"Tag": {"exists": True}}, "remember": {"tag": "header.Tag"}}
            },
            "do": {"change": {"json": {"tag": "$tag"}}},
        }
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            tags = [f"t{number}" for number in range(30)]
            acks = await asyncio.gather(
                *(publish(client, stream, headers={"Tag": tag}) for tag in tags)
            )
            assert [ack["tag"] for ack in acks] == tags
            assert tap.fired["rule-1"] == 30

    bounded(scenario())


def test_change_with_values_remembered_from_another_frame(port: int) -> None:
    async def scenario() -> None:
        rules = [
            {
                "id": "learn",
                "on": {"op": "PUB", "headers": {"Tag": {"exists": True}}, "times": 1},
                "remember": {"tag": "header.Tag"},
                "do": "pass",
            },
            {
                "id": "use",
                "on": {"answers": "publish"},
                "do": {"change": {"json": {"tag": "$tag"}}},
            },
        ]
        async with tapped(port, *rules) as (tap, client):
            stream = await new_stream(client)
            assert "tag" not in await publish(client, stream)
            assert tap.problems == ["rule use on MSG: $tag has no value"]
            assert (await publish(client, stream, headers={"Tag": "first"}))["tag"] == "first"
            assert (await publish(client, stream, headers={"Tag": "second"}))["tag"] == "first"
            assert dict(tap.fired) == {"learn": 1, "use": 2}

    bounded(scenario())


def test_answer_in_the_servers_place(port: int) -> None:
    async def scenario() -> None:
        error = {"error": {"code": 400, "err_code": 10176, "description": "made up"}}
        rule = {
            "id": "refuse",
            "on": {"op": "PUB", "payload": "bad"},
            "do": {"answer": {"json": error, "headers": {"A": ["1", "2"]}, "status": 400}},
        }
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            reply = await client.request(f"{stream}.a", b"bad")
            assert json.loads(reply.payload) == error
            assert reply.headers == Headers([("A", "1"), ("A", "2")], status=400)
            assert (await publish(client, stream))["seq"] == 1
            client.publish(f"{stream}.a", b"bad")  # nobody to answer: it passes
            assert (await publish(client, stream))["seq"] == 3
            assert tap.fired["refuse"] == 1
            assert tap.matched["refuse"] == 2

    bounded(scenario())


def test_answer_and_pass(port: int) -> None:
    async def scenario() -> None:
        rule = {
            "on": {"op": "PUB", "payload": "x"},
            "do": {"answer": [{"payload": "one"}, {"payload": "two"}], "pass": True},
        }
        async with tapped(port, rule) as (_, client):
            stream = await new_stream(client)
            replies: list[Msg] = []
            client.subscribe("acks", lambda msg, at: replies.append(msg))
            client.publish(f"{stream}.a", b"x", reply="acks")
            while len(replies) < 3:
                await asyncio.sleep(0.005)
            assert [msg.payload for msg in replies[:2]] == [b"one", b"two"]
            assert json.loads(replies[2].payload)["seq"] == 1

    bounded(scenario())


@pytest.mark.parametrize("place", ["before", "after"])
def test_inject_beside_a_reply(port: int, place: str) -> None:
    async def scenario() -> None:
        rule = {
            "on": {"answers": "publish"},
            "do": {"inject": {"status": 100, "description": "Idle Heartbeat"}, "place": place},
        }
        events: list[TapEvent] = []
        async with tapped(port, rule, on_frame=events.append) as (tap, client):
            stream = await new_stream(client)
            replies: list[Msg] = []
            client.subscribe("acks", lambda msg, at: replies.append(msg))
            client.publish(f"{stream}.a", b"x", reply="acks")
            while len(replies) < 2:
                await asyncio.sleep(0.005)
            statuses = [msg.status for msg in replies]
            assert statuses == ([100, None] if place == "before" else [None, 100])
            (made,) = [event for event in events if event.made]
            assert (made.sender, made.rules) == ("server", ("rule-1",))
            assert tap.fired["rule-1"] == 1

    bounded(scenario())


def test_inject_an_advisory_and_an_error(port: int) -> None:
    async def scenario() -> None:
        rules = [
            {
                "id": "advisory",
                "on": {"op": "PUB", "payload": "go"},
                "remember": {"what": "subject"},
                "do": {"inject": {"subject": "$JS.EVENT.ADVISORY.made.up", "json": {"about": 1}}},
            },
            {
                "id": "nobody",
                "on": {"op": "PUB", "payload": "go"},
                "do": {"inject": {"subject": "nobody.listens", "payload": "?"}},
            },
            {
                "id": "error",
                "on": {"op": "PUB", "payload": "go"},
                "do": {"inject": {"error": "Slow Consumer"}},
            },
        ]
        async with tapped(port, *rules) as (tap, client):
            async with await Connection.open(tap.host, tap.port) as observer:
                seen: list[Msg] = []
                observer.subscribe("$JS.EVENT.ADVISORY.>", lambda msg, at: seen.append(msg))
                await observer.flush()
                client.publish("somewhere", b"go")
                await client.flush()
                while not seen:
                    await asyncio.sleep(0.005)
            assert seen[0].subject == "$JS.EVENT.ADVISORY.made.up"
            assert json.loads(seen[0].payload) == {"about": 1}
            assert client.errors == ["Slow Consumer"]
            assert dict(tap.fired) == {"advisory": 1, "nobody": 0, "error": 1}
            assert tap.problems == [
                "rule nobody: no subscription takes a message on nobody.listens"
            ]

    bounded(scenario())


def test_a_pulled_message_answers_its_request(port: int) -> None:
    async def scenario() -> None:
        rule = {
            "on": {"answers": {"subject": "$JS.API.CONSUMER.MSG.NEXT.>"}, "nth": 2},
            "do": {"change": {"payload": "changed"}},
        }
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            for number in range(3):
                await publish(client, stream, b"%d" % number)
            config = {"stream_name": stream, "config": {"durable_name": "d", "ack_policy": "none"}}
            await client.request(
                f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}.d", json.dumps(config).encode()
            )
            pulled: list[Msg] = []
            client.subscribe("pull.*", lambda msg, at: pulled.append(msg))
            request = json.dumps({"batch": 3}).encode()
            client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.d", request, reply="pull.1")
            while len(pulled) < 3:
                await asyncio.sleep(0.005)
            assert [msg.subject for msg in pulled] == [f"{stream}.a"] * 3
            assert [msg.payload for msg in pulled] == [b"0", b"changed", b"2"]
            assert tap.fired["rule-1"] == 1

    bounded(scenario())


@pytest.mark.parametrize(("when", "stored"), [("before", 0), ("after", 1)])
def test_cut_at_a_publish(port: int, when: str, stored: int) -> None:
    async def scenario() -> None:
        rule = {"id": "cut", "on": {"op": "PUB", "payload": "cut here"}, "do": {"cut": when}}
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            with pytest.raises(ConnectionLost):
                await client.request(f"{stream}.a", b"cut here")
            assert tap.fired["cut"] == 1
            async with await Connection.open(tap.host, tap.port) as again:
                while True:  # the server may still be busy with what it got before the cut
                    ack = await publish(again, stream)
                    if ack["seq"] > stored:
                        break
                assert ack["seq"] == stored + 1

    bounded(scenario())


def test_cut_at_an_ack_loses_the_ack_and_not_the_message(port: int) -> None:
    async def scenario() -> None:
        rule = {"on": {"answers": "publish"}, "do": "cut"}
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            with pytest.raises(ConnectionLost):
                await client.request(f"{stream}.a")
            tap.clear()
            async with await Connection.open(tap.host, tap.port) as again:
                assert (await publish(again, stream))["seq"] == 2

    bounded(scenario())


def test_a_delayed_reply_holds_back_what_follows(port: int) -> None:
    async def scenario() -> None:
        rule = {"on": {"answers": {"payload": "slow"}}, "do": {"delay": "150ms"}}
        order: list[str] = []
        async with tapped(port, rule) as (_, client):
            stream = await new_stream(client)
            client.subscribe("acks", lambda msg, at: order.append("ack"))
            client.subscribe("other", lambda msg, at: order.append("other"))
            client.publish(f"{stream}.a", b"slow", reply="acks")
            await asyncio.sleep(0.05)
            client.publish("other")
            await client.flush()
            assert order == ["ack", "other"]

    bounded(scenario())


def test_a_delayed_reply_may_be_overtaken_if_it_says_so(port: int) -> None:
    async def scenario() -> None:
        rule = {
            "on": {"answers": {"payload": "slow"}},
            "do": {"delay": {"by": "500ms", "reorder": True}},
        }
        order: list[str] = []
        async with tapped(port, rule) as (tap, client):
            stream = await new_stream(client)
            client.subscribe("acks", lambda msg, at: order.append("ack"))
            client.subscribe("other", lambda msg, at: order.append("other"))
            client.publish(f"{stream}.a", b"slow", reply="acks")
            await tap.wait_fired("rule-1")
            client.publish("other")
            while len(order) < 2:
                await asyncio.sleep(0.005)
            assert order == ["other", "ack"]

    bounded(scenario())


def test_rules_apply_in_order_each_to_what_the_last_one_left(port: int) -> None:
    async def scenario() -> None:
        rules = [
            {"id": "a", "on": {"answers": "publish"}, "do": {"change": {"json": {"seq": 50}}}},
            {
                "id": "b",
                "on": {"answers": "publish", "json": {"seq": 50}},
                "do": {"change": {"json": {"seq": {"add": 1}}}},
            },
            {"id": "c", "on": {"answers": "publish", "json": {"seq": 1}}, "do": "drop"},
        ]
        async with tapped(port, *rules) as (tap, client):
            stream = await new_stream(client)
            assert (await publish(client, stream))["seq"] == 51
            assert dict(tap.fired) == {"a": 1, "b": 1, "c": 0}

    bounded(scenario())


def test_counts_are_shared_by_all_connections(port: int) -> None:
    async def scenario() -> None:
        rule = {"on": {"answers": "publish", "every": 3}, "do": {"change": {"json": {"hit": True}}}}
        async with (
            tapped(port, rule) as (tap, one),
            await Connection.open(tap.host, tap.port) as two,
        ):
            stream = await new_stream(one)
            hits = [
                "hit" in await publish(client, stream) for client in (one, two, one, two, one, two)
            ]
            assert hits == [False, False, True, False, False, True]

    bounded(scenario())


def test_rules_come_and_go(port: int) -> None:
    async def scenario() -> None:
        async with tapped(port) as (tap, client):
            stream = await new_stream(client)
            change = {"change": {"json": {"seq": 0}}}
            tap.add_rules([{"id": "zero", "on": {"answers": "publish"}, "do": change}])
            assert (await publish(client, stream))["seq"] == 0
            with pytest.raises(ValueError, match="'zero' already"):
                tap.add_rules([{"id": "zero", "on": {"op": "MSG"}, "do": "drop"}])
            tap.clear("zero")
            assert tap.rules == ()
            assert (await publish(client, stream))["seq"] == 2
            assert dict(tap.fired) == {"zero": 1}
            with pytest.raises(WireTimeout, match="the rule zero fired 1 times within 0"):
                await tap.wait_fired("zero", 2, within=0.01)

    bounded(scenario())


def test_a_subscription_can_be_changed_on_its_way(port: int) -> None:
    async def scenario() -> None:
        rule = {"on": {"op": "SUB", "subject": "asked"}, "do": {"change": {"subject": "given"}}}
        async with tapped(port, rule) as (_, client):
            received: list[Msg] = []
            client.subscribe("asked", lambda msg, at: received.append(msg))
            client.publish("given")
            await client.flush()
            assert [msg.subject for msg in received] == ["given"]

    bounded(scenario())


def test_what_is_not_the_protocol_passes_and_is_answered_by_the_server(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        async with tapped(port, on_frame=events.append) as (_, client):
            client.send(Pub("before"))
            client.send_raw(b"NONSENSE\r\n")
            with pytest.raises(ConnectionLost) as caught:
                await client.flush()
            assert "Unknown Protocol Operation" in (caught.value.last_error or "")
            seen = [event.frame.op for event in events if event.sender == "client"]
            assert seen[:4] == ["CONNECT", "PING", "PUB", "RAW"]

    bounded(scenario())


def test_an_outage_ends_connections_and_refuses_new_ones(port: int) -> None:
    async def scenario() -> None:
        async with tapped(port) as (tap, client):
            async with tap.outage():
                with pytest.raises(ConnectionLost):
                    await client.flush()
                with pytest.raises(ConnectionLost):
                    await Connection.open(tap.host, tap.port)
                assert tap.refused == 1
            async with await Connection.open(tap.host, tap.port) as again:
                await again.flush()
                tap.cut([3])
                assert "closed the connection" in await again.wait_closed()

    bounded(scenario())


def test_a_stripped_frame_counts_as_if_it_had_been_sent_so(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        headers: Any = {"on": {"op": "PUB", "headers": {"Nats-Msg-Id": {"exists": True}}}}
        rules = (
            {"id": "bare", **headers, "do": {"strip": {"headers": ["Nats-Msg-Id"]}}},
            # A later rule sees what is left.
            {"id": "never", **headers, "do": "drop"},
        )
        async with tapped(port, *rules, on_frame=events.append) as (tap, client):
            stream = await new_stream(client)
            for seq in (1, 2):
                ack = await publish(client, stream, headers={"Nats-Msg-Id": "one"})
                assert (ack["seq"], ack.get("duplicate")) == (seq, None)
            assert dict(tap.fired) == {"bare": 2, "never": 0}
            [first, _] = [event for event in events if event.rules]
            assert isinstance(first.frame, Pub)
            assert isinstance(first.counted, Pub)
            assert first.frame.headers is not None
            assert first.counted.headers is None
            assert first.passed == (first.counted,)
            others = [event for event in events if not event.rules]
            assert all(event.counted is event.frame for event in others)

    bounded(scenario())


def test_a_change_is_no_part_of_what_counts(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        rules = (
            {"on": {"op": "PUB", "subject": "a"}, "do": {"change": {"json": {"x": 2}}}},
            {"on": {"op": "PUB", "subject": "a"}, "do": {"strip": {"json": ["y"]}}},
        )
        async with tapped(port, *rules, on_frame=events.append) as (_, client):
            client.publish("a", b'{"x":1,"y":1}')
            await client.flush()
            [one] = [event for event in events if event.rules]
            assert [frame.payload for frame in (one.counted, *one.passed)] == [  # type: ignore[union-attr]
                b'{"x":1}',
                b'{"x":2}',
            ]

    bounded(scenario())
