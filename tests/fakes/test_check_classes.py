"""The class of every failed check: never right, or a matter of time."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from jetproof.load.library import Library
from jetproof.model.verdict import Fault
from jetproof.wire import Headers, Pub

from .conftest import Cases
from .playing import Played, bounded, play
from .server import Client, Polite, serving

CASE = """
  - case: looks
    clauses: [DEMO-MUST-001]
    given: {{stream: {{subjects: ["$stream.>"]}}}}
    steps:
{steps}
"""


class Talkative(Polite):
    """Answers `ASK.<answers>` with these payloads, one after another; a number waits, in ms.

    Its streams have two messages from `due` seconds after the first look on."""

    due = 0.0
    began: float | None = None

    def requested(self, client: Client, frame: Pub) -> None:
        if not frame.subject.startswith("ask."):
            super().requested(client, frame)
            return
        delay = 0.0
        for word in frame.payload.decode().split():
            if word.isdigit():
                delay += int(word) / 1000
            else:
                loop = asyncio.get_running_loop()
                loop.call_later(delay, self.reply, client, frame, None, word.encode())

    def api(self, call: str, payload: bytes) -> dict[str, Any]:
        told = super().api(call, payload)
        if call.startswith("STREAM.INFO.") and "state" in told:
            self.began = self.began or time.monotonic()
            there = time.monotonic() - self.began >= self.due
            told["state"] = {**told["state"], "messages": 2 if there else 1}
        return told

    def answer(self, frame: Pub) -> tuple[Headers | None, bytes] | None:
        call = frame.subject.removeprefix("$JS.API.")
        if call != frame.subject:
            return None, json.dumps(self.api(call, frame.payload)).encode()
        return super().answer(frame)


def ask(says: str, rest: str) -> str:
    return f'      - request: {{subject: ask.$id, payload: "{says}", {rest.lstrip()}'


def judged(library: Library, cases: Cases, steps: str, due: float = 0.0) -> Played:
    fake = Talkative()
    fake.due = due

    async def scenario() -> Played:
        async with serving(fake):
            return await play(library, cases(CASE.format(steps=steps)), fake.url, confirm=0)

    return bounded(scenario())


def faults(played: Played) -> dict[str, Fault]:
    return {check.path: check.fault for check in played.checks("looks") if not check.ok}


NEVER, TIMING = Fault.NEVER_RIGHT, Fault.TIMING


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (ask("no", "}\n        reply: {payload: yes}"), {"reply.payload": NEVER}),
        (ask("", "within: 200ms}\n        reply: {payload: yes}"), {"reply": TIMING}),
        (
            ask("a b", "}\n        replies: {count: 3, within: 300ms}"),
            {"replies.count": TIMING},
        ),
        (
            ask("a b c", "}\n        replies: {count: {lt: 3}, within: 300ms}"),
            {"replies.count": NEVER},
        ),
        (
            ask("a b", "}\n        replies: {until: {payload: c}, within: 300ms}"),
            {"replies.until": TIMING},
        ),
        (ask("a", "}\n        reply: {silence: 200ms}"), {"reply": NEVER}),
        (
            "      - mark: begin\n"
            + ask("80 a", "}\n        reply: {not_before: {after: begin, by: 100ms}}").replace(
                "      - request", "        request"
            ),
            {"reply.not_before": TIMING},
        ),
        (
            "      - mark: begin\n"
            + ask("a", "}\n        reply: {not_before: {after: begin, by: 100ms}}").replace(
                "      - request", "        request"
            ),
            {"reply.not_before": NEVER},
        ),
        ("      - stream: {messages: 3}", {"stream.messages": NEVER}),
        ("      - stream: {messages: 3, within: 200ms}", {"stream.messages": NEVER}),
        ("      - advisory: {event: API, within: 200ms}", {"advisory": TIMING}),
    ],
)
def test_the_class_of_a_failed_check(
    library: Library, cases: Cases, steps: str, expected: dict[str, Fault]
) -> None:
    assert faults(judged(library, cases, steps)) == expected


def test_a_state_that_is_reached_a_moment_late_is_a_matter_of_time(
    library: Library, cases: Cases
) -> None:
    steps = "      - stream: {messages: 2, within: 200ms}"
    assert faults(judged(library, cases, steps, due=0.6)) == {"stream.messages": TIMING}
    assert faults(judged(library, cases, steps, due=0.1)) == {}


class Forgetful(Talkative):
    """Loses the first request of each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.lost: set[str] = set()

    def requested(self, client: Client, frame: Pub) -> None:
        kind = frame.subject.split(".")[0]
        if "lose" in frame.subject and kind not in self.lost:
            self.lost.add(kind)
        elif "lose" in frame.subject:
            self.reply(client, frame, None, b"there")
        else:
            super().requested(client, frame)


def test_only_a_request_to_the_api_is_sent_again_after_silence(
    library: Library, cases: Cases
) -> None:
    steps = """
      - request: {subject: $JS.API.lose.$id, within: 200ms, until_there: 5s}
        reply: {payload: there}
      - request: {subject: ask.lose.$id, within: 200ms, until_there: 5s}
        reply: {payload: there}"""
    fake = Forgetful()

    async def scenario() -> Played:
        async with serving(fake):
            return await play(library, cases(CASE.format(steps=steps)), fake.url, confirm=0)

    played = bounded(scenario())
    assert played.failed("looks") == [("2", "reply", "no reply")]
