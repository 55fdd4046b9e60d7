"""A machine that is too slow for a case among others gives it a second time, with less to do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from jetproof.engine.run import Proxy
from jetproof.events import Notice, TargetStarted
from jetproof.load.library import Library
from jetproof.targets.topology import RunningTarget
from jetproof.wire import Connection, Msg

from .conftest import Cases
from .playing import Played, bounded, play

CASES = """
  - case: in-time
    clauses: [DEMO-MUST-001]
    given: {isolation: server}
    steps:
      - mark: begin
        request: {subject: ask.$id}
        reply: {payload: there}
      - publish: {subject: nobody.$id, not_after: {after: begin, by: 300ms}}
  - case: other
    clauses: [DEMO-MUST-001]
    steps:
      - request: {subject: $JS.API.INFO}
        reply: {json: {memory: {gte: 0}}}
"""


def answering(*delays: float) -> Proxy:
    """Answers `ask.>` on the servers of a run, the first answer after the first delay."""
    left = list(delays)

    @contextlib.asynccontextmanager
    async def proxy(target: RunningTarget) -> AsyncIterator[None]:
        node = target.nodes["n1"]
        async with await Connection.open(node.host, node.port) as connection:
            loop = asyncio.get_running_loop()

            def answer(message: Msg, at: float) -> None:
                loop.call_later(left.pop(0), connection.publish, message.reply or "", b"there")

            connection.subscribe("ask.>", answer)
            await connection.flush()
            yield None

    return proxy


def played(library: Library, cases: Cases, *delays: float, again: bool = True) -> Played:
    proxy = answering(*delays)
    return bounded(play(library, cases(CASES), "latest", proxy=proxy, again=again))


def servers(of: Played) -> int:
    return sum(isinstance(event, TargetStarted) for event in of.events)


def test_it_is_played_again_on_a_fresh_server_and_gets_its_verdict(
    library: Library, cases: Cases
) -> None:
    seen = played(library, cases, 0.6, 0.0)
    assert seen.verdicts == {"in-time": "pass", "other": "pass"}
    assert seen.exit_code == 0
    assert servers(seen) == 3
    [notice] = [event.text for event in seen.events if isinstance(event, Notice)]
    assert "in-time @" in notice
    assert "too slow to send in time" in notice


def test_it_is_an_error_if_the_machine_is_too_slow_for_it_alone(
    library: Library, cases: Cases
) -> None:
    seen = played(library, cases, 0.6, 0.6)
    assert seen.verdicts == {"in-time": "error", "other": "pass"}
    assert "too slow to send in time" in seen.cells["in-time"].reason
    assert seen.exit_code == 3


def test_a_proxy_that_wants_the_first_answer_gets_it(library: Library, cases: Cases) -> None:
    seen = played(library, cases, 0.6, again=False)
    assert seen.verdicts["in-time"] == "error"
    assert servers(seen) == 2


def test_servers_that_did_not_get_ready_are_started_again(
    library: Library, cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jetproof.engine import run
    from jetproof.targets.node import NotReady

    whole, failures = run.start_target, [NotReady("listens, but JetStream was not ready")]

    @contextlib.asynccontextmanager
    async def start(*given: object, **more: object) -> AsyncIterator[RunningTarget]:
        if failures:
            raise failures.pop()
        async with whole(*given, **more) as target:  # type: ignore[arg-type]
            yield target

    monkeypatch.setattr(run, "start_target", start)
    seen = played(library, cases, 0.0)
    assert seen.verdicts == {"in-time": "pass", "other": "pass"}
    [notice] = [event.text for event in seen.events if isinstance(event, Notice)]
    assert "is started again: listens, but JetStream was not ready" in notice
