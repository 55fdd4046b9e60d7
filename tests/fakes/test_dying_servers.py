"""A real server that is killed or frozen in the middle of a case, behind the harness's back."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from jetproof.engine.run import Proxy
from jetproof.load.library import Library
from jetproof.model.verdict import ALIVE, Cell
from jetproof.targets.server import ServerNode
from jetproof.targets.topology import RunningTarget
from jetproof.wire import Connection, Msg

from .conftest import Cases
from .playing import Played, bounded, play

DEEDS = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "crash": signal.SIGSEGV}
CRASH = "SIGSEGV: segmentation violation"


def case(name: str, steps: str, given: str = "{}") -> str:
    return f"""
  - case: {name}
    clauses: [DEMO-MUST-001]
    given: {given}
    steps:
      - subscribe: {{subject: box.$id, to: box}}
{steps}
"""


WAITS = """
      - receive: {from: box, within: 12s}
        message: {payload: x}
"""
QUICK = """
      - request: {subject: $JS.API.INFO}
        reply: {json: {memory: {gte: 0}}}
"""


LATER = """
      - mark: asked
        publish: {subject: nobody.listens}
      - publish: {subject: nobody.listens, not_before: {after: asked, by: 900ms}}
      - request: {subject: $JS.API.INFO}
        reply: {json: {memory: {gte: 0}}}
"""


def deed(name: str, then: str) -> str:
    """The deed, enough time for it to be done, and the steps after it."""
    return f"""
      - mark: deed
        publish: {{subject: deed.{name}}}
      - publish: {{subject: nobody.listens, not_before: {{after: deed, by: 500ms}}}}
{then}
"""


Deed = Callable[[int, str], None]


@contextlib.asynccontextmanager
async def doing(target: RunningTarget, deed: Deed) -> AsyncIterator[None]:
    """Calls `deed` with the server's process and the word of each `deed.WORD` that a case publishes."""
    node = target.nodes["n1"]
    assert isinstance(node, ServerNode)
    pid = node.pid
    assert pid is not None

    def do(message: Msg, at: float) -> None:
        deed(pid, message.subject.removeprefix("deed."))

    async with await Connection.open(node.host, node.port) as connection:
        connection.subscribe("deed.>", do)
        await connection.flush()
        yield None


@contextlib.asynccontextmanager
async def doer(target: RunningTarget) -> AsyncIterator[None]:
    """Does to the server's process what a case publishes, as if by accident."""
    async with doing(target, lambda pid, word: os.kill(pid, DEEDS[word])):
        yield None


@contextlib.asynccontextmanager
async def pair_doer(target: RunningTarget) -> AsyncIterator[None]:
    """Crashes the server as soon as two cases have asked for it."""
    asked: list[str] = []

    def deed(pid: int, word: str) -> None:
        asked.append(word)
        if len(asked) == 2:
            os.kill(pid, signal.SIGSEGV)

    async with doing(target, deed):
        yield None


def judged(library: Library, cases: Cases, text: str, proxy: Proxy = doer) -> Played:
    return bounded(play(library, cases(text), "latest", proxy=proxy, time_factor=0.5))


def is_error_with_log(cell: Cell, reason: str) -> None:
    assert cell.verdict == "error"
    assert cell.reason == reason
    assert any("Server is ready" in line for line in cell.server_log)


def test_a_server_that_is_killed_is_an_error_with_its_log(library: Library, cases: Cases) -> None:
    text = case("victim", deed("kill", WAITS)) + case("bystander", WAITS)
    played = judged(library, cases, text)
    assert set(played.cells) == {"victim", "bystander"}
    for cell in played.cells.values():
        is_error_with_log(cell, "server n1 died unplanned (killed by SIGKILL)")
    assert played.exit_code == 3


def promising(library: Library) -> Library:
    """With the promise that no request ends a server."""
    spec = library.specs["demo"]
    clause = replace(spec.clauses["DEMO-MUST-001"], id=ALIVE)
    promises = replace(spec, id="promises", clauses={ALIVE: clause})
    return replace(library, specs={**library.specs, "promises": promises})


def test_a_case_that_crashes_its_server_fails(library: Library, cases: Cases) -> None:
    text = case("culprit", deed("crash", WAITS), "{isolation: server}")
    played = judged(promising(library), cases, text)
    assert played.verdicts == {"culprit": "fail"}
    assert played.failed("culprit") == [("closing", "server", CRASH)]
    assert played.cells["culprit"].plays == ("fail", "fail")
    assert played.exit_code == 1


def test_a_crash_is_blamed_on_the_case_that_repeats_it_alone(
    library: Library, cases: Cases
) -> None:
    """The others get their verdicts on a server of their own."""
    text = case("culprit", deed("crash", WAITS)) + "".join(
        case(f"bystander-{number}", QUICK + LATER) for number in range(12)
    )
    played = judged(promising(library), cases, text)
    wanted = {f"bystander-{number}": "pass" for number in range(12)}
    assert played.verdicts == {"culprit": "fail"} | wanted
    assert played.failed("culprit") == [("closing", "server", CRASH)]


