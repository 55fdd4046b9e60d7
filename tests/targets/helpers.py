"""What tests do with a running target: ask its API, make a stream, look at a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from pathlib import Path
from typing import Any

from jetproof.targets.topology import RunningTarget
from jetproof.wire.driver import Connection
from jetproof.wire.errors import ConnectionLost, WireTimeout


async def api(
    target: RunningTarget,
    subject: str,
    body: Any = None,
    *,
    node: str = "n1",
    account: str | None = None,
    timeout: float = 20.0,
) -> dict[str, Any]:
    """One request through a node, for the main account unless `account` says otherwise."""
    place = target.nodes[node]
    credentials = target.credentials(account)
    async with await Connection.open(place.host, place.port, options=credentials) as connection:
        payload = b"" if body is None else json.dumps(body).encode()
        reply = await connection.request(subject, payload, timeout=timeout)
        return dict(json.loads(reply.payload or b"{}"))


async def answered(target: RunningTarget, subject: str, *, node: str) -> dict[str, Any]:
    """The answer to a request that nobody may answer while a leader is being elected.

    The clock of the `play` fixture ends a wait for one that never comes.
    """
    while True:
        with contextlib.suppress(WireTimeout, ConnectionLost):
            reply = await api(target, subject, node=node, timeout=1)
            if reply and "error" not in reply:
                return reply
        await asyncio.sleep(0.1)


async def make_stream(target: RunningTarget, name: str = "ORDERS", **more: Any) -> dict[str, Any]:
    node = more.pop("node", "n1")
    body = {"name": name, "subjects": [f"{name}.>"], **more}
    return await api(target, f"$JS.API.STREAM.CREATE.{name}", body, node=node)


def process_exists(pid: int) -> bool:
    """Whether a process runs (a zombie, which only waits to be noticed, does not)."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
