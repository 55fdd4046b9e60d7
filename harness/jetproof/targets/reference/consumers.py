"""Consumers that wait until their stream has reached `min_last_seq` (ADR-53).

The consumer is created at the real server without the field. If the stream's copy beside it is not
far enough, it is created paused, and resumed when that copy is. Whoever asks is shown the
configuration that was asked for, and nothing of the pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from jetproof import clock
from jetproof.targets.reference.fields import FIELD, NAME, read_object, sequence
from jetproof.targets.reference.ground import Client, Ground, Work
from jetproof.targets.reference.guard import Copy
from jetproof.wire.errors import ConnectionLost, WireTimeout
from jetproof.wire.frames import Msg, Pub

_API = r"(?P<prefix>\$JS(?:\.[^.]+)?\.API)\."
_CREATE = re.compile(
    _API + r"CONSUMER\.(?:DURABLE\.)?CREATE\.(?P<stream>[^.]+)(?:\.(?P<name>[^.]+)(?:\..+)?)?"
)
_PAUSED = re.compile(r"\$JS\.EVENT\.ADVISORY\.CONSUMER\.PAUSE\.(?P<stream>[^.]+)\.(?P<name>.+)")
_TYPE: Final = b"io.nats.jetstream.api.v1.consumer_"
_FAR_AWAY: Final = "2200-01-01T00:00:00Z"
_LOOK_AGAIN: Final = 0.03
_RESUME_SECONDS: Final = (0.25, 1.0, 3.0, 6.0)
_KNOWN_SECONDS: Final = 10.0
_MOST: Final = 10_000
_LEVEL: Final = "_nats.req.level"
_REQUIRED_LEVEL: Final = 2
"""The API level of 2.12, to which the text gives the field."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A consumer that a client wants, with a min_last_seq."""

    client: Client
    account: str
    message: Pub
    prefix: str
    stream: str
    body: dict[str, Any]
    minimum: int


@dataclass(slots=True)
class Waiting:
    """A consumer with a min_last_seq: `held` until the stream is there."""

    account: str
    stream: str
    name: str
    minimum: int
    asked_pause: str | None
    node: str
    held: bool


