"""What every adapter must do, whatever its library is."""

from __future__ import annotations

import asyncio

from jetproof import clock
from jetproof.targets.clients.protocol import PROTOCOL, operations, parameters
from jetproof.targets.clients.smoke.bench import Bench, error_text

LONG_LINE = 2 * 1024 * 1024
BEYOND_DOUBLE = 2**53 + 1
_WAIT_SECONDS = 3.0
BINARY = bytes(range(256))
_READS = {"direct.get": True, "message.get": False}
"""Operations that read, and whether their stream allows direct get: where one does, a library may
use it for the other operation as well."""
_MINIMAL: dict[str, dict[str, object]] = {
    "ack": {"messages": ["none"], "kind": "ack"},
    "batch.publish": {"messages": []},
    "direct.batch": {"batch": 1},
    "direct.multi": {"subjects": ["none"]},
    "consumer.create": {"config": {"name": "none"}},
    "kv.update": {"revision": 1},
}
_NAMES = {"as": "none", "of": "none", "stream": "none", "consumer": "none", "subject": "none"}
_NAMES |= {"bucket": "none", "key": "none", "name": "none", "url": "nats://127.0.0.1:1"}


async def before_connecting(bench: Bench) -> None:
    """Without a connection: who it is, what it does not know, how long a line may be."""
    lacking = {"connect", "close"} - bench.adapter.hello.capabilities
    bench.expect("hello", not lacking, f"not among the capabilities: {', '.join(sorted(lacking))}")
    again = await bench.call("hello", protocol=PROTOCOL)
    same = again.kind == "ok" and again.body["library"] == bench.adapter.hello.library  # type: ignore[index]
    bench.expect("hello", same, "it answers a second hello in another way")
    unknown = await bench.call("smoke.unknown", of="nothing")
    wrong = f"answered with {unknown.kind}, not with unsupported"
    if bench.expect("unknown operation", unknown.kind == "unsupported", wrong):
        bench.add("unknown operation", "ok", str(unknown.body))
    padded = await bench.call("smoke.unknown", data=b"x" * LONG_LINE)
    if bench.expect("long line", padded.kind == "unsupported", f"answered with {padded.kind}"):
        bench.add("long line", "ok", f"{LONG_LINE // 2**20} MiB to it")
    await _lacking(bench)
    closed = await bench.call("close")
    bench.expect("close", closed.kind == "ok", f"before any connection: {closed.kind}")


async def connected(bench: Bench) -> bool:
    """Whether it connects, and to the address that it was given."""
    if await bench.works("connect", **_address(bench)) is None:
        return False
    through = bench.stage.tap.opened > 0
    return bench.expect(
        "connect", through, "it is connected, but not to the address that was given"
    )


async def while_connected(bench: Bench) -> None:
    """With a connection: exact data, two calls at once, errors, connections that go and come."""
    await _data(bench)
    await _large_numbers(bench)
    await _two_at_once(bench)
    await _errors(bench)
    await _not_open(bench)
    await _lost_connection(bench)
    await _once_more(bench)


def _address(bench: Bench) -> dict[str, object]:
    stage = bench.stage
    named = {"user": "user", "pass": "password", "auth_token": "token"}
    given = {named[key]: value for key, value in stage.credentials.items() if key in named}
    return {"url": f"nats://{stage.tap.host}:{stage.tap.port}", **given}


async def _lacking(bench: Bench) -> None:
    """What is not among the capabilities must be unsupported, not tried."""
    name = "other operations"
    others = [op for op in operations() if op != "hello" and not bench.can(op)]
    for op in others:
        answer = await bench.call(op, **_minimal(op))
        wrong = f"{op} is not among the capabilities, and yet answered with {answer.kind}"
        bench.expect(name, answer.kind == "unsupported", wrong)
    bench.add(name, "ok", f"{len(others)} of the protocol are unsupported" if others else "none")


def _minimal(op: str) -> dict[str, object]:
    needed = [name for name, must in parameters(op).items() if must]
    return {name: _NAMES[name] for name in needed if name in _NAMES} | _MINIMAL.get(op, {})


