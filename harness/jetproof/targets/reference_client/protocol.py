"""The protocol of adapters on standard input and output: a JSON object a line, in both directions.

A thread reads lines, since a pipe, a file and a terminal all do then. Each call is a task of its
own, begun in the order in which calls came, so that a slow one holds up nobody.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, BinaryIO

from jetproof.targets.reference_client.errors import ClientError, Unsupported

_LAST_SECONDS = 1.0
Handler = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]


class Writer:
    """Standard output: whole lines only."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def line(self, document: Mapping[str, Any]) -> None:
        self._out.write(json.dumps(document, separators=(",", ":")).encode() + b"\n")
        self._out.flush()

    def event(self, event: str, of: str | None, /, **more: Any) -> None:
        head = {"event": event} if of is None else {"event": event, "of": of}
        self.line(head | more)


async def serve(
    lines: BinaryIO, writer: Writer, handlers: Mapping[str, Handler], log: Callable[[str], None]
) -> None:
    """Answers every call exactly once, until the input ends."""
    loop = asyncio.get_running_loop()
    incoming: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody listens any more
            while line := lines.readline():
                loop.call_soon_threadsafe(incoming.put_nowait, line)
            loop.call_soon_threadsafe(incoming.put_nowait, b"")

    threading.Thread(target=read, name="stdin", daemon=True).start()
    tasks: set[asyncio.Task[None]] = set()
    while line := await incoming.get():
        try:
            call = json.loads(line)
            ident = call["id"]
        except (ValueError, TypeError, KeyError):
            log(f"not a call: {line[:200]!r}")
            continue
        task = loop.create_task(answer(ident, call, writer, handlers, log))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    if tasks:  # what was asked for before the end is still answered, if that is quickly done
        await asyncio.wait(tasks, timeout=_LAST_SECONDS)
    for task in list(tasks):
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def answer(
    ident: object,
    call: Mapping[str, Any],
    writer: Writer,
    handlers: Mapping[str, Handler],
    log: Callable[[str], None],
) -> None:
    operation = call.get("op")
    handler = handlers.get(str(operation))
    if handler is None:
        writer.line({"id": ident, "unsupported": f"no operation {operation!r}"})
        return
    try:
        told = await handler(call)
    except ClientError as error:
        writer.line({"id": ident, "error": error.body()})
    except Unsupported as reason:
        writer.line({"id": ident, "unsupported": str(reason)})
    except (KeyError, TypeError, ValueError) as error:
        log(f"{operation}: {type(error).__name__}: {error}")
        body = {"type": type(error).__name__, "text": f"{operation}: {error}"}
        writer.line({"id": ident, "error": body})
    else:
        writer.line({"id": ident, "ok": dict(told)})
