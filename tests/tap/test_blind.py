"""Blind injection: a pull request that the tap ends is over, in the server too."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from jetproof.targets.tap import RuleError, Tap, TapEvent, parse_rule
from jetproof.wire import Connection, Msg, Pub
from support.waiting import bounded

HOST = "127.0.0.1"
NEXT = "$JS.API.CONSUMER.MSG.NEXT"
PULLS = {"subject": f"{NEXT}.>"}
OVER = {"status": 409, "description": "Leadership Change"}
_numbers = itertools.count(1)


class Puller:
    """A client with one inbox for all its pulls, as libraries have it, and what came to it."""

    def __init__(self, client: Connection, stream: str, inbox: str) -> None:
        self.client = client
        self.stream = stream
        self.inbox = inbox
        self.got: list[Msg] = []
        subject = inbox if not inbox.endswith(".1") else f"{inbox[:-2]}.*"
        self.sid = client.subscribe(subject, lambda msg, at: self.got.append(msg))

    def pull(self, **body: Any) -> None:
        document = {"batch": 10, "expires": 30_000_000_000, **body}
        subject = f"{NEXT}.{self.stream}.c"
        self.client.publish(subject, json.dumps(document).encode(), reply=self.inbox)

    async def until(self, count: int) -> list[Msg]:
        while len(self.got) < count:
            await asyncio.sleep(0.005)
        return self.got

    def words(self) -> list[str]:
        return [str(msg.status) if msg.headers else msg.payload.decode() for msg in self.got]


@asynccontextmanager
async def pulling(
    port: int, *rules: Any, inbox: str = "_INBOX.one", **more: Any
) -> AsyncIterator[tuple[Tap, Puller, Connection]]:
    """A puller behind a tap with these rules, and a connection beside the tap."""
    async with (
        await Connection.open(HOST, port) as direct,
        Tap(HOST, port, rules, **more) as tap,
        await Connection.open(tap.host, tap.port) as client,
    ):
        stream = f"BLIND{next(_numbers)}"
        config: dict[str, Any] = {
            "name": stream,
            "subjects": [f"{stream}.>"],
            "storage": "memory",
        }
        await direct.request(f"$JS.API.STREAM.CREATE.{stream}", json.dumps(config).encode())
        config = {"stream_name": stream, "config": {"durable_name": "c", "ack_policy": "explicit"}}
        await direct.request(
            f"$JS.API.CONSUMER.DURABLE.CREATE.{stream}.c", json.dumps(config).encode()
        )
        yield tap, Puller(client, stream, inbox), direct


async def store(direct: Connection, stream: str, *payloads: str) -> None:
    for payload in payloads:
        await direct.request(f"{stream}.a", payload.encode())


async def waiting(direct: Connection, stream: str) -> int:
    info = await direct.request(f"$JS.API.CONSUMER.INFO.{stream}.c")
    count: int = json.loads(info.payload)["num_waiting"]
    return count


@pytest.mark.parametrize("inbox", ["_INBOX.one", "_INBOX.one.1"])
def test_a_pull_that_was_ended_gets_nothing_and_the_next_gets_everything(
    port: int, inbox: str
) -> None:
    async def scenario() -> None:
        rule = {
            "id": "end",
            "on": {"answers": PULLS, "nth": 1},
            "do": {"inject": OVER, "blind": True},
        }
        async with pulling(port, rule, inbox=inbox) as (tap, puller, direct):
            puller.pull()
            await puller.client.flush()
            await store(direct, puller.stream, "a")
            await puller.until(2)
            assert puller.words() == ["a", "409"]
            assert [msg.subject for msg in puller.got] == [f"{puller.stream}.a", inbox]
            assert {msg.sid for msg in puller.got} == {str(puller.sid)}
            assert puller.got[1].description == "Leadership Change"
            await puller.client.flush()
            await store(direct, puller.stream, "b")  # nobody asked for it
            await puller.client.flush()
            assert len(puller.got) == 2
            puller.pull(batch=2)
            await store(direct, puller.stream, "c", "d")
            await puller.until(4)
            await puller.client.flush()
            assert puller.words() == ["a", "409", "b", "c"]
            assert tap.fired["end"] == 1

    bounded(scenario())


def test_without_blind_the_old_pull_goes_on(port: int) -> None:
    """What blind is for: the server knows nothing of the status that the client was told."""

    async def scenario() -> None:
        rule = {"on": {"answers": PULLS, "nth": 1}, "do": {"inject": OVER}}
        async with pulling(port, rule) as (_, puller, direct):
            puller.pull()
            await puller.client.flush()
            await store(direct, puller.stream, "a", "b")
            await puller.until(3)
            assert puller.words() == ["a", "409", "b"]

    bounded(scenario())


def test_heartbeats_of_an_ended_pull_stop(port: int) -> None:
    async def scenario() -> None:
        rule = {
            "on": {"answers": PULLS, "status": 100, "nth": 2},
            "do": {"inject": {"status": 408, "description": "Request Timeout"}, "blind": True},
        }
        async with pulling(port, rule) as (_, puller, direct):
            puller.pull(idle_heartbeat=100_000_000)
            await puller.until(3)
            await asyncio.sleep(0.35)
            assert puller.words() == ["100", "100", "408"]
            puller.pull()
            await store(direct, puller.stream, "a")
            await puller.until(4)
            assert puller.words()[3] == "a"
            while await waiting(direct, puller.stream) > 1:
                await asyncio.sleep(0.01)

    bounded(scenario())


def test_a_request_that_is_answered_blindly_at_once_never_reaches_the_server(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        rule = {"on": {**PULLS, "from": "client", "nth": 1}, "do": {"inject": OVER, "blind": True}}
        async with pulling(port, rule, on_frame=events.append) as (_, puller, direct):
            puller.pull()
            await puller.until(1)
            await puller.client.flush()
            assert await waiting(direct, puller.stream) == 0
            puller.pull()
            await puller.client.flush()
            assert await waiting(direct, puller.stream) == 1
            pulls = [event for event in events if isinstance(event.frame, Pub)]
            assert [len(event.passed) for event in pulls] == [0, 1]
            assert puller.words() == ["409"]

    bounded(scenario())


def test_what_the_record_says_is_what_client_and_server_said(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        rule = {"on": {"answers": PULLS, "status": 409}, "do": {"inject": OVER, "blind": True}}
        async with pulling(port, rule, on_frame=events.append) as (_, puller, direct):
            puller.pull(batch=1)
            await puller.client.flush()
            await store(direct, puller.stream, "a")
            await puller.until(1)
            (pull,) = [event for event in events if isinstance(event.frame, Pub)]
            assert pull.frame.reply == puller.inbox  # type: ignore[union-attr]
            assert [frame.op for frame in pull.passed] == ["SUB", "PUB"]
            (message,) = [event for event in events if isinstance(event.frame, Msg)]
            assert message.frame == puller.got[0]
            assert message.passed == (message.frame,)

    bounded(scenario())


def test_who_stops_listening_leaves_no_pull_behind(port: int) -> None:
    async def scenario() -> None:
        rule = {"on": {"answers": PULLS, "status": 409}, "do": {"inject": OVER, "blind": True}}
        async with pulling(port, rule) as (_, puller, direct):
            puller.pull()
            await puller.client.flush()
            assert await waiting(direct, puller.stream) == 1
            puller.client.unsubscribe(puller.sid)
            await puller.client.flush()
            await store(direct, puller.stream, "a")
            while await waiting(direct, puller.stream):
                await asyncio.sleep(0.01)
            again = Puller(puller.client, puller.stream, "_INBOX.two")
            again.pull(batch=1)
            await again.until(1)
            assert again.words() == ["a"]

    bounded(scenario())


def test_only_a_rule_that_may_still_fire_changes_requests(port: int) -> None:
    async def scenario() -> None:
        events: list[TapEvent] = []
        rule = {"on": {"answers": PULLS, "nth": 1}, "do": {"inject": OVER, "blind": True}}
        async with pulling(port, rule, on_frame=events.append) as (tap, puller, direct):
            await store(direct, puller.stream, "a", "b")
            puller.pull(batch=1)
            await puller.until(2)
            puller.pull(batch=1)
            await puller.until(3)
            pulls = [event for event in events if isinstance(event.frame, Pub)]
            assert [len(event.passed) for event in pulls] == [2, 1]
            tap.clear()
            puller.pull(batch=1)
            await store(direct, puller.stream, "c")
            await puller.until(4)
            assert puller.words() == ["a", "409", "b", "c"]

    bounded(scenario())


@pytest.mark.parametrize("on", [{"op": "SUB"}, {"op": "MSG"}, {"from": "client"}])
def test_blind_needs_a_request(on: dict[str, Any]) -> None:
    with pytest.raises(RuleError, match="blind needs a publish, or answers to one"):
        parse_rule({"on": on, "do": {"inject": {"subject": "a"}, "blind": True}})
