"""What a server says at the end of a case about its streams, read through independent paths."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from jetproof import clock
from jetproof.engine.judge import Seen
from jetproof.engine.observations import message_of
from jetproof.engine.play import Play
from jetproof.model.matching import at_path
from jetproof.model.verdict import FrameRecord
from jetproof.wire import WireTimeout

OBSERVER = "observer"
UNAVAILABLE = 503
"""The code with which a stream without a leader answers: nobody can say what it holds."""
Document = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class StreamView:
    """One stream: its configuration, its state, and its consumers."""

    name: str
    config: Document
    state: Document
    consumers: Sequence[Document] = ()

    def number(self, field: str) -> int:
        value = self.state.get(field, 0)
        return value if isinstance(value, int) else -1

    @property
    def subjects(self) -> Mapping[str, int] | None:
        """How many messages each subject has; None where the server does not say."""
        said = self.state.get("subjects")
        if said is None and self.number("messages") == 0:
            return {}
        return said if isinstance(said, Mapping) else None

    @property
    def deleted(self) -> Sequence[int]:
        said = self.state.get("deleted")
        return said if isinstance(said, list) else ()

    def holds(self, seq: int) -> bool:
        """Whether its state says that there is a message with this sequence."""
        inside = self.number("first_seq") <= seq <= self.number("last_seq")
        return self.number("messages") > 0 and inside and seq not in self.deleted


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as message get returns it."""

    subject: str
    seq: int
    headers: tuple[tuple[str, str], ...]
    payload: bytes


class Reader:
    """Asks the API on the harness's own connection, and records what was said in the transcript."""

    def __init__(self, play: Play) -> None:
        self._play = play

    async def stream(
        self, name: str, *, consumers: bool, details: bool = True
    ) -> StreamView | None:
        """A stream with its consumers, or None if there is no such stream."""
        asked = {"deleted_details": True, "subjects_filter": ">"} if details else {}
        info = (await self._ask(f"STREAM.INFO.{name}", asked)).document
        config, state = at_path(info, "config"), at_path(info, "state")
        if not isinstance(config, Mapping) or not isinstance(state, Mapping):
            return None
        listed: Sequence[Document] = ()
        if consumers and state.get("consumer_count"):
            answer = await self._ask(f"CONSUMER.LIST.{name}", {})
            said = at_path(answer.document, "consumers")
            listed = [one for one in said if isinstance(one, Mapping)] if _is_list(said) else ()
        return StreamView(name, config, state, listed)

    async def streams_on(self, subject: str) -> Sequence[str]:
        """The names of all streams whose subjects overlap with one, sorted."""
        said = at_path((await self._ask("STREAM.NAMES", {"subject": subject})).document, "streams")
        return sorted(str(name) for name in said) if _is_list(said) else ()

    async def message(self, stream: str, **asked: object) -> StoredMessage | None:
        """A message by sequence (`seq`) or the last of a subject (`last_by_subj`)."""
        answer = await self._ask(f"STREAM.MSG.GET.{stream}", asked)
        message, seq = message_of(answer), at_path(answer.document, "message.seq")
        if message is None or not isinstance(seq, int):
            return None
        return StoredMessage(message.subject, seq, tuple(message.headers or ()), message.payload)

    async def _ask(self, operation: str, document: Document) -> Seen:
        play, subject = self._play, f"$JS.API.{operation}"
        payload = json.dumps(document).encode()
        record = play.transcript.frames.append
        record(_frame(play, ">", subject, payload))
        answer = await play.session.ask(subject, payload, account=play.account)
        record(_frame(play, "<", answer.subject, answer.payload))
        seen = Seen(answer.subject, answer.headers, answer.payload)
        if at_path(seen.document, "error.code") == UNAVAILABLE:
            raise WireTimeout(f"{operation}: JetStream is not available there")
        return seen


def _frame(play: Play, direction: str, subject: str, payload: bytes) -> FrameRecord:
    return FrameRecord(
        ms=play.transcript.ms(clock.now()),
        direction=direction,
        connection=OBSERVER,
        op="PUB" if direction == ">" else "MSG",
        subject=subject,
        payload=payload,
        step=play.transcript.step,
    )


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)
