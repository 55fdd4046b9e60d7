"""The reference layer in front of the servers of a target: one tap a server, state shared by all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from jetproof.targets.faults import FaultyParts
from jetproof.targets.node import Node
from jetproof.targets.reference.consumers import Consumers
from jetproof.targets.reference.fast_ingest_part import FastIngest
from jetproof.targets.reference.ground import Client, Ground, Part, Work
from jetproof.targets.reference.reads import Reads
from jetproof.targets.tap import Tap
from jetproof.wire.errors import ConnectionLost, WireTimeout
from jetproof.wire.frames import Connect, Frame, Msg, Pub
from jetproof.wire.rules.model import Sender


class ReferenceLayer:
    """Answers what a specification demands and no release has; passes everything else.

    `fired` counts, by the names of knobs, how often the layer did wrong on purpose.
    """

    def __init__(
        self,
        nodes: Mapping[str, Node],
        *,
        system: Mapping[str, str],
        main: Mapping[str, str],
        parts: FaultyParts,
        factor: float = 1.0,
    ) -> None:
        """`system` and `main` are CONNECT options for the system and the main account."""
        self._nodes = nodes
        self._faulty = parts
        self._taps: dict[str, Tap] = {}
        self._clients: dict[tuple[str, int], Client] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ground = Ground(
            nodes,
            system=system,
            main=main,
            parts=parts,
            factor=factor,
            forward=self._forward,
        )
        self._parts: tuple[Part, ...] = (
            parts.part(Reads)(self._ground),
            parts.part(Consumers)(self._ground),
            parts.part(FastIngest)(self._ground),
        )

    @property
    def fired(self) -> Mapping[str, int]:
        return self._faulty.fired

    def address(self, node: str) -> tuple[str, int]:
        """Where clients reach a server through the layer."""
        tap = self._taps[node]
        return tap.host, tap.port

    async def __aenter__(self) -> Self:
        try:
            for name, node in self._nodes.items():
                tap = Tap(node.host, node.port, inline=_Place(self, name))
                self._taps[name] = await tap.__aenter__()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for tap in self._taps.values():
            await tap.__aexit__(None, None, None)
        await self._ground.close()

    # -- frames ---------------------------------------------------------------------------------

    def passes(self, node: str, connection: int, sender: Sender, frame: Frame) -> Frame | None:
        client = self._clients.get((node, connection))
        if client is None:
            client = self._clients[node, connection] = Client(node, connection)
        match frame:
            case Connect(options) if sender == "client":
                client.connects(options)
            case Pub() if sender == "client":
                for part in self._parts:
                    work = part.takes(client, frame)
                    if work is not None:
                        self._begin(work)
                        return None
            case Msg() if sender == "server":
                return self._shown(client, frame)
            case _:
                pass
        return frame

    def gone(self, node: str, connection: int) -> None:
        self._clients.pop((node, connection), None)

    def _shown(self, client: Client, message: Msg) -> Msg | None:
        for part in self._parts:
            shown = part.shows(client, message)
            if shown is None:
                return None
            message = shown
        return message

    def _forward(self, client: Client, frame: Pub) -> None:
        self._taps[client.node].forward(client.number, frame)

    def _begin(self, work: Work) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        # A server that is gone or hangs answers nothing: neither does the layer before it.
        if error is not None and not isinstance(error, ConnectionLost | WireTimeout):
            asyncio.get_running_loop().call_exception_handler(
                {"message": "the reference layer failed on a message", "exception": error}
            )


class _Place:
    """The layer at one server, as that server's tap sees it."""

    def __init__(self, layer: ReferenceLayer, node: str) -> None:
        self._layer = layer
        self._node = node

    def passes(self, connection: int, sender: Sender, frame: Frame) -> Frame | None:
        return self._layer.passes(self._node, connection, sender, frame)

    def gone(self, connection: int) -> None:
        self._layer.gone(self._node, connection)