async def _data(bench: Bench) -> None:
    """Payloads and headers, sent and read back, byte for byte; and long lines from the adapter."""
    name, stage = "exact data", bench.stage
    if not bench.can("publish"):
        bench.add(name, "n/a", "it cannot publish")
        return
    cases = {"binary": BINARY, "empty": b"", "large": b"\x00\xff" * 400_000}
    for op, direct in _READS.items():
        stream = await stage.stream(f"DATA{'D' if direct else ''}", allow_direct=direct)
        for what, payload in cases.items():
            subject = f"{stream}.{what}"
            sent = {"subject": subject, "data": payload, "headers": [["X-Smoke", what]]}
            answer = await bench.call("publish", **sent)
            if answer.kind != "ok":
                bench.add(name, "broken", f"publish of {what} data: {error_text(answer.body)}")
                continue
            stored, kept = await stage.last(stream, subject)
            bench.expect(name, stored == payload, f"{what} data did not reach the server as given")
            right = kept.get("X-Smoke") == what
            bench.expect(name, right, f"a header of {what} data did not reach the server as given")
            if bench.can(op):
                await _read_back(bench, op, stream, what, payload)
    bench.add(name, "ok", f"{', '.join(cases)} payloads, and a header")


async def _read_back(bench: Bench, op: str, stream: str, what: str, payload: bytes) -> None:
    answer = await bench.call(op, stream=stream, last_by_subject=f"{stream}.{what}")
    message = answer.body.get("message") if isinstance(answer.body, dict) else None
    if answer.kind != "ok" or not message:
        bench.add("exact data", "broken", f"{op} of {what} data: {error_text(answer.body)}")
        return
    got = str(message.get("data", "")).encode("utf-8", "surrogateescape")
    wrong = f"{op} gave {what} data that is not what is stored"
    bench.expect("exact data", got == payload, wrong)
    headers = [value for key, value in message.get("headers", ()) if key == "X-Smoke"]
    wrong = f"{op} did not give the header of {what} data as it is stored"
    bench.expect("exact data", headers == [what], wrong)


async def _large_numbers(bench: Bench) -> None:
    """Sequences that a double cannot hold. Where one is lost, it may be the library that loses it."""
    name = "64-bit numbers"
    stage = bench.stage
    told: list[str] = []
    lost: list[str] = []

    def saw(op: str, value: object) -> None:
        (told if value == BEYOND_DOUBLE else lost).append(f"{op} ({value})" if value else op)

    for op, direct in _READS.items():
        config = {"first_seq": BEYOND_DOUBLE, "allow_direct": direct}
        stream = await stage.stream(f"BIG{'D' if direct else ''}", **config)
        await stage.publish(f"{stream}.a", b"big")
        if bench.can(op):
            answer = await bench.call(op, stream=stream, seq=BEYOND_DOUBLE)
            body = answer.body if isinstance(answer.body, dict) else {}
            message = body.get("message")
            saw(op, message.get("seq") if isinstance(message, dict) else None)
    if bench.can("consumer.get", "fetch"):
        await stage.consumer(stream, "big")
        await bench.call("consumer.get", **{"as": "s-big"}, stream=stream, consumer="big")
        answer = await bench.call("fetch", of="s-big", max_messages=1, expires_ms=2000)
        body = answer.body if isinstance(answer.body, dict) else {}
        saw("fetch", next((m.get("seq") for m in body.get("messages", ())), None))
    if lost:
        said = f"2^53+1 is not given back by {', '.join(lost)}: the library's numbers, or the adapter's"
        bench.add(name, "note", said)
    elif told:
        bench.add(name, "ok", f"2^53+1 in {', '.join(op.split()[0] for op in told)}")
    else:
        bench.add(name, "n/a", "nothing that it can do has a sequence in its answer")


async def _two_at_once(bench: Bench) -> None:
    """A call that waits must not hold up another."""
    name = "calls at once"
    waits = next((op for op in ("fetch", "next") if bench.can("consumer.get", op)), None)
    if waits is None:
        bench.add(name, "n/a", "nothing that it can do waits")
        return
    stream = await bench.stage.stream("WAIT")
    await bench.stage.consumer(stream, "wait")
    await bench.call("consumer.get", **{"as": "s-wait"}, stream=stream, consumer="wait")
    limits = {"max_messages": 1} if waits == "fetch" else {}
    began = clock.now()
    slow = asyncio.create_task(
        bench.call(waits, of="s-wait", expires_ms=int(1000 * _WAIT_SECONDS), **limits)
    )
    try:
        await asyncio.sleep(0.2)
        quick = await bench.call("hello", protocol=PROTOCOL)
        late = await slow
    finally:
        slow.cancel()
    if late.at - began < _WAIT_SECONDS / 2:
        bench.add(name, "note", f"{waits} did not wait: {late.kind} {error_text(late.body)}")
    elif bench.expect(name, quick.at < late.at, f"a call is held up by {waits} until that ends"):
        bench.add(name, "ok", f"a call is answered while {waits} waits")


