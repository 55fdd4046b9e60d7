"""What a case sees of its library: which event a step means, and that it is taken once."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from jetproof.engine.client_side import ClientSide, NotSupported, answer_seen
from jetproof.engine.transcript import Transcript
from jetproof.model.client import EventStep
from jetproof.model.matcher import parse_matcher
from jetproof.targets.clients.process import Answer, Event


def side(*events: Event) -> ClientSide:
    client = ClientSide(cast("Any", None), cast("Any", None), Transcript(lambda: 0.0))
    for event in events:
        client.heard(event)
    return client


def notice(kind: str, text: str = "", of: str = "k") -> Event:
    return Event("notice", of, {"error": {"type": kind, "text": text}}, 0.0)


def step(event: str, says: str = "", **json: object) -> EventStep:
    matchers = {path.replace("_", "."): parse_matcher(raw) for path, raw in json.items()}
    return EventStep(event=event, of="k", says=says, json=matchers, line=1, address="1")


def taken(client: ClientSide, *steps: EventStep) -> list[str | None]:
    seen = [client.take_event(one, {}) for one in steps]
    return [None if one is None else one.words for one in seen]


def test_each_event_is_taken_once_in_its_order() -> None:
    client = side(notice("A"), notice("B"), notice("C", of="other"))
    assert taken(client, *[step("notice")] * 3) == ["notice: A", "notice: B", None]


def test_told_is_a_notice_or_the_error_of_an_end() -> None:
    ended = Event("end", "k", {"error": {"type": "Gone", "text": ""}}, 0.0)
    client = side(notice("A"), Event("end", "k", {}, 0.0), ended)
    assert taken(client, *[step("told")] * 3) == ["notice: A", "end: Gone", None]
    assert taken(client, step("end"), step("end")) == ["end", "end: Gone"]


def test_words_are_found_wherever_a_library_puts_them() -> None:
    client = side(notice("debug", "408"), notice("heartbeatAlarm", "0"), notice("Told", "no beat"))
    beats = step("told", says="(?i)heartbeat|no beat")
    assert taken(client, beats, beats, beats) == ["notice: heartbeatAlarm", "notice: Told", None]


def test_what_does_not_match_stays_for_others() -> None:
    client = side(notice("debug", "408"))
    assert taken(client, step("told", says="408", error_type={"not": "debug"})) == [None]
    assert taken(client, step("notice")) == ["notice: debug"]


def test_an_event_that_comes_later_is_waited_for() -> None:
    async def play() -> str:
        client = side(notice("A"))
        waiting = asyncio.ensure_future(client.next_event(step("told", says="B"), {}, 5.0))
        await asyncio.sleep(0)
        client.heard(notice("B"))
        seen = await waiting
        return "nothing" if seen is None else str(seen.words)

    assert asyncio.run(play()) == "notice: B"


def test_an_answer_in_words() -> None:
    ended = {"messages": [], "error": {"type": "Gone", "status": 409, "text": "x"}}
    answers = [
        Answer("ok", {"messages": []}, 0.0),
        Answer("ok", ended, 0.0),
        Answer("error", {"type": "Timeout", "text": "x"}, 0.0),
    ]
    words = [answer_seen(answer).words for answer in answers]
    assert words == ["ok", "ok, then error Gone 409", "error Timeout"]


def test_a_call_for_later_that_the_library_does_not_have() -> None:
    async def run() -> None:
        async def unsupported() -> Answer:
            raise NotSupported("fetch: no parameter heartbeat_ms")

        client = side()
        client.calls["fetch"] = asyncio.ensure_future(unsupported())
        client.check_calls()
        await asyncio.wait(client.calls.values())
        with pytest.raises(NotSupported, match="heartbeat_ms"):
            client.check_calls()

    asyncio.run(run())