class Consumers:
    """The part of the layer that creates, holds and shows such consumers."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._known: OrderedDict[tuple[str, str, str], Waiting] = OrderedDict()

    def takes(self, client: Client, message: Pub) -> Work | None:
        found = _CREATE.fullmatch(message.subject)
        if found is None:
            return None
        if FIELD not in message.payload:
            self._forget(self.ground.account(client), found["stream"], found["name"])
            return None
        body = read_object(message.payload)
        config = body.get("config") if body is not None else None
        if body is None or not isinstance(config, dict) or NAME not in config:
            return None
        minimum = sequence(config[NAME])
        if minimum is None:
            return None  # the server refuses the field itself
        account = self.ground.account(client)
        return self._create(
            Asked(client, account, message, found["prefix"], found["stream"], body, minimum)
        )

    def shows(self, client: Client, message: Msg) -> Msg | None:
        account = self.ground.account(client)
        if advised := _PAUSED.fullmatch(message.subject):
            # It may come before the answer that gives the consumer its name.
            own = (account, advised["stream"], advised["name"]) in self._known
            return None if own or _FAR_AWAY.encode() in message.payload else message
        if not self._known or _TYPE not in message.payload:
            return message
        document = read_object(message.payload)
        if document is None or not self._put_back(account, document):
            return message
        return replace(message, payload=json.dumps(document).encode())

    # -- creating -------------------------------------------------------------------------------

    async def _create(self, asked: Asked) -> None:
        config = asked.body["config"]
        del config[NAME]
        held = asked.minimum > 0 and await self.is_behind(
            asked.account, asked.stream, asked.minimum
        )
        name = config.get("name") or config.get("durable_name")
        before = self._known.get((asked.account, asked.stream, str(name)))
        # One that waits and need not any more is resumed like any other.
        await self.make(asked, held=held or (before is not None and before.held))

    async def make(self, asked: Asked, *, held: bool) -> None:
        """Creates the consumer, paused if it is to wait, and waits beside it."""
        ground, client, message = self.ground, asked.client, asked.message
        config = asked.body["config"]
        asked_pause = config.get("pause_until")
        if held:
            config["pause_until"] = _FAR_AWAY
        answer = await ground.ask(
            client, message.subject, json.dumps(asked.body).encode(), message.headers
        )
        document = read_object(answer.payload)
        if document is None or "name" not in document:
            await ground.answer(client, message, answer.payload, answer.headers)
            return
        node = str((document.get("cluster") or {}).get("leader") or client.node)
        waiting = Waiting(
            asked.account,
            asked.stream,
            str(document["name"]),
            asked.minimum,
            asked_pause,
            node,
            held,
        )
        self._remember(waiting)
        self._put_back(asked.account, document)
        await ground.answer(client, message, json.dumps(document).encode())
        if held:
            await self._wait(client, asked.prefix, waiting)

    async def is_behind(self, account: str, stream: str, minimum: int) -> bool:
        copies = await self.ground.views.copies(account, stream)
        return not copies.sure or not all(self.reached(minimum, copy) for copy in copies.own)

    def reached(self, minimum: int, copy: Copy) -> bool:
        return self.ground.guard.reached(minimum, copy)

    # -- waiting --------------------------------------------------------------------------------

    async def _wait(self, client: Client, prefix: str, waiting: Waiting) -> None:
        """Looks at the copy beside the consumer until it is far enough, or gone."""
        floor = waiting.minimum
        key = (waiting.account, waiting.stream, waiting.name)
        seen = False
        while self._known.get(key) is waiting:
            answers, held = await self.ground.views.at(
                waiting.node, waiting.account, waiting.stream
            )
            if held is not None:
                copy = Copy(held.node, held.last_seq, held.messages)
                if not seen:
                    floor = self.floor(waiting, copy)
                seen = True
                if self.can_start(floor, copy):
                    await self._resume(client, prefix, waiting)
                    return
            elif seen and answers:
                del self._known[key]  # the stream is gone, and the consumer with it
                return
            await asyncio.sleep(_LOOK_AGAIN)

    def floor(self, waiting: Waiting, first_seen: Copy) -> int:
        """The sequence that it waits for: the one that was asked for."""
        return waiting.minimum

    def can_start(self, floor: int, copy: Copy) -> bool:
        return self.reached(floor, copy)

    async def _resume(self, client: Client, prefix: str, waiting: Waiting) -> None:
        """Ends the pause in a moment: a pause that is taken away at once wakes nobody.

        The end is noticed if it was still to come when the consumer learned of it.
        """
        subject = f"{prefix}.CONSUMER.PAUSE.{waiting.stream}.{waiting.name}"
        before = _FAR_AWAY
        for seconds in _RESUME_SECONDS:
            until = waiting.asked_pause or _soon(seconds)
            with contextlib.suppress(WireTimeout, ConnectionLost):
                body = json.dumps({"pause_until": until}).encode()
                said = read_object((await self.ground.ask(client, subject, body)).payload) or {}
                if "error" in said or waiting.asked_pause:
                    break
                told = await self._once_known(client, prefix, waiting, before)
                if told is None or told.get("paused"):
                    break
                before = told["config"].get("pause_until", "")
        waiting.held = False

    async def _once_known(
        self, client: Client, prefix: str, waiting: Waiting, before: str
    ) -> dict[str, Any] | None:
        """The consumer's info once its pause has another end than before; None if it is gone."""
        info = f"{prefix}.CONSUMER.INFO.{waiting.stream}.{waiting.name}"
        deadline = clock.now() + _KNOWN_SECONDS
        while True:
            told = read_object((await self.ground.ask(client, info)).payload) or {}
            if "config" not in told:
                return None
            if told["config"].get("pause_until", "") != before or clock.now() > deadline:
                return told
            await asyncio.sleep(_LOOK_AGAIN)

    # -- showing --------------------------------------------------------------------------------

    def _put_back(self, account: str, document: dict[str, Any]) -> bool:
        """Puts what was asked for into a consumer's info, or a list of them; whether it did."""
        listed = document.get("consumers")
        infos = listed if isinstance(listed, list) else [document]
        done = False
        for info in infos:
            if not isinstance(info, dict) or not isinstance(info.get("config"), dict):
                continue
            key = (account, str(info.get("stream_name")), str(info.get("name")))
            waiting = self._known.get(key)
            if waiting is not None:
                self._as_asked(info, waiting)
                done = True
        return done

    def _as_asked(self, info: dict[str, Any], waiting: Waiting) -> None:
        config = info["config"]
        if waiting.minimum:
            self.show_minimum(config, waiting.minimum)
        if waiting.asked_pause is None:
            for key in ("paused", "pause_remaining"):
                info.pop(key, None)
            config.pop("pause_until", None)
        else:
            config["pause_until"] = waiting.asked_pause

    def show_minimum(self, config: dict[str, Any], minimum: int) -> None:
        config[NAME] = minimum
        # The real server counts the pause, and cannot count the field.
        metadata = config.get("metadata")
        if isinstance(metadata, dict) and (level := str(metadata.get(_LEVEL))).isdigit():
            metadata[_LEVEL] = str(max(int(level), _REQUIRED_LEVEL))

    def _remember(self, waiting: Waiting) -> None:
        key = (waiting.account, waiting.stream, waiting.name)
        self._known[key] = waiting
        self._known.move_to_end(key)
        if len(self._known) > _MOST:
            self._known.popitem(last=False)

    def _forget(self, account: str, stream: str, name: str | None) -> None:
        """A consumer of the same name without the field is another one, unless this one waits."""
        before = self._known.get((account, stream, name or ""))
        if before is not None and not before.held:
            del self._known[account, stream, before.name]


def _soon(seconds: float) -> str:
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return at.isoformat().replace("+00:00", "Z")