def test_a_server_that_was_killed_from_outside_is_nobodys_crash(
    library: Library, cases: Cases
) -> None:
    text = case("victim", deed("kill", WAITS), "{isolation: server}")
    played = judged(promising(library), cases, text)
    is_error_with_log(played.cells["victim"], "server n1 died unplanned (killed by SIGKILL)")


def test_a_crash_that_no_case_repeats_alone_has_no_verdict(library: Library, cases: Cases) -> None:
    """Any two cases together crash the server, and none does so alone."""
    text = "".join(case(f"one-of-{number}", deed("both", QUICK)) for number in range(30))
    played = judged(promising(library), cases, text, proxy=pair_doer)
    assert Counter(played.verdicts.values()) == {"pass": 24, "error": 6}
    assert played.exit_code == 3


def test_cases_on_other_servers_go_on(library: Library, cases: Cases) -> None:
    text = (
        case("victim", deed("kill", WAITS))
        + case("elsewhere", QUICK, "{server: low-batch-limits}")
        + case("alone", QUICK, "{isolation: server}")
    )
    played = judged(library, cases, text)
    assert played.verdicts == {"victim": "error", "elsewhere": "pass", "alone": "pass"}
    assert played.exit_code == 3


def test_cases_that_come_too_late_are_errors_as_well(library: Library, cases: Cases) -> None:
    text = case("a-victim", deed("kill", WAITS)) + "".join(
        case(f"late-{number}", QUICK) for number in range(5)
    )
    played = bounded(play(library, cases(text), "latest", proxy=doer, cases_at_once=1))
    assert len(played.verdicts) == 6
    assert set(played.verdicts.values()) == {"error"}
    assert {cell.reason for cell in played.cells.values()} == {
        "server n1 died unplanned (killed by SIGKILL)"
    }


@pytest.mark.parametrize(
    "then",
    [
        "      - request: {subject: $JS.API.INFO, within: 300ms}\n        reply: {status: 503}",
        "      - stream: {of: any, messages: 0}",
        "      - stored: {of: any, seq: 1, absent: true}",
        "      - receive: {from: box, within: 300ms}\n        message: {payload: x}",
        "      - silence: {on: box, for: 300ms}",
        "      - advisory: {of: any, none_for: 300ms}",
        "      - advisory: {of: any, within: 300ms, json: {reason: any}}",
        "      - subscribe: {subject: more.$id, to: more}",
    ],
    ids=["request", "stream", "stored", "receive", "silence", "no-advisory", "advisory", "flush"],
)
def test_a_server_that_hangs_is_an_error_and_no_failure(
    library: Library, cases: Cases, then: str
) -> None:
    played = judged(library, cases, case("victim", deed("freeze", then)))
    cell = played.cells["victim"]
    assert cell.verdict == "error", played.failed("victim")
    assert "PING" in cell.reason
    assert any("Server is ready" in line for line in cell.server_log)
    assert played.exit_code == 3


def test_whoever_waits_on_a_server_that_hangs_is_told(library: Library, cases: Cases) -> None:
    freeze = deed(
        "freeze", "      - receive: {from: box, within: 300ms}\n        message: {payload: x}"
    )
    played = judged(library, cases, case("victim", freeze) + case("bystander", WAITS))
    for cell in played.cells.values():
        is_error_with_log(cell, "the server does not answer any more: it answers no PING")


def test_a_server_that_hangs_before_the_first_case_has_its_log_told(
    library: Library, cases: Cases
) -> None:
    @contextlib.asynccontextmanager
    async def frozen(target: RunningTarget) -> AsyncIterator[None]:
        node = target.nodes["n1"]
        assert isinstance(node, ServerNode)
        assert node.pid is not None
        os.kill(node.pid, signal.SIGSTOP)
        yield None

    played = judged(library, cases, case("victim", QUICK), proxy=frozen)
    [failure] = played.target_failures
    assert re.search("no (INFO|answer)", failure.reason)
    assert any("Server is ready" in line for line in failure.log)
    is_error_with_log(played.cells["victim"], failure.reason)
    assert played.exit_code == 3


def test_no_process_is_left(library: Library, cases: Cases) -> None:
    pids: list[int] = []

    @contextlib.asynccontextmanager
    async def noting(target: RunningTarget) -> AsyncIterator[None]:
        node = target.nodes["n1"]
        assert isinstance(node, ServerNode)
        assert node.pid is not None
        pids.append(node.pid)
        async with doer(target):
            yield None

    freeze = deed("freeze", "      - silence: {on: box, for: 100ms}")
    judged(library, cases, case("victim", freeze), proxy=noting)
    [pid] = pids
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
