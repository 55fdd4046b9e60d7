"""What each server has of a stream, asked of the server itself.

Stream info is answered by the leader, so it says nothing of followers. The monitoring request JSZ
of the system account is answered by the very server it is sent to, with the state of its own store:
that is the last sequence that the text means.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference.guard import Copy
from jetproof.wire.driver import Connection
from jetproof.wire.errors import ConnectionLost, WireTimeout

_ASK: Final = b'{"accounts":true,"streams":true,"config":true}'
_ANSWER_SECONDS: Final = 10.0
_SILENT_SECONDS: Final = 0.3
_LEADER_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Held:
    """A stream as one server holds it."""

    node: str
    account: str
    name: str
    created: str
    last_seq: int
    messages: int
    leader: str
    peers: tuple[str, ...]
    is_mirror: bool
    mirror_of: str | None
    """The stream that it mirrors, if that is not elsewhere."""
    answers_for_it: bool
    direct: bool


Key = tuple[str, str]
Snapshot = Mapping[Key, Held]


class View:
    """One server's streams. A snapshot is always begun after it was asked for."""

    def __init__(self, node: str, connect: Callable[[], Awaitable[Connection]]) -> None:
        self.node = node
        self.known: dict[Key, Held] = {}
        """What it has shown at any time: a last sequence does not go back."""
        self._connect = connect
        self._running: asyncio.Task[Snapshot | None] | None = None
        self._next: asyncio.Task[Snapshot | None] | None = None

    async def look(self) -> Snapshot | None:
        """The streams it holds, or None if it does not answer. Callers share a question."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._after(self._running))
        return await asyncio.shield(self._next)

    async def close(self) -> None:
        tasks = [task for task in (self._running, self._next) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _after(self, before: asyncio.Task[Snapshot | None] | None) -> Snapshot | None:
        if before is not None:
            await asyncio.wait({before})
        self._running, self._next = self._next, None
        try:
            connection = await self._connect()
            server = connection.info["server_id"]
            answer = await connection.request(
                f"$SYS.REQ.SERVER.{server}.JSZ", _ASK, timeout=_ANSWER_SECONDS
            )
            snapshot = read_streams(self.node, json.loads(answer.payload or b"{}"))
        except (ConnectionLost, WireTimeout, ValueError):
            return None
        self.known.update(snapshot)
        return snapshot


def read_streams(node: str, told: object) -> dict[Key, Held]:
    """The streams in an answer to JSZ."""
    found: dict[Key, Held] = {}
    for account in _each(_get(_get(told, "data"), "account_details")):
        for detail in _each(account.get("stream_detail")):
            cluster = _get(detail, "cluster") or {}
            config = _get(detail, "config") or {}
            state = _get(detail, "state") or {}
            mirror = _get(config, "mirror")
            held = Held(
                node=node,
                account=str(account.get("name")),
                name=str(detail.get("name")),
                created=str(detail.get("created")),
                last_seq=int(state.get("last_seq") or 0),
                messages=int(state.get("messages") or 0),
                leader=str(cluster.get("leader") or ""),
                peers=tuple(str(peer.get("name")) for peer in _each(cluster.get("replicas"))),
                is_mirror=mirror is not None,
                mirror_of=None if _get(mirror, "external") else _get(mirror, "name"),
                answers_for_it=bool(config.get("mirror_direct")),
                direct=bool(config.get("allow_direct") or config.get("mirror_direct")),
            )
            found[held.account, held.name] = held
    return found


@dataclass(frozen=True, slots=True)
class Copies:
    """All that is known of a stream: its own copies, and those of mirrors that answer for it."""

    own: Sequence[Copy]
    others: Sequence[Copy] = ()
    direct: bool = False
    mirror_of: str | None = None
    sure: bool = True
    """False if it was not found, and some server that may have it does not answer."""

    @property
    def leader(self) -> Copy | None:
        return next((copy for copy in self.own if copy.leads), None)


class Views:
    """The servers of a target, side by side."""

    def __init__(self, views: Mapping[str, View], factor: float) -> None:
        self._views = views
        self._factor = factor

    async def close(self) -> None:
        for view in self._views.values():
            await view.close()

    async def at(self, node: str, account: str, stream: str) -> tuple[bool, Held | None]:
        """Whether this server answers, and the stream as it holds it now, if it does."""
        view = self._views.get(node)
        snapshot = None if view is None else await view.look()
        if snapshot is None:
            return False, None
        return True, _find(snapshot, account, stream)

    async def copies(self, account: str, stream: str) -> Copies:
        """Every copy, whether its server answers or is only remembered."""
        snapshots = await self._snapshots(account, stream)
        held = {
            node: found
            for node, snapshot in snapshots.items()
            if (found := _find(snapshot, account, stream)) is not None
        }
        # An account's API may be imported by another: then the stream tells whose it is.
        owner = next((item.account for item in held.values()), account)
        others = [
            Copy(item.node, item.last_seq, item.messages, mirror=True)
            for snapshot in snapshots.values()
            for item in snapshot.values()
            if item.mirror_of == stream and item.answers_for_it and item.account == owner
        ]
        if not held:
            # Its mirrors go on answering for a stream that is gone.
            return Copies((), others, bool(others), sure=len(snapshots) == len(self._views))
        some = next(iter(held.values()))
        leader = _leader(held.values())
        own = [
            Copy(node, item.last_seq, item.messages, node == leader, item.is_mirror)
            for node, item in held.items()
        ]
        peers = {name for item in held.values() for name in (*item.peers, item.node, item.leader)}
        for node in sorted(peers - snapshots.keys()):
            if node not in self._views:
                continue
            known = self._views[node].known.get((some.account, some.name))
            same = known is not None and known.created == some.created
            last_seq = known.last_seq if known is not None and same else 0
            own.append(
                Copy(node, last_seq, last_seq, node == leader, some.is_mirror, answers=False)
            )
        return Copies(own, others, some.direct, some.mirror_of)

    async def _snapshots(self, account: str, stream: str) -> dict[str, Snapshot]:
        """What the servers answer.

        A silent one is not waited for, unless it is the leader, or nobody else has the stream.
        """
        tasks = {node: asyncio.ensure_future(view.look()) for node, view in self._views.items()}
        await asyncio.wait(tasks.values(), timeout=_SILENT_SECONDS * self._factor)
        held = _holding(tasks, account, stream)
        while not held and (waited := {task for task in tasks.values() if not task.done()}):
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            held = _holding(tasks, account, stream)
        leader = tasks.get(_leader(held))
        if leader is not None and not leader.done():
            await asyncio.wait({leader}, timeout=_LEADER_SECONDS * self._factor)
        for task in tasks.values():
            task.cancel()
        return _answers(tasks)


def _holding(
    tasks: Mapping[str, asyncio.Future[Snapshot | None]], account: str, stream: str
) -> list[Held]:
    found = [_find(snapshot, account, stream) for snapshot in _answers(tasks).values()]
    return [held for held in found if held is not None]


def _answers(tasks: Mapping[str, asyncio.Future[Snapshot | None]]) -> dict[str, Snapshot]:
    return {
        node: snapshot
        for node, task in tasks.items()
        if task.done() and not task.cancelled() and (snapshot := task.result()) is not None
    }


def _find(snapshot: Snapshot, account: str, stream: str) -> Held | None:
    """By account, or by name alone: an account's API may have been imported by another."""
    if (account, stream) in snapshot:
        return snapshot[account, stream]
    return next((held for (_, name), held in snapshot.items() if name == stream), None)


def _leader(held: Iterable[Held]) -> str:
    """The one that says so of itself, else the one that others name; none if there are two."""
    told = [(item.node, item.leader) for item in held if item.leader]
    named = {leader for node, leader in told if node == leader} or {leader for _, leader in told}
    return named.pop() if len(named) == 1 else ""


def _get(value: object, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _each(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