async def _errors(bench: Bench) -> None:
    """What is not there is an error of the library, with its type and text, and no crash."""
    name, token = "errors", bench.stage.token
    tries: dict[str, dict[str, object]] = {
        "publish": {"subject": f"nobody.{token}", "data": "x", "timeout_ms": 2000},
        "message.get": {"stream": f"NONE{token}", "seq": 1},
        "kv.open": {"as": "s-none", "bucket": f"NONE{token}"},
    }
    for op, params in tries.items():
        if not bench.can(op):
            continue
        answer = await bench.call(op, **params)
        if answer.kind == "unsupported" and "timeout_ms" in params:
            params.pop("timeout_ms")
            answer = await bench.call(op, **params)
        if answer.kind == "error":
            bench.add(name, "ok", f"{op}: {error_text(answer.body)}")
        elif op == "kv.open" and answer.kind == "ok":
            bench.add(name, "note", "kv.open of a bucket that is not there succeeds")
        elif op == "message.get" and answer.body == {"message": None}:
            bench.add(name, "note", "message.get from a stream that is not there gives no message")
        else:
            what = f"{op} on what is not there is answered with {answer.kind}"
            bench.add(name, "broken", f"{what}: {answer.body}")


async def _not_open(bench: Bench) -> None:
    """A call on something that was never opened has an answer of its own."""
    name, never = "what is not open", "s-never-opened"
    known: dict[str, dict[str, object]] = {
        "fetch": {"max_messages": 1, "expires_ms": 1000},
        "next": {"expires_ms": 1000},
        "consumer.info": {},
        "batch.discard": {},
        "ingest.close": {},
        "kv.get": {"key": "a"},
        "object.get": {"name": "a"},
    }
    tries = [op for op in known if bench.can(op)]
    for op in tries:
        answer = await bench.call(op, of=never, **known[op])
        told = answer.body.get("type") if isinstance(answer.body, dict) else None
        if answer.kind == "error" and told == "NotOpen":
            bench.add(name, "ok", error_text(answer.body))
        else:
            said = error_text(answer.body) if answer.kind == "error" else answer.kind
            bench.add(name, "broken", f"{op} of it must be the error NotOpen, and is {said}")
    if not tries:
        bench.add(name, "n/a", "nothing that it can do is done on a thing with a name")


async def _lost_connection(bench: Bench) -> None:
    """A connection that is cut comes back, and the adapter tells what its library tells."""
    name, before = "connection events", len(bench.events)
    opened = bench.stage.tap.opened
    bench.stage.tap.cut()

    def kinds() -> list[str]:
        found = bench.events[before:]
        return [str(event.body["kind"]) for event in found if event.name == "connection"]

    if await bench.heard(lambda _: "reconnected" in kinds()):
        right = "disconnected" in kinds() and kinds().index("disconnected") < kinds().index(
            "reconnected"
        )
        if right:
            bench.add(name, "ok", ", ".join(kinds()))
        else:
            bench.add(name, "note", f"told only: {', '.join(kinds())}")
        return
    back = bench.stage.tap.opened > opened
    state = "it is connected again" if back else "it did not connect again"
    bench.add(name, "note", f"told of a cut connection: {', '.join(kinds()) or 'nothing'}; {state}")


async def _once_more(bench: Bench) -> None:
    """The same process serves one case after the other."""
    if await bench.works("close") is None:
        return
    opened = bench.stage.tap.opened
    if await bench.works("connect", **_address(bench)) is None:
        return
    again = bench.stage.tap.opened > opened
    bench.expect("connect", again, "after close it is connected without a new connection")
    if bench.can("publish"):
        stream = await bench.stage.stream("AGAIN")
        await bench.works("publish", subject=f"{stream}.a", data="again")
    bench.add("close", "ok", "and it connects again")
