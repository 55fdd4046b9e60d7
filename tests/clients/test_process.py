"""Whatever an adapter does: it is contained, named, blamed on the adapter, and nothing is left."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jetproof.sinks.text import visible
from jetproof.targets.clients import family
from jetproof.targets.clients.process import (
    Adapter,
    AdapterFault,
    Event,
    Limits,
    Unanswered,
    start_adapter,
)

FAKE = Path(__file__).parent / "misbehaving.py"
QUICK = Limits(probe_seconds=0.5, end_seconds=2.0, memory_bytes=160 << 20, line_bytes=1 << 20)
HANG_SECONDS = 60.0


def play(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(HANG_SECONDS):
            await scenario()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not others

    asyncio.run(bounded())


@asynccontextmanager
async def fake(kind: str, limits: Limits = QUICK, **more: Any) -> AsyncIterator[Adapter]:
    """A misbehaving adapter, after which nothing may be there any more."""
    adapter: Adapter | None = None
    try:
        async with start_adapter(
            [sys.executable, str(FAKE), kind], name=f"fake:{kind}", limits=limits, **more
        ) as adapter:
            yield adapter
    finally:
        if adapter is not None:
            nothing_left(adapter)


def nothing_left(adapter: Adapter) -> None:
    assert adapter.pid is not None
    deadline = time.monotonic() + 10  # what was killed takes a moment to be gone, and to be reaped
    while (left := family.relatives(adapter.pid, adapter._mark)) or alive(adapter.pid):
        assert time.monotonic() < deadline, left or adapter.pid
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_polite_adapter_has_no_fault() -> None:
    async def scenario() -> None:
        async with fake("polite") as adapter:
            assert adapter.hello.library == "fake"
            assert adapter.hello.capabilities == {"connect", "close", "publish", "fetch"}
            assert adapter.hello.claims == {"adr-37": 3}
            answer = await adapter.call("publish", {"subject": "a"})
            assert answer.kind == "ok"
            assert answer.body == {"ack": {"stream": "S", "seq": 2**53 + 1}}
            strange = await adapter.call("nonsense")
            assert (strange.kind, strange.body) == ("unsupported", "no API for nonsense")
            assert await adapter.reset()
            assert adapter.usable
        assert adapter.fault is None
        assert not adapter.usable

    play(scenario)


def test_values_go_both_ways_exactly() -> None:
    payload = bytes(range(256)) * 8192  # two megabytes
    heard: list[Event] = []
    lines: list[tuple[str, bytes]] = []

    async def scenario() -> None:
        limits = Limits()
        async with fake("polite", limits) as adapter:
            adapter.on_event = heard.append
            adapter.on_line = lambda direction, line, at: lines.append((direction, line))
            params = {"data": payload, "headers": {"A": "1", "B": "é"}, "seq": 2**64 - 1}
            answer = await adapter.call("echo", params)
        assert adapter.fault is None
        got = answer.body["got"]  # type: ignore[index]
        assert got["seq"] == 2**64 - 1
        (event,) = heard
        assert (event.name, event.of) == ("message", "k")
        assert str(event.body["data"]).encode("utf-8", "surrogateescape") == payload
        assert event.body["headers"] == [["A", "1"], ["B", "é"]]
        assert [direction for direction, _ in lines] == ["to", "from", "from"]
        assert b'"seq":"18446744073709551615"' in lines[0][1]

    play(scenario)


FAULTS = {
    "garbage": ("garbage", "no JSON"),
    "log": ("garbage", "INFO connected to the server"),
    "list": ("garbage", "no JSON object"),
    "blank": ("garbage", "no JSON"),
    "deep": ("garbage", "no JSON"),
    "not-utf8": ("garbage", "not UTF-8"),
    "nan": ("garbage", "no JSON"),
    "flood": ("garbage", "what a day"),
    "wrong-id": ("id", "answered a call 4711 that nobody made"),
    "text-id": ("shape", "id"),
    "both": ("shape", "neither an answer nor an event"),
    "number-for-digits": ("shape", "ack.seq: 7 is not of type 'string'"),
    "no-base64": ("shape", "data is not base64"),
    "unknown-event": ("shape", "an unknown event surprise"),
    "bad-event": ("shape", "seq: 7"),
    "hangs": ("silent", "did not answer publish within 0.3 s, nor anything after it"),
    "dies": ("died", "exit code 3"),
    "killed": ("died", "SIGSEGV"),
    "half-a-line": ("died", "exit code 0"),
    "holds-stdout": ("died", "exit code 0"),
    "memory": ("memory", "MiB of memory, and may take 160 MiB"),
    "long-line": ("long", "a line of more than 1,048,576 bytes"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_while_a_call_is_under_way(kind: str) -> None:
    wanted, words = FAULTS[kind]
    patience = 0.3 if kind == "hangs" else 30.0

    async def scenario() -> None:
        async with fake(kind) as adapter:
            with pytest.raises(AdapterFault) as caught:
                await adapter.call("publish", {"subject": "a"}, timeout=patience)
            assert caught.value.kind == wanted
            assert words in caught.value.reason
            assert f"the adapter fake:{kind} " in caught.value.message
            assert caught.value.phase == "adapter"
            with pytest.raises(AdapterFault) as again:
                await adapter.call("publish", {"subject": "a"})
            assert again.value is caught.value
            assert not await adapter.reset()
        assert adapter.fault is caught.value

    play(scenario)


def test_all_calls_under_way_hear_of_a_fault() -> None:
    async def scenario() -> None:
        async with fake("wrong-id") as adapter:
            calls = [adapter.call("publish", {"subject": "a"}) for _ in range(5)]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [AdapterFault] * 5

    play(scenario)


def test_answered_twice_is_a_fault_that_comes_after_the_answer() -> None:
    async def scenario() -> None:
        async with fake("twice") as adapter:
            await adapter.call("publish", {"subject": "a"})
            with pytest.raises(AdapterFault, match="answered the call 2 twice"):
                await adapter.call("publish", {"subject": "a"})
        assert adapter.fault is not None
        assert adapter.fault.kind == "twice"

    play(scenario)


def test_an_answer_at_the_moment_when_waiting_ends_is_no_second_one() -> None:
    async def scenario() -> None:
        async with fake("never") as adapter:
            call = asyncio.create_task(adapter.call("publish", {"subject": "a"}))
            await asyncio.sleep(0)
            call.cancel()  # it has not heard of that yet when the answer is there
            adapter._line(b'{"id": %d, "ok": {"ack": {}}}' % (adapter._next_id - 1))
            with pytest.raises(asyncio.CancelledError):
                await call
            assert adapter.fault is None
            assert adapter.usable
        assert adapter.fault is None

    play(scenario)


def test_out_of_order_is_allowed() -> None:
    async def scenario() -> None:
        async with fake("out-of-order") as adapter:
            calls = [adapter.call("publish", {"subject": "a"}) for _ in range(3)]
            answers = await asyncio.gather(*calls)
            assert [answer.body for answer in answers] == [
                {"ack": {"seq": number}} for number in (2, 3, 4)
            ]
        assert adapter.fault is None

    play(scenario)


def test_a_library_that_does_not_return_is_no_fault_of_the_adapter() -> None:
    async def scenario() -> None:
        limits = Limits(probe_seconds=30.0)
        async with fake("never", limits) as adapter:
            with pytest.raises(Unanswered, match="did not return from publish within") as caught:
                await adapter.call("publish", {"subject": "a"}, timeout=0.1)
            assert caught.value.op == "publish"
            assert adapter.fault is None
            assert not adapter.usable
            assert not await adapter.reset()
        assert adapter.fault is None

    play(scenario)


AT_THE_END = {
    "stays": ("end", "still ran 2 s after the end of its input"),
    "thread": ("end", "still ran 2 s after the end of its input"),
    "bad-exit": ("end", "exit code 9"),
    "no-newline": ("garbage", "ended in the middle of a line"),
    "forks": ("left", "left processes behind: "),
    "daemon": ("left", "left processes behind: "),
}


@pytest.mark.parametrize("kind", AT_THE_END)
def test_a_fault_at_the_end(kind: str) -> None:
    wanted, words = AT_THE_END[kind]

    async def scenario() -> None:
        async with fake(kind) as adapter:
            answer = await adapter.call("publish", {"subject": "a"})
            assert answer.kind == "ok"
        assert adapter.fault is not None
        assert adapter.fault.kind == wanted
        assert words in adapter.fault.reason
        if wanted == "left":
            assert "time.sleep(600)" in adapter.fault.reason

    play(scenario)


def test_memory_of_what_an_adapter_started_counts() -> None:
    async def scenario() -> None:
        async with fake("child-memory") as adapter:
            await adapter.call("publish", {"subject": "a"})
            while adapter.fault is None:
                await asyncio.sleep(0.01)
            assert adapter.fault.kind == "memory"

    play(scenario)


GREETINGS = {
    "mute": ("silent", "did not answer hello within 0.5 s"),
    "bad-hello": ("shape", "version: 1 is not of type 'string'"),
    "other-protocol": ("shape", "protocol: 1 was expected"),
    "dies-at-once": ("died", "exit code 1"),
}


@pytest.mark.parametrize("kind", GREETINGS)
def test_an_adapter_that_does_not_greet(kind: str) -> None:
    wanted, words = GREETINGS[kind]
    limits = Limits(hello_seconds=0.5 if kind == "mute" else 30.0)

    async def scenario() -> None:
        with pytest.raises(AdapterFault) as caught:
            async with fake(kind, limits):
                pytest.fail("it greeted")
        assert caught.value.kind == wanted
        assert words in caught.value.reason
        if kind == "dies-at-once":
            assert "cannot find the library" in caught.value.said

    play(scenario)


def test_what_is_no_program_cannot_be_started(tmp_path: Path) -> None:
    async def scenario() -> None:
        with pytest.raises(AdapterFault, match="cannot be started") as caught:
            async with start_adapter([str(tmp_path / "nothing")], name="./nothing"):
                pytest.fail("it started")
        assert caught.value.kind == "start"

    play(scenario)


def test_the_end_of_standard_error_is_evidence() -> None:
    async def scenario() -> None:
        async with fake("dies") as adapter:
            with pytest.raises(AdapterFault) as caught:
                await adapter.call("publish", {"subject": "a"})
            assert caught.value.said == "panic: \x1b[31mout of ideas"
            assert "out of ideas" in caught.value.message
        async with fake("shouts") as adapter:
            await adapter.call("publish", {"subject": "a"})
            assert adapter.stderr_tail.splitlines()[-1] == "a lot of log"
            assert len(adapter.stderr_tail) < 1000
        assert adapter.fault is None

    play(scenario)


def test_texts_of_a_library_are_data() -> None:
    async def scenario() -> None:
        async with fake("escapes") as adapter:
            answer = await adapter.call("publish", {"subject": "a"})
            assert answer.kind == "error"
            text = answer.body["text"]  # type: ignore[index]
            assert text == "\x1b]0;owned\x07\x1b[2J</script><b>\u202e"
            assert "\x1b" not in visible(text)
            assert "\u202e" not in visible(text)
        assert adapter.fault is None

    play(scenario)


def test_a_cancelled_run_leaves_nothing() -> None:
    async def scenario() -> None:
        started = asyncio.Event()
        adapters: list[Adapter] = []

        async def hanging() -> None:
            async with fake("stays") as adapter:
                adapters.append(adapter)
                started.set()
                await asyncio.sleep(600)

        task = asyncio.create_task(hanging())
        await started.wait()
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()  # once more, while it waits for the end
        with pytest.raises(asyncio.CancelledError):
            await task
        nothing_left(adapters[0])

    play(scenario)


def test_an_observer_that_fails_changes_nothing() -> None:
    async def scenario() -> None:
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))

        def fail(*_: object) -> None:
            raise RuntimeError("observer")

        async with fake("polite") as adapter:
            adapter.on_line = fail
            answer = await adapter.call("publish", {"subject": "a"})
            assert answer.kind == "ok"
        assert adapter.fault is None
        assert len(told) == 2

    play(scenario)


def test_an_adapter_dies_with_the_harness(tmp_path: Path) -> None:
    """A harness that is killed cannot clean up: the kernel does."""
    program = f"""
import asyncio, sys
from jetproof.targets.clients.process import start_adapter

async def main():
    command = [sys.executable, {str(FAKE)!r}, "hangs"]
    async with start_adapter(command, name="fake:hangs") as adapter:
        print(adapter.pid, flush=True)
        await adapter.call("publish", {{"subject": "a"}}, timeout=600)

asyncio.run(main())
"""
    harness = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert harness.stdout is not None
    with harness.stdout:
        pid = int(harness.stdout.readline())
    assert alive(pid)
    harness.kill()
    harness.wait()
    deadline = time.monotonic() + 30
    while Path(f"/proc/{pid}").exists():
        stat = Path(f"/proc/{pid}/stat").read_text()
        if stat.rpartition(")")[2].split()[0] == "Z":
            break
        assert time.monotonic() < deadline
        time.sleep(0.02)
